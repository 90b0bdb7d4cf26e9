//! What an agent reads of a session: the node it is at, and how far it has come.

use std::fmt::Write as _;

use definition::{Step, StepName, Workflow};
use serde_json::{Map, Value};

use super::{
    record::{Output, Record},
    words::{self, cut, fill},
};

/// How much of a next node's goal is shown.
const GOAL_CHARS_MAX: usize = 200;
/// How much of one piece of evidence, or of one log entry, an answer shows.
const EVIDENCE_CHARS_MAX: usize = 300;
/// How many of the last log entries an answer shows.
const LOG_SHOWN: usize = 10;
/// How many items an answer shows.
const ITEMS_SHOWN: usize = 20;

/// A session to speak of.
#[derive(Clone, Copy)]
pub(super) struct Session<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) record: &'a Record,
    pub(super) stage: Stage,
    /// Whether a person must agree before the current node is left.
    pub(super) needs_approval: bool,
    /// The node that only the person's own approval counts for.
    pub(super) personal: Option<&'a StepName>,
    /// What the user wants changed at the current node, if they sent it back.
    pub(super) sent_back: Option<&'a str>,
}

/// How far the work on the current node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Open,
    /// Only the way out is missing.
    Reported,
    /// The session is over.
    Over,
}

/// How much of a session is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// What an answer has room for.
    Answer,
    /// Everything, as a file has it.
    Whole,
}

impl<'a> Session<'a> {
    /// Returns the node that the session is at.
    pub(super) fn node(&self) -> Option<&'a Step> {
        find_node(self.workflow, &self.record.current_node)
    }

    fn fill(&self, text: &str) -> String {
        fill(text.trim(), &self.record.inputs)
    }
}

/// Returns the node called `name`.
pub(super) fn find_node<'a>(workflow: &'a Workflow, name: &str) -> Option<&'a Step> {
    workflow.find_step(&StepName::parse(name).ok()?)
}

/// Returns the view of the node that a session is at: what to do there, and how to go on.
pub(super) fn node(session: Session<'_>) -> String {
    let Some(step) = session.node() else { return state(session, Extent::Answer) };
    let mut text = String::new();
    push(&mut text, &format!("**📍 Node:** {}", step.name));
    push(&mut text, &format!("**🎯 Goal:** {}", session.fill(&step.goal)));
    if !step.instructions.trim().is_empty() {
        push(&mut text, &format!("**🧭 Instructions:**\n{}", session.fill(&step.instructions)));
    }
    push(&mut text, &criteria(session, step));
    push_some(&mut text, sent_back(session));
    if let Some(owed) =
        session.personal.filter(|it| session.stage != Stage::Over && **it != step.name)
    {
        push(
            &mut text,
            &format!(
                "**⚠️ APPROVAL REQUIRED:** only the user's own answer counts for node **{owed}**, \
                 and they have not given it. The call below is answered `approval_required` until \
                 they have. Tell them to answer with `milepost gate` (do not run it yourself), then \
                 make the same call again."
            ),
        );
    } else if session.needs_approval && session.personal.is_some() {
        push(
            &mut text,
            "**⚠️ APPROVAL REQUIRED:** only the user's own answer counts here. The call below \
             reports the work, and is answered `approval_required` until they have answered. Tell \
             them to answer with `milepost gate` (do not run it yourself), then make the same \
             call again.",
        );
    } else if session.needs_approval {
        push(
            &mut text,
            "**⚠️ APPROVAL REQUIRED:** this node may only be left once the user has agreed. Show \
             them the work, ask, and wait for the answer; only then pass `\"user_approval\": \
             true`. A consent counts for one call: never use an earlier one again, and never give \
             it yourself.",
        );
    }
    push(&mut text, &ways(session, step));
    push(&mut text, &how(session, step));
    push(&mut text, &headline(session, false));
    push_some(&mut text, progress(session, Extent::Answer));
    text.push_str(&reminder(session));
    text
}

fn criteria(session: Session<'_>, step: &Step) -> String {
    if step.criteria.is_empty() {
        return "**📋 ACCEPTANCE CRITERIA:** No specific criteria defined".to_owned();
    }
    let lines = step.criteria.iter().map(|it| format!("- {}: {}", it.key, session.fill(&it.text)));
    format!("**📋 ACCEPTANCE CRITERIA:**\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn sent_back(session: Session<'_>) -> Option<String> {
    let feedback = session.sent_back?;
    let wish = if feedback.is_empty() { "." } else { &format!(":\n{}", quoted(feedback)) };
    Some(format!("**↩️ SENT BACK:** the user wants this node's work changed{wish}"))
}

fn ways(session: Session<'_>, step: &Step) -> String {
    if words::is_terminal(step) {
        return "**🏁 Status:** This is a terminal node (workflow complete)".to_owned();
    }
    let mut text = "**➡️ NEXT STEPS:**".to_owned();
    for name in words::next_nodes(step) {
        let goal = find_node(session.workflow, name).map_or("", |it| &it.goal);
        let goal = cut(&session.fill(goal), GOAL_CHARS_MAX).replace('\n', " ");
        write!(text, "\n- **{name}**: {goal}").unwrap_or_default();
    }
    for name in &step.workflows {
        let what = "another workflow, gone through in a session of its own; then back to this node";
        write!(text, "\n- **{name}**: {what}").unwrap_or_default();
    }
    text
}

/// Says which call comes next, with everything in it.
fn how(session: Session<'_>, step: &Step) -> String {
    let id = &session.record.session_id;
    if session.stage == Stage::Over {
        let status = &session.record.status;
        return format!("**⏹️ Closed:** this session is {status}; nothing is left to do in it.");
    }
    let evidence: Map<String, Value> =
        step.criteria.iter().map(|it| (it.key.clone(), "how it is met".into())).collect();
    let mut call = Vec::new();
    if let Some(first) = words::options(step).first() {
        call.push(format!("\"choose\": \"{first}\""));
    }
    if session.stage != Stage::Reported {
        call.push(format!("\"criteria_evidence\": {}", Value::Object(evidence)));
    }
    if session.needs_approval && session.personal.is_none() {
        call.push("\"user_approval\": <true, once the user has said yes>".to_owned());
    }
    let when = if words::is_terminal(step) {
        "Do the work of this node, then finish the session"
    } else if session.stage == Stage::Reported {
        "The work of this node is reported; choose one of the next steps"
    } else {
        "Do the work of this node, then choose one of the next steps"
    };
    let has_own = session.stage != Stage::Reported && !step.criteria.is_empty();
    let own = if has_own { ", with evidence of your own" } else { "" };
    format!(
        "**🔧 How to go on:** {when}: call `workflow_guidance` with `session_id` `{id}` and this \
         as `context`{own}:\n```json\n{{{}}}\n```",
        call.join(", ")
    )
}

fn reminder(session: Session<'_>) -> String {
    if session.stage == Stage::Over {
        return "Start another workflow with `action` `start` when there is more to do.".to_owned();
    }
    format!(
        "Stay with this node until its criteria are met, say only what was really done, and pass \
         `session_id` `{}` with every call.",
        session.record.session_id
    )
}

/// Returns how far a session has come, as Markdown.
pub(super) fn state(session: Session<'_>, extent: Extent) -> String {
    let mut text = headline(session, true);
    if extent == Extent::Whole {
        text = format!("# Workflow session {}\n\n{text}", session.record.session_id);
    }
    text.push_str("\n\n");
    if let Some(task) = &session.record.current_item {
        push(&mut text, &format!("**Task:** {}", quoted(task)));
    }
    push_some(&mut text, sent_back(session));
    if extent == Extent::Whole
        && let Some(step) = session.node()
    {
        push(&mut text, &criteria(session, step));
    }
    push_some(&mut text, progress(session, extent));
    text.trim_end().to_owned()
}

/// Returns what was done: nodes with their evidence, items, and the log.
pub(super) fn progress(session: Session<'_>, extent: Extent) -> Option<String> {
    let record = session.record;
    let mut text = String::new();
    push_some(&mut text, completed(session, extent));
    push_some(&mut text, items(record, extent));
    push_some(&mut text, log("📜 Log", &record.log, extent));
    if extent == Extent::Whole {
        push_some(&mut text, log("🗄️ Archive log", &record.archive_log, extent));
    }
    (!text.is_empty()).then_some(text)
}

/// Returns where the session is; with its goal where that is not said anyway.
fn headline(session: Session<'_>, has_goal: bool) -> String {
    let record = session.record;
    let (place, total) = position(session.workflow, &record.current_node);
    let step = session.node();
    let options = step.map(words::options).unwrap_or_default();
    let is_over = session.stage == Stage::Over || options.is_empty();
    let next = if is_over { "End of workflow".to_owned() } else { options.join(", ") };
    let goal = step.filter(|_| has_goal).map_or(String::new(), |it| {
        let goal = cut(&session.fill(&it.goal), GOAL_CHARS_MAX).replace('\n', " ");
        format!("\n**Current goal:** {goal}")
    });
    let mut path: Vec<&str> = record.node_history.iter().map(String::as_str).collect();
    path.push(&record.current_node);
    format!(
        "**📊 STATE** — **Workflow:** {} · **Current node:** {} (node {place} of {total}) · \
         **Status:** {}\n→ Next: {next}{goal}\nProgress: {}",
        session.workflow.name,
        record.current_node,
        record.status,
        path.join(" → ")
    )
}

/// Returns where a node is in the order of the definition, and how many there are.
pub(super) fn position(workflow: &Workflow, node: &str) -> (usize, usize) {
    let place = workflow.work_steps().position(|it| it.name.as_str() == node);
    (place.map_or(0, |it| it + 1), workflow.work_steps().count())
}

fn completed(session: Session<'_>, extent: Extent) -> Option<String> {
    let outputs = &session.record.node_outputs;
    if outputs.is_empty() {
        return None;
    }
    let mut text = "**✅ Completed nodes:**".to_owned();
    let mut visits: Vec<&Output> = outputs.values().flat_map(|it| it.visits()).collect();
    // In the order they were done; those of one second in the order they were reached.
    let reached =
        |it: &Output| session.record.node_history.iter().position(|at| *at == it.node_name);
    let order = |it: &&Output| (it.completion_timestamp.clone(), reached(it).unwrap_or(usize::MAX));
    visits.sort_by_key(order);
    for visit in visits {
        let sign = if visit.goal_achieved { "" } else { " (not all criteria have evidence)" };
        write!(text, "\n- **{}**{sign}", visit.node_name).unwrap_or_default();
        for line in evidence(visit, extent) {
            write!(text, "\n  - {line}").unwrap_or_default();
        }
    }
    Some(text)
}

fn evidence(output: &Output, extent: Extent) -> Vec<String> {
    let shown = |value: &Value| match extent {
        Extent::Answer => cut(&words::shown(value), EVIDENCE_CHARS_MAX).replace('\n', " "),
        Extent::Whole => words::shown(value).replace('\n', "\n    "),
    };
    let of_criterion = |(key, value): (&String, &Value)| match value {
        Value::Null => format!("{key}: *no evidence*"),
        Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            format!("{key}: {}", shown(value))
        }
    };
    output.completed_criteria.iter().chain(&output.extra_evidence).map(of_criterion).collect()
}

fn items(record: &Record, extent: Extent) -> Option<String> {
    if record.items.is_empty() {
        return None;
    }
    let max = if extent == Extent::Whole { record.items.len() } else { ITEMS_SHOWN };
    let cell = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|").replace('\n', "<br>");
    let row = |it: &super::record::Item| {
        format!("| {} | {} | {} |", it.id, cell(&it.description), it.status)
    };
    let rows: Vec<String> = record.items.iter().take(max).map(row).collect();
    let mut text = format!(
        "**🗂️ Items:**\n\n| id | description | status |\n|----|-------------|--------|\n{}",
        rows.join("\n")
    );
    let left = record.items.len().saturating_sub(max);
    if 0 < left {
        write!(text, "\n\n… and {left} more").unwrap_or_default();
    }
    Some(text)
}

fn log(title: &str, entries: &[String], extent: Extent) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    let (skipped, lines): (usize, Vec<String>) = match extent {
        Extent::Whole => (0, entries.to_vec()),
        Extent::Answer => {
            let skipped = entries.len().saturating_sub(LOG_SHOWN);
            let lines = entries.iter().skip(skipped);
            (skipped, lines.map(|it| cut(it, EVIDENCE_CHARS_MAX)).collect())
        }
    };
    let before =
        if 0 < skipped { format!(" ({skipped} earlier entries not shown)") } else { String::new() };
    Some(format!("**{title}:**{before}\n```text\n{}\n```", lines.join("\n").replace("```", "ˋˋˋ")))
}

/// Marks what a caller wrote as such: each line of it is a quotation.
pub(super) fn quoted(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n> ")
}

fn push_some(text: &mut String, part: Option<String>) {
    if let Some(part) = part {
        push(text, &part);
    }
}

/// Adds a part, with a blank line after it.
fn push(text: &mut String, part: &str) {
    text.push_str(part.trim_end());
    text.push_str("\n\n");
}
