//! The parts of a plan are held against a project's own rules. Where they break any, the plan is made
//! again, until the allowance is spent.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use definition::{Effect, PartSpec, Rules, Step, Violation, parse_parts};
use serde_json::{Map, Value};

use super::{
    Draft, EvalContext, condition_failed, gate,
    mode::{Mode, Reach},
    part_rules,
    review::Judged,
    scope,
    then::Then,
};
use crate::{Event, FileFact, GateReason, Refusal, ReopenCause, Ruling, Stop};

/// The verdict that a broken rule leads to.
const REVISE: &str = "REVISE";

/// Judges the parts that `step` planned, if the project has rules on them.
pub(super) fn judge(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<Judged, Stop> {
    let Some(rules) = &step.rules else { return Ok(Judged::Passed) };
    let Some(book) = part_rules::read(draft, rules)? else { return Ok(Judged::Passed) };
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    let fails = |error| condition_failed(step, &error);
    let (file, note) =
        (rules.parts.render(&scope).map_err(fails)?, rules.note.render(&scope).map_err(fails)?);
    let violations = book.check(&parts(draft, step, &file)?);
    if violations.is_empty() {
        return Ok(Judged::Passed);
    }
    let was = match draft.file(&note)? {
        FileFact::Present { sha256, .. } => Some(sha256.clone()),
        FileFact::Missing | FileFact::Unreadable(_) => None,
    };
    let text = Some(describe(&violations));
    draft.push(Event::FileLeft { path: note.clone(), was, text });
    let before = count(draft, rules);
    // Anyone who goes on finds that it is spent.
    let is_spent = rules.after <= before && mode.reach != Reach::RecordOnly;
    draft.push(Event::VerdictGiven {
        step: step.name.clone(),
        part: None,
        of: step.name.clone(),
        verdict: REVISE.to_string(),
        ruling: if is_spent { Ruling::Asked } else { Ruling::Revised },
        findings: Vec::new(),
    });
    if is_spent {
        return ask(draft, step, &note);
    }
    let feedback = format!("the parts break rules of the project; see `{note}`");
    let (step, cause) = (step.name.clone(), Some(ReopenCause::Rules));
    draft.push(Event::StepReopened { step, part: None, feedback, cause });
    Ok(Judged::Moved(Then::Stay))
}

/// Asks a person about a plan that broke the rules as often as it may, as a file says. Returns
/// whether it does.
pub(super) fn ask_spent(draft: &mut Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let Some(rules) = &step.rules else { return Ok(false) };
    let counted = rules.count.as_ref().and_then(|it| draft.state.vars.get(it)?.as_u64());
    if counted.is_none_or(|it| it <= u64::from(rules.after)) {
        return Ok(false);
    }
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    let note = rules.note.render(&scope).map_err(|error| condition_failed(step, &error))?;
    if !matches!(draft.file(&note)?, FileFact::Present { .. }) {
        return Ok(false);
    }
    ask(draft, step, &note)?;
    Ok(true)
}

fn ask(draft: &mut Draft<'_>, step: &Step, note: &str) -> Result<Judged, Stop> {
    let ask = format!(
        "The parts that `{}` planned still break the project's rules; see `{note}`. Go on with \
             them as they are?",
        step.name
    );
    let options = vec![("approve", Effect::Approve), ("abandon", Effect::Cancel)];
    gate::ask(draft, step, None, GateReason::RevisionsSpent, (ask, options))?;
    Ok(Judged::Moved(Then::Stay))
}

fn parts(draft: &Draft<'_>, step: &Step, file: &str) -> Result<Vec<PartSpec>, Stop> {
    let FileFact::Present { text: Some(text), .. } = draft.file(file)? else {
        return Ok(Vec::new());
    };
    let invalid = |problem| Refusal::PartsInvalid { step: step.name.clone(), problem, back: None };
    Ok(parse_parts(text).map_err(invalid)?)
}

/// Counts a verdict, and returns how many there were before it.
fn count(draft: &mut Draft<'_>, rules: &Rules) -> u32 {
    let Some(name) = &rules.count else { return 0 };
    let counted = draft.state.vars.get(name).and_then(Value::as_u64).unwrap_or_default();
    let set = Map::from_iter([(name.clone(), Value::from(counted.saturating_add(1)))]);
    draft.push(Event::VarsChanged { set });
    u32::try_from(counted).unwrap_or(u32::MAX)
}

/// Says which parts must be planned otherwise, and why.
fn describe(violations: &[Violation]) -> String {
    let mut text = format!(
        "# Review of the tasks\n\n**Verdict:** {REVISE}\n\nThe project has rules on tasks, and \
         these break them. Rewrite each of them with `mode: human_gate`.\n"
    );
    for (at, it) in violations.iter().enumerate() {
        let Violation { part, rule, matched_by, reason } = it;
        let (id, title, number) = (&part.id, &part.title, at + 1);
        text.push_str(&format!(
            "\n## Task {id}: {title}\n\n**{number}. [CRITICAL] Task {id} ({title}) breaks rule {rule}: \
             {reason}**\n\n- rule: {rule}\n- matched_by: {}\n- reason: {reason}\n- required fix: set \
             `mode: human_gate`\n",
            matched_by.join(", ")
        ));
    }
    text
}
