//! This toolset's words, and ours: an instance is a run, `SUSPENDED` is waiting, and every refusal
//! has one of the orchestrator's error codes beside our own.

use engine::{Event, ModelFailureKind, Refusal, Remedy, Standing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WORDS, advice::words};
use crate::kit::{
    Answer, Failing, InvalidArguments, Next, Outcome, Person, ProblemKind, Refused, Stopped, Tell,
    Tool, Unasked,
};

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Status {
    Running,
    Suspended,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    /// Returns the word for how a run stands.
    pub(super) fn of(standing: &Standing) -> Self {
        match standing {
            // A run is never shown before it has begun.
            Standing::New | Standing::Running => Self::Running,
            Standing::Waiting(_) => Self::Suspended,
            Standing::Completed => Self::Completed,
            Standing::Failed { .. } => Self::Failed,
            Standing::Cancelled { .. } => Self::Cancelled,
        }
    }

    /// Reads our own word.
    pub(super) fn of_word(word: &str) -> Self {
        match word {
            "waiting" => Self::Suspended,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => Self::Running,
        }
    }

    /// Returns our own word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Suspended => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a call that led to nothing is answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Failure {
    error: String,
    error_code: ErrorCode,
    refusal: Refused,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
}

/// What else there is to say.
#[derive(Debug, Serialize, JsonSchema)]
struct Details {
    /// What was wrong with the language model.
    kind: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ErrorCode {
    MissingField,
    InvalidType,
    InvalidFormat,
    DefinitionNotFound,
    DefinitionInvalid,
    DefinitionUnavailable,
    InstanceNotFound,
    AiServiceError,
    AiInvalidStep,
    PersistenceError,
    Conflict,
    // The workflow's rules do not allow it now. A code of our own beside the orchestrator's.
    Refused,
    InternalError,
}

/// After how long a busy server may be asked again.
const RETRY_AFTER_MS: u64 = 200;

/// What was tried, for anyone who is told that it failed.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    /// How far the caller's program reaches the person, for whom they are told to ask.
    pub(super) person: Person,
    /// `Failed to start workflow 'X'`.
    what: String,
    /// What is said of a run that nobody knows, in the orchestrator's own way.
    unknown: Option<String>,
}

impl Tried {
    pub(super) fn new(person: Person, what: impl Into<String>) -> Self {
        Self { person, what: what.into(), unknown: None }
    }

    /// To see how a run stands.
    pub(super) fn status(person: Person, instance: &str) -> Self {
        let unknown = Some(format!("Instance '{instance}' not found"));
        Self {
            unknown,
            ..Self::new(person, format!("Failed to get status for instance '{instance}'"))
        }
    }

    /// Words why it failed.
    pub(super) fn failure(&self, stopped: &Stopped) -> Failure {
        let is_unknown = matches!(stopped, Stopped::Refused(Refusal::RunUnknown(_)));
        let unknown = self.unknown.clone().filter(|_| is_unknown);
        let (hint, passes) = match stopped {
            Stopped::Refused(refusal) => (words(self.person).hint(refusal), false),
            Stopped::Failed(fault) => (fault.hint.clone(), fault.passes),
        };
        let refusal = Refused {
            code: stopped.code().to_owned(),
            message: stopped.to_string(),
            hint,
            retry_after_ms: passes.then_some(RETRY_AFTER_MS),
        };
        Failure {
            error: unknown.unwrap_or_else(|| format!("{}: {stopped}", self.what)),
            error_code: code_of(stopped),
            refusal,
            details: None,
        }
    }

    /// Goes on with what was seen or done, or words why it failed.
    pub(super) fn or_fail<T: Tool<Failure = Failure>, V, N: From<Tell>>(
        self,
        then: impl FnOnce(V) -> N + Send + 'static,
    ) -> Next<Result<V, Stopped>, N> {
        Box::new(move |came| match came {
            Ok(came) => then(came),
            Err(stopped) => T::fail(self.failure(&stopped)).into(),
        })
    }

    /// Words a run that failed because its language model could not be had; `None` where it did
    /// not. The run is written as failed.
    pub(super) fn model_failure(&self, outcome: &Outcome) -> Option<Failure> {
        let Standing::Failed { reason, .. } = &outcome.now.view.state.standing else { return None };
        let asked = outcome.events.iter().rev().find_map(|it| {
            if let Event::ModelAsked(asked) = &it.event { asked.failure.as_ref() } else { None }
        })?;
        let error_code = match asked.kind {
            ModelFailureKind::InvalidStep => ErrorCode::AiInvalidStep,
            ModelFailureKind::Timeout
            | ModelFailureKind::Api
            | ModelFailureKind::InvalidResponse
            | ModelFailureKind::Safety => ErrorCode::AiServiceError,
        };
        Some(Failure {
            error: format!("{}: {reason}", self.what),
            error_code,
            refusal: Refused {
                code: "model_failed".to_owned(),
                message: reason.clone(),
                hint: format!("{}; then report again", WORDS.reopen),
                retry_after_ms: None,
            },
            details: Some(Details { kind: asked.kind.as_str().to_owned() }),
        })
    }
}

impl Answer for Failure {}

impl Failing for Failure {}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        Tried::new(Person::OutOfReach, format!("Failed to call `{}`", unasked.tool))
            .failure(&unasked.stopped)
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid_arguments: InvalidArguments) -> Self {
        let error_code = match invalid_arguments.problems.first().map(|it| it.kind) {
            Some(ProblemKind::Missing) => ErrorCode::MissingField,
            Some(ProblemKind::WrongValue | ProblemKind::Unknown) => ErrorCode::InvalidFormat,
            Some(ProblemKind::NotString | ProblemKind::WrongType) | None => ErrorCode::InvalidType,
        };
        let message = invalid_arguments.to_string();
        let refusal = Refused {
            code: "parameter_invalid".to_owned(),
            message: message.clone(),
            hint: Remedy::FixValue.to_string(),
            retry_after_ms: None,
        };
        let error = format!("Invalid input for {}: {message}", invalid_arguments.tool);
        Self { error, error_code, refusal, details: None }
    }
}

/// Returns the refusal of a parameter whose value cannot be taken.
pub(super) fn invalid(field: &str, problem: impl Into<String>) -> Stopped {
    Refusal::ParameterInvalid { field: format!("`{field}`"), problem: problem.into() }.into()
}

fn code_of(stopped: &Stopped) -> ErrorCode {
    match stopped {
        Stopped::Refused(refusal) => code_of_refusal(refusal),
        Stopped::Failed(fault) if fault.code == BUG => ErrorCode::InternalError,
        Stopped::Failed(_) => ErrorCode::PersistenceError,
    }
}

/// The code of a failure that is nobody's but ours.
const BUG: &str = "bug";

fn code_of_refusal(refusal: &Refusal) -> ErrorCode {
    match refusal {
        Refusal::RunUnknown(_) | Refusal::RunElsewhere { .. } => ErrorCode::InstanceNotFound,
        Refusal::WorkflowUnknown { .. } | Refusal::WorkflowIncomplete { .. } => {
            ErrorCode::DefinitionNotFound
        }
        Refusal::WorkflowInvalid { .. } => ErrorCode::DefinitionInvalid,
        Refusal::DefinitionUnreadable(_) => ErrorCode::DefinitionUnavailable,
        // The run is not where the caller believes it to be, or someone else has it.
        Refusal::RunExists(_)
        | Refusal::RunEnded { .. }
        | Refusal::RunNotEnded { .. }
        | Refusal::StepNotBegun { .. }
        | Refusal::StepNotFailed { .. }
        | Refusal::StepsOpen { .. }
        | Refusal::StepOutOfOrder { .. }
        | Refusal::StepPassed { .. }
        | Refusal::GateNotAsked { .. }
        | Refusal::FailedForward { .. }
        | Refusal::GateBypassed { .. }
        | Refusal::GateHeld { .. }
        | Refusal::PartsUnknown { .. }
        | Refusal::RunMoved { .. }
        | Refusal::StepNotCurrent { .. }
        | Refusal::ChoiceOpen { .. }
        | Refusal::StepNotEntered { .. }
        | Refusal::StepHeld { .. }
        | Refusal::LeaseStale { .. }
        | Refusal::LeaseUnknown(_)
        | Refusal::PartNotReady { .. }
        | Refusal::GateOpen { .. }
        | Refusal::GateNotOpen
        | Refusal::GateStale { .. }
        | Refusal::ArtifactsDrifted { .. }
        | Refusal::KeyTaken { .. }
        | Refusal::RequestConflict(_)
        | Refusal::MoveNotAllowed { .. }
        | Refusal::NothingDue => ErrorCode::Conflict,
        Refusal::PartNotNamed { .. } | Refusal::KeyMissing { .. } => ErrorCode::MissingField,
        Refusal::VarInvalid { .. } => ErrorCode::InvalidType,
        Refusal::RunAmbiguous { .. }
        | Refusal::StepUnknown { .. }
        | Refusal::PartUnknown { .. }
        | Refusal::PartSetUnknown { .. }
        | Refusal::AnswerUnknown { .. }
        | Refusal::KeyInvalid { .. }
        | Refusal::FlowUnknown { .. }
        | Refusal::ContextInvalid { .. }
        | Refusal::VarUnknown { .. }
        | Refusal::TooLarge { .. }
        | Refusal::TooDeep { .. }
        | Refusal::Empty { .. }
        | Refusal::MoveUnknown { .. }
        | Refusal::ItemUnknown { .. }
        | Refusal::SeqUnknown { .. }
        | Refusal::ParameterInvalid { .. } => ErrorCode::InvalidFormat,
        Refusal::NextNotAllowed { .. }
        | Refusal::NeedMissing { .. }
        | Refusal::ArtifactMissing { .. }
        | Refusal::ArtifactInvalid { .. }
        | Refusal::EvidenceMissing { .. }
        | Refusal::EvidenceEmpty { .. }
        | Refusal::ItemsFull { .. }
        | Refusal::CheckFailed { .. }
        | Refusal::CheckNotAllowed { .. }
        | Refusal::ChoreDue { .. }
        | Refusal::ChoreNotDue { .. }
        | Refusal::VerdictUnknown { .. }
        | Refusal::PartsInvalid { .. }
        | Refusal::GateNeedsPerson { .. }
        | Refusal::PartNeedsPerson { .. }
        | Refusal::GateMissing { .. }
        | Refusal::EditRefused { .. }
        | Refusal::FileUnreadable { .. }
        | Refusal::RulesInvalid { .. }
        | Refusal::RoundsSpent { .. }
        | Refusal::ConditionFailed { .. }
        | Refusal::WorkspaceNotHere { .. } => ErrorCode::Refused,
    }
}
