//! This toolset's words, and ours: an instance is a run, `SUSPENDED` is waiting, and every refusal
//! has one of the orchestrator's error codes beside our own.

use engine::{Event, ModelFailureKind, Refusal, Standing};
use runtime::{ExecuteError, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::way_out;
use crate::tool::{InvalidArguments, ProblemKind, Unasked};

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

/// Why, in our words, and the way out.
#[derive(Debug, Serialize, JsonSchema)]
struct Refused {
    code: String,
    message: String,
    hint: String,
    /// Present where the same call may work later.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
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

impl Failure {
    /// Words an error after what was tried: `Failed to start workflow 'X'`.
    pub(super) fn new(tried: &str, error: &ExecuteError) -> Self {
        Self::worded(format!("{tried}: {error}"), error)
    }

    /// Words an error about a run, whose absence is said in the orchestrator's own way.
    pub(super) fn of_status(instance: &str, error: &ExecuteError) -> Self {
        if matches!(error, ExecuteError::Refused(Refusal::RunUnknown(_))) {
            return Self::worded(format!("Instance '{instance}' not found"), error);
        }
        Self::new(&format!("Failed to get status for instance '{instance}'"), error)
    }

    /// Words a run that failed because its language model could not be had; `None` where it did
    /// not. The run is written as failed.
    pub(super) fn of_model(tried: &str, outcome: &Outcome) -> Option<Self> {
        let Standing::Failed { reason, .. } = &outcome.view.state.standing else { return None };
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
        Some(Self {
            error: format!("{tried}: {reason}"),
            error_code,
            refusal: Refused {
                code: "model_failed".to_owned(),
                message: reason.clone(),
                hint: "`resume_workflow` with `reopen`, then report again".to_owned(),
                retry_after_ms: None,
            },
            details: Some(Details { kind: asked.kind.as_str().to_owned() }),
        })
    }

    fn worded(text: String, error: &ExecuteError) -> Self {
        let message = error.to_string();
        match error {
            ExecuteError::Refused(refusal) => {
                let code = refusal.code().to_owned();
                let hint = way_out::hint(refusal);
                let refusal = Refused { code, message, hint, retry_after_ms: None };
                Self { error: text, error_code: code_of(error), refusal, details: None }
            }
            ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => {
                let retry_after_ms = error.passes().then_some(RETRY_AFTER_MS);
                let (code, hint) = (error.code().to_owned(), error.hint());
                let refusal = Refused { code, message, hint, retry_after_ms };
                Self { error: text, error_code: code_of(error), refusal, details: None }
            }
        }
    }
}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        Self::new(&format!("Failed to call `{}`", unasked.tool), &unasked.error)
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid_arguments: InvalidArguments) -> Self {
        let error_code = match invalid_arguments.problems.first().map(|it| it.kind) {
            Some(ProblemKind::Missing) => ErrorCode::MissingField,
            Some(ProblemKind::WrongValue | ProblemKind::Unknown) => ErrorCode::InvalidFormat,
            Some(ProblemKind::WrongType) | None => ErrorCode::InvalidType,
        };
        let problems =
            invalid_arguments.problems.iter().map(|it| format!("`{}` {}", it.path, it.text));
        let message = problems.collect::<Vec<_>>().join("; ");
        let refusal = Refused {
            code: "parameter_invalid".to_owned(),
            message: message.clone(),
            hint: "fix what is named, then call again".to_owned(),
            retry_after_ms: None,
        };
        let error = format!("Invalid input for {}: {message}", invalid_arguments.tool);
        Self { error, error_code, refusal, details: None }
    }
}

/// Returns the refusal of a parameter whose value cannot be taken.
pub(super) fn invalid(field: &str, problem: impl Into<String>) -> ExecuteError {
    Refusal::ParameterInvalid { field: format!("`{field}`"), problem: problem.into() }.into()
}

fn code_of(error: &ExecuteError) -> ErrorCode {
    match error {
        ExecuteError::Refused(refusal) => code_of_refusal(refusal),
        ExecuteError::Store(_) | ExecuteError::Busy { .. } => ErrorCode::PersistenceError,
        ExecuteError::Endless => ErrorCode::InternalError,
    }
}

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
