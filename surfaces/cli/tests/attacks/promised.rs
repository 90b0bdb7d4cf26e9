//! Promised files that are torn, cut, emptied, replaced or contradictory.

#[path = "promised/damage.rs"]
mod damage;
#[path = "promised/item.rs"]
mod item;
#[path = "promised/session.rs"]
mod session;
#[path = "promised/workspace.rs"]
mod workspace;

use std::fs;

use cli::Surroundings;
use serde_json::{Value, json};

use crate::{
    project::Project,
    server::{Era, Server},
};

/// What a tool answered, all of it.
pub(super) struct Told(Value);

impl Told {
    pub(super) fn is_error(&self) -> bool {
        self.0["isError"] == true
    }

    /// Checks that the answer says each of `parts`, as text or beside it.
    #[track_caller]
    pub(super) fn says(&self, parts: &[&str]) -> &Self {
        let whole = self.0.to_string();
        for part in parts {
            assert!(whole.contains(part), "no `{part}` in {:#}", self.0);
        }
        self
    }

    /// Checks that the answer says none of `parts`.
    #[track_caller]
    pub(super) fn lacks(&self, parts: &[&str]) -> &Self {
        let whole = self.0.to_string();
        for part in parts {
            assert!(!whole.contains(part), "`{part}` is in {:#}", self.0);
        }
        self
    }
}

/// Calls a tool.
#[track_caller]
pub(super) fn call(server: &Server, tool: &str, arguments: Value) -> Told {
    let mut params = json!({"name": tool});
    params["arguments"] = arguments;
    Told(server.request("tools/call", params).ok().unwrap()["result"].clone())
}

/// Calls a tool that must do what it is asked.
#[track_caller]
pub(super) fn done(server: &Server, tool: &str, arguments: Value) -> Told {
    let told = call(server, tool, arguments);
    assert!(!told.is_error(), "`{tool}` refused: {:#}", told.0);
    told
}

/// Starts a server with one toolset in a folder of the project.
pub(super) fn serve(project: &Project, folder: &str, toolset: &str) -> Server {
    let around = Surroundings { working: project.path(folder), ..project.surroundings() };
    Server::surrounded(around, &["--toolset", toolset], Era::Modern)
}

/// Does steps of a scene, each from its start to its end.
#[track_caller]
pub(super) fn work(server: &Server, scene: &str, steps: impl IntoIterator<Item = u64>) {
    for step in steps {
        done(
            server,
            "start_step",
            json!({"scene_id": scene, "step_number": step, "phase_name": "p"}),
        );
        let end = json!({"scene_id": scene, "step_number": step, "duration_seconds": 1});
        done(server, "complete_step", end);
    }
}

/// Returns every file in a folder with its bytes; nothing where there is no such folder.
pub(super) fn files_in(project: &Project, folder: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(project.path(folder)).into_iter().flatten();
    entries.map(|it| fs::read(it.unwrap().path()).unwrap()).collect()
}
