//! `update_workflow_state_guidance`: phase, status, item, log and plan are set by hand.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{
    answer::Failure,
    options::Settings as Options,
    text::Guidance,
    words::{PHASES, STATUSES},
};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// INIT, ANALYZE, BLUEPRINT, CONSTRUCT or VALIDATE
    phase: String,
    /// READY, RUNNING, `NEEDS_PLAN_APPROVAL`, COMPLETED or ERROR
    status: String,
    /// The item at hand; null clears it, left out it stays
    #[serde(default)]
    #[schemars(with = "String", extend("x-null" = true))]
    current_item: Given,
    /// What to add to the log
    log_entry: Option<String>,
    /// The whole plan, as Markdown
    plan: Option<String>,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Update;
    const TITLE: &'static str = "Update the state";
    const DESCRIPTION: &'static str = "Record progress: set phase and status, the plan, the item at hand; add a log entry. NEEDS_PLAN_APPROVAL puts the plan before the user.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let phase = word(&parameters.phase, &PHASES, ("INVALID_PHASE", "phase"))?;
        let status = word(&parameters.status, &STATUSES, ("INVALID_STATUS", "status"))?;
        let fields = vec![("Phase", phase.to_owned()), ("Status", status.to_owned())];
        let mut ask = Ask { fields, ..Ask::default() };
        ask.args.insert("phase".to_owned(), phase.into());
        ask.args.insert("status".to_owned(), status.into());
        ask.args.insert("has_item".to_owned(), (parameters.current_item != Given::Absent).into());
        if let Given::Null | Given::Text(_) = &parameters.current_item {
            let item = parameters.current_item.text();
            let shown = if item.is_empty() { "null" } else { item };
            ask.fields.push(("CurrentItem", shown.to_owned()));
            ask.args.insert("item".to_owned(), item.into());
        }
        if let Some(plan) = &parameters.plan {
            ask.fields.push(("Plan", plan.clone()));
            ask.args.insert("plan".to_owned(), plan.as_str().into());
        }
        let entry = parameters.log_entry.unwrap_or_default();
        if !entry.is_empty() {
            ask.fields.push(("Log", entry.clone()));
        }
        ask.args.insert("log_entry".to_owned(), entry.into());
        Ok(ask)
    }
}

/// A text that may be left out, or be nothing on purpose.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<String>")]
enum Given {
    #[default]
    Absent,
    Null,
    Text(String),
}

impl From<Option<String>> for Given {
    fn from(text: Option<String>) -> Self {
        match text.filter(|it| !matches!(it.trim(), "" | "null")) {
            Some(text) => Self::Text(text),
            None => Self::Null,
        }
    }
}

impl Given {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Absent | Self::Null => "",
        }
    }
}

/// Returns the word of a closed list that is meant, in whichever case it is written.
fn word<'w>(text: &str, words: &[&'w str], (code, name): (&str, &str)) -> Result<&'w str, Failure> {
    let found = words.iter().find(|it| it.eq_ignore_ascii_case(text.trim()));
    found.copied().ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        let message = format!("there is no {name} `{shown}`");
        let hint = format!("use one of {}", words.join(", "));
        Failure::new(Guide::TOOL.name(), code, &message, &hint)
    })
}
