//! A project in which a table is played: it is brought to each state once, kept, and put back
//! after each call that changed something.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    caller::{Caller, Line, Reply},
    evidence::Evidence,
    project::Project,
    script::{Deed, Row, State, Table},
    server::{Era, Server},
};

const WORKFLOWS: &str = include_str!("workflows.txt");
/// A scene that has only its end before it.
const DONE: &str = include_str!("../repeats/done.json");
/// What a project is made of, besides the binary.
const PARTS: [&str; 2] = ["work", "home"];

/// What became of the gate by a row.
pub(crate) struct Cell {
    pub(crate) verdict: &'static str,
    /// The caller got past a gate that they must not answer.
    pub(crate) is_bypass: bool,
    /// What the audit found afterwards.
    pub(crate) findings: Vec<String>,
    /// Each call with its answer, to be played again.
    pub(crate) story: String,
}

/// What was played under one policy: columns with a cell for each row.
pub(crate) struct Half {
    pub(crate) by_state: Vec<Vec<Cell>>,
    /// One for each caller after the first, where the gate is asked.
    pub(crate) by_caller: Vec<Vec<Cell>>,
}

/// A project, and the states that were kept of it.
pub(crate) struct World<'a> {
    table: &'a Table,
    /// Whether only a person's own answer counts.
    is_verified: bool,
    project: Project,
    kept: TempDir,
    /// The run that the table is about.
    run: RefCell<String>,
    /// The run that was begun last.
    new: RefCell<String>,
}

impl<'a> World<'a> {
    pub(crate) fn new(table: &'a Table, is_verified: bool) -> Self {
        // A disk would be waited for most of the time, and nothing here is about disks.
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            drop(tempfile::env::override_temp_dir(memory));
        }
        let mut project = Project::new()
            .with("LOG_LEVEL", "error")
            .with("MILEPOST_FORGE_POLL", "1")
            .with("GIT_CONFIG_NOSYSTEM", "1");
        if is_verified {
            project = project.with("MILEPOST_GATES_ANSWERS", "verified");
        }
        project.approve_token();
        project.write_all(WORKFLOWS);
        project.write(".gitignore", ".milepost\n.specs\n");
        fs::create_dir_all(project.path(".specs")).unwrap();
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["-c", "user.name=T", "-c", "user.email=t@e", "commit", "-qm", "one", "--allow-empty"],
        ] {
            let mut git = Command::new("git");
            project.place(&mut git);
            assert!(git.args(arguments).status().unwrap().success());
        }
        let (run, new) = (RefCell::default(), RefCell::default());
        Self { table, is_verified, project, kept: tempfile::tempdir().unwrap(), run, new }
    }

    /// Returns the tools of a toolset that do not only look.
    pub(crate) fn list_changing(&self, toolset: &str) -> BTreeSet<String> {
        let server = Server::inside(&self.project, &["--toolset", toolset], Era::Legacy);
        let listed = server.request("tools/list", json!({})).unwrap();
        let tools = listed["result"]["tools"].as_array().unwrap();
        let changes = |it: &&Value| it["annotations"]["readOnlyHint"] != true;
        tools.iter().filter(changes).map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Plays every row at every state, and where the gate is asked also for every other caller.
    pub(crate) fn play(&self) -> Half {
        let states = &self.table.states;
        states.iter().for_each(|it| self.prepare(it));
        let by_state = states.iter().map(|it| self.play_at(it, Caller::Agent)).collect();
        let asked = states.iter().find(|it| it.name == "asked").unwrap();
        let others = Caller::ALL.into_iter().filter(|it| *it != Caller::Agent);
        let by_caller = others.map(|it| self.play_at(asked, it)).collect();
        Half { by_state, by_caller }
    }

    /// Brings the project to a state, and keeps it.
    fn prepare(&self, state: &State) {
        if let Some(after) = &state.after {
            self.restore(after);
        }
        for deed in &state.deeds {
            self.change(deed);
            let Deed::Call(tool, arguments) = deed else { continue };
            // A server a call: people and files come in between.
            let said = self.call(&self.serve(Caller::Agent), tool, arguments);
            assert!(!said.is_error, "{}: `{tool}`: {said:#?}", state.name);
            if self.run.borrow().is_empty() {
                let runs = self.project.ask(&["run", "list"]);
                let run = runs["runs"][0]["instance_id"].as_str().unwrap_or_default();
                self.run.replace(run.to_owned());
            }
        }
        copy(&self.root(), &self.kept.path().join(&state.name));
    }

    fn play_at(&self, state: &State, caller: Caller) -> Vec<Cell> {
        self.restore(&state.name);
        let gather = |before: &Evidence| {
            Evidence::gather(&self.project, self.table, self.is_verified, before)
        };
        let before = gather(&Evidence::default());
        assert!(before.findings.is_empty(), "{}: {:?}", state.name, before.findings);
        let is_stale = state.name == "stale";
        let (mut server, mut cells) = (None, Vec::new());
        for row in &self.table.rows {
            let is_edited = row.deeds.iter().any(|it| !matches!(it, Deed::Call(..)));
            if is_edited || server.is_none() {
                drop(server.take());
                self.restore(&state.name);
                row.deeds.iter().for_each(|it| self.change(it));
                server = Some(self.serve(caller));
            }
            let picture = self.picture();
            let (said, mut story) = self.tell(server.as_ref().unwrap(), row);
            let is_same = !is_edited && picture == self.picture();
            let after = if is_same { before.clone() } else { gather(&before) };
            let verdict = match after.verdict(&before, is_stale) {
                it @ ("PAST" | "ended" | "back") => it,
                _ if said.is_denied => "denied",
                _ if said.is_error && is_of_gate(&said, &self.table.gate) => "no",
                _ if said.is_error => "other",
                it => it,
            };
            let policy = if self.is_verified { "verified" } else { "relayed" };
            let (row, state, by) = (&row.name, &state.name, caller.name());
            story = format!("`{row}` at `{state}`, {policy}, {by}: {verdict}\n{story}");
            let is_bypass = verdict == "PAST" && self.is_verified && !caller.is_person();
            cells.push(Cell { verdict, is_bypass, findings: after.findings, story });
            // What a call left is not there for the next row.
            if !is_same {
                drop(server.take());
            }
        }
        cells
    }

    /// Makes the calls of a row, and returns the last answer and all of them as text.
    fn tell(&self, server: &Line, row: &Row) -> (Reply, String) {
        let (mut last, mut story) = (None, String::new());
        for deed in &row.deeds {
            let Deed::Call(tool, arguments) = deed else {
                story.push_str(&format!("  {deed:?}\n"));
                continue;
            };
            let said = self.call(server, tool, arguments);
            let mark = if said.is_error { "refused" } else { "answered" };
            story.push_str(&format!("  {tool} {arguments}\n  {mark}: {}\n", said.text));
            last = Some(said);
        }
        (last.unwrap(), story)
    }

    fn call(&self, server: &Line, tool: &str, arguments: &str) -> Reply {
        let said = server.call(tool, &self.fill(arguments), &self.table.answer);
        if let Some(run) = said.value["instance_id"].as_str() {
            self.new.replace(run.to_owned());
        }
        said
    }

    fn fill(&self, arguments: &str) -> Value {
        let work = self.project.path("");
        let text = arguments.replace("$WORK/", work.to_str().unwrap());
        let text = text.replace("$RUN", &self.run.borrow()).replace("$NEW", &self.new.borrow());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn serve(&self, caller: Caller) -> Line {
        Line::open(&self.project, &self.table.toolsets, caller)
    }

    /// Changes a file, or answers as a person does.
    fn change(&self, deed: &Deed) {
        match deed {
            Deed::Call(..) => {}
            Deed::Write(path, text) => {
                let text = text.replace("$DONE", DONE).replace("\\n", "\n");
                self.project.write(path, &format!("{}\n", text.trim_end()));
            }
            Deed::Merge(path, members) => {
                let path = self.find(path);
                let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                let Value::Object(members) = self.fill(members) else { panic!("{members}") };
                value.as_object_mut().unwrap().extend(members);
                fs::write(path, serde_json::to_string_pretty(&value).unwrap()).unwrap();
            }
            Deed::Replace(path, old, new) => {
                let text = fs::read_to_string(self.project.path(path)).unwrap();
                assert!(text.contains(old), "no `{old}` in {path}:\n{text}");
                self.project.write(path, &text.replace(old, new));
            }
            Deed::Remove(path) => {
                let path = self.project.path(path);
                if path.is_dir() {
                    fs::remove_dir_all(path).unwrap();
                } else {
                    fs::remove_file(path).unwrap();
                }
            }
            Deed::Answer(answer) => {
                self.project.ask(&["gate", answer, &self.run.borrow(), "--yes"]);
            }
        }
    }

    /// Returns the path; of one that ends with `*`, the first file that begins so.
    fn find(&self, path: &str) -> PathBuf {
        let Some((folder, _)) = path.split_once('*') else { return self.project.path(path) };
        let entries = fs::read_dir(self.project.path(folder)).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
        paths.retain(|it| it.is_file());
        paths.sort();
        paths.swap_remove(0)
    }

    fn root(&self) -> PathBuf {
        self.project.path("").parent().unwrap().to_owned()
    }

    fn restore(&self, state: &str) {
        for part in PARTS {
            fs::remove_dir_all(self.root().join(part)).unwrap();
        }
        copy(&self.kept.path().join(state), &self.root());
    }

    /// Returns everything that is stored: how many events there are, and every file with its text.
    fn picture(&self) -> Vec<String> {
        let mut lines = Vec::new();
        files(&self.project.path(""), &mut lines);
        files(&self.root().join("home"), &mut lines);
        lines.sort();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database =
            Connection::open_with_flags(self.project.path(".milepost/milepost.db"), flags);
        let count = database.and_then(|it| {
            it.query_row("SELECT coalesce(max(pos), 0) FROM events", [], |it| it.get::<_, i64>(0))
        });
        lines.push(format!("{count:?} events"));
        lines
    }
}

/// Whether a call was refused because of the gate.
fn is_of_gate(said: &Reply, gate: &str) -> bool {
    let code = said.value["refusal"]["code"].as_str().unwrap_or_default();
    let own =
        ["approval_required", "edit_refused", "failed_forward", "next_not_allowed", "steps_open"];
    let why = said.text.lines().next().unwrap_or_default();
    let is_order = why.contains("approv") || why.contains(&format!("after `{gate}`"));
    match code {
        "gate_not_open" => false,
        "move_not_allowed" | "illegal_transition" | "step_out_of_order" => is_order,
        _ => code.starts_with("gate_") || own.contains(&code),
    }
}

/// Copies the parts of a project, with the times of its files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut command = Command::new("cp");
    command.arg("-a").args(PARTS.map(|it| from.join(it))).arg(to);
    assert!(command.status().unwrap().success());
}

/// Adds every file that people see.
fn files(folder: &Path, lines: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if [".milepost", ".git"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            files(&path, lines);
        } else {
            let text = fs::read_to_string(&path).unwrap_or_default();
            lines.push(format!("{}: {text}", path.display()));
        }
    }
}
