//! Plays each file in `scenarios/`, and the scenarios of each built-in workflow, through the engine:
//! `scenario.txt` plays it well, and `lazy.txt` plays an agent that only claims success.
//!
//! A scenario is a definition (`== PATH` and the file's text, up to `== play`), then lines of
//! `> command`, each followed by what it led to. `write PATH TEXT [pad=WORDS]`, `remove PATH` and `wait 30m`
//! change the world in between; `gates verified` sets what counts at gates; `again` begins another run; `> chore NAME done DETAIL` and `> chore NAME failed REASON` say how a chore went; `model says TEXT` and `model fails KIND MESSAGE` are what a
//! language model answers when it is asked next; `? action`, `? offers`, `? drift` and `? prompt` look. Run with `UPDATE_EXPECT=1` to
//! rewrite what followed, and read the diff before keeping it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "support/folders.rs"]
mod folders;
#[path = "support/player.rs"]
mod player;

use std::{
    fs,
    path::{Path, PathBuf},
};

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
    for (folder, files) in built_in_workflows() {
        let played = play_file(&folder, &files, "scenario.txt");
        assert!(played.contains("RunCompleted"), "{} is not completed", folder.display());
    }
}

#[test]
fn no_built_in_workflow_is_completed_by_claims() {
    for (folder, files) in built_in_workflows() {
        let played = play_file(&folder, &files, "lazy.txt");
        let is_completed = played.contains("RunCompleted");
        assert!(!is_completed, "{} is completed by claims", folder.display());
        assert!(played.contains("  refused "), "{} refuses nothing", folder.display());
    }
}

#[test]
fn every_built_in_workflow_says_what_it_is_for_and_what_it_costs() {
    for (folder, _) in built_in_workflows() {
        let Ok(index) = fs::read_to_string(folder.join("index.md")) else { continue };
        for line in ["\n- For: ", "\n- Costs: "] {
            assert_eq!(index.matches(line).count(), 1, "`{}` in {}", line.trim(), folder.display());
        }
    }
}

/// The folder and the files of each built-in workflow.
fn built_in_workflows() -> Vec<(PathBuf, MemoryFiles)> {
    let root = built_in();
    let folders = files_in(&root);
    assert!(!folders.is_empty(), "no workflow found");
    let read = |folder: PathBuf| {
        let mut files = MemoryFiles::default();
        collect(&root, &folder, &mut files);
        (folder, files)
    };
    folders.into_iter().map(read).collect()
}

/// Plays a scenario of a built-in workflow, compares it with what is written, and returns it.
fn play_file(folder: &Path, files: &MemoryFiles, file: &str) -> String {
    let scenario = folder.join(file);
    let written = fs::read_to_string(&scenario)
        .unwrap_or_else(|_| panic!("{} has no {file}", folder.display()));
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let played = play(&name, files, written.lines());
    expect_test::expect_file![&scenario].assert_eq(&played);
    played
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
    let starts = ["/index.md", "/graph.yaml"];
    let find = |it: &&str| files.0.keys().find_map(|path| path.strip_suffix(*it));
    let name = starts.iter().find_map(find).expect("an index.md or a graph.yaml").to_owned();
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
