//! A probe says what a command would lead to, and keeps nothing.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use definition::{MemoryFiles, Workflow, WorkflowName, parse};
use engine::{
    Command, Known, MakeMove, Probe, RunId, RunState, StartRun, decide, probe, probe_in_turn,
};
use serde_json::Map;

fn workflow() -> Workflow {
    let index = "---\nvars: {on: false}\nmoves:\n  first: {do: [{set: {on: \"true\"}}]}\n  \
                 second: {when: \"vars.on\", do: [{note: x}]}\n---\n# Goal\nx\n- [a](steps/a.md)\n";
    let step = "# Orchestrator Guidance\nx\n# Client Instructions\nx\n";
    let files = [("w/index.md", index), ("w/steps/a.md", step)];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    parse(&WorkflowName::parse("w").unwrap(), &MemoryFiles(BTreeMap::from(files))).unwrap()
}

fn begun(workflow: &Workflow) -> RunState {
    let start = StartRun {
        goes_on: false,
        key: None,
        flow: None,
        context: Map::new(),
        vars: Map::new(),
        root: String::new(),
    };
    let state = RunState::new(RunId::from_bytes([7; 16]));
    decide(workflow, &state, &Known::default(), &Command::StartRun(Box::new(start))).unwrap().state
}

fn made(name: &str) -> Command {
    Command::Move(Box::new(MakeMove { name: name.to_owned(), ..MakeMove::default() }))
}

#[test]
fn a_probe_says_what_a_decision_says_and_keeps_nothing() {
    let (workflow, known) = (workflow(), Known::default());
    let state = begun(&workflow);
    let before = state.clone();
    for name in ["first", "second", "none"] {
        let decided = decide(&workflow, &state, &known, &made(name));
        let found = probe(&workflow, &state, &known, &made(name));
        assert_eq!(found.is_open(), decided.is_ok(), "{name}");
        assert_eq!(found.state().cloned(), decided.ok().map(|it| it.state), "{name}");
    }
    assert_eq!(state, before);
}

#[test]
fn a_command_in_turn_sees_what_those_before_it_led_to() {
    let (workflow, known) = (workflow(), Known::default());
    let state = begun(&workflow);
    let found =
        probe_in_turn(&workflow, &state, &known, &[made("second"), made("first"), made("second")]);
    let open: Vec<bool> = found.iter().map(Probe::is_open).collect();
    assert_eq!(open, [false, true, true]);
    assert_eq!(found[0].refusal().map(|it| it.code()), Some("move_not_allowed"));
}
