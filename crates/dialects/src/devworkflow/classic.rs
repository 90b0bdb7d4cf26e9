//! The classic tools: each is a move of the workflow, and its answer says what to do now.

mod advice;
mod row;
mod rows;
mod task;
#[cfg(test)]
mod tests;
mod told;

use std::borrow::Cow;

use engine::{Command, MakeMove, RunState, StartRun};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::{
    WORKFLOW,
    answer::{Answer, Failure},
    config_file,
    documents::new_state_path,
    options::Mode,
    words::{self, CONFIG_FILE, PHASES, STATE_FILE, STATUSES, state_paths},
};
use crate::kit::{Ask, Caller, Deed, Hints, Look, Stopped, Tell, Tool, schema};
use row::{APPROVAL, CONFIG_PATH, ITEM, TASK};
use rows::ROWS;

pub(super) use advice::Next;
pub(super) use row::{Guidance, Row};
use told::{Config, TextFile};
pub(super) use told::{Run, Told};

/// A call of the tool in one row, with its arguments.
pub(super) struct Guide<const AT: usize>(Map<String, Value>);

#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it, over a length it knows")]
impl<const AT: usize> Guide<AT> {
    const ROW: &'static Row = &ROWS[AT];
}

impl<'de, const AT: usize> Deserialize<'de> for Guide<AT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self)
    }
}

impl<const AT: usize> JsonSchema for Guide<AT> {
    fn schema_name() -> Cow<'static, str> {
        Self::ROW.name.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Self::ROW.schema().into()
    }
}

impl<const AT: usize> Tool for Guide<AT> {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = Self::ROW.name;
    const TITLE: &'static str = Self::ROW.title;
    const DESCRIPTION: &'static str = Self::ROW.description;
    const HINTS: Hints = Self::ROW.hints;
    const LISTS_WARNINGS: bool = true;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let mut told = Told::new(Self::ROW, self.0, caller);
        told.check_arguments()?;
        if told.options.mode == Mode::Advisory {
            return Ok(Self::say(told.advise()).into());
        }
        let start = StartRun {
            goes_on: false,
            key: None,
            flow: None,
            context: Map::new(),
            vars: Map::new(),
            root: caller.root.clone(),
        };
        let (start, date) = (Box::new(start), caller.at.to_date());
        Ok(match Self::ROW.tool {
            Guidance::Hello => open(told, Self::finish_found),
            Guidance::CheckConfig => open(told, |told, _| Self::finish(told).into()),
            Guidance::ValidateFiles => open(told, |told, _| Self::check_state(told)),
            Guidance::CreateConfig => open(told, move |told, _| Self::make_config(told, date)),
            Guidance::Init
            | Guidance::Analyze
            | Guidance::Blueprint
            | Guidance::Construct
            | Guidance::Validate
            | Guidance::Revise
            | Guidance::Complete
            | Guidance::Iterate
            | Guidance::Finalize
            | Guidance::ErrorRecovery
            | Guidance::FixValidation
            | Guidance::Escalate
            | Guidance::Changelog
            | Guidance::Update
            | Guidance::CreateState => Self::check_config(told, |told| {
                open(told, |told, found| Self::make(told, found, start))
            }),
        })
    }
}

/// Finds the run of the project, which is begun where there is only its file.
fn open(told: Told, then: impl FnOnce(Told, Result<(), Stopped>) -> Ask + Send + 'static) -> Ask {
    let keys = state_paths(&told.options);
    let found = |keys: Result<Vec<String>, Stopped>| match keys {
        Ok(keys) => {
            let found = move |found: Result<_, _>| {
                let mut told = told;
                let found = found.map(|it| told.take(it));
                then(told, found)
            };
            Look::File(WORKFLOW, keys, Box::new(found)).into()
        }
        Err(stopped) => then(told, Err(stopped)),
    };
    Look::Live(WORKFLOW, keys, Box::new(found)).into()
}

impl<const AT: usize> Guide<AT> {
    /// Refuses a named file that cannot be looked at, such as one that a link leads to from outside.
    fn check_config(told: Told, then: impl FnOnce(Told) -> Ask + Send + 'static) -> Ask {
        let Some(path) = told.named_config() else { return then(told) };
        let seeing = told.see(vec![path]);
        let read = move |texts: Vec<TextFile>| {
            let Some((path, problem)) =
                texts.into_iter().find_map(|it| Some((it.path, it.text.err()?)))
            else {
                return then(told);
            };
            let message = format!("`{path}` cannot be read: {problem}");
            let hint = "name a text file in the project, seen from its root";
            Self::fail(Failure::new(Self::NAME, "INVALID_PATH", &message, hint)).into()
        };
        seeing.then(read)
    }

    /// Makes the move, in a run that is begun where there is none.
    fn make(told: Told, found: Result<(), Stopped>, mut start: Box<StartRun>) -> Ask {
        if let Err(stopped) = found {
            return Self::fail(told.failure(&stopped)).into();
        }
        if let (Guidance::CreateState, Some(run)) = (told.row.tool, &told.run) {
            let message = format!("`{}` is there already", run.path);
            let hint = "`init_workflow_guidance` adds a task to it";
            let failure = Failure::new(Self::NAME, "FILE_EXISTS", &message, hint);
            return Self::fail(failure.noticing(told.notices)).into();
        }
        if told.lacks_task() {
            return Self::finish(told).into();
        }
        let state = told.run.as_ref().map(|it| &*it.seen.view.state);
        let command = Box::new(command(told.row, &told.params, state));
        let done = |told: Told| {
            Box::new(move |outcome: Result<_, Stopped>| match outcome {
                Ok(outcome) => Self::finish(told.after(outcome)),
                Err(stopped) => Self::fail(told.failure(&stopped)),
            })
        };
        if let Some(run) = &told.run {
            let deed = Deed::Change { run: run.seen.view.state.run, command, by: None };
            return Ask::Do(deed, done(told));
        }
        // A new file belongs in the dialect's folder if there is one.
        let seeing = told.see(state_paths(&told.options).into_iter().take(1).collect());
        let begin = move |texts: Vec<TextFile>| {
            let has_folder = texts.iter().any(|it| it.has_folder);
            start.key = Some(new_state_path(&told.options, has_folder));
            Ask::Do(Deed::StartWith { workflow: WORKFLOW.to_owned(), start, command }, done(told))
        };
        seeing.then(begin)
    }

    /// Looks at the state file as it lies there.
    fn check_state(mut told: Told) -> Ask {
        let seeing = told.see(state_paths(&told.options));
        let read = move |texts: Vec<TextFile>| {
            told.issues
                .extend(told::state_issues(&texts).iter().map(|it| format!("{STATE_FILE}: {it}")));
            Self::finish(told).into()
        };
        seeing.then(read)
    }

    /// Makes the file with the project's commands, unless it is there.
    fn make_config(mut told: Told, date: String) -> Ask {
        let seeing = told.see(told.config_paths());
        let make = move |texts: Vec<TextFile>| {
            let config = Config::of(texts);
            let text = config_file::new(&date);
            let path = config.path.clone();
            let made = move |made: Result<bool, String>| {
                match made {
                    Ok(true) => told.template = Some(config_file::new(&date)),
                    Ok(false) => {
                        let path = &config.path;
                        told.warnings
                            .push(format!("`{path}` is there already and was left as it is"));
                        told.issues = config.issues();
                    }
                    Err(problem) => {
                        let message = format!("`{}` could not be made: {problem}", config.path);
                        let hint = "fix that, then retry";
                        return Self::fail(Failure::new(Self::NAME, "STORAGE", &message, hint));
                    }
                }
                Self::finish(told)
            };
            Ask::Make(WORKFLOW, path, text, Box::new(made))
        };
        seeing.then(make)
    }

    fn finish_found(told: Told, found: Result<(), Stopped>) -> Ask {
        match found {
            Ok(()) => Self::finish(told).into(),
            Err(stopped) => Self::fail(told.failure(&stopped)).into(),
        }
    }

    /// Looks at the file with the project's commands, and answers.
    fn finish(mut told: Told) -> Tell {
        let seeing = told.see(told.config_paths());
        let say = move |texts| {
            told.config = Config::of(texts);
            Self::say(told.answer())
        };
        seeing.then(say)
    }
}

/// Returns the move that a call asks for. A task that comes after the run was stopped starts it over:
/// nothing of it is lost, and its items stay on the list.
fn command(row: &Row, params: &Map<String, Value>, state: Option<&RunState>) -> Command {
    let asked = make_move(row, params);
    let is_over = state.is_some_and(|it| !it.standing.is_live());
    if row.tool != Guidance::Init || !is_over {
        return asked;
    }
    let params = json!({"phase": PHASES[0], "status": STATUSES[0], ITEM: null});
    let back = make_move(Guidance::Update.row(), &schema::object(params));
    let reason = "a new task was named".to_owned();
    Command::All(vec![Command::ReopenRun { reason, force: true }, back, asked])
}

fn make_move(row: &Row, params: &Map<String, Value>) -> Command {
    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut args = Map::new();
    for param in row.params {
        let (name, value) = match param.name {
            TASK => ("task", text(TASK)),
            CONFIG_PATH => (
                "config_path",
                Some(text(CONFIG_PATH).trim()).filter(|it| !it.is_empty()).unwrap_or(CONFIG_FILE),
            ),
            "summary" => ("summary", text("summary").trim()),
            // One that is left out is not said; one that is nothing clears it.
            ITEM => {
                args.insert("has_item".to_owned(), params.contains_key(ITEM).into());
                ("item", told::item(params))
            }
            "plan" if !params.contains_key("plan") => continue,
            APPROVAL => continue,
            name => (name, text(name)),
        };
        args.insert(name.to_owned(), clean(value).into());
    }
    let is_approved = params.get(APPROVAL) == Some(&Value::Bool(true));
    // A new file begins like a new task.
    let tool = if row.tool == Guidance::CreateState { Guidance::Init } else { row.tool };
    let name = tool.row().makes.to_owned();
    Command::Move(Box::new(MakeMove { name, args, is_approved }))
}

/// Returns the tools that make one of these moves.
pub(super) fn tools_of(moves: &[String]) -> Vec<&'static str> {
    // An update is judged by what it says.
    let is_legal =
        |it: &&Row| it.tool == Guidance::Update || moves.iter().any(|name| name == it.makes);
    ROWS.iter().filter(is_legal).map(|it| it.name).collect()
}

impl Told {
    /// Checks what the schema cannot say, and brings words into their form.
    fn check_arguments(&mut self) -> Result<(), Failure> {
        for (name, words, code) in
            [("phase", &PHASES, "INVALID_PHASE"), ("status", &STATUSES, "INVALID_STATUS")]
        {
            if let Some(Value::String(text)) = self.params.get_mut(name) {
                *text = word(text, words, (code, name))?.to_owned();
            }
        }
        self.check_path()?;
        self.warnings.extend(task::check(&self.options, self.row, self.named_task())?);
        Ok(())
    }

    /// Refuses a path that could lead out of the project, or is not a place for a changelog.
    fn check_path(&self) -> Result<(), Failure> {
        let Some(path) = self.named_config() else { return Ok(()) };
        if words::is_config_path(&path, &self.options) {
            return Ok(());
        }
        let shown: String = path.chars().filter(|it| !it.is_control()).take(80).collect();
        let message = format!("`{CONFIG_PATH}` cannot be `{shown}`");
        let hint = "name a Markdown file in the project, seen from its root";
        Err(Failure::new(self.row.name, "INVALID_PATH", &message, hint))
    }
}

/// Returns the word of a closed list that is meant, in whichever case it is written.
fn word<'w>(text: &str, words: &[&'w str], (code, name): (&str, &str)) -> Result<&'w str, Failure> {
    let found = words.iter().find(|it| it.eq_ignore_ascii_case(text.trim()));
    found.copied().ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        let message = format!("there is no {name} `{shown}`");
        let hint = format!("use one of {}", words.join(", "));
        Failure::new(Guidance::Update.name(), code, &message, &hint)
    })
}

/// Returns a text as it can stand in a file that people read: with plain line ends, and without
/// control characters.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|it| !it.is_control() || matches!(it, '\n' | '\t')).collect()
}
