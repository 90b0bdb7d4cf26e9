//! One refusal of each kind.

use definition::{PartId, StepName};
use engine::{Refusal, Status, Timestamp};

/// One of each kind.
pub(crate) fn one_of_each() -> Vec<Refusal> {
    let step = |name: &str| StepName::parse(name).unwrap();
    let part = |id: &str| PartId::parse(id).unwrap();
    vec![
        Refusal::RunUnknown("it".into()),
        Refusal::RunAmbiguous { prefix: "run_01k".into(), runs: vec!["one".into(), "two".into()] },
        Refusal::RunElsewhere {
            key: "T-1".into(),
            run: "run_01k9w3m6q2".into(),
            root: "another-worktree".into(),
        },
        Refusal::RunExists("it".into()),
        Refusal::RunEnded { status: Status::Completed },
        Refusal::RunNotEnded { status: Status::Completed },
        Refusal::WorkflowUnknown { name: "deploy".into(), known: vec!["one".into(), "two".into()] },
        Refusal::WorkflowInvalid { name: "deploy".into(), problem: "what is wrong".into() },
        Refusal::WorkflowIncomplete { name: "deploy".into(), problem: "what is wrong".into() },
        Refusal::DefinitionUnreadable("it".into()),
        Refusal::StepUnknown { step: "design".into(), known: vec![step("design"), step("review")] },
        Refusal::StepNotCurrent { step: "design".into(), current: "review".into() },
        Refusal::StepNotBegun { step: step("design") },
        Refusal::StepNotFailed { step: step("design"), progress: engine::Progress::Ready },
        Refusal::StepsOpen { open: vec![step("design"), step("review")] },
        Refusal::StepOutOfOrder { step: step("review"), before: step("design") },
        Refusal::StepPassed { step: step("design") },
        Refusal::GateNotAsked { step: step("design"), to: step("review") },
        Refusal::FailedForward { from: step("design"), to: step("review") },
        Refusal::GateBypassed { gate: step("design"), from: step("draft"), to: step("review") },
        Refusal::PartSetUnknown { set: "tasks".into() },
        Refusal::RulesInvalid {
            path: "instructions.md".into(),
            problem: "rule `db`: it has no `reason`".into(),
        },
        Refusal::GateMissing { step: step("design") },
        Refusal::PartsUnknown { step: step("build") },
        Refusal::GateHeld { step: step("design"), condition: "vars.revision_pending".into() },
        Refusal::EditRefused {
            path: "state.json".into(),
            problem: "the run is completed, and stays so".into(),
        },
        Refusal::FileUnreadable {
            path: "state.json".into(),
            problem: "what is wrong".into(),
            is_corrupt: true,
        },
        Refusal::RunMoved { current: "review".into() },
        Refusal::ChoiceOpen { step: step("design"), choices: vec!["one".into()] },
        Refusal::StepNotEntered { step: "ship".into(), entered: vec![step("design")] },
        Refusal::StepHeld {
            step: step("design"),
            holder: "ann".into(),
            until: Timestamp(1_767_225_600_000_000),
        },
        Refusal::LeaseStale { step: step("design"), given: 7 },
        Refusal::LeaseUnknown(7),
        Refusal::NextNotAllowed {
            step: step("design"),
            next: "ship".into(),
            allowed: vec!["one".into(), "two".into()],
        },
        Refusal::NeedMissing { step: step("design"), path: "design.md".into() },
        Refusal::ArtifactMissing { step: step("design"), path: "design.md".into() },
        Refusal::ArtifactInvalid {
            step: step("design"),
            path: "design.md".into(),
            problem: "what is wrong".into(),
        },
        Refusal::EvidenceMissing {
            step: step("design"),
            criteria: vec!["one".into(), "two".into()],
        },
        Refusal::EvidenceEmpty { step: step("design"), criteria: vec!["one".into()] },
        Refusal::MoveUnknown { name: "fly".into(), known: vec!["one".into(), "two".into()] },
        Refusal::MoveNotAllowed {
            name: "construct".into(),
            step: "design".into(),
            legal: vec!["one".into(), "two".into()],
        },
        Refusal::ItemUnknown { item: "9".into(), open: vec!["1: one".into()] },
        Refusal::ItemsFull { max: 1000 },
        Refusal::CheckFailed {
            step: step("design"),
            run: "run_01k…".into(),
            problem: "what is wrong".into(),
        },
        Refusal::CheckNotAllowed { step: step("design"), run: "run_01k…".into() },
        Refusal::ChoreDue {
            chore: "publish".into(),
            what: "push the branch to `origin`".into(),
            problem: "there is no remote `origin`".into(),
        },
        Refusal::ChoreNotDue { chore: "publish".into() },
        Refusal::VerdictUnknown {
            step: step("design"),
            words: vec!["one".into(), "two".into()],
            is_read: true,
        },
        Refusal::PartNotNamed { step: step("design"), open: vec![part("1"), part("2")] },
        Refusal::PartUnknown {
            step: step("design"),
            part: "9".into(),
            known: vec![part("1"), part("2")],
        },
        Refusal::PartNotReady {
            step: step("design"),
            part: part("3"),
            ready: vec![part("1"), part("2")],
        },
        Refusal::PartsInvalid { step: step("design"), problem: "what is wrong".into(), back: None },
        Refusal::GateOpen { step: step("design"), is_relayed: false },
        Refusal::GateNotOpen,
        Refusal::GateNeedsPerson { step: step("design"), is_asked: true, is_begun: true },
        Refusal::PartNeedsPerson {
            step: step("build"),
            part: part("2"),
            is_asked: false,
            is_begun: true,
        },
        Refusal::GateStale { step: step("design"), changed: vec!["one".into(), "two".into()] },
        Refusal::AnswerUnknown {
            step: step("design"),
            answer: "maybe".into(),
            options: vec!["one".into(), "two".into()],
        },
        Refusal::RoundsSpent { step: step("design"), rounds: 7 },
        Refusal::ArtifactsDrifted { paths: vec!["one".into(), "two".into()] },
        Refusal::KeyInvalid { key: "0204".into(), pattern: "[0-9]{4}".into() },
        Refusal::KeyMissing { workflow: "scene-generation".into(), pattern: "[0-9]{4}".into() },
        Refusal::KeyTaken { key: "0204".into(), run: "run_01k…".into() },
        Refusal::FlowUnknown { flow: "huge".into(), known: vec!["one".into(), "two".into()] },
        Refusal::ContextInvalid { problems: vec!["one".into(), "two".into()] },
        Refusal::VarUnknown { name: "deploy".into(), known: vec!["one".into(), "two".into()] },
        Refusal::VarInvalid {
            name: "deploy".into(),
            value: "\"yes\"".into(),
            problem: "what is wrong".into(),
        },
        Refusal::ConditionFailed { step: step("design"), problem: "what is wrong".into() },
        Refusal::TooLarge { what: "the report".into(), bytes: 50_000_000, max: 262_144 },
        Refusal::Empty { what: "the report".into() },
        Refusal::RequestConflict("it".into()),
        Refusal::NothingDue,
        Refusal::TooDeep { what: "the context".into(), max: 64 },
        Refusal::SeqUnknown { seq: 7, length: 7 },
        Refusal::WorkspaceNotHere { root: "the-project".into() },
        Refusal::ParameterInvalid { field: "limit".into(), problem: "what is wrong".into() },
    ]
}

/// Fails to build when a refusal is new: give it a row in `one_of_each` too.
#[expect(dead_code, reason = "it is there for the compiler")]
fn every_refusal_has_a_row(refusal: &Refusal) {
    match refusal {
        Refusal::RunUnknown(_)
        | Refusal::RunAmbiguous { .. }
        | Refusal::RunElsewhere { .. }
        | Refusal::RunExists(_)
        | Refusal::RunEnded { .. }
        | Refusal::RunNotEnded { .. }
        | Refusal::WorkflowUnknown { .. }
        | Refusal::WorkflowInvalid { .. }
        | Refusal::WorkflowIncomplete { .. }
        | Refusal::DefinitionUnreadable(_)
        | Refusal::StepUnknown { .. }
        | Refusal::StepNotCurrent { .. }
        | Refusal::StepNotBegun { .. }
        | Refusal::StepNotFailed { .. }
        | Refusal::StepsOpen { .. }
        | Refusal::StepOutOfOrder { .. }
        | Refusal::StepPassed { .. }
        | Refusal::GateNotAsked { .. }
        | Refusal::FailedForward { .. }
        | Refusal::GateBypassed { .. }
        | Refusal::PartSetUnknown { .. }
        | Refusal::RulesInvalid { .. }
        | Refusal::GateMissing { .. }
        | Refusal::EditRefused { .. }
        | Refusal::FileUnreadable { .. }
        | Refusal::RunMoved { .. }
        | Refusal::ChoiceOpen { .. }
        | Refusal::StepNotEntered { .. }
        | Refusal::StepHeld { .. }
        | Refusal::LeaseStale { .. }
        | Refusal::LeaseUnknown(_)
        | Refusal::NextNotAllowed { .. }
        | Refusal::NeedMissing { .. }
        | Refusal::ArtifactMissing { .. }
        | Refusal::ArtifactInvalid { .. }
        | Refusal::EvidenceMissing { .. }
        | Refusal::EvidenceEmpty { .. }
        | Refusal::MoveUnknown { .. }
        | Refusal::MoveNotAllowed { .. }
        | Refusal::ItemUnknown { .. }
        | Refusal::ItemsFull { .. }
        | Refusal::CheckFailed { .. }
        | Refusal::CheckNotAllowed { .. }
        | Refusal::ChoreDue { .. }
        | Refusal::ChoreNotDue { .. }
        | Refusal::VerdictUnknown { .. }
        | Refusal::PartNotNamed { .. }
        | Refusal::PartUnknown { .. }
        | Refusal::PartNotReady { .. }
        | Refusal::PartsInvalid { .. }
        | Refusal::PartsUnknown { .. }
        | Refusal::GateHeld { .. }
        | Refusal::GateOpen { .. }
        | Refusal::GateNotOpen
        | Refusal::GateNeedsPerson { .. }
        | Refusal::PartNeedsPerson { .. }
        | Refusal::GateStale { .. }
        | Refusal::AnswerUnknown { .. }
        | Refusal::RoundsSpent { .. }
        | Refusal::ArtifactsDrifted { .. }
        | Refusal::KeyInvalid { .. }
        | Refusal::KeyMissing { .. }
        | Refusal::KeyTaken { .. }
        | Refusal::FlowUnknown { .. }
        | Refusal::ContextInvalid { .. }
        | Refusal::VarUnknown { .. }
        | Refusal::VarInvalid { .. }
        | Refusal::ConditionFailed { .. }
        | Refusal::TooLarge { .. }
        | Refusal::Empty { .. }
        | Refusal::RequestConflict(_)
        | Refusal::NothingDue
        | Refusal::TooDeep { .. }
        | Refusal::SeqUnknown { .. }
        | Refusal::WorkspaceNotHere { .. }
        | Refusal::ParameterInvalid { .. } => {}
    }
}
