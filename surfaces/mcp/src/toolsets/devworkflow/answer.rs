//! What a classic tool answers: a text to act on, and beside it the same as data.

use engine::{Pick, Remedy};
use runtime::ExecuteError;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    CLASSIC,
    classic::{Trial, tools_of},
    text::{self, Guidance, Next, Shown},
    words::STATE_FILE,
};
use crate::tool::{InvalidArguments, ProblemKind, Unasked};

/// After how long a call that found the store busy may be tried again.
const RETRY_MS: u64 = 500;

/// What a call that did something is answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// What to do now, as Markdown.
    pub(crate) result: String,
    pub(crate) tool: &'static str,
    #[serde(flatten)]
    pub(crate) place: Place,
    /// The calls that may come next.
    pub(crate) next: Vec<Next>,
    /// What is wrong with the files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) issues: Vec<String>,
}

/// Where the work is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub(crate) struct Place {
    /// The state file, seen from the project's root.
    pub(crate) file: Option<String>,
    pub(crate) phase: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) current_item: Option<String>,
}

/// What a call that led to nothing is answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Failure {
    result: String,
    tool: &'static str,
    error_code: String,
    #[serde(flatten)]
    place: Box<Place>,
    /// The tools that may be called now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    legal: Vec<&'static str>,
    refusal: Box<Refused>,
}

/// Why, and the way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Refused {
    code: String,
    message: String,
    hint: String,
    /// Present where the same call may work later.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// What was found out on the way, such as an edit of the file that had to be put aside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
}

impl Failure {
    /// Words a failure: its code, what is wrong, and the way out.
    pub(crate) fn new(tool: &'static str, code: &str, message: &str, hint: &str) -> Self {
        Self {
            result: format!("{code}: {message}\n\nNothing was changed.\n\nWay out: {hint}"),
            tool,
            error_code: code.to_owned(),
            place: Box::default(),
            legal: Vec::new(),
            refusal: Box::new(Refused {
                code: code.to_lowercase(),
                message: message.to_owned(),
                hint: hint.to_owned(),
                retry_after_ms: None,
                notices: Vec::new(),
            }),
        }
    }

    /// Tells what was found out on the way.
    #[must_use]
    pub(crate) fn noticing(mut self, notices: Vec<String>) -> Self {
        if !notices.is_empty() {
            self.result.push_str("\n\nNoticed:\n");
        }
        for notice in &notices {
            self.result.push_str("\n- ");
            self.result.push_str(notice);
        }
        self.refusal.notices = notices;
        self
    }

    /// Words why the engine or the store did not do what a tool asked for.
    pub(crate) fn of(tool: Guidance, error: &ExecuteError, place: Place) -> Self {
        let hint = hint(error, place.file.as_deref().unwrap_or(STATE_FILE));
        let mut failure = Self::new(tool.name(), &code(error), &error.to_string(), &hint);
        error.code().clone_into(&mut failure.refusal.code);
        if error.passes() {
            failure.refusal.retry_after_ms = Some(RETRY_MS);
        }
        failure.place = Box::new(place);
        failure
    }

    /// Says which calls are in order in place of one that is not.
    #[must_use]
    pub(crate) fn out_of_order(
        mut self,
        tool: Guidance,
        shown: &Shown<'_>,
        legal: &[Guidance],
        trial: &Trial<'_>,
    ) -> Self {
        let said = text::illegal(tool, shown, legal, Some(trial));
        self.result = format!("{}: {said}", self.error_code);
        self.legal = legal.iter().map(|it| it.name()).collect();
        self.refusal.hint = legal_now(&self.legal);
        self
    }

    /// Returns the answer as Markdown.
    pub(crate) fn text(&self) -> &str {
        &self.result
    }
}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        let Unasked { tool, error } = unasked;
        let mut failure =
            Self::new(tool, &code(&error), &error.to_string(), &hint(&error, STATE_FILE));
        error.code().clone_into(&mut failure.refusal.code);
        failure
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid_arguments: InvalidArguments) -> Self {
        let problems: Vec<String> = invalid_arguments
            .problems
            .iter()
            .map(|it| format!("`{}` {}", it.path, it.text))
            .collect();
        let is_missing =
            invalid_arguments.problems.iter().all(|it| it.kind == ProblemKind::Missing);
        let code = if is_missing { "MISSING_FIELD" } else { "INVALID_PARAMETER" };
        Self::new(
            invalid_arguments.tool,
            code,
            &problems.join("; "),
            "fix what is named, then retry",
        )
    }
}

/// Returns the way out where the run of a state file is over.
pub(crate) fn ended(path: &str) -> String {
    format!(
        "only the user goes on with it: tell them to run `milepost run resume {path}` (do not run \
         it yourself), and call `hello_workflow` when they have"
    )
}

/// The dialect's word for what is wrong.
fn code(error: &ExecuteError) -> String {
    match error.code() {
        "move_not_allowed" => "ILLEGAL_TRANSITION".to_owned(),
        "gate_needs_person" | "gate_open" => "APPROVAL_REQUIRED".to_owned(),
        "item_unknown" => "ITEM_NOT_FOUND".to_owned(),
        "file_unreadable" => "FILE_UNREADABLE".to_owned(),
        code => code.to_uppercase(),
    }
}

fn legal_now(tools: &[&str]) -> String {
    format!("legal calls now: {}", tools.join(", "))
}

fn hint(error: &ExecuteError, path: &str) -> String {
    let ExecuteError::Refused(refusal) = error else {
        return error.hint();
    };
    let remedy = refusal.remedy();
    word(&remedy, path).unwrap_or_else(|| CLASSIC.word(&remedy))
}

/// The words for a remedy that name the classic tools, for the run of a state file.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others need no call of their own")]
pub(crate) fn word(remedy: &Remedy, path: &str) -> Option<String> {
    Some(match remedy {
        Remedy::Pick { what: Pick::Move, among } => {
            // Only what a run says of itself can be updated.
            let legal = tools_of(among).into_iter().filter(|it| *it != Guidance::Update);
            legal_now(&legal.map(Guidance::name).collect::<Vec<_>>())
        }
        Remedy::WorkTowards { .. } | Remedy::BeginBefore { .. } => {
            "the plan must be approved again: call `revise_blueprint_guidance`, then put the plan \
             before the user"
                .to_owned()
        }
        Remedy::AskPerson { is_relayed: false } => format!(
            "only the user's own answer counts here: tell them to run `milepost gate approve \
             {path}` (do not run it yourself), and call again when they have"
        ),
        Remedy::Reopen | Remedy::StartAnother => ended(path),
        Remedy::AskPerson { is_relayed: true }
        | Remedy::Look
        | Remedy::FindRun
        | Remedy::ShareKey { .. }
        | Remedy::GiveKey { .. } => {
            "call `hello_workflow`, and make the call that it names".to_owned()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use engine::Refusal;

    use super::*;

    fn hinted(refusal: Refusal) -> String {
        Failure::of(Guidance::Construct, &refusal.into(), Place::default()).refusal.hint
    }

    #[test]
    fn what_is_open_instead_is_said_in_tools() {
        let legal = vec!["init".to_owned(), "add".to_owned(), "error".to_owned()];
        let (name, step) = ("construct".to_owned(), "INIT".to_owned());
        assert_eq!(
            hinted(Refusal::MoveNotAllowed { name, step, legal }),
            "legal calls now: init_workflow_guidance, error_recovery_guidance"
        );
    }

    #[test]
    fn only_a_person_is_sent_to_the_terminal() {
        let step = definition::StepName::parse("BLUEPRINT").unwrap();
        let open = |is_relayed| hinted(Refusal::GateOpen { step: step.clone(), is_relayed });
        assert!(open(false).contains("`milepost gate approve workflow_state.md`"));
        assert!(open(true).contains("`hello_workflow`"));
    }
}
