//! Completes ids and names while they are typed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use dialects::generation;
use runtime::{Card, ExecuteError, KeyFilter, Order, RunFilter, Runtime};
use serde_json::Value;

use crate::{
    prompts::{RESUME, WRITE},
    toolsets::TOOLSETS,
};

/// How many runs are looked through.
const RUNS_MAX: u32 = 100;

/// Where the value goes that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// A variable of a family of resources.
    Resource { template: &'a str, variable: &'a str },
    /// An argument of a prompt.
    Prompt { prompt: &'a str, argument: &'a str },
}

/// Returns the values that begin with what was typed, best first.
pub(crate) async fn complete(
    runtime: &Runtime,
    field: &Field<'_>,
    typed: &str,
    given: &BTreeMap<String, String>,
) -> Result<Vec<String>, ExecuteError> {
    let values = match field {
        Field::Resource { variable: "run", .. }
        | Field::Prompt { prompt: RESUME, argument: "run" } => runs(runtime).await?,
        Field::Resource { variable: "workflow", .. } => workflows(runtime),
        Field::Resource { variable: "step", .. } => steps(runtime, given),
        Field::Resource { variable: "path", .. } => paths(runtime, given).await?,
        Field::Prompt { prompt, argument }
            if generation::prompts::takes_scene(prompt, argument) =>
        {
            scenes(runtime).await?
        }
        Field::Prompt { prompt, argument } => choices(runtime, prompt, argument),
        Field::Resource { .. } => Vec::new(),
    };
    let typed = typed.to_lowercase();
    let mut seen = BTreeSet::new();
    let fits = |it: &String| it.to_lowercase().starts_with(&typed) && seen.insert(it.clone());
    Ok(values.into_iter().filter(fits).collect())
}

/// The newest runs: their keys, and their ids.
async fn runs(runtime: &Runtime) -> Result<Vec<String>, ExecuteError> {
    let page = runtime.list_runs(RunFilter { limit: RUNS_MAX, ..RunFilter::default() }).await?;
    let names = page.rows.into_iter().flat_map(|row| [row.summary.key, Some(row.run.short())]);
    Ok(names.flatten().collect())
}

/// The scenes that have a state, the most recent one first.
async fn scenes(runtime: &Runtime) -> Result<Vec<String>, ExecuteError> {
    let filter = KeyFilter {
        workflow: generation::WORKFLOW.to_owned(),
        statuses: Vec::new(),
        scope: String::new(),
        order: Order::Started,
        offset: 0,
        limit: RUNS_MAX,
    };
    let listing = runtime.list_keyed(filter).await?;
    Ok(listing.rows.into_iter().filter_map(|it| it.summary.key).collect())
}

fn workflows(runtime: &Runtime) -> Vec<String> {
    runtime.list_cards().0.iter().map(|it| it.name.to_string()).collect()
}

fn steps(runtime: &Runtime, given: &BTreeMap<String, String>) -> Vec<String> {
    let card = given.get("workflow").and_then(|it| find_card(runtime, it));
    card.map_or(Vec::new(), |it| it.steps.iter().map(|it| it.0.clone()).collect())
}

async fn paths(
    runtime: &Runtime,
    given: &BTreeMap<String, String>,
) -> Result<Vec<String>, ExecuteError> {
    let Some(run) = given.get("run") else { return Ok(Vec::new()) };
    let run = runtime.find_run(run).await?;
    let view = runtime.view(run, None).await?;
    Ok(view.state.artifacts.keys().cloned().collect())
}

fn find_card(runtime: &Runtime, name: &str) -> Option<Arc<Card>> {
    runtime.list_cards().0.into_iter().find(|it| it.name.as_str() == name)
}

/// The values that a toolset's prompt or the start context allows.
fn choices(runtime: &Runtime, prompt: &str, argument: &str) -> Vec<String> {
    if [RESUME, WRITE].contains(&prompt) {
        return Vec::new();
    }
    let mut own = TOOLSETS.iter().flat_map(|it| it.prompts);
    if let Some(own) = own.find(|it| it.name == prompt) {
        let found = own.arguments.iter().find(|it| it.name == argument);
        let choices = found.map_or(&[][..], |it| it.choices);
        return choices.iter().map(|it| (*it).to_owned()).collect();
    }
    let Some(card) = find_card(runtime, prompt) else { return Vec::new() };
    let allowed =
        card.params.as_ref().and_then(|it| it.pointer(&format!("/properties/{argument}/enum")));
    let allowed = allowed.and_then(Value::as_array);
    let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), ToOwned::to_owned);
    allowed.map_or(Vec::new(), |it| it.iter().map(text).collect())
}
