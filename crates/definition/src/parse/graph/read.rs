//! One YAML file of a graph, key by key.

use serde_json::Value;

use super::super::{
    Document, Problems,
    node::{Content, Node},
    reader::{Fields, Reader},
};
use crate::{Criterion, Diagnostic, Input, Label, inputs::find_placeholders, suggest};

pub(in crate::parse) const KEYS: [&str; 5] =
    ["name", "description", "inputs", "workflow", "execution"];
pub(in crate::parse) const STRUCTURE_KEYS: [&str; 3] = ["goal", "root", "tree"];
pub(in crate::parse) const INPUT_KEYS: [&str; 4] = ["type", "description", "required", "default"];
pub(in crate::parse) const VERTEX_KEYS: [&str; 7] = [
    "goal",
    "instructions",
    "acceptance_criteria",
    "next_allowed_nodes",
    "next_allowed_workflows",
    "needs_approval",
    "workflow",
];

/// A graph as one file has it, before what it refers to is put into its place.
pub(super) struct Graph {
    pub(super) name: Option<String>,
    pub(super) name_label: Label,
    pub(super) description: String,
    pub(super) goal: String,
    pub(super) root: String,
    pub(super) inputs: Vec<Input>,
    /// In the order they are written.
    pub(super) vertices: Vec<Vertex>,
    /// The inputs that texts mention, and where.
    pub(super) mentions: Vec<(String, Label)>,
}

/// A node of the tree.
pub(super) struct Vertex {
    pub(super) name: String,
    pub(super) label: Label,
    pub(super) task: Task,
    pub(super) next: Vec<String>,
    pub(super) workflows: Vec<String>,
    pub(super) needs_approval: bool,
}

/// What is to be done at a node.
pub(super) enum Task {
    Own {
        goal: String,
        instructions: String,
        criteria: Vec<Criterion>,
    },
    /// All that another file says, by its path as it is written.
    Other {
        path: String,
        label: Label,
    },
}

impl Graph {
    pub(super) fn find(&self, name: &str) -> Option<&Vertex> {
        self.vertices.iter().find(|it| it.name == name)
    }
}

/// Reads a file's tree. `None` after it was said what is wrong; more may be wrong even if not.
pub(super) fn read(document: &Document, problems: &mut Problems) -> Option<Graph> {
    let mut reader = Reader { document, steps: &[], language: 1, problems };
    let reader = &mut reader;
    let whole = Label::whole(&document.file);
    let Some(top) = &document.front else {
        let message = "there is nothing in this file";
        let help = "a graph has `name`, `description` and `workflow`".to_owned();
        reader.problems.push(Diagnostic::error("yaml_invalid", whole, message).with_help(help));
        return None;
    };
    if !matches!(top.content, Content::Map(_)) {
        reader.refuse_value(top, format!("a graph must be a map, not {}", top.describe()));
        return None;
    }
    let fields = reader.lenient_fields(top, "", &KEYS)?;
    let name = fields.find("name");
    let name_label = name.map_or_else(|| whole.clone(), |it| document.label(it));
    let name = name.filter(|it| !is_blank(it)).and_then(|it| reader.text(it, "name"));
    let description = required_text(reader, fields, "description", &whole);
    let mut graph = Graph {
        name: name.map(|it| it.trim().to_owned()),
        name_label,
        description: description.unwrap_or_default(),
        goal: String::new(),
        root: String::new(),
        inputs: fields.find("inputs").map(|it| read_inputs(reader, it)).unwrap_or_default(),
        vertices: Vec::new(),
        mentions: Vec::new(),
    };
    let Some(structure) = fields.find("workflow") else {
        let message = "Workflow structure is required";
        let help = "write `workflow:` with `goal`, `root` and `tree`".to_owned();
        reader.problems.push(Diagnostic::error("key_missing", whole, message).with_help(help));
        return Some(graph);
    };
    let at = fields.find_key("workflow").map_or(whole, |it| document.label(it));
    read_structure(reader, structure, &at, &mut graph);
    Some(graph)
}

fn is_blank(node: &Node) -> bool {
    matches!(&node.content, Content::Text(it) if it.trim().is_empty())
}

/// Reads a text of the workflow as a whole, which must be there.
fn required_text(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    key: &str,
    at: &Label,
) -> Option<String> {
    if let Some(node) = fields.find(key).filter(|it| !is_blank(it)) {
        return reader.text(node, key).map(|it| it.trim().to_owned());
    }
    let label = fields.find_key(key).map_or_else(|| at.clone(), |it| reader.document.label(it));
    let message = format!("Workflow {key} is required");
    reader.problems.push(Diagnostic::error("key_missing", label, message));
    None
}

fn read_structure(reader: &mut Reader<'_>, node: &Node, at: &Label, graph: &mut Graph) {
    let Some(fields) = reader.lenient_fields(node, "workflow", &STRUCTURE_KEYS) else { return };
    if let Some(goal) = required_text(reader, fields, "goal", at) {
        mention(reader, fields.find("goal"), &goal, graph);
        graph.goal = goal;
    }
    let missing = |message: &str, key: &str, document: &Document| {
        let label = fields.find_key(key).map_or_else(|| at.clone(), |it| document.label(it));
        Diagnostic::error("key_missing", label, message)
    };
    let root = fields.find("root").filter(|it| !is_blank(it));
    if root.is_none() {
        let message = "Workflow must have a root node defined";
        reader.problems.push(missing(message, "root", reader.document));
    }
    let Some(tree) = fields.find("tree") else {
        let message = "Workflow must have tree nodes defined";
        reader.problems.push(missing(message, "tree", reader.document));
        return;
    };
    let Some(pairs) = reader.pairs(tree, "tree") else { return };
    if pairs.is_empty() {
        let message = "Workflow tree cannot be empty";
        reader.problems.push(missing(message, "tree", reader.document));
        return;
    }
    for (key, value) in pairs {
        let vertex = read_vertex(reader, (key, value), pairs, graph);
        graph.vertices.extend(vertex);
    }
    if let Some(node) = root
        && let Some(name) = reader.text(node, "root")
    {
        check_root(reader, node, &name, pairs);
        graph.root = name;
    }
}

fn check_root(reader: &mut Reader<'_>, node: &Node, name: &str, tree: &[(Node, Node)]) {
    if !tree.iter().any(|(it, _)| it.key() == name) {
        let message = format!("Root node '{name}' not found in workflow tree");
        let help = suggest::help(name, tree.iter().map(|(it, _)| it.key()));
        reader.refuse("step_unknown", node, message, help);
    }
}

fn read_vertex(
    reader: &mut Reader<'_>,
    (key, node): (&Node, &Node),
    tree: &[(Node, Node)],
    graph: &mut Graph,
) -> Option<Vertex> {
    let name = key.key().to_owned();
    if node.is_null() {
        let message = format!("Node '{name}' must have a goal");
        reader.refuse("key_missing", key, message, None);
        return None;
    }
    let path = format!("tree.{name}");
    let fields = reader.lenient_fields(node, &path, &VERTEX_KEYS)?;
    let task = read_task(reader, key, fields, graph);
    let next = fields.find("next_allowed_nodes").map(|it| read_next(reader, it, &name, tree));
    let workflows = fields.find("next_allowed_workflows");
    let workflows = workflows.and_then(|it| reader.texts(it, "next_allowed_workflows"));
    let approval = fields.find("needs_approval");
    let approval = approval.and_then(|it| reader.boolean(it, "needs_approval"));
    Some(Vertex {
        name,
        label: reader.document.label(key),
        task: task?,
        next: next.unwrap_or_default(),
        workflows: workflows.unwrap_or_default(),
        needs_approval: approval.unwrap_or_default(),
    })
}

fn read_task(
    reader: &mut Reader<'_>,
    key: &Node,
    fields: Fields<'_>,
    graph: &mut Graph,
) -> Option<Task> {
    let name = key.key();
    let goal = fields.find("goal").filter(|it| !is_blank(it));
    let Some(other) = fields.find("workflow") else {
        let Some(node) = goal else {
            let at = fields.find_key("goal").unwrap_or(key);
            let message = format!("Node '{name}' must have a goal");
            let help = "write `goal`, or `workflow` with the path of another file".to_owned();
            reader.refuse("key_missing", at, message, help);
            return None;
        };
        let goal = reader.text(node, "goal")?.trim().to_owned();
        mention(reader, Some(node), &goal, graph);
        let instructions = fields.find("instructions");
        let text = instructions.filter(|it| !is_blank(it));
        let text = text.and_then(|it| reader.text(it, "instructions")).unwrap_or_default();
        mention(reader, instructions, &text, graph);
        let criteria = fields.find("acceptance_criteria");
        let criteria = criteria.map(|it| read_criteria(reader, it, graph)).unwrap_or_default();
        return Some(Task::Own { goal, instructions: text.trim().to_owned(), criteria });
    };
    for extra in ["goal", "instructions", "acceptance_criteria"] {
        if fields.find(extra).is_some() {
            let at = fields.find_key(extra).unwrap_or(key);
            let message = format!("Node '{name}' has both `workflow` and `{extra}`");
            let help = "the other file says what is to be done; remove one of them".to_owned();
            reader.refuse("value_invalid", at, message, help);
        }
    }
    let path = reader.text(other, "workflow")?.trim().to_owned();
    Some(Task::Other { path, label: reader.document.label(other) })
}

fn read_next(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
    tree: &[(Node, Node)],
) -> Vec<String> {
    let mut next: Vec<String> = Vec::new();
    for item in reader.list(node, "next_allowed_nodes").unwrap_or_default() {
        let Some(target) = reader.text(item, "next_allowed_nodes") else { continue };
        if !tree.iter().any(|(it, _)| it.key() == target) {
            let message = format!("Node '{name}' references non-existent node '{target}'");
            let help = suggest::help(&target, tree.iter().map(|(it, _)| it.key()));
            reader.refuse("step_unknown", item, message, help);
        } else if next.contains(&target) {
            let message = format!("Node '{name}' lists '{target}' twice");
            reader.warn("successor_duplicate", item, message, None);
        } else {
            next.push(target);
        }
    }
    next
}

fn read_criteria(reader: &mut Reader<'_>, node: &Node, graph: &mut Graph) -> Vec<Criterion> {
    let mut criteria = Vec::new();
    for (key, value) in reader.pairs(node, "acceptance_criteria").unwrap_or_default() {
        let name = key.key().to_owned();
        if value.is_null() || is_blank(value) {
            let message = format!("criterion `{name}` says nothing");
            let help = "write what must be shown to be true".to_owned();
            reader.warn("criterion_empty", key, message, help);
            criteria.push(Criterion { key: name, text: String::new() });
        } else if let Some(text) = reader.text(value, &format!("acceptance_criteria.{name}")) {
            mention(reader, Some(value), &text, graph);
            criteria.push(Criterion { key: name, text: text.trim().to_owned() });
        }
    }
    criteria
}

fn mention(reader: &Reader<'_>, node: Option<&Node>, text: &str, graph: &mut Graph) {
    let Some(node) = node else { return };
    let label = || reader.document.label(node);
    graph.mentions.extend(find_placeholders(text).map(|it| (it.to_owned(), label())));
}

fn read_inputs(reader: &mut Reader<'_>, node: &Node) -> Vec<Input> {
    let mut inputs = Vec::new();
    for (key, value) in reader.pairs(node, "inputs").unwrap_or_default() {
        let name = key.key().to_owned();
        let path = format!("inputs.{name}");
        let mut input = Input {
            name,
            kind: "string".to_owned(),
            description: String::new(),
            is_required: true,
            default: None,
        };
        if !value.is_null() {
            let Some(fields) = reader.lenient_fields(value, &path, &INPUT_KEYS) else { continue };
            fill_input(reader, fields, &path, &mut input);
        }
        let is_name = |it: char| it.is_alphanumeric() || it == '_';
        if input.name.is_empty() || !input.name.chars().all(is_name) {
            let message = format!("no placeholder can name input `{}`", input.name);
            let help = "use letters, digits and `_`".to_owned();
            reader.warn("input_unnameable", key, message, help);
        }
        inputs.push(input);
    }
    inputs
}

fn fill_input(reader: &mut Reader<'_>, fields: Fields<'_>, path: &str, input: &mut Input) {
    let kind = fields.read(reader, "type", Reader::text);
    input.kind = kind.unwrap_or_else(|| input.kind.clone());
    let words = fields.find("description").filter(|it| !is_blank(it));
    let words = words.and_then(|it| reader.text(it, &format!("{path}.description")));
    input.description = words.unwrap_or_default();
    let required = fields.find("required");
    let required = required.and_then(|it| reader.boolean(it, &format!("{path}.required")));
    input.is_required = required.unwrap_or(true);
    input.default = fields.find("default").map(Node::to_json);
    if let Some(node) = fields.find("default").filter(|it| !fits(&input.kind, &it.to_json())) {
        let message = format!("`{path}` is of type `{}`, and its default is not", input.kind);
        reader.warn("input_mismatched", node, message, None);
    }
}

/// Whether a value is of a kind. Unknown kinds take anything.
fn fits(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}
