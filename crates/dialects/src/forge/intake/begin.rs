//! Begins a pipeline that was confirmed: its folder, its files, its run.

use engine::{Kept, LINT_IGNORE, Refusal, StartRun, View, find_needed};
use serde_json::Map;

use super::{
    super::{
        STATE_FILE, WORKFLOW,
        answer::{Answer, Failure},
        place,
    },
    confirm::Confirmed,
    extent::BUDGET_DOLLARS,
    lint_ignore::{self, LINE, SPECS_NAME},
    request::REQUEST_FILE,
};
use crate::kit::{
    Ask, Begin, Caller, Deed, NotBegun, Outcome, Seeing, Sent, Stopped, Tell, Text, Tool, Write,
};

/// Begins the pipeline, unless its workspace has one, and says what a person should know of.
pub(super) fn begin<T: Tool<Answer = Answer, Failure = Failure>>(
    caller: &Caller,
    confirmed: Confirmed,
    say: fn(&Confirmed, &[String]) -> Answer,
) -> Result<Ask, Failure> {
    let start = start(caller, &confirmed)?;
    let is_repeating = caller.sent == Sent::Again;
    Ok(confirmed.workspace.stat(STATE_FILE).then(move |stat| {
        // Where this very call began it before, it is taken up there.
        if stat.is_some() && !is_repeating {
            return T::fail(taken(&confirmed)).into();
        }
        spare_specs(&confirmed).then(move |(spare, left)| {
            let begin = Begin {
                deed: Deed::Start { workflow: WORKFLOW.to_owned(), start: Box::new(start) },
                file: Write {
                    folder: confirmed.workspace.clone(),
                    path: REQUEST_FILE.to_owned(),
                    text: Text::Whole(confirmed.request.text()),
                    is_private: true,
                },
                besides: spare,
            };
            let then = move |begun: Result<Outcome, NotBegun>| -> Tell {
                let view = match begun {
                    Ok(outcome) => outcome.now.view,
                    Err(problem) => return T::fail(failure(&confirmed, problem)),
                };
                find_missing(&confirmed, &view).then(move |missing| {
                    let warnings: Vec<String> = missing.into_iter().chain(left).collect();
                    T::say(say(&confirmed, &warnings))
                })
            };
            Ask::Begin(Box::new(begin), Box::new(then))
        })
    }))
}

fn start(caller: &Caller, confirmed: &Confirmed) -> Result<StartRun, Failure> {
    // A folder that is not in the project is refused before anything is written there.
    let (_, key) = place::find_key(caller, &confirmed.shown)?;
    let mut vars = confirmed.vars.clone();
    vars.insert("spec_name".to_owned(), confirmed.spec_name.as_str().into());
    vars.insert("workspace".to_owned(), confirmed.workspace.as_str().into());
    vars.insert("flow_template".to_owned(), confirmed.effort.flow().into());
    vars.insert("skipped_phases".to_owned(), confirmed.skipped.clone().into());
    if vars.contains_key(BUDGET_DOLLARS) {
        vars.insert("token_prices".to_owned(), caller.options.forge.prices.by_token().into());
    }
    let root = caller.root.clone();
    Ok(StartRun { goes_on: false, key: Some(key), flow: None, context: Map::new(), vars, root })
}

/// Words why it did not begin. Where someone was faster, the workspace is theirs.
fn failure(confirmed: &Confirmed, problem: NotBegun) -> Failure {
    match problem {
        NotBegun::Unwritten(problem) => {
            let message =
                format!("`{}/{REQUEST_FILE}` could not be written: {problem}", confirmed.shown);
            Failure::new("storage", message, "fix that, then call again")
        }
        NotBegun::Stopped(Stopped::Refused(Refusal::KeyTaken { .. })) => taken(confirmed),
        NotBegun::Stopped(Stopped::Refused(refusal @ Refusal::NeedMissing { .. })) => {
            let hint = "put it there, or begin with an earlier phase, then call again";
            let message =
                format!("the pipeline could not begin in `{}`: {refusal}", confirmed.shown);
            Failure::new(refusal.code(), message, hint)
        }
        NotBegun::Stopped(stopped) => Failure::of("the pipeline could not begin", &stopped),
    }
}

/// Looks for what the first phase works from, and says what is not there.
fn find_missing(confirmed: &Confirmed, view: &View) -> Seeing<Option<String>> {
    let (workflow, state) = (&view.workflow, &*view.state);
    let step = state.current.as_ref().and_then(|it| workflow.find_step(it));
    let needed = step.map(|it| find_needed(workflow, state, it, None)).unwrap_or_default();
    confirmed.workspace.stats(needed.clone()).map(move |stats| {
        let missing = needed.iter().zip(stats).filter(|it| it.1.is_none());
        let missing: Vec<&str> = missing.map(|it| it.0.as_str()).collect();
        (!missing.is_empty()).then(|| {
            format!("the first phase works from what is not there: {}", missing.join(", "))
        })
    })
}

fn taken(confirmed: &Confirmed) -> Failure {
    let message = format!("workspace `{}` is already initialised", confirmed.shown);
    let hint = "go on with `pipeline_next_action`, or confirm with another `workspace_slug`";
    Failure::new("already_initialised", message, hint)
}

/// Has the project's Markdown checked without the specs. No pipeline fails for that. Returns what is
/// written, or what is left to a person: a file that git tracks is theirs, and a change of it would
/// be in their way.
fn spare_specs(confirmed: &Confirmed) -> Seeing<(Option<Write>, Option<String>)> {
    let specs = confirmed.workspace.parent();
    if specs.name() != SPECS_NAME {
        return Seeing::Seen((None, None));
    }
    let folder = specs.parent();
    folder.text(LINT_IGNORE).then(move |text| {
        if lint_ignore::amended(text.ok().flatten().as_deref()).is_none() {
            return Seeing::Seen((None, None));
        }
        folder.repository().map(move |kept: Kept| {
            if kept.files.iter().any(|it| it == LINT_IGNORE) {
                let left = format!(
                    "git tracks `{LINT_IGNORE}`, so it was not changed: to keep linters from the \
                     specs, add the line `{LINE}` to it"
                );
                return (None, Some(left));
            }
            let (path, text) =
                (LINT_IGNORE.to_owned(), Text::Amended(Box::new(lint_ignore::amended)));
            (Some(Write { folder, path, text, is_private: false }), None)
        })
    })
}
