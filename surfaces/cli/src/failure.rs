//! Why a command did not do what it was asked, and the exit code that says so.

use std::{io, process::ExitCode};

use engine::{Pick, Refusal, Remedy};
use runtime::ExecuteError;
use serde_json::{Value, json};
use store::StoreError;

use crate::{
    config::table::did_you_mean,
    output::{VERSION, text::word},
};

/// What a command failed with.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// A stable name.
    pub(crate) code: String,
    /// A fragment: lower case, no full stop.
    pub(crate) message: String,
    /// The way out.
    pub(crate) hint: Option<String>,
}

/// The kinds of failure. Each has its own exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The rules say no, or something is not as it must be.
    Refused,
    /// The world failed; the same call may work later.
    Fault,
    /// The call itself makes no sense.
    Usage,
    /// A bug of ours.
    Bug,
    /// Anyone who read our output has had enough.
    Gone,
}

impl Kind {
    /// Returns the exit code.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Gone => 0,
            Self::Refused => 1,
            Self::Fault => 2,
            Self::Usage => 64,
            Self::Bug => 70,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refusal",
            Self::Fault => "fault",
            Self::Usage => "usage",
            Self::Bug => "bug",
            Self::Gone => "gone",
        }
    }
}

impl Failure {
    /// Something is not as it must be.
    pub(crate) fn refused(code: &str, message: impl Into<String>) -> Self {
        Self { kind: Kind::Refused, code: code.to_owned(), message: message.into(), hint: None }
    }

    /// The world failed.
    pub(crate) fn fault(code: &str, message: impl Into<String>) -> Self {
        Self { kind: Kind::Fault, ..Self::refused(code, message) }
    }

    /// The call makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, ..Self::refused("usage", message) }
    }

    /// Adds the way out.
    #[must_use]
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the exit code.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind.exit_code())
    }

    /// Returns the failure for `--json`.
    pub(crate) fn to_json(&self) -> Value {
        let Self { kind, code, message, hint } = self;
        let error = json!({"kind": kind.as_str(), "code": code, "message": message, "hint": hint});
        json!({"version": VERSION, "error": error})
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let hint = hint(&refusal);
        Self::refused(refusal.code(), refusal.to_string()).with_hint(hint)
    }
}

/// Returns what helps, by commands where there are any.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others need no command")]
fn hint(refusal: &Refusal) -> String {
    if let Refusal::ContextInvalid { problems } = refusal {
        // A problem begins with the key that it is about.
        let key = problems.first().and_then(|it| it.split('`').nth(1)).unwrap_or("KEY");
        return format!("give it with `--context {key}=VALUE`");
    }
    let remedy = refusal.remedy();
    let words = match &remedy {
        Remedy::FindRun => "`milepost run list` shows the runs of this project",
        Remedy::Reopen => "`milepost run resume` reopens it",
        Remedy::Continue => "there is nothing to reopen; `milepost brief` says what comes next",
        Remedy::Look => {
            "`milepost brief` says where the run is; `milepost gate list` shows what waits for an \
             answer"
        }
        Remedy::LookAtHistory => "`milepost run history` shows the events",
        Remedy::AskPerson { is_relayed: true } => {
            "`milepost gate` shows the question and takes the answer"
        }
        Remedy::AskPerson { is_relayed: false } => {
            "answer it with `milepost gate` in a terminal, or with a token that has the scope \
             `approve`"
        }
        Remedy::AnswerAgain => {
            "look at it again with `milepost gate show`, then answer with `--digest` as it says"
        }
        Remedy::SendBack { .. } => "send it back with `milepost gate reject`",
        Remedy::AcceptFiles => "look at the files; `--force` accepts them as they are",
        Remedy::Trust => "`milepost trust` shows what this project runs, and allows it",
        Remedy::Pick { what: Pick::Workflow, .. } => {
            let list = "`milepost workflow list` shows the workflows that are there";
            let Refusal::WorkflowUnknown { name, known } = refusal else { return list.to_owned() };
            return format!("{list}{}", did_you_mean(name, known.iter().map(String::as_str)));
        }
        Remedy::FixWorkflow { name: Some(name) } => {
            return format!(
                "{remedy}; `milepost workflow check {}` shows every problem",
                word(name)
            );
        }
        Remedy::WorkThere { root } => {
            return format!(
                "use `milepost -C {root}`; if the project was moved or copied here, end the run with \
                 `milepost run cancel`, and start it again"
            );
        }
        Remedy::ShareKey { run } => {
            return format!(
                "continue with run `{run}`, give another key with `--key`, or cancel it with `milepost run cancel`"
            );
        }
        other => return other.to_string(),
    };
    words.to_owned()
}

impl From<ExecuteError> for Failure {
    fn from(error: ExecuteError) -> Self {
        match error {
            ExecuteError::Refused(refusal) => refusal.into(),
            ExecuteError::Store(error) => error.into(),
            ExecuteError::Busy { .. } => {
                Self::fault(error.code(), error.to_string()).with_hint(error.hint())
            }
            ExecuteError::Endless => {
                Self { kind: Kind::Bug, ..Self::fault("bug", error.to_string()) }
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let is_fault = error.is_retryable() || matches!(error, StoreError::Database(_));
        let kind = if is_fault { Kind::Fault } else { Kind::Refused };
        Self { kind, ..Self::refused(error.code(), error.to_string()) }.with_hint(error.hint())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self {
                kind: Kind::Gone,
                ..Self::fault("broken_pipe", "the reader closed the pipe")
            };
        }
        Self::fault("io", error.to_string())
    }
}
