//! The nodes of a graph as steps.

use std::collections::BTreeMap;

use super::compose::Placed;
use crate::{
    Action, Deed, Expression, Gate, Step, StepName, Successor, Target, Template, Work,
    inputs::find_placeholders,
};

/// How much of a goal a question quotes, in characters.
const QUOTED_CHARS_MAX: usize = 200;

/// Makes a step of a node, whose name has been checked.
pub(super) fn make(node: &Placed) -> Option<Step> {
    let name = StepName::parse(&node.name).ok()?;
    let is_last = node.next.is_empty();
    let is_terminal = is_last && node.workflows.is_empty();
    let work = if is_terminal && node.criteria.is_empty() { Work::None } else { Work::Agent };
    let gate =
        (node.needs_approval && !is_last).then(|| Gate::plain(question(&name, &node.goal), &name));
    let next = if is_last {
        vec![successor(Target::Finish, Vec::new())]
    } else {
        let targets = node.next.iter().filter_map(|it| StepName::parse(it).ok());
        targets.map(|it| successor(Target::Step(it), running())).collect()
    };
    let text = [node.goal.as_str(), &node.instructions];
    let text: Vec<&str> = text.into_iter().filter(|it| !it.is_empty()).collect();
    Some(Step {
        goal: node.goal.clone(),
        instructions: node.instructions.clone(),
        text: text.join("\n\n"),
        file: node.label.file.clone(),
        work,
        criteria: node.criteria.clone(),
        gate,
        next,
        workflows: node.workflows.clone(),
        ..Step::plain(name)
    })
}

fn successor(to: Target, actions: Vec<Action>) -> Successor {
    Successor { to, when: None, actions, fails: false }
}

/// Anyone who goes on from a node has begun.
fn running() -> Vec<Action> {
    let running = Expression::parse("'RUNNING'");
    let running = running.expect("the expression is fixed, and a test compiles it");
    let set = BTreeMap::from([("status".to_owned(), running)]);
    vec![Action { when: None, deed: Deed::Set(set) }]
}

/// Asks with the first line of the goal, unless it has a hole where an input belongs.
fn question(name: &StepName, goal: &str) -> Template {
    let line = goal.lines().next().unwrap_or_default();
    let quoted: String = line.chars().take(QUOTED_CHARS_MAX).collect();
    let short = format!("Approve leaving `{name}`?");
    let has_hole = find_placeholders(line).next().is_some();
    let long = (!has_hole).then(|| format!("{short} Its goal: {quoted}"));
    let mut parsed = long.iter().chain([&short]).filter_map(|it| Template::parse(it).ok());
    // Braces in a name or a goal must not be taken for an expression.
    let plain = parsed.find(Template::is_plain);
    plain
        .or_else(|| Template::parse("Approve leaving this node?").ok())
        .expect("a text without braces is a template")
}
