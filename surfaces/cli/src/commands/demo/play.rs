//! The demo's story, told as it happens. Every answer in it is the engine's own.

use std::{cell::Cell, fs, time::Duration};

use definition::Workflow;
use engine::{
    Actor, Answer, AnswerGate, Command, ContextChange, How, Recorded, Report, ReportStep, RunId,
    StartRun, Surface,
};
use runtime::{ExecuteError, Outcome, Request, Runtime, Target, View};
use serde_json::{Map, Value, json};

use super::stage::Stage;
use crate::{
    failure::{Failure, Kind},
    output::{ALERT, BAD, BOLD, DIM, GOOD, NAME, Output, text},
};

/// How long the brief in the demo may be.
const BRIEF_TOKENS: usize = 700;

/// The longest pause for reading, in words.
const WORDS_MAX: u32 = 60;

/// The story.
pub(super) struct Play<'a> {
    stage: &'a Stage,
    output: Output,
    /// How long a word takes to read.
    pause: Duration,
    /// How many words were printed since the last pause.
    unread: Cell<u32>,
}

impl<'a> Play<'a> {
    /// Prepares it; `pause` is how long a word takes to read.
    pub(super) fn new(stage: &'a Stage, output: Output, pause: Duration) -> Self {
        let pause = if output.is_json { Duration::ZERO } else { pause };
        Self { stage, output, pause, unread: Cell::new(0) }
    }

    /// Plays it, and returns the run at its end.
    pub(super) async fn perform(&self) -> Result<(View, Vec<Recorded>), Failure> {
        let runtime = self.stage.enter()?;
        let run = self.begin(&runtime).await?;
        self.plan(&runtime, run).await?;
        self.approve(&runtime, run).await?;
        self.fail(&runtime, run).await?;
        // The first agent's process is gone, with all that it held in memory.
        drop(runtime);
        let runtime = self.stage.enter()?;
        self.resume(&runtime, run).await?;
        self.finish(&runtime, run).await
    }

    async fn begin(&self, runtime: &Runtime) -> Result<RunId, Failure> {
        self.title("1", "An agent begins").await?;
        self.call("ana", "start_workflow demo, task: \"add a dark mode\"").await?;
        let mut context = Map::new();
        context.insert("task".to_owned(), json!("add a dark mode"));
        let command = Command::StartRun(Box::new(StartRun {
            goes_on: false,
            key: None,
            flow: None,
            context,
            vars: Map::new(),
            root: self.stage.folder().display().to_string(),
        }));
        let target = Target::New("demo".to_owned());
        let request = Request { target, command, actor: agent("ana"), request_id: None };
        let outcome = runtime.execute(request).await?;
        self.told(&outcome).await?;
        Ok(outcome.view.state.run)
    }

    async fn plan(&self, runtime: &Runtime, run: RunId) -> Result<(), Failure> {
        self.title("2", "It says \"done\", but there is nothing to see").await?;
        self.call("ana", "advance_workflow Plan, success").await?;
        self.refused(report(runtime, run, "ana", ("Plan", "success", "the plan is ready")).await)?;
        self.say("   It writes plan.md, and reports again.").await?;
        let plan = "# Plan\n\nA switch in the settings; colours from one file.\n\nTests: the switch \
                    is remembered.\n";
        fs::write(self.stage.folder().join("plan.md"), plan)?;
        self.call("ana", "advance_workflow Plan, success").await?;
        let outcome = report(runtime, run, "ana", ("Plan", "success", "the plan is ready")).await?;
        self.told(&outcome).await
    }

    async fn approve(&self, runtime: &Runtime, run: RunId) -> Result<(), Failure> {
        self.title("3", "Only a person can say yes").await?;
        self.call("ana", "answer_gate approve").await?;
        self.refused(answer(runtime, run, How::Relayed, "ana").await)?;
        self.call("you", "milepost gate approve").await?;
        let outcome = answer(runtime, run, How::Verified, "you").await?;
        self.told(&outcome).await
    }

    async fn fail(&self, runtime: &Runtime, run: RunId) -> Result<(), Failure> {
        self.title("4", "Something goes wrong, and then the agent dies").await?;
        self.call("ana", "advance_workflow Build, failure").await?;
        let said = "3 of 41 tests fail: the switch forgets its state";
        let outcome = report(runtime, run, "ana", ("Build", "failure", said)).await?;
        let attempts = outcome.view.state.steps.values().map(|it| it.effort.attempts).max();
        let attempt = attempts.unwrap_or_default() + 1;
        self.say(&format!(
            "   {ALERT}noted{ALERT:#}; Build may be tried again (attempt {attempt} of 3)"
        ))
        .await?;
        self.say(&format!("   {BAD}ana's session ends here. Nobody remembers anything.{BAD:#}"))
            .await
    }

    async fn resume(&self, runtime: &Runtime, run: RunId) -> Result<(), Failure> {
        self.title("5", "Another agent comes, and knows only the run's id").await?;
        self.call("ben", "resume_workflow").await?;
        let words = |it: &Workflow| mcp::find_words(it, &[]);
        let (_, brief, _) = mcp::brief(runtime, run, Some(BRIEF_TOKENS), words).await?;
        for line in text::lines(&brief.text).lines() {
            let line = text::wrap(line, self.output.width(), 5);
            let line = line.replace("\n     ", &format!("\n   {DIM}│{DIM:#} "));
            self.print(&format!("   {DIM}│{DIM:#} {line}"))?;
        }
        self.let_read().await;
        Ok(())
    }

    async fn finish(
        &self,
        runtime: &Runtime,
        run: RunId,
    ) -> Result<(View, Vec<Recorded>), Failure> {
        self.title("6", "It goes on from exactly there").await?;
        self.call("ben", "advance_workflow Build, success").await?;
        let said = ("Build", "success", "the switch is stored; 41 tests pass");
        self.told(&report(runtime, run, "ben", said).await?).await?;
        self.call("ben", "advance_workflow Report, success").await?;
        let said = ("Report", "success", "dark mode is in the settings");
        self.told(&report(runtime, run, "ben", said).await?).await?;
        self.title("7", "And everything is on record").await?;
        let history = runtime.history(run, None, usize::MAX).await?;
        for recorded in &history.events {
            let by = recorded.by.name.as_deref().unwrap_or_default();
            let what = text::line(&recorded.event.describe());
            let what = text::wrap(&what, self.output.width(), 14);
            let (seq, by) = (recorded.seq, text::pad(by, 5));
            self.print(&format!("   {DIM}{seq:>3}{DIM:#}  {NAME}{by}{NAME:#} {what}"))?;
        }
        self.say("").await?;
        self.say(&format!(
            "{BOLD}Your turn:{BOLD:#} {NAME}milepost setup{NAME:#}, then \
             tell the agent to start a workflow."
        ))
        .await?;
        Ok((history.view, history.events))
    }

    async fn title(&self, number: &str, title: &str) -> Result<(), Failure> {
        self.print(&format!("\n{BOLD}{number}. {title}{BOLD:#}"))?;
        self.let_read().await;
        Ok(())
    }

    async fn call(&self, who: &str, what: &str) -> Result<(), Failure> {
        self.say(&format!("   {NAME}{who}{NAME:#} {DIM}→{DIM:#} {what}")).await
    }

    /// Shows what the run says now.
    async fn told(&self, outcome: &Outcome) -> Result<(), Failure> {
        let View { workflow, state, .. } = &outcome.view;
        let (style, word, said) = match engine::next(workflow, state) {
            engine::Action::Work { step, .. } => {
                (GOOD, "now", format!("{}: {}", step.name, text::line(&step.instructions)))
            }
            engine::Action::Wait { gate } => {
                let options: Vec<&str> = gate.options.iter().map(|it| it.name.as_str()).collect();
                let asked = format!("{} [{}]", text::line(&gate.ask), options.join(" / "));
                (ALERT, "waits for a person:", asked)
            }
            engine::Action::Done => (GOOD, "the run is completed", String::new()),
            engine::Action::Choose { .. }
            | engine::Action::Chore { .. }
            | engine::Action::Stopped { .. } => {
                (ALERT, "the run is", state.standing.as_str().to_owned())
            }
        };
        let indent = 4 + word.len();
        let said = text::wrap(&said, self.output.width(), indent);
        self.say(format!("   {style}{word}{style:#} {said}").trim_end()).await
    }

    /// Shows a refusal. That there is one is the point of the scene.
    fn refused(&self, result: Result<Outcome, ExecuteError>) -> Result<(), Failure> {
        match result {
            Err(ExecuteError::Refused(refusal)) => {
                let (message, hint) = (text::line(&refusal.to_string()), refusal.hint());
                self.print(&format!("   {BAD}refused{BAD:#} {message}"))?;
                self.print(&format!("           {DIM}{}{DIM:#}", text::line(&hint)))
            }
            Err(error) => Err(error.into()),
            Ok(_) => {
                let message = "the demo was let through where it must be refused";
                Err(Failure { kind: Kind::Bug, ..Failure::fault("bug", message) })
            }
        }
    }

    async fn say(&self, text: &str) -> Result<(), Failure> {
        self.print(text)?;
        self.let_read().await;
        Ok(())
    }

    /// Waits until what was printed can have been read.
    async fn let_read(&self) {
        let words = self.unread.replace(0).min(WORDS_MAX);
        self.stage.pause(self.pause * words).await;
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        let words = u32::try_from(text.split_whitespace().count()).unwrap_or(WORDS_MAX);
        self.unread.set(self.unread.get().saturating_add(words));
        if self.output.is_json { Ok(()) } else { self.output.print(&format!("{text}\n")) }
    }
}

fn agent(name: &str) -> Actor {
    let client = Some("milepost demo".to_owned());
    Actor { name: Some(name.to_owned()), client, surface: Surface::Mcp }
}

async fn report(
    runtime: &Runtime,
    run: RunId,
    who: &str,
    (step, status, message): (&str, &str, &str),
) -> Result<Outcome, ExecuteError> {
    let report = Report {
        step_id: step.to_owned(),
        status: status.to_owned(),
        message: Some(message.to_owned()),
        result: Value::Null,
        ..Report::default()
    };
    let context = ContextChange::default();
    let report = ReportStep {
        part: None,
        report,
        context,
        next: None,
        holder: None,
        terms: engine::ReportOptions::default(),
    };
    let command = Command::ReportStep(Box::new(report));
    let target = Target::Run(run);
    runtime.execute(Request { target, command, actor: agent(who), request_id: None }).await
}

async fn answer(
    runtime: &Runtime,
    run: RunId,
    how: How,
    by: &str,
) -> Result<Outcome, ExecuteError> {
    let command = Command::AnswerGate(Box::new(AnswerGate {
        answer: Answer::Approve,
        feedback: String::new(),
        by: by.to_owned(),
        how,
        digest: None,
    }));
    let surface = if how == How::Relayed { Surface::Mcp } else { Surface::Cli };
    let actor = Actor { surface, ..agent(by) };
    runtime.execute(Request { target: Target::Run(run), command, actor, request_id: None }).await
}
