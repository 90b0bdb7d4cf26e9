//! Plays each file in `scenarios/`, and each `workflows/*/scenario.txt`, through the engine.
//!
//! A scenario is a definition (`== PATH` and the file's text, up to `== play`), then lines of
//! `> command`, each followed by what it led to. `write PATH TEXT`, `remove PATH` and `wait 30m`
//! change the world in between; `gates verified` sets what counts at gates; `again` begins another run; `> chore NAME done DETAIL` and `> chore NAME failed REASON` say how a chore went; `model says TEXT` and `model fails KIND MESSAGE` are what a
//! language model answers when it is asked next; `? action`, `? offers`, `? drift` and `? prompt` look. Run with `UPDATE_EXPECT=1` to
//! rewrite what followed, and read the diff before keeping it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "support/folders.rs"]
mod folders;
#[path = "support/player.rs"]
mod player;

use std::{fs, path::Path};

use definition::{MemoryFiles, WorkflowName, parse};
use folders::{built_in, collect, files_in};
use player::Player;

#[test]
fn every_scenario_plays_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let files = files_in(&folder);
    assert!(!files.is_empty(), "no scenario found");
    for file in files {
        let written = fs::read_to_string(&file).unwrap();
        expect_test::expect_file![&file].assert_eq(&play_whole(&written));
    }
}

#[test]
fn every_built_in_workflow_plays_as_written() {
    let root = built_in();
    let folders = files_in(&root);
    assert!(!folders.is_empty(), "no workflow found");
    for folder in folders {
        let scenario = folder.join("scenario.txt");
        let written = fs::read_to_string(&scenario)
            .unwrap_or_else(|_| panic!("{} has no scenario.txt", folder.display()));
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let mut files = MemoryFiles::default();
        collect(&root, &folder, &mut files);
        let played = play(&name, &files, written.lines());
        expect_test::expect_file![&scenario].assert_eq(&played);
    }
}

fn play_whole(text: &str) -> String {
    let mut files = MemoryFiles::default();
    let mut lines = text.lines();
    let mut head = String::new();
    let mut path: Option<String> = None;
    for line in lines.by_ref() {
        head.push_str(line);
        head.push('\n');
        match line.strip_prefix("== ") {
            Some("play") => break,
            Some(name) => {
                path = Some(name.to_owned());
                files.0.insert(name.to_owned(), String::new());
            }
            None => {
                if let Some(path) = &path {
                    let text = files.0.get_mut(path).unwrap();
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    let index = files.0.keys().find(|it| it.ends_with("/index.md")).expect("an index.md");
    let name = index.strip_suffix("/index.md").unwrap().to_owned();
    head + &play(&name, &files, lines)
}

fn play<'a>(name: &str, files: &MemoryFiles, lines: impl Iterator<Item = &'a str>) -> String {
    let workflow = parse(&WorkflowName::parse(name).unwrap(), files)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut player = Player::new(&workflow);
    let mut played = String::new();
    for line in lines {
        // What a command led to is indented; it is written again.
        if line.starts_with("  ") {
            continue;
        }
        played.push_str(line);
        played.push('\n');
        for led in player.play(line) {
            // Blank lines would be taken for the scenario's own.
            for line in led.lines().filter(|it| !it.trim().is_empty()) {
                let line = format!("  {line}");
                played.push_str(line.trim_end());
                played.push('\n');
            }
        }
    }
    played
}
