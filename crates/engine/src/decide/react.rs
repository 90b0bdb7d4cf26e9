//! What a definition has a run do by itself, without leaving its step: the one place that does it.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Action, Deed, Insertion, Rotation, Step, Template};
use serde_json::{Map, Value};

use super::{
    Draft, EvalContext, change_context, check_size, condition_failed, files, record_entry, scope,
};
use crate::{Entry, Event, Item, Refusal, Stop, journal};

/// Does what a definition says, as far as the conditions of it hold.
pub(super) fn react(
    draft: &mut Draft<'_>,
    step: &Step,
    actions: &[Action],
    sight: EvalContext<'_>,
) -> Result<(), Stop> {
    for action in actions {
        if draft.holds(action.when.as_ref(), step, sight)? {
            act(draft, step, &action.deed, (sight, false))?;
        }
    }
    Ok(())
}

/// Does one thing. Returns what was overlooked, where that is allowed.
pub(super) fn act(
    draft: &mut Draft<'_>,
    step: &Step,
    deed: &Deed,
    (sight, is_lax): (EvalContext<'_>, bool),
) -> Result<Vec<String>, Stop> {
    let mut warnings = Vec::new();
    match deed {
        Deed::Set(set) => change_context::assign(draft, step, set, sight)?,
        Deed::Merge(object) => {
            let scope = scope(draft.workflow, &draft.state, sight);
            let merged = object.evaluate(&scope).map_err(|error| condition_failed(step, &error))?;
            if let Value::Object(set) = merged {
                draft.push(Event::ContextChanged { set, removed: Vec::new() });
            }
        }
        // The parser allows it only where `rules.rs` sees to it.
        Deed::Goto(_) => {}
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
        Deed::Rotate(how, with) => {
            let with = with.as_ref().map(|it| render(draft, step, it, sight)).transpose()?;
            rotate(draft, *how, with.unwrap_or_default());
        }
        Deed::Insert(insertion) => insert(draft, step, insertion, sight)?,
        Deed::Remove(paths) => files::drop(draft, step, sight, paths)?,
    }
    Ok(warnings)
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

pub(super) fn render(
    draft: &Draft<'_>,
    step: &Step,
    template: &Template,
    sight: EvalContext<'_>,
) -> Result<String, Refusal> {
    let scope = scope(draft.workflow, &draft.state, sight);
    template.render(&scope).map_err(|error| condition_failed(step, &error))
}
