//! Draws what every tool that changes something does to a gate in each of its states, over MCP (the
//! binary serves those who come over HTTP), and shows that no tool gets a run past a gate where only a person's own answer
//! counts. A new tool without a row fails here. What the engine's commands do is in
//! `crates/engine/tests/gate_matrix.txt`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "tool_gates/caller.rs"]
mod caller;
#[path = "tool_gates/evidence.rs"]
mod evidence;
#[path = "support/http.rs"]
#[expect(dead_code, reason = "only tools are called here")]
mod http;
#[path = "support/project.rs"]
mod project;
#[path = "repeats/row.rs"]
#[expect(dead_code, reason = "a run gets to its gate in another way here")]
mod row;
#[path = "tool_gates/script.rs"]
mod script;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "calls are read as they come here")]
mod server;
#[path = "tool_gates/world.rs"]
mod world;

use std::{collections::BTreeSet, fmt::Write as _, thread};

use expect_test::expect_file;

use caller::Caller;
use script::Table;
use world::{Cell, Half, World};

const HEADER: &str = "\
PAST      the call got a run past the gate, or opened the gate for it
asks      the run waits at the gate
ended     the run failed or was cancelled
back      the run is before the gate again
-         the call changed nothing about the gate
other     the call was refused, for a reason that has nothing to do with the gate
no        the call was refused because of the gate
denied    the call was refused because of who made it

ahead     the run is before the step with the gate
due       it works on that step
asked     it waits at the gate
answered  the person approved
changed   it waits at the gate, and what the person is shown has changed since it asked
rejected  the person sent the work back
stale     the person approved, and what they were shown has changed since
edited    the same for a plan in a state file; the run builds it already
again     the person approved the plan of an item, and the run is before the plan of the next one
";

/// How wide the names of rows and the cells are.
const NAME: usize = 46;
const CELL: usize = 9;

#[test]
fn every_tool_of_core_at_every_state_of_a_gate() {
    check("core");
}

#[test]
fn every_tool_of_generation_at_every_state_of_a_gate() {
    check("generation");
}

#[test]
fn every_tool_of_forge_at_every_state_of_a_gate() {
    check("forge");
}

#[test]
fn every_tool_of_devworkflow_at_every_state_of_a_gate() {
    check("devworkflow");
}

#[test]
fn every_tool_of_a_graph_at_every_state_of_a_gate() {
    check("graph");
}

#[test]
fn every_tool_that_changes_something_has_a_row() {
    for toolset in ["core", "generation", "forge", "devworkflow"] {
        let table = script::table(toolset);
        let rows: BTreeSet<&str> = table.rows.iter().flat_map(script::Row::tools).collect();
        let tools = World::new(&table, false).list_changing(toolset);
        let missing: Vec<&String> = tools.iter().filter(|it| !rows.contains(it.as_str())).collect();
        assert!(missing.is_empty(), "no rows in the matrix of gates: {missing:?}");
    }
}

/// Draws the table of that name, and names every cell that must not be.
#[track_caller]
fn check(name: &str) {
    let table = script::table(name);
    let [relayed, verified] = thread::scope(|scope| {
        let halves = [false, true].map(|it| {
            let table = &table;
            scope.spawn(move || World::new(table, it).play())
        });
        halves.map(|it| it.join().unwrap())
    });
    let file = format!("{}/tests/tool_gates/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    expect_file![file].assert_eq(&draw(&table, [&relayed, &verified]));
    let columns = [&relayed, &verified].map(|it| it.by_state.iter().chain(&it.by_caller));
    let mut wrong = Vec::new();
    for cell in columns.into_iter().flatten().flatten() {
        wrong.extend(cell.is_bypass.then(|| format!("got past: {}", cell.story)));
        wrong.extend(cell.findings.iter().map(|it| format!("audit: {it}: {}", cell.story)));
    }
    assert!(wrong.is_empty(), "{} cells are wrong:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Draws what each state leads to, and then what it changes that somebody else calls.
fn draw(table: &Table, halves: [&Half; 2]) -> String {
    let states: Vec<&str> = table.states.iter().map(|it| it.name.as_str()).collect();
    let columns = halves.map(|it| it.by_state.iter().collect::<Vec<_>>());
    let mut drawn = format!("{HEADER}\n");
    drawn.push_str(&draw_rows(table, &states, &columns, |_| true));
    let asked = states.iter().position(|it| *it == "asked").unwrap();
    let columns =
        halves.map(|it| [&it.by_state[asked]].into_iter().chain(&it.by_caller).collect::<Vec<_>>());
    let differs = |row: usize| columns.iter().any(|it| differs_by_caller(it, row));
    let (shown, same) = (0..table.rows.len()).partition::<Vec<_>, _>(|it| differs(*it));
    write!(drawn, "\nAt `asked`, by who calls:\n\n{}\n", Caller::explain()).unwrap();
    drawn.push_str(&draw_rows(table, &Caller::ALL.map(Caller::name), &columns, differs));
    let (same, all) = (same.len(), same.len() + shown.len());
    writeln!(drawn, "\n{same} of {all} rows are the same for every caller, and denied to `read`.")
        .unwrap();
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// Whether a row leads to something else for another caller than for the first. A caller who may
/// only read is denied all of them.
fn differs_by_caller(columns: &[&Vec<Cell>], row: usize) -> bool {
    let usual = columns[0][row].verdict;
    let pairs = Caller::ALL.into_iter().zip(columns);
    pairs.into_iter().any(|(caller, cells)| {
        let expected = if caller == Caller::Read { "denied" } else { usual };
        cells[row].verdict != expected
    })
}

fn draw_rows(
    table: &Table,
    names: &[&str],
    halves: &[Vec<&Vec<Cell>>; 2],
    is_shown: impl Fn(usize) -> bool,
) -> String {
    let mut drawn = String::new();
    let width = names.len() * (CELL + 1);
    let (left, right) =
        ("answers that an agent passes on count", "only a person's own answer counts");
    writeln!(drawn, "{:NAME$} {left:width$}| {right}", "").unwrap();
    let names: String = names.iter().map(|it| format!(" {it:CELL$}")).collect();
    writeln!(drawn, "{:NAME$}{names} |{names} |", "").unwrap();
    for (number, row) in table.rows.iter().enumerate().filter(|it| is_shown(it.0)) {
        write!(drawn, "{:NAME$}", row.name).unwrap();
        for half in halves {
            for column in half {
                write!(drawn, " {:CELL$}", column[number].verdict).unwrap();
            }
            drawn.push_str(" |");
        }
        drawn.push('\n');
    }
    drawn
}
