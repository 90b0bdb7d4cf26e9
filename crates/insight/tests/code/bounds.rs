//! What is too much is cut, and says so; what is broken does no harm.

use std::{fmt::Write as _, sync::atomic::AtomicBool};

use insight::code::{Language, Project, Source, Unparsed, calls, definitions, summary};

use super::{defined, graph, source, summarised};

#[test]
fn a_summary_that_is_too_long_says_how_much_is_left_out() {
    let text = "package p\nfunc One() {}\nfunc Two() {}\nfunc Three() {}\ntype T int\n";
    assert_eq!(
        summary(source("a.go", text), 45).unwrap(),
        "## Functions\n\n- `func One()`\n- `func Two()`\n\n## Types\n\n\n(cut: 2 more, for which there is no room here)\n"
    );
}

#[test]
fn a_definition_that_is_too_long_is_cut_between_characters() {
    let found = definitions(source("a.sh", "f() { echo äöü; }\n"), "f", 12).unwrap();
    assert_eq!(found, "f() { echo \n\n(cut: 9 more bytes)");
}

#[test]
fn a_graph_that_is_too_large_shows_the_first_files_and_what_is_between_them() {
    let files =
        [("a.sh", ". b.sh\n. d.sh\n"), ("b.sh", ". a.sh\n"), ("c.sh", ". a.sh\n"), ("d.sh", "")];
    let graph = graph(Language::Bash, &files, "");
    assert_eq!((graph.nodes().len(), graph.edges_len()), (4, 4));
    let shown = graph.shown(80);
    assert_eq!(shown.nodes, ["a.sh", "b.sh"]);
    let edges: Vec<(&str, &str)> = shown.edges.iter().map(|it| (it.from, it.to)).collect();
    assert_eq!(edges, [("a.sh", "b.sh"), ("b.sh", "a.sh")]);
    assert_eq!(graph.shown(0).nodes.len(), 0);
}

#[test]
fn what_is_broken_is_read_as_far_as_it_can_be() {
    let text = "package p\nfunc One( {}\n)))) 🦀\nfunc Two() int { return 1 }\n";
    assert!(summarised("a.go", text).contains("- `func Two() int`"));
    for path in ["a.go", "a.ts", "a.tsx", "a.py", "a.sh", "a.rs"] {
        assert_eq!(summarised(path, ""), "");
        assert_eq!(defined(path, "\0\u{1}((({{{\"'`", "x"), "");
        assert_eq!(defined(path, "x", ""), "");
    }
}

#[test]
fn text_that_is_nested_without_end_is_no_danger() {
    for path in ["a.go", "a.ts", "a.tsx", "a.py", "a.sh", "a.rs"] {
        let text = "f(".repeat(5_000) + &"{".repeat(5_000);
        let source = source(path, &text);
        assert_eq!(Project::new(source.language, "root").add(source), Ok(()));
        assert!(calls(source, "f").is_ok() && summary(source, 1_000).is_ok());
    }
    let mut modules = String::new();
    for depth in 0..500 {
        writeln!(modules, "{}mod m{depth} {{", " ".repeat(depth)).unwrap();
    }
    modules.push_str("use super::super::x;\n");
    assert_eq!(Project::new(Language::Rust, "root").add(source("a.rs", &modules)), Ok(()));
}

#[test]
fn deep_code_is_summarised_as_a_whole() {
    const DEPTH: usize = 20_000;
    let nested = |open: &str| open.repeat(DEPTH) + &"}".repeat(DEPTH);
    let found = summary(source("a.rs", &nested("pub fn f(){")), 100).unwrap();
    assert!(found.starts_with("## Functions\n\n- `pub fn f()`\n- `pub fn f()`\n"), "{found}");
    assert!(found.ends_with("for which there is no room here)\n"), "{found}");
    let text = format!("export {}", nested("function f(){"));
    assert_eq!(summarised("a.ts", &text), "## Functions\n\n- `function f()`\n");
}

#[test]
fn declarations_inside_each_other_take_no_more_room_than_there_is() {
    let text = "function f(){".repeat(20_000) + &"}".repeat(20_000);
    let found = definitions(source("a.ts", &text), "f", 1_000).unwrap();
    assert!(found.starts_with("20000 matches found\n\nfunction f(){"), "{found}");
    assert!(found.contains("(cut: ") && found.len() < 1_100, "{found}");
}

#[test]
fn an_excerpt_is_no_longer_than_its_text() {
    for (path, text) in [
        ("a.ts", "import(".repeat(20_000)),
        ("a.py", "\"\"\"a\"\"\"b".repeat(20_000)),
        ("a.rs", format!("use {};", "a::{".repeat(20_000))),
        ("b.rs", "mod a;\n".repeat(20_000)),
    ] {
        let source = source(path, &text);
        assert_eq!(Project::new(source.language, "root").add(source), Ok(()), "{path}");
    }
}

#[test]
fn whoever_has_waited_long_enough_can_stop_it() {
    let text = "package p\nimport \"a\"\n".to_owned() + &"f(".repeat(5_000);
    let stop = AtomicBool::new(true);
    let source = Source { stop: &stop, ..source("a.go", &text) };
    assert_eq!(summary(source, 1_000), Err(Unparsed::Stopped));
    assert_eq!(calls(source, "f"), Err(Unparsed::Stopped));
    assert_eq!(Project::new(Language::Go, "root").add(source), Err(Unparsed::Stopped));
}

#[test]
fn a_file_that_is_not_there_has_no_callers_to_look_for() {
    let graph = graph(Language::Bash, &[("a.sh", "")], "u");
    assert_eq!(graph.callers("b.sh"), None);
    assert_eq!(graph.callers("a.sh"), Some(Vec::new()));
}
