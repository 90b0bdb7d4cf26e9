//! Moves a session on: the work on its node is reported, and the way that was chosen is taken.
//!
//! Whether that may be is the engine's decision; here it is asked for, and its answer put in words.

use std::sync::Arc;

use definition::{Evidence, Step};
use engine::{Command, Consent, OpenGate, Probe, Refusal, RunState};
use serde_json::{Map, Value};

use super::{
    super::{
        answer::{Failure, Told, check_size},
        change::{self, Changed, note},
        context::{Choice, find_named},
        session::{self, Found},
        view::{self, Stage},
        words,
    },
    start,
};
use crate::{
    devworkflow::advice::ON_GRAPH,
    kit::{Ask, Caller, Stopped},
};

/// The largest that evidence may be, in bytes: of one criterion, and in all.
const EVIDENCE_BYTES_MAX: usize = 16 * 1024;
const EVIDENCE_TOTAL_BYTES_MAX: usize = 128 * 1024;

/// Does what was chosen.
pub(super) fn choose(caller: &Caller, found: Found, mut choice: Choice) -> Result<Ask, Failure> {
    if !found.is_active() {
        return Err(closed(&found));
    }
    let mut evidence = found.kept_evidence();
    evidence.extend(std::mem::take(&mut choice.evidence));
    choice.evidence = evidence;
    check_evidence(&choice.evidence)?;
    let workflow = Arc::clone(&found.seen.view.workflow);
    let Some(step) = view::find_node(&workflow, &found.record.current_node) else {
        return Err(session::unknown(found.id()));
    };
    let (options, ways) = (words::options(step), words::next_nodes(step));
    let chosen = match &choice.choose {
        // Only a node that leads nowhere is done by its report alone.
        None if ways.is_empty() => None,
        None => return Err(invalid(&found, "(none)", &options)),
        Some(wanted) => match find_named(&options, wanted) {
            Some(chosen) => Some(chosen),
            None => return Err(invalid(&found, wanted, &options)),
        },
    };
    if found.state().standing.open_gate().is_some_and(OpenGate::is_personal) {
        return Err(awaits_person(&found, Then::SameCall));
    }
    if let Some(child) = chosen.filter(|it| !ways.contains(it)) {
        let commands = keeping(&found, step, &choice)?;
        return Ok(start::start_child(caller, found, child.to_owned(), commands));
    }
    choice.choose = chosen.map(ToOwned::to_owned);
    report(caller, found, step, choice)
}

/// Returns what keeps the evidence that was given while the node is not left yet.
fn keeping(found: &Found, step: &Step, choice: &Choice) -> Result<Vec<Command>, Failure> {
    if choice.evidence == found.kept_evidence() {
        return Ok(Vec::new());
    }
    let keys: Vec<&str> = choice.evidence.keys().map(String::as_str).collect();
    let line = format!("📎 Evidence kept for node {}: {}", step.name, keys.join(", "));
    let kept = (words::KEPT, choice.evidence.clone());
    let report = change::report(step.name.as_str(), kept, (None, Consent::None));
    match found.probe(&report) {
        Probe::Open(_) | Probe::Needs(_) => Ok(vec![note(line), report]),
        Probe::Closed(Refusal::ChoiceOpen { .. }) => {
            let content = "❌ **Error:** the work on this node was reported before, so there is no \
                           place for more evidence\n\nNothing was changed.";
            let hint = "choose again without `criteria_evidence`";
            Err(Failure::new("ALREADY_REPORTED", content, hint).about(found.id()))
        }
        Probe::Closed(refusal) => Err(Failure::of(&refusal.into()).about(found.id())),
    }
}

fn check_evidence(evidence: &Map<String, Value>) -> Result<(), Failure> {
    let mut total = String::new();
    for (key, value) in evidence {
        let text = words::shown(value);
        check_size(
            &format!("the evidence for `{}`", words::cut(key, 60)),
            &text,
            EVIDENCE_BYTES_MAX,
        )?;
        total.push_str(&text);
    }
    check_size("all evidence together", &total, EVIDENCE_TOTAL_BYTES_MAX)
}

/// Reports the work on a node, and goes on to the one that was chosen. The engine says first what
/// that leads to, so that the log gets the lines of what happens, in the same decision.
fn report(caller: &Caller, found: Found, step: &Step, choice: Choice) -> Result<Ask, Failure> {
    let consent = if choice.is_approved { Consent::Stated } else { Consent::Needed };
    let done = (words::DONE, choice.evidence.clone());
    let report = change::report(step.name.as_str(), done, (choice.choose.as_deref(), consent));
    let commands = match found.probe(&report) {
        Probe::Open(after) => lines(&found, (step, &choice), report, &after),
        Probe::Needs(_) => choice.remark.iter().map(note).chain([report]).collect(),
        Probe::Closed(refusal) => {
            let (failure, line) = refused(&found, (step, &choice), &refusal);
            let Some(line) = line else { return Err(failure) };
            let lines = choice.remark.into_iter().chain([line]).collect();
            return Ok(change::log(found, lines, |_| Err(failure)));
        }
    };
    let step = step.name.clone();
    Ok(change::change(caller, found, Command::All(commands), move |before, changed| {
        let workflow = Arc::clone(&before.seen.view.workflow);
        let Some(step) = workflow.find_step(&step) else {
            return Err(session::unknown(before.id()));
        };
        match changed {
            Ok(changed) => answer(before, changed, (step, &choice)),
            Err(Stopped::Refused(refusal)) => Err(refused(before, (step, &choice), &refusal).0),
            Err(stopped) => Err(Failure::of(&stopped).about(before.id())),
        }
    }))
}

/// Adds to a report what the log says of what it leads to.
fn lines(
    found: &Found,
    (step, choice): (&Step, &Choice),
    report: Command,
    after: &RunState,
) -> Vec<Command> {
    let mut commands: Vec<Command> = choice.remark.iter().map(note).collect();
    let is_passed = choice.is_approved && after.standing.open_gate().is_none();
    if is_passed && found.needs_approval() {
        commands
            .push(note(format!("✅ USER APPROVAL GRANTED for transition from '{}'", step.name)));
    }
    if found.session().stage != Stage::Reported {
        commands.extend(completion_lines(step, choice).into_iter().map(note));
    }
    commands.push(report);
    let length = found.state().length;
    let entered =
        after.current.as_ref().filter(|it| after.step(it).is_some_and(|it| length < it.entered_by));
    if let Some(target) = entered.and_then(|it| found.seen.view.workflow.find_step(it)) {
        commands.push(note(format!("🔄 Transitioned from {} to {}", step.name, target.name)));
        let goal = words::fill(target.goal.trim(), &found.record.inputs);
        commands.push(note(format!("📝 CURRENT GOAL: {goal}")));
    }
    commands
}

/// What the log says of the work that is reported.
fn completion_lines(step: &Step, choice: &Choice) -> Vec<String> {
    let given = |key: &str| choice.evidence.get(key).filter(|it| !it.is_null());
    let met = step.criteria.iter().filter(|it| given(&it.key).is_some()).count();
    let total = step.criteria.len();
    let mut lines =
        vec![format!("🏁 Completed node {}: evidence for {met} of {total} criteria", step.name)];
    for criterion in &step.criteria {
        let said = given(&criterion.key).map_or("(no evidence)".to_owned(), words::shown);
        lines.push(format!("   {}: {said}", criterion.key));
    }
    lines
}

/// Returns the criteria that have no evidence.
fn missing<'a>(step: &'a Step, choice: &Choice) -> Vec<&'a str> {
    let is_given = |key: &str| choice.evidence.get(key).is_some_and(|it| !it.is_null());
    step.criteria.iter().map(|it| it.key.as_str()).filter(|it| !is_given(it)).collect()
}

fn extra<'a>(step: &Step, choice: &'a Choice) -> Vec<&'a str> {
    let is_known = |key: &str| step.criteria.iter().any(|it| it.key == key);
    choice.evidence.keys().map(String::as_str).filter(|it| !is_known(it)).collect()
}

fn answer(before: &Found, changed: Changed, (step, choice): (&Step, &Choice)) -> Told {
    let Changed { after, parent, children } = changed;
    if after.state().standing.open_gate().is_some() {
        let is_same = after.record.current_node == before.record.current_node;
        return Err(awaits_person(&after, if is_same { Then::SameCall } else { Then::Look }));
    }
    let mut warnings = Vec::new();
    let (missing, extra) = (missing(step, choice), extra(step, choice));
    let is_reported = before.session().stage != Stage::Reported;
    let policy = before.seen.known.policy.evidence;
    if is_reported && !missing.is_empty() && policy == Some(Evidence::Warn) {
        let list = missing.join(", ");
        warnings.push(format!("node {} was left without evidence for: {list}", step.name));
    }
    if is_reported && !extra.is_empty() {
        let list = extra.join(", ");
        warnings.push(format!("kept as `extra_evidence`, being no criterion of the node: {list}"));
    }
    warnings.extend(children);
    let mut content = String::new();
    if after.record.current_node != before.record.current_node {
        let target = after.record.current_node.to_uppercase();
        content.push_str(&format!("✅ **Transitioned to:** {target}\n\n"));
    }
    if !after.is_active() {
        content.push_str("🎉 **Workflow Completed:** the session is COMPLETED.\n\n");
    }
    for warning in &warnings {
        content.push_str(&format!("⚠️ {warning}\n\n"));
    }
    let shown = parent.as_ref().unwrap_or(&after);
    if let Some(parent) = &parent {
        let (id, node) = (parent.id(), &parent.record.current_node);
        content
            .push_str(&format!("↩️ **Back to the parent:** session `{id}`, node **{node}**\n\n"));
    }
    content.push_str(&view::node(shown.session()));
    Ok(start::warned(shown.say(content), warnings))
}

/// Says that a session is over.
pub(in super::super) fn closed(found: &Found) -> Failure {
    let status = &found.record.status;
    Failure::new(
        "SESSION_CLOSED",
        format!("❌ **Session Closed:** the session is {status}, and stays as it is"),
        "start another session for what is left to do",
    )
    .about(found.id())
}

/// Says that a node does not lead there.
fn invalid(found: &Found, wanted: &str, options: &[&str]) -> Failure {
    let is_waiting = found.state().standing.open_gate().is_some();
    let first = match found.personal() {
        Some(_) if is_waiting => {
            "tell the user to answer with `milepost gate` (do not run it yourself), then "
        }
        Some(_) => {
            "your call is answered `approval_required` until the user has answered with `milepost \
             gate`; "
        }
        None if found.needs_approval() => {
            "after the user has agreed, pass `\"user_approval\": true` and "
        }
        None => "",
    };
    let hint = if options.is_empty() {
        "leave `choose` out: this node is the last, and its report ends the session".to_owned()
    } else {
        format!("{first}choose one of: {}", options.join(", "))
    };
    let options = if options.is_empty() { "(none)".to_owned() } else { options.join(", ") };
    let node = &found.record.current_node;
    Failure::new(
        "INVALID_CHOICE",
        format!(
            "❌ **Invalid choice:** {}\n\n**Current node:** {node}\n**Valid options:** {options}",
            words::cut(wanted, 200)
        ),
        hint,
    )
    .about(found.id())
}

/// Says that the person must agree first, and what the log says of it.
fn unapproved(step: &Step, choice: &Choice) -> (Failure, String) {
    let (step, next) = (&step.name, choice.choose.as_deref().unwrap_or_default());
    let failure = Failure::new(
        "APPROVAL_REQUIRED",
        format!(
            "❌ **Transition Failed:** node **{step}** needs the user's explicit approval before \
             **{next}**.\n\nShow the user the work, ask, and wait. Then call again with \
             `\"user_approval\": true`. Never give the approval yourself, and never use an earlier \
             one again: it counts for one call only."
        ),
        "ask the user; after their yes, call again with `\"user_approval\": true`",
    );
    (failure, format!("node '{step}' needs the user's approval to be left"))
}

/// What to do once the person has answered.
#[derive(Clone, Copy)]
enum Then {
    SameCall,
    /// The session went on, and stands at another node.
    Look,
}

/// Says that only the person's own answer counts here.
fn awaits_person(found: &Found, then: Then) -> Failure {
    let then = match then {
        Then::SameCall => "make this call again",
        Then::Look => "call `workflow_guidance` with `session_id` alone",
    };
    let open = found.state().standing.open_gate();
    let asked = open.map_or("", |it| it.step.as_str());
    Failure::new(
        "APPROVAL_REQUIRED",
        format!(
            "❌ **Transition Failed:** only the user's own approval of node **{asked}** counts. \
             What you reported is kept.",
        ),
        format!(
            "tell the user to answer everything that waits with `milepost gate` (do not run it \
             yourself), then {then}"
        ),
    )
    .about(found.id())
}

/// Words what the engine refused, and says what the log keeps of it.
fn refused(
    found: &Found,
    (step, choice): (&Step, &Choice),
    refusal: &Refusal,
) -> (Failure, Option<String>) {
    if matches!(refusal, Refusal::RunEnded { .. }) {
        return (closed(found), None);
    }
    let is_asked = matches!(refusal, Refusal::GateOpen { step: open, .. } if *open == step.name);
    let (failure, why) = if is_asked || matches!(refusal, Refusal::GateNotAsked { .. }) {
        unapproved(step, choice)
    } else {
        (worded(step, refusal).because(refusal), refusal.to_string())
    };
    (failure.about(found.id()), Some(format!("❌ TRANSITION FAILED: {why}")))
}

fn worded(step: &Step, refusal: &Refusal) -> Failure {
    if let Refusal::EvidenceMissing { criteria, .. } = refusal {
        return Failure::new(
            "MISSING_EVIDENCE",
            format!(
                "❌ **Transition Failed:** evidence is missing for: {}\n\nSay in \
                 `criteria_evidence` how each of these criteria of **{}** is met.",
                criteria.join(", "),
                step.name
            ),
            "call again with evidence for each of them in `criteria_evidence`",
        );
    }
    if let Refusal::EvidenceEmpty { criteria, .. } = refusal {
        return Failure::new(
            "EMPTY_EVIDENCE",
            format!(
                "❌ **Transition Failed:** evidence was given without a word for: {}\n\nSay what \
                 was done, or leave the criterion out.",
                criteria.join(", ")
            ),
            "write what was done, or leave the key out",
        );
    }
    Failure::new(
        &refusal.code().to_ascii_uppercase(),
        format!("❌ **Transition Failed:** {refusal}"),
        ON_GRAPH.hint(refusal),
    )
}
