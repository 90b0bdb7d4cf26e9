//! A run begins: its key, flow, context and variables are checked, and its first step is entered.

use alloc::{
    boxed::Box,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Bypass, Choices, Decider, Form, Workflow, take_inputs};
use serde_json::{Map, Value};

use super::{Draft, change_context, check_size, flow, mode::Mode, parts, stretch, then::Then};
use crate::{Event, Refusal, RunId, RunStarted, Standing, StartRun, Stop};

/// The longest key that is taken, in bytes.
const KEY_BYTES_MAX: usize = 200;

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, start: &StartRun) -> Result<(), Stop> {
    if draft.workflow.form == Form::Graph {
        let inputs = take_inputs(draft.workflow, &start.context);
        let inputs = inputs.map_err(|problems| Refusal::ContextInvalid { problems })?;
        let mut start = start.clone();
        start.context.insert(String::from("inputs"), Value::Object(inputs));
        begin(draft, &start)?;
    } else {
        begin(draft, start)?;
    }
    enter_first(draft, mode)
}

/// Begins a run, which is at no step yet.
pub(super) fn begin(draft: &mut Draft<'_>, start: &StartRun) -> Result<(), Stop> {
    if draft.state.standing != Standing::New {
        return Err(Refusal::RunExists(draft.state.run.to_string()).into());
    }
    check_gates(draft)?;
    check_key(draft, start.key.as_deref())?;
    let flow = find_flow(draft, start.flow.as_deref())?;
    change_context::check_context(draft, &start.context)?;
    if let Some(params) = &draft.workflow.params {
        let context = Value::Object(start.context.clone());
        params.check(&context).map_err(|problems| Refusal::ContextInvalid { problems })?;
    }
    let mut vars: Map<String, Value> =
        draft.workflow.vars.iter().map(|(name, var)| (name.clone(), var.default.clone())).collect();
    change_context::check_vars(draft, &start.vars)?;
    vars.extend(start.vars.clone());
    let settled = draft.known.settled_vars(draft.workflow).into_iter();
    let settled: Map<String, Value> = settled.map(|(name, it)| (name.to_string(), it)).collect();
    change_context::check_vars(draft, &settled)?;
    vars.extend(settled);
    draft.push(Event::RunStarted(Box::new(RunStarted {
        workflow: draft.workflow.name.clone(),
        digest: draft.workflow.digest.clone(),
        decider: resolve_decider(draft.workflow, draft.known.has_model),
        key: start.key.clone(),
        flow,
        context: start.context.clone(),
        vars,
        root: start.root.clone(),
        journal: draft.workflow.journal,
        goes_on: start.goes_on && draft.workflow.choices == Choices::Listed,
    })));
    Ok(())
}

/// Refuses a definition by which a run could get behind a gate without an answer.
fn check_gates(draft: &Draft<'_>) -> Result<(), Refusal> {
    match draft.workflow.guards().bypasses().first() {
        Some(Bypass { gate, from, to, .. }) => {
            let (gate, from, to) = (gate.clone(), from.clone(), to.clone());
            Err(Refusal::GateBypassed { gate, from, to })
        }
        None => Ok(()),
    }
}

/// Enters the step that a run begins with.
pub(super) fn enter_first(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    let first = stretch::begin(draft)?;
    // What it does not begin with may have parts for a person.
    parts::restore_personal(draft)?;
    let owed = parts::take_up_owed(draft);
    flow::run(draft, mode, Then::enter(owed.as_ref().unwrap_or(&first.name), None))?;
    parts::ask_owed(draft, mode)
}

/// Returns who decides in a new run: whom the definition names, else a language model if there is
/// one, else the definition's own order.
///
/// Without a model its choices fall to the agent, and so do those that only guidance describes.
pub fn resolve_decider(workflow: &Workflow, has_model: bool) -> Decider {
    match workflow.decider {
        Some(Decider::Ai) if !has_model => Decider::Client,
        Some(decider) => decider,
        None if has_model => Decider::Ai,
        None if workflow.steps.iter().any(|it| workflow.leaves_choice(it)) => Decider::Client,
        None => Decider::Declared,
    }
}

/// Refuses a key that does not fit the workflow, or could lead out of a folder.
pub(super) fn check_key(draft: &Draft<'_>, key: Option<&str>) -> Result<(), Refusal> {
    let pattern = draft.workflow.key.as_ref();
    match (key, pattern) {
        (None, Some(pattern)) => Err(Refusal::KeyMissing {
            workflow: draft.workflow.name.to_string(),
            pattern: pattern.source().to_string(),
        }),
        (Some(key), Some(pattern)) if !pattern.is_full_match(key) => {
            Err(Refusal::KeyInvalid { key: key.to_string(), pattern: pattern.source().to_string() })
        }
        (Some(key), _) => {
            check_size("the key", key.len(), KEY_BYTES_MAX)?;
            // A person who reads the key or types it must not be led to another run by it.
            let is_misleading = key.trim() != key || key.starts_with('-') || RunId::is_like(key);
            let is_unsafe = key.is_empty()
                || key.split(['/', '\\']).any(|it| it == "..")
                || key.chars().any(|it| it.is_control() || is_invisible(it));
            if is_unsafe || is_misleading {
                let pattern = String::from(
                    "a name that does not begin with `run_`, `-` or a space, without `..` and \
                     invisible characters",
                );
                return Err(Refusal::KeyInvalid { key: key.to_string(), pattern });
            }
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// Whether a character is not seen, or changes the direction of what follows.
fn is_invisible(character: char) -> bool {
    let ranges = [
        '\u{ad}'..='\u{ad}',
        '\u{34f}'..='\u{34f}',
        '\u{115f}'..='\u{1160}',
        '\u{17b4}'..='\u{17b5}',
        '\u{180b}'..='\u{180f}',
        '\u{200b}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{2800}'..='\u{2800}',
        '\u{3164}'..='\u{3164}',
        '\u{fe00}'..='\u{fe0f}',
        '\u{feff}'..='\u{feff}',
        '\u{ffa0}'..='\u{ffa0}',
        '\u{fff0}'..='\u{fffb}',
        '\u{e0000}'..='\u{e0fff}',
    ];
    ranges.iter().any(|it| it.contains(&character))
}

fn find_flow(draft: &Draft<'_>, flow: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(flow) = flow.or(draft.workflow.flow.as_deref()) else { return Ok(None) };
    if !draft.workflow.flows.contains_key(flow) {
        let known: Vec<String> = draft.workflow.flows.keys().cloned().collect();
        return Err(Refusal::FlowUnknown { flow: flow.to_string(), known });
    }
    Ok(Some(flow.to_string()))
}
