//! Repeats: a call that is sent again must not be done again, and must not pass what comes after it.
#![expect(clippy::needless_pass_by_value, reason = "arguments are written where they are passed")]

use std::{
    fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command, thread, time::Duration,
};

use serde_json::{Value, json};

use crate::{
    project::Project,
    random::{self, Random},
    server::{Era, Gone, Server},
};

/// The most calls that a pipeline may take.
const TURNS_MAX: usize = 400;
/// How many pipelines are played with a server that is killed again and again.
const RUNS: u64 = 4;

/// A pipeline that is to end in a pull request, and a client that knows only the contract.
struct Pipeline {
    project: Project,
    server: Server,
    /// How often `gh pr create` was run.
    pulls: usize,
}

impl Pipeline {
    fn begun(effort: &str) -> Self {
        let project = repository();
        let server = serve(&project);
        let pipeline = Self { project, server, pulls: 0 };
        let begin = json!({
            "workspace": pipeline.workspace(), "task_text": "Add a thing", "flags": {},
            "user_confirmation": {"effort": effort, "use_current_branch": true},
        });
        let said = pipeline.call("pipeline_init_with_context", begin).unwrap();
        assert_eq!(said["ready"], true, "{said:#}");
        pipeline
    }

    fn workspace(&self) -> String {
        self.project.path(".specs/20260101-x").to_str().unwrap().to_owned()
    }

    /// Calls a tool that must do what it is asked, unless the server is gone before.
    fn call(&self, tool: &str, arguments: Value) -> Result<Value, Gone> {
        let params = json!({"name": tool, "arguments": arguments});
        let message = self.server.request("tools/call", params)?;
        let result = &message["result"];
        assert_ne!(result["isError"], true, "`{tool}`: {message:#}");
        Ok(serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap())
    }

    fn next(&self, mut arguments: Value) -> Value {
        arguments["workspace"] = json!(self.workspace());
        self.call("pipeline_next_action", arguments).unwrap()
    }

    /// Does what an action asks for, and returns what is said of it.
    fn act(&mut self, action: &Value) -> Value {
        match action["type"].as_str().unwrap() {
            "" => return json!({}),
            "checkpoint" | "human_gate" => {
                let options = action["options"].as_array().unwrap();
                let usual = ["proceed", "done", "approve", "skip"];
                let known = usual.into_iter().find(|it| options.iter().any(|one| one == it));
                return json!({"user_response": known.unwrap(), "action_id": action["action_id"]});
            }
            "exec" => {
                assert_eq!(action["commands"][2], "create", "{action:#}");
                self.pulls += 1;
            }
            "write_file" => {
                let path = self.project.path(action["path"].as_str().unwrap());
                fs::write(path, action["content"].as_str().unwrap()).unwrap();
            }
            _ => {}
        }
        self.write_outputs(action);
        json!({"previous_action_complete": true, "action_id": action["action_id"]})
    }

    fn write_outputs(&self, action: &Value) {
        let tasks = action["parallel_tasks"].as_array().cloned().unwrap_or_default();
        let files = tasks.iter().map(|it| &it["output_file"]).chain([&action["output_file"]]);
        for file in files.filter_map(Value::as_str) {
            let text = match file {
                "design.md" => "# D\n\n## A\n",
                "review-design.md" | "review-tasks.md" => "## Verdict: APPROVE\n",
                "tasks.md" => "# T\n\n## Task 1: Implement\nmode: sequential\n",
                _ if file.starts_with("review-") => "## Verdict: PASS\n",
                _ => "This is done.\n",
            };
            fs::write(Path::new(&self.workspace()).join(file), text).unwrap();
        }
    }

    /// Goes on until an action of this phase is handed out.
    fn play_to(&mut self, phase: &str) -> Value {
        let mut action = self.next(json!({}));
        for _ in 0..TURNS_MAX {
            if action["phase"] == phase {
                return action;
            }
            let said = self.act(&action);
            action = self.next(said);
        }
        panic!("{phase} never came: {action:#}");
    }

    /// Sends a call until it is answered, by one server after another. Each is killed at some
    /// moment: before the call is taken, while it is made, after it is done, or not at all.
    fn insist(&mut self, arguments: &Value, random: &mut Random) -> Value {
        for _ in 0..TURNS_MAX {
            let killed_after = random.below(3).checked_sub(1).map(|_| random.below(40));
            if let Ok(action) = self.attempt(arguments.clone(), killed_after) {
                return action;
            }
            self.server = serve(&self.project);
        }
        panic!("never answered: {arguments:#}");
    }

    fn attempt(&self, mut arguments: Value, killed_after: Option<u64>) -> Result<Value, Gone> {
        arguments["workspace"] = json!(self.workspace());
        thread::scope(|scope| {
            let call = scope.spawn(|| self.call("pipeline_next_action", arguments));
            if let Some(milliseconds) = killed_after {
                // The moment is what is tried, so nothing can be waited for.
                thread::sleep(Duration::from_millis(milliseconds));
                self.server.kill();
            }
            call.join().unwrap()
        })
    }
}

fn serve(project: &Project) -> Server {
    Server::start(&mut project.milepost(&["mcp", "--toolset", "forge"]), Era::Legacy)
}

/// A repository with an origin, and a `gh` that does nothing.
fn repository() -> Project {
    let project = Project::new();
    project.write("../bin/gh", "#!/bin/sh\nexit 0\n");
    let gh = project.path("../bin/gh");
    fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", gh.parent().unwrap().display());
    let project = project
        .with("PATH", &path)
        .with("FORGE_SPECS_DIR", project_specs(&gh).as_str())
        .with("MILEPOST_FORGE_POLL", "1")
        .with("GIT_CONFIG_NOSYSTEM", "1");
    fs::create_dir(project.path(".specs")).unwrap();
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "Tester"],
        &["config", "user.email", "tester@example.com"],
        &["commit", "-q", "--allow-empty", "-m", "first"],
        &["init", "-q", "--bare", "-b", "main", "../origin.git"],
        &["remote", "add", "origin", "../origin.git"],
        &["push", "-q", "-u", "origin", "main"],
        &["checkout", "-q", "-b", "feature/x"],
    ] {
        let mut git = Command::new("git");
        project.place(&mut git);
        assert!(git.args(arguments).status().unwrap().success(), "{arguments:?}");
    }
    project
}

fn project_specs(gh: &Path) -> String {
    gh.parent().unwrap().join("../work/.specs").to_str().unwrap().to_owned()
}

/// What a client says that knows nothing but the contract.
fn complete() -> Value {
    json!({"previous_action_complete": true})
}

#[test]
fn the_same_report_sent_again_does_not_pass_the_pull_request() {
    let mut pipeline = Pipeline::begun("S");
    let action = pipeline.play_to("final-verification");
    pipeline.act(&action);
    let first = pipeline.next(complete());
    assert_eq!(first["type"], "exec", "{first:#}");
    for _ in 0..3 {
        assert_eq!(pipeline.next(complete()), first);
    }
    // Who has seen the action and names it, gets through.
    let mut done = complete();
    done["action_id"] = first["action_id"].clone();
    assert_eq!(pipeline.next(done)["phase"], "final-summary");
}

#[test]
fn the_same_report_sent_to_another_process_does_not_pass_the_pull_request() {
    let mut pipeline = Pipeline::begun("S");
    let action = pipeline.play_to("final-verification");
    pipeline.act(&action);
    let first = pipeline.next(complete());
    pipeline.server = serve(&pipeline.project);
    assert_eq!(pipeline.next(complete()), first);
}

#[test]
fn a_report_that_was_sent_before_is_none_on_an_action_that_was_asked_for_since() {
    let mut pipeline = Pipeline::begun("S");
    let action = pipeline.play_to("final-verification");
    pipeline.act(&action);
    let first = pipeline.next(complete());
    let again = pipeline.next(json!({}));
    assert_eq!((&again["type"], &again["action_id"]), (&first["type"], &first["action_id"]));
    let late = pipeline.next(complete());
    assert_eq!((&late["type"], &late["action_id"]), (&first["type"], &first["action_id"]));
    assert!(late["warning"].as_str().is_some_and(|it| it.contains("pass its `action_id`")));
    // Who says more than before gets through without it.
    let mut told = complete();
    told["previous_tokens"] = json!(1000);
    assert_eq!(pipeline.next(told)["phase"], "final-summary");
}

#[test]
fn the_same_report_sent_again_after_a_fail_does_not_take_the_rework_as_done() {
    let mut pipeline = Pipeline::begun("M");
    let action = pipeline.play_to("phase-6");
    pipeline.act(&action);
    let review = Path::new(&pipeline.workspace()).join("review-1.md");
    fs::write(review, "## Verdict: FAIL\n\nIt leaks.\n").unwrap();
    let first = pipeline.next(complete());
    assert_eq!(first["phase"], "phase-5", "{first:#}");
    assert_eq!(pipeline.next(complete()), first);
    // What has changed is work that was done.
    let done = Path::new(&pipeline.workspace()).join("impl-1.md");
    fs::write(done, "It does not leak any more.\n").unwrap();
    assert_eq!(pipeline.next(complete())["phase"], "phase-6");
}

#[test]
fn a_report_on_an_action_of_long_ago_changes_nothing() {
    let mut pipeline = Pipeline::begun("S");
    let old = pipeline.next(json!({}));
    let now = pipeline.play_to("final-verification");
    let mut late = complete();
    late["action_id"] = old["action_id"].clone();
    let told = pipeline.next(late);
    assert_eq!((&told["phase"], &told["action_id"]), (&now["phase"], &now["action_id"]));
    assert!(told["warning"].as_str().is_some_and(|it| it.contains("nothing was reported")));
}

#[test]
fn an_answer_sent_again_does_not_answer_the_next_question() {
    let mut pipeline = Pipeline::begun("M");
    let mut action = pipeline.next(json!({}));
    for _ in 0..TURNS_MAX {
        if action["type"] == "checkpoint" {
            break;
        }
        let said = pipeline.act(&action);
        action = pipeline.next(said);
    }
    let first = pipeline.next(json!({"user_response": "proceed"}));
    assert_eq!(pipeline.next(json!({"user_response": "proceed"})), first);
}

#[test]
fn a_pipeline_whose_server_is_killed_at_random_always_asks_for_its_pull_request() {
    let seed = random::seed();
    for number in 0..RUNS {
        let mut random = Random::new(seed.wrapping_add(number));
        let mut pipeline = Pipeline::begun("S");
        let mut said = json!({});
        for _ in 0..TURNS_MAX {
            let action = pipeline.insist(&said, &mut random);
            if action["type"] == "done" {
                break;
            }
            said = pipeline.act(&action);
            if number % 2 == 1
                && let Some(said) = said.as_object_mut()
            {
                // A client that does not send the action's id back.
                said.remove("action_id");
                if action["type"] == "exec" {
                    // It says what the command took, so no two of its reports are the same.
                    said.insert("previous_duration_ms".to_owned(), json!(1200));
                }
            }
        }
        assert!(0 < pipeline.pulls, "seed {seed}, run {number}: no pull request");
        let stated = fs::read_to_string(Path::new(&pipeline.workspace()).join("state.json"));
        let stated: Value = serde_json::from_str(&stated.unwrap()).unwrap();
        assert_eq!(stated["currentPhase"], "completed", "seed {seed}, run {number}: {stated:#}");
    }
}

/// Attacker, 4th trial: two calls with one id at once led to two answers, one of them a refusal that
/// was not true.
#[test]
fn one_id_from_two_processes_at_once_has_one_answer() {
    for round in 0..3 {
        let pipeline = Pipeline::begun("M");
        let other = serve(&pipeline.project);
        let params = json!({
            "name": "pipeline_next_action", "arguments": {"workspace": pipeline.workspace()},
            "_meta": {"milepost/request_id": format!("round-{round}")},
        });
        let ask = |server: &Server| server.request("tools/call", params.clone()).unwrap();
        let (one, two) = thread::scope(|scope| {
            let one = scope.spawn(|| ask(&pipeline.server));
            let two = scope.spawn(|| ask(&other));
            (one.join().unwrap(), two.join().unwrap())
        });
        assert_eq!(one["result"], two["result"], "round {round}");
        assert_ne!(one["result"]["isError"], true, "{one:#}");
    }
}
