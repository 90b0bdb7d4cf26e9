//! Go: what is exported, and packages that are folders.

use insight::code::Language;

use super::{callers, defined, edges, summarised};

const GREET: &str = "package greet

type StatusCode int

const DefaultTimeout = 30

func Greet(name string) string {
\treturn \"Hello \" + name
}

func Add(a, b int) int { return a + b }

func helper() {}
";

#[test]
fn what_is_exported_is_listed_without_bodies() {
    assert_eq!(
        summarised("greet.go", GREET),
        "## Functions

- `func Greet(name string) string`
- `func Add(a, b int) int`

## Types

- `StatusCode int`

## Constants

- `const DefaultTimeout = 30`
"
    );
}

#[test]
fn methods_and_whole_types_and_each_constant_of_a_group_are_listed() {
    let text = "package p
type (
\tShape interface { Area() float64 }
\thidden struct{}
\tAlias = int
)
type Tagged struct { A int `json:\"a\"` }
const (
\tFirst, second = 1, 2
\tthird = 3
\tFourth = 4
)
const small = 1
func (s *hidden) Area() (r float64) { type Local int; return 1 }
func (s *hidden) area() {}
";
    assert_eq!(
        summarised("p.go", text),
        "## Functions

- `func (s *hidden) Area() (r float64)`

## Types

- `Shape interface { Area() float64 }`
- `Alias = int`
- `` Tagged struct { A int `json:\"a\"` } ``

## Constants

- `const First, second = 1, 2`
- `const Fourth = 4`
"
    );
}

#[test]
fn a_definition_is_found_by_its_exact_name_exported_or_not() {
    assert_eq!(defined("a.go", GREET, "helper"), "func helper() {}");
    assert_eq!(defined("a.go", GREET, "StatusCode"), "StatusCode int");
    assert_eq!(defined("a.go", GREET, "Helper"), "");
    assert_eq!(defined("a.go", GREET, "DefaultTimeout"), "");
}

const MODULE: [(&str, &str); 4] = [
    ("go.mod", "module example.com/m // here\n\ngo 1.26\n"),
    ("pkg/a1.go", "package pkg\n\nfunc One() {}\n"),
    ("mid/m.go", "package mid\n\nimport \"example.com/m/pkg\"\n\nfunc Two() { pkg.One() }\n"),
    (
        "cmd/main.go",
        "package main\n\nimport (\n\t\"fmt\"\n\n\tm \"example.com/m/mid\"\n)\n\n\
         func main() { m.Two(); fmt.Println(); One() }\n\nfunc One() {}\n",
    ),
];

#[test]
fn an_import_leads_to_the_first_file_of_its_package() {
    let found = edges(Language::Go, &MODULE);
    assert_eq!(found, ["cmd/main.go -> mid/m.go", "mid/m.go -> pkg/a1.go"]);
}

#[test]
fn callers_are_found_against_the_imports_the_nearest_first() {
    let found = callers(Language::Go, &MODULE, "pkg/a1.go", "One");
    assert_eq!(found, ["mid/m.go 1", "cmd/main.go 2"]);
    assert_eq!(callers(Language::Go, &MODULE, "pkg/a1.go", "Three"), Vec::<String>::new());
}

#[test]
fn every_file_of_a_package_has_the_callers_of_the_package_and_those_beside_it() {
    let mut files = MODULE.to_vec();
    files.push(("pkg/a0_test.go", "package pkg\n\nfunc TestThree() { Three() }\n"));
    files.push(("pkg/b.go", "package pkg\n\nfunc Three() { One() }\n"));
    files.push(("mid/n.go", "package mid\n\nfunc Four() { x.Three() }\n"));
    files.push(("far/f.go", "package far\n\nfunc Five() { Three() }\n"));
    // A test cannot be imported, so it does not stand for its package.
    let found = edges(Language::Go, &files);
    assert_eq!(found, ["cmd/main.go -> mid/m.go", "mid/m.go -> pkg/a1.go"]);
    let found = callers(Language::Go, &files, "pkg/b.go", "Three");
    assert_eq!(found, ["pkg/a0_test.go 1", "mid/n.go 2"]);
    let found = callers(Language::Go, &files, "pkg/a1.go", "One");
    assert_eq!(found, ["mid/m.go 1", "pkg/b.go 1", "cmd/main.go 2"]);
}

#[test]
fn a_call_with_types_in_brackets_is_a_call_and_a_mention_in_a_comment_is_none() {
    let files = [
        ("go.mod", "module m\n"),
        ("a.go", "package m\n\nfunc Map[T any](x T) {}\n"),
        ("b.go", "package m\n\nfunc b() { Map[int](1) }\n"),
        ("c.go", "package m\n\n// Map(x) is not called here.\nvar s = \"Map(1)\"\n"),
    ];
    assert_eq!(callers(Language::Go, &files, "a.go", "Map"), ["b.go 1"]);
}

#[test]
fn of_modules_inside_each_other_the_inner_one_counts() {
    let files = [
        ("go.mod", "module m\n"),
        ("tools/go.mod", "module m/tools\n"),
        ("tools/x/x.go", "package x\n"),
        ("a.go", "/*\nfunc in a comment\n*/\npackage m\n\nimport _ \"m/tools/x\"\n"),
    ];
    assert_eq!(edges(Language::Go, &files), ["a.go -> tools/x/x.go"]);
}
