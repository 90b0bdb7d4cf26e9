//! `milepost run show`: where a run is, what was done, and what comes next.

use clap_complete::ArgValueCompleter;
use definition::{Step, Workflow};
use engine::{
    Action, Effort, How, Outcome, Progress, Report, RunState, Standing, next, target_name,
};
use runtime::View;
use serde_json::json;

use super::{short, status_style};
use crate::{
    commands::gate,
    complete,
    failure::Failure,
    join::Joined,
    output::{ALERT, BAD, BOLD, DIM, GOOD, NAME, Output, Reply, text},
    wire,
};

/// How many errors are shown.
const ERRORS_MAX: usize = 5;
/// How much of one report is shown, in columns.
const REPORT_COLUMNS: usize = 400;
/// How much of one value of the context is shown, in columns.
const VALUE_COLUMNS: usize = 60;

/// What `run show` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The run: its id, the beginning of one, or its key
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// As it was after this event
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
}

/// Shows a run.
pub(super) async fn perform(
    joined: &Joined,
    args: &ShowArgs,
    output: Output,
) -> Result<Reply, Failure> {
    let run = joined.runtime.find_run(&args.run).await?;
    let view = joined.runtime.view(run, args.at).await?;
    let page = Page { view: &view, now: joined.runtime.now(), width: output.width() };
    let note = args.at.map(|seq| format!("{DIM}As it was after event {seq}.{DIM:#}"));
    Ok(Reply::new(json!({"run": wire::run(&view)}), page.render()).with_note(note))
}

struct Page<'a> {
    view: &'a View,
    now: engine::Timestamp,
    width: usize,
}

impl Page<'_> {
    fn render(&self) -> String {
        let mut text = String::new();
        for section in [self.head(), self.facts(), self.steps(), self.next(), self.rest()] {
            if !section.is_empty() {
                text.push_str(&section);
                text.push('\n');
            }
        }
        text.trim_end().to_owned() + "\n"
    }

    fn head(&self) -> String {
        let View { workflow, state, .. } = self.view;
        let status = state.standing.as_str();
        let style = status_style(status);
        let title = text::line(&state.title());
        let title = if title.is_empty() { text::line(&workflow.title) } else { title };
        let title = text::cut(&title, self.width.saturating_sub(status.len() + 2));
        let mut head = format!("{BOLD}{title}{BOLD:#}  {style}{status}{style:#}\n");
        if let Some(reason) = wire::reason(state) {
            let reason = text::wrap(&text::lines(reason), self.width, 2);
            head.push_str(&format!("  {reason}\n"));
        }
        head
    }

    fn facts(&self) -> String {
        let View { workflow, state, .. } = self.view;
        let mut lines = Vec::new();
        let mut add = |name: &str, value: String| lines.push((name.to_owned(), value));
        add("run", format!("{NAME}{}{NAME:#}", state.run.short()));
        add("", format!("{DIM}{}{DIM:#}", state.run));
        let flow = state.flow().map(|it| format!(", flow {}", text::line(it)));
        let digest = workflow.digest.short();
        let name = text::line(workflow.name.as_str());
        let decider = wire::decider(state.decider());
        let flow = flow.unwrap_or_default();
        add("workflow", format!("{name}{flow} {DIM}({decider}, {digest}){DIM:#}"));
        if let Some(key) = state.key() {
            add("key", text::line(key));
        }
        add("folder", text::line(state.root()));
        let (started, changed) = (state.started_at, state.updated_at);
        add("started", format!("{} ({})", text::at(started), text::ago(self.now, started)));
        let (changed, ago) = (text::at(changed), text::ago(self.now, changed));
        add("changed", format!("{changed} ({ago}), event {}", state.length));
        if let Some((from, seq)) = state.forked_from {
            add("forked", format!("from {} at event {seq}", short(from)));
        }
        lines.iter().fold(String::new(), |text, (name, value)| {
            format!("{text}{DIM}{}{DIM:#}{value}\n", text::pad(name, 10))
        })
    }

    fn steps(&self) -> String {
        let View { workflow, state, .. } = self.view;
        let steps: Vec<&Step> = workflow.work_steps().collect();
        let longest = steps.iter().map(|it| text::columns(it.name.as_str())).max().unwrap_or(0);
        let column = longest.min(self.width / 2);
        let mut lines = format!("{BOLD}Steps{BOLD:#}\n");
        for step in steps {
            let (mark, style) = mark(state, step);
            let name = text::pad(&text::cut(&text::line(step.name.as_str()), column), column);
            let indent = column + 6;
            let about = text::wrap(&about(workflow, state, step), self.width, indent);
            let line = if about.is_empty() {
                format!("  {style}{mark} {}{style:#}\n", name.trim_end())
            } else {
                format!("  {style}{mark} {name}{style:#}  {DIM}{about}{DIM:#}\n")
            };
            lines.push_str(&line);
            lines.push_str(&self.parts(step));
        }
        lines
    }

    /// What there is to say of the parts of a step.
    fn parts(&self, step: &Step) -> String {
        let known = self.view.state.step(&step.name);
        let parts = known.iter().flat_map(|it| it.parts.iter());
        parts.fold(String::new(), |lines, (id, effort)| {
            let about = of_effort(effort);
            if about.is_empty() {
                return lines;
            }
            let line = format!("{}: {}", text::line(id.as_str()), about.join("; "));
            format!("{lines}      {DIM}{}{DIM:#}\n", text::wrap(&line, self.width, 8))
        })
    }

    fn next(&self) -> String {
        let View { workflow, state, .. } = self.view;
        match next(workflow, state) {
            Action::Work { step, parts } => {
                let parts: Vec<&str> = parts.iter().map(|it| it.id.as_str()).collect();
                let parts = match parts.as_slice() {
                    [] => String::new(),
                    [part] => format!(", part {}", text::line(part)),
                    parts => format!(", parts {}", text::line(&parts.join(", "))),
                };
                let said = workflow.instructions(step, &state.context);
                let said = text::block(&text::lines(said.trim()), self.width, 2);
                let name = text::line(step.name.as_str());
                format!("{BOLD}Now{BOLD:#} {NAME}{name}{NAME:#}{parts}\n{said}\n")
            }
            Action::Choose { after, choices } => {
                let choices: Vec<&str> = choices.iter().map(target_name).collect();
                let (after, choices) = (after.name.as_str(), text::line(&choices.join(", ")));
                format!("{BOLD}Now{BOLD:#} the agent chooses what follows {after}: {choices}\n")
            }
            Action::Chore { chore } => {
                let what = text::line(&chore.deed.describe());
                let why = chore.failure.as_ref().map(|it| format!(": {}", text::line(it)));
                let why = why.unwrap_or_default();
                format!("{BOLD}Now{BOLD:#} the server is to {what}{why}\n")
            }
            Action::Wait { gate } => {
                let id = short(state.run);
                let how = format!("`milepost gate show {id}` shows it whole");
                let asked = gate::asked(&gate, &gate.artifacts, self.width);
                format!("{asked}  {DIM}{how}{DIM:#}\n")
            }
            Action::Done => String::new(),
            Action::Stopped { .. } => {
                let id = short(state.run);
                format!("{DIM}`milepost run resume {id}` resumes it.{DIM:#}\n")
            }
        }
    }

    fn rest(&self) -> String {
        let View { state, leases, .. } = self.view;
        let mut sections = Vec::new();
        let mut add = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                sections.push(format!("{BOLD}{title}{BOLD:#}\n  {}\n", lines.join("\n  ")));
            }
        };
        let held = leases.iter().map(|it| {
            let until = text::at(self.view.shown(it).until);
            text::line(&format!("{} is held by {} until {until}", it.step, it.holder))
        });
        add("Leases", held.collect());
        let answers = state.answers.iter().map(|it| {
            let feedback = if it.feedback.is_empty() { "" } else { ": " };
            let is_relayed = it.how == How::Relayed && !it.is_implied;
            let how = if is_relayed { ", relayed by an agent" } else { "" };
            let how = if it.is_implied { ", who completed it; nobody was asked" } else { how };
            let said =
                format!("{} {} by {}{how}{feedback}{}", it.step, it.answer, it.by, it.feedback);
            text::wrap(&text::line(&said), self.width, 4)
        });
        add("Answers", answers.collect());
        let artifacts = state.artifacts.values().map(|it| {
            let (digest, size) = (it.artifact.sha256.short(), text::bytes(it.artifact.size));
            format!("{}  {DIM}{digest}, {size}{DIM:#}", text::line(&it.artifact.path))
        });
        add("Artifacts", artifacts.collect());
        let errors: Vec<String> = state.errors().map(|it| describe(&it.entry)).collect();
        let skipped = errors.len().saturating_sub(ERRORS_MAX);
        let errors = errors.iter().skip(skipped).map(|it| text::wrap(it, self.width, 4));
        add("Errors", errors.collect());
        let context = state.context.iter().map(|(key, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{}: {}", text::line(key), text::cut(&text::line(&value), VALUE_COLUMNS))
        });
        add("Context", context.collect());
        sections.join("\n")
    }
}

fn describe(entry: &engine::Entry) -> String {
    match entry {
        engine::Entry::Error { message, .. } => text::line(message),
        engine::Entry::Question { question, .. } => text::line(question),
        engine::Entry::Metric { name, .. } => text::line(name),
        engine::Entry::Note { text, .. } => text::line(text),
        engine::Entry::Usage { tokens, model, .. } => {
            text::line(&format!("{tokens} tokens {model}"))
        }
    }
}

/// Returns the sign and the colour of a step.
fn mark(state: &RunState, step: &Step) -> (char, anstyle::Style) {
    let is_current = state.standing.is_live() && state.current.as_ref() == Some(&step.name);
    if is_left_out(state, step) {
        return ('–', DIM);
    }
    match state.progress(&step.name) {
        Progress::Done if is_current && state.standing.open_gate().is_some() => ('?', ALERT),
        Progress::Done => ('✓', GOOD),
        Progress::Skipped => ('–', DIM),
        Progress::Rejected => ('↺', ALERT),
        Progress::Ready | Progress::Active | Progress::Idle if is_current => ('▸', NAME.bold()),
        Progress::Ready | Progress::Active | Progress::Idle => {
            let failed = state.effort(&step.name, None).is_some_and(|it| it.failure.is_some());
            if failed { ('✗', BAD) } else { ('·', anstyle::Style::new()) }
        }
    }
}

/// Returns what is to be said of a step besides its name.
fn about(workflow: &Workflow, state: &RunState, step: &Step) -> String {
    let Some(known) = state.step(&step.name) else {
        return if is_left_out(state, step) { "left out".to_owned() } else { String::new() };
    };
    let mut words = Vec::new();
    let parts = state.parts_of(step).len();
    if 0 < parts {
        let settled = known.parts.values().filter(|it| it.progress.is_settled()).count();
        words.push(format!("{settled} of {parts} parts"));
    }
    words.extend(of_effort(&known.effort));
    if is_left_out(state, step) {
        words.push("left out".to_owned());
    }
    if state.current.as_ref() == Some(&step.name) && words.is_empty() {
        words.extend(workflow.find_step(&step.name).map(|it| text::line(&it.goal)));
    }
    words.join("; ")
}

/// Whether a run did without a step: it was left out, or the run was completed without it.
fn is_left_out(state: &RunState, step: &Step) -> bool {
    let progress = state.progress(&step.name);
    progress == Progress::Skipped || state.standing == Standing::Completed && !progress.is_settled()
}

/// Returns what is to be said of the work on a step or a part.
fn of_effort(effort: &Effort) -> Vec<String> {
    let mut words = Vec::new();
    if 1 < effort.attempts {
        words.push(format!("{} attempts", effort.attempts));
    }
    if let Some(failure) = &effort.failure {
        words.push(format!("failed: {}", text::line(failure)));
    }
    if let Some(feedback) = effort.sent_back() {
        words.push(format!("sent back: {}", text::line(feedback)));
    }
    let report = effort.report.as_ref().filter(|it| it.outcome() != Outcome::Failure);
    if let Some(said) = report.and_then(Report::said).filter(|_| effort.failure.is_none()) {
        words.push(text::cut(&text::line(&said), REPORT_COLUMNS));
    }
    words
}
