//! A caller asks for a change that the workflow has a name for; or to add and finish items.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Condition, Move};
use serde_json::{Map, Value};

use super::{
    Draft, EvalContext, answer_gate, check_depth, check_size, gate, mode::Mode, react, rules, scope,
};
use crate::{AnswerGate, Event, MakeMove, PendingRules, Refusal, Stop};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, command: &MakeMove) -> Result<(), Stop> {
    draft.check_live()?;
    let asked = find(draft, &command.name)?;
    check_args(draft, &command.args)?;
    check_needs(asked, &command.args)?;
    let step = draft.current()?;
    let is_open = draft.holds(asked.when.as_ref(), step, EvalContext::of_args(&command.args))?;
    if command.is_approved && !is_open {
        pass_on(draft, mode, asked, &command.args)?;
    }
    let is_lax = draft.is_lax();
    let (made, mut warnings) = resolve(draft, asked, (&command.args, is_lax))?;
    let before = draft.save();
    let at = before.mark;
    draft.push(Event::MoveMade { name: made.name.clone(), warnings: Vec::new() });
    let made_at = draft.mark();
    warnings.extend(rules::perform(draft, mode, &made.actions, &command.args, is_lax)?);
    let is_idle = !draft.has_moved(made_at) && warnings.is_empty();
    if is_idle && before.state.unasked != PendingRules::Placed {
        // A move that changes nothing was not made.
        draft.rewind(before);
        return Ok(());
    }
    // What was overlooked on the way is part of what was decided.
    if let Some(Event::MoveMade { warnings: kept, .. }) = draft.events.get_mut(at.0) {
        *kept = warnings;
    }
    Ok(())
}

pub(super) fn add_item(draft: &mut Draft<'_>, text: &str) -> Result<(), Stop> {
    draft.check_live()?;
    Ok(react::add_item(draft, text)?)
}

pub(super) fn close_item(draft: &mut Draft<'_>, id: u64) -> Result<(), Stop> {
    draft.check_live()?;
    if !draft.state.items.iter().any(|it| it.id == id && !it.is_done) {
        return Err(react::item_unknown(draft, format!("{id}")).into());
    }
    draft.push(Event::ItemClosed { id });
    Ok(())
}

fn find<'a>(draft: &Draft<'a>, name: &str) -> Result<&'a Move, Refusal> {
    draft.workflow.find_move(name).ok_or_else(|| Refusal::MoveUnknown {
        name: name.to_string(),
        known: draft.workflow.moves.iter().map(|it| it.name.clone()).collect(),
    })
}

/// Returns the move that is made: the one that was asked for, or the one in its place.
fn resolve<'a>(
    draft: &Draft<'a>,
    asked: &'a Move,
    (args, is_lax): (&Map<String, Value>, bool),
) -> Result<(&'a Move, Vec<String>), Stop> {
    let step = draft.current()?;
    let sight = EvalContext::of_args(args);
    if draft.holds(asked.when.as_ref(), step, sight)? {
        return Ok((asked, Vec::new()));
    }
    if let Some(otherwise) = &asked.otherwise {
        let made = find(draft, otherwise)?;
        if draft.holds(made.when.as_ref(), step, sight)? {
            return Ok((made, Vec::new()));
        }
    }
    let refusal = Refusal::MoveNotAllowed {
        name: asked.name.clone(),
        step: step.name.to_string(),
        legal: legal(draft, args),
    };
    if !is_lax {
        return Err(refusal.into());
    }
    Ok((asked, [refusal.to_string()].into()))
}

/// Returns the moves that may be made now.
fn legal(draft: &Draft<'_>, args: &Map<String, Value>) -> Vec<String> {
    let scope = scope(draft.workflow, &draft.state, EvalContext::of_args(args));
    // A condition that cannot be evaluated without other arguments does not hold.
    let is_true = |when: &Condition| when.evaluate(&scope).unwrap_or(false);
    let waiting = draft.state.standing.open_gate().map(|it| &it.step);
    let holds = |it: &Move| {
        // A consent that is asked for makes it one that may be made.
        let is_agreeable = it.consent.as_ref().is_some_and(|consent| {
            waiting == Some(&consent.step) || consent.when.as_ref().is_some_and(is_true)
        });
        it.when.as_ref().is_none_or(is_true) || is_agreeable
    };
    // What is made in its place counts as well.
    let is_open = |it: &&Move| {
        let otherwise = it.otherwise.as_ref().and_then(|it| draft.workflow.find_move(it));
        holds(it) || otherwise.is_some_and(holds)
    };
    draft.workflow.moves.iter().filter(is_open).map(|it| it.name.clone()).collect()
}

/// Passes a person's consent on to the gate that the move needs it for.
fn pass_on(
    draft: &mut Draft<'_>,
    mode: Mode,
    asked: &Move,
    args: &Map<String, Value>,
) -> Result<(), Stop> {
    let Some(consent) = &asked.consent else { return Ok(()) };
    let Some(step) = draft.workflow.find_step(&consent.step) else {
        return Err(draft.step_unknown(consent.step.as_str()).into());
    };
    let open = draft.state.standing.open_gate();
    if open.is_none_or(|it| it.step != consent.step) {
        let is_asked = consent.when.is_some()
            && draft.holds(consent.when.as_ref(), step, EvalContext::of_args(args))?;
        if !is_asked {
            return Ok(());
        }
        gate::ask_done(draft, step)?;
    }
    answer_gate::decide(draft, mode, &AnswerGate::relayed())
}

/// Refuses arguments that are too large, each by its own limit.
fn check_args(draft: &Draft<'_>, args: &Map<String, Value>) -> Result<(), Refusal> {
    check_depth("the arguments", args.values())?;
    for (name, value) in args {
        let own = draft.workflow.args.get(name).and_then(|it| usize::try_from(*it).ok());
        let max = own.unwrap_or(draft.known.bounds.text_bytes_max);
        let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
        check_size(&format!("`{name}`"), bytes, max)?;
    }
    Ok(())
}

/// Refuses a move without what it is about.
fn check_needs(asked: &Move, args: &Map<String, Value>) -> Result<(), Refusal> {
    let is_blank = |name: &&String| {
        args.get(*name).is_none_or(|it| it.as_str().is_some_and(|it| it.trim().is_empty()))
    };
    match asked.needs.iter().find(is_blank) {
        Some(name) => Err(Refusal::Empty { what: format!("`{name}`") }),
        None => Ok(()),
    }
}
