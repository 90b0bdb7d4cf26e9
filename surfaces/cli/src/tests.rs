//! Policy does not depend on the surface: each row of a table is one request under one policy, played
//! through every door that can make it, and every door must lead to the same verdict.
//!
//! Everything is real but the process: settings, tools, the terminal's commands, files on disk. What is
//! played stands in `tests/doors.txt`, the verdicts in `tests/policy.txt` (`UPDATE_EXPECT=1`).

mod reference;
mod script;
mod world;

use std::{fmt::Write as _, fs};

use expect_test::expect_file;

use script::{Door, Scene};
use world::World;

const HEADER: &str = "\
What one request leads to under each policy, by the door that it comes through. A row has one verdict.

goes on   the run is where the request wants it
evidence  refused: a criterion has no evidence
order     refused: the step does not follow
person    the run stays until a person agrees: it asks them, or the request is refused for that
-         this door cannot make the request
";

/// The doors, in the order of the columns.
const DOORS: [&str; 5] = ["core", "dialect", "terminal", "file", "force"];
/// How wide the names of rows and the cells are.
const NAME: usize = 58;
const CELL: usize = 9;

#[tokio::test]
async fn every_door_leads_to_the_same_verdict_under_every_policy() {
    let (mut drawn, mut wrong) = (format!("{HEADER}\n{:NAME$}", ""), Vec::new());
    let names: String = DOORS.map(|it| format!(" {it:CELL$}")).concat();
    writeln!(drawn, "{names}").unwrap();
    let played = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/doors.txt");
    for scene in script::read(&fs::read_to_string(played).unwrap()) {
        writeln!(drawn, "\n{}", scene.what).unwrap();
        for policy in &scene.policies {
            let mut verdicts = Vec::new();
            for door in &scene.doors {
                verdicts.push((door, Box::pin(World::new(policy).await.play(&scene, door)).await));
            }
            wrong.extend(find_difference(&scene, &policy.join(", "), &verdicts));
            let cells: String = DOORS.map(|it| format!(" {:CELL$}", cell(it, &verdicts))).concat();
            writeln!(drawn, "  {:width$}{cells}", policy.join(", "), width = NAME - 2).unwrap();
        }
    }
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
    expect_file!["tests/policy.txt"].assert_eq(&format!("{}\n", lines.join("\n")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what stands below a door: what each request through it led to.
fn cell(name: &str, verdicts: &[(&Door, &'static str)]) -> String {
    let own = verdicts.iter().filter(|(door, _)| door.name == name).map(|(_, verdict)| *verdict);
    let mut own: Vec<&str> = own.collect();
    own.dedup();
    if own.is_empty() { "-".to_owned() } else { own.join("/") }
}

/// Says which door leads to something else than the first.
fn find_difference(
    scene: &Scene,
    policy: &str,
    verdicts: &[(&Door, &'static str)],
) -> Option<String> {
    let (first, expected) = verdicts.first()?;
    let is_wrong = |it: &&(&Door, &str)| it.1 != *expected || it.1 == "unclear";
    let (door, verdict) = verdicts.iter().find(is_wrong)?;
    let (one, other) = (&first.call, &door.call);
    Some(format!(
        "`{}` with {policy}: `{one}` leads to `{expected}`, but `{other}` to `{verdict}`",
        scene.what
    ))
}
