//! `milepost doctor`: checks that everything is as it should be, and says what to do if not.

mod clock;
mod disk;
mod safety;

use runtime::World as _;
use serde_json::json;

use crate::{
    commands::audit,
    config::{Config, StorePlace},
    failure::Failure,
    join::{Access, Database, Joined},
    output::{ALERT, BAD, DIM, GOOD, Output, Reply, text},
};

/// How many problems are shown; the rest is only counted.
const PROBLEMS_MAX: usize = 5;

/// How many problems are collected before the check stops.
const PROBLEMS_KEPT: usize = 100;

/// The code of a failure of the database that nothing more is known of. Its own hint leads here.
const DATABASE_FAILED: &str = "database";

/// What helps then.
const FAILED_HINT: &str = "stop every Milepost server that uses this database, because one of its \
                           files may have been removed or replaced under it, then run `milepost \
                           doctor` again; if it still fails, check the disk and the permissions of \
                           the folder, or restore a backup";

/// What was found out about one thing.
#[derive(Debug)]
pub(crate) struct Finding {
    what: &'static str,
    state: State,
    text: String,
    hint: Option<String>,
}

/// How good it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fine,
    Doubtful,
    Wrong,
}

impl Finding {
    fn new(what: &'static str, state: State, text: impl Into<String>) -> Self {
        Self { what, state, text: text.into(), hint: None }
    }

    fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Looks at everything.
pub(crate) async fn perform(config: Config, output: Output) -> Result<Reply, Failure> {
    let mut findings = vec![version(), configuration(&config), model(&config)];
    findings.extend(strange_variables(&config));
    findings.extend(safety::look(&config));
    findings.extend(missing_folders(&config));
    let place = config.store_place();
    match Joined::open(config, Access::Existing).await {
        Ok(joined) => {
            findings.push(database(&joined).await);
            if let Database::File { store, .. } = &joined.database {
                findings.push(clock::look(store, &joined.world).await);
            }
            if let StorePlace::Project(path) | StorePlace::Named(path) = &place {
                findings.extend(disk::look(path, || joined.world.steady()));
            }
            findings.extend(owed(&joined).await);
            findings.push(workflows(&joined));
            findings.push(safety::trust(&joined).await);
        }
        Err(failure) => {
            let finding = Finding::new("database", State::Wrong, failure.message);
            let hint = match failure.code.as_str() {
                DATABASE_FAILED => FAILED_HINT.to_owned(),
                _ => failure.hint.unwrap_or_default(),
            };
            findings.push(finding.with_hint(hint));
        }
    }
    Ok(reply(&findings, output))
}

fn reply(findings: &[Finding], output: Output) -> Reply {
    let word = |state: State| match state {
        State::Fine => "fine",
        State::Doubtful => "doubtful",
        State::Wrong => "wrong",
    };
    let is_fine = findings.iter().all(|it| it.state != State::Wrong);
    let json = json!({
        "is_fine": is_fine,
        "findings": findings.iter().map(|it| json!({
            "what": it.what,
            "state": word(it.state),
            "text": it.text,
            "hint": it.hint,
        })).collect::<Vec<_>>(),
    });
    let mut text = String::new();
    for finding in findings {
        let (mark, style) = match finding.state {
            State::Fine => ('✓', GOOD),
            State::Doubtful => ('!', ALERT),
            State::Wrong => ('✗', BAD),
        };
        let said = text::wrap(&text::lines(&finding.text), output.width(), 18);
        let what = text::pad(finding.what, 14);
        text.push_str(&format!("{style}{mark}{style:#} {what}  {said}\n"));
        if let Some(hint) = finding.hint.as_ref().filter(|it| !it.is_empty()) {
            let hint = text::wrap(&text::lines(hint), output.width(), 18);
            text.push_str(&format!("{DIM}{}{hint}{DIM:#}\n", " ".repeat(18)));
        }
    }
    let is_doubtful = findings.iter().any(|it| it.state == State::Doubtful);
    let note = match (is_fine, is_doubtful) {
        (false, _) => "Something is wrong: see the lines with ✗.",
        (true, true) => "Nothing is broken. Look at the lines with !.",
        (true, false) => "All is well.",
    };
    Reply { is_fine, ..Reply::new(json, text).with_note(note.to_owned()) }
}

fn version() -> Finding {
    let version = env!("CARGO_PKG_VERSION");
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    let sqlite = store::sqlite_version();
    let text = format!("milepost {version}, SQLite {sqlite}, {system} {machine}");
    Finding::new("version", State::Fine, text)
}

fn configuration(config: &Config) -> Finding {
    let what = "configuration";
    if !config.problems.is_empty() {
        let problems: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
        return Finding::new(what, State::Wrong, problems.join("\n"))
            .with_hint("`milepost config show` prints what is set, and where");
    }
    let project = config.places.project.display();
    let fine =
        Finding::new(what, State::Fine, format!("nothing is wrong; the project is {project}"));
    if config.unused.is_empty() {
        return fine;
    }
    let text = format!("set, but not used by this release: {}", config.unused.join(", "));
    Finding { state: State::Doubtful, text, ..fine }
}

/// Looks for variables that look like ours, as a misspelt one does.
fn strange_variables(config: &Config) -> Option<Finding> {
    let text = config.strange.join("\n");
    let finding = Finding::new("environment", State::Doubtful, text)
        .with_hint("they change nothing; `milepost config show` names what does");
    (!config.strange.is_empty()).then_some(finding)
}

fn model(config: &Config) -> Finding {
    if let Some(missing) = &config.model_missing {
        let text = format!("none, so workflows and agents decide; {missing}");
        return Finding::new("model", State::Doubtful, text)
            .with_hint("set what is missing to have a model decide, or `model.api = \"none\"`");
    }
    let Some(model) = &config.model else {
        return Finding::new("model", State::Fine, "none; workflows and agents decide");
    };
    let (name, api, endpoint) = (&model.name, model.api.as_str(), &model.endpoint);
    let key = if model.key.is_some() { "with a key" } else { "without a key" };
    let text = format!("`{name}` by the API `{api}` at {endpoint}, {key}; it was not asked");
    Finding::new("model", State::Fine, text)
}

async fn database(joined: &Joined) -> Finding {
    let what = "database";
    let (path, store) = match &joined.database {
        Database::File { path, store } => (path, store),
        Database::Memory => return Finding::new(what, State::Fine, "in memory"),
        Database::Missing { path } if path.exists() => {
            let text = format!("{} is empty: neither a database nor a copy of one", path.display());
            return Finding::new(what, State::Wrong, text)
                .with_hint("delete it, or put a backup in its place");
        }
        Database::Missing { path } => {
            let text = format!("there is none yet; it will be {}", path.display());
            return Finding::new(what, State::Fine, text);
        }
    };
    let (figures, mut problems) = match (store.figures().await, store.check_file().await) {
        (Ok(figures), Ok(problems)) => (figures, problems),
        (Err(error), _) | (_, Err(error)) => {
            let text = format!("{}: {error}", path.display());
            let hint =
                if error.code() == DATABASE_FAILED { FAILED_HINT.to_owned() } else { error.hint() };
            return Finding::new(what, State::Wrong, text).with_hint(hint);
        }
    };
    let audited = audit::each(joined, (store, None), |audit| {
        let texts = audit.problems.iter().map(|it| format!("{}: {}", audit.run.short(), it.text));
        problems.extend(texts);
        problems.len() <= PROBLEMS_KEPT
    });
    if let Err(failure) = audited.await {
        problems.push(failure.message);
    }
    if problems.is_empty() {
        let (runs, events, size) = (figures.runs, figures.events, text::bytes(figures.bytes));
        let text = format!("{}: {runs} runs, {events} events, {size}, sound", path.display());
        return Finding::new(what, State::Fine, text);
    }
    let more = problems.len().saturating_sub(PROBLEMS_MAX);
    let mut shown: Vec<String> = problems.into_iter().take(PROBLEMS_MAX).collect();
    if 0 < more {
        shown.push(format!("and {}", text::count(more, "more problem")));
    }
    Finding::new(what, State::Wrong, format!("{}: {}", path.display(), shown.join("\n")))
        .with_hint("restore a backup, or keep a copy of the file and report it")
}

/// Looks for runs whose files could not be written.
async fn owed(joined: &Joined) -> Option<Finding> {
    // A database that cannot be read is a finding of its own.
    let runs = joined.runtime.find_owing().await.ok().filter(|it| !it.is_empty())?;
    let names: Vec<String> = runs.iter().take(PROBLEMS_MAX).map(|it| it.short()).collect();
    let more = if names.len() < runs.len() { ", …" } else { "" };
    let runs = text::count(runs.len(), "run");
    let text = format!("files of {runs} are not written yet: {}{more}", names.join(", "));
    let hint = "a server that runs in this project (`milepost mcp`, `milepost serve`) writes them, \
                and logs why it cannot";
    Some(Finding::new("files", State::Doubtful, text).with_hint(hint))
}

/// Looks for folders of workflows that a setting names and that are not there.
fn missing_folders(config: &Config) -> Option<Finding> {
    let is_gone = |it: &&String| !config.places.working.join(it).is_dir();
    let gone: Vec<String> = config.named_workflow_dirs().iter().filter(is_gone).cloned().collect();
    let text = format!("not there: {}", gone.join(", "));
    let finding = Finding::new("definitions", State::Wrong, text)
        .with_hint("make the folder, or change `workflows.dirs` (`WORKFLOW_DEFINITIONS_DIR`)");
    (!gone.is_empty()).then_some(finding)
}

fn workflows(joined: &Joined) -> Finding {
    let (listed, invalid) = joined.runtime.list_workflows();
    let count = text::count(listed.len(), "workflow");
    let hidden = joined.world.find_hidden_workflows();
    if let Some(first) = hidden.first().filter(|_| invalid.is_empty()) {
        let names: Vec<String> = hidden.iter().map(|it| format!("`{}`", it.name)).collect();
        let text = format!("{count}; these take the place of others: {}", names.join(", "));
        let hint = format!(
            "`{}` is read from {}, and not from {}: look whether it still asks where it should",
            first.name, first.by, first.origin
        );
        return Finding::new("workflows", State::Doubtful, text).with_hint(hint);
    }
    if invalid.is_empty() {
        return Finding::new("workflows", State::Fine, format!("{count}, all of them usable"));
    }
    let names: Vec<String> = invalid.iter().map(|it| format!("`{}`", it.name)).collect();
    let text = format!("{count}; these cannot be used: {}", names.join(", "));
    Finding::new("workflows", State::Wrong, text)
        .with_hint("`milepost workflow check` shows what is wrong, in the files themselves")
}
