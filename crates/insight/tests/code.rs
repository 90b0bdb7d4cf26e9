//! Source code in small samples: what is listed, what is found, who imports and calls whom.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "code/bash.rs"]
mod bash;
#[path = "code/bounds.rs"]
mod bounds;
#[path = "code/go.rs"]
mod go;
#[path = "code/python.rs"]
mod python;
#[path = "code/rust.rs"]
mod rust;
#[path = "code/typescript.rs"]
mod typescript;

use std::sync::atomic::AtomicBool;

use insight::code::{Graph, Language, Project, Source, calls, definitions, summary};

/// More than any sample needs.
const ROOM: usize = 100_000;

/// Returns the summary of a text.
fn summarised(path: &str, text: &str) -> String {
    summary(source(path, text), ROOM).unwrap()
}

/// Returns the declarations of a name in a text.
fn defined(path: &str, text: &str, name: &str) -> String {
    definitions(source(path, text), name, ROOM).unwrap()
}

/// Returns the imports between some files, as `from -> to`.
fn edges(language: Language, files: &[(&str, &str)]) -> Vec<String> {
    let graph = graph(language, files, "");
    let edges = graph.shown(ROOM).edges;
    edges.into_iter().map(|it| format!("{} -> {}", it.from, it.to)).collect()
}

/// Returns who calls a name that a file has, as `file distance`.
fn callers(language: Language, files: &[(&str, &str)], target: &str, name: &str) -> Vec<String> {
    let graph = graph(language, files, name);
    let text = |path: &str| files.iter().find(|(it, _)| *it == path).unwrap().1;
    let really = |path: &str| calls(source(path, text(path)), name).unwrap();
    let found = graph.callers(target).unwrap().into_iter().filter(|(path, _)| really(path));
    found
        .map(|(path, distance)| match distance {
            Some(distance) => format!("{path} {distance}"),
            None => format!("{path} -"),
        })
        .collect()
}

fn graph(language: Language, files: &[(&str, &str)], name: &str) -> Graph {
    let mut project = Project::new(language, "root").with_called(name);
    for (path, text) in files {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        if language.manifest() == Some(file) {
            project.add_manifest(folder, text);
        } else {
            project.add(Source { language, ..source(path, text) }).unwrap();
        }
    }
    project.graph()
}

fn source<'a>(path: &'a str, text: &'a str) -> Source<'a> {
    static STOP: AtomicBool = AtomicBool::new(false);
    // Some samples have files besides that no language claims.
    let language = Language::of_path(path).unwrap_or(Language::Bash);
    Source { language, path, text, stop: &STOP }
}

#[test]
fn a_language_is_found_by_its_name_or_by_the_ending_of_a_file() {
    for (path, name) in [
        ("a.go", "go"),
        ("a/b.ts", "typescript"),
        ("a.tsx", "typescript"),
        ("a.py", "python"),
        ("a.sh", "bash"),
        ("a.bash", "bash"),
        ("/a/b.rs", "rust"),
    ] {
        assert_eq!(Language::of_path(path).unwrap().name(), name);
        assert_eq!(Language::parse(name).unwrap().name(), name);
    }
    assert_eq!(Language::parse(" TypeScript "), Ok(Language::TypeScript));
    assert_eq!(Language::parse("py"), Ok(Language::Python));
    assert_eq!(Language::of_path("a.rb"), None);
    assert_eq!(Language::of_path("go"), None);
    assert_eq!(
        Language::parse("ruby").unwrap_err().to_string(),
        "language `ruby` cannot be read; these can: `go`, `typescript`, `python`, `bash`, `rust`"
    );
}
