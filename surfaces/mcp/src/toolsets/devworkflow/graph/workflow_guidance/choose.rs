//! Moves a session on: the work on its node is reported, and the way that was chosen is taken.
//!
//! Whether that may be is the engine's decision; here it is asked for, and its answer put in words.

use definition::{Evidence, Step};
use engine::{
    Command, Consent, ContextChange, OpenGate, Refusal, Report, ReportOptions, ReportStep, Standing,
};
use runtime::ExecuteError;
use serde_json::{Map, Value, json};

use super::{
    super::{
        answer::{Answer, Failure, check_size},
        change::{change, note},
        context::{Choice, find_named},
        session::{self, Found, Which},
        view, words,
    },
    start,
};
use crate::tool::{Call, Done};

/// The largest that evidence may be, in bytes: of one criterion, and in all.
const EVIDENCE_BYTES_MAX: usize = 16 * 1024;
const EVIDENCE_TOTAL_BYTES_MAX: usize = 128 * 1024;

/// Does what was chosen.
pub(super) async fn choose(
    call: &Call<'_>,
    found: Found,
    mut choice: Choice,
) -> Result<Done<Answer>, Failure> {
    if !found.is_active() {
        return Err(closed(&found));
    }
    let mut evidence = found.kept_evidence();
    evidence.extend(std::mem::take(&mut choice.evidence));
    choice.evidence = evidence;
    check_evidence(&choice.evidence)?;
    let Some(step) = found.session().node() else { return Err(session::unknown(found.id())) };
    let (options, ways) = (words::options(step), words::next_nodes(step));
    let chosen = match &choice.choose {
        // Only a node that leads nowhere is done by its report alone.
        None if ways.is_empty() => None,
        None => return Err(invalid(call, &found, "(none)", &options)),
        Some(wanted) => match find_named(&options, wanted) {
            Some(chosen) => Some(chosen),
            None => return Err(invalid(call, &found, wanted, &options)),
        },
    };
    if found.view.state.standing.open_gate().is_some_and(OpenGate::is_personal) {
        return Err(awaits_person(&found, Then::SameCall));
    }
    if let Some(child) = chosen.filter(|it| !ways.contains(it)) {
        return start::start_child(call, &found, child, keeping(&found, step, &choice)?).await;
    }
    choice.choose = chosen.map(ToOwned::to_owned);
    report(call, &found, (step, chosen), &choice).await
}

/// Returns what keeps the evidence that was given while the node is not left yet.
fn keeping(found: &Found, step: &Step, choice: &Choice) -> Result<Vec<Command>, Failure> {
    if choice.evidence == found.kept_evidence() {
        return Ok(Vec::new());
    }
    if found.session().is_done {
        let content = "❌ **Error:** the work on this node was reported before, so there is no \
                       place for more evidence\n\nNothing was changed.";
        let hint = "choose again without `criteria_evidence`";
        return Err(Failure::new("ALREADY_REPORTED", content, hint).about(found.id()));
    }
    let keys: Vec<&str> = choice.evidence.keys().map(String::as_str).collect();
    let line = format!("📎 Evidence kept for node {}: {}", step.name, keys.join(", "));
    let report = Report {
        step_id: step.name.to_string(),
        status: words::KEPT.to_owned(),
        details: json!({ "evidence": choice.evidence }),
        ..Report::default()
    };
    let report = ReportStep {
        part: None,
        report,
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: ReportOptions::default(),
    };
    Ok(vec![note(line), Command::ReportStep(Box::new(report))])
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

/// Reports the work on a node, and goes on to the one that was chosen.
async fn report(
    call: &Call<'_>,
    found: &Found,
    (step, next): (&Step, Option<&str>),
    choice: &Choice,
) -> Result<Done<Answer>, Failure> {
    // Where only the person's own answer counts, the work is reported, and the way is taken later.
    let is_personal = found.session().needs_approval()
        && call.runtime.find_personal(&found.view) == Some(&step.name);
    let next = next.filter(|_| !is_personal);
    let choice = &Choice { is_approved: choice.is_approved && !is_personal, ..choice.clone() };
    let command = command(found, (step, next), choice);
    let after = match change(call, found, command).await {
        Ok(after) => after.noticing(found),
        Err(ExecuteError::Refused(refusal)) => {
            return Err(refused(call, found, (step, choice), refusal).await);
        }
        Err(error) => return Err(Failure::of(&error).about(found.id())),
    };
    answer(call, found, &after, (step, choice)).await
}

/// One command, so that the log says what happened or nothing did.
fn command(found: &Found, (step, next): (&Step, Option<&str>), choice: &Choice) -> Command {
    let mut commands: Vec<Command> = choice.remark.iter().map(note).collect();
    if found.session().needs_approval() && choice.is_approved {
        commands
            .push(note(format!("✅ USER APPROVAL GRANTED for transition from '{}'", step.name)));
    }
    if !found.session().is_done {
        commands.extend(completion_lines(step, choice).into_iter().map(note));
    }
    commands.push(Command::ReportStep(Box::new(ReportStep {
        part: None,
        report: Report {
            step_id: step.name.to_string(),
            status: "success".to_owned(),
            details: json!({ "evidence": choice.evidence }),
            ..Report::default()
        },
        context: ContextChange::default(),
        next: next.map(ToOwned::to_owned),
        holder: None,
        terms: ReportOptions {
            consent: if choice.is_approved { Consent::Stated } else { Consent::Needed },
            ..ReportOptions::default()
        },
    })));
    if let Some(target) = next.and_then(|it| view::find_node(&found.view.workflow, it)) {
        commands.push(note(format!("🔄 Transitioned from {} to {}", step.name, target.name)));
        let goal = words::fill(target.goal.trim(), &found.record.inputs);
        commands.push(note(format!("📝 CURRENT GOAL: {goal}")));
    }
    Command::All(commands)
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

async fn answer(
    call: &Call<'_>,
    before: &Found,
    after: &Found,
    (step, choice): (&Step, &Choice),
) -> Result<Done<Answer>, Failure> {
    if let Standing::Waiting(_) = after.view.state.standing {
        let is_same = after.record.current_node == before.record.current_node;
        return Err(awaits_person(after, if is_same { Then::SameCall } else { Then::Look }));
    }
    let mut warnings = Vec::new();
    let (missing, extra) = (missing(step, choice), extra(step, choice));
    let is_reported = !before.session().is_done;
    let policy = call.runtime.settings().policies.of(&before.view.workflow);
    if is_reported && !missing.is_empty() && policy.evidence == Some(Evidence::Warn) {
        let list = missing.join(", ");
        warnings.push(format!("node {} was left without evidence for: {list}", step.name));
    }
    if is_reported && !extra.is_empty() {
        let list = extra.join(", ");
        warnings.push(format!("kept as `extra_evidence`, being no criterion of the node: {list}"));
    }
    let mut content = String::new();
    if after.record.current_node != before.record.current_node {
        let target = after.record.current_node.to_uppercase();
        content.push_str(&format!("✅ **Transitioned to:** {target}\n\n"));
    }
    if !after.is_active() {
        warnings.extend(open_children(call, after).await?);
        content.push_str("🎉 **Workflow Completed:** the session is COMPLETED.\n\n");
    }
    for warning in &warnings {
        content.push_str(&format!("⚠️ {warning}\n\n"));
    }
    if let Some(parent) = back_to(call, after).await? {
        content.push_str(&format!(
            "↩️ **Back to the parent:** session `{}`, node **{}**\n\n{}",
            parent.id(),
            parent.record.current_node,
            view::node(parent.session(), call.runtime.find_personal(&parent.view))
        ));
        return Ok(start::warned(parent.say(content), warnings));
    }
    content.push_str(&view::node(after.session(), call.runtime.find_personal(&after.view)));
    Ok(start::warned(after.say(content), warnings))
}

/// Says which sessions that were begun from one that is over still go on.
pub(in super::super) async fn open_children(
    call: &Call<'_>,
    parent: &Found,
) -> Result<Vec<String>, Failure> {
    if parent.is_active() {
        return Ok(Vec::new());
    }
    let mut open = session::list(call.runtime, session::options(call), Which::Active).await?;
    open.retain(|it| it.parent() == Some(parent.run()));
    let line = |it: &Found| {
        format!(
            "session `{}` of workflow {}, which was begun from this one, still goes on",
            it.id(),
            it.record.workflow_name
        )
    };
    Ok(open.iter().map(line).collect())
}

/// Returns the session that one which is completed now leads back to.
pub(in super::super) async fn back_to(
    call: &Call<'_>,
    child: &Found,
) -> Result<Option<Found>, Failure> {
    let Some(parent) = child.parent().filter(|_| !child.is_active()) else { return Ok(None) };
    let parent = session::load(call.runtime, session::options(call), parent).await?;
    let Some(parent) = parent.filter(Found::is_active) else { return Ok(None) };
    let (name, status) = (&child.record.workflow_name, &child.record.status);
    let line = format!("↩️ Workflow {name} is {status} in session {}", child.id());
    Ok(Some(change(call, &parent, note(line)).await?))
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
fn invalid(call: &Call<'_>, found: &Found, wanted: &str, options: &[&str]) -> Failure {
    let is_waiting = found.view.state.standing.open_gate().is_some();
    let first = match call.runtime.find_personal(&found.view) {
        Some(_) if is_waiting => {
            "tell the user to answer with `milepost gate` (do not run it yourself), then "
        }
        Some(_) => {
            "your call is answered `approval_required` until the user has answered with `milepost \
             gate`; "
        }
        None if found.session().needs_approval() => {
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
    let open = found.view.state.standing.open_gate();
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

/// Words what the engine refused, and keeps in the log that it was tried.
async fn refused(
    call: &Call<'_>,
    found: &Found,
    (step, choice): (&Step, &Choice),
    refusal: Refusal,
) -> Failure {
    if matches!(refusal, Refusal::RunEnded { .. }) {
        return closed(found);
    }
    let is_asked = matches!(refusal, Refusal::GateOpen { .. }) && found.session().needs_approval();
    let (failure, why) = if is_asked || matches!(refusal, Refusal::GateNotAsked { .. }) {
        unapproved(step, choice)
    } else {
        (worded(step, &refusal).because(&refusal), refusal.to_string())
    };
    let line = refusal_lines(&format!("❌ TRANSITION FAILED: {why}"), choice);
    if let Err(error) = change(call, found, line).await {
        tracing::warn!(%error, "a refused transition was not written into the log");
    }
    failure.about(found.id())
}

/// What was said besides is kept, too.
fn refusal_lines(line: &str, choice: &Choice) -> Command {
    Command::All(choice.remark.iter().map(String::as_str).chain([line]).map(note).collect())
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
        super::super::super::ON_GRAPH.hint(refusal),
    )
}
