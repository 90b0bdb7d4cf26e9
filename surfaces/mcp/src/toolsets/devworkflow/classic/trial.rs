//! Which calls the engine would accept. Advice is tried before it is given, as the command that the
//! call would be, so that no table here can contradict the rules.

use definition::Workflow;
use engine::{Command, Known, Probe, Refusal, RunState, probe};
use serde_json::{Map, Value};

use super::{
    super::{
        options::Settings as Options,
        text::{Guidance, LATER, Next, Told},
    },
    command, find_row,
};

/// How many calls are named where none of the usual ones is open.
const OTHERS_MAX: usize = 3;

/// A run to try calls on.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Trial<'a> {
    pub(in super::super) workflow: &'a Workflow,
    pub(in super::super) state: &'a RunState,
    pub(in super::super) known: &'a Known,
    pub(in super::super) options: &'a Options,
}

impl Trial<'_> {
    /// Keeps the calls that are open, and says what is in place of the others.
    pub(in super::super) fn keep(&self, told: &Told<'_>, calls: Vec<Next>) -> Vec<Next> {
        let is_some = !calls.is_empty();
        let mut kept: Vec<Next> = Vec::new();
        // The run as it is after the call before, where the next one may rely on that.
        let mut after: Option<RunState> = None;
        for call in calls {
            let Some(command) = self.command(&call) else {
                push(&mut kept, call);
                continue;
            };
            let mut found = probe(self.workflow, self.state, self.known, &command);
            let relied = after.take().filter(|_| !found.is_open());
            if let Some(state) = &relied {
                found = probe(self.workflow, state, self.known, &command);
            }
            if let Probe::Closed(refusal) = &found {
                for other in self.in_place_of(told, &call, refusal) {
                    push(&mut kept, other);
                }
                continue;
            }
            let leads = call.tool == Guidance::Update.name() || call.is_before_later();
            after = found.state().filter(|_| leads).cloned().or(relied);
            push(&mut kept, call);
        }
        if kept.is_empty() && is_some { self.others(told) } else { kept }
    }

    /// Whether the plan that is built or validated is not the one that the user approved.
    pub(in super::super) fn lacks_approval(&self, told: &Told<'_>) -> bool {
        let is_building = self
            .state
            .current
            .as_ref()
            .is_some_and(|it| matches!(it.as_str(), "CONSTRUCT" | "VALIDATE"));
        let plain = told.call("", Guidance::Construct, &[]);
        is_building
            && !self.is_open(&plain)
            && (self.is_open(&told.approval()) || self.needs_person(&told.approval()))
    }

    /// What is advised where a call is closed.
    fn in_place_of(&self, told: &Told<'_>, call: &Next, refusal: &Refusal) -> Vec<Next> {
        if is_for_person(refusal) {
            return self.before_person(told);
        }
        if self.lacks_approval(told) || call.tool == Guidance::Construct.name() {
            let approval = told.approval();
            if self.is_open(&approval) {
                return vec![approval];
            }
            if self.needs_person(&approval) {
                return self.before_person(told);
            }
        }
        if call.tool == Guidance::Complete.name() && matches!(refusal, Refusal::ItemUnknown { .. })
        {
            return self.with_item(told, call);
        }
        Vec::new()
    }

    /// Only the user's own answer counts: they are asked, if they are not yet.
    fn before_person(&self, told: &Told<'_>) -> Vec<Next> {
        let at = [("phase", "BLUEPRINT"), ("status", "NEEDS_PLAN_APPROVAL")];
        let ask = told.call("to put the plan before the user again", Guidance::Update, &at);
        if self.state.standing.open_gate().is_some() {
            return vec![told.person()];
        }
        // A plan that was approved before is not asked about again: it is made again first.
        let feedback = [("feedback", "the plan is to be approved again")];
        let revise = told.call("to have the plan approved again", Guidance::Revise, &feedback);
        match self.leads_to_person(&ask) {
            true => vec![ask],
            false if self.is_open(&revise) => vec![revise],
            false => vec![told.person()],
        }
    }

    /// Whether a person is asked once a call is made.
    fn leads_to_person(&self, call: &Next) -> bool {
        let Some(command) = self.command(call) else { return false };
        let found = probe(self.workflow, self.state, self.known, &command);
        found.state().is_some_and(|it| it.standing.open_gate().is_some())
    }

    /// A file was edited, and the item at hand is not on the list: it must be named first.
    fn with_item(&self, told: &Told<'_>, call: &Next) -> Vec<Next> {
        let open = self.state.items.iter().find(|it| !it.is_done);
        let first = match open {
            Some(item) => {
                let more =
                    [("phase", "VALIDATE"), ("status", "RUNNING"), ("current_item", &item.text)];
                told.call("if this pending row is the item at hand", Guidance::Update, &more)
            }
            None => told.call("to put the item on the list", Guidance::Init, &[]),
        };
        let then = Next { when: LATER.to_owned(), ..call.clone() };
        if self.is_open(&first) { vec![first, then] } else { Vec::new() }
    }

    /// The calls that are open, where none of those is that an answer usually names.
    fn others(&self, told: &Told<'_>) -> Vec<Next> {
        let when = "if that is where the work is";
        let summary = [("requirements_summary", "<the requirements summary>")];
        let feedback = [("feedback", "<what is to be changed>")];
        let calls = [
            told.call(when, Guidance::Analyze, &[]),
            told.call(when, Guidance::Blueprint, &summary),
            told.call(when, Guidance::Revise, &feedback),
            told.call(when, Guidance::Construct, &[]),
            told.approval(),
            told.call(when, Guidance::Validate, &[]),
            told.call(when, Guidance::Complete, &[]),
            told.call(when, Guidance::Iterate, &[]),
            told.call(when, Guidance::Finalize, &[]),
            told.call("when the user has named a task", Guidance::Init, &[]),
        ];
        calls.into_iter().filter(|it| self.is_open(it)).take(OTHERS_MAX).collect()
    }

    fn is_open(&self, call: &Next) -> bool {
        self.command(call)
            .is_some_and(|it| probe(self.workflow, self.state, self.known, &it).is_open())
    }

    fn needs_person(&self, call: &Next) -> bool {
        let Some(command) = self.command(call) else { return false };
        let found = probe(self.workflow, self.state, self.known, &command);
        found.refusal().is_some_and(is_for_person)
    }

    /// Returns the command that a call is, made as the call itself makes it. `None` where it is none.
    pub(in super::super) fn command(&self, call: &Next) -> Option<Command> {
        command_of(call.tool, &call.params, self.options)
    }
}

/// Whether nothing but a person's own answer leads on.
fn is_for_person(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::GateNeedsPerson { .. } | Refusal::GateOpen { is_relayed: false, .. })
}

/// Returns the command that a call of a tool is. `None` where it only looks, or is refused before
/// the engine is asked.
pub(super) fn command_of(
    tool: &str,
    params: &Map<String, Value>,
    options: &Options,
) -> Option<Command> {
    let row = find_row(tool)?;
    let ask = (row.ask?)(params.clone(), options).ok()?;
    Some(command(row.tool, &ask))
}

/// Adds a call that is not there yet.
fn push(kept: &mut Vec<Next>, call: Next) {
    let is_same = |it: &Next| it.tool == call.tool && it.params == call.params;
    if !kept.iter().any(is_same) {
        kept.push(call);
    }
}
