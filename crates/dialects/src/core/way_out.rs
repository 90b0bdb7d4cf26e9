//! The way out of a refusal, by the tools of this toolset where the engine's own words name none.

use engine::Refusal;

/// Returns the way out.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others need no tool of their own")]
pub fn hint(refusal: &Refusal) -> String {
    match refusal {
        Refusal::RunUnknown(_) => "`list_runs` shows the runs of this project".into(),
        Refusal::StepNotCurrent { current, .. } => {
            format!("go on with `{current}`; `resume_workflow` tells what was done")
        }
        Refusal::StepHeld { holder, .. } => format!(
            "if you are `{holder}`, pass `holder`; else work on something else, or claim it when \
             the lease is over"
        ),
        Refusal::LeaseUnknown(_) => "`claim_step` gives one".into(),
        Refusal::ChoiceOpen { choices, .. } => {
            format!("name one as `next_step_name`: {}", names(choices))
        }
        Refusal::EvidenceMissing { .. } => {
            "say in `report.details.evidence` how each is met, by its key".into()
        }
        Refusal::VerdictUnknown { words, is_read: false, .. } => {
            format!("put `verdict` into `report.details`, one of: {}", words.join(", "))
        }
        Refusal::PartNotNamed { open, .. } => format!("name one with `part`: {}", names(open)),
        Refusal::GateOpen { is_relayed: true, .. } => {
            "call `answer_gate` without `answer`, so that your client asks the person; or ask them \
             yourself and pass the answer on with it"
                .into()
        }
        Refusal::GateOpen { is_relayed: false, .. } => {
            "tell the person to answer with `milepost gate` (do not run it yourself), and wait with \
             `get_workflow_status` and `wait_seconds`; a client that shows forms asks them when you \
             call `answer_gate` without `answer`"
                .into()
        }
        Refusal::GateNeedsPerson { is_asked: true, .. }
        | Refusal::PartNeedsPerson { is_asked: true, .. } => {
            "tell the person to answer with `milepost gate` in a terminal (do not run it yourself); \
             over stdio, a client that shows forms asks them when you call `answer_gate` without \
             `answer`"
                .into()
        }
        Refusal::ArtifactsDrifted { .. } => {
            "look at the files; go on with them as they are by `force`".into()
        }
        Refusal::KeyMissing { pattern, .. } => format!("give a `key` that fits `{pattern}`"),
        Refusal::KeyTaken { run, .. } => {
            format!("go on with `{run}`, give another `key`, or cancel it first")
        }
        Refusal::ConditionFailed { .. } => {
            "put what is missing into `context_updates`, then report again".into()
        }
        Refusal::RequestConflict(_) => "take a new `request_id` for a new request".into(),
        Refusal::WorkspaceNotHere { .. } => {
            "work on it with a server in that folder; if its project was moved or copied here, call \
             `cancel_workflow` and start it again"
                .into()
        }
        _ => refusal.hint(),
    }
}

fn names<T: std::fmt::Display>(all: &[T]) -> String {
    let names: Vec<String> = all.iter().map(|it| format!("`{it}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use crate::core;

    /// Every refusal there is: code, message and hint.
    const REFUSALS: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/refusals.md"));

    /// Parameters of the tools here that others lack.
    const PARAMETERS: [&str; 10] = [
        "answer",
        "context_updates",
        "force",
        "holder",
        "key",
        "next_step_name",
        "part",
        "report.details",
        "request_id",
        "wait_seconds",
    ];

    /// Other toolsets, the terminal and the dashboard word from these.
    #[test]
    fn the_engines_own_words_name_neither_tools_nor_parameters() {
        let tools = core::TOOLSET.tools.iter().map(|it| it.name);
        let words: Vec<&str> = tools.chain(PARAMETERS).collect();
        let rows: Vec<&str> = REFUSALS.lines().filter(|it| it.starts_with("| `")).collect();
        assert!(50 < rows.len(), "the page has only {} rows that can be read", rows.len());
        for row in rows {
            let (_, said) = row.split_once(" | ").unwrap();
            for word in &words {
                let named = [format!("`{word}`"), format!("`{word}.")];
                assert!(!named.iter().any(|it| said.contains(it)), "`{word}` is in {row}");
            }
        }
    }
}
