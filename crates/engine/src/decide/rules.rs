//! What a run does by itself: a rule fires as soon as its condition comes true, and at most once
//! for each command. Moves consist of the same deeds, which are done here for both.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Action, Condition, Decider, Deed, Insertion, Rotation, Step, Template};
use serde_json::{Map, Value};

use super::{
    Draft, EvalContext, change_context, check_size, condition_failed, flow, gate, mode::Mode,
    record_entry, scope,
};
use crate::{
    Choice, CompletedBy, Entry, Event, GateReason, Item, PendingRules, Refusal, Report, RunState,
    Standing, Stop, journal,
};

/// Fires the rules whose conditions a command made true, in their order, and brings gates that are
/// open while a condition holds into step.
pub(super) fn settle(draft: &mut Draft<'_>, before: &RunState) -> Result<(), Stop> {
    if draft.events.is_empty() || !draft.state.standing.is_live() {
        return Ok(());
    }
    let mode = Mode::default();
    settle_gates(draft, mode)?;
    // What a file says on its first day is taken as it is; the rules fire with the first call.
    if before.origin.is_none() && draft.state.unasked == PendingRules::Placed {
        return Ok(());
    }
    if draft.workflow.rules.is_empty() {
        return Ok(());
    }
    let is_settled = before.origin.is_some() && before.unasked != PendingRules::Placed;
    let first = scope(draft.workflow, before, EvalContext::default());
    let mut now = scope(draft.workflow, &draft.state, EvalContext::default());
    for rule in &draft.workflow.rules {
        let held = is_settled && rule.when.evaluate(&first).unwrap_or(false);
        let Ok(step) = draft.current() else { return Ok(()) };
        let holds = rule.when.evaluate(&now).map_err(|error| condition_failed(step, &error))?;
        if held || !holds {
            continue;
        }
        draft.push(Event::RuleFired { rule: rule.name.clone() });
        perform(draft, mode, &rule.actions, &Map::new(), false)?;
        now = scope(draft.workflow, &draft.state, EvalContext::default());
    }
    settle_gates(draft, mode)
}

/// Brings the gates that are open while a condition holds into step with the state.
fn settle_gates(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    if let Some(open) = draft.state.standing.open_gate().cloned() {
        let step = draft.workflow.find_step(&open.step);
        let Some((step, during)) = step.zip(step.and_then(during)) else { return Ok(()) };
        if open.why != GateReason::Gate {
            return Ok(());
        }
        let is_here = draft.state.current.as_ref() == Some(&open.step);
        // Work that was reported is asked about however the condition stands.
        let is_reported = draft.state.progress(&step.name).is_settled();
        let holds = is_here && draft.holds(Some(during), step, EvalContext::default())?;
        if (holds || is_reported) && gate::ask_of(draft, step)? == open.ask {
            return Ok(());
        }
        draft.push(Event::GateWithdrawn { step: open.step });
        if is_reported && is_here {
            return gate::ask_done(draft, step);
        }
    }
    if draft.state.standing != Standing::Running {
        return Ok(());
    }
    let Ok(step) = draft.current() else { return Ok(()) };
    let Some(during) = during(step) else { return Ok(()) };
    if !draft.holds(Some(during), step, EvalContext::default())? {
        return Ok(());
    }
    if gate::open(draft, step, &Report::default())? {
        return Ok(());
    }
    gate::settle_work(draft, step, gate::APPROVED)?;
    let then = flow::onward(draft, mode, step, None, None)?;
    flow::run(draft, mode, then)
}

fn during(step: &Step) -> Option<&Condition> {
    step.gate.as_ref()?.during.as_ref()
}

/// Does what a move or a rule consists of. Returns what was overlooked, where that is allowed.
pub(super) fn perform(
    draft: &mut Draft<'_>,
    mode: Mode,
    actions: &[Action],
    args: &Map<String, Value>,
    is_lax: bool,
) -> Result<Vec<String>, Stop> {
    let mut warnings = Vec::new();
    for action in actions {
        let step = draft.current()?;
        let sight = EvalContext::of_args(args);
        if !draft.holds(action.when.as_ref(), step, sight)? {
            continue;
        }
        match &action.deed {
            Deed::Set(set) => change_context::assign(draft, step, set, sight)?,
            Deed::Goto(to) => {
                let to = render(draft, step, to, sight)?;
                let Some(to) = draft.workflow.find_step_loosely(&to) else {
                    return Err(draft.step_unknown(&to).into());
                };
                go(draft, mode, to)?;
            }
            Deed::Note(text) => {
                let text = render(draft, step, text, sight)?;
                record_entry::keep(draft, None, &Entry::Note { text, tags: Vec::new() })?;
            }
            Deed::Error(text) => {
                let (severity, details) = (None, Map::new());
                let message = render(draft, step, text, sight)?;
                record_entry::keep(draft, None, &Entry::Error { message, severity, details })?;
            }
            Deed::AddItem(text) => {
                let text = render(draft, step, text, sight)?;
                add_item(draft, &text)?;
            }
            Deed::CloseItem(texts) => {
                let closed = close_item(draft, step, texts, sight);
                let closed = closed.map(|it| warnings.extend(it));
                overlook(closed, is_lax, &mut warnings)?;
            }
            Deed::FindItem(text) => {
                let text = render(draft, step, text, sight)?;
                overlook(find_item(draft, &text), is_lax, &mut warnings)?;
            }
            Deed::TakeItem(var) => take_item(draft, var)?,
            Deed::Rotate(how, with) => {
                let with = with.as_ref().map(|it| render(draft, step, it, sight)).transpose()?;
                rotate(draft, *how, with.unwrap_or_default());
            }
            Deed::Insert(insertion) => insert(draft, step, insertion, sight)?,
        }
    }
    Ok(warnings)
}

/// Goes to a step by name. What was done before it is done; what is asked is not asked any more.
pub(super) fn go(draft: &mut Draft<'_>, mode: Mode, to: &Step) -> Result<(), Stop> {
    let from = draft.current()?;
    if from.name == to.name && !draft.state.progress(&to.name).is_settled() {
        return Ok(());
    }
    let place = |step: &Step| draft.workflow.steps.iter().position(|it| it.name == step.name);
    if place(from) < place(to) {
        gate::check_dismissible(draft, false)?;
    }
    gate::waive_before(draft, to)?;
    if let Some(open) = draft.state.standing.open_gate() {
        let step = open.step.clone();
        draft.push(Event::GateWithdrawn { step });
    }
    if place(from) < place(to) {
        gate::settle_work(draft, from, (CompletedBy::PassedOver, "the run went on"))?;
    }
    let decision = Choice { by: Decider::Client, reasoning: None };
    draft.push(Event::StepEntered { step: to.name.clone(), decision: Some(decision) });
    draft.hop(&to.name)?;
    change_context::assign(draft, to, &to.enter, EvalContext::default())?;
    let then = flow::arrive(draft, mode, to)?;
    flow::run(draft, mode, then)
}

/// Adds an item, unless there is one of this text.
pub(super) fn add_item(draft: &mut Draft<'_>, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::Empty { what: "the item".into() });
    }
    check_size("the item", text.len(), draft.known.bounds.text_bytes_max)?;
    let items = &draft.state.items;
    if items.iter().any(|it| it.text == text) {
        return Ok(());
    }
    let max = draft.known.bounds.items_max;
    if max <= items.len() {
        return Err(Refusal::ItemsFull { max });
    }
    let id = items.iter().map(|it| it.id).max().unwrap_or_default().saturating_add(1);
    let item = Item { id, text: text.to_string(), is_done: false };
    draft.push(Event::ItemAdded { item });
    Ok(())
}

/// Returns why an item cannot be done: it is not among the open ones.
pub(super) fn item_unknown(draft: &Draft<'_>, item: String) -> Refusal {
    let open = draft.state.items.iter().filter(|it| !it.is_done);
    Refusal::ItemUnknown { item, open: open.map(|it| format!("{}: {}", it.id, it.text)).collect() }
}

/// Makes a refusal a warning, where that is allowed.
fn overlook(
    done: Result<(), Refusal>,
    is_lax: bool,
    warnings: &mut Vec<String>,
) -> Result<(), Refusal> {
    match done {
        Err(refusal) if is_lax => {
            warnings.push(refusal.to_string());
            Ok(())
        }
        done => done,
    }
}

fn find_item(draft: &Draft<'_>, text: &str) -> Result<(), Refusal> {
    if draft.state.items.iter().any(|it| it.text == text) {
        return Ok(());
    }
    Err(item_unknown(draft, format!("`{text}`")))
}

/// The first of these texts that an open item has tells which one is done. That the first of all is
/// done already is only told.
fn close_item(
    draft: &mut Draft<'_>,
    step: &Step,
    texts: &[Template],
    sight: EvalContext<'_>,
) -> Result<Option<String>, Refusal> {
    let mut named = Vec::new();
    for text in texts {
        let text = render(draft, step, text, sight)?;
        let found = draft.state.items.iter().find(|it| !it.is_done && it.text == text);
        if let Some(id) = found.map(|it| it.id) {
            draft.push(Event::ItemClosed { id });
            return Ok(None);
        }
        let is_done = draft.state.items.iter().any(|it| it.is_done && it.text == text);
        if named.is_empty() && is_done {
            return Ok(Some(format!("item `{text}` is done already")));
        }
        named.push(format!("`{text}`"));
    }
    named.dedup();
    Err(item_unknown(draft, named.join(" or ")))
}

/// The first open item becomes the value of a variable; none makes it empty.
fn take_item(draft: &mut Draft<'_>, var: &str) -> Result<(), Refusal> {
    let next = draft.state.items.iter().find(|it| !it.is_done);
    let value = Value::String(next.map(|it| it.text.clone()).unwrap_or_default());
    let set = Map::from_iter([(var.to_string(), value)]);
    change_context::check_vars(draft, &set)?;
    draft.push(Event::VarsChanged { set });
    Ok(())
}

fn rotate(draft: &mut Draft<'_>, how: Rotation, with: String) {
    let text = draft.state.journal.text();
    if text.trim().is_empty() && with.trim().is_empty() {
        return;
    }
    let rotated = journal::rotate(&text, how, draft.known.now);
    let rotated = journal::JournalRotated { with, ..rotated };
    draft.push(Event::JournalRotated(rotated.into()));
}

fn insert(
    draft: &mut Draft<'_>,
    step: &Step,
    insertion: &Insertion,
    sight: EvalContext<'_>,
) -> Result<(), Refusal> {
    let path = render(draft, step, &insertion.path, sight)?;
    let line = render(draft, step, &insertion.line, sight)?;
    check_size("the line", line.len(), draft.known.bounds.text_bytes_max)?;
    draft.push(Event::LineInserted { path, heading: insertion.heading.clone(), line });
    Ok(())
}

fn render(
    draft: &Draft<'_>,
    step: &Step,
    template: &Template,
    sight: EvalContext<'_>,
) -> Result<String, Refusal> {
    let scope = scope(draft.workflow, &draft.state, sight);
    template.render(&scope).map_err(|error| condition_failed(step, &error))
}
