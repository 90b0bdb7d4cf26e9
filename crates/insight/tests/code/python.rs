//! Python: everything is listed, and modules are files or folders.

use insight::code::Language;

use super::{callers, defined, edges, summarised};

const SAMPLE: &str = "import os

def plain(a: int, b = {1: 2}) -> str:  # why
    def inner(): pass
    return ''

@cached(size=1)
@traced
async def fetch(url):
    return await get(url)

class Shape(Base):
    @property
    def area(self): return 1
    def _hidden(self,
                x):
        pass

@final
class Point: pass
";

#[test]
fn every_definition_is_listed_and_what_is_decorated_twice() {
    assert_eq!(
        summarised("a.py", SAMPLE),
        "## Functions

- `def plain(a: int, b = {1: 2}) -> str`
- `def inner()`
- `@cached(size=1)
@traced
async def fetch(url)`
- `async def fetch(url)`
- `@property
    def area(self)`
- `def area(self)`
- `def _hidden(self,
                x)`

## Types

- `class Shape(Base)`
- `@final
class Point`
- `class Point`
"
    );
}

#[test]
fn a_definition_that_is_decorated_is_found_with_and_without() {
    assert_eq!(
        defined("a.py", SAMPLE, "Point"),
        "2 matches found\n\n@final\nclass Point: pass\n\nclass Point: pass"
    );
    assert_eq!(defined("a.py", SAMPLE, "inner"), "def inner(): pass");
    assert_eq!(defined("a.py", SAMPLE, "Plain"), "");
}

#[test]
fn imports_lead_to_modules_and_packages_relative_or_not() {
    let files = [
        (
            "app/main.py",
            "import app.util.text as t, json
from . import views, missing
from .models import (
    User,
    Group,
)
from .. import setup
from app.util import *
from app.util import numbers, \\
    other
def late():
    from .late import x
'''
from .doc import never
'''
marks = ('\"\"\"', \"'''\")  # '''
import shared
",
        ),
        ("app/__init__.py", ""),
        ("app/json.py", ""),
        ("app/views.py", ""),
        ("app/models/__init__.py", ""),
        ("app/util/__init__.py", ""),
        ("app/util/text.py", ""),
        ("app/util/numbers.py", ""),
        ("app/late.py", ""),
        ("app/doc.py", ""),
        ("setup.py", ""),
        ("src/shared.py", ""),
    ];
    let expected = [
        "app/main.py -> app/__init__.py",
        "app/main.py -> app/late.py",
        "app/main.py -> app/models/__init__.py",
        "app/main.py -> app/util/__init__.py",
        "app/main.py -> app/util/numbers.py",
        "app/main.py -> app/util/text.py",
        "app/main.py -> app/views.py",
        "app/main.py -> setup.py",
        "app/main.py -> src/shared.py",
    ];
    assert_eq!(edges(Language::Python, &files), expected);
}

#[test]
fn a_root_that_is_a_package_itself_is_known_by_its_name() {
    let files =
        [("__init__.py", ""), ("a.py", "from root.b import x\nimport rooted\n"), ("b.py", "")];
    assert_eq!(edges(Language::Python, &files), ["a.py -> b.py"]);
}

#[test]
fn calls_on_values_count_and_so_do_decorators() {
    let files = [
        ("lib.py", "def wrap(f): return f\n"),
        ("a.py", "from lib import wrap\n@wrap\ndef f(): pass\n"),
        ("b.py", "import a\nx.wrap(1)\n"),
        ("c.py", "'''wrap(1)'''\n"),
        ("d.py", "y.wrap (2)\n"),
    ];
    let found = callers(Language::Python, &files, "lib.py", "wrap");
    assert_eq!(found, ["a.py 1", "b.py 2", "d.py -"]);
}
