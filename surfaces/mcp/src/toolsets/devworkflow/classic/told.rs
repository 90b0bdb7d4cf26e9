//! From what a call led to, to what is said of it.

use std::collections::HashSet;

use engine::{Event, Known};
use runtime::{Outcome, View};

use super::{
    super::{
        answer::{Answer, Failure, Place, ended},
        config_file,
        files::archive_path,
        options::{AUTO_APPROVE, Mode as Kept, Settings as Options},
        state_file::StateFile,
        text::{self, Facts, Guidance, Mode, Shown, Told},
        words::is_pending,
    },
    Ask, Trial,
    place::{Config, Found, notices, place},
};
use crate::tool::{Call, Done};

/// How much of the end of a log is shown, in characters.
const TAIL_CHARS_MAX: usize = 1500;
/// How many issues of a state file are named.
const ISSUES_MAX: usize = 10;

/// Returns what was overlooked, and what was found and done on the way.
pub(super) fn warnings(outcome: &Outcome) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    for recorded in &outcome.events {
        if let Event::MoveMade { warnings: overlooked, .. } = &recorded.event {
            warnings.extend(overlooked.iter().cloned());
        }
    }
    warnings.extend(outcome.file.iter().flat_map(|it| it.notices.clone()));
    warnings
}

/// Warns of a task that is not the item at hand, where that is what is worked on.
pub(super) fn other_task(tool: Guidance, ask: &Ask, found: Option<&Found>) -> Option<String> {
    let is_about_item = matches!(
        tool,
        Guidance::Blueprint
            | Guidance::Construct
            | Guidance::Validate
            | Guidance::Revise
            | Guidance::Complete
    );
    let item = found.and_then(|it| it.place().current_item)?;
    let is_other = is_about_item && !ask.task.trim().is_empty() && ask.task.trim() != item.trim();
    is_other.then(|| format!("the item at hand is `{item}`, which is not the task that was named"))
}

/// Says what to do after a call that changed something.
pub(super) async fn answer(
    call: &Call<'_>,
    tool: Guidance,
    ask: &Ask,
    (outcome, warnings): (Outcome, Vec<String>),
) -> Done<Answer> {
    let line = outcome.events.iter().find_map(|it| {
        if let Event::LineInserted { line, .. } = &it.event { Some(line.clone()) } else { None }
    });
    let options = &call.options.devworkflow;
    let rotated = outcome.events.iter().rev().find_map(|it| archive_path(it, options));
    let said = Said { changelog: line, rotated, warnings, ..Said::default() };
    let file = outcome.file.as_ref();
    let shows = file.map(|it| Shows { path: &it.path, text: &it.text, view: Some(&outcome.view) });
    say(call, tool, ask, shows, said).await
}

/// Whether nothing can be done before the user has named a task.
pub(super) fn lacks_task(tool: Guidance, ask: &Ask, found: Option<&Found>) -> bool {
    let has_item = found.is_some_and(|it| it.place().current_item.is_some());
    tool.takes_task() && ask.task.trim().is_empty() && !has_item
}

/// Says that the user is to name a task.
pub(super) async fn ask_for_task(
    call: &Call<'_>,
    tool: Guidance,
    ask: &Ask,
    found: Option<&Found>,
) -> Done<Answer> {
    let file = found.map(Found::shows);
    let said = Said { warnings: notices(found), ..Said::default() };
    say(call, tool, ask, file, said).await
}

/// What else is to be said.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) issues: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// The line that was put into the changelog.
    pub(super) changelog: Option<String>,
    /// Where the log is that this call put into the archive.
    pub(super) rotated: Option<String>,
    /// A file that was made.
    pub(super) template: Option<String>,
    pub(super) config_path: String,
}

/// A state file, and the run that it is made from.
#[derive(Clone, Copy)]
pub(super) struct Shows<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) view: Option<&'a View>,
}

/// Words an answer, with the state as its file has it.
pub(super) async fn say(
    call: &Call<'_>,
    tool: Guidance,
    ask: &Ask,
    file: Option<Shows<'_>>,
    said: Said,
) -> Done<Answer> {
    let options = &call.options.devworkflow;
    if options.mode == Kept::Advisory {
        return advise(tool, ask, said.warnings);
    }
    let config = Config::find(call, &ask.config_path).await;
    let known = file.and_then(|it| it.view).map(|it| call.runtime.known(it));
    let trial = file.and_then(|it| it.view).zip(known.as_ref());
    let trial = trial.map(|(view, known)| tried(view, known, options));
    word((tool, ask), file.map(|it| (it.path, it.text)), (&config, said), trial.as_ref())
}

fn tried<'a>(view: &'a View, known: &'a Known, options: &'a Options) -> Trial<'a> {
    Trial { workflow: &view.workflow, state: &view.state, known, options }
}

/// Words a refusal of a call that is out of order, with the calls that are open instead.
pub(super) fn out_of_order(
    call: &Call<'_>,
    failure: Failure,
    (tool, found, legal): (Guidance, &Found, &[Guidance]),
) -> Failure {
    let known = call.runtime.known(&found.view);
    let trial = tried(&found.view, &known, &call.options.devworkflow);
    let file = StateFile::parse(&found.file.text);
    let state = State::of(&found.file.path, &file);
    let commands = (Vec::new(), Vec::new());
    let shown = state.shown(&commands, tool);
    failure.out_of_order(tool, &shown, legal, &trial)
}

/// Words an answer from what was found. Nothing is looked at.
pub(super) fn word(
    (tool, ask): (Guidance, &Ask),
    file: Option<(&str, &str)>,
    (config, mut said): (&Config, Said),
    trial: Option<&Trial<'_>>,
) -> Done<Answer> {
    let commands = config.commands();
    let parsed = file.map(|(path, text)| (path, StateFile::parse(text)));
    let mut warnings = std::mem::take(&mut said.warnings);
    if let Some(state) = trial.map(|it| &it.state).filter(|it| !it.standing.is_live()) {
        let way_out = ended(state.key().unwrap_or_default());
        warnings.push(format!("the run is {}; {way_out}", state.standing.as_str()));
    }
    let changelog = said.changelog.take().filter(|it| config.has_line(it));
    if let Some((path, file)) = &parsed {
        let is_planned = tool == Guidance::Update && file.status() == "NEEDS_PLAN_APPROVAL";
        if (is_planned || tool == Guidance::Construct) && file.plan().is_empty() {
            warnings.push("the recorded plan is empty".to_owned());
        }
        let issues = file.issues().into_iter().take(ISSUES_MAX);
        warnings.extend(issues.map(|it| format!("{path}: {it}")));
    }
    let state = parsed.as_ref().map(|(path, file)| State::of(path, file));
    let mut shown = state.as_ref().map(|it| it.shown(&commands, tool));
    if let Some(shown) = &mut shown {
        shown.rotated = said.rotated.as_deref();
    }
    let automatic = trial.and_then(|it| it.state.vars.get(AUTO_APPROVE));
    let is_approved = tool == Guidance::Construct || automatic == Some(&true.into());
    let pending = state.iter().flat_map(|it| &it.items).filter(|it| is_pending(&it.2)).count();
    let total = state.as_ref().map_or(0, |it| it.items.len());
    let config_path =
        if said.config_path.is_empty() { config.path.as_str() } else { &said.config_path };
    let mut told = Told {
        tool,
        mode: Mode::Managed,
        task: &ask.task,
        detail: &ask.detail,
        state: shown.as_ref(),
        warnings: &[],
        trial,
        facts: Facts {
            issues: &said.issues,
            next_item: None,
            items_completed: total - pending,
            items_pending: pending,
            changelog: changelog.as_deref(),
            is_approved,
            template: said.template.as_deref(),
            fields: &[],
            config_path,
        },
    };
    if trial.is_some_and(|it| it.lacks_approval(&told)) {
        warnings.insert(0, text::VOID.to_owned());
    }
    let mut once = HashSet::new();
    warnings.retain(|it| once.insert(it.clone()));
    told.warnings = &warnings;
    let (result, next) = text::answer(&told);
    let place = parsed.as_ref().map(|(path, file)| place(path, file)).unwrap_or_default();
    let answer = Answer { result, tool: tool.name(), place, next, issues: said.issues };
    Done { answer, warnings, then: None }
}

/// Says what the agent is to do and to write itself. Nothing is looked at or changed.
pub(super) fn advise(tool: Guidance, ask: &Ask, warnings: Vec<String>) -> Done<Answer> {
    let template = if tool == Guidance::CreateState {
        Some(StateFile::blank().text().to_owned())
    } else {
        (tool == Guidance::CreateConfig).then(|| config_file::TEMPLATE.to_owned())
    };
    let (result, next) = text::answer(&Told {
        tool,
        mode: Mode::Advisory,
        task: &ask.task,
        detail: &ask.detail,
        state: None,
        warnings: &warnings,
        trial: None,
        facts: Facts {
            template: template.as_deref(),
            fields: &ask.fields,
            config_path: &ask.config_path,
            is_approved: ask.is_approved,
            ..Facts::default()
        },
    });
    let place = Place::default();
    let answer = Answer { result, tool: tool.name(), place, next, issues: Vec::new() };
    Done { answer, warnings, then: None }
}

/// A state file, as an answer shows it.
pub(super) struct State<'a> {
    path: &'a str,
    file: &'a StateFile,
    current_item: Option<String>,
    items: Vec<(u64, String, String)>,
    log_tail: String,
}

impl<'a> State<'a> {
    pub(super) fn of(path: &'a str, file: &'a StateFile) -> Self {
        let rows = file.items().into_iter().map(|it| (it.id, it.description, it.status));
        let log = file.log();
        let skipped = log.chars().count().saturating_sub(TAIL_CHARS_MAX);
        Self {
            path,
            file,
            current_item: file.current_item(),
            items: rows.collect(),
            log_tail: log.chars().skip(skipped).collect(),
        }
    }

    pub(super) fn shown<'s>(
        &'s self,
        commands: &'s (Vec<String>, Vec<String>),
        tool: Guidance,
    ) -> Shown<'s> {
        Shown {
            path: self.path,
            phase: self.file.phase(),
            status: self.file.status(),
            current_item: self.current_item.as_deref(),
            items: &self.items,
            log_tail: &self.log_tail,
            test_commands: &commands.0,
            build_commands: &commands.1,
            rotated: None,
            // The whole file is shown where it was made.
            whole: (tool == Guidance::CreateState).then(|| self.file.text()),
        }
    }
}
