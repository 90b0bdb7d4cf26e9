//! `milepost workflow try`: a workflow is walked without an agent. The person at the terminal says
//! what an agent and another person would, and sees what the engine makes of it.

mod line;
mod shown;
mod world;

use std::{
    io::{BufRead as _, IsTerminal as _},
    path::Path,
    sync::Arc,
};

use ::world::beneath::{Care, Root};
use clap_complete::ArgValueCompleter;
use engine::{
    Actor, AnswerGate, Command, ContextChange, How, Remedy, Report, ReportOptions, ReportStep,
    RunId, StartRun, Surface,
};
use runtime::{ExecuteError, Outcome, Request, Runtime, Target, View};
use serde_json::{Map, Value, json};

use self::{
    line::{HELP, Line, Said},
    shown::{Shown, show},
    world::TrialWorld,
};
use super::find;
use crate::{
    commands::scratch::Scratch,
    complete,
    failure::Failure,
    join::Joined,
    output::{BAD, DIM, NAME, Output, Reply, text},
    wire,
};

/// What `workflow try` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TryArgs {
    /// The workflow
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    name: String,
    /// The run's own key, if the workflow wants one
    #[arg(long)]
    key: Option<String>,
    /// One of the workflow's flows
    #[arg(long)]
    flow: Option<String>,
    /// A fact of the start context; the value is JSON, or else a text
    #[arg(long = "context", value_name = "KEY=VALUE", value_parser = line::pair)]
    context: Vec<(String, Value)>,
}

/// Walks the workflow until the run ends, or nobody says anything more.
pub(super) async fn perform(
    joined: &Joined,
    args: TryArgs,
    output: Output,
) -> Result<Reply, Failure> {
    let workflow = find(joined, &args.name)?.workflow;
    let scratch = Scratch::new("milepost-try-")?;
    let world = Arc::new(TrialWorld::new(joined.config.world()));
    let runtime = scratch.enter(Arc::<TrialWorld>::clone(&world))?;
    let start = StartRun {
        key: args.key,
        flow: args.flow,
        context: args.context.into_iter().collect(),
        vars: Map::new(),
        root: scratch.folder().display().to_string(),
        goes_on: true,
    };
    let target = Target::New(workflow.name.to_string());
    let begun = execute(&runtime, target, Command::StartRun(Box::new(start))).await?;
    let mut trial = Trial {
        runtime: &runtime,
        folder: scratch.folder(),
        world: &world,
        run: begun.view.state.run,
        output,
        draft: Draft::default(),
        record: Vec::new(),
    };
    trial.print(&format!(
        "{DIM}Nothing here touches your runs or files. Files of this trial are in {}. `help` lists \
         what you can type.{DIM:#}\n",
        scratch.folder().display()
    ))?;
    trial.tell("start", Ok(begun))?;
    trial.walk().await?;
    let view = runtime.view(trial.run, None).await?;
    let state = &view.state;
    let place = state.current.as_ref().filter(|_| state.standing.is_live());
    let place = place.map(|it| format!(" at step `{it}`")).unwrap_or_default();
    let text = format!("the trial ends: the run is {}{place}", state.standing.as_str());
    Ok(Reply::new(json!({"run": wire::run(&view), "calls": trial.record}), text::line(&text)))
}

/// What is typed where a person is asked.
const ANSWER: &str =
    "you are the person here: type `approve`, or `answer NAME` with another option";

/// What the next report says besides.
#[derive(Default)]
struct Draft {
    context: Map<String, Value>,
    evidence: Map<String, Value>,
    part: Option<definition::PartId>,
}

struct Trial<'a> {
    runtime: &'a Runtime,
    folder: &'a Path,
    world: &'a TrialWorld,
    run: RunId,
    output: Output,
    draft: Draft,
    record: Vec<Value>,
}

impl Trial<'_> {
    async fn walk(&mut self) -> Result<(), Failure> {
        let is_terminal = std::io::stdin().is_terminal();
        let mut lines = std::io::stdin().lock().lines();
        loop {
            let view = self.runtime.view(self.run, None).await?;
            if !view.state.standing.is_live() {
                return Ok(());
            }
            if is_terminal && !self.output.is_json {
                self.output.prompt(&format!("{NAME}>{NAME:#} "))?;
            }
            let Some(typed) = lines.next().transpose()? else { return Ok(()) };
            match Line::read(&typed) {
                Ok(Line::Quit) => return Ok(()),
                Ok(line) => self.follow(&typed, &view, line).await?,
                Err(problem) => self.refuse(&typed, &problem, "`help` lists what you can type")?,
            }
        }
    }

    async fn follow(&mut self, typed: &str, view: &View, line: Line) -> Result<(), Failure> {
        let command = match line {
            Line::Nothing | Line::Quit => return Ok(()),
            Line::Help => return self.print(HELP),
            Line::Show => return self.print(&show(view, self.output.width()).text),
            Line::Set(name, value) => {
                self.draft.context.insert(name, value);
                return Ok(());
            }
            Line::Evidence(name, value) => {
                self.draft.evidence.insert(name, value);
                return Ok(());
            }
            Line::Part(part) => {
                self.draft.part = Some(part);
                return Ok(());
            }
            Line::File(path, content) => return self.write(typed, &path, &content),
            Line::Report(said) => self.report(view, said),
            Line::Answer(answer, feedback) => Command::AnswerGate(Box::new(AnswerGate {
                answer,
                feedback,
                by: "you".to_owned(),
                how: How::Verified,
                digest: None,
            })),
        };
        let done = execute(self.runtime, Target::Run(self.run), command).await;
        if done.is_ok() {
            self.draft = Draft::default();
        }
        self.tell(typed, done)
    }

    fn report(&self, view: &View, said: Said) -> Command {
        let step = view.state.current.as_ref().map(ToString::to_string).unwrap_or_default();
        let details = match &self.draft.evidence {
            given if given.is_empty() => Value::Null,
            given => json!({ "evidence": given }),
        };
        let message = Some(said.message).filter(|it| !it.is_empty());
        let report =
            Report { step_id: step, status: said.status, details, message, ..Report::default() };
        Command::ReportStep(Box::new(ReportStep {
            part: self.draft.part.clone(),
            report,
            context: ContextChange { set: self.draft.context.clone(), remove: Vec::new() },
            next: said.next,
            holder: None,
            terms: ReportOptions::default(),
        }))
    }

    fn write(&mut self, typed: &str, path: &str, content: &str) -> Result<(), Failure> {
        let root = Root::open(self.folder)?;
        match root.replace(Path::new(path), content.as_bytes(), Care::Plain) {
            Ok(_) => self.print(&format!("{DIM}wrote {}{DIM:#}\n", text::line(path))),
            Err(error) => {
                let problem = format!("`{path}` cannot be written: {error}");
                self.refuse(typed, &problem, "name a path inside the run's folder")
            }
        }
    }

    /// Shows what came of a line.
    fn tell(&mut self, typed: &str, done: Result<Outcome, ExecuteError>) -> Result<(), Failure> {
        let outcome = match done {
            Ok(outcome) => outcome,
            Err(ExecuteError::Refused(refusal)) => {
                let asks = matches!(refusal.remedy(), Remedy::AskPerson { .. });
                let failure = Failure::from(refusal);
                let hint = failure.hint.filter(|_| !asks).unwrap_or_else(|| ANSWER.to_owned());
                return self.refuse(typed, &failure.message, &hint);
            }
            Err(error) => return Err(error.into()),
        };
        for run in self.world.take_runs() {
            self.print(&format!("{DIM}not done in a trial: {}{DIM:#}\n", text::line(&run)))?;
        }
        for recorded in &outcome.events {
            let what = text::line(&recorded.event.describe());
            self.print(&format!("{DIM}  {what}{DIM:#}\n"))?;
        }
        let Shown { text, json } = show(&outcome.view, self.output.width());
        self.record.push(json!({ "typed": typed, "now": json }));
        self.print(&text)
    }

    fn refuse(&mut self, typed: &str, message: &str, hint: &str) -> Result<(), Failure> {
        self.record.push(json!({ "typed": typed, "refused": message, "hint": hint }));
        let (message, hint) = (text::line(message), text::line(hint));
        self.print(&format!("{BAD}refused{BAD:#} {message}\n        {DIM}{hint}{DIM:#}\n"))
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        if self.output.is_json { Ok(()) } else { self.output.print(text) }
    }
}

async fn execute(
    runtime: &Runtime,
    target: Target,
    command: Command,
) -> Result<Outcome, ExecuteError> {
    let client = Some("milepost workflow try".to_owned());
    let actor = Actor { name: Some("you".to_owned()), client, surface: Surface::Cli };
    runtime.execute(Request { target, command, actor, request_id: None }).await
}
