//! `resume_workflow`: back to a run, with the brief that a newcomer needs.

use engine::{Command, ContextChange, Refusal, ReportOptions, ReportStep, ResumeRun, RunId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    advance_workflow::{ended, holder, parse_part},
    answer,
    report::Report,
    run,
    words::{Failure, Tried},
};
use crate::kit::{
    Ask, Caller, Done, Hints, InvalidArguments, Look, Outcome, Person, Snapshot, Stopped, Tell,
    Tool,
};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ResumeWorkflow {
    /// Run id or key
    #[schemars(extend("x-names" = ["run"]))]
    instance_id: String,
    /// Step you believe to be on
    assumed_current_step_name: Option<String>,
    /// As in advance
    #[schemars(extend("x-elsewhere" = true))]
    report: Option<Report>,
    /// As in advance
    #[serde(default)]
    context_updates: Map<String, Value>,
    /// As in advance
    #[schemars(extend("x-names" = ["next_step", "next"]))]
    next_step_name: Option<String>,
    /// As in advance
    part: Option<String>,
    /// As in advance
    holder: Option<String>,
    /// As in advance
    lease: Option<u64>,
    /// Go on with a failed or cancelled run
    #[serde(default)]
    reopen: bool,
    /// Go on although files changed
    #[serde(default)]
    force: bool,
    /// Size of the brief
    max_tokens: Option<u32>,
    /// For safe retries
    #[expect(dead_code, reason = "the server reads it before the call")]
    request_id: Option<String>,
}

impl Tool for ResumeWorkflow {
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "resume_workflow";
    const TITLE: &'static str = "Resume a run";
    const DESCRIPTION: &'static str = "Come back to a run after a break, a compaction or in \
        another client. Without report it only returns a brief: what is done, what to do \
        now. With report it also reconciles what you did.";
    const HINTS: Hints = Hints::DECIDES;

    fn ask(mut self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        if self.reopen && self.report.is_some() {
            let why = "cannot be given together with `report`: reopen first, then report";
            return Err(InvalidArguments::wrong(Self::NAME, "reopen", why).into());
        }
        let tried = Tried::new(
            person,
            format!("Failed to resume workflow instance '{}'", self.instance_id),
        );
        Ok(run::find::<Self>(self.instance_id.clone(), tried.clone(), move |run| {
            match self.report.take() {
                Some(report) => self.reconcile(run, report, tried),
                None if self.reopen => self.reopen(run, tried),
                None => self.look(run, tried),
            }
        }))
    }
}

impl ResumeWorkflow {
    fn reopen(self, run: RunId, tried: Tried) -> Ask {
        let reason = "reopened by an agent".to_owned();
        let command = Command::ReopenRun { reason, force: self.force };
        let (unused, tokens) = (self.unused(), self.tokens());
        run::change(run, command, self.holder, move |came| match came {
            Ok(outcome) => committed(&outcome, tokens, unused, tried.person),
            Err(stopped) => Self::fail(tried.failure(&stopped)),
        })
    }

    /// Takes in what the agent did, wherever it believes to be.
    fn reconcile(self, run: RunId, report: Report, tried: Tried) -> Ask {
        let (by, tokens) = (self.holder.clone(), self.tokens());
        let command = match self.command(report) {
            Ok(command) => command,
            Err(stopped) => return Self::fail(tried.failure(&stopped)).into(),
        };
        run::change(run, command, by, move |came| match came {
            Ok(outcome) => match tried.model_failure(&outcome) {
                Some(failure) => Self::fail(failure),
                None => committed(&outcome, tokens, None, tried.person),
            },
            Err(Stopped::Refused(Refusal::RunEnded { status })) => {
                let person = tried.person;
                let say = {
                    let tried = tried.clone();
                    move |now: Snapshot| {
                        with_brief(&now, tokens, tried, ended(&now, status, person))
                    }
                };
                Look::View(run, None, tried.or_fail::<Self, _, _>(say)).into()
            }
            Err(stopped) => Self::fail(tried.failure(&stopped)),
        })
    }

    fn command(self, report: Report) -> Result<Command, Stopped> {
        let assumed = self.assumed_current_step_name;
        let resume = ResumeRun {
            assumed: assumed.unwrap_or_else(|| report.step_id.clone()),
            report: ReportStep {
                part: self.part.as_deref().map(parse_part).transpose()?,
                report: report.into(),
                context: ContextChange { set: self.context_updates, remove: Vec::new() },
                next: self.next_step_name,
                holder: holder(self.holder, self.lease),
                terms: ReportOptions::default(),
            },
            force: self.force,
        };
        Ok(Command::ResumeRun(Box::new(resume)))
    }

    /// Looks, and changes nothing.
    fn look(self, run: RunId, tried: Tried) -> Ask {
        let failed = tried.clone();
        let seen = move |now: Snapshot| {
            let mut done = answer::of_view(&now, &[], tried.person);
            done.warnings.extend(self.unused());
            let current = now.view.state.current.as_ref();
            let assumed = self.assumed_current_step_name.as_deref();
            if let (Some(assumed), Some(current)) = (assumed, current) {
                let believed = now.view.workflow.find_step_loosely(assumed).map(|it| &it.name);
                if believed != Some(current) {
                    let reasoning = format!("the run is at `{current}`, not at `{assumed}`");
                    done.answer.reasoning = Some(reasoning);
                }
            }
            with_brief(&now, self.tokens(), tried, done)
        };
        Tell::Look(Look::View(run, None, failed.or_fail::<Self, _, _>(seen))).into()
    }

    fn tokens(&self) -> Option<usize> {
        self.max_tokens.and_then(|it| usize::try_from(it).ok())
    }

    fn unused(&self) -> Option<String> {
        let is_given = !self.context_updates.is_empty() || self.next_step_name.is_some();
        let unused = "`context_updates` and `next_step_name` are kept only with a `report`";
        is_given.then(|| unused.to_owned())
    }
}

/// Words what was written. It stays written where the brief cannot be had.
fn committed(
    outcome: &Outcome,
    tokens: Option<usize>,
    warning: Option<String>,
    person: Person,
) -> Tell {
    let mut done = answer::of_outcome(outcome, person);
    let add = move |brief| {
        match brief {
            Ok(brief) => done.answer.brief = Some(brief),
            Err(error) => done.warnings.push(format!("it is done, but there is no brief: {error}")),
        }
        done.warnings.extend(warning);
        ResumeWorkflow::say(done)
    };
    Tell::Look(Look::Brief(outcome.now.view.clone(), tokens, Box::new(add)))
}

/// Adds the brief, without which the answer is none.
fn with_brief(
    now: &Snapshot,
    tokens: Option<usize>,
    tried: Tried,
    mut done: Done<answer::Answer>,
) -> Tell {
    let add = move |brief| {
        done.answer.brief = Some(brief);
        ResumeWorkflow::say(done)
    };
    let come = tried.or_fail::<ResumeWorkflow, _, _>(add);
    Tell::Look(Look::Brief(now.view.clone(), tokens, come))
}
