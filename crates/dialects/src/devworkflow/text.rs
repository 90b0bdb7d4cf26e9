//! What the classic tools answer: what to do now, what not to do, and which call comes next.
//!
//! The texts are Markdown files beside this one, with places to fill. Nothing is decided here: a
//! text only says what a call has led to.

mod block;
mod quote;
mod template;

use super::classic::{Next, Told};
use quote::{line, span};

#[cfg(test)]
pub(super) use template::place;
pub(super) use template::{condition, holds};

/// What is said where the plan at hand is not the one that was approved.
pub(super) const VOID: &str = "the plan is not the one that the user approved: show it to them and \
                               ask again before you go on";

/// Returns the text of an answer, with the calls that may come next.
pub(super) fn answer(told: &Told, next: &[Next]) -> String {
    let mut parts = vec![template::render(told)];
    parts.extend(block::calls(next));
    parts.extend(told.run.as_ref().map(|run| block::state(told, run)));
    parts.join("\n\n") + "\n"
}

/// What is said of a call that needs the user's consent to the plan.
const UNAPPROVED: &str = "it needs a recorded plan that the user has approved";

/// Says that a call is out of order where the run is, and which calls lead on.
pub(super) fn illegal((refused, wanted): (&str, &str), told: &Told, legal: &[&str]) -> String {
    let Some(run) = &told.run else { return String::new() };
    let (at, is) = (span(&line(run.file.phase(), 40)), span(&line(run.file.status(), 40)));
    let consents = run.seen.view.workflow.find_move(wanted).is_some_and(|it| it.consent.is_some());
    let why = if told.lacks_approval() {
        format!(": {VOID}")
    } else if consents {
        format!(": {UNAPPROVED}")
    } else {
        String::new()
    };
    let way = block::lines(&told.next());
    let names: Vec<String> = legal.iter().map(|it| format!("`{it}`")).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!(
        "`{refused}` is out of order in phase {at}, status {is}{why}\n\n\
         Nothing was changed.\n\n\
         Way out:\n\n{way}\n\n\
         Legal calls now: {names}"
    )
}
