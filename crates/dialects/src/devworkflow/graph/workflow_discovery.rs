//! `workflow_discovery`: which workflows there are. The agent chooses; nothing is ranked here.

use std::collections::BTreeMap;

use definition::Workflow;
use engine::{Graphs, Listed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{answer::check_size, library, workflow_guidance::TASK_BYTES_MAX};
use crate::kit::{self, Ask, Caller, Failing, Hints, InvalidArguments, Look, Tell, Tool, Unasked};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Parameters")]
pub(super) struct WorkflowDiscovery {
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
    status: &'static str,
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
    status: &'static str,
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
    hint: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Message {
    title: &'static str,
    description: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    instructions: &'static [&'static str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    suggestions: &'static [&'static str],
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
    criteria: &'static [&'static str],
    start_command: &'static str,
    note: &'static str,
    session_tracking: Tracking,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tracking {
    session_id: &'static str,
    choose_command: &'static str,
    state_command: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Fallback {
    option: &'static str,
    command: &'static str,
}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        failed(unasked.stopped.code(), "", "", unasked.stopped.to_string())
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid_arguments: InvalidArguments) -> Self {
        failed("INVALID_INPUT", "", "", invalid_arguments.to_string())
    }
}

impl kit::Answer for Discovery {}

impl kit::Answer for Failure {}

impl Failing for Failure {}

impl Tool for WorkflowDiscovery {
    type Answer = Discovery;
    type Failure = Failure;
    const NAME: &'static str = "workflow_discovery";
    const TITLE: &'static str = "Discover workflows";
    const DESCRIPTION: &'static str = "List the workflows that can be started, and the files that \
                                       cannot be used. Choose the one that fits the task, then \
                                       start it with `workflow_guidance`.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let Self { task_description: task, workflows_dir, .. } = self;
        if check_size("`task_description`", &task, TASK_BYTES_MAX).is_err() {
            let problem = format!("`task_description` has more than {TASK_BYTES_MAX} bytes");
            return Err(failed("TOO_LARGE", "", "", problem));
        }
        let usual = library::usual_folder(caller);
        let named = workflows_dir.filter(|it| !it.trim().is_empty());
        let shown = named.unwrap_or_else(|| usual.clone());
        let folder = library::inside(caller, &shown)
            .map_err(|problem| failed("PATH_OUTSIDE", &task, &shown, problem))?;
        let is_usual = folder == usual;
        let found = move |found: Result<Option<Graphs>, String>| match found {
            Err(problem) => Self::fail(failed("UNREADABLE", &task, &shown, problem)),
            Ok(found) if !is_usual => {
                Self::say(discovery(task, shown, found.unwrap_or_default(), Vec::new()))
            }
            Ok(found) => Tell::Look(Look::Shipped(Box::new(move |shipped| {
                Self::say(discovery(task, shown, found.unwrap_or_default(), shipped))
            }))),
        };
        Ok(Look::Folder(folder, Box::new(|it| found(it).into())).into())
    }
}

fn discovery(
    task_description: String,
    workflows_dir: String,
    found: Graphs,
    shipped: Vec<Listed>,
) -> Discovery {
    let card = |workflow: &Workflow| (workflow.name.to_string(), Card::of(workflow));
    let mut available: BTreeMap<String, Card> =
        found.graphs.iter().map(|(_, it)| card(it)).collect();
    let mut shipped: BTreeMap<String, Card> =
        library::graphs(shipped).map(|it| card(&it.workflow)).collect();
    shipped.retain(|name, _| !available.contains_key(name));
    // A project without workflows of its own has those that come with the server.
    if available.is_empty() {
        available = std::mem::take(&mut shipped);
    }
    let invalid: Vec<Invalid> =
        found.invalid.into_iter().map(|(file, error)| Invalid { file, error }).collect();
    let is_none = available.is_empty();
    Discovery {
        status: if is_none { "no_workflows_found" } else { "workflows_discovered" },
        message: if is_none { none_found(&workflows_dir) } else { discovered(available.len()) },
        task_description,
        workflows_dir,
        total_workflows: available.len(),
        available_workflows: (!is_none).then_some(available),
        shipped_workflows: shipped,
        invalid,
        selection_guidance: (!is_none).then_some(GUIDANCE),
        fallback: FALLBACK,
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
        title: "Workflows found",
        description: format!("{count} {noun} can be started; the choice is yours."),
        instructions: &[
            "Read the descriptions and goals under `available_workflows`.",
            "Choose the workflow that fits the task best.",
            "Start it as `selection_guidance.start_command` says.",
            "Keep the `session_id` of the answer, and pass it with every call.",
        ],
        suggestions: &[],
    }
}

fn none_found(folder: &str) -> Message {
    Message {
        title: "No workflows found",
        description: format!("There is no workflow that can be used in `{folder}`."),
        instructions: &[],
        suggestions: &[
            "Leave `workflows_dir` out: the usual folder and those that come with the server are \
             listed then.",
            "Look at `invalid`, which names files that could not be read.",
            "Write one: `workflow_creation_guidance` says how.",
        ],
    }
}

const GUIDANCE: Guidance = Guidance {
    criteria: &[
        "Does the goal of the workflow cover what the user wants done?",
        "Do its nodes name the work that has to be done, in a sensible order?",
        "Is it as large as the task: neither a ceremony nor a shortcut?",
    ],
    start_command: "workflow_guidance(action=\"start\", task_description=\"…\", \
                    context=\"workflow: NAME\")",
    note: "A start opens a new session, whatever else is active.",
    session_tracking: Tracking {
        session_id: "The answer to the start has it; pass it with every call.",
        choose_command: "workflow_guidance(session_id=\"…\", context={\"choose\": \"NODE\", \
                         \"criteria_evidence\": {…}})",
        state_command: "workflow_state(operation=\"get\", session_id=\"…\")",
    },
};

const FALLBACK: Fallback = Fallback {
    option: "None fits: write a workflow for this task.",
    command: "workflow_creation_guidance(task_description=\"…\")",
};

fn failed(code: &str, task: &str, folder: &str, error: String) -> Failure {
    Failure {
        status: "discovery_error",
        task_description: task.to_owned(),
        workflows_dir: folder.to_owned(),
        error_code: code.to_owned(),
        fallback: FALLBACK,
        refusal: Refused {
            code: code.to_ascii_lowercase(),
            message: error.clone(),
            hint: "name a folder inside the project, or leave `workflows_dir` out",
        },
        error,
    }
}
