//! `milepost workflow show`: a workflow as a drawn list. Each step has an arrow for each way out of
//! it, with the condition on it.

use definition::{
    Answers, Decider, Deed, Each, Effect, FAILED, FINISH, Form, GateOption, Input, Limit,
    PartSource, Spent, Step, StepName, Successor, Target, Workflow,
};
use serde_json::{Value, json};

use super::{find, origin};
use crate::{
    config::value::duration,
    failure::Failure,
    join::Joined,
    output::{ALERT, BAD, BOLD, DIM, GOOD, NAME, Output, Reply, text},
    wire,
};

/// Draws a workflow.
pub(super) fn perform(joined: &Joined, name: &str, output: Output) -> Result<Reply, Failure> {
    let listed = find(joined, name)?;
    let drawing = Drawing { workflow: &listed.workflow, width: output.width() };
    let decider = wire::decider(joined.runtime.resolve_decider(&listed.workflow));
    let mut json = wire::workflow(&listed);
    if let Value::Object(map) = &mut json {
        let steps = listed.workflow.work_steps().map(|it| drawing.step_json(it)).collect();
        map.insert("steps".to_owned(), steps);
    }
    let from = origin(joined, &listed.origin);
    let text = drawing.render(decider, &from);
    Ok(Reply::new(json!({"workflow": json}), text))
}

/// A way out of a step.
struct Way<'a> {
    to: Option<&'a StepName>,
    kind: WayKind,
    /// What it takes to go it.
    when: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WayKind {
    Next,
    /// A person or a review sends the work back.
    Back,
    /// The run ends here, badly.
    Fails,
    /// A person cancels the run.
    Cancels,
}

impl WayKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Back => "back",
            Self::Fails => "fails",
            Self::Cancels => "cancels",
        }
    }

    /// What stands for a way that leads to no step.
    fn end(self) -> &'static str {
        match self {
            Self::Next | Self::Back => FINISH,
            Self::Fails => FAILED,
            Self::Cancels => "CANCELLED",
        }
    }
}

struct Drawing<'a> {
    workflow: &'a Workflow,
    width: usize,
}

impl Drawing<'_> {
    fn render(&self, decider: &str, from: &str) -> String {
        let workflow = self.workflow;
        let (name, title) = (text::line(workflow.name.as_str()), text::line(&workflow.title));
        let title = if title == name { String::new() } else { format!("  {title}") };
        let mut text = format!("{BOLD}{name}{BOLD:#}{title}\n");
        if !workflow.goal.is_empty() {
            let goal =
                text::wrap(&text::line(&text::filled_in_later(&workflow.goal)), self.width, 2);
            text.push_str(&format!("  {goal}\n"));
        }
        for (name, value) in self.facts(decider, from) {
            let value = text::wrap(&value, self.width, 12);
            text.push_str(&format!("  {DIM}{}{DIM:#}{value}\n", text::pad(name, 10)));
        }
        for (index, step) in workflow.work_steps().enumerate() {
            text.push('\n');
            text.push_str(&self.step(index + 1, step));
        }
        text
    }

    fn facts(&self, decider: &str, from: &str) -> Vec<(&'static str, String)> {
        let it = self.workflow;
        let mut facts = vec![("from", from.to_owned())];
        let said = if it.decider.is_some() { "" } else { " (the definition names none)" };
        facts.push(("decider", format!("{decider}{said}")));
        if let Some(key) = &it.key {
            facts.push(("key", text::line(key.source())));
        }
        // The variables and limits of a graph are the same for all of them.
        if it.form == Form::Graph {
            facts.extend(inputs(it).map(|inputs| ("inputs", inputs)));
            return facts;
        }
        if !it.vars.is_empty() {
            let vars = it.vars.iter().map(|(name, var)| format!("{name} = {}", var.default));
            facts.push(("vars", text::line(&vars.collect::<Vec<_>>().join(", "))));
        }
        if !it.flows.is_empty() {
            let default = it.flow.as_deref();
            let flows = it.flows.iter().map(|(name, flow)| {
                let mark = if Some(name.as_str()) == default { " (default)" } else { "" };
                format!("{name}{mark} leaves out {}", text::count(flow.skips.len(), "step"))
            });
            facts.push(("flows", text::line(&flows.collect::<Vec<_>>().join("; "))));
        }
        let jumps: Vec<String> = jumps(it).collect();
        if !jumps.is_empty() {
            facts.push(("jumps", text::line(&jumps.join("; "))));
        }
        facts.push(("limits", format!("a step is entered {} times at most", it.limits.visits_max)));
        facts
    }

    fn step(&self, number: usize, step: &Step) -> String {
        let name = text::line(step.name.as_str());
        let title = text::line(&step.title);
        let title = if title == name { String::new() } else { format!("  {DIM}{title}{DIM:#}") };
        let mut text = format!("{DIM}{number:>2}{DIM:#} {NAME}{name}{NAME:#}{title}\n");
        for (label, fact) in self.rules(step) {
            let fact = text::wrap(&text::line(&fact), self.width, label.len() + 6);
            let hanging = format!("\n   {DIM}│{DIM:#}");
            let fact = fact.replace("\n    ", &hanging);
            text.push_str(&format!("   {DIM}│ {label}{DIM:#} {fact}\n"));
        }
        let ways = self.ways(step);
        for (index, way) in ways.iter().enumerate() {
            let is_last = index + 1 == ways.len();
            text.push_str(&self.arrow(step, way, is_last));
        }
        text
    }

    /// Draws a way out. Its condition stands beside it, or under it where there is no room.
    fn arrow(&self, step: &Step, way: &Way<'_>, is_last: bool) -> String {
        let target = way.to.map_or_else(|| way.kind.end().to_owned(), |it| text::line(it.as_str()));
        let place = |name: &StepName| self.workflow.steps.iter().position(|it| it.name == *name);
        let is_back = way.to.is_some_and(|it| place(it) <= place(&step.name));
        let (sign, style) = match (way.kind, way.to) {
            (WayKind::Fails | WayKind::Cancels, _) => ('✗', BAD),
            (WayKind::Back, _) => ('↩', ALERT),
            (WayKind::Next, Some(_)) if is_back => ('↩', ALERT),
            (WayKind::Next, None) => ('■', GOOD),
            (WayKind::Next, Some(_)) => ('▶', anstyle::Style::new()),
        };
        let (bar, below) = if is_last { ("└─", " ") } else { ("├─", "│") };
        let head = format!("   {DIM}{bar}{DIM:#}{style}{sign} {target}{style:#}");
        let when = text::line(&way.when);
        if when.is_empty() {
            return format!("{head}\n");
        }
        let used = 9 + text::columns(&target);
        if used + text::columns(&when) <= self.width {
            return format!("{head}  {DIM}{when}{DIM:#}\n");
        }
        let under = text::wrap(&when, self.width, 9);
        let under: Vec<String> = under
            .lines()
            .map(|it| format!("   {DIM}{below}     {}{DIM:#}\n", it.trim_start()))
            .collect();
        format!("{head}\n{}", under.concat())
    }

    /// Returns what must hold before a step is left, and what is special about it.
    fn rules(&self, step: &Step) -> Vec<(&'static str, String)> {
        let mut rules = Vec::new();
        if self.workflow.form == Form::Graph {
            rules.push(("goal", step.goal.clone()));
        }
        if let Some(agent) = &step.agent {
            rules.push(("agent", agent.source().to_owned()));
        }
        if let Some(when) = &step.skip_when {
            rules.push(("left out when", when.source().to_owned()));
        }
        let flows = self.workflow.flows.iter().filter(|(_, flow)| flow.skips.contains(&step.name));
        let flows: Vec<&str> = flows.map(|it| it.0.as_str()).collect();
        if !flows.is_empty() {
            rules.push(("left out in flow", flows.join(", ")));
        }
        if let Some(each) = &step.each {
            rules.push(("for each of", describe_each(each)));
        }
        let needs: Vec<&str> = step.needs.iter().map(|it| it.path.source()).collect();
        if !needs.is_empty() {
            rules.push(("needs", needs.join(", ")));
        }
        let produces: Vec<&str> = step.produces.iter().map(|it| it.path.source()).collect();
        if !produces.is_empty() {
            rules.push(("produces", produces.join(", ")));
        }
        for criterion in &step.criteria {
            rules.push(("shows that", criterion.text.clone()));
        }
        for check in &step.checks {
            rules.push(("runs", check.run.join(" ")));
        }
        if let Some(attempts) = &step.attempts {
            rules.push(("attempts", format!("{}, then {}", attempts.max, spent(&attempts.then))));
        }
        if let Some(timeout) = &step.timeout {
            rules.push(("within", duration(timeout.after)));
        }
        rules.extend(gate_rules(self.workflow, step));
        let guarded = self.guarded(step);
        if !guarded.is_empty() {
            rules.push(("guards", guarded.join(", ")));
        }
        rules.extend(review_rules(step));
        if !step.workflows.is_empty() {
            rules.push(("may start", step.workflows.join(", ")));
        }
        rules
    }

    /// Returns the ways out of a step, as the definition has them.
    fn ways<'a>(&'a self, step: &'a Step) -> Vec<Way<'a>> {
        let mut ways: Vec<Way<'_>> = step.next.iter().map(way).collect();
        if self.workflow.form == Form::Graph {
            // Each way sets the status, which says nothing about the graph.
            ways.iter_mut().for_each(|it| it.when.clear());
        }
        ways.extend(self.unwritten(step));
        ways.extend(step.gate.iter().flat_map(|it| &it.options).filter_map(answer_way));
        if let Some(review) = &step.review {
            let when = format!("when the verdict is {}", review.revise.join(", "));
            ways.push(Way { to: Some(&review.of), kind: WayKind::Back, when });
            ways.extend(review.limits.iter().filter_map(limit_way));
        }
        let spent = step.attempts.as_ref().and_then(|it| spent_way(&it.then));
        ways.extend(spent.map(|it| Way { when: "when its attempts are spent".to_owned(), ..it }));
        ways
    }

    /// Returns the ways that no `next` names: those that the guidance names, the listed order, and
    /// the step for failures.
    fn unwritten<'a>(&'a self, step: &'a Step) -> Vec<Way<'a>> {
        let workflow = self.workflow;
        let next = |to, when: &str| Way { to, kind: WayKind::Next, when: when.to_owned() };
        let mut ways = Vec::new();
        if step.next.iter().all(|it| it.when.is_some()) {
            let following = workflow.find_following(&step.name).map(|it| &it.name);
            let when = if step.next.is_empty() { "" } else { "if no condition is true" };
            ways.push(next(following, when));
            if workflow.decider != Some(Decider::Declared) {
                let named = workflow.work_steps().map(|it| &it.name);
                let named = named.filter(|it| workflow.mentions_step(step, it));
                let others = named.filter(|it| Some(*it) != following && **it != step.name);
                ways.extend(others.map(|it| next(Some(it), "as the guidance says")));
                let ends = following.is_some() && workflow.mentions_finish(step);
                ways.extend(ends.then(|| next(None, "as the guidance says")));
            }
        }
        let has_route = step.next.iter().filter_map(|it| it.when.as_ref());
        let has_route = has_route.into_iter().any(|it| it.mentions("report"));
        let failure = workflow.guards().failure_step(&step.name);
        if let Some(to) = failure.filter(|_| step.attempts.is_none() && !has_route)
            && ways.iter().all(|it| it.to != Some(to))
        {
            ways.push(next(Some(to), "when it fails"));
        }
        ways
    }

    /// Returns the steps that a run reaches only through the gate of `step`, and `FINISH` if it cannot
    /// end without it.
    fn guarded(&self, step: &Step) -> Vec<&str> {
        let gates = self.workflow.guards().all().iter().filter(|it| it.gate == step.name);
        gates
            .flat_map(|it| {
                let behind = self.workflow.steps.iter().filter(|one| it.steps.contains(&one.name));
                behind.map(|it| it.name.as_str()).chain(it.end.then_some(FINISH))
            })
            .collect()
    }

    fn step_json(&self, step: &Step) -> Value {
        let ways: Vec<Value> = self
            .ways(step)
            .iter()
            .map(|it| {
                let to = it.to.map_or(it.kind.end(), StepName::as_str);
                json!({"to": to, "kind": it.kind.as_str(), "when": it.when})
            })
            .collect();
        json!({
            "name": step.name.as_str(),
            "title": step.title,
            "goal": step.goal,
            "file": step.file,
            "has_gate": step.gate.is_some(),
            "guards": self.guarded(step),
            "ways": ways,
        })
    }
}

/// Returns the steps that moves and rules go to, wherever a run is.
fn jumps(workflow: &Workflow) -> impl Iterator<Item = String> {
    let moves = workflow.moves.iter().map(|it| (&it.name, &it.actions));
    let rules = workflow.rules.iter().map(|it| (&it.name, &it.actions));
    let all = moves.chain(rules).flat_map(|(name, all)| all.iter().map(move |it| (name, it)));
    all.filter_map(|(name, action)| {
        let Deed::Goto(to) = &action.deed else { return None };
        Some(format!("{name} goes to {}", to.source()))
    })
}

fn inputs(workflow: &Workflow) -> Option<String> {
    let show = |input: &Input| match &input.default {
        Some(default) => format!("{} = {default}", input.name),
        None => input.name.clone(),
    };
    let inputs: Vec<String> = workflow.inputs.iter().map(show).collect();
    (!inputs.is_empty()).then(|| text::line(&inputs.join(", ")))
}

fn way(successor: &Successor) -> Way<'_> {
    let to = match &successor.to {
        Target::Step(step) => Some(step),
        Target::Finish => None,
    };
    let when = successor.when.as_ref().map(|it| format!("when {}", it.source()));
    let set = successor
        .actions
        .iter()
        .filter_map(|it| if let Deed::Set(set) = &it.deed { Some(set) } else { None });
    let sets: Vec<String> =
        set.flatten().map(|(name, value)| format!("{name} = {}", value.source())).collect();
    let sets = (!sets.is_empty()).then(|| format!("sets {}", sets.join(", ")));
    let when = [when, sets].into_iter().flatten().collect::<Vec<_>>().join("; ");
    Way { to, kind: if successor.fails { WayKind::Fails } else { WayKind::Next }, when }
}

/// What an answer at a gate leads to, if it is not what `next` says.
fn answer_way(option: &GateOption) -> Option<Way<'_>> {
    let (to, kind) = match &option.effect {
        Effect::Back(to) => (Some(to), WayKind::Back),
        Effect::Fail => (None, WayKind::Fails),
        Effect::Cancel => (None, WayKind::Cancels),
        Effect::Approve | Effect::Skip => return None,
    };
    Some(Way { to, kind, when: format!("when a person answers {}", option.name) })
}

fn limit_way(limit: &Limit) -> Option<Way<'_>> {
    let when = format!("after {}", text::count(limit.after, "revision"));
    spent_way(&limit.then).map(|it| Way { when, ..it })
}

fn spent_way(spent: &Spent) -> Option<Way<'_>> {
    let (to, kind) = match spent {
        Spent::Goto(to) => (Some(to), WayKind::Next),
        Spent::Fail => (None, WayKind::Fails),
        Spent::Ask | Spent::Approve | Spent::Warn => return None,
    };
    Some(Way { to, kind, when: String::new() })
}

fn gate_rules(workflow: &Workflow, step: &Step) -> Vec<(&'static str, String)> {
    let Some(gate) = &step.gate else { return Vec::new() };
    let options: Vec<&str> = gate.options.iter().map(|it| it.name.as_str()).collect();
    let who = match gate.answers.unwrap_or(workflow.answers) {
        Answers::Verified => "a person's own answer",
        Answers::Relayed => "an agent may pass the answer on",
    };
    let asks = format!("{} [{}] ({who})", gate.ask.source(), options.join(" / "));
    let mut rules = vec![("asks", asks)];
    if let Some(unless) = &gate.unless {
        rules.push(("skipped when", unless.source().to_owned()));
    }
    if let Some(holds) = &gate.holds {
        rules.push(("stays closed while", holds.source().to_owned()));
    }
    rules
}

fn review_rules(step: &Step) -> Vec<(&'static str, String)> {
    let Some(review) = &step.review else { return Vec::new() };
    let mut rules = vec![("judges", review.of.to_string())];
    for limit in &review.limits {
        let after = text::count(limit.after, "revision");
        rules.push(("after", format!("{after} {}", spent(&limit.then))));
    }
    rules
}

fn describe_each(each: &Each) -> String {
    let from = match &each.from {
        PartSource::Shared => String::new(),
        PartSource::Listed(parts) => {
            let ids: Vec<&str> = parts.iter().map(|it| it.id.as_str()).collect();
            format!(": {}", ids.join(", "))
        }
        PartSource::File { path, .. } => format!(", from {}", path.source()),
        PartSource::Context(expression) => format!(", from {}", expression.source()),
    };
    format!("{}{from}", each.parts)
}

fn spent(spent: &Spent) -> String {
    match spent {
        Spent::Ask => "a person is asked".to_owned(),
        Spent::Approve => "it goes on as if approved".to_owned(),
        Spent::Fail => "the run fails".to_owned(),
        Spent::Warn => "it goes on with a warning".to_owned(),
        Spent::Goto(step) => format!("it goes to {step}"),
    }
}
