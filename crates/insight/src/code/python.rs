//! Python. An import is a dotted name, with dots before it where it is relative, and the name that
//! is taken from there.

use super::{
    Import,
    excerpt::{LINES_MAX, begins_with},
    outline::Entry,
    resolve::{Files, folder_of, folders_above, inside},
    syntax::{Part, Rules},
    walk::Around,
};

/// What makes a folder a package.
const PACKAGE: &str = "__init__.py";
/// What a long text is between.
const MARKS: [&str; 2] = ["\"\"\"", "'''"];

pub(super) struct Python;

impl Rules for Python {
    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_python::LANGUAGE.into()
    }

    fn outline<'t>(&self, part: Part<'t>, _: Around<'_, 't>, found: &mut Vec<Entry<'t>>) {
        // What is decorated is shown with its decorators, and as what it is besides.
        let definition = match part.kind() {
            "decorated_definition" => part.field("definition"),
            _ => Some(part),
        };
        let Some(definition) = definition else { return };
        let shown = part.through(header_end(definition));
        match definition.kind() {
            "function_definition" => found.push(Entry::function(shown)),
            "class_definition" => found.push(Entry::kind(shown)),
            _ => {}
        }
    }

    fn declared<'t>(&self, part: Part<'t>, _: Around<'_, 't>) -> Option<(&'t str, &'t str)> {
        let definition = match part.kind() {
            "decorated_definition" => part.field("definition")?,
            "function_definition" | "class_definition" => part,
            _ => return None,
        };
        Some((definition.field_text("name"), part.text()))
    }

    fn is_call(&self, part: Part<'_>, name: &str) -> bool {
        let called = match part.kind() {
            "call" => part.field("function"),
            // To decorate something with a function is to call it.
            "decorator" => part.children().first().copied().filter(|it| it.kind() != "call"),
            _ => None,
        };
        called.is_some_and(|it| it.last_name() == name)
    }

    fn excerpt(&self, text: &str) -> String {
        let mut excerpt = String::new();
        let mut quote = None;
        let mut lines = text.split_inclusive('\n');
        while let Some(line) = lines.next() {
            let is_text = quote.is_some();
            quote = quote_after(line, quote);
            let mut start = line.trim_start();
            if is_text || !(begins_with(start, "import") || begins_with(start, "from")) {
                continue;
            }
            let is_list = start.contains('(') && !start.contains(')');
            for _ in 0..LINES_MAX {
                excerpt.push_str(start);
                let goes_on = if is_list { !start.contains(')') } else { is_continued(start) };
                if !goes_on {
                    break;
                }
                start = lines.next().unwrap_or_default().trim_start();
            }
            if !excerpt.ends_with('\n') {
                excerpt.push('\n');
            }
        }
        excerpt
    }

    fn imports<'t>(&self, part: Part<'t>, _: Around<'_, 't>, found: &mut Vec<Import>) {
        let named = |it: Part<'_>| match it.kind() {
            "dotted_name" => Some(it.text().to_owned()),
            "aliased_import" => Some(it.field_text("name").to_owned()),
            _ => None,
        };
        match part.kind() {
            "import_statement" => {
                found.extend(part.children().into_iter().filter_map(named).map(Import::of));
            }
            "import_from_statement" => {
                let Some(module) = part.field("module_name") else { return };
                let items = part.children().into_iter().skip(1).filter_map(named);
                let path = module.text().to_owned();
                let before = found.len();
                found.extend(items.map(|it| Import { path: path.clone(), item: Some(it) }));
                if found.len() == before {
                    found.push(Import::of(path));
                }
            }
            _ => {}
        }
    }

    /// An import is a module or a package, and what is taken from a package may be a module too.
    fn resolve(&self, from: &str, import: &Import, files: &Files<'_>) -> Option<u32> {
        let module = import.path.trim_start_matches('.');
        let dots = import.path.len() - module.len();
        let path = module.replace('.', "/");
        let item = import.item.as_deref();
        let here = folder_of(from);
        if 0 < dots {
            let folder = folders_above(here).nth(dots - 1)?;
            return find(&inside(folder, &path), item, files);
        }
        // Python looks where it was started and where it is told to, and neither is inside a package.
        let starts = folders_above(here).filter(|it| !files.has(&inside(it, PACKAGE)));
        let places = starts.flat_map(|it| [inside(it, &path), inside(&inside(it, "src"), &path)]);
        let found = places.into_iter().find_map(|it| find(&it, item, files));
        found.or_else(|| {
            let inner = path.strip_prefix(files.root_name).filter(|_| files.has(PACKAGE))?;
            let inner = if inner.is_empty() { inner } else { inner.strip_prefix('/')? };
            find(inner, item, files)
        })
    }
}

/// Returns the last part of a definition's first line but for the colon.
fn header_end(definition: Part<'_>) -> Part<'_> {
    const FIELDS: [&str; 5] =
        ["return_type", "parameters", "superclasses", "type_parameters", "name"];
    FIELDS.iter().find_map(|it| definition.field(it)).unwrap_or(definition)
}

fn is_continued(line: &str) -> bool {
    line.trim_end().ends_with('\\')
}

/// Returns which mark ends the long text that a line leaves open, given the one it began in.
fn quote_after(line: &str, open: Option<&'static str>) -> Option<&'static str> {
    let mut rest = match open {
        Some(mark) => line.split_once(mark).map(|(_, after)| after),
        None => Some(line),
    };
    let mut last = open;
    while let Some(plain) = rest {
        let mut quotes = plain.match_indices(['"', '\'']);
        let (at, mark) = quotes.find_map(|(at, _)| {
            let after = plain.get(at..)?;
            MARKS.into_iter().find(|it| after.starts_with(it)).map(|mark| (at, mark))
        })?;
        let (before, after) = plain.split_at(at);
        if before.contains('#') {
            return None;
        }
        let inner = after.get(mark.len()..).unwrap_or_default();
        // Three quotes inside of other quotes are a text themselves.
        if before.ends_with(['"', '\'']) {
            rest = Some(inner);
            continue;
        }
        last = Some(mark);
        rest = inner.split_once(mark).map(|(_, after)| after);
    }
    last
}

/// Finds a module, or the one in it that has the name that is taken from it.
fn find(module: &str, item: Option<&str>, files: &Files<'_>) -> Option<u32> {
    let of = |path: String| {
        let package = inside(&path, PACKAGE);
        files.any([format!("{path}.py"), package])
    };
    let item = item.filter(|it| *it != "*");
    item.and_then(|it| of(inside(module, it))).or_else(|| of(module.to_owned()))
}
