//! Why a command was refused, in words its sender can act on.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

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
    #[error("the key `{key}` names run `{run}`, which belongs to the folder `{root}`")]
    RunElsewhere { key: String, run: String, root: String },
    #[error("run `{0}` has already started")]
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
    #[error("this version of milepost cannot read the run's definition: {0}")]
    DefinitionUnreadable(String),
    #[error("the workflow has no step `{step}`")]
    StepUnknown { step: String, known: Vec<StepName> },
    #[error("the run has not reached step `{step}`")]
    StepNotEntered { step: String, entered: Vec<StepName> },
    #[error("the run is at step `{current}`, not at `{step}`")]
    StepNotCurrent { step: String, current: String },
    #[error("step `{step}` has not been started")]
    StepNotBegun { step: StepName },
    #[error("step `{step}` is {}, and its last attempt did not fail", .progress.as_str())]
    StepNotFailed { step: StepName, progress: Progress },
    #[error("step `{step}` comes after step `{before}`, which is not done")]
    StepOutOfOrder { step: StepName, before: StepName },
    #[error("the run has already passed step `{step}`")]
    StepPassed { step: StepName },
    #[error("step `{to}` is behind the gate of step `{step}`, which nobody has answered")]
    GateNotAsked { step: StepName, to: StepName },
    #[error("step `{from}` failed, and no route for failures leads from it to `{to}`")]
    FailedForward { from: StepName, to: StepName },
    #[error("the workflow leads from `{from}` to `{to}` around the gate of `{gate}`")]
    GateBypassed { gate: StepName, from: StepName, to: StepName },
    #[error("the workflow has no parts called `{set}`")]
    PartSetUnknown { set: String },
    #[error("load workflow rules: `{path}` cannot be used: {problem}")]
    RulesInvalid { path: String, problem: String },
    #[error("steps are not done: {}", names(.open))]
    StepsOpen { open: Vec<StepName> },
    #[error("the run moved to step `{current}` during this call")]
    RunMoved { current: String },
    #[error("`{holder}` holds step `{step}` until {until}")]
    StepHeld { step: StepName, holder: String, until: Timestamp },
    #[error("lease {given} is no longer valid: someone else has claimed step `{step}`")]
    LeaseStale { step: StepName, given: u64 },
    #[error("there is no lease {0}")]
    LeaseUnknown(u64),
    #[error("step `{next}` may not follow step `{step}`")]
    NextNotAllowed { step: StepName, next: String, allowed: Vec<String> },
    #[error("step `{step}` is done, and you choose the next one")]
    ChoiceOpen { step: StepName, choices: Vec<String> },
    #[error("step `{step}` needs `{path}`, which is missing")]
    NeedMissing { step: StepName, path: String },
    #[error("artifact `{path}` is missing from step `{step}`")]
    ArtifactMissing { step: StepName, path: String },
    #[error("artifact `{path}` of step `{step}` is invalid: {problem}")]
    ArtifactInvalid { step: StepName, path: String, problem: String },
    #[error("the report on step `{step}` has no evidence for {}", list(.criteria))]
    EvidenceMissing { step: StepName, criteria: Vec<String> },
    #[error("the report on step `{step}` has empty evidence for {}", list(.criteria))]
    EvidenceEmpty { step: StepName, criteria: Vec<String> },
    #[error("the workflow has no move `{name}`")]
    MoveUnknown { name: String, known: Vec<String> },
    #[error("`{name}` is not allowed at step `{step}` now")]
    MoveNotAllowed { name: String, step: String, legal: Vec<String> },
    #[error("there is no open item {item}")]
    ItemUnknown { item: String, open: Vec<String> },
    #[error("the list has {max} items, which is the limit")]
    ItemsFull { max: usize },
    #[error("check `{run}` of step `{step}` did not pass: {problem}")]
    CheckFailed { step: StepName, run: String, problem: String },
    #[error("nobody has allowed check `{run}` of step `{step}` to run here")]
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
    #[error("step `{step}` has parts, and nobody has planned them")]
    PartsUnknown { step: StepName },
    #[error("the parts of step `{step}` cannot be planned: {problem}")]
    PartsInvalid {
        step: StepName,
        problem: String,
        /// The answer at the open gate that has the list made again, if there is one.
        back: Option<String>,
    },
    #[error("the run waits for a person at step `{step}`")]
    GateOpen { step: StepName, is_relayed: bool },
    #[error("step `{step}` has no gate")]
    GateMissing { step: StepName },
    #[error("the edit of `{path}` cannot be accepted: {problem}")]
    EditRefused { path: String, problem: String },
    #[error("`{path}` cannot be read: {problem}")]
    FileUnreadable { path: String, problem: String, is_corrupt: bool },
    #[error("no gate is open")]
    GateNotOpen,
    #[error("the gate at step `{step}` accepts only a person's own answer")]
    GateNeedsPerson {
        step: StepName,
        /// Whether the person is being asked now.
        is_asked: bool,
        /// Whether there is a run. One that would begin behind the gate does not begin.
        is_begun: bool,
    },
    #[error("part `{part}` of step `{step}` is for a person, and accepts only their own answer")]
    PartNeedsPerson { step: StepName, part: PartId, is_asked: bool, is_begun: bool },
    #[error("the gate at step `{step}` stays closed while `{condition}` is true")]
    GateHeld { step: StepName, condition: String },
    #[error("what the gate at step `{step}` showed has changed: {}", changes(.changed))]
    GateStale { step: StepName, changed: Vec<String> },
    #[error("the gate at step `{step}` has no answer `{answer}`")]
    AnswerUnknown { step: StepName, answer: String, options: Vec<String> },
    #[error("the work on step `{step}` has been sent back as often as allowed ({rounds})")]
    RoundsSpent { step: StepName, rounds: u32 },
    #[error("files have changed since the run recorded them: {}", list(.paths))]
    ArtifactsDrifted { paths: Vec<String> },
    #[error("key `{key}` does not match `{pattern}`")]
    KeyInvalid { key: String, pattern: String },
    #[error("workflow `{workflow}` needs a key")]
    KeyMissing { workflow: String, pattern: String },
    #[error("run `{run}` already has the key `{key}`")]
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
    #[error("{what} has {bytes} bytes; the limit is {max}")]
    TooLarge { what: String, bytes: usize, max: usize },
    #[error("{what} is nested more than {max} levels deep")]
    TooDeep { what: String, max: usize },
    #[error("{what} is empty")]
    Empty { what: String },
    #[error("request id `{0}` was already used for another call")]
    RequestConflict(String),
    #[error("nothing is due")]
    NothingDue,
    #[error("the run has no event {seq}; its last is {length}")]
    SeqUnknown { seq: u64, length: u64 },
    #[error("the run's files are in `{root}`, which does not exist or is outside this project")]
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

    /// Returns what helps, in words that name no call.
    pub fn hint(&self) -> String {
        self.remedy().to_string()
    }

    /// Returns what is wrong with a file that cannot be read, without its name.
    pub fn problem(&self) -> Option<String> {
        if let Self::FileUnreadable { problem, .. } = self { Some(problem.clone()) } else { None }
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
