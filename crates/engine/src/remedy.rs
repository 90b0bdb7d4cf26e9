//! What helps after a refusal: the kind of next action, with its data. Each dialect and the command
//! line word it by their own calls; the words here name none.

mod words;

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::slice::from_ref;

use definition::StepName;

use crate::{Refusal, Status};

/// What kind of next action helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Find out which runs there are.
    FindRun,
    /// Name the run by its id.
    NameRun {
        run: String,
    },
    /// Give one of these values.
    Pick {
        what: Pick,
        among: Vec<String>,
    },
    StartAnother,
    /// Reopen the run, which failed or was cancelled.
    Reopen,
    /// Continue with the run where it is.
    Continue,
    /// Work on this step.
    Work {
        step: String,
    },
    Begin {
        step: StepName,
    },
    Finish {
        steps: Vec<StepName>,
    },
    /// Go to this step, and have a person answer its gate.
    PassGate {
        step: StepName,
    },
    /// Do what comes before this step; a person is asked there.
    WorkTowards {
        step: StepName,
    },
    /// Leave out what would begin the run behind this step.
    BeginBefore {
        step: StepName,
    },
    /// Have the person answer the open gate. The agent may pass the answer on if it is relayed.
    AskPerson {
        is_relayed: bool,
    },
    /// Look at what the gate shows now, then answer.
    AnswerAgain,
    /// Give another answer than the one that sends the work back.
    AnswerOtherwise,
    /// Make the condition false that holds this step.
    Clear {
        step: StepName,
        condition: String,
    },
    /// Read the status of the run.
    Look,
    LookAtHistory,
    /// Someone else works on it.
    Wait {
        holder: String,
    },
    Claim,
    WriteFile {
        path: String,
    },
    FixFile {
        path: String,
    },
    /// Restore the files, or say that the run continues with them as they are.
    AcceptFiles,
    /// Change the run by a call, not by its file.
    UseCalls,
    GiveEvidence,
    /// Say the verdict; where it is read from a file, write it there.
    GiveVerdict {
        words: Vec<String>,
        is_read: bool,
    },
    PlanParts,
    FixParts,
    /// Give the answer that has the work done again.
    SendBack {
        answer: String,
    },
    FinishItems,
    /// Fix what went wrong, then retry.
    FixCause,
    /// Fix a value, then retry.
    FixValue,
    FixContext,
    FixWorkflow {
        name: Option<String>,
    },
    GiveKey {
        pattern: String,
    },
    /// Use the run that has the key, or another key.
    ShareKey {
        run: String,
    },
    NewRequestId,
    /// Give less, or write it to a file.
    Shorten,
    /// Nest it less, or write it to a file.
    Flatten,
    /// A person must allow what the project runs.
    Trust,
    /// Work on the run from its own folder.
    WorkThere {
        root: String,
    },
    Upgrade,
    Nothing,
}

/// What one of several values is given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    Run,
    Workflow,
    Flow,
    Step,
    Next,
    Part,
    Move,
    Item,
    Answer,
    Variable,
}

impl Refusal {
    /// Returns what helps.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::RunUnknown(_) => Remedy::FindRun,
            Self::RunElsewhere { run, .. } => Remedy::NameRun { run: run.clone() },
            Self::RunExists(_) => Remedy::StartAnother,
            Self::RunEnded { status: Status::Completed } => Remedy::StartAnother,
            Self::RunEnded { .. } => Remedy::Reopen,
            Self::RunNotEnded { .. } => Remedy::Continue,
            Self::WorkflowInvalid { name, .. } => Remedy::fix_workflow(name),
            Self::WorkflowIncomplete { name, .. } => Remedy::fix_workflow(name),
            Self::GateBypassed { .. } => Remedy::FixWorkflow { name: None },
            Self::PartSetUnknown { .. } => Remedy::FixWorkflow { name: None },
            Self::DefinitionUnreadable(_) => Remedy::Upgrade,
            Self::StepNotCurrent { current, .. } => Remedy::work(current),
            Self::StepNotFailed { step, .. } | Self::GateMissing { step } => Remedy::work(step),
            Self::FailedForward { from, .. } => Remedy::work(from),
            Self::StepNotBegun { step } => Remedy::Begin { step: step.clone() },
            Self::StepOutOfOrder { before, .. } => Remedy::finish(from_ref(before)),
            Self::StepsOpen { open } => Remedy::finish(open),
            Self::StepPassed { .. } | Self::NothingDue => Remedy::Nothing,
            Self::GateNotAsked { step, .. } => Remedy::PassGate { step: step.clone() },
            Self::RulesInvalid { path, .. } => Remedy::fix_file(path),
            Self::ArtifactInvalid { path, .. } => Remedy::fix_file(path),
            Self::FileUnreadable { path, .. } => Remedy::fix_file(path),
            Self::NeedMissing { path, .. } => Remedy::write_file(path),
            Self::ArtifactMissing { path, .. } => Remedy::write_file(path),
            Self::RunMoved { .. } | Self::LeaseStale { .. } => Remedy::Look,
            Self::ChoreNotDue { .. } | Self::GateNotOpen => Remedy::Look,
            Self::StepHeld { holder, .. } => Remedy::Wait { holder: holder.clone() },
            Self::LeaseUnknown(_) => Remedy::Claim,
            Self::EvidenceMissing { .. } | Self::EvidenceEmpty { .. } => Remedy::GiveEvidence,
            Self::ItemsFull { .. } => Remedy::FinishItems,
            Self::CheckFailed { .. } | Self::ChoreDue { .. } => Remedy::FixCause,
            Self::CheckNotAllowed { .. } => Remedy::Trust,
            Self::VerdictUnknown { words, is_read, .. } => {
                Remedy::GiveVerdict { words: words.clone(), is_read: *is_read }
            }
            Self::PartsUnknown { .. } => Remedy::PlanParts,
            Self::PartsInvalid { back, .. } => Remedy::fix_parts(back.as_deref()),
            Self::GateOpen { is_relayed, .. } => Remedy::AskPerson { is_relayed: *is_relayed },
            Self::EditRefused { .. } => Remedy::UseCalls,
            Self::GateNeedsPerson { step, is_asked, is_begun }
            | Self::PartNeedsPerson { step, is_asked, is_begun, .. } => {
                Remedy::find_person(step, (*is_begun, *is_asked))
            }
            Self::GateHeld { step, condition } => {
                Remedy::Clear { step: step.clone(), condition: condition.clone() }
            }
            Self::GateStale { .. } => Remedy::AnswerAgain,
            Self::RoundsSpent { .. } => Remedy::AnswerOtherwise,
            Self::ArtifactsDrifted { .. } => Remedy::AcceptFiles,
            Self::KeyInvalid { pattern, .. } => Remedy::GiveKey { pattern: pattern.clone() },
            Self::KeyMissing { pattern, .. } => Remedy::GiveKey { pattern: pattern.clone() },
            Self::KeyTaken { run, .. } => Remedy::ShareKey { run: run.clone() },
            Self::VarInvalid { .. } | Self::Empty { .. } | Self::ParameterInvalid { .. } => {
                Remedy::FixValue
            }
            Self::ContextInvalid { .. } | Self::ConditionFailed { .. } => Remedy::FixContext,
            Self::TooLarge { .. } => Remedy::Shorten,
            Self::TooDeep { .. } => Remedy::Flatten,
            Self::RequestConflict(_) => Remedy::NewRequestId,
            Self::SeqUnknown { .. } => Remedy::LookAtHistory,
            Self::WorkspaceNotHere { root } => Remedy::WorkThere { root: root.clone() },
            Self::RunAmbiguous { runs, .. } => Remedy::pick(Pick::Run, runs),
            Self::WorkflowUnknown { known, .. } => Remedy::pick(Pick::Workflow, known),
            Self::FlowUnknown { known, .. } => Remedy::pick(Pick::Flow, known),
            Self::StepUnknown { known, .. } => Remedy::pick(Pick::Step, known),
            Self::StepNotEntered { entered, .. } => Remedy::pick(Pick::Step, entered),
            Self::NextNotAllowed { allowed, .. } => Remedy::pick(Pick::Next, allowed),
            Self::ChoiceOpen { choices, .. } => Remedy::pick(Pick::Next, choices),
            Self::PartNotNamed { open, .. } => Remedy::pick(Pick::Part, open),
            Self::PartUnknown { known, .. } => Remedy::pick(Pick::Part, known),
            Self::PartNotReady { ready, .. } => Remedy::pick(Pick::Part, ready),
            Self::MoveUnknown { known, .. } => Remedy::pick(Pick::Move, known),
            Self::MoveNotAllowed { legal, .. } => Remedy::pick(Pick::Move, legal),
            Self::ItemUnknown { open, .. } => Remedy::pick(Pick::Item, open),
            Self::AnswerUnknown { options, .. } => Remedy::pick(Pick::Answer, options),
            Self::VarUnknown { known, .. } => Remedy::pick(Pick::Variable, known),
        }
    }
}

impl Remedy {
    fn pick<T: ToString>(what: Pick, among: &[T]) -> Self {
        Self::Pick { what, among: among.iter().map(ToString::to_string).collect() }
    }

    fn work(step: &impl ToString) -> Self {
        Self::Work { step: step.to_string() }
    }

    fn finish(steps: &[StepName]) -> Self {
        Self::Finish { steps: steps.to_vec() }
    }

    fn fix_workflow(name: &str) -> Self {
        Self::FixWorkflow { name: Some(name.into()) }
    }

    fn fix_file(path: &str) -> Self {
        Self::FixFile { path: path.into() }
    }

    fn write_file(path: &str) -> Self {
        Self::WriteFile { path: path.into() }
    }

    fn fix_parts(back: Option<&str>) -> Self {
        back.map_or(Self::FixParts, |answer| Self::SendBack { answer: answer.into() })
    }

    /// What helps where only a person's own answer at `step` counts.
    fn find_person(step: &StepName, (is_begun, is_asked): (bool, bool)) -> Self {
        let step = step.clone();
        match (is_begun, is_asked) {
            (false, _) => Self::BeginBefore { step },
            (true, false) => Self::WorkTowards { step },
            (true, true) => Self::AskPerson { is_relayed: false },
        }
    }
}
