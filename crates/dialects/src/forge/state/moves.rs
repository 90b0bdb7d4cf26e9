//! The calls that move a pipeline at a phase, as the commands that they are: for the tools that make
//! them, and for anyone who advises them.

use definition::{PartId, PartSpec, Step};
use engine::{
    Command, ContextChange, GatePolicy, MakeMove, Report, ReportOptions, ReportStep, Rigor,
    Standing, StartStep, View,
};
use serde_json::{Map, Value};

use super::task;

/// A call that moves a pipeline at a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::forge) enum Move {
    Start,
    Complete,
    Skip,
    Ask,
}

impl Move {
    /// Returns the command that it is.
    pub(in crate::forge) fn at(self, step: &Step, view: &View) -> Command {
        let name = step.name.to_string();
        let command = match self {
            Self::Start => {
                let start = StartStep { step: name.clone(), again: true, ..StartStep::default() };
                let go = Command::GoTo { step: name, passing: GatePolicy::InOrder };
                Command::All(vec![go, Command::StartStep(start)])
            }
            Self::Complete => {
                let open = view.state.standing.open_gate();
                let is_asked = open.is_some_and(|it| it.step == step.name);
                if is_asked || step.gate.is_some() {
                    Command::ApproveStep { step: name }
                } else {
                    Command::ReportStep(Box::new(report(name)))
                }
            }
            Self::Skip => Command::SkipStep { step: name },
            Self::Ask => return taken_up(view, vec![Command::AskPerson { step: name }]),
        };
        let noted = (self == Self::Skip).then(|| leave_out(step));
        let stops = Command::StopAtNextStep(command.into());
        taken_up(view, noted.into_iter().chain([stops]).collect())
    }
}

/// Returns the command that says that there is one task.
pub(in crate::forge) fn plan_one(view: &View) -> Command {
    let id = PartId::parse("1").expect("it is the number of a task");
    let (title, mode) = ("it".to_owned(), String::new());
    let part = PartSpec { id, title, mode, files: Vec::new(), after: Vec::new() };
    taken_up(view, vec![Command::PlanParts { set: task::SET.to_owned(), parts: vec![part] }])
}

/// Has a failed pipeline taken up again before anything else.
pub(super) fn taken_up(view: &View, commands: Vec<Command>) -> Command {
    let mut all = Vec::new();
    if let Standing::Failed { .. } = view.state.standing {
        // The files may well have been fixed since.
        let reason = "the phase is taken up again".to_owned();
        all.push(Command::ReopenRun { reason, force: true });
    }
    all.extend(commands);
    Command::All(all)
}

/// What is in the files of the phase is not looked at.
fn report(step: String) -> ReportStep {
    ReportStep {
        part: None,
        report: Report { step_id: step, status: "success".to_owned(), ..Report::default() },
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: ReportOptions { rigor: Rigor::Presence, ..ReportOptions::default() },
    }
}

fn leave_out(step: &Step) -> Command {
    let args = Map::from_iter([("phase".to_owned(), Value::from(step.name.as_str()))]);
    let name = "leave_out".to_owned();
    Command::Move(Box::new(MakeMove { name, args, ..MakeMove::default() }))
}
