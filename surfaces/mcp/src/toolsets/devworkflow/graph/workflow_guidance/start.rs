//! Opens a session: of a workflow that is found by its name, or of one that is given as YAML.

use std::sync::Arc;

use definition::Workflow;
use engine::{Command, RunId};
use serde_json::{Map, Value};

use super::super::{
    answer::{Answer, Failure},
    change::{self, Beginning, change, note},
    context::{self, Start},
    library::{self, Lookup},
    session::Found,
    view, words,
};
use crate::tool::{Call, Done};

/// How a workflow came in.
const DISCOVERED: &str = "Server-side discovery cache";
const INLINE_NAMED: &str = "YAML fallback (custom workflow)";
const INLINE: &str = "YAML content (custom workflow)";

/// Opens a session as `context` says.
pub(super) async fn start(
    call: &Call<'_>,
    task: &str,
    context: &str,
    options: &str,
) -> Result<Done<Answer>, Failure> {
    let (inputs, mut warnings) = given_inputs(options)?;
    let start = context::read_start(context).map_err(|it| format_error(it.cause()))?;
    let (workflow, file, source) = match start {
        Start::Named(name) => {
            let Lookup { workflow, file } = library::find(call, &name).await?;
            (workflow, file, DISCOVERED)
        }
        Start::Inline { name, yaml } => {
            let source = if name.is_some() { INLINE_NAMED } else { INLINE };
            let (workflow, doubts) = library::read(name.as_deref(), &yaml)?;
            warnings.extend(doubts);
            (workflow, None, source)
        }
    };
    let opened = open(call, workflow, task, (inputs, file, None)).await?;
    warnings.extend(opened.1);
    let found = opened.0;
    let told: String = warnings.iter().map(|it| format!("⚠️ {it}\n\n")).collect();
    let content = format!(
        "{}\n\n{told}{}",
        announce(&found, source),
        view::node(found.session(), call.runtime.find_personal(&found.view))
    );
    Ok(warned(found.say(content), warnings))
}

/// Opens a session of another workflow from a node of this one, on which something else may be
/// done with it.
pub(super) async fn start_child(
    call: &Call<'_>,
    parent: &Found,
    name: &str,
    mut commands: Vec<Command>,
) -> Result<Done<Answer>, Failure> {
    let looked = library::find(call, name).await;
    let Lookup { workflow, file } = looked.map_err(|failure| failure.about(parent.id()))?;
    let task = parent.record.current_item.clone().unwrap_or_default();
    // What both take is passed on; the rest has its own defaults.
    let takes = |key: &String| workflow.inputs.iter().any(|it| it.name == *key);
    let inherited = parent.record.inputs.iter().filter(|(key, _)| takes(key));
    let inputs = inherited.map(|(key, value)| (key.clone(), value.clone())).collect();
    let (child, warnings) = open(call, workflow, &task, (inputs, file, Some(parent.run()))).await?;
    let line = format!("🧭 Started workflow {name} as session {}", child.id());
    commands.push(note(line));
    change(call, parent, Command::All(commands)).await?;
    let content = format!(
        "{}\n**Parent:** session `{}`, node **{}**, which this one returns to when it is \
         completed\n\n{}",
        announce(&child, DISCOVERED),
        parent.id(),
        parent.record.current_node,
        view::node(child.session(), call.runtime.find_personal(&child.view))
    );
    Ok(warned(child.say(content), warnings))
}

/// Adds what there is to mind.
pub(super) fn warned(mut done: Done<Answer>, warnings: Vec<String>) -> Done<Answer> {
    done.warnings.extend(warnings);
    done
}

async fn open(
    call: &Call<'_>,
    workflow: Workflow,
    task: &str,
    (given, file, parent): (Map<String, Value>, Option<String>, Option<RunId>),
) -> Result<(Found, Vec<String>), Failure> {
    let (inputs, warnings) = definition::prepare_inputs(&workflow, task, &given);
    let (workflow, task) = (Arc::new(workflow), task.to_owned());
    let beginning = Beginning { workflow, task, inputs, file, parent };
    Ok((change::begin(call, beginning).await?, warnings))
}

fn announce(found: &Found, source: &str) -> String {
    let task = found.record.current_item.as_deref().unwrap_or_default();
    format!(
        "🚀 **Workflow Started:** {}\n\n**Task:** {}\n**Source:** {source}\n**Session:** `{}`",
        found.record.workflow_name,
        view::quoted(task),
        found.id()
    )
}

/// Reads the inputs that `options` may bring.
fn given_inputs(options: &str) -> Result<(Map<String, Value>, Vec<String>), Failure> {
    let options = options.trim();
    if options.is_empty() {
        return Ok((Map::new(), Vec::new()));
    }
    let read: Option<Map<String, Value>> = serde_json::from_str(options).ok();
    let Some(mut read) = read else {
        // The classic form `project_config_path=…` is plain text.
        let pairs = options.split([',', ' ', '\n']).filter_map(|it| it.split_once('='));
        let inputs: Map<String, Value> =
            pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().into())).collect();
        let is_unclear = inputs.is_empty();
        let doubt = is_unclear.then(|| "`options` is not JSON, and was ignored".to_owned());
        return Ok((inputs, doubt.into_iter().collect()));
    };
    match read.remove(words::INPUTS) {
        Some(Value::Object(inputs)) => Ok((inputs, Vec::new())),
        None => Ok((Map::new(), Vec::new())),
        Some(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        ) => {
            let content = "❌ **Error:** `inputs` in `options` is not an object";
            Err(Failure::new("INVALID_INPUT", content, "write `{\"inputs\": {\"name\": value}}`"))
        }
    }
}

/// Says that a context is none of the accepted forms, and which these are.
fn format_error(cause: &str) -> Failure {
    Failure::new(
        "YAML_FORMAT_ERROR",
        format!("❌ **YAML Format Error:** {cause}\n\n{}", library::FORMS),
        "use one of the forms; `workflow_creation_guidance` has a whole example",
    )
}

/// Says that nobody can start before it is known what there is.
pub(super) fn discovery_required() -> Failure {
    Failure::new(
        "DISCOVERY_REQUIRED",
        "🔍 **Workflow Discovery Required**\n\n`action` `start` needs a `context` that says which \
         workflow:\n1. `workflow_discovery` with the task: it lists the workflows.\n2. Choose the \
         one that fits.\n3. `workflow_guidance` with `action` `start` and `context` `workflow: \
         NAME`.\n\nNone fits? `workflow_creation_guidance` says how to write one.",
        "call `workflow_discovery`, then start with `context` `workflow: NAME`",
    )
}

/// Says so where the file of a session's workflow is not what the session goes by.
pub(super) async fn changed(call: &Call<'_>, found: &Found) -> String {
    if found.record.workflow_file.is_none() {
        return String::new();
    }
    let name = found.record.workflow_name.as_str();
    let now = library::find_current(call, name).await;
    if now.is_none_or(|it| it.digest == found.view.workflow.digest) {
        return String::new();
    }
    format!(
        "**ℹ️ Changed:** the definition of `{name}` has changed since this session began; the \
         session goes on with the one that it began with.\n\n"
    )
}
