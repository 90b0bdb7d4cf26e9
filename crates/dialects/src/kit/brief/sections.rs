//! What each section of a brief says of a run.

use definition::{PartId, PartSpec, Step, StepName, Target, Workflow};
use engine::{
    Action, Effort, Entry, How, Known, OpenGate, Outcome, Progress, Report, RunState, Standing,
    comes_again, find_promised, find_required, next, summary, target_name,
};

use crate::kit::Words;

/// How instructions begin to speak of parameters that only some tools have.
const REPORTS: &str = "\n\nReport:\n\n- `report.";
/// The most of one report, error or answer that is quoted, in characters.
const QUOTE_CHARS_MAX: usize = 240;
/// The same for the report on what was done last: what comes next builds on it.
const NEWEST_CHARS_MAX: usize = 1000;
/// How many failures before the last one are told.
const EARLIER_MAX: usize = 3;
/// Ends a text that is cut.
pub(super) const CUT: &str = " […]";

pub(super) fn head(workflow: &Workflow, state: &RunState, folder: Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    let key = state.key().map(|key| format!(" `{key}`")).unwrap_or_default();
    lines.push(format!("# {}{key}: {}", workflow.title, state.standing.as_str()));
    let (settled, total) = summary(workflow, state).progress();
    let at = state.current.as_ref().map(|it| format!(", at step `{it}`")).unwrap_or_default();
    let files = folder.map(|it| format!(" Its files are in `{it}`.")).unwrap_or_default();
    lines.push(format!("Run `{}`, {settled} of {total} steps done{at}.{files}", state.run.short()));
    lines
}

pub(super) fn about(workflow: &Workflow, state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    let goal = state.title();
    if !goal.is_empty() {
        lines.push(format!("About: {goal}"));
    }
    if !workflow.goal.is_empty() {
        lines.push(format!(
            "Goal of the workflow: {}",
            quote(&workflow.fill(&workflow.goal, &state.context))
        ));
    }
    if let Some((run, seq)) = state.forked_from {
        lines.push(format!("Forked from `{run}` at event {seq}."));
    }
    lines
}

pub(super) fn action(workflow: &Workflow, state: &RunState, words: &Words) -> Vec<String> {
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
            let mut choose = format!("{}:", capital(words.choose, state));
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
    let effort = state.effort(&step.name, None);
    if let Some(feedback) = effort.and_then(Effort::sent_back) {
        lines.push(format!("Sent back with: {}", quote(feedback)));
    }
    if let Some(said) = effort.and_then(find_last_report) {
        lines.push(format!("Last report: {}", cut(&said, NEWEST_CHARS_MAX)));
    }
    let is_one = parts.len() < 2;
    for part in parts {
        let promised = find_promised(workflow, state, step, Some(part));
        let files = if is_one || promised.is_empty() {
            String::new()
        } else {
            format!(", must leave behind {}", code(&promised))
        };
        let effort = state.effort(&step.name, Some(&part.id));
        let feedback = effort.and_then(Effort::sent_back);
        let feedback = feedback.map(|it| format!(" (sent back with: {})", quote(it)));
        let said = effort.and_then(find_last_report);
        let said = said.map(|it| format!(" (last report: {})", quote(&it)));
        let (feedback, said) = (feedback.unwrap_or_default(), said.unwrap_or_default());
        lines.push(format!("- part `{}`{files}: {}{feedback}{said}", part.id, part.title));
    }
    let promised = find_promised(workflow, state, step, parts.first().filter(|_| is_one));
    if !promised.is_empty() {
        lines.push(format!("It must leave behind: {}", code(&promised)));
    }
    // What the files of the first part need, those of the others need too.
    let required = find_required(workflow, state, step, parts.first());
    if !is_one && !required.is_empty() {
        lines.push(String::from("In the first file (the others likewise):"));
    }
    lines.extend(required.iter().map(|it| format!("- {it}")));
    for criterion in &step.criteria {
        let text = workflow.fill(&criterion.text, &state.context);
        lines.push(format!("- evidence for `{}`: {}", criterion.key, quote(&text)));
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

pub(super) fn warnings(
    state: &RunState,
    known: &Known,
    drift: &[String],
    words: &Words,
) -> Vec<String> {
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

pub(super) fn done(workflow: &Workflow, state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    let newest = state.steps.values().map(|it| it.effort.done_by).max().unwrap_or_default();
    for step in workflow.work_steps() {
        let is_live = state.standing.is_live();
        let comes_again = is_live && comes_again(workflow, state, &step.name);
        let again = if comes_again { " (comes again after this)" } else { "" };
        let Some(known) = state.step(&step.name) else { continue };
        let line = match known.effort.progress {
            Progress::Done => {
                let is_newest = known.effort.done_by == newest;
                let max = if is_newest { NEWEST_CHARS_MAX } else { QUOTE_CHARS_MAX };
                let said = known.effort.report.as_ref().and_then(Report::said);
                said.map_or_else(String::new, |it| format!(": {}", cut(&it, max)))
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
        let parts: String = known.parts.iter().filter_map(said_of_part).collect();
        lines.push(format!("- `{}`{again}{line}{parts}", step.name));
    }
    lines
}

/// Returns what was reported of a part that is done, as a line of its own.
fn said_of_part((id, effort): (&PartId, &Effort)) -> Option<String> {
    let said = effort.report.as_ref().filter(|_| effort.progress == Progress::Done)?.said()?;
    Some(format!("\n  - `{id}`: {}", quote(&said)))
}

/// Returns what was last reported on work that is not done; a failure is told with the errors.
fn find_last_report(effort: &Effort) -> Option<String> {
    let report = effort.report.as_ref().filter(|_| !effort.progress.is_settled())?;
    report.said().filter(|_| report.outcome() != Outcome::Failure)
}

pub(super) fn errors(state: &RunState) -> Vec<String> {
    let mut lines = Vec::new();
    if let Standing::Failed { reason, .. } = &state.standing {
        lines.push(format!("- the run failed: {}", quote(reason)));
    }
    for (name, step) in state.steps.iter() {
        lines.extend(failed(&format!("`{name}`"), state, (name, None), &step.effort));
        for (part, effort) in &step.parts {
            let what = format!("part `{part}` of `{name}`");
            lines.extend(failed(&what, state, (name, Some(part)), effort));
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

/// Says why the last attempt failed, and those before it since the work was last done.
fn failed(
    what: &str,
    state: &RunState,
    (step, part): (&StepName, Option<&PartId>),
    effort: &Effort,
) -> Option<String> {
    let failure = effort.failure.as_ref()?;
    let failures = state.open_failures().filter(|it| it.step == *step && it.part.as_ref() == part);
    let failures: Vec<_> = failures.collect();
    let earlier = failures.split_last().map_or(&[][..], |it| it.1);
    let shown = earlier.len().saturating_sub(EARLIER_MAX);
    let before: Vec<String> = earlier.iter().skip(shown).map(|it| quote(&it.reason)).collect();
    let before = if before.is_empty() {
        String::new()
    } else {
        format!(" (before that: {})", before.join("; "))
    };
    Some(format!("- {what} failed (attempt {}): {}{before}", effort.attempts, quote(failure)))
}

pub(super) fn answers(state: &RunState) -> Vec<String> {
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

pub(super) fn artifacts(state: &RunState) -> Vec<String> {
    let line = |(path, seen): (&String, &engine::Seen)| {
        let (digest, step) = (seen.artifact.sha256.short(), &seen.step);
        format!("- `{path}` ({digest}, {} bytes, by `{step}`)", seen.artifact.size)
    };
    state.artifacts.iter().map(line).collect()
}

pub(super) fn context(state: &RunState) -> Vec<String> {
    let line = |(key, value): (&String, &serde_json::Value)| {
        format!("- {key}: {}", quote(&value.to_string()))
    };
    state.context.iter().map(line).collect()
}

pub(super) fn notes(state: &RunState) -> Vec<String> {
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
    let step = state.current.as_ref().map(StepName::as_str).unwrap_or_default();
    phrase.replace("{key}", state.key().unwrap_or_default()).replace("{step}", step)
}

/// Returns a phrase about a run as a sentence.
pub(super) fn sentence(phrase: &str, state: &RunState) -> String {
    format!("{}.", capital(phrase, state))
}

/// Returns a phrase about a run as the beginning of a sentence.
fn capital(phrase: &str, state: &RunState) -> String {
    let said = say(phrase, state);
    let mut rest = said.chars();
    let first = rest.next().map(|it| it.to_ascii_uppercase());
    format!("{}{}", first.map(String::from).unwrap_or_default(), rest.as_str())
}

/// Returns names in a list.
fn code(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
    names.join(", ")
}

/// One line of a text, cut where it gets long.
fn quote(text: &str) -> String {
    cut(text, QUOTE_CHARS_MAX)
}

/// Returns one line of a text, of so many characters.
pub(crate) fn cut(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max {
        return line;
    }
    let cut: String = line.chars().take(max).collect();
    format!("{cut}{CUT}")
}
