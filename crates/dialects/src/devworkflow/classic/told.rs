//! A call, and everything that its answer is made of.

use std::{collections::HashSet, sync::Arc, vec::IntoIter};

use engine::{Event, Refusal, RunFile};
use serde_json::{Map, Value};

use super::{
    super::{
        advice::ended,
        answer::{Answer, Failure, Place},
        config_file,
        files::{archive_path, placed_archive_path},
        options::{AUTO_APPROVE, Mode, Options},
        state_file::StateFile,
        text,
        words::{CONFIG_FILE, WAITING, config_paths},
    },
    Guidance, Row,
    row::{CONFIG_PATH, ITEM, TASK},
    tools_of,
};
use crate::kit::{Caller, Done, Folder, Outcome, Seeing, Snapshot, Stopped};

/// How many issues of a state file are named.
const ISSUES_MAX: usize = 10;

/// A call, and what was found and done.
pub(crate) struct Told {
    pub(crate) row: &'static Row,
    pub(crate) params: Map<String, Value>,
    pub(crate) options: Arc<Options>,
    /// The folder of the project.
    root: Folder,
    /// The run, as it is after the call. `None` where there is none yet, and in advisory mode.
    pub(crate) run: Option<Run>,
    pub(crate) config: Config,
    /// What was found and done on the way to the file.
    pub(crate) notices: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) issues: Vec<String>,
    /// The line that was put into the changelog.
    pub(crate) changelog: Option<String>,
    /// Where the log is that was put into the archive.
    pub(crate) rotated: Option<String>,
    /// A file that was made, or is to be.
    pub(crate) template: Option<String>,
}

/// A run, and its file as it is now.
pub(crate) struct Run {
    pub(crate) seen: Snapshot,
    pub(crate) path: String,
    pub(crate) file: StateFile,
    pub(crate) item: Option<String>,
}

/// A file of the project, as it lies there.
pub(super) struct TextFile {
    pub(super) path: String,
    /// `None` where there is no such file, else what it says or why it cannot be read.
    pub(super) text: Result<Option<String>, String>,
    /// Whether the folder that it belongs in is there.
    pub(super) has_folder: bool,
}

/// The file with the project's commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) path: String,
    /// `None` where there is none.
    text: Result<Option<String>, String>,
}

impl Told {
    pub(in super::super) fn new(
        row: &'static Row,
        params: Map<String, Value>,
        caller: &Caller,
    ) -> Self {
        Self {
            row,
            params,
            options: Arc::clone(&caller.options.devworkflow),
            root: Folder::resolve(&caller.root, ""),
            run: None,
            config: Config { path: String::new(), text: Ok(None) },
            notices: Vec::new(),
            warnings: Vec::new(),
            issues: Vec::new(),
            changelog: None,
            rotated: None,
            template: None,
        }
    }

    /// Looks at files of the project.
    pub(super) fn see(&self, paths: Vec<String>) -> Seeing<Vec<TextFile>> {
        see(self.root.clone(), paths.into_iter(), Vec::new())
    }

    /// Takes in what was found of the run.
    pub(super) fn take(&mut self, found: Option<(Snapshot, RunFile)>) {
        let Some((seen, file)) = found else { return };
        self.rotated = placed_archive_path(&seen.view.state, &self.options);
        self.warnings.extend(file.notices.iter().cloned());
        self.notices.clone_from(&file.notices);
        self.run = Some(Run::new(seen, &file));
    }

    /// Takes in what the call did.
    #[must_use]
    pub(super) fn after(mut self, outcome: Outcome) -> Self {
        self.warnings.extend(self.other_task());
        for recorded in &outcome.events {
            if let Event::MoveMade { warnings, .. } = &recorded.event {
                self.warnings.extend(warnings.iter().cloned());
            }
            if let (None, Event::LineInserted { line, .. }) = (&self.changelog, &recorded.event) {
                self.changelog = Some(line.clone());
            }
        }
        let rotated = outcome.events.iter().rev().find_map(|it| archive_path(it, &self.options));
        self.rotated = rotated.or(self.rotated);
        if let Some(file) = outcome.file {
            self.warnings.extend(file.notices.iter().cloned());
            self.run = Some(Run::new(outcome.now, &file));
        }
        self
    }

    /// Warns of a task that is not the item at hand, where that is what is worked on.
    fn other_task(&self) -> Option<String> {
        let begins =
            matches!(self.row.tool, Guidance::Init | Guidance::Analyze | Guidance::CreateState);
        let item = self.run.as_ref()?.item.as_ref()?;
        let task = self.named_task().trim();
        let is_other = self.row.takes_task && !begins && !task.is_empty() && task != item.trim();
        is_other
            .then(|| format!("the item at hand is `{item}`, which is not the task that was named"))
    }

    /// Answers from what was found. Nothing more is looked at.
    pub(super) fn answer(mut self) -> Done<Answer> {
        if self.row.tool == Guidance::CheckConfig {
            self.issues = self.config.issues();
        }
        if self.row.tool == Guidance::ValidateFiles {
            let issues = self.config.issues().into_iter();
            self.issues.extend(issues.map(|it| format!("{CONFIG_FILE}: {it}")));
        }
        self.changelog = self.changelog.take().filter(|it| self.config.has_line(it));
        self.warnings.extend(self.warnings_of_run());
        if self.lacks_approval() {
            self.warnings.insert(0, text::VOID.to_owned());
        }
        let mut once = HashSet::new();
        self.warnings.retain(|it| once.insert(it.clone()));
        self.say()
    }

    fn warnings_of_run(&self) -> Vec<String> {
        let Some(Run { seen, path, file, .. }) = &self.run else { return Vec::new() };
        let state = &seen.view.state;
        let mut warnings = Vec::new();
        if !state.standing.is_live() {
            warnings.push(format!("the run is {}; {}", state.standing.as_str(), ended(path)));
        }
        let is_planned = self.row.tool == Guidance::Update && self.is_waiting();
        if (is_planned || self.row.tool == Guidance::Construct) && file.plan().is_empty() {
            warnings.push("the recorded plan is empty".to_owned());
        }
        let issues = file.issues().into_iter().take(ISSUES_MAX);
        warnings.extend(issues.map(|it| format!("{path}: {it}")));
        warnings
    }

    /// Says what the agent is to do and to write itself. Nothing is looked at or changed.
    pub(super) fn advise(mut self) -> Done<Answer> {
        if self.row.tool == Guidance::CreateState {
            self.template = Some(StateFile::blank().text().to_owned());
        }
        if self.row.tool == Guidance::CreateConfig {
            self.template = Some(config_file::TEMPLATE.to_owned());
        }
        self.config.path = self.named_config().unwrap_or_default();
        self.say()
    }

    fn say(self) -> Done<Answer> {
        let next = self.next();
        let result = text::answer(&self, &next);
        let place = self.place();
        let answer = Answer { result, tool: self.row.name, place, next, issues: self.issues };
        Done { answer, warnings: self.warnings, then: None }
    }

    /// Words why the call led to nothing.
    pub(super) fn failure(self, stopped: &Stopped) -> Failure {
        let failure = Failure::of(self.row.name, stopped, self.place());
        let mut notices = self.notices.clone();
        if self.run.is_some()
            && let Stopped::Refused(Refusal::MoveNotAllowed { name, legal, .. }) = stopped
        {
            // What the work is at decides how it goes on, not the call that was refused.
            let refused = self.row.name;
            let told = Self { row: Guidance::Hello.row(), params: Map::new(), ..self };
            let legal = tools_of(legal);
            let said = text::illegal((refused, name), &told, &legal);
            return failure.out_of_order(&said, legal).noticing(notices);
        }
        if self.lacks_approval() {
            notices.push(text::VOID.to_owned());
        }
        failure.noticing(notices)
    }

    pub(crate) fn is_managed(&self) -> bool {
        self.options.mode == Mode::Managed
    }

    /// Returns the task that the call names. May be empty.
    pub(crate) fn named_task(&self) -> &str {
        self.text(TASK)
    }

    /// Returns the task: what the call names, or else the item at hand.
    pub(crate) fn task(&self) -> Option<&str> {
        let named = Some(self.named_task().trim()).filter(|it| !it.is_empty());
        named.or_else(|| self.run.as_ref()?.item.as_deref())
    }

    /// Returns what is said of the task: a summary, feedback, an error.
    pub(crate) fn detail(&self) -> &str {
        self.row.detail().map_or("", |it| self.text(it.name)).trim()
    }

    fn text(&self, name: &str) -> &str {
        self.params.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the file with the project's commands that the call names; the usual one counts as none.
    pub(super) fn named_config(&self) -> Option<String> {
        let path = self.text(CONFIG_PATH).trim();
        (!path.is_empty() && path != CONFIG_FILE).then(|| path.to_owned())
    }

    /// Returns where the file with the project's commands is looked for.
    pub(super) fn config_paths(&self) -> Vec<String> {
        self.named_config().map_or_else(|| config_paths(&self.options), |it| vec![it])
    }

    /// Returns whether the only thing to do is to ask the user for a task.
    pub(crate) fn lacks_task(&self) -> bool {
        self.row.takes_task && self.task().is_none()
    }

    /// Whether the plan waits for the user's answer.
    pub(crate) fn is_waiting(&self) -> bool {
        self.run.as_ref().is_some_and(|it| it.file.status() == WAITING)
    }

    /// Whether the task was only put on the list, because another one is under way.
    pub(crate) fn is_queued(&self) -> bool {
        self.row.tool == Guidance::Init && self.run.as_ref().is_some_and(|it| !it.is_at_start())
    }

    /// Whether plans need no approval, or this one has it.
    pub(crate) fn is_approved(&self) -> bool {
        let automatic = self.run.as_ref().and_then(|it| it.seen.view.state.vars.get(AUTO_APPROVE));
        let is_built = self.row.tool == Guidance::Construct;
        automatic == Some(&true.into())
            || is_built
                && (self.is_managed() || self.params.get(super::APPROVAL) == Some(&true.into()))
    }

    /// Whether the run is behind the step at which the user approves the plan.
    pub(crate) fn is_past_gate(&self) -> bool {
        let Some(run) = &self.run else { return false };
        let (steps, current) = (&run.seen.view.workflow.steps, &run.seen.view.state.current);
        let later = steps.iter().skip_while(|it| it.gate.is_none()).skip(1);
        later.map(|it| Some(&it.name)).any(|it| it == current.as_ref())
    }

    /// Returns how many items are done, and how many are not.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let Some(run) = &self.run else { return (0, 0) };
        let items = &run.seen.view.state.items;
        let done = items.iter().filter(|it| it.is_done).count();
        (done, items.iter().count() - done)
    }

    /// Returns what an update is to write in advisory mode.
    pub(crate) fn fields(&self) -> Vec<(&'static str, &str)> {
        let names = [
            ("Phase", "phase"),
            ("Status", "status"),
            ("CurrentItem", ITEM),
            ("Plan", "plan"),
            ("Log", "log_entry"),
        ];
        let is_said = |name: &str| {
            self.params.contains_key(name) && (name != "log_entry" || !self.text(name).is_empty())
        };
        let value = |name| match name {
            ITEM => Some(item(&self.params)).filter(|it| !it.is_empty()).unwrap_or("null"),
            name => self.text(name),
        };
        names
            .into_iter()
            .filter(|it| is_said(it.1))
            .map(|(shown, name)| (shown, value(name)))
            .collect()
    }

    /// Returns where the work is.
    fn place(&self) -> Place {
        let Some(run) = &self.run else { return Place::default() };
        Place {
            file: Some(run.path.clone()),
            phase: Some(run.file.phase().to_owned()),
            status: Some(run.file.status().to_owned()),
            current_item: run.item.clone(),
        }
    }
}

impl Run {
    fn new(seen: Snapshot, file: &RunFile) -> Self {
        let (path, file) = (file.path.clone(), StateFile::parse(&file.text));
        let item = file.current_item();
        Self { seen, path, file, item }
    }

    /// Whether the run is at its first step.
    pub(super) fn is_at_start(&self) -> bool {
        let first = self.seen.view.workflow.steps.first().map(|it| &it.name);
        self.seen.view.state.current.as_ref() == first
    }
}

impl Config {
    /// Takes the first of these files that is there, or where a new one belongs: at the first place
    /// whose folder is there.
    pub(super) fn of(texts: Vec<TextFile>) -> Self {
        let new = texts.iter().find(|it| it.has_folder).map(|it| it.path.clone());
        let found = texts.into_iter().find(|it| it.text != Ok(None));
        found.map_or_else(
            || Self { path: new.unwrap_or_default(), text: Ok(None) },
            |TextFile { path, text, .. }| Self { path, text },
        )
    }

    /// Returns what is wrong with it.
    pub(super) fn issues(&self) -> Vec<String> {
        match &self.text {
            Ok(Some(text)) => config_file::issues(text),
            Ok(None) => vec!["project_config.md file does not exist".to_owned()],
            Err(problem) => vec![format!("Could not read file: {problem}")],
        }
    }

    /// Whether it has this line of the changelog. What cannot be read has none.
    fn has_line(&self, line: &str) -> bool {
        let first = line.lines().next().unwrap_or_default().trim();
        matches!(&self.text, Ok(Some(text)) if text.contains(first))
    }

    /// Returns its commands for tests, and those for builds.
    pub(crate) fn commands(&self) -> (Vec<String>, Vec<String>) {
        match &self.text {
            Ok(Some(text)) => (config_file::test_commands(text), config_file::build_commands(text)),
            Ok(None) | Err(_) => (Vec::new(), Vec::new()),
        }
    }
}

fn see(root: Folder, mut left: IntoIter<String>, mut seen: Vec<TextFile>) -> Seeing<Vec<TextFile>> {
    let Some(path) = left.next() else { return Seeing::Seen(seen) };
    let folder = Folder::resolve(root.as_str(), path.rsplit_once('/').map_or("", |it| it.0));
    root.text(&path).then(move |text| {
        folder.is_there().then(move |has_folder| {
            seen.push(TextFile { path, text, has_folder });
            see(root, left, seen)
        })
    })
}

/// Returns the item that an update names; empty where it is cleared.
pub(super) fn item(params: &Map<String, Value>) -> &str {
    let text = params.get(ITEM).and_then(Value::as_str).unwrap_or_default();
    if text.trim() == "null" || text.trim().is_empty() { "" } else { text }
}

/// Returns what is wrong with the state file as it lies there.
pub(super) fn state_issues(texts: &[TextFile]) -> Vec<String> {
    let found = texts.iter().find(|it| it.text != Ok(None)).map(|it| &it.text);
    match found {
        Some(Ok(Some(text))) if text.contains('\0') => {
            vec!["Could not read file: it is not text".to_owned()]
        }
        Some(Ok(Some(text))) => StateFile::parse(text).issues(),
        Some(Err(problem)) => vec![format!("Could not read file: {problem}")],
        Some(Ok(None)) | None => vec!["workflow_state.md file does not exist".to_owned()],
    }
}
