//! Begins a pipeline that was confirmed: its folder, its files, its run.

use engine::{Command, Refusal, StartRun, find_needed};
use runtime::{ExecuteError, LINT_IGNORE, Request, Target, View};
use serde_json::Map;

use super::{
    super::{STATE_FILE, WORKFLOW, answer::Failure, workspace},
    confirm::Confirmed,
    extent::BUDGET_DOLLARS,
    lint_ignore::{self, LINE, SPECS_NAME},
    request::REQUEST_FILE,
};
use crate::tool::Call;

/// Begins the pipeline, unless its workspace has one. Returns what a person should know of.
pub(super) async fn begin(call: &Call<'_>, confirmed: &Confirmed) -> Result<Vec<String>, Failure> {
    // A folder that is not in the project is refused before anything is written there.
    workspace::find_key(call, &confirmed.shown)?;
    let workspace = &confirmed.workspace;
    // Where this very call began it before, it is taken up there.
    if !call.runtime.is_repeating() && workspace.has(call, STATE_FILE).await {
        return Err(taken(confirmed));
    }
    // The request goes first: a run without one could not be worked on.
    let was_there = workspace.has(call, REQUEST_FILE).await;
    let written = workspace.write_privately(call, REQUEST_FILE, confirmed.request.text()).await;
    written.map_err(|problem| {
        let message =
            format!("`{}/{REQUEST_FILE}` could not be written: {problem}", confirmed.shown);
        Failure::new("storage", message, "fix that, then call again")
    })?;
    let left = spare_specs(call, confirmed).await;
    let needed = match start(call, confirmed).await {
        Ok(needed) => needed,
        Err(failure) => {
            if !was_there && !workspace.has(call, STATE_FILE).await {
                // What was not begun has no request. If it stays, it is only in the way.
                workspace.take(call, REQUEST_FILE).await.ok();
            }
            return Err(failure);
        }
    };
    let mut missing = Vec::new();
    for file in needed {
        if !confirmed.workspace.has(call, &file).await {
            missing.push(file);
        }
    }
    let missing = (!missing.is_empty())
        .then(|| format!("the first phase works from what is not there: {}", missing.join(", ")));
    Ok(missing.into_iter().chain(left).collect())
}

/// Starts the run, and returns what its first phase works from. Where someone was faster, the
/// workspace is theirs.
async fn start(call: &Call<'_>, confirmed: &Confirmed) -> Result<Vec<String>, Failure> {
    let (_, key) = workspace::find_key(call, &confirmed.shown)?;
    let mut vars = confirmed.vars.clone();
    vars.insert("spec_name".to_owned(), confirmed.spec_name.as_str().into());
    vars.insert("workspace".to_owned(), confirmed.workspace.as_str().into());
    vars.insert("flow_template".to_owned(), confirmed.effort.flow().into());
    vars.insert("skipped_phases".to_owned(), confirmed.skipped.clone().into());
    if vars.contains_key(BUDGET_DOLLARS) {
        vars.insert("token_prices".to_owned(), call.options.forge.prices.by_token().into());
    }
    let start = StartRun {
        key: Some(key),
        flow: None,
        context: Map::new(),
        vars,
        root: call.runtime.settings().root.clone(),
    };
    let request = Request {
        target: Target::New(WORKFLOW.to_owned()),
        command: Command::StartRun(Box::new(start)),
        actor: call.actor.clone(),
        request_id: None,
    };
    match call.runtime.execute(request).await {
        Ok(outcome) => Ok(needed(&outcome.view)),
        Err(ExecuteError::Refused(Refusal::KeyTaken { .. })) => Err(taken(confirmed)),
        Err(ExecuteError::Refused(refusal @ Refusal::NeedMissing { .. })) => {
            let hint = "put it there, or begin with an earlier phase, then call again";
            let message =
                format!("the pipeline could not begin in `{}`: {refusal}", confirmed.shown);
            Err(Failure::new(refusal.code(), message, hint))
        }
        Err(error) => Err(workspace::failure("the pipeline could not begin", &error)),
    }
}

fn needed(view: &View) -> Vec<String> {
    let (workflow, state) = (&view.workflow, &*view.state);
    let step = state.current.as_ref().and_then(|it| workflow.find_step(it));
    step.map(|it| find_needed(workflow, state, it, None)).unwrap_or_default()
}

fn taken(confirmed: &Confirmed) -> Failure {
    let message = format!("workspace `{}` is already initialised", confirmed.shown);
    let hint = "go on with `pipeline_next_action`, or confirm with another `workspace_slug`";
    Failure::new("already_initialised", message, hint)
}

/// Has the project's Markdown checked without the specs. No pipeline fails for that. Returns what is
/// left to a person: a file that git tracks is theirs, and a change of it would be in their way.
async fn spare_specs(call: &Call<'_>, confirmed: &Confirmed) -> Option<String> {
    let specs = confirmed.workspace.parent();
    if specs.name() != SPECS_NAME {
        return None;
    }
    let repository = specs.parent();
    let text = repository.read(call, LINT_IGNORE).await.ok().flatten();
    lint_ignore::amended(text.as_deref())?;
    let kept = repository.kept(call).await.unwrap_or_default();
    if kept.files.iter().any(|it| it == LINT_IGNORE) {
        return Some(format!(
            "git tracks `{LINT_IGNORE}`, so it was not changed: to keep linters from the specs, add \
             the line `{LINE}` to it"
        ));
    }
    if let Err(problem) = repository.change(call, LINT_IGNORE, lint_ignore::amended).await {
        tracing::warn!("`{LINT_IGNORE}` could not be changed: {problem}");
    }
    None
}
