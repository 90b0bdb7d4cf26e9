//! The ways from step to step: is each reached, and does each lead to an end?

use std::collections::BTreeSet;

use super::{Places, guidance};
use crate::{
    Decider, Deed, Diagnostic, Effect, FINISH, Severity, Spent, Step, StepName, Target, Workflow,
    parse::rules::find_open_routes, reach::reach, suggest::fold,
};

/// Checks the ways between steps.
pub(super) fn check(places: &Places<'_>) -> Vec<Diagnostic> {
    let workflow = places.workflow;
    let ways: Vec<Ways> = workflow.steps.iter().map(|it| ways(workflow, it)).collect();
    let rounds = find_rounds(workflow);
    let mut found = check_reached(places, &ways);
    found.extend(rounds.iter().map(|round| tell_round(places, round)));
    found.extend(check_finish(places, &ways, &rounds));
    found.extend(check_successors(places));
    // In later languages the parser refuses these.
    let open = find_open_routes(&workflow.steps, &places.layout.steps);
    found.extend(open.into_iter().map(|it| Diagnostic { severity: Severity::Warning, ..it }));
    found
}

fn is_declared(workflow: &Workflow) -> bool {
    workflow.decider == Some(Decider::Declared)
}

fn index_of(workflow: &Workflow, name: &StepName) -> Option<usize> {
    workflow.steps.iter().position(|it| it.name == *name)
}

/// The steps that the front matter of a step leads to, by `next` or otherwise.
fn declared_targets(workflow: &Workflow, step: &Step) -> BTreeSet<usize> {
    let next = step.next.iter().filter_map(|it| match &it.to {
        Target::Step(name) => Some(name),
        Target::Finish => None,
    });
    let options = step.gate.iter().flat_map(|it| &it.options);
    let back = options.filter_map(|it| match &it.effect {
        Effect::Back(name) => Some(name),
        Effect::Approve | Effect::Skip | Effect::Fail | Effect::Cancel => None,
    });
    let limits = step.review.iter().flat_map(|it| &it.limits).map(|it| &it.then);
    let spent = limits.chain(step.attempts.iter().map(|it| &it.then)).filter_map(|it| match it {
        Spent::Goto(name) => Some(name),
        Spent::Ask | Spent::Approve | Spent::Fail | Spent::Warn => None,
    });
    let review = step.review.iter().map(|it| &it.of);
    let all = next.chain(back).chain(spent).chain(review);
    all.filter_map(|name| index_of(workflow, name)).collect()
}

/// Where a step leads: by its front matter, else by the listed order or by its guidance.
struct Ways {
    steps: BTreeSet<usize>,
    /// The run may end after it.
    can_end: bool,
}

fn ways(workflow: &Workflow, step: &Step) -> Ways {
    let mut steps = declared_targets(workflow, step);
    let is_open = step.next.iter().all(|it| it.when.is_some());
    let ends = step.next.iter().any(|it| it.to == Target::Finish || it.fails);
    if !is_open {
        return Ways { steps, can_end: ends };
    }
    if !step.next.is_empty() || is_declared(workflow) {
        // Where no condition is true, the listed order counts.
        let following = workflow.find_following(&step.name);
        let following = following.and_then(|it| index_of(workflow, &it.name));
        steps.extend(following);
        return Ways { steps, can_end: ends || following.is_none() };
    }
    let mut mentioned = guidance::mentioned_steps(workflow, step);
    if workflow.decider.is_none() && !workflow.leaves_choice(step) {
        // Without a model the listed order counts.
        let following = workflow.find_following(&step.name);
        mentioned.extend(following.and_then(|it| index_of(workflow, &it.name)));
        let can_end = following.is_none() || fold(&step.guidance).contains(&fold(FINISH));
        steps.extend(mentioned);
        return Ways { steps, can_end };
    }
    // Guidance that names no step leaves everything open.
    let can_end = mentioned.is_empty() || fold(&step.guidance).contains(&fold(FINISH));
    steps.extend(mentioned);
    Ways { steps, can_end }
}

fn check_reached(places: &Places<'_>, ways: &[Ways]) -> Vec<Diagnostic> {
    let workflow = places.workflow;
    let Some(first) = workflow.first_step().and_then(|it| index_of(workflow, &it.name)) else {
        return Vec::new();
    };
    let Some(jumps) = jumps(workflow) else { return Vec::new() };
    let reached = if is_declared(workflow) {
        closure(ways, [vec![first], jumps].concat())
    } else {
        let Some(mut mentioned) = mentioned_by_others(workflow) else { return Vec::new() };
        mentioned.extend(closure(ways, [vec![first], jumps].concat()));
        mentioned
    };
    let help = if is_declared(workflow) {
        "name it in the `next` of another step"
    } else {
        "name it in double quotes in the guidance of another step"
    };
    let steps = workflow.steps.iter().enumerate();
    let lost = steps.filter(|(at, it)| !reached.contains(at) && it.name.as_str() != FINISH);
    lost.map(|(at, step)| {
        let message = format!("step `{}` is never reached", step.name);
        Diagnostic::warning("step_unreachable", places.link(at), message).with_help(help.to_owned())
    })
    .collect()
}

/// Returns the steps that moves and rules go to from wherever the run is; `None` where that may be
/// any step.
fn jumps(workflow: &Workflow) -> Option<Vec<usize>> {
    let moves = workflow.moves.iter().flat_map(|it| &it.actions);
    let actions = moves.chain(workflow.rules.iter().flat_map(|it| &it.actions));
    let mut found = Vec::new();
    for action in actions.chain(&workflow.adopt) {
        let Deed::Goto(to) = &action.deed else { continue };
        if !to.is_plain() {
            return None;
        }
        let named = |it: &Step| fold(it.name.as_str()) == fold(to.source());
        found.extend(workflow.steps.iter().position(named));
    }
    Some(found)
}

/// Returns steps and all that can be reached from them.
fn closure(ways: &[Ways], starts: Vec<usize>) -> BTreeSet<usize> {
    reach(starts, |at| ways.get(at).into_iter().flat_map(|it| &it.steps).copied())
}

/// The steps that some other step leads to; `None` if no guidance and no front matter names any.
fn mentioned_by_others(workflow: &Workflow) -> Option<BTreeSet<usize>> {
    let mut mentioned = BTreeSet::new();
    let mut is_any = false;
    for (at, step) in workflow.steps.iter().enumerate() {
        let quoted = guidance::mentioned_steps(workflow, step);
        let declared = declared_targets(workflow, step);
        is_any |= !quoted.is_empty() || !step.next.is_empty();
        mentioned.extend(quoted.into_iter().chain(declared).filter(|it| *it != at));
    }
    is_any.then_some(mentioned)
}

/// Where a step leads for certain, whatever happens.
fn certain_successor(workflow: &Workflow, step: &Step) -> Option<usize> {
    // A person at a gate can end what goes round.
    if step.gate.is_some() {
        return None;
    }
    let first = match step.next.as_slice() {
        [] if is_declared(workflow) => {
            return workflow.find_following(&step.name).and_then(|it| index_of(workflow, &it.name));
        }
        [only] => only,
        [first, ..] if is_declared(workflow) => first,
        _ => return None,
    };
    match &first.to {
        Target::Step(name) if first.when.is_none() && !first.fails => index_of(workflow, name),
        Target::Step(_) | Target::Finish => None,
    }
}

/// Finds the rounds of certain successors, each once, beginning with its first step.
fn find_rounds(workflow: &Workflow) -> Vec<Vec<usize>> {
    let certain: Vec<Option<usize>> =
        workflow.steps.iter().map(|it| certain_successor(workflow, it)).collect();
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for start in 0..certain.len() {
        let next = |it: &usize| certain.get(*it).copied().flatten();
        // Anyone who is on a round comes back in as many steps as there are, at most.
        let way: Vec<usize> =
            std::iter::successors(Some(start), next).take(certain.len() + 1).collect();
        let back = way.iter().skip(1).position(|it| *it == start);
        let is_told = rounds.iter().any(|it| it.contains(&start));
        if let Some(length) = back.filter(|_| !is_told) {
            rounds.push(way.into_iter().take(length + 1).collect());
        }
    }
    rounds
}

fn tell_round(places: &Places<'_>, round: &[usize]) -> Diagnostic {
    let name = |it: &usize| places.workflow.steps.get(*it).map_or("", |it| it.name.as_str());
    let names: Vec<String> =
        round.iter().chain(round.first()).map(|it| format!("`{}`", name(it))).collect();
    // The blame is on the step that leads back.
    let last = round.last().copied().unwrap_or_default();
    let message = format!("{} loops forever", names.join(" → "));
    let help = "give one of them a `next` with a `when`".to_owned();
    Diagnostic::warning("loop_endless", places.front(last, &["next"]), message).with_help(help)
}

fn check_finish(places: &Places<'_>, ways: &[Ways], rounds: &[Vec<usize>]) -> Vec<Diagnostic> {
    let workflow = places.workflow;
    let those = |is_one: &dyn Fn(&Ways) -> bool| -> Vec<usize> {
        ways.iter().enumerate().filter(|(_, it)| is_one(it)).map(|(at, _)| at).collect()
    };
    let ending = reach(those(&|it| it.can_end), |at| those(&|it| it.steps.contains(&at)));
    let steps = workflow.steps.iter().enumerate();
    let stuck = steps.filter(|(at, step)| {
        if ending.contains(at) || step.name.as_str() == FINISH {
            return false;
        }
        // What leads into a round has been told with it.
        let reached = closure(ways, vec![*at]);
        !rounds.iter().flatten().any(|it| reached.contains(it))
    });
    stuck
        .map(|(at, step)| {
            let message = format!("no way leads from step `{}` to `{FINISH}`", step.name);
            let help = if is_declared(workflow) || !step.next.is_empty() {
                format!("let some step after it have `next: {FINISH}`")
            } else {
                format!("say in its guidance, or in a later step's, when to `{FINISH}`")
            };
            Diagnostic::warning("finish_unreachable", places.link(at), message).with_help(help)
        })
        .collect()
}

/// Where the definition decides, nothing after a successor without a condition is ever chosen.
fn check_successors(places: &Places<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, step) in places.workflow.steps.iter().enumerate() {
        let Some(certain) = step.next.iter().position(|it| it.when.is_none()) else { continue };
        if !is_declared(places.workflow) || certain + 1 >= step.next.len() {
            continue;
        }
        let position = (certain + 1).to_string();
        let name = |it: usize| match step.next.get(it).map(|it| &it.to) {
            Some(Target::Step(name)) => name.as_str(),
            Some(Target::Finish) | None => FINISH,
        };
        let message = format!("`{}` is never chosen", name(certain + 1));
        let help = format!("`{}` before it has no `when`", name(certain));
        let label = places.front(at, &["next", &position]);
        found.push(Diagnostic::warning("successor_unreachable", label, message).with_help(help));
    }
    found
}
