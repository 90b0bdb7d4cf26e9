//! What a classic tool answers: a text to act on, and beside it the same as data.

use engine::{Pick, Remedy};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    advice,
    classic::{Guidance, Next, tools_of},
    words::{RETRY_MS, STATE_FILE},
};
use crate::kit::{self, Failing, InvalidArguments, ProblemKind, Stopped, Unasked};

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
    pub(crate) fn of(tool: &'static str, stopped: &Stopped, place: Place) -> Self {
        let hint = hint(stopped, place.file.as_deref().unwrap_or(STATE_FILE));
        let mut failure = Self::new(tool, &code(stopped), &stopped.to_string(), &hint);
        stopped.code().clone_into(&mut failure.refusal.code);
        if matches!(stopped, Stopped::Failed(fault) if fault.passes) {
            failure.refusal.retry_after_ms = Some(RETRY_MS);
        }
        failure.place = Box::new(place);
        failure
    }

    /// Says which calls are in order in place of one that is not.
    #[must_use]
    pub(crate) fn out_of_order(mut self, said: &str, legal: Vec<&'static str>) -> Self {
        self.result = format!("{}: {said}", self.error_code);
        self.refusal.hint = legal_now(&legal);
        self.legal = legal;
        self
    }
}

impl kit::Answer for Answer {
    fn text(&self) -> Option<&str> {
        Some(&self.result)
    }
}

impl kit::Answer for Failure {
    fn text(&self) -> Option<&str> {
        Some(&self.result)
    }
}

impl Failing for Failure {}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        Self::of(unasked.tool, &unasked.stopped, Place::default())
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

/// The dialect's word for what is wrong.
fn code(stopped: &Stopped) -> String {
    match stopped.code() {
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

fn hint(stopped: &Stopped, path: &str) -> String {
    let refusal = match stopped {
        Stopped::Refused(refusal) => refusal,
        Stopped::Failed(fault) => return fault.hint.clone(),
    };
    let remedy = refusal.remedy();
    if let Remedy::Pick { what: Pick::Move, among } = &remedy {
        // Only what a run says of itself can be updated.
        let mut legal = tools_of(among);
        legal.retain(|it| *it != Guidance::Update.name());
        return legal_now(&legal);
    }
    advice::word(&remedy, path).unwrap_or_else(|| advice::CLASSIC.word(&remedy))
}

#[cfg(test)]
mod tests {
    use engine::Refusal;

    use super::*;

    fn hinted(refusal: Refusal) -> String {
        Failure::of(Guidance::Construct.name(), &refusal.into(), Place::default()).refusal.hint
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
