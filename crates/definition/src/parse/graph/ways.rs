//! The ways through a graph: every node is reached, and from every node the end is.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::Problems, compose::Placed};
use crate::{Diagnostic, FAILED, FINISH, StepName, reach::reach};

/// Refuses names that cannot be used, nodes that are never reached and rounds without a way out.
pub(super) fn check(placed: &[Placed], problems: &mut Problems) {
    let mut seen: BTreeMap<&str, &Placed> = BTreeMap::new();
    for node in placed {
        check_name(node, seen.insert(&node.name, node), problems);
    }
    if problems.has_errors() {
        return;
    }
    let Some(root) = placed.first() else { return };
    let next = |name| seen.get(name).into_iter().flat_map(|it| &it.next).map(String::as_str);
    let reached = reach([root.name.as_str()], next);
    for node in placed.iter().filter(|it| !reached.contains(it.name.as_str())) {
        let message = format!(
            "Node '{}' cannot be reached from '{}', where a run begins",
            node.name, root.name
        );
        let help = "name it in the `next_allowed_nodes` of a node that is reached, or remove it";
        let refusal = Diagnostic::error("step_unreachable", node.label.clone(), message);
        problems.push(refusal.with_help(help.to_owned()));
    }
    check_ends(placed, &seen, problems);
}

fn check_name(node: &Placed, same: Option<&Placed>, problems: &mut Problems) {
    let name = &node.name;
    let mut refuse = |code, message| {
        problems.push(Diagnostic::error(code, node.label.clone(), message));
    };
    if name == FINISH || name == FAILED {
        refuse("step_reserved", format!("a node must not be called `{name}`"));
    } else if let Err(error) = StepName::parse(name) {
        refuse("step_name_invalid", format!("`{name}` cannot name a node: {error}"));
    } else if name.split(['/', '\\']).any(|it| it == "..") {
        refuse("step_name_invalid", format!("`{name}` cannot name a node: it has `..` in it"));
    } else if let Some(same) = same {
        let place = &same.label.file;
        refuse("step_duplicate", format!("there is already a node '{name}' in `{place}`"));
    }
}

/// Refuses rounds that nothing leads out of, each once.
fn check_ends(placed: &[Placed], all: &BTreeMap<&str, &Placed>, problems: &mut Problems) {
    let ending = find_ending(placed);
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for start in placed.iter().filter(|it| !ending.contains(it.name.as_str())) {
        // Every node that cannot end leads to one that cannot either, so this comes to a round.
        let mut way: Vec<&Placed> = Vec::new();
        let mut node = start;
        while told.insert(&node.name) {
            way.push(node);
            let Some(next) = node.next.first().and_then(|it| all.get(it.as_str())) else { break };
            node = next;
        }
        let Some(from) = way.iter().position(|it| it.name == node.name) else { continue };
        let round: Vec<&Placed> = way.into_iter().skip(from).collect();
        let names: Vec<String> = round.iter().map(|it| format!("'{}'", it.name)).collect();
        let message =
            format!("{} → '{}' goes round without a way out", names.join(" → "), node.name);
        let help = "let one of them lead to a node without `next_allowed_nodes`".to_owned();
        let blamed = round.last().unwrap_or(&node);
        let refusal = Diagnostic::error("loop_endless", blamed.label.clone(), message);
        problems.push(refusal.with_help(help));
    }
}

/// The nodes from which a run can end.
fn find_ending(placed: &[Placed]) -> BTreeSet<&str> {
    let mut before: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in placed {
        for next in &node.next {
            before.entry(next).or_default().push(&node.name);
        }
    }
    let ends = placed.iter().filter(|it| it.next.is_empty()).map(|it| it.name.as_str());
    reach(ends, |name| before.get(name).into_iter().flatten().copied())
}
