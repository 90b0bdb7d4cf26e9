//! What can be read without a tool: runs with their history, brief and artifacts, workflows with
//! their steps, the guide for their authors, and the page that shows a run.
//!
//! Runs are read as the core toolset words them, whichever toolsets are served.

mod address;

use definition::Workflow;
use dialects::core;
use engine::{FileFact, Refusal};
use runtime::{Cursor, ExecuteError, RunFilter, Runtime, View};
use serde_json::{Map, Value, json};

pub(crate) use address::{Address, TEMPLATES, Template};

use crate::{
    app,
    tool::snapshot,
    toolsets::{Tools, brief},
};

/// How many runs are listed on one page.
const PAGE: u32 = 50;
/// How many events of a history are read at once: the newest.
const EVENTS_MAX: usize = 200;

/// How a workflow is written, for anyone who writes one.
pub(crate) const HOWTO: &str = include_str!("../../../docs/guide/writing-workflows.md");

/// A resource in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) address: Address,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) changed_at: Option<String>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) mime: &'static str,
    /// What a host must know to show it.
    pub(crate) meta: Option<Value>,
}

/// Why nothing was read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// There is nothing there.
    Missing(String),
    Failed(ExecuteError),
}

impl From<ExecuteError> for ReadError {
    fn from(error: ExecuteError) -> Self {
        let is_missing = matches!(
            &error,
            ExecuteError::Refused(
                Refusal::RunUnknown(_)
                    | Refusal::RunAmbiguous { .. }
                    | Refusal::WorkflowUnknown { .. }
                    | Refusal::WorkflowIncomplete { .. }
                    | Refusal::WorkflowInvalid { .. }
            )
        );
        if is_missing { Self::Missing(error.to_string()) } else { Self::Failed(error) }
    }
}

impl From<Refusal> for ReadError {
    fn from(refusal: Refusal) -> Self {
        ExecuteError::from(refusal).into()
    }
}

/// Returns a page of what there is: first what stays, then the runs, the newest first.
pub(crate) async fn list(
    runtime: &Runtime,
    cursor: Option<&str>,
) -> Result<(Vec<Item>, Option<String>), ExecuteError> {
    let after = cursor.map(Cursor::parse).transpose()?;
    let mut items = if after.is_none() { list_lasting(runtime) } else { Vec::new() };
    let page = runtime.list_runs(RunFilter { after, limit: PAGE, ..RunFilter::default() }).await?;
    for row in page.rows {
        let summary = row.summary;
        let name = summary.key.unwrap_or_else(|| row.run.short());
        items.push(Item {
            address: Address::Run(row.run.short()),
            title: format!("{}: {name}", summary.workflow),
            description: format!(
                "Run of {}, {}, at `{}`",
                summary.workflow, summary.status, summary.step
            ),
            name,
            changed_at: Some(summary.updated_at.to_string()),
        });
    }
    Ok((items, page.next.map(Cursor::encode)))
}

fn list_lasting(runtime: &Runtime) -> Vec<Item> {
    let lasting = |address: Address, name: &str, title: &str, description: &str| Item {
        address,
        name: name.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
        changed_at: None,
    };
    let howto = lasting(
        Address::HowTo,
        "how-to-write-a-workflow",
        "How to write a workflow",
        "The folder, the steps, and everything that front matter can say",
    );
    let page = lasting(Address::App, "run", "A run", app::DESCRIPTION);
    let mut items = vec![howto, page];
    for card in runtime.list_cards().0 {
        let address = Address::Workflow(card.name.to_string());
        items.push(lasting(address, card.name.as_str(), card.title(), card.headline()));
    }
    items
}

/// Reads one.
pub(crate) async fn read(
    runtime: &Runtime,
    tools: &Tools,
    address: &Address,
) -> Result<Content, ReadError> {
    Ok(match address {
        Address::HowTo => markdown(HOWTO.to_owned()),
        Address::App => {
            let (text, mime) = (app::PAGE.to_owned(), app::MIME);
            Content { text, mime, meta: Some(app::meta()) }
        }
        Address::Run(run) => {
            json_text(&core::record(&snapshot(runtime, view(runtime, run).await?)))
        }
        Address::History(run) => {
            let run = runtime.find_run(run).await?;
            let history = runtime.history(run, None, EVENTS_MAX).await?;
            let length = history.view.state.length;
            let events = core::history(&history.events);
            json_text(&json!({ "run": run.short(), "length": length, "events": events }))
        }
        Address::Brief(run) => {
            let run = runtime.find_run(run).await?;
            markdown(brief(runtime, run, None, |it| tools.words(it)).await?.1.text)
        }
        Address::Artifact { run, path } => read_artifact(runtime, run, path).await?,
        Address::Workflow(name) => {
            let workflow = runtime.find_workflow(name)?;
            let steps: Vec<Value> = workflow.steps.iter().map(|it| step(&workflow, it)).collect();
            json_text(&json!({
                "name": workflow.name.as_str(),
                "title": workflow.title,
                "goal": workflow.goal,
                "params": workflow.params.as_ref().map(definition::Schema::source),
                "steps": steps,
                "index": workflow.index,
            }))
        }
        Address::Step { workflow, step } => {
            let workflow = runtime.find_workflow(workflow)?;
            let Some(step) = workflow.find_step_loosely(step) else {
                let known: Vec<&str> = workflow.steps.iter().map(|it| it.name.as_str()).collect();
                let text = format!("no step `{step}`; there are: {}", known.join(", "));
                return Err(ReadError::Missing(text));
            };
            markdown(format!(
                "# {}\n\n## Client Instructions\n\n{}\n\n## Orchestrator Guidance\n\n{}\n",
                step.name,
                workflow.instructions(step, &Map::new()),
                step.guidance
            ))
        }
    })
}

fn step(workflow: &Workflow, step: &definition::Step) -> Value {
    let address =
        Address::Step { workflow: workflow.name.to_string(), step: step.name.to_string() };
    json!({ "name": step.name.as_str(), "goal": step.goal, "uri": address.uri() })
}

async fn view(runtime: &Runtime, run: &str) -> Result<View, ExecuteError> {
    let run = runtime.find_run(run).await?;
    runtime.view(run, None).await
}

async fn read_artifact(runtime: &Runtime, run: &str, path: &str) -> Result<Content, ReadError> {
    let view = view(runtime, run).await?;
    let run = view.state.run.short();
    let missing = |why: &str| ReadError::Missing(format!("artifact `{path}` of `{run}` {why}"));
    match runtime.read_artifact(&view, path).await? {
        None => Err(missing("was left by no step")),
        Some(FileFact::Missing) => Err(missing("is not there any more")),
        Some(FileFact::Unreadable(why)) => Err(missing(&format!("cannot be read: {why}"))),
        Some(FileFact::Present { text: None, .. }) => Err(missing("is too large, or no text")),
        Some(FileFact::Present { text: Some(text), .. }) => {
            let mime = match path.rsplit_once('.').map(|it| it.1) {
                Some("md") => "text/markdown",
                Some("json") => "application/json",
                _ => "text/plain",
            };
            Ok(Content { text, mime, meta: None })
        }
    }
}

fn markdown(text: String) -> Content {
    Content { text, mime: "text/markdown", meta: None }
}

fn json_text(value: &Value) -> Content {
    Content { text: format!("{value:#}"), mime: "application/json", meta: None }
}
