//! The layers: which package may depend on which. The rule is this table.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// A package of ours, the packages of ours it may use, and the outside ones it may use.
/// `None` leaves the outside open.
type Layer = (&'static str, &'static [&'static str], Option<&'static [&'static str]>);

const LAYERS: &[Layer] = &[
    (
        "definition",
        &[],
        Some(&[
            "jsonschema",
            "minijinja",
            "regex",
            "serde",
            "serde-saphyr",
            "serde_json",
            "sha2",
            "strsim",
            "thiserror",
        ]),
    ),
    ("engine", &["definition"], Some(&["rpds", "serde", "serde_json", "thiserror"])),
    (
        "dialects",
        &["definition", "engine", "insight"],
        Some(&["parking_lot", "regex", "schemars", "serde", "serde_json", "unicode-width"]),
    ),
    ("store", &["engine"], None),
    ("runtime", &["definition", "engine", "store"], None),
    ("world", &["definition", "engine", "runtime"], None),
    (
        "insight",
        &["definition", "engine"],
        Some(&[
            "serde",
            "serde_json",
            "strsim",
            "tree-sitter",
            "tree-sitter-bash",
            "tree-sitter-go",
            "tree-sitter-python",
            "tree-sitter-rust",
            "tree-sitter-typescript",
        ]),
    ),
    ("mcp", &["definition", "engine", "dialects", "runtime", "insight"], None),
    (
        "cli",
        &["definition", "engine", "dialects", "store", "runtime", "world", "insight", "mcp"],
        None,
    ),
    ("bench", &["definition", "engine", "store", "runtime", "world", "insight", "mcp"], None),
    ("tidy", &[], None),
];

type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn packages_depend_only_on_what_their_layer_allows() {
    assert_eq!(violations(&graph_of_this_workspace()), Vec::<String>::new());
}

#[test]
fn the_check_finds_a_dependency_that_is_not_allowed() {
    let mut graph = graph_of_this_workspace();
    graph.get_mut("engine").unwrap().insert("store".to_owned());
    graph.get_mut("engine").unwrap().insert("tokio".to_owned());
    for other in ["runtime", "store", "tokio", "world"] {
        graph.get_mut("dialects").unwrap().insert(other.to_owned());
    }
    assert_eq!(
        violations(&graph),
        [
            "dialects must not depend on runtime",
            "dialects must not depend on store",
            "dialects must not depend on tokio",
            "dialects must not depend on world",
            "engine must not depend on store",
            "engine must not depend on tokio",
        ]
    );
}

#[test]
fn the_check_finds_a_package_without_a_layer() {
    let mut graph = graph_of_this_workspace();
    graph.insert("newcomer".to_owned(), BTreeSet::new());
    graph.remove("mcp");
    assert_eq!(violations(&graph), ["newcomer has no layer", "mcp has a layer but is not there"]);
}

fn violations(graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for (package, dependencies) in graph {
        let Some((_, ours, others)) = LAYERS.iter().find(|(name, ..)| name == package) else {
            found.push(format!("{package} has no layer"));
            continue;
        };
        for dependency in dependencies {
            let is_ours = graph.contains_key(dependency);
            let is_allowed = if is_ours {
                ours.contains(&dependency.as_str())
            } else {
                others.is_none_or(|others| others.contains(&dependency.as_str()))
            };
            if !is_allowed {
                found.push(format!("{package} must not depend on {dependency}"));
            }
        }
    }
    for (name, ..) in LAYERS {
        if !graph.contains_key(*name) {
            found.push(format!("{name} has a layer but is not there"));
        }
    }
    found
}

#[test]
fn the_engine_cannot_reach_the_standard_library() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = std::fs::read_to_string(root.join("crates/engine/src/lib.rs")).unwrap();
    assert!(text.contains("\n#![no_std]\n"), "the engine is pure because it is `no_std`");
    assert!(!text.contains("extern crate std"), "the engine takes the standard library in");
}

/// Reads each package's dependencies, leaving out those that only its tests use.
fn graph_of_this_workspace() -> Graph {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let used = dependencies.filter(|it| it["kind"] != "dev").map(name).collect();
            (name(package), used)
        })
        .collect()
}

fn name(value: &serde_json::Value) -> String {
    value["name"].as_str().unwrap().to_owned()
}
