//! Prompts: each workflow as a command that a person gives, two for what they need besides, and
//! those that a toolset brings.

use dialects::{
    core,
    kit::{self, Given, missing},
};
use engine::Refusal;
use runtime::{Card, ExecuteError, Runtime};
use serde_json::{Map, Value};

use crate::{
    resources::HOWTO,
    toolsets::{Tools, brief},
};

/// The prompt that has an agent go on with a run.
pub(crate) const RESUME: &str = "milepost_resume";
/// The prompt that has an agent write a workflow.
pub(crate) const WRITE: &str = "milepost_write_workflow";
/// The name under which a run's own key is asked for.
const KEY: &str = "key";

/// A prompt in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) arguments: Vec<Argument>,
}

/// What a prompt takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) is_required: bool,
}

/// Why there is no prompt.
#[derive(Debug)]
pub(crate) enum PromptError {
    /// There is none of this name, or an argument is wrong.
    Wrong(String),
    Failed(ExecuteError),
}

impl From<ExecuteError> for PromptError {
    fn from(error: ExecuteError) -> Self {
        match error {
            ExecuteError::Refused(refusal) => {
                // A person gives the prompt, whatever tools the agent has.
                let hint = if let Refusal::RunUnknown(_) = refusal {
                    "`milepost run list` shows the runs".to_owned()
                } else {
                    core::WORDS.hint(&refusal)
                };
                Self::Wrong(format!("{refusal}; {hint}"))
            }
            ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => {
                Self::Failed(error)
            }
        }
    }
}

/// Returns every prompt there is: a workflow is one where the tools that are served can work
/// through it.
pub(crate) fn list(runtime: &Runtime, tools: &Tools) -> Vec<Prompt> {
    let usual = |name: &str, title: &str, description: &str, argument: Argument| Prompt {
        name: name.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
        arguments: vec![argument],
    };
    let run = argument("run", "Id or key of the run", true);
    let goal = argument("goal", "What the workflow is to achieve", false);
    let mut prompts = vec![
        usual(RESUME, "Go on with a run", "Continue an existing run", run),
        usual(WRITE, "Write a workflow", "Have a new workflow written as Markdown", goal),
    ];
    prompts.extend(tools.prompts().iter().map(of_toolset));
    let (cards, _) = runtime.list_cards();
    let is_served =
        |it: &&std::sync::Arc<Card>| tools.find_words(it.name.as_str(), it.form).is_some();
    prompts.extend(cards.iter().filter(is_served).map(|it| of_workflow(it)));
    prompts
}

fn of_toolset(own: &kit::Prompt) -> Prompt {
    let listed = own.arguments.iter().map(|it| argument(it.name, it.description, it.is_required));
    Prompt {
        name: own.name.to_owned(),
        title: own.title.to_owned(),
        description: own.description.to_owned(),
        arguments: listed.collect(),
    }
}

fn of_workflow(card: &Card) -> Prompt {
    let goal = card.headline();
    Prompt {
        name: card.name.to_string(),
        title: card.title().to_owned(),
        description: if goal.is_empty() { "Have it done".to_owned() } else { goal.to_owned() },
        arguments: arguments(card),
    }
}

/// The key, and what the start context must hold.
fn arguments(card: &Card) -> Vec<Argument> {
    let mut arguments = Vec::new();
    if let Some(pattern) = &card.key {
        arguments.push(argument(KEY, &format!("The run's own key, like `{pattern}`"), true));
    }
    let Some(schema) = &card.params else { return arguments };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|it| it.iter().any(|it| it.as_str() == Some(name)));
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let text = property.get("description").and_then(Value::as_str).unwrap_or(name);
        if name != KEY || card.key.is_none() {
            arguments.push(argument(name, text, is_required(name)));
        }
    }
    arguments
}

fn argument(name: &str, description: &str, is_required: bool) -> Argument {
    Argument { name: name.to_owned(), description: description.to_owned(), is_required }
}

/// Returns what a prompt says to the agent.
pub(crate) async fn get(
    runtime: &Runtime,
    tools: &Tools,
    name: &str,
    given: &Given,
) -> Result<String, PromptError> {
    if let Some(own) = tools.prompts().iter().find(|it| it.name == name) {
        return (own.says)(name, given).map_err(PromptError::Wrong);
    }
    match name {
        RESUME => {
            let run = given.get("run").filter(|it| !it.trim().is_empty());
            let run = run.ok_or_else(|| PromptError::Wrong(missing(name, &["run"])))?;
            let run = runtime.find_run(run).await?;
            let (view, brief, _) = brief(runtime, run, None, |it| tools.words(it)).await?;
            let workflow = &view.workflow;
            let words = tools.find_words(workflow.name.as_str(), workflow.form);
            let resume = words.ok_or_else(|| unserved(workflow.name.as_str()))?.resume;
            let resume = resume.replace("{key}", view.state.key().unwrap_or_default());
            Ok(format!(
                "Continue with the run `{}`: {resume}. The brief as it is now:\n\n{}",
                run.short(),
                brief.text
            ))
        }
        WRITE => {
            let goal = given.get("goal").filter(|it| !it.trim().is_empty());
            let wish = goal.map_or(String::new(), |it| format!(" It is to achieve this: {it}"));
            Ok(format!(
                "Write a workflow for Milepost.{wish} Ask for what you do not know, write the \
                 folder, and check it with `milepost workflow check NAME`. This is how:\n\n{HOWTO}"
            ))
        }
        _ => start(runtime, tools, name, given),
    }
}

fn start(
    runtime: &Runtime,
    tools: &Tools,
    name: &str,
    given: &Given,
) -> Result<String, PromptError> {
    let (cards, _) = runtime.list_cards();
    let Some(card) = cards.iter().find(|it| it.name.as_str() == name) else {
        // The refusal says what there is, or what is wrong with it.
        runtime.find_workflow(name).map_err(ExecuteError::from)?;
        return Err(PromptError::Wrong(format!("there is no prompt `{name}`")));
    };
    let wanted = arguments(card);
    let is_given = |name: &str| given.get(name).is_some_and(|it| !it.trim().is_empty());
    let lacks = |it: &&Argument| it.is_required && !is_given(&it.name);
    let lacking: Vec<&str> = wanted.iter().filter(lacks).map(|it| it.name.as_str()).collect();
    if !lacking.is_empty() {
        return Err(PromptError::Wrong(missing(name, &lacking)));
    }
    let mut call = Map::new();
    call.insert("workflow_name".to_owned(), name.into());
    let mut context = Map::new();
    for (argument, value) in given {
        let is_key = argument == KEY && card.key.is_some();
        let target = if is_key { &mut call } else { &mut context };
        target.insert(argument.clone(), typed(card, argument, value));
    }
    if !context.is_empty() {
        call.insert("context".to_owned(), context.into());
    }
    let goal = card.goal.trim();
    let workflow = runtime.find_workflow(name).map_err(ExecuteError::from)?;
    let words = tools.find_words(name, workflow.form).ok_or_else(|| unserved(name))?;
    let begin = words.start.replace("{call}", &Value::Object(call).to_string());
    Ok(format!(
        "Work through the workflow `{name}` with Milepost.\n\nIts goal: {goal}\n\nTo begin, {begin}."
    ))
}

/// Says that the tools that are served do not fit a workflow.
fn unserved(workflow: &str) -> PromptError {
    let problem = "cannot be worked through with the tools that are served here";
    PromptError::Wrong(format!("workflow `{workflow}` {problem}; add `core` to `mcp.toolsets`"))
}

/// Arguments of prompts are texts; the context has the type that it declares.
fn typed(card: &Card, argument: &str, value: &str) -> Value {
    let kind =
        card.params.as_ref().and_then(|it| it.pointer(&format!("/properties/{argument}/type")));
    match kind.and_then(Value::as_str) {
        None | Some("string") => value.into(),
        Some(_) => serde_json::from_str(value).unwrap_or_else(|_| value.into()),
    }
}
