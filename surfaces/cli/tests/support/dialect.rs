//! A project of its own, a server over it with the tools of one dialect, and what its calls answer.
//!
//! The server runs in the test's own process, with everything else as in the binary: the
//! configuration, the protocol, the database and the files. What needs a process asks for one.

use std::{
    fs,
    marker::PhantomData,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    project::Project,
    said::Said,
    server::{Era, Gone, Server},
};

/// What a dialect has of its own.
pub(crate) trait Dialect: Sized {
    /// What the server is started with.
    const FLAGS: &'static [&'static str];

    /// Returns the project that a test begins with.
    fn project() -> Project;

    /// Checks what every answer must be.
    fn check(tool: &str, said: Said) -> Said;

    /// Checks that the answer of a call that was done agrees with what is then in the files.
    #[track_caller]
    fn compare(stage: &Stage<Self>, tool: &str, arguments: &Value, said: &Said);

    /// Returns the files that only a call that was done may change, and what counts of each.
    fn files(project: &Project) -> Vec<(PathBuf, Vec<u8>)>;
}

/// A project, and a server in it.
pub(crate) struct Stage<D> {
    pub(crate) project: Project,
    pub(crate) server: Server,
    /// How servers are started.
    start: fn(&Project, Era) -> Server,
    dialect: PhantomData<D>,
}

impl<D: Dialect> Stage<D> {
    pub(crate) fn new() -> Self {
        Self::over(D::project())
    }

    /// Starts a server in a project that is there already.
    pub(crate) fn over(project: Project) -> Self {
        Self::begin_with(project, Self::serve)
    }

    /// The same, with a process for each server.
    pub(crate) fn apart(project: Project) -> Self {
        Self::begin_with(project, Self::serve_apart)
    }

    fn begin_with(project: Project, start: fn(&Project, Era) -> Server) -> Self {
        let server = start(&project, Era::Legacy);
        Self { project, server, start, dialect: PhantomData }
    }

    /// Starts another server in `project`.
    pub(crate) fn serve(project: &Project, era: Era) -> Server {
        Server::inside(project, D::FLAGS, era)
    }

    /// Starts another server in `project`, as a process.
    pub(crate) fn serve_apart(project: &Project, era: Era) -> Server {
        Server::start(project.milepost(&["mcp"]).args(D::FLAGS), era)
    }

    /// Ends the server, and returns what it leaves.
    pub(crate) fn end(self) -> Project {
        drop(self.server);
        self.project
    }

    /// Ends the server, and starts another.
    pub(crate) fn restart(self) -> Self {
        let Self { project, server, start, dialect } = self;
        drop(server);
        let server = start(&project, Era::Modern);
        Self { project, server, start, dialect }
    }

    /// Kills the server, as a crash does, and starts another.
    pub(crate) fn kill(&mut self) {
        self.server.kill();
        self.server = (self.start)(&self.project, Era::Modern);
    }

    /// Calls a tool of a server, unless that is gone before it answers.
    pub(crate) fn try_call(server: &Server, tool: &str, arguments: Value) -> Result<Said, Gone> {
        Ok(D::check(tool, Said::hear(server, tool, arguments)?))
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Said {
        Self::try_call(&self.server, tool, arguments).unwrap_or_else(|Gone| {
            panic!("the server is gone while `{tool}` was called:\n{}", self.server.talk())
        })
    }

    /// Calls a tool that must do what it is asked.
    #[track_caller]
    pub(crate) fn done(&self, tool: &str, arguments: Value) -> Said {
        let asked = arguments.clone();
        let said = self.call(tool, arguments);
        assert!(!said.is_error, "`{tool}` refused {asked}: {}", said.text);
        D::compare(self, tool, &asked, &said);
        said
    }

    /// Calls a tool that must not change any file.
    #[track_caller]
    pub(crate) fn unchanged(&self, tool: &str, arguments: Value) -> Said {
        let before = self.files();
        let said = self.call(tool, arguments);
        assert!(self.files() == before, "`{tool}` changed a file:\n{}", said.text);
        said
    }

    /// Calls a tool that must answer without an error and change nothing.
    #[track_caller]
    pub(crate) fn read(&self, tool: &str, arguments: Value) -> Said {
        let said = self.unchanged(tool, arguments);
        assert!(!said.is_error, "`{tool}` refused: {}\n{:#}", said.text, said.value);
        said
    }

    /// Calls a tool that must refuse, say why, and change nothing.
    #[track_caller]
    pub(crate) fn refused(&self, tool: &str, arguments: Value) -> Said {
        let asked = arguments.to_string();
        let said = self.unchanged(tool, arguments);
        assert!(said.is_error, "`{tool}` did not refuse {asked}: {}", said.text);
        assert!(!said.text.trim().is_empty(), "`{tool}` does not say why");
        said
    }

    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        D::files(&self.project)
    }
}

/// Returns every file below `folder` that is `wanted`, with its bytes, but not the database.
pub(crate) fn files_below(folder: PathBuf, wanted: fn(&Path) -> bool) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.ends_with(".milepost") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if wanted(&path) {
                let bytes = fs::read(&path).unwrap();
                found.push((path, bytes));
            }
        }
    }
    found.sort();
    found
}
