//! Where the runs of a project are, by what is stored of them and not by what a tool said.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{project::Project, script::Table};

/// Every run of a project by its id, and what `milepost audit` finds.
#[derive(Clone, Default)]
pub(crate) struct Evidence {
    pub(crate) runs: BTreeMap<String, Standing>,
    pub(crate) findings: Vec<String>,
}

/// A run, as far as the gate is concerned.
#[derive(Clone)]
pub(crate) struct Standing {
    /// The checksum of its history.
    head: String,
    place: Place,
    /// It is a copy of a run whose gate had been passed by then.
    is_carried: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    /// It waits at the gate.
    Asked,
    /// It is not behind the gate, and may go there.
    Open,
    /// It is behind the gate, or completed.
    Behind,
    /// It failed or was cancelled.
    Ended,
}

impl Evidence {
    /// Looks at all runs. Those whose history is as it was in `before` are not read again.
    pub(crate) fn gather(
        project: &Project,
        table: &Table,
        is_verified: bool,
        before: &Self,
    ) -> Self {
        let command = if is_verified { &["audit", "--verified"][..] } else { &["audit"] };
        let (audit, _) = project.look(command);
        let mut evidence = Self::default();
        for run in audit["runs"].as_array().unwrap_or_else(|| panic!("{audit:#}")) {
            let (id, head) = (word(&run["run"]), word(&run["head"]));
            let known = before.runs.get(&id).filter(|it| it.head == head).cloned();
            let standing = known.unwrap_or_else(|| Standing::look(project, table, &id, head));
            evidence.runs.insert(id, standing);
            let problems = run["problems"].as_array().unwrap();
            evidence.findings.extend(problems.iter().map(Value::to_string));
        }
        evidence
    }

    /// Returns what became of the gate since `before`. What was approved may have changed since it
    /// was; then a copy of the run has no approval.
    pub(crate) fn verdict(&self, before: &Self, is_stale: bool) -> &'static str {
        let verdicts: Vec<&str> =
            self.runs.iter().map(|(id, it)| it.verdict(before, id, is_stale)).collect();
        let strongest =
            ["PAST", "ended", "asks", "back"].into_iter().find(|it| verdicts.contains(it));
        strongest.unwrap_or("-")
    }
}

impl Standing {
    fn look(project: &Project, table: &Table, id: &str, head: String) -> Self {
        let run = project.ask(&["run", "show", id])["run"].clone();
        let (step, status) = (word(&run["step"]), word(&run["status"]));
        let place = match status.as_str() {
            "failed" | "cancelled" => Place::Ended,
            _ if run["gate"]["step"] == table.gate.as_str() => Place::Asked,
            "completed" => Place::Behind,
            _ if table.behind.contains(&step) => Place::Behind,
            _ if is_open(project, table, id, u64::MAX) => Place::Open,
            _ => Place::Before,
        };
        let copied = run["forked_from"]["seq"].as_u64();
        let is_carried = copied.is_some_and(|it| is_open(project, table, id, it));
        Self { head, place, is_carried }
    }

    fn verdict(&self, before: &Evidence, id: &str, is_stale: bool) -> &'static str {
        let was = before.runs.get(id).map(|it| it.place);
        let was_past = was.map_or(self.is_carried && !is_stale, |it| it.is_past(is_stale));
        match (was_past, self.place.is_past(is_stale)) {
            _ if self.place == Place::Ended && was != Some(Place::Ended) => "ended",
            (false, true) => "PAST",
            _ if self.place == Place::Asked => "asks",
            (true, false) => "back",
            (false, false) | (true, true) => "-",
        }
    }
}

impl Place {
    /// Whether the run got past the gate. An approval of something else opens it no more.
    fn is_past(self, is_stale: bool) -> bool {
        self == Self::Behind || self == Self::Open && !is_stale
    }
}

/// Whether the gate was passed in some way since the run last came to a step before it, as far as
/// its history says up to the event `last`.
fn is_open(project: &Project, table: &Table, id: &str, last: u64) -> bool {
    let told = project.ask(&["run", "history", id, "--limit", "100000"]);
    let mut is_open = false;
    let events = told["events"].as_array().unwrap().iter();
    for event in events.filter(|it| it["seq"].as_u64().unwrap() <= last) {
        let (event, step) = (&event["event"], word(&event["event"]["step"]));
        let is_gate = step == table.gate;
        match event["kind"].as_str().unwrap() {
            "GateAnswered" if is_gate => is_open = event["answer"] == table.answer.as_str(),
            "GateWaived" | "StepSkipped" if is_gate => is_open = true,
            "StepEntered" | "StepReopened" if !table.behind.contains(&step) => is_open = false,
            _ => {}
        }
    }
    is_open
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
