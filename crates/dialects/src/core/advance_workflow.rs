//! `advance_workflow`: how a step went, and what comes next.

use definition::PartId;
use engine::{Command, ContextChange, Holder, Refusal, ReportOptions, ReportStep, Status};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer,
    report::Report,
    run,
    words::{Failure, Tried, invalid},
};
use crate::kit::{Ask, Caller, Done, Hints, Look, Person, Snapshot, Stopped, Tool};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AdvanceWorkflow {
    /// Run id or key
    #[schemars(extend("x-names" = ["run"]))]
    instance_id: String,
    /// How the step went
    report: Report,
    /// Top-level keys to set
    #[serde(default)]
    context_updates: Map<String, Value>,
    /// Keys to remove
    context_deletes: Option<Vec<String>>,
    /// One of the offered choices
    #[schemars(extend("x-names" = ["next_step", "next"]))]
    next_step_name: Option<String>,
    /// Part reported on
    part: Option<String>,
    /// Your name, if you claimed it
    holder: Option<String>,
    /// Number of your lease
    lease: Option<u64>,
    /// For safe retries
    #[expect(dead_code, reason = "the server reads it before the call")]
    request_id: Option<String>,
}

impl Tool for AdvanceWorkflow {
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "advance_workflow";
    const TITLE: &'static str = "Report and advance";
    const DESCRIPTION: &'static str = "Report the current step and get the next. Follow the \
        returned instructions exactly. Report honestly: a failure is handled, an invented success \
        is refused or breaks later steps.";
    const HINTS: Hints = Hints::DECIDES;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        let tried = Tried::new(
            person,
            format!("Failed to advance workflow instance '{}'", self.instance_id),
        );
        Ok(run::find::<Self>(self.instance_id.clone(), tried.clone(), move |run| {
            let by = self.holder.clone();
            let command = match self.command() {
                Ok(command) => command,
                Err(stopped) => return Self::fail(tried.failure(&stopped)).into(),
            };
            run::change(run, command, by, move |came| match came {
                Ok(outcome) => Self::tell(match tried.model_failure(&outcome) {
                    Some(failure) => Err(failure),
                    None => Ok(answer::of_outcome(&outcome, person)),
                }),
                Err(Stopped::Refused(Refusal::RunEnded { status })) => {
                    let say = move |now: Snapshot| Self::say(ended(&now, status, person));
                    Look::View(run, None, tried.or_fail::<Self, _, _>(say)).into()
                }
                Err(stopped) => Self::fail(tried.failure(&stopped)),
            })
        }))
    }
}

impl AdvanceWorkflow {
    fn command(self) -> Result<Command, Stopped> {
        Ok(Command::ReportStep(Box::new(ReportStep {
            part: self.part.as_deref().map(parse_part).transpose()?,
            report: self.report.into(),
            context: ContextChange {
                set: self.context_updates,
                remove: self.context_deletes.unwrap_or_default(),
            },
            next: self.next_step_name,
            holder: holder(self.holder, self.lease),
            terms: ReportOptions::default(),
        })))
    }
}

/// Answers a report on a run that is over: with its last words, and not as an error.
pub(super) fn ended(now: &Snapshot, status: Status, person: Person) -> Done<answer::Answer> {
    let mut done = answer::of_view(now, &[], person);
    let (state, way_out) = match status {
        Status::Failed => ("has failed", "; `resume_workflow` with `reopen` goes on with it"),
        Status::Cancelled => ("was cancelled", "; `resume_workflow` with `reopen` goes on with it"),
        Status::Completed | Status::New | Status::Running | Status::Waiting => ("is completed", ""),
    };
    done.warnings.push(format!("the run {state}; nothing of this call was kept{way_out}"));
    done
}

pub(super) fn parse_part(text: &str) -> Result<PartId, Stopped> {
    PartId::parse(text).map_err(|error| {
        // Parts that come from a list of files have their paths as ids, with `-` for `/`.
        let meant = PartId::parse(&text.replace(['/', '\\'], "-")).ok();
        let meant = meant.map(|it| format!("; did you mean `{}`?", it.as_str()));
        invalid("part", format!("{error}{}", meant.unwrap_or_default()))
    })
}

pub(super) fn holder(name: Option<String>, lease: Option<u64>) -> Option<Holder> {
    let is_given = name.is_some() || lease.is_some();
    is_given.then(|| Holder { name: name.unwrap_or_default(), generation: lease })
}
