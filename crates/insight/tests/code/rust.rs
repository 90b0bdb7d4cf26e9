//! Rust: what is public, and modules of this crate and of others in the project.

use insight::code::Language;

use super::{callers, defined, edges, summarised};

/// In a file of its own, since what it declares is not ours to describe.
const SAMPLE: &str = include_str!("sample.rs.txt");

#[test]
fn what_is_public_is_listed_and_with_a_trait_what_it_has() {
    assert_eq!(
        summarised("a.rs", SAMPLE),
        "## Functions

- `fn area(&self) -> f64`
- `fn twice(&self) -> f64`
- `pub fn new(x: u8) -> Self`

## Types

- `pub struct Point { pub x: u8 }`
- `pub trait Shape: Send`
- `pub(crate) enum Colour { Red }`
- `pub type Pair = (u8, u8)`

## Constants

- `pub const LIMIT: usize = 3`
- `pub static NAME: &str = \"n\"`
"
    );
}

#[test]
fn any_item_is_found_by_its_name() {
    assert_eq!(defined("a.rs", SAMPLE, "Hidden"), "struct Hidden;");
    assert_eq!(defined("a.rs", SAMPLE, "LIMIT"), "pub const LIMIT: usize = 3;");
    assert_eq!(
        defined("a.rs", SAMPLE, "area"),
        "2 matches found\n\nfn area(&self) -> f64;\n\nfn area(&self) -> f64 { 1.0 }"
    );
}

const CRATES: [(&str, &str); 12] = [
    ("one/Cargo.toml", "[package]\nname = \"one-of-us\"\n\n[[bin]]\nname = \"x\"\n"),
    (
        "one/src/lib.rs",
        "mod a;\npub(crate) mod b;\n#[path = \"odd/place.rs\"]\nmod odd;\nmod inline {\n    mod deep;\n    use super::a;\n}\npub use a::Thing;\n",
    ),
    (
        "one/src/a.rs",
        "mod inner;\nuse crate::{b::{self, B}, inline as other};\nfn f() { crate::b::go(); }\n\
         #[cfg(test)]\nmod tests {\n    use super::inner::x;\n    use super::super::b;\n}\n",
    ),
    ("one/src/a/inner.rs", "use super::super::b;\n// use super::a;\nfn g() { super::f() }\n"),
    ("one/src/b/mod.rs", "mod c;\nuse self::c::C;\n"),
    ("one/src/b/c.rs", "use super::go;\nuse std::fmt;\n"),
    ("one/src/odd/place.rs", ""),
    ("one/tests/it.rs", "mod support;\nuse one_of_us::a::Thing;\n"),
    ("one/tests/support.rs", "pub fn help() {}\n"),
    ("two/Cargo.toml", "[package]\nname = \"two\"\n"),
    ("two/src/main.rs", "use one_of_us::{\n    b::c::C,\n    Thing,\n};\nmod own;\n"),
    ("two/src/own.rs", "use crate::nothing;\n"),
];

#[test]
fn modules_and_paths_lead_to_files_of_this_crate_and_of_others() {
    let expected = [
        "one/src/a.rs -> one/src/a/inner.rs",
        "one/src/a.rs -> one/src/b/mod.rs",
        "one/src/a.rs -> one/src/lib.rs",
        "one/src/a/inner.rs -> one/src/a.rs",
        "one/src/a/inner.rs -> one/src/b/mod.rs",
        "one/src/b/c.rs -> one/src/b/mod.rs",
        "one/src/b/mod.rs -> one/src/b/c.rs",
        "one/src/lib.rs -> one/src/a.rs",
        "one/src/lib.rs -> one/src/b/mod.rs",
        "one/src/lib.rs -> one/src/odd/place.rs",
        "one/tests/it.rs -> one/src/a.rs",
        "one/tests/it.rs -> one/tests/support.rs",
        "two/src/main.rs -> one/src/b/c.rs",
        "two/src/main.rs -> one/src/lib.rs",
        "two/src/main.rs -> two/src/own.rs",
        "two/src/own.rs -> two/src/main.rs",
    ];
    assert_eq!(edges(Language::Rust, &CRATES), expected);
}

#[test]
fn calls_are_found_on_values_through_paths_and_inside_macros() {
    let files = [
        ("src/lib.rs", "pub mod a;\nmod b;\nmod c;\nmod d;\nmod e;\n"),
        ("src/a.rs", "pub fn go() {}\npub struct S;\nimpl S { pub fn go(&self) {} }\n"),
        ("src/b.rs", "use crate::a;\nfn f() { a::go(); }\n"),
        ("src/c.rs", "fn f(s: &crate::a::S) { assert!(s.go() == ()); }\n"),
        ("src/d.rs", "use crate::b;\nfn f() { x.go::<u8>(); }\n"),
        ("src/e.rs", "use crate::a;\n/// go()\nfn go() { \"go()\"; }\n"),
    ];
    let found = callers(Language::Rust, &files, "src/a.rs", "go");
    assert_eq!(found, ["src/b.rs 1", "src/c.rs 1", "src/d.rs 2"]);
}
