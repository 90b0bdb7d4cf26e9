//! `workflow_creation_guidance`: how a workflow is written, with an example that works.

mod example;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    answer::{Failure, check_size},
    workflow_guidance::TASK_BYTES_MAX,
};
use crate::kit::{self, Ask, Caller, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Parameters")]
pub(super) struct WorkflowCreationGuidance {
    /// What the workflow is to be for
    task_description: String,
    /// Such as `coding`, `documentation`, `debugging`; `general` unless it is said
    #[schemars(extend("x-default" = "general"))]
    workflow_type: Option<String>,
    /// `simple`, `medium` or `complex`: how large the example is
    #[schemars(extend("x-default" = "medium"))]
    complexity_level: Option<String>,
    /// Kept for older clients
    #[expect(dead_code, reason = "clients send it, and nothing depends on it")]
    #[schemars(extend("x-default" = "default"))]
    client_id: Option<String>,
}

/// A list of texts that never change.
type Lines = &'static [&'static str];

/// How a workflow is written.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Lesson {
    status: &'static str,
    task_description: String,
    workflow_type: String,
    complexity_level: String,
    guidance: Guidance,
    complete_example: Example,
    creation_instructions: Lines,
    next_action: NextAction,
    components: Components,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Guidance {
    title: &'static str,
    message: &'static str,
    workflow_requirements: Lines,
    yaml_structure_specification: &'static [Field],
    goal_formatting_guidelines: Lines,
    acceptance_criteria_structure: Lines,
}

/// One key of a definition.
#[derive(Debug, Serialize, JsonSchema)]
struct Field {
    key: &'static str,
    meaning: &'static str,
    required: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Example {
    title: &'static str,
    yaml_content: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NextAction {
    message: &'static str,
    command_template: &'static str,
    freedom_note: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Components {
    nodes: Lines,
    limits: Lines,
}

impl kit::Answer for Lesson {}

impl Tool for WorkflowCreationGuidance {
    type Answer = Lesson;
    type Failure = Failure;
    const NAME: &'static str = "workflow_creation_guidance";
    const TITLE: &'static str = "How to write a workflow";
    const DESCRIPTION: &'static str = "How a workflow is written in YAML, with a whole example, for \
                                       a task that no workflow fits.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, _caller: &Caller) -> Result<Ask, Failure> {
        let Self { task_description, workflow_type, complexity_level, .. } = self;
        check_size("`task_description`", &task_description, TASK_BYTES_MAX)?;
        let workflow_type = workflow_type.unwrap_or_else(|| "general".to_owned());
        let complexity_level = complexity_level.unwrap_or_else(|| "medium".to_owned());
        let size = example::Size::parse(&complexity_level);
        let lesson = Lesson {
            status: "workflow_creation_guidance",
            guidance: GUIDANCE,
            complete_example: Example { title: size.title(), yaml_content: size.yaml() },
            creation_instructions: INSTRUCTIONS,
            next_action: NEXT_ACTION,
            components: Components { nodes: NODES, limits: LIMITS },
            task_description,
            workflow_type,
            complexity_level,
        };
        Ok(Self::say(lesson).into())
    }
}

const REQUIREMENTS: Lines = &[
    "A `name`, by which it is started, and a `description`, by which it is chosen.",
    "A `workflow` with a `goal`, a `root` and a `tree` of nodes.",
    "Every node that is named as next exists; every node can be reached from the root.",
    "From every node a way leads to an end: a node without next nodes and next workflows.",
];

const GOALS: Lines = &[
    "Say what is true when the node is done, not how to begin.",
    "Name what must not be done there, where that matters.",
    "Put values in with `${{ inputs.NAME }}`; `task_description` is always there.",
    "Longer advice belongs into `instructions`, which is shown below the goal.",
];

const CRITERIA: Lines = &[
    "A key and a sentence each: the key names the evidence, the sentence says what it must show.",
    "From three to six for a node; each can be checked by someone else.",
    "Ask for what was seen (output, a file, a number), not for a feeling.",
];

const INSTRUCTIONS: Lines = &[
    "Take the example, and change names, goals and criteria to fit the task.",
    "Let each node be one kind of work, and put an approval before work that is dear to undo.",
    "Give a node several next nodes where the way depends on what was found.",
    "Start it with the YAML in `context`, or write it to the folder of workflows for later.",
];

const NODES: Lines = &[
    "analyze: understand before anything is changed",
    "plan: ordered steps, with an approval where they cost much",
    "execute: the work itself, checked after each step",
    "validate: everything checked again, as a whole",
];

const LIMITS: Lines = &["256 KiB of YAML", "500 nodes", "plain data only: no tags"];

const GUIDANCE: Guidance = Guidance {
    title: "Writing a workflow",
    message: "A workflow is a graph in YAML: its nodes say what must be reached, and where to go from \
              there. You go through it node by node, with evidence.",
    workflow_requirements: REQUIREMENTS,
    yaml_structure_specification: &[
        field("name", true, "by which it is started"),
        field("description", true, "what it is for"),
        field("inputs.NAME", false, "`type`, `description`, `required`, `default`"),
        field("workflow.goal", true, "what is reached in the end"),
        field("workflow.root", true, "the node to begin at"),
        field("workflow.tree.NODE.goal", true, "what the node is for"),
        field("workflow.tree.NODE.instructions", false, "advice, shown below the goal"),
        field("workflow.tree.NODE.acceptance_criteria", false, "a key and a sentence each"),
        field("workflow.tree.NODE.next_allowed_nodes", false, "where to go; none: an end"),
        field("workflow.tree.NODE.next_allowed_workflows", false, "workflows to go through first"),
        field("workflow.tree.NODE.needs_approval", false, "whether the user must agree to leave"),
    ],
    goal_formatting_guidelines: GOALS,
    acceptance_criteria_structure: CRITERIA,
};

const fn field(key: &'static str, required: bool, meaning: &'static str) -> Field {
    Field { key, meaning, required }
}

const NEXT_ACTION: NextAction = NextAction {
    message: "Write the YAML, then start it.",
    command_template: "workflow_guidance(action=\"start\", task_description=\"…\", \
                       context=\"workflow: NAME\\nyaml:\\n…\")",
    freedom_note: "Names, goals, criteria and the shape of the graph are yours.",
};
