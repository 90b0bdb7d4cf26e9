//! Which calls come next. What usually follows is tried on the engine before it is named, as the
//! command that the call would be, so that no table here can contradict the rules.

use engine::{Probe, Refusal, RunState, probe};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    super::{
        text::{condition, holds},
        words::WAITING,
    },
    Guidance, Row, Run, Told, command,
    row::{APPROVAL, Advice, TASK},
    rows::{LATER, ROWS},
};

/// What stands for a task that nobody has named.
const ANY_TASK: &str = "<the task, in the user's words>";
/// Stands for what was sent with a call; what follows it is said where nothing was.
const DETAIL: &str = "{detail}";
/// How many calls are named where none of the usual ones is open.
const OTHERS_MAX: usize = 3;

/// A call that may come next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Next {
    /// The condition under which to make this call.
    pub(crate) when: String,
    pub(crate) tool: &'static str,
    /// The arguments. What stands in angle brackets is for the agent to fill in.
    pub(crate) params: Map<String, Value>,
}

/// Arguments of a call.
type Args<'a> = &'a [(&'a str, &'a str)];

impl Told {
    /// Returns the calls that may follow, in the order they are to be thought of, but for those that
    /// the engine would refuse.
    pub(crate) fn next(&self) -> Vec<Next> {
        let own = Advisor { told: self, task: self.task(), detail: self.detail() };
        if self.lacks_task() {
            return vec![own.call("when the user has named the task", Guidance::Init, &[])];
        }
        let Some(then) = self.row.then else { return Vec::new() };
        let usual = if self.is_queued() { Vec::new() } else { own.applying(then) };
        match &self.run {
            _ if !usual.is_empty() => own.keep(&usual),
            // Only the agent knows where it was.
            None if !self.is_managed() => Vec::new(),
            None => vec![own.begin()],
            // What came with this call need not be about the item to go on with: it may be queued.
            Some(run) => Advisor { task: run.item.as_deref(), detail: "", ..own }.onward(run),
        }
    }

    /// Whether the plan that is built or validated is not the one that the user approved.
    pub(crate) fn lacks_approval(&self) -> bool {
        let own = Advisor { told: self, task: self.task(), detail: "" };
        self.run.as_ref().is_some_and(|it| own.lacks_approval(it))
    }
}

/// A call that was answered, and what the next ones are about.
#[derive(Clone, Copy)]
struct Advisor<'a> {
    told: &'a Told,
    task: Option<&'a str>,
    detail: &'a str,
}

impl Advisor<'_> {
    /// Returns the way on from where the run is.
    fn onward(&self, run: &Run) -> Vec<Next> {
        if run.item.is_none() {
            // A task that is named under way is only added to the list.
            let named = (!run.is_at_start()).then(|| self.name_item(run)).flatten();
            return [named.unwrap_or_else(|| self.begin())]
                .into_iter()
                .filter(|it| self.is_open(run, it))
                .collect();
        }
        if let Some(row) = self.find_place(run) {
            return self.keep(&self.applying(row.then.unwrap_or_default()));
        }
        if self.needs_person(run) { self.before_person(run) } else { self.others(run) }
    }

    /// Returns the tool whose guidance fits where the run is: the one whose move would leave phase
    /// and status as they are, or at least the phase.
    fn find_place(&self, run: &Run) -> Option<&'static Row> {
        const ALL: &[Row] = &ROWS;
        let state = &run.seen.view.state;
        let status = |it: &RunState| it.vars.get("status").cloned();
        let moves = ALL.iter().take_while(|it| it.tool != Guidance::Changelog);
        // While another item is under way, a task is only added to the list.
        let moves = moves.filter(|it| run.is_at_start() || it.tool != Guidance::Init);
        let leads = |row: &'static Row| {
            let needed = row.detail().map(|it| (it.name, "x"));
            let call = self.call("", row.tool, needed.as_slice());
            let found = try_on(run, state, &call);
            let after = found.state().filter(|it| it.current == state.current)?;
            Some((row, status(after) == status(state)))
        };
        let leading: Vec<(&Row, bool)> = moves.filter_map(leads).collect();
        let same = leading.iter().find(|it| it.1);
        // An error can be told everywhere.
        let near = || leading.iter().find(|it| it.0.takes_task);
        same.or_else(near).map(|it| it.0)
    }

    /// Returns the advice whose conditions hold. Words that are not of a text are about the calls.
    fn applying(&self, advice: &'static [Advice]) -> Vec<&'static Advice> {
        let is_true = |word: &str| match word.strip_prefix('!') {
            Some(word) => holds(self.told, word) != Some(true),
            None => holds(self.told, word) != Some(false),
        };
        let applies = |it: &&Advice| condition(it.0).is_none_or(|it| it.0.split(' ').all(is_true));
        advice.iter().filter(applies).collect()
    }

    /// Keeps the calls that are open, and says what is in place of the others.
    fn keep(&self, advice: &[&'static Advice]) -> Vec<Next> {
        let mut kept: Vec<Next> = Vec::new();
        // The run as it is after the call before, where the next one may rely on that.
        let mut after: Option<RunState> = None;
        for (when, tool, args) in advice.iter().copied() {
            let (words, when) = condition(when).unwrap_or(("", when));
            let is_named = |word: &str| {
                let other = ROWS.iter().find(|it| word.strip_prefix('!') == Some(it.makes));
                other.is_some_and(|other| kept.iter().any(|it| it.tool == other.name))
            };
            if words.split(' ').any(is_named) {
                continue;
            }
            let call = self.call(when, *tool, args);
            let Some(run) = self.told.run.as_ref().filter(|_| !tool.row().makes.is_empty()) else {
                // In advisory mode the plan is done in one go.
                if when != LATER {
                    push(&mut kept, call);
                }
                continue;
            };
            let mut found = try_on(run, &run.seen.view.state, &call);
            let relied = after.take().filter(|_| !found.is_open());
            if let Some(state) = &relied {
                found = try_on(run, state, &call);
            }
            if let Probe::Closed(refusal) = &found {
                let others = self.in_place_of(run, &call, refusal);
                others.into_iter().for_each(|it| push(&mut kept, it));
                continue;
            }
            let leads = matches!(tool, Guidance::Update | Guidance::Construct | Guidance::Init);
            after = found.state().filter(|_| leads).cloned().or(relied);
            push(&mut kept, call);
        }
        match &self.told.run {
            Some(run) if kept.is_empty() => self.others(run),
            Some(_) | None => kept,
        }
    }

    fn lacks_approval(&self, run: &Run) -> bool {
        let plain = self.call("", Guidance::Construct, &[]);
        self.told.is_past_gate()
            && !self.is_open(run, &plain)
            && (self.is_open(run, &self.approval()) || self.needs_person(run))
    }

    /// What is advised where a call is closed.
    fn in_place_of(&self, run: &Run, call: &Next, refusal: &Refusal) -> Vec<Next> {
        if is_for_person(refusal) {
            return self.before_person(run);
        }
        if call.tool == Guidance::Construct.name() || self.lacks_approval(run) {
            let approval = self.approval();
            if self.is_open(run, &approval) {
                return vec![approval];
            }
            if self.needs_person(run) {
                return self.before_person(run);
            }
        }
        if call.tool == Guidance::Complete.name() && matches!(refusal, Refusal::ItemUnknown { .. })
        {
            return self.with_item(run, call);
        }
        Vec::new()
    }

    /// Only the user's own answer counts: they are asked, if they are not yet.
    fn before_person(&self, run: &Run) -> Vec<Next> {
        let when =
            "when the user has answered with `milepost gate` (tell them; do not run it yourself)";
        let person = self.call(when, Guidance::Hello, &[]);
        if run.seen.view.state.standing.open_gate().is_some() {
            return vec![person];
        }
        let gated = run.seen.view.workflow.steps.iter().find(|it| it.gate.is_some());
        let at = [("phase", gated.map_or("", |it| it.name.as_str())), ("status", WAITING)];
        let ask = self.call("to put the plan before the user again", Guidance::Update, &at);
        // A plan that was approved before is not asked about again: it is made again first.
        let feedback = [("feedback", "the plan is to be approved again")];
        let revise = self.call("to have the plan approved again", Guidance::Revise, &feedback);
        let asked = try_on(run, &run.seen.view.state, &ask);
        if asked.state().is_some_and(|it| it.standing.open_gate().is_some()) {
            return vec![ask];
        }
        vec![if self.is_open(run, &revise) { revise } else { person }]
    }

    /// Returns the call that names the first pending item as the one at hand.
    fn name_item(&self, run: &Run) -> Option<Next> {
        let item = run.seen.view.state.items.iter().find(|it| !it.is_done)?;
        let item = [("current_item", item.text.as_str())];
        let named = self.call("if this pending row is the item at hand", Guidance::Update, &item);
        self.is_open(run, &named).then_some(named)
    }

    /// A file was edited, and the item at hand is not on the list: it must be named first.
    fn with_item(&self, run: &Run, call: &Next) -> Vec<Next> {
        let listed = || self.call("to put the item on the list", Guidance::Init, &[]);
        let first = self.name_item(run).unwrap_or_else(listed);
        let then = Next { when: LATER.to_owned(), ..call.clone() };
        if self.is_open(run, &first) { vec![first, then] } else { Vec::new() }
    }

    /// The calls that are open, where none of those is that an answer usually names.
    fn others(&self, run: &Run) -> Vec<Next> {
        let when = "if that is where the work is";
        let moves = ROWS.iter().skip(1).take_while(|it| it.tool != Guidance::ErrorRecovery);
        let calls = moves.map(|row| {
            let needed = row.detail().map(|it| (it.name, "<what there is to say>"));
            self.call(when, row.tool, needed.as_slice())
        });
        let calls = calls.chain([self.approval(), self.begin()]);
        calls.filter(|it| self.is_open(run, it)).take(OTHERS_MAX).collect()
    }

    fn is_open(&self, run: &Run, call: &Next) -> bool {
        try_on(run, &run.seen.view.state, call).is_open()
    }

    fn needs_person(&self, run: &Run) -> bool {
        let found = try_on(run, &run.seen.view.state, &self.approval());
        found.refusal().is_some_and(is_for_person)
    }

    fn begin(&self) -> Next {
        // A run that was stopped goes on with the task that the user names now.
        let is_over = |it: &Run| !it.seen.view.state.standing.is_live();
        let is_over = self.told.run.as_ref().is_some_and(is_over);
        let task = self.task.filter(|_| !is_over);
        let begun = Self { task, ..*self };
        begun.call("when the user has named a task", Guidance::Init, &[])
    }

    /// Returns the call that says that the user has approved the plan.
    fn approval(&self) -> Next {
        let approved = [(APPROVAL, "true")];
        self.call("when the user has approved the plan", Guidance::Construct, &approved)
    }

    /// Returns a call with the task and further arguments.
    fn call(&self, when: &str, tool: Guidance, args: Args<'_>) -> Next {
        let mut params = Map::new();
        let mut set = |name: &str, value: &str| params.insert(name.to_owned(), value.into());
        if tool.row().takes(TASK) {
            set(TASK, self.task.unwrap_or(ANY_TASK));
        }
        if let (Guidance::Update, Some(run)) = (tool, &self.told.run) {
            let state = &run.seen.view.state;
            let step = state.current.as_ref().and_then(|it| run.seen.view.workflow.find_step(it));
            // A plan is put before the user where they are asked.
            let asks =
                step.is_some_and(|it| it.gate.is_some()) && args.iter().any(|it| it.0 == "plan");
            set("phase", step.map_or("", |it| it.name.as_str()));
            set("status", if asks { WAITING } else { run.file.status() });
        }
        for (name, value) in args {
            match value.strip_prefix(DETAIL) {
                Some(_) if !self.detail.is_empty() => set(name, self.detail),
                Some(place) => set(name, place),
                None => set(name, value),
            };
        }
        if let Some(flag) = params.get_mut(APPROVAL) {
            *flag = Value::Bool(true);
        }
        Next { when: when.to_owned(), tool: tool.name(), params }
    }
}

/// Tries a call on a state of the run, as the command that it is. One that only looks changes
/// nothing.
fn try_on(run: &Run, state: &RunState, call: &Next) -> Probe {
    let row = Row::find(call.tool).filter(|it| !it.makes.is_empty());
    let Some(row) = row else { return Probe::Open(Box::new(state.clone())) };
    probe(&run.seen.view.workflow, state, &run.seen.known, &command(row, &call.params, Some(state)))
}

/// Whether nothing but a person's own answer leads on.
fn is_for_person(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::GateNeedsPerson { .. } | Refusal::GateOpen { is_relayed: false, .. })
}

/// Adds a call that is not there yet.
fn push(kept: &mut Vec<Next>, call: Next) {
    let is_same = |it: &Next| it.tool == call.tool && it.params == call.params;
    if !kept.iter().any(is_same) {
        kept.push(call);
    }
}
