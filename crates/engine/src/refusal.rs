//! Why a command was refused, in words its sender can act on.

use alloc::{format, string::String, vec::Vec};

use definition::{PartId, StepName};

use crate::{Progress, Status, Timestamp};

/// A command that the rules do not allow now.
///
/// A refusal is an answer, not a failure: nothing was written, and trying again unchanged will
/// give the same answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is no run `{0}`")]
    RunUnknown(String),
    #[error("several runs begin with `{prefix}`")]
    RunAmbiguous { prefix: String, runs: Vec<String> },
    #[error("the run with the key `{key}` is `{run}`, which is worked on in `{root}`")]
    RunElsewhere { key: String, run: String, root: String },
    #[error("run `{0}` has begun already")]
    RunExists(String),
    #[error("the run is {status}")]
    RunEnded { status: Status },
    #[error("the run is {status}, not failed or cancelled")]
    RunNotEnded { status: Status },
    #[error("there is no workflow `{name}`")]
    WorkflowUnknown { name: String, known: Vec<String> },
    #[error("workflow `{name}` cannot be used: {problem}")]
    WorkflowInvalid { name: String, problem: String },
    #[error("workflow `{name}` is not complete: {problem}")]
    WorkflowIncomplete { name: String, problem: String },
    #[error("the definition of the run cannot be read: {0}")]
    DefinitionUnreadable(String),
    #[error("the workflow has no step `{step}`")]
    StepUnknown { step: String, known: Vec<StepName> },
    #[error("step `{step}` was not entered so far")]
    StepNotEntered { step: String, entered: Vec<StepName> },
    #[error("step `{step}` is not the current one, which is `{current}`")]
    StepNotCurrent { step: String, current: String },
    #[error("step `{step}` is not under way")]
    StepNotBegun { step: StepName },
    #[error("step `{step}` is {}, and its last attempt did not fail", .progress.as_str())]
    StepNotFailed { step: StepName, progress: Progress },
    #[error("step `{step}` comes after step `{before}`, which is not done")]
    StepOutOfOrder { step: StepName, before: StepName },
    #[error("step `{step}` was passed")]
    StepPassed { step: StepName },
    #[error("step `{to}` lies behind the gate of step `{step}`, where nobody was asked")]
    GateNotAsked { step: StepName, to: StepName },
    #[error("step `{from}` failed, and no route for failures leads from it to `{to}`")]
    FailedForward { from: StepName, to: StepName },
    #[error("the workflow leads from `{from}` to `{to}` without the gate of `{gate}`")]
    GateBypassed { gate: StepName, from: StepName, to: StepName },
    #[error("the workflow has no parts called `{set}`")]
    PartSetUnknown { set: String },
    #[error("load workflow rules: `{path}` cannot be used: {problem}")]
    RulesInvalid { path: String, problem: String },
    #[error("steps are not done: {}", names(.open))]
    StepsOpen { open: Vec<StepName> },
    #[error("the run moved on to `{current}` while this was decided")]
    RunMoved { current: String },
    #[error("step `{step}` is held by `{holder}` until {until}")]
    StepHeld { step: StepName, holder: String, until: Timestamp },
    #[error("lease {given} on step `{step}` was taken over")]
    LeaseStale { step: StepName, given: u64 },
    #[error("there is no lease {0}")]
    LeaseUnknown(u64),
    #[error("step `{next}` may not follow step `{step}`")]
    NextNotAllowed { step: StepName, next: String, allowed: Vec<String> },
    #[error("step `{step}` is done, and the next one is for you to choose")]
    ChoiceOpen { step: StepName, choices: Vec<String> },
    #[error("`{path}` is missing, which step `{step}` needs")]
    NeedMissing { step: StepName, path: String },
    #[error("artifact `{path}` is missing from step `{step}`")]
    ArtifactMissing { step: StepName, path: String },
    #[error("artifact `{path}` of step `{step}` is not as it must be: {problem}")]
    ArtifactInvalid { step: StepName, path: String, problem: String },
    #[error("step `{step}` lacks evidence for {}", list(.criteria))]
    EvidenceMissing { step: StepName, criteria: Vec<String> },
    #[error("step `{step}` was given empty evidence for {}", list(.criteria))]
    EvidenceEmpty { step: StepName, criteria: Vec<String> },
    #[error("the workflow has no move `{name}`")]
    MoveUnknown { name: String, known: Vec<String> },
    #[error("`{name}` may not be done at step `{step}` now")]
    MoveNotAllowed { name: String, step: String, legal: Vec<String> },
    #[error("there is no open item {item}")]
    ItemUnknown { item: String, open: Vec<String> },
    #[error("there are {max} items, and no more are taken")]
    ItemsFull { max: usize },
    #[error("check `{run}` of step `{step}` did not pass: {problem}")]
    CheckFailed { step: StepName, run: String, problem: String },
    #[error("check `{run}` of step `{step}` may not be run here")]
    CheckNotAllowed { step: StepName, run: String },
    #[error("the server could not {what} (chore `{chore}`): {problem}")]
    ChoreDue { chore: String, what: String, problem: String },
    #[error("chore `{chore}` is not due")]
    ChoreNotDue { chore: String },
    #[error("the review in step `{step}` has no known verdict")]
    VerdictUnknown { step: StepName, words: Vec<String>, is_read: bool },
    #[error("step `{step}` has parts, and the report does not say which one it is about")]
    PartNotNamed { step: StepName, open: Vec<PartId> },
    #[error("step `{step}` has no part `{part}`")]
    PartUnknown { step: StepName, part: String, known: Vec<PartId> },
    #[error("part `{part}` of step `{step}` is not ready")]
    PartNotReady { step: StepName, part: PartId, ready: Vec<PartId> },
    #[error("the parts of step `{step}` are not known")]
    PartsUnknown { step: StepName },
    #[error("the parts of step `{step}` cannot be planned: {problem}")]
    PartsInvalid { step: StepName, problem: String },
    #[error("the run waits for a person at step `{step}`")]
    GateOpen { step: StepName, is_relayed: bool },
    #[error("step `{step}` has no gate")]
    GateMissing { step: StepName },
    #[error("what was written into `{path}` cannot be taken: {problem}")]
    EditRefused { path: String, problem: String },
    #[error("`{path}` cannot be read: {problem}")]
    FileUnreadable { path: String, problem: String, is_corrupt: bool },
    #[error("no gate is open")]
    GateNotOpen,
    #[error("the gate at step `{step}` takes only a person's own answer")]
    GateNeedsPerson {
        step: StepName,
        /// Whether the person is being asked now.
        is_asked: bool,
    },
    #[error("part `{part}` of step `{step}` is for a person, and takes only their own answer")]
    PartNeedsPerson { step: StepName, part: PartId, is_asked: bool },
    #[error("the gate at step `{step}` lets nobody on while `{condition}` holds")]
    GateHeld { step: StepName, condition: String },
    #[error("what the gate at step `{step}` showed has changed: {}", changes(.changed))]
    GateStale { step: StepName, changed: Vec<String> },
    #[error("the gate at step `{step}` has no answer `{answer}`")]
    AnswerUnknown { step: StepName, answer: String, options: Vec<String> },
    #[error("the work on step `{step}` was sent back as often as it may be ({rounds})")]
    RoundsSpent { step: StepName, rounds: u32 },
    #[error("files are not what they were: {}", list(.paths))]
    ArtifactsDrifted { paths: Vec<String> },
    #[error("key `{key}` does not fit `{pattern}`")]
    KeyInvalid { key: String, pattern: String },
    #[error("workflow `{workflow}` needs a key")]
    KeyMissing { workflow: String, pattern: String },
    #[error("key `{key}` is taken by run `{run}`")]
    KeyTaken { key: String, run: String },
    #[error("the workflow has no flow `{flow}`")]
    FlowUnknown { flow: String, known: Vec<String> },
    #[error("the start context does not fit the workflow: {}", .problems.join("; "))]
    ContextInvalid { problems: Vec<String> },
    #[error("the workflow has no variable `{name}`")]
    VarUnknown { name: String, known: Vec<String> },
    #[error("variable `{name}` cannot be {value}: {problem}")]
    VarInvalid { name: String, value: String, problem: String },
    #[error("{problem}")]
    ConditionFailed { step: StepName, problem: String },
    #[error("{what} has {bytes} bytes, and at most {max} are taken")]
    TooLarge { what: String, bytes: usize, max: usize },
    #[error("{what} is nested more than {max} levels deep")]
    TooDeep { what: String, max: usize },
    #[error("{what} is empty")]
    Empty { what: String },
    #[error("request `{0}` was used for something else")]
    RequestConflict(String),
    #[error("nothing is due")]
    NothingDue,
    #[error("the run has no event {seq}; its last is {length}")]
    SeqUnknown { seq: u64, length: u64 },
    #[error("the run's files are in `{root}`, which is not there or not part of this project")]
    WorkspaceNotHere { root: String },
    #[error("{field}: {problem}")]
    ParameterInvalid { field: String, problem: String },
}

impl Refusal {
    /// Returns whether a person is being asked what only they can answer.
    pub fn is_asked(&self) -> bool {
        matches!(
            self,
            Self::GateOpen { .. }
                | Self::GateNeedsPerson { is_asked: true, .. }
                | Self::PartNeedsPerson { is_asked: true, .. }
        )
    }

    /// Returns the stable name that callers match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::RunUnknown(_) => "run_unknown",
            Self::RunAmbiguous { .. } => "run_ambiguous",
            Self::RunElsewhere { .. } => "run_elsewhere",
            Self::RunExists(_) => "run_exists",
            Self::RunEnded { .. } => "run_ended",
            Self::RunNotEnded { .. } => "run_not_ended",
            Self::WorkflowUnknown { .. } => "workflow_unknown",
            Self::WorkflowInvalid { .. } => "workflow_invalid",
            Self::WorkflowIncomplete { .. } => "workflow_incomplete",
            Self::DefinitionUnreadable(_) => "definition_unreadable",
            Self::StepUnknown { .. } => "step_unknown",
            Self::StepNotEntered { .. } => "step_not_entered",
            Self::StepNotCurrent { .. } => "step_not_current",
            Self::StepNotBegun { .. } => "step_not_begun",
            Self::StepNotFailed { .. } => "step_not_failed",
            Self::StepOutOfOrder { .. } => "step_out_of_order",
            Self::StepPassed { .. } => "step_passed",
            Self::GateNotAsked { .. } => "gate_not_asked",
            Self::FailedForward { .. } => "failed_forward",
            Self::GateBypassed { .. } => "gate_bypassed",
            Self::PartSetUnknown { .. } => "part_set_unknown",
            Self::RulesInvalid { .. } => "rules_invalid",
            Self::StepsOpen { .. } => "steps_open",
            Self::RunMoved { .. } => "run_moved",
            Self::StepHeld { .. } => "step_held",
            Self::LeaseStale { .. } => "lease_stale",
            Self::LeaseUnknown(_) => "lease_unknown",
            Self::NextNotAllowed { .. } => "next_not_allowed",
            Self::ChoiceOpen { .. } => "choice_open",
            Self::NeedMissing { .. } => "need_missing",
            Self::ArtifactMissing { .. } => "artifact_missing",
            Self::ArtifactInvalid { .. } => "artifact_invalid",
            Self::EvidenceMissing { .. } => "evidence_missing",
            Self::EvidenceEmpty { .. } => "evidence_empty",
            Self::MoveUnknown { .. } => "move_unknown",
            Self::MoveNotAllowed { .. } => "move_not_allowed",
            Self::ItemUnknown { .. } => "item_unknown",
            Self::ItemsFull { .. } => "items_full",
            Self::CheckFailed { .. } => "check_failed",
            Self::CheckNotAllowed { .. } => "check_not_allowed",
            Self::ChoreDue { .. } => "chore_due",
            Self::ChoreNotDue { .. } => "chore_not_due",
            Self::VerdictUnknown { .. } => "verdict_unknown",
            Self::PartNotNamed { .. } => "part_not_named",
            Self::PartUnknown { .. } => "part_unknown",
            Self::PartNotReady { .. } => "part_not_ready",
            Self::PartsUnknown { .. } => "parts_unknown",
            Self::PartsInvalid { .. } => "parts_invalid",
            Self::GateOpen { .. } => "gate_open",
            Self::GateMissing { .. } => "gate_missing",
            Self::EditRefused { .. } => "edit_refused",
            Self::FileUnreadable { .. } => "file_unreadable",
            Self::GateNotOpen => "gate_not_open",
            Self::GateNeedsPerson { .. } => "gate_needs_person",
            Self::PartNeedsPerson { .. } => "part_needs_person",
            Self::GateHeld { .. } => "gate_held",
            Self::GateStale { .. } => "gate_stale",
            Self::AnswerUnknown { .. } => "answer_unknown",
            Self::RoundsSpent { .. } => "rounds_spent",
            Self::ArtifactsDrifted { .. } => "artifacts_drifted",
            Self::KeyInvalid { .. } => "key_invalid",
            Self::KeyMissing { .. } => "key_missing",
            Self::KeyTaken { .. } => "key_taken",
            Self::FlowUnknown { .. } => "flow_unknown",
            Self::ContextInvalid { .. } => "context_invalid",
            Self::VarUnknown { .. } => "var_unknown",
            Self::VarInvalid { .. } => "var_invalid",
            Self::ConditionFailed { .. } => "condition_failed",
            Self::TooLarge { .. } => "too_large",
            Self::TooDeep { .. } => "too_deep",
            Self::Empty { .. } => "empty",
            Self::RequestConflict(_) => "request_conflict",
            Self::NothingDue => "nothing_due",
            Self::SeqUnknown { .. } => "seq_unknown",
            Self::WorkspaceNotHere { .. } => "workspace_not_here",
            Self::ParameterInvalid { .. } => "parameter_invalid",
        }
    }

    /// Returns what is wrong with a file that cannot be read, without its name.
    pub fn problem(&self) -> Option<String> {
        if let Self::FileUnreadable { problem, .. } = self { Some(problem.clone()) } else { None }
    }

    /// Returns the way out, in words that name no tool. Each surface names its own calls where that
    /// helps.
    pub fn hint(&self) -> String {
        match self {
            Self::RunUnknown(_) => "name a run of this project".into(),
            Self::RunAmbiguous { runs, .. } => format!("write more of it: {}", runs.join(", ")),
            Self::RunElsewhere { run, .. } => {
                format!("if that run is meant, name it by its id: `{run}`")
            }
            Self::RunExists(_) => "start another run".into(),
            Self::RunEnded { .. } => {
                "start a new run, or reopen this one if it failed or was cancelled".into()
            }
            Self::RunNotEnded { .. } => "there is nothing to reopen; go on with it".into(),
            Self::WorkflowUnknown { known, .. } => format!("there are: {}", names(known)),
            Self::WorkflowInvalid { name, .. } | Self::WorkflowIncomplete { name, .. } => {
                format!("fix it; `milepost workflow check {name}` shows every problem")
            }
            Self::DefinitionUnreadable(_) => {
                "use the release that wrote the run, or a newer one".into()
            }
            Self::StepUnknown { known, .. } => format!("its steps are: {}", names(known)),
            Self::StepNotEntered { entered, .. } => format!("these were: {}", names(entered)),
            Self::StepNotCurrent { current, .. } => format!("go on with `{current}`"),
            Self::StepNotBegun { .. } => "start it first".into(),
            Self::StepNotFailed { .. } => "go on with it".into(),
            Self::StepOutOfOrder { before, .. } => format!("complete `{before}` first"),
            Self::StepPassed { .. } => "leave it as it is".into(),
            Self::GateNotAsked { step, .. } => {
                format!("go to `{step}` first, and have its gate answered")
            }
            Self::FailedForward { from, .. } => format!("work on `{from}` again, then report it"),
            Self::GateBypassed { .. } => {
                "fix the definition; `milepost workflow check` shows the route".into()
            }
            Self::PartSetUnknown { .. } => "see `each` of its steps".into(),
            Self::RulesInvalid { .. } => "fix the rules, or move them away".into(),
            Self::StepsOpen { .. } => "do them first".into(),
            Self::RunMoved { .. } => "someone else was faster; ask for the status".into(),
            Self::StepHeld { holder, .. } => format!(
                "if you are `{holder}`, say so; else work on something else, or claim it when the \
                 lease is over"
            ),
            Self::LeaseStale { .. } => {
                "someone else works on it now; stop, and ask for the status".into()
            }
            Self::LeaseUnknown(_) => "claim the step first".into(),
            Self::NextNotAllowed { allowed, .. } => format!("choose one of: {}", names(allowed)),
            Self::ChoiceOpen { choices, .. } => format!("choose one of: {}", names(choices)),
            Self::NeedMissing { path, .. } => format!("write `{path}`, then try again"),
            Self::ArtifactMissing { path, .. } => format!("write `{path}`, then report again"),
            Self::ArtifactInvalid { path, .. } => format!("fix `{path}`, then report again"),
            Self::EvidenceMissing { .. } => "say how each is met, by its key".into(),
            Self::EvidenceEmpty { .. } => {
                "say what shows that it is met, or leave the criterion out".into()
            }
            Self::MoveUnknown { known, .. } => format!("there are: {}", names(known)),
            Self::MoveNotAllowed { legal, .. } => format!("allowed now: {}", names(legal)),
            Self::ItemUnknown { open, .. } => format!("open items: {}", names(open)),
            Self::ItemsFull { .. } => "finish some, or begin another list".into(),
            Self::CheckFailed { .. } => "fix what it found, then report again".into(),
            Self::CheckNotAllowed { .. } => {
                "a person must allow what this project runs: tell them to run `milepost trust` in \
                 a terminal; do not run it yourself"
                    .into()
            }
            Self::ChoreDue { .. } => {
                "fix the cause, then call again: the server tries it once more".into()
            }
            Self::ChoreNotDue { .. } => "ask for the status".into(),
            Self::VerdictUnknown { words, is_read: true, .. } => {
                format!("write a line `## Verdict: WORD` with one of: {}", words.join(", "))
            }
            Self::VerdictUnknown { words, is_read: false, .. } => {
                format!("say the verdict, one of: {}", words.join(", "))
            }
            Self::PartNotNamed { open, .. } => format!("name one of: {}", names(open)),
            Self::PartUnknown { known, .. } => format!("its parts are: {}", names(known)),
            Self::PartNotReady { ready, .. } => format!("ready now: {}", names(ready)),
            Self::PartsUnknown { .. } => "say what they are first".into(),
            Self::PartsInvalid { .. } => "fix the list of parts, then report again".into(),
            Self::GateOpen { is_relayed: true, .. } => {
                "ask the person, and pass their answer on".into()
            }
            Self::GateOpen { is_relayed: false, .. } => {
                "tell the person to answer with `milepost gate` (do not run it yourself), and call \
                 again when they have"
                    .into()
            }
            Self::GateMissing { .. } => "report on it when it is done".into(),
            Self::EditRefused { .. } => "change the run by a command, not by its file".into(),
            Self::FileUnreadable { .. } => "fix it, or move it away".into(),
            Self::GateNotOpen => "ask for the status".into(),
            Self::GateNeedsPerson { step, is_asked: false } => format!(
                "do the work that leads to `{step}`, as the status says; the person is asked there"
            ),
            Self::PartNeedsPerson { is_asked: false, .. } => {
                "do the parts before it, as the status says; the person is asked then".into()
            }
            Self::GateNeedsPerson { .. } | Self::PartNeedsPerson { .. } => {
                "tell the person to answer with `milepost gate` in a terminal (do not run it \
                 yourself), and call again when they have"
                    .into()
            }
            Self::GateHeld { .. } => {
                "see that it does not hold any more, then have the person answer".into()
            }
            Self::GateStale { .. } => "look at it again, then answer with the new digest".into(),
            Self::AnswerUnknown { options, .. } => format!("answer one of: {}", options.join(", ")),
            Self::RoundsSpent { .. } => "give another of the answers".into(),
            Self::ArtifactsDrifted { .. } => {
                "look at the files; restore them, or say that you go on with them as they are"
                    .into()
            }
            Self::KeyInvalid { .. } => "give a key of that form".into(),
            Self::KeyMissing { pattern, .. } => format!("give a key that fits `{pattern}`"),
            Self::KeyTaken { run, .. } => {
                format!("go on with `{run}`, give another key, or cancel it first")
            }
            Self::FlowUnknown { known, .. } => format!("its flows are: {}", names(known)),
            Self::ContextInvalid { .. } => "fix the context, then start again".into(),
            Self::VarUnknown { known, .. } => format!("its variables are: {}", names(known)),
            Self::VarInvalid { .. } => "give a value of its type".into(),
            Self::ConditionFailed { .. } => {
                "put what is missing into the context, then report again".into()
            }
            Self::TooLarge { .. } => "write it to a file and report the path".into(),
            Self::TooDeep { .. } => "flatten it, or write it to a file and report the path".into(),
            Self::Empty { .. } => "give it a text".into(),
            Self::RequestConflict(_) => "take a new id for a new request".into(),
            Self::NothingDue => "nothing to do".into(),
            Self::SeqUnknown { .. } => "`milepost run history` shows the events".into(),
            Self::WorkspaceNotHere { .. } => {
                "work on it with a server in that folder; if its project was moved or copied here, \
                 cancel it and start it again"
                    .into()
            }
            Self::ParameterInvalid { .. } => "fix it, then call again".into(),
        }
    }
}

/// What stands among changed files if the question itself reads otherwise.
pub(crate) const QUESTION: &str = "the question";

fn list(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// Lists files, and the question, which is not one.
fn changes(changed: &[String]) -> String {
    let quoted = changed.iter().map(|it| match it.as_str() {
        QUESTION => QUESTION.into(),
        path => format!("`{path}`"),
    });
    quoted.collect::<Vec<String>>().join(", ")
}

fn names<T: core::fmt::Display>(names: &[T]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none".into() } else { quoted.join(", ") }
}
