//! Opens a session: of a workflow that is found by its name, or of one that is given as YAML.

use engine::{Command, RunId};
use serde_json::{Map, Value};

use super::super::{
    answer::{Answer, Failure, Told, ask, tell},
    change::{Beginning, note},
    context::{self, Start},
    library::{self, Lookup},
    session::Found,
    view, words,
};
use crate::kit::{Ask, Caller, Deed, Done, Look, Outcome, Second, Stopped};

/// How a workflow came in.
const DISCOVERED: &str = "Server-side discovery cache";
const INLINE_NAMED: &str = "YAML fallback (custom workflow)";
const INLINE: &str = "YAML content (custom workflow)";

/// Opens a session as `context` says.
pub(super) fn start(
    caller: &Caller,
    task: String,
    context: &str,
    options: &str,
) -> Result<Ask, Failure> {
    let (inputs, warnings) = given_inputs(options)?;
    let start = context::read_start(context).map_err(|it| format_error(it.cause()))?;
    let by = caller.clone();
    let opening = move |found: Lookup, mut warnings: Vec<String>, source: &'static str| {
        let (beginning, doubts) = beginning(found, task, &inputs, None);
        warnings.extend(doubts);
        let told: String = warnings.iter().map(|it| format!("⚠️ {it}\n\n")).collect();
        let said = move |outcome: Result<Outcome, Stopped>| {
            let found = Found::after(outcome?);
            let content =
                format!("{}\n\n{told}{}", announce(&found, source), view::node(found.session()));
            Ok(warned(found.say(content), warnings))
        };
        begin(move |run| beginning.deed(&by, run), None, said)
    };
    match start {
        Start::Named(name) => Ok(library::find(caller, name, move |found| {
            ask(found.map(|it| opening(it, warnings, DISCOVERED)))
        })),
        Start::Inline { name, yaml } => {
            let source = if name.is_some() { INLINE_NAMED } else { INLINE };
            let (workflow, doubts) = library::read(name.as_deref(), &yaml)?;
            let warnings = warnings.into_iter().chain(doubts).collect();
            Ok(opening(Lookup { workflow, file: None }, warnings, source))
        }
    }
}

/// Opens a session of another workflow from a node of this one, on which something else may be
/// done with it.
pub(super) fn start_child(
    caller: &Caller,
    parent: Found,
    name: String,
    mut commands: Vec<Command>,
) -> Ask {
    let by = caller.clone();
    library::find(caller, name.clone(), move |found| {
        let found = match found {
            Ok(found) => found,
            Err(failure) => return ask(Err(failure.about(parent.id()))),
        };
        let task = parent.record.current_item.clone().unwrap_or_default();
        // What both take is passed on; the rest has its own defaults.
        let takes = |key: &String| found.workflow.inputs.iter().any(|it| it.name == *key);
        let inherited = parent.record.inputs.iter().filter(|(key, _)| takes(key));
        let inputs = inherited.map(|(key, value)| (key.clone(), value.clone())).collect();
        let (beginning, warnings) = beginning(found, task, &inputs, Some(parent.run()));
        let (id, node) = (parent.id().to_owned(), parent.record.current_node.clone());
        let second: Second = Box::new(move |child| {
            let run = child.now.view.state.run;
            commands.push(note(format!("🧭 Started workflow {name} as session {run}")));
            Some(Command::All(commands))
        });
        let second = Some((parent.run(), second));
        begin(
            move |run| beginning.deed(&by, run),
            second,
            move |outcome| {
                let child = Found::after(outcome?);
                let content = format!(
                    "{}\n**Parent:** session `{id}`, node **{node}**, which this one returns to when it \
                 is completed\n\n{}",
                    announce(&child, DISCOVERED),
                    view::node(child.session())
                );
                Ok(warned(child.say(content), warnings))
            },
        )
    })
}

/// Adds what there is to mind.
pub(super) fn warned(mut done: Done<Answer>, warnings: Vec<String>) -> Done<Answer> {
    done.warnings.extend(warnings);
    done
}

/// Returns what a session of a graph begins with, and what is doubtful about it.
fn beginning(
    Lookup { workflow, file }: Lookup,
    task: String,
    given: &Map<String, Value>,
    parent: Option<RunId>,
) -> (Beginning, Vec<String>) {
    let (inputs, warnings) = definition::prepare_inputs(&workflow, &task, given);
    (Beginning { workflow, task, inputs, file, parent }, warnings)
}

/// Asks for a session to begin by an id that is new, and for another one to be told of it.
fn begin(
    deed: impl FnOnce(RunId) -> Deed + Send + 'static,
    second: Option<(RunId, Second)>,
    said: impl FnOnce(Result<Outcome, Stopped>) -> Told + Send + 'static,
) -> Ask {
    let told = Box::new(move |outcome| tell(said(outcome)));
    Look::NewRun(Box::new(move |run| match second {
        Some(second) => Ask::Both(deed(run), second, told),
        None => Ask::Do(deed(run), told),
    }))
    .into()
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

/// Shows the node that a session is at, and says so where the file of its workflow is not what the
/// session goes by.
pub(super) fn show(caller: &Caller, found: Found) -> Ask {
    if found.record.workflow_file.is_none() {
        return tell(Ok(found.say(view::node(found.session())))).into();
    }
    let name = found.record.workflow_name.clone();
    library::find_exact(caller, name, move |_, now| {
        let now = now.ok().flatten();
        let mut text = String::new();
        if now.is_some_and(|it| it.workflow.digest != found.seen.view.workflow.digest) {
            text = format!(
                "**ℹ️ Changed:** the definition of `{}` has changed since this session began; the \
                 session goes on with the one that it began with.\n\n",
                found.record.workflow_name
            );
        }
        text.push_str(&view::node(found.session()));
        tell(Ok(found.say(text))).into()
    })
}
