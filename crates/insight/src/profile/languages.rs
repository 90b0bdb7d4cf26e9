//! Which languages a repository is written in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

const LANGUAGES_MAX: usize = 5;

/// A language, and which part of the files is written in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Language {
    pub name: String,
    pub percentage: usize,
}

const LANGUAGES: &[(&str, &[&str])] = &[
    ("Bash", &["sh", "bash", "zsh"]),
    ("C", &["c", "h"]),
    ("C#", &["cs"]),
    ("C++", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    ("CSS", &["css", "scss", "sass", "less"]),
    ("Clojure", &["clj", "cljs", "cljc"]),
    ("Dart", &["dart"]),
    ("Elixir", &["ex", "exs"]),
    ("Elm", &["elm"]),
    ("Erlang", &["erl", "hrl"]),
    ("F#", &["fs", "fsx"]),
    ("Go", &["go"]),
    ("Groovy", &["groovy"]),
    ("HTML", &["html", "htm"]),
    ("Haskell", &["hs"]),
    ("JSON", &["json"]),
    ("Java", &["java"]),
    ("JavaScript", &["js", "jsx", "mjs", "cjs"]),
    ("Julia", &["jl"]),
    ("Kotlin", &["kt", "kts"]),
    ("Lua", &["lua"]),
    ("Markdown", &["md"]),
    ("Nix", &["nix"]),
    ("OCaml", &["ml", "mli"]),
    ("Objective-C", &["m", "mm"]),
    ("PHP", &["php"]),
    ("Perl", &["pl", "pm"]),
    ("Protocol Buffers", &["proto"]),
    ("Python", &["py", "pyi"]),
    ("R", &["r"]),
    ("Ruby", &["rb"]),
    ("Rust", &["rs"]),
    ("SQL", &["sql"]),
    ("Scala", &["scala"]),
    ("Svelte", &["svelte"]),
    ("Swift", &["swift"]),
    ("TOML", &["toml"]),
    ("Terraform", &["tf"]),
    ("TypeScript", &["ts", "tsx", "mts", "cts"]),
    ("Vue", &["vue"]),
    ("YAML", &["yaml", "yml"]),
    ("Zig", &["zig"]),
];

/// Returns the languages that most files are written in, of equals by name.
pub(super) fn languages(paths: &[String]) -> Vec<Language> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in paths.iter().filter_map(|it| language(it)) {
        *counts.entry(name).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by(|(_, one), (_, other)| other.cmp(one));
    let parts = counts.into_iter().map(|(name, count)| Language {
        name: name.to_owned(),
        percentage: count * 100 / all.max(1),
    });
    parts.filter(|it| 0 < it.percentage).take(LANGUAGES_MAX).collect()
}

fn language(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    let (_, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    let found = LANGUAGES.iter().find(|(_, endings)| endings.contains(&ending.as_str()));
    found.map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::languages;

    #[test]
    fn files_are_counted_by_their_ending() {
        let paths = ["a.rs", "b.rs", "c/d.java", "x.JAVA", "e.sh", "f.md", "none", "g.xyz"];
        let paths: Vec<String> = paths.map(ToOwned::to_owned).to_vec();
        let rows: Vec<String> =
            languages(&paths).iter().map(|it| format!("{} {}", it.name, it.percentage)).collect();
        assert_eq!(rows, ["Java 33", "Rust 33", "Bash 16", "Markdown 16"]);
        assert!(languages(&[]).is_empty());
    }
}
