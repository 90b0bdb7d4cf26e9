//! What a newcomer needs to go on, with no other memory, in as few words as it is given.
//!
//! Sections are filled from the most needed to the least until the budget is spent; what did not
//! fit is counted, and the brief says how to get it.

use definition::{PartSpec, Step, Target, Workflow};
use engine::{
    Action, Effort, Entry, How, Known, OpenGate, Progress, RunState, Standing, View, comes_again,
    find_promised, next, target_name,
};

use super::Words;

/// How many bytes a token has, counted low so that the budget holds for any tokenizer in use.
const TOKEN_BYTES: usize = 3;
/// The smallest budget: with less, not even what to do now would fit.
const TOKENS_MIN: usize = 200;
/// The most of one report, error or answer that is quoted, in characters.
const QUOTE_CHARS_MAX: usize = 240;

/// A brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// Markdown.
    pub text: String,
    /// What was left out, in words.
    pub dropped: Vec<String>,
}

/// Returns the brief of a run that fits into about `tokens_max` tokens. `drift` is what has changed
/// behind the run's back.
pub fn brief(
    words: &Words,
    view: &View,
    known: &Known,
    drift: &[String],
    tokens_max: usize,
) -> Brief {
    let (workflow, state) = (&*view.workflow, &*view.state);
    let tokens_max = tokens_max.max(TOKENS_MIN);
    // In the order they are read; the number says how soon each is filled.
    let sections = [
        (0, Section::new("", head(workflow, state))),
        (3, Section::new("", about(workflow, state))),
        (ACTION_RANK, Section::new("## Do this now", action(workflow, state, words))),
        (2, Section::new("## Beware", warnings(state, known, drift, words))),
        (4, Section::oldest_first("## Done already: do not do it again", done(workflow, state))),
        (5, Section::new("## Open errors", errors(state))),
        (6, Section::new("## What people answered", answers(state))),
        (7, Section::new("## Artifacts", artifacts(state))),
        (8, Section::new("## Context", context(state))),
        (9, Section::new("## Notes", notes(state))),
    ];
    let mut left = tokens_max.saturating_mul(TOKEN_BYTES).saturating_sub(CLOSING_BYTES);
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|index| sections.get(*index).map(|it| it.0));
    let mut filled: Vec<(usize, String)> = Vec::new();
    let mut dropped = Vec::new();
    for index in order {
        let Some((rank, section)) = sections.get(index) else { continue };
        let (text, missing) = section.fit(&mut left);
        if 0 < missing {
            // Nothing is told at the cost of what to do now.
            left = if *rank <= ACTION_RANK { 0 } else { left };
            let title = section.title.trim_start_matches(['#', ' ']);
            let title = if title.is_empty() { "What it is about" } else { title };
            dropped.push(format!("{missing} of {} under “{title}”", section.lines.len()));
        }
        filled.push((index, text));
    }
    filled.sort_by_key(|it| it.0);
    let mut text: Vec<String> =
        filled.into_iter().map(|it| it.1).filter(|it| !it.is_empty()).collect();
    if !dropped.is_empty() {
        let list = dropped.join(", ");
        text.push(format!("_Left out to fit: {list}. {}_", sentence(words.more, state)));
    }
    Brief { text: text.join("\n\n"), dropped }
}

/// How instructions begin to speak of parameters that only some tools have.
const REPORTS: &str = "\n\nReport:\n\n- `report.";
/// Kept free for the line that says what was left out.
const CLOSING_BYTES: usize = 300;
/// How soon the next action is filled.
const ACTION_RANK: u32 = 1;
/// With less room than this a cut text is worth nothing.
const CUT_BYTES_MIN: usize = 120;
/// Kept free behind a cut text.
const CUT_MARK_BYTES: usize = 60;

struct Section {
    title: String,
    /// The most needed first.
    lines: Vec<String>,
    /// It is read the other way round.
    is_reversed: bool,
}

impl Section {
    fn new(title: &str, lines: Vec<String>) -> Self {
        Self { title: title.to_string(), lines, is_reversed: false }
    }

    /// A section whose last lines are needed most.
    fn oldest_first(title: &str, mut lines: Vec<String>) -> Self {
        lines.reverse();
        Self { title: title.to_string(), lines, is_reversed: true }
    }

    /// Takes lines while there is room, and returns them with the number of those left out. A line
    /// that is too long by itself is cut, so that instructions are never lost whole.
    fn fit(&self, left: &mut usize) -> (String, usize) {
        if self.lines.is_empty() {
            return (String::new(), 0);
        }
        let mut taken: Vec<String> = Vec::new();
        let mut missing = 0;
        *left = left.saturating_sub(self.title.len());
        for (index, line) in self.lines.iter().enumerate() {
            if *left <= line.len() {
                missing = self.lines.len() - index;
                if CUT_BYTES_MIN < *left {
                    let end = line.floor_char_boundary(*left - CUT_MARK_BYTES);
                    taken.push(format!("{} … (cut)", line.get(..end).unwrap_or_default()));
                    *left = 0;
                }
                break;
            }
            *left -= line.len() + 1;
            taken.push(line.clone());
        }
        if taken.is_empty() {
            return (String::new(), missing);
        }
        if self.is_reversed {
            taken.reverse();
        }
        let text = taken.join("\n");
        let is_bare = self.title.is_empty();
        (if is_bare { text } else { format!("{}\n{text}", self.title) }, missing)
    }
}

fn head(workflow: &Workflow, state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    let key = state.key().map(|key| format!(" `{key}`")).unwrap_or_default();
    lines.push(format!("# {}{key}: {}", workflow.title, state.standing.as_str()));
    let total = workflow.work_steps().count();
    let settled = workflow.work_steps().filter(|it| state.progress(&it.name).is_settled()).count();
    let at = state.current.as_ref().map(|it| format!(", at step `{it}`")).unwrap_or_default();
    lines.push(format!("Run `{}`, {settled} of {total} steps done{at}.", state.run.short()));
    lines
}

fn about(workflow: &Workflow, state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    let goal = state.title();
    if !goal.is_empty() {
        lines.push(format!("About: {goal}"));
    }
    if !workflow.goal.is_empty() {
        lines.push(format!("Goal of the workflow: {}", quote(&workflow.goal)));
    }
    if let Some((run, seq)) = state.forked_from {
        lines.push(format!("Forked from `{run}` at event {seq}."));
    }
    lines
}

fn action(workflow: &Workflow, state: &RunState, words: &Words) -> Vec<String> {
    match next(workflow, state) {
        Action::Work { step, parts } => {
            let mut lines = Vec::from([to_report(state, step, words)]);
            lines.extend(work(workflow, state, step, &parts, words));
            lines
        }
        Action::Choose { after, mut choices } => {
            let mut lines = Vec::new();
            if let Some(why) = &state.deferral {
                lines.push(format!(
                    "The language model did not choose ({}), so you do.",
                    quote(why)
                ));
            }
            let mut choose = format!("{}:", say(words.choose, state));
            if !words.finish.is_empty() {
                // What is done is done, and the end has a call of its own.
                let may_end = choices.contains(&Target::Finish);
                choices.retain(|it| matches!(it, Target::Step(to) if *to != after.name));
                if choices.is_empty() {
                    choose = String::new();
                }
                if may_end {
                    choose = format!("{} {choose}", sentence(words.finish, state));
                }
            }
            lines.push(format!("Step `{}` is done. {}", after.name, choose.trim()));
            lines.extend(choices.iter().map(|it| format!("- `{}`", target_name(it))));
            if !after.guidance.is_empty() {
                lines.push(format!("Guidance: {}", after.guidance));
            }
            lines
        }
        Action::Chore { chore } => {
            let what = chore.deed.describe();
            let mut lines = Vec::from([format!("The server is to {what} first.")]);
            if let Some(why) = &chore.failure {
                lines.push(format!("It could not: {}", quote(why)));
                lines.push(String::from("Fix that, then report: it is tried again."));
            }
            lines
        }
        Action::Wait { gate } => waiting(&gate, state, words),
        Action::Done => Vec::from([String::from("Nothing: the run is completed.")]),
        Action::Stopped { reason } => Vec::from([
            format!("The run is {}: {reason}", state.standing.as_str()),
            sentence(words.reopen, state),
        ]),
    }
}

/// Says what to work on, and what comes after that.
fn to_report(state: &RunState, step: &Step, words: &Words) -> String {
    let attempt = state.effort(&step.name, None).filter(|it| 0 < it.attempts).map(|it| {
        let number = if it.progress == Progress::Active { it.attempts } else { it.attempts + 1 };
        format!(", attempt {number}")
    });
    let (attempt, report) = (attempt.unwrap_or_default(), say(words.report, state));
    format!("Work on step `{}`{attempt}, then {report}.", step.name)
}

fn work(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    parts: &[PartSpec],
    words: &Words,
) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(feedback) = state.effort(&step.name, None).and_then(|it| it.feedback.as_ref()) {
        lines.push(format!("Sent back with: {}", quote(feedback)));
    }
    for part in parts {
        let feedback = state.effort(&step.name, Some(&part.id)).and_then(|it| it.feedback.clone());
        let feedback = feedback.map(|it| format!(" (sent back with: {})", quote(&it)));
        let feedback = feedback.unwrap_or_default();
        lines.push(format!("- part `{}`: {}{feedback}", part.id, part.title));
    }
    let part = parts.first().filter(|_| parts.len() == 1);
    let promised = find_promised(workflow, state, step, part);
    if !promised.is_empty() {
        let paths: Vec<String> = promised.iter().map(|it| format!("`{it}`")).collect();
        lines.push(format!("It must leave behind: {}", paths.join(", ")));
    }
    for criterion in &step.criteria {
        lines.push(format!("- evidence for `{}`: {}", criterion.key, quote(&criterion.text)));
    }
    let instructions = workflow.instructions(step, &state.context);
    let shown = match instructions.split_once(REPORTS) {
        Some((before, _)) if !words.takes_reports => before,
        Some(_) | None => &instructions,
    };
    lines.push(format!("Instructions:\n{shown}"));
    lines
}

fn waiting(gate: &OpenGate, state: &RunState, words: &Words) -> Vec<String> {
    let options: Vec<String> = gate.options.iter().map(|it| format!("`{}`", it.name)).collect();
    let who = match gate.answers {
        definition::Answers::Relayed => sentence(words.relay, state),
        definition::Answers::Verified => sentence(words.wait, state),
    };
    let mut lines = Vec::from([
        format!("Wait at step `{}`: {}", gate.step, gate.ask),
        format!("Answers: {}. {who}", options.join(", ")),
    ]);
    lines.extend(gate.artifacts.iter().map(|it| format!("- to look at: `{}`", it.path)));
    lines
}

fn warnings(state: &RunState, known: &Known, drift: &[String], words: &Words) -> Vec<String> {
    let mut lines: Vec<String> = drift.iter().map(|it| format!("- {it}")).collect();
    if let Some(why) = state.deferral.as_ref().filter(|_| !state.awaits_choice()) {
        lines.push(format!(
            "- the language model did not choose ({}); to leave the step, {}",
            quote(why),
            say(words.choose, state)
        ));
    }
    for held in state.leases.values() {
        let part = held.part.as_ref().map(|it| format!(", part `{it}`")).unwrap_or_default();
        let end = known.find_lease_end(held);
        lines.push(if known.steady < end {
            format!("- `{}` holds step `{}`{part} until {end}", held.holder, held.step)
        } else {
            format!(
                "- `{}` held step `{}`{part} until {end}; it may be claimed",
                held.holder, held.step
            )
        });
    }
    lines
}

fn done(workflow: &Workflow, state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    for step in workflow.work_steps() {
        let is_live = state.standing.is_live();
        let comes_again = is_live && comes_again(workflow, state, &step.name);
        let again = if comes_again { " (comes again after this)" } else { "" };
        let Some(known) = state.step(&step.name) else { continue };
        let line = match known.effort.progress {
            Progress::Done => {
                let said = known.effort.report.as_ref().and_then(|it| it.message.as_deref());
                let said = said.filter(|it| !it.is_empty());
                said.map_or_else(String::new, |it| format!(": {}", quote(it)))
            }
            Progress::Skipped => String::from(" (left out)"),
            Progress::Idle | Progress::Ready | Progress::Active | Progress::Rejected => {
                let parts = known.parts.iter().filter(|it| it.1.progress.is_settled());
                let ids: Vec<String> = parts.map(|it| format!("`{}`", it.0)).collect();
                if ids.is_empty() {
                    continue;
                }
                let word = if ids.len() == 1 { "part" } else { "parts" };
                format!(", {word} {}", ids.join(", "))
            }
        };
        lines.push(format!("- `{}`{again}{line}", step.name));
    }
    lines
}

fn errors(state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    if let Standing::Failed { reason, .. } = &state.standing {
        lines.push(format!("- the run failed: {}", quote(reason)));
    }
    for (name, step) in state.steps.iter() {
        lines.extend(failed(&format!("`{name}`"), &step.effort));
        for (part, effort) in &step.parts {
            lines.extend(failed(&format!("part `{part}` of `{name}`"), effort));
        }
    }
    let noted = state.errors().collect::<Vec<_>>();
    for error in noted.into_iter().rev() {
        if let Entry::Error { message, severity, .. } = &error.entry {
            let severity = severity.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
            lines.push(format!("- `{}`{severity}: {}", error.step, quote(message)));
        }
    }
    lines
}

fn failed(what: &str, effort: &Effort) -> Option<String> {
    let failure = effort.failure.as_ref()?;
    Some(format!("- {what} failed (attempt {}): {}", effort.attempts, quote(failure)))
}

fn answers(state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    for answer in state.answers.iter().rev() {
        if answer.is_implied {
            let (step, by) = (&answer.step, &answer.by);
            lines.push(format!("- `{step}`: {by} completed it; nobody was asked"));
            continue;
        }
        let how = match answer.how {
            How::Relayed => ", as the agent passed it on",
            How::Verified | How::Automatic => "",
        };
        let feedback = if answer.feedback.is_empty() {
            String::new()
        } else {
            format!(": {}", quote(&answer.feedback))
        };
        let (step, said, by) = (&answer.step, &answer.answer, &answer.by);
        lines.push(format!("- `{step}`: `{said}` by {by}{how}{feedback}"));
    }
    for noted in state.entries.iter().rev() {
        if let Entry::Question { question, answer, .. } = &noted.entry {
            lines.push(format!("- {} → {}", quote(question), quote(answer)));
        }
    }
    lines
}

fn artifacts(state: &RunState) -> Vec<String> {
    let line = |(path, seen): (&String, &engine::Seen)| {
        let (digest, step) = (seen.artifact.sha256.short(), &seen.step);
        format!("- `{path}` ({digest}, {} bytes, by `{step}`)", seen.artifact.size)
    };
    state.artifacts.iter().map(line).collect()
}

fn context(state: &RunState) -> Vec<String> {
    let line = |(key, value): (&String, &serde_json::Value)| {
        format!("- {key}: {}", quote(&value.to_string()))
    };
    state.context.iter().map(line).collect()
}

fn notes(state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    for noted in state.entries.iter().rev() {
        match &noted.entry {
            Entry::Note { text, .. } => lines.push(format!("- `{}`: {}", noted.step, quote(text))),
            Entry::Metric { name, value, unit } => {
                let unit = unit.as_deref().unwrap_or_default();
                lines.push(format!("- `{}`: {name} = {value} {unit}", noted.step));
            }
            Entry::Error { .. } | Entry::Question { .. } | Entry::Usage { .. } => {}
        }
    }
    lines
}

/// Returns a phrase about a run.
fn say(phrase: &str, state: &RunState) -> String {
    let step = state.current.as_ref().map(definition::StepName::as_str).unwrap_or_default();
    phrase.replace("{key}", state.key().unwrap_or_default()).replace("{step}", step)
}

/// Returns a phrase about a run as a sentence.
fn sentence(phrase: &str, state: &RunState) -> String {
    let said = say(phrase, state);
    let mut rest = said.chars();
    let first = rest.next().map(|it| it.to_ascii_uppercase());
    format!("{}{}.", first.map(String::from).unwrap_or_default(), rest.as_str())
}

/// One line of a text, cut where it gets long.
fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= QUOTE_CHARS_MAX {
        return line;
    }
    let cut: String = line.chars().take(QUOTE_CHARS_MAX).collect();
    format!("{cut}…")
}
