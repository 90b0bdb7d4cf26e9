//! `workflow_discovery`: which workflows there are. The agent chooses; nothing is ranked here.

use std::collections::BTreeMap;

use definition::Workflow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    answer::check_size,
    library::{self, Folder},
    session,
    workflow_guidance::TASK_BYTES_MAX,
};
use crate::tool::{Call, Done, Hints, InvalidArguments, Tool, Unasked};

pub(super) struct WorkflowDiscovery;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What the user wants done
    task_description: String,
    /// A folder of workflows in the project, where it is not the usual one
    workflows_dir: Option<String>,
    /// Kept for older clients
    #[expect(dead_code, reason = "clients send it, and nothing depends on it")]
    #[schemars(extend("x-default" = "default"))]
    client_id: Option<String>,
}

/// What there is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Discovery {
    status: String,
    task_description: String,
    workflows_dir: String,
    total_workflows: usize,
    message: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    available_workflows: Option<BTreeMap<String, Card>>,
    /// Workflows that come with the server, to be started by their names as well.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    shipped_workflows: BTreeMap<String, Card>,
    /// Files that cannot be used.
    invalid: Vec<Invalid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection_guidance: Option<Guidance>,
    fallback: Fallback,
}

/// Why nothing can be said.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Failure {
    status: String,
    task_description: String,
    workflows_dir: String,
    error: String,
    error_code: String,
    fallback: Fallback,
    refusal: Refused,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Refused {
    code: String,
    message: String,
    hint: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Message {
    title: String,
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instructions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<String>,
}

/// A workflow in a list.
#[derive(Debug, Serialize, JsonSchema)]
struct Card {
    name: String,
    description: String,
    goal: String,
    root_node: String,
    total_nodes: usize,
    node_names: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Invalid {
    file: String,
    error: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Guidance {
    criteria: Vec<String>,
    start_command: String,
    note: String,
    session_tracking: Tracking,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tracking {
    session_id: String,
    choose_command: String,
    state_command: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Fallback {
    option: String,
    command: String,
}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        failed(unasked.error.code(), "", "", unasked.error.to_string())
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid_arguments: InvalidArguments) -> Self {
        let problems: Vec<String> = invalid_arguments
            .problems
            .iter()
            .map(|it| format!("`{}` {}", it.path, it.text))
            .collect();
        failed("INVALID_INPUT", "", "", problems.join("; "))
    }
}

impl Tool for WorkflowDiscovery {
    type Parameters = Parameters;
    type Answer = Discovery;
    type Failure = Failure;
    const NAME: &'static str = "workflow_discovery";
    const TITLE: &'static str = "Discover workflows";
    const DESCRIPTION: &'static str = "List the workflows that can be started, and the files that \
                                       cannot be used. Choose the one that fits the task, then \
                                       start it with `workflow_guidance`.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Discovery>, Failure> {
        let Parameters { task_description: task, workflows_dir, .. } = parameters;
        if check_size("`task_description`", &task, TASK_BYTES_MAX).is_err() {
            let problem = format!("`task_description` has more than {TASK_BYTES_MAX} bytes");
            return Err(failed("TOO_LARGE", "", "", problem));
        }
        let usual = library::usual_folder(call);
        let named = workflows_dir.filter(|it| !it.trim().is_empty());
        let shown = named.clone().unwrap_or_else(|| usual.clone());
        let folder = library::inside(call, &shown)
            .map_err(|problem| failed("PATH_OUTSIDE", &task, &shown, problem))?;
        let found = library::scan(call, &folder).await;
        let found = found.map_err(|problem| failed("UNREADABLE", &task, &shown, problem))?;
        session::options(call).memory.keep_folder(folder.clone());
        let is_usual = folder == usual;
        Ok(discovery(call, task, shown, (found.unwrap_or_default(), is_usual)).into())
    }
}

fn discovery(
    call: &Call<'_>,
    task_description: String,
    workflows_dir: String,
    (found, is_usual): (Folder, bool),
) -> Discovery {
    let card = |(_, workflow): &(String, Workflow)| (workflow.name.to_string(), Card::of(workflow));
    let own: Vec<&str> = found.graphs.iter().map(|(_, it)| it.name.as_str()).collect();
    let shipped = if is_usual { library::shipped(call, &own) } else { Vec::new() };
    let mut available: BTreeMap<String, Card> = found.graphs.iter().map(card).collect();
    let mut shipped: BTreeMap<String, Card> = shipped.iter().map(card).collect();
    // A project without workflows of its own has those that come with the server.
    if available.is_empty() {
        available = std::mem::take(&mut shipped);
    }
    let invalid: Vec<Invalid> =
        found.invalid.into_iter().map(|(file, error)| Invalid { file, error }).collect();
    let is_none = available.is_empty();
    Discovery {
        status: if is_none { "no_workflows_found" } else { "workflows_discovered" }.to_owned(),
        message: if is_none { none_found(&workflows_dir) } else { discovered(available.len()) },
        task_description,
        workflows_dir,
        total_workflows: available.len(),
        available_workflows: (!is_none).then_some(available),
        shipped_workflows: shipped,
        invalid,
        selection_guidance: (!is_none).then(guidance),
        fallback: fallback(),
    }
}

impl Card {
    fn of(workflow: &Workflow) -> Self {
        let description = workflow.index.split("\n\n# Goal").next().unwrap_or_default();
        let nodes: Vec<String> = workflow.work_steps().map(|it| it.name.to_string()).collect();
        Self {
            name: workflow.name.to_string(),
            description: description.trim().to_owned(),
            goal: workflow.goal.trim().to_owned(),
            root_node: workflow.first_step().map(|it| it.name.to_string()).unwrap_or_default(),
            total_nodes: nodes.len(),
            node_names: nodes,
        }
    }
}

fn discovered(count: usize) -> Message {
    let noun = if count == 1 { "workflow" } else { "workflows" };
    Message {
        title: "Workflows found".to_owned(),
        description: format!("{count} {noun} can be started; the choice is yours."),
        instructions: vec![
            "Read the descriptions and goals under `available_workflows`.".to_owned(),
            "Choose the workflow that fits the task best.".to_owned(),
            "Start it as `selection_guidance.start_command` says.".to_owned(),
            "Keep the `session_id` of the answer, and pass it with every call.".to_owned(),
        ],
        suggestions: Vec::new(),
    }
}

fn none_found(folder: &str) -> Message {
    Message {
        title: "No workflows found".to_owned(),
        description: format!("There is no workflow that can be used in `{folder}`."),
        instructions: Vec::new(),
        suggestions: vec![
            "Leave `workflows_dir` out: the usual folder and those that come with the server are \
             listed then."
                .to_owned(),
            "Look at `invalid`, which names files that could not be read.".to_owned(),
            "Write one: `workflow_creation_guidance` says how.".to_owned(),
        ],
    }
}

fn guidance() -> Guidance {
    Guidance {
        criteria: vec![
            "Does the goal of the workflow cover what the user wants done?".to_owned(),
            "Do its nodes name the work that has to be done, in a sensible order?".to_owned(),
            "Is it as large as the task: neither a ceremony nor a shortcut?".to_owned(),
        ],
        start_command: "workflow_guidance(action=\"start\", task_description=\"…\", \
                        context=\"workflow: NAME\")"
            .to_owned(),
        note: "A start opens a new session, whatever else is active.".to_owned(),
        session_tracking: Tracking {
            session_id: "The answer to the start has it; pass it with every call.".to_owned(),
            choose_command: "workflow_guidance(session_id=\"…\", context={\"choose\": \"NODE\", \
                             \"criteria_evidence\": {…}})"
                .to_owned(),
            state_command: "workflow_state(operation=\"get\", session_id=\"…\")".to_owned(),
        },
    }
}

fn fallback() -> Fallback {
    Fallback {
        option: "None fits: write a workflow for this task.".to_owned(),
        command: "workflow_creation_guidance(task_description=\"…\")".to_owned(),
    }
}

fn failed(code: &str, task: &str, folder: &str, error: String) -> Failure {
    Failure {
        status: "discovery_error".to_owned(),
        task_description: task.to_owned(),
        workflows_dir: folder.to_owned(),
        error_code: code.to_owned(),
        fallback: fallback(),
        refusal: Refused {
            code: code.to_ascii_lowercase(),
            message: error.clone(),
            hint: "name a folder inside the project, or leave `workflows_dir` out".to_owned(),
        },
        error,
    }
}
