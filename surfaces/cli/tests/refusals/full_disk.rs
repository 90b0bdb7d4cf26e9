//! A disk with no room left: calls are refused, what was answered stays, and once there is room the
//! same server goes on.

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    Stage, WORKFLOWS,
    project::Project,
    server::{Era, Server},
};

/// How many notes a disk without room may still take, in what was set aside before.
const NOTES_MAX: usize = 2000;

fn project() -> Project {
    let project = Project::new().with("LOG_LEVEL", "warn").with("WORKFLOW_DB_PATH", "disk/it.db");
    project.write_all(WORKFLOWS);
    fs::create_dir(project.path("disk")).unwrap();
    project
}

/// Returns the server behind a shell that prepares its surroundings.
fn behind(project: &Project, shell: &[&str], script: &str) -> Command {
    let mut command = Command::new(shell[0]);
    let script = format!("{script} && exec {} mcp", env!("CARGO_BIN_EXE_milepost"));
    command.args(&shell[1..]).arg(script);
    project.place(&mut command);
    command
}

impl Stage {
    fn note(&self, number: usize) -> Value {
        let text = format!("note {number} {}", "x".repeat(1000));
        json!({"instance_id": self.run, "type": "note", "text": text})
    }

    /// Notes until there is no room, and returns how many notes were taken.
    fn note_until_full(&self, code: &str) -> usize {
        for number in 0..NOTES_MAX {
            let answer = self.server.call("record_entry", self.note(number));
            if answer.is_error {
                assert_eq!(answer.value["error_code"], "PERSISTENCE_ERROR", "{:#}", answer.value);
                assert_eq!(answer.value["refusal"]["code"], code, "{:#}", answer.value);
                // Waiting alone does not help, so nothing says when to call again.
                assert!(answer.value["refusal"]["retry_after_ms"].is_null(), "{:#}", answer.value);
                return number;
            }
        }
        panic!("{NOTES_MAX} notes were taken on a disk without room");
    }

    /// Returns how many events the run has, as this server sees it.
    fn length(&self) -> u64 {
        let answer = self.server.call("get_workflow_status", json!({"instance_id": self.run}));
        assert!(!answer.is_error, "{:#}", answer.value);
        answer.value["seq"].as_u64().unwrap()
    }
}

#[test]
fn a_disk_without_room_refuses_and_goes_on_when_there_is_room_again() {
    let shell = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"];
    let mount = "mount -t tmpfs -o size=1m none disk";
    let project = project();
    if !can_mount(&project, &shell, mount) {
        println!(
            "left out: a small file system cannot be mounted here; a file limit is tried below"
        );
        return;
    }
    let server = Server::start(&mut behind(&project, &shell, mount), Era::Modern);
    let stage = Stage::with(project, server);
    let before = stage.length();
    // The server's own view of the folder, in which the small file system is.
    let process = stage.server.process_id();
    let inside = stage.project.path("disk/ballast");
    let ballast = PathBuf::from(format!("/proc/{process}/root{}", inside.display()));
    fill(&ballast);
    let taken = u64::try_from(stage.note_until_full("disk_full")).unwrap();
    assert_eq!(stage.length(), before + taken);
    assert!(stage.server.call("start_workflow", json!({"workflow_name": "GUARDED"})).is_error);
    assert_eq!(stage.length(), before + taken);
    fs::remove_file(&ballast).unwrap();
    stage.goes_on();
    assert_eq!(stage.length(), before + taken + 1);
}

fn can_mount(project: &Project, shell: &[&str], mount: &str) -> bool {
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).arg(mount);
    project.place(&mut command);
    command.stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}

/// Writes a file until nothing more can be written.
fn fill(path: &PathBuf) {
    let mut file = fs::File::create(path).unwrap();
    for size in [64 * 1024, 4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

#[test]
fn a_file_that_may_not_grow_refuses_and_nothing_answered_is_lost() {
    let project = project();
    // Without the trap the signal would end the process, which is not what a full disk does.
    let limit = "trap '' XFSZ && ulimit -f 600";
    let server = Server::start(&mut behind(&project, &["sh", "-c"], limit), Era::Modern);
    let stage = Stage::with(project, server);
    let before = stage.length();
    let taken = stage.note_until_full("database");
    assert_eq!(stage.length(), before + u64::try_from(taken).unwrap());
    let Stage { project, server, run } = stage;
    drop(server);
    let server = Server::start(&mut project.milepost(&["mcp"]), Era::Modern);
    let stage = Stage { project, server, run };
    assert_eq!(stage.length(), before + u64::try_from(taken).unwrap());
    stage.goes_on();
    stage.project.ask(&["doctor"]);
}
