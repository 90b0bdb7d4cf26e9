//! What is read out of source code: summaries, definitions, what imports what, what a change meets.

use serde_json::{Value, json};

use crate::stage::{Stage, git, world};

const GREET: &str = "package greet\n\nfunc Greet(name string) string {\n\treturn \"hi \" + \
                     name\n}\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n\nfunc helper() \
                     {}\n\ntype StatusCode int\n\nconst DefaultTimeout = 30\n";

fn at(stage: &Stage, file: &str) -> String {
    stage.project.path(file).to_str().unwrap().to_owned()
}

fn summary(stage: &Stage, file: &str, text: &str) -> Vec<String> {
    stage.project.write(file, text);
    let said = stage.done("ast_summary", json!({"file_path": at(stage, file)}));
    said.text.lines().filter(|it| !it.trim().is_empty()).map(ToOwned::to_owned).collect()
}

#[test]
fn a37_a_summary_has_what_others_can_use() {
    let expected = [
        "## Functions",
        "- `func Greet(name string) string`",
        "- `func Add(a, b int) int`",
        "## Types",
        "- `StatusCode int`",
        "## Constants",
        "- `const DefaultTimeout = 30`",
    ];
    assert_eq!(summary(&Stage::new(), "greet.go", GREET), expected);
}

#[test]
fn summaries_are_made_in_each_language() {
    let stage = Stage::new();
    let python = "class Box:\n    def open(self, how: str) -> bool:\n        return True\n";
    let lines = summary(&stage, "box.py", python);
    assert!(lines.contains(&"- `def open(self, how: str) -> bool`".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"- `class Box`".to_owned()), "{lines:#?}");
    let typed = "export function open(how: string): boolean {\n  return true;\n}\n";
    let lines = summary(&stage, "box.ts", typed);
    assert!(
        lines.iter().any(|it| it.contains("function open(how: string): boolean")),
        "{lines:#?}"
    );
    let lines = summary(&stage, "box.sh", "open_box() {\n  echo open\n}\n");
    assert!(lines.iter().any(|it| it.contains("open_box")), "{lines:#?}");
    let rust = "pub struct Box;\n\npub fn open(how: &str) -> bool {\n    true\n}\n\npub const \
                SIZE: u32 = 3;\n";
    let lines = summary(&stage, "box.rs", rust);
    for part in ["pub fn open(how: &str) -> bool", "pub struct Box", "SIZE"] {
        assert!(lines.iter().any(|it| it.contains(part)), "no `{part}` in {lines:#?}");
    }
}

fn definition(stage: &Stage, file: &str, symbol: &str) -> String {
    let arguments = json!({"file_path": at(stage, file), "symbol": symbol});
    stage.done("ast_find_definition", arguments).text
}

#[test]
fn a37_a_definition_is_given_with_its_text() {
    let stage = Stage::new();
    stage.project.write("greet.go", GREET);
    let found = definition(&stage, "greet.go", "Add");
    assert_eq!(found.trim(), "func Add(a, b int) int {\n\treturn a + b\n}");
    assert_eq!(definition(&stage, "greet.go", "Nothing"), "");
}

#[test]
fn a37_each_of_several_definitions_is_given() {
    let stage = Stage::new();
    let text = "export function process(a: string): string;\nexport function process(a: number): \
                number;\nexport function process(a: any): any {\n  return a;\n}\n";
    stage.project.write("process.ts", text);
    let found = definition(&stage, "process.ts", "process");
    assert!(found.starts_with("3 matches found"), "{found}");
}

#[test]
fn a37_a_language_that_is_not_known_is_refused() {
    let stage = Stage::new();
    stage.project.write("a.rb", "def a\nend\n");
    stage.refused("ast_summary", json!({"file_path": at(&stage, "a.rb")}));
    stage.refused("ast_summary", json!({"file_path": at(&stage, "missing.go")}));
    stage.project.write("greet.go", GREET);
    let arguments = json!({"file_path": at(&stage, "greet.go"), "language": "cobol"});
    stage.refused("ast_summary", arguments).has(&["go", "typescript", "python", "bash"]);
}

fn graph(stage: &Stage, root: &str, language: &str) -> Value {
    let arguments = json!({"root_path": at(stage, root), "language": language});
    stage.done("dependency_graph", arguments).json()
}

fn edges(graph: &Value) -> Vec<(&str, &str)> {
    let edges = graph["edges"].as_array().unwrap();
    let mut found: Vec<(&str, &str)> =
        edges.iter().map(|it| (it["from"].as_str().unwrap(), it["to"].as_str().unwrap())).collect();
    found.sort_unstable();
    found
}

/// Returns the files that a change of `symbol` in `file` meets, and how far they are.
fn scope(
    stage: &Stage,
    (root, language): (&str, &str),
    file: &str,
    symbol: &str,
) -> Vec<(String, i64)> {
    let arguments = json!({
        "root_path": at(stage, root), "file_path": file, "symbol_name": symbol,
        "language": language,
    });
    let told = stage.done("impact_scope", arguments).json();
    let affected = told["affected_files"].as_array().unwrap_or_else(|| panic!("{told:#}"));
    let one =
        |it: &Value| (it["file"].as_str().unwrap().to_owned(), it["distance"].as_i64().unwrap());
    affected.iter().map(one).collect()
}

fn go_module() -> Stage {
    let stage = Stage::new();
    stage.project.write_all(
        "== m/go.mod\nmodule example.com/m\n\ngo 1.22\n== m/pkg/a1.go\npackage pkg\n\nfunc One() \
         int { return 1 }\n== m/mid/m.go\npackage mid\n\nimport \"example.com/m/pkg\"\n\nfunc Two() \
         int { return pkg.One() + 1 }\n== m/cmd/main.go\npackage main\n\nimport other \
         \"example.com/m/mid\"\n\nfunc One() int { return other.Two() }\n\nfunc main() { One() }\n",
    );
    stage
}

#[test]
fn a38_what_imports_what_in_go() {
    let stage = go_module();
    let graph = graph(&stage, "m", "go");
    let expected = [("cmd/main.go", "mid/m.go"), ("mid/m.go", "pkg/a1.go")];
    assert_eq!(edges(&graph), expected);
    assert_eq!(graph["nodes"], json!(["cmd/main.go", "mid/m.go", "pkg/a1.go"]));
}

#[test]
fn a38_what_a_change_in_go_meets_however_its_file_is_named() {
    let stage = go_module();
    let expected = [("mid/m.go".to_owned(), 1), ("cmd/main.go".to_owned(), 2)];
    assert_eq!(scope(&stage, ("m", "go"), "pkg/a1.go", "One"), expected);
    let absolute = at(&stage, "m/pkg/a1.go");
    assert_eq!(scope(&stage, ("m", "go"), &absolute, "One"), expected);
    assert_eq!(scope(&stage, ("m", "go"), "pkg/a1.go", "Nothing"), []);
}

#[test]
fn a38_what_a_change_in_bash_meets() {
    let stage = Stage::new();
    stage.project.write_all(
        "== b/utils.sh\nu() {\n  echo u\n}\n== b/lib.sh\nsource ./utils.sh\nu\n== \
         b/sub/main.sh\nsource ../lib.sh\nu\n",
    );
    let expected = [("lib.sh".to_owned(), 1), ("sub/main.sh".to_owned(), 2)];
    assert_eq!(scope(&stage, ("b", "bash"), "utils.sh", "u"), expected);
}

#[test]
fn a38_what_a_change_in_typescript_meets() {
    let stage = Stage::new();
    stage.project.write_all(
        "== t/a.ts\nexport function one(): number {\n  return 1;\n}\n== t/b.ts\nimport { one } \
         from './a';\n\nexport const two = one() + 1;\n",
    );
    let found = scope(&stage, ("t", "typescript"), "a.ts", "one");
    let [(file, distance)] = found.as_slice() else { panic!("not one: {found:?}") };
    // How far it is may be unknown.
    assert!(file == "b.ts" && [-1, 1].contains(distance), "{found:?}");
}

#[test]
fn what_imports_what_in_rust() {
    let stage = Stage::new();
    stage.project.write_all(
        "== r/Cargo.toml\n[package]\nname = \"r\"\n== r/src/lib.rs\nmod util;\n\npub fn run() -> \
         u32 {\n    util::one()\n}\n== r/src/util.rs\npub fn one() -> u32 {\n    1\n}\n",
    );
    assert_eq!(edges(&graph(&stage, "r", "rust")), [("src/lib.rs", "src/util.rs")]);
    let expected = [("src/lib.rs".to_owned(), 1)];
    assert_eq!(scope(&stage, ("r", "rust"), "src/util.rs", "one"), expected);
}

#[test]
fn a38_a_graph_of_an_unknown_language_or_of_nothing_is_refused() {
    let stage = go_module();
    stage.refused("dependency_graph", json!({"root_path": at(&stage, "m"), "language": "ruby"}));
    let nowhere = json!({"root_path": at(&stage, "nowhere"), "language": "go"});
    stage.refused("dependency_graph", nowhere);
}

#[test]
fn code_of_others_is_not_part_of_the_graph() {
    let stage = go_module();
    stage.project.write("m/vendor/v/v.go", "package v\n");
    stage.project.write("m/node_modules/n/n.go", "package n\n");
    let graph = graph(&stage, "m", "go");
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 3, "{graph:#}");
}

#[test]
fn the_profile_of_a_repository_is_read_from_its_files() {
    let project = world(&[]);
    project.write("go.mod", "module example.com/m\n");
    project.write("main.go", "package main\n");
    project.write("Makefile", "build:\n\techo\ntest:\n\techo\n");
    project.write(".github/workflows/ci.yml", "on: push\n");
    git(&project, &["add", "main.go", "go.mod"]);
    let told = Stage::over(project).done("profile_get", json!({})).json();
    assert_eq!(told["test_framework"], "go test", "{told:#}");
    assert_eq!(told["staleness"], "fresh", "{told:#}");
    assert_eq!(
        (&told["build_command"], &told["test_command"]),
        (&json!("make build"), &json!("make test"))
    );
    assert!(told["ci_system"].as_str().unwrap().to_lowercase().contains("github"), "{told:#}");
    let languages = told["languages"].as_array().unwrap();
    let [language] = languages.as_slice() else { panic!("not one: {told:#}") };
    assert!(language["name"].as_str().unwrap().eq_ignore_ascii_case("go"), "{told:#}");
    assert_eq!(language["percentage"], 100, "{told:#}");
}
