//! Which steps each gate guards: those that a run reaches only through it.
//!
//! The graph has an edge for every route that a definition declares. A route for success leaves a
//! step through its gate; a route for failure leaves it without. A gate guards what cannot be
//! reached from the first step once its own routes for success are removed (what the gate
//! dominates). The engine holds every run to that, whatever moved it.
//!
//! Moves, rules and forced jumps are not edges: they are what a gate must hold against. Nor are the
//! answers at a gate that send work back: a person gave them.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    Condition, Decider, Effect, FINISH, Gate, PartSource, PartSpec, Spent, Step, StepName, Target,
    Workflow, check::mentioned_steps, reach::reach, suggest::fold,
};

/// What the gates of a workflow guard. Computed once for each workflow.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    gates: Vec<Guarded>,
    /// The same for steps whose parts may be for a person.
    fan_outs: Vec<Guarded>,
    bypasses: Vec<Bypass>,
    /// The steps from which the definition leads to the end.
    ending: BTreeSet<StepName>,
    /// The steps that are there for failures, in the order in which they are tried.
    failure_steps: Vec<StepName>,
}

/// A gate, and what a run reaches only through it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarded {
    /// The step that has the gate.
    pub gate: StepName,
    pub steps: BTreeSet<StepName>,
    /// The steps that every run goes through before it.
    pub before: BTreeSet<StepName>,
    /// Whether the run cannot be completed without it.
    pub end: bool,
}

/// A route that leads past a gate without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bypass {
    pub gate: StepName,
    /// The step that the route leaves.
    pub from: StepName,
    /// The step behind the gate that is reached without it.
    pub to: StepName,
    /// Whether an answer at the gate leads there, and not a failure.
    pub is_answer: bool,
}

impl Guards {
    pub(crate) fn of(workflow: &Workflow) -> Self {
        let graph = Graph::of(workflow);
        let reached = graph.reach(None, Routes::Success);
        let find_guarded = |is_meant: fn(&Step) -> bool| -> Vec<(usize, BTreeSet<usize>)> {
            let steps = workflow.steps.iter().enumerate().filter(|(_, it)| is_meant(it));
            let guarded = steps.map(|(at, _)| {
                let without = graph.reach(Some(at), Routes::Success);
                (at, reached.difference(&without).copied().filter(|it| *it != at).collect())
            });
            guarded.collect()
        };
        let guarded = find_guarded(is_guarding);
        let bypasses = guarded.iter().filter_map(|(at, behind)| {
            graph.find_back_route(*at, behind).or_else(|| graph.find_bypass(*at, behind))
        });
        let name = |it: usize| workflow.steps.get(it).map(|it| it.name.clone());
        let named = |(at, behind): &(usize, BTreeSet<usize>)| {
            let steps = behind.iter().filter_map(|it| name(*it)).collect();
            let before = graph.find_before(*at).into_iter().filter_map(name).collect();
            Some(Guarded { gate: name(*at)?, steps, before, end: behind.contains(&graph.end) })
        };
        let fan_outs = find_guarded(may_be_personal);
        let ends = |it: &usize| graph.leads(*it, graph.end);
        Self {
            bypasses: bypasses.collect(),
            gates: guarded.iter().filter_map(named).collect(),
            fan_outs: fan_outs.iter().filter_map(named).collect(),
            ending: (0..graph.end).filter(ends).filter_map(name).collect(),
            failure_steps: graph.failure_steps.iter().filter_map(|it| name(*it)).collect(),
        }
    }

    /// Returns every gate with what it guards, in the order of the steps.
    pub fn all(&self) -> &[Guarded] {
        &self.gates
    }

    /// Returns the steps with parts that may be for a person, and without which a run does not come to
    /// `step`, or is not completed.
    pub fn fan_outs_before(&self, step: Option<&StepName>) -> impl Iterator<Item = &StepName> {
        let is_before = move |it: &&Guarded| step.map_or(it.end, |step| it.steps.contains(step));
        self.fan_outs.iter().filter(is_before).map(|it| &it.gate)
    }

    /// Returns the steps whose gates guard `step`, in the order of the steps.
    pub fn before(&self, step: &StepName) -> impl Iterator<Item = &StepName> {
        self.gates.iter().filter(|it| it.steps.contains(step)).map(|it| &it.gate)
    }

    /// Returns the steps that every run goes through before the gate of `gate`.
    pub fn leading_to(&self, gate: &StepName) -> impl Iterator<Item = &StepName> {
        self.gates.iter().filter(move |it| it.gate == *gate).flat_map(|it| &it.before)
    }

    /// Returns the steps whose gates must be passed before a run may be completed at `from`.
    ///
    /// Where the definition itself leads from `from` to the end, these are the gates before `from`
    /// and its own; elsewhere all without which the end is not reached.
    pub fn before_end(&self, from: Option<&StepName>) -> impl Iterator<Item = &StepName> {
        let route = from.filter(|it| self.ending.contains(*it));
        let is_due = move |it: &&Guarded| match route {
            Some(from) => it.gate == *from || it.steps.contains(from),
            None => it.end,
        };
        self.gates.iter().filter(is_due).map(|it| &it.gate)
    }

    /// Returns the step that a failure of `from` leads to where the definition names none: the one
    /// called `Handle Failure`, else the first that speaks of an error or a failure. A step that
    /// success leads to is not there for failures, whatever its name.
    pub fn failure_step(&self, from: &StepName) -> Option<&StepName> {
        self.failure_steps.iter().find(|it| *it != from)
    }

    /// Returns the routes for failure that lead past a gate. A workflow that has any is not run.
    pub fn bypasses(&self) -> &[Bypass] {
        &self.bypasses
    }
}

impl Workflow {
    /// Whether work on `from` must succeed before a run comes to `to`: it is reached from there by
    /// routes for success, without going back to a step that comes before `from` in every run.
    pub fn is_ahead(&self, from: &StepName, to: &StepName) -> bool {
        let graph = Graph::of(self);
        let (Some(from), Some(to)) = (graph.place(from), graph.place(to)) else { return false };
        let before = graph.find_before(from);
        let is_behind = |it: &usize| *it == from || before.contains(it);
        let onward = |at: usize| {
            let targets = graph.success.get(at).into_iter().flatten().copied();
            targets.filter(|it| !is_behind(it)).collect::<Vec<_>>()
        };
        reach(onward(from), onward).contains(&to)
    }

    /// Returns the steps that every run goes through before `step`, in their order.
    pub fn steps_before(&self, step: &StepName) -> Vec<&StepName> {
        let graph = Graph::of(self);
        let before = graph.place(step).map(|it| graph.find_before(it)).unwrap_or_default();
        before.into_iter().filter_map(|it| self.steps.get(it)).map(|it| &it.name).collect()
    }
}

/// Whether a gate can stop a run. One whose every answer leads on only asks.
fn is_guarding(step: &Step) -> bool {
    let stops = |it: &Effect| matches!(it, Effect::Back(_) | Effect::Fail | Effect::Cancel);
    let can_stop = |it: &Gate| it.options.iter().any(|it| stops(&it.effect));
    step.gate.as_ref().is_some_and(can_stop)
}

/// Whether a step may have a part that is for a person.
fn may_be_personal(step: &Step) -> bool {
    step.each.as_ref().is_some_and(|it| match &it.from {
        PartSource::Listed(parts) => parts.iter().any(|it| it.mode == PartSpec::HUMAN_GATE),
        PartSource::File { .. } | PartSource::Context(_) => true,
        // The step that plans them is looked at.
        PartSource::Shared => false,
    })
}

/// Whether a step's name says that it handles errors or failures.
fn handles_failure(step: &Step) -> bool {
    speaks_of_failure(step) && step.name.folded().contains("handl")
}

/// Whether a step's name speaks of an error or a failure.
fn speaks_of_failure(step: &Step) -> bool {
    let name = step.name.folded();
    name.contains("error") || name.contains("failure")
}

/// Which routes are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Routes {
    Success,
    All,
}

/// The routes between steps, by their places. The end has the place after the last.
struct Graph<'a> {
    workflow: &'a Workflow,
    first: usize,
    end: usize,
    success: Vec<BTreeSet<usize>>,
    failure: Vec<BTreeSet<usize>>,
    failure_steps: Vec<usize>,
}

impl<'a> Graph<'a> {
    fn of(workflow: &'a Workflow) -> Self {
        let end = workflow.steps.len();
        let place = |name: &StepName| workflow.steps.iter().position(|it| it.name == *name);
        let first = workflow.first_step().and_then(|it| place(&it.name)).unwrap_or_default();
        let (success, failure, failure_steps) = (Vec::new(), Vec::new(), Vec::new());
        let mut graph = Self { workflow, first, end, success, failure, failure_steps };
        graph.success = workflow.steps.iter().map(|it| graph.on_success(it)).collect();
        graph.failure_steps = graph.find_failure_steps();
        graph.failure = workflow.steps.iter().map(|it| graph.on_failure(it)).collect();
        graph
    }

    fn place(&self, name: &StepName) -> Option<usize> {
        self.workflow.steps.iter().position(|it| it.name == *name)
    }

    fn target(&self, target: &Target) -> Option<usize> {
        match target {
            Target::Step(name) => self.place(name),
            Target::Finish => Some(self.end),
        }
    }

    /// Returns the step that is listed next, leaving out those that are there for failures.
    fn following(&self, step: &Step) -> usize {
        let mut after = self.workflow.work_steps().skip_while(|it| it.name != step.name).skip(1);
        let following = after.find(|it| !speaks_of_failure(it));
        following.and_then(|it| self.place(&it.name)).unwrap_or(self.end)
    }

    fn find_failure_steps(&self) -> Vec<usize> {
        let reached = self.reach(None, Routes::Success);
        let steps = self.workflow.steps.iter().enumerate();
        let named = steps.filter(|(at, it)| speaks_of_failure(it) && !reached.contains(at));
        let mut named: Vec<(usize, &Step)> = named.collect();
        named.sort_by_key(|(_, it)| it.name.folded() != "handlefailure");
        named.into_iter().map(|(at, _)| at).collect()
    }

    fn on_success(&self, step: &Step) -> BTreeSet<usize> {
        if step.name.as_str() == FINISH {
            return BTreeSet::new();
        }
        let routes = step.next.iter().filter(|it| !it.fails);
        let routes = routes.filter(|it| !it.when.as_ref().is_some_and(is_for_failure));
        let mut targets: BTreeSet<usize> = routes.filter_map(|it| self.target(&it.to)).collect();
        // Where no condition holds, a run goes on with the step that is listed next.
        if step.next.iter().all(|it| it.when.is_some()) {
            targets.insert(self.following(step));
        }
        if self.is_guided(step) {
            targets.extend(self.mentioned(step, |it| !handles_failure(it)));
            if fold(&step.guidance).contains(&fold(FINISH)) {
                targets.insert(self.end);
            }
        }
        targets
    }

    /// Whether only the guidance of a step says what follows it.
    fn is_guided(&self, step: &Step) -> bool {
        step.next.is_empty() && self.workflow.decider != Some(Decider::Declared)
    }

    /// Returns the steps of a kind that the guidance of a step names.
    fn mentioned(&self, step: &Step, is_meant: fn(&Step) -> bool) -> BTreeSet<usize> {
        let mut mentioned = mentioned_steps(self.workflow, step);
        mentioned.retain(|it| self.workflow.steps.get(*it).is_some_and(is_meant));
        mentioned
    }

    /// Where a step leads without having been done, or without its gate.
    fn on_failure(&self, step: &Step) -> BTreeSet<usize> {
        let spent = step.attempts.iter().map(|it| &it.then);
        let spent = spent.chain(step.review.iter().flat_map(|it| &it.limits).map(|it| &it.then));
        let spent = spent.filter_map(|it| match it {
            Spent::Goto(name) => self.place(name),
            Spent::Ask | Spent::Approve | Spent::Fail | Spent::Warn => None,
        });
        let routes = step.next.iter().filter(|it| !it.fails);
        let routes = routes.filter(|it| it.when.as_ref().is_some_and(is_for_failure));
        let routes = routes.filter_map(|it| self.target(&it.to));
        let review = step.review.iter().filter_map(|it| self.place(&it.of));
        let own = self.place(&step.name);
        let named = self.failure_steps.iter().copied().find(|it| Some(*it) != own);
        let named = named.filter(|_| step.attempts.is_none());
        let guided = self.is_guided(step).then(|| self.mentioned(step, handles_failure));
        let guided = guided.into_iter().flatten();
        spent.chain(routes).chain(review).chain(named).chain(guided).collect()
    }

    fn leads(&self, from: usize, to: usize) -> bool {
        let has = |it: &Vec<BTreeSet<usize>>| it.get(from).is_some_and(|it| it.contains(&to));
        has(&self.success) || has(&self.failure)
    }

    /// Returns what can be reached from the first step, without going through the gate of `closed`.
    fn reach(&self, closed: Option<usize>, routes: Routes) -> BTreeSet<usize> {
        self.reach_from([self.first], closed, routes)
    }

    fn reach_from(
        &self,
        starts: impl IntoIterator<Item = usize>,
        closed: Option<usize>,
        routes: Routes,
    ) -> BTreeSet<usize> {
        reach(starts, |at| {
            let success = self.success.get(at).filter(|_| closed != Some(at));
            let failure = self.failure.get(at).filter(|_| routes == Routes::All);
            success.into_iter().chain(failure).flatten().copied()
        })
    }

    /// Returns the steps without which `step` is not reached. One that only failures lead to has
    /// those that come before it whatever fails.
    fn find_before(&self, step: usize) -> Vec<usize> {
        let is_on_the_way = self.reach(None, Routes::Success).contains(&step);
        let routes = if is_on_the_way { Routes::Success } else { Routes::All };
        let is_needed = |it: &usize| *it != step && !self.reach(Some(*it), routes).contains(&step);
        (0..self.end).filter(is_needed).collect()
    }

    /// Returns an answer at `gate` that claims to send work back, and leads behind the gate.
    fn find_back_route(&self, gate: usize, behind: &BTreeSet<usize>) -> Option<Bypass> {
        let step = self.workflow.steps.get(gate)?;
        let options = step.gate.iter().flat_map(|it| &it.options);
        let to = options.filter_map(|it| match &it.effect {
            Effect::Back(name) => Some(name),
            Effect::Approve | Effect::Skip | Effect::Fail | Effect::Cancel => None,
        });
        let is_behind = |it: &&StepName| self.place(it).is_some_and(|it| behind.contains(&it));
        let to = to.into_iter().find(is_behind)?.clone();
        let (gate, from) = (step.name.clone(), step.name.clone());
        Some(Bypass { gate, from, to, is_answer: true })
    }

    /// Returns a route for failure by which a step behind `gate` is reached without it.
    fn find_bypass(&self, gate: usize, behind: &BTreeSet<usize>) -> Option<Bypass> {
        let reached = self.reach(Some(gate), Routes::All);
        // To end after a failure is not a way to a step.
        let is_behind = |it: &usize| *it != self.end && behind.contains(it);
        let to = reached.iter().copied().find(is_behind)?;
        let leads = |from: &usize| {
            let targets = self.failure.get(*from);
            targets.is_some_and(|it| it.iter().any(|it| *it != self.end))
        };
        let from = reached.iter().copied().find(|it| {
            let starts = self.failure.get(*it).into_iter().flatten().copied();
            let reached = self.reach_from(starts, Some(gate), Routes::All);
            leads(it) && reached.contains(&to) && !behind.contains(it)
        })?;
        let name = |it: usize| self.workflow.steps.get(it).map(|it| it.name.clone());
        Some(Bypass { gate: name(gate)?, from: name(from)?, to: name(to)?, is_answer: false })
    }
}

/// Whether a condition holds only for a report of failure, as far as its text tells.
fn is_for_failure(condition: &Condition) -> bool {
    if !condition.mentions("report") {
        return false;
    }
    let holds = |status: &str| {
        let report = json!({ "status": status, "outcome": status });
        condition.evaluate(&json!({ "report": report }))
    };
    match (holds("failure"), holds("success")) {
        (Ok(true), Ok(false)) => true,
        (Ok(_), Ok(_)) => false,
        // It depends on more than the report.
        (Err(_), _) | (_, Err(_)) => {
            let source = condition.source().to_lowercase();
            source.contains("fail") || source.contains("error")
        }
    }
}
