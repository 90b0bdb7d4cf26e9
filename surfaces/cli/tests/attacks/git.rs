//! A person's branches, commits, index and work tree, while a pipeline that ends in a pull request
//! goes on beside them.

use std::{fs, process::Command, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    project::Project,
    random::{Random, seed},
    server::{Era, Server},
};

/// The branch that the pipeline works on.
const BRANCH: &str = "feature/x";
/// Where it keeps its files.
const WORKSPACE: &str = ".specs/20260101-x";
/// The most turns that a pipeline may take.
const TURNS_MAX: usize = 60;

/// A pipeline on a branch of its own, in a repository with a remote.
struct Forge {
    project: Project,
    server: Server,
    /// The commit that the pipeline began with.
    base: String,
    /// Whether the agent that builds commits its work.
    commits: bool,
    /// What the person runs before a report.
    random: Option<Random>,
}

/// What the server said.
enum Said {
    Action(Value),
    Refused(String),
}

impl Forge {
    /// Begins a pipeline on a branch of its own.
    fn begun(effort: &str) -> Self {
        let forge = Self::confirmed(json!({"effort": effort}));
        forge.git(&["checkout", "-q", "-b", BRANCH]);
        forge
    }

    /// Begins a pipeline as the person wants it. Somebody is to be told of it in the end.
    fn confirmed(confirmation: Value) -> Self {
        Self::confirmed_in(Project::new(), confirmation)
    }

    fn confirmed_in(mut project: Project, confirmation: Value) -> Self {
        let specs = project.path(".specs").to_str().unwrap().to_owned();
        project = project.with("FORGE_SPECS_DIR", &specs).with("GIT_CONFIG_NOSYSTEM", "1");
        fs::create_dir(&specs).unwrap();
        let server = serve(&project);
        let mut forge = Self { project, server, base: String::new(), commits: true, random: None };
        forge.make_repository();
        let mut arguments = json!({
            "workspace": forge.workspace(), "task_text": "Add thing xx", "flags": {},
        });
        arguments["user_confirmation"] = confirmation;
        let Said::Action(begun) = forge.call("pipeline_init_with_context", arguments) else {
            panic!("the pipeline does not begin")
        };
        assert_eq!(begun["ready"], true, "{begun:#}");
        forge.write(
            "request.md",
            "---\nsource_type: linear_issue\nsource_url: https://linear.app/a/issue/ENG-7\n\
             source_id: ENG-7\n---\n\nBroken page!\n",
        );
        forge
    }

    fn make_repository(&mut self) {
        self.project.write("a.txt", "a\n");
        self.project.write(".gitignore", ".milepost/\n.markdownlintignore\n");
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["config", "user.name", "Tester"]);
        self.git(&["config", "user.email", "tester@example.com"]);
        // The server sees the settings of the person who runs the tests.
        self.git(&["config", "commit.gpgsign", "false"]);
        self.git(&["add", "a.txt", ".gitignore"]);
        self.git(&["commit", "-q", "-m", "first"]);
        self.git(&["init", "-q", "--bare", "-b", "main", "../origin.git"]);
        self.git(&["remote", "add", "origin", "../origin.git"]);
        self.git(&["push", "-q", "-u", "origin", "main"]);
        self.base = self.git(&["rev-parse", "HEAD"]);
    }

    fn workspace(&self) -> String {
        self.project.path(WORKSPACE).to_str().unwrap().to_owned()
    }

    fn write(&self, file: &str, text: &str) {
        self.project.write(&format!("{WORKSPACE}/{file}"), text);
    }

    fn git(&self, arguments: &[&str]) -> String {
        let (went, out) = self.try_git(arguments);
        assert!(went, "git {arguments:?}: {out}");
        out
    }

    fn try_git(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new("git");
        self.project.place(&mut command);
        let output = command.args(arguments).output().unwrap();
        let said = if output.status.success() { output.stdout } else { output.stderr };
        (output.status.success(), String::from_utf8(said).unwrap().trim_end().to_owned())
    }

    /// Where a branch stands here, and at the remote.
    fn stands(&self, branch: &str) -> (String, String) {
        let far = self.git(&["ls-remote", "origin", &format!("refs/heads/{branch}")]);
        let far = far.split('\t').next().unwrap_or_default().to_owned();
        (self.git(&["rev-parse", branch]), far)
    }

    /// Everything of the person that the server leaves alone: refs, stashes, what is staged.
    fn belongings(&self) -> Vec<String> {
        let own = |it: &str| !it.contains("/feature/x ");
        let form = "--format=%(refname) %(objectname)";
        let far = self.git(&["ls-remote", "origin"]).replace('\t', " ") + " ";
        let near = self.git(&["for-each-ref", form]);
        let refs = near.lines().chain(far.lines()).filter(|it| own(it) && !it.contains(BRANCH));
        let rest = [self.git(&["stash", "list"]), self.git(&["diff", "--cached", "--", "a.txt"])];
        refs.map(str::to_owned).chain(rest).collect()
    }

    fn call(&self, tool: &str, arguments: Value) -> Said {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let message = self.server.request("tools/call", params).unwrap();
        let text = message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        if message["result"]["isError"] == true {
            return Said::Refused(text);
        }
        Said::Action(serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    fn try_go(&self, mut arguments: Value) -> Said {
        arguments["workspace"] = json!(self.workspace());
        self.call("pipeline_next_action", arguments)
    }

    #[track_caller]
    fn go(&self, arguments: Value) -> Value {
        match self.try_go(arguments) {
            Said::Action(action) => action,
            Said::Refused(reason) => panic!("refused: {reason}"),
        }
    }

    #[track_caller]
    fn refused(&self, arguments: Value) -> String {
        match self.try_go(arguments) {
            Said::Action(action) => panic!("not refused: {action:#}"),
            Said::Refused(reason) => reason,
        }
    }

    /// Plays agents and a person until an action is the one that is looked for.
    #[track_caller]
    fn play_until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut action = self.go(json!({}));
        for _ in 0..TURNS_MAX {
            if is_it(&action) || action["type"] == "done" {
                return action;
            }
            let report = self.act(&action);
            action = self.report(report);
        }
        panic!("no end after {TURNS_MAX} turns: {action:#}");
    }

    /// Reports, with a person at work beside it. What is refused is done as the answer says.
    fn report(&mut self, report: Value) -> Value {
        let Some(mut random) = self.random.take() else { return self.go(report) };
        (0..3).for_each(|_| self.interfere(&mut random));
        let before = self.belongings();
        let mut said = self.try_go(report);
        assert_eq!(self.belongings(), before);
        if let Said::Refused(reason) = &said {
            assert!(reason.contains("call again"), "{reason}");
            self.go_back();
            let before = self.belongings();
            said = self.try_go(json!({}));
            assert_eq!(self.belongings(), before);
        }
        self.random = Some(random);
        match said {
            Said::Action(action) => action,
            Said::Refused(reason) => panic!("refused once more: {reason}"),
        }
    }

    /// A person runs git, which may refuse.
    fn interfere(&self, random: &mut Random) {
        let number = random.below(1_000_000).to_string();
        let branch = if random.below(2) == 0 { "main" } else { BRANCH };
        match random.below(9) {
            0 | 1 => drop(self.try_git(&["checkout", "-q", branch])),
            2 => drop(self.try_git(&["checkout", "-q", "--detach"])),
            3 => drop(self.try_git(&["tag", &number])),
            4 => drop(self.try_git(&["branch", &number])),
            5 => {
                self.project.write("a.txt", &number);
                self.git(&["add", "a.txt"]);
            }
            6 => drop(self.try_git(&["stash", "push", "-q"])),
            7 => {
                drop(self.try_git(&["push", "-q", "origin", &format!("HEAD:refs/heads/{number}")]));
            }
            _ => {
                self.project.write(&number, "mine");
                self.git(&["add", &number]);
                drop(self.try_git(&["commit", "-q", "-m", "mine", "--", &number]));
            }
        }
    }

    /// The person does what the server asked for.
    fn go_back(&self) {
        self.try_git(&["stash", "push", "-q"]);
        self.git(&["checkout", "-q", BRANCH]);
    }

    /// Does what an action asks for, and returns what is said of it.
    fn act(&self, action: &Value) -> Value {
        if action["type"] == "checkpoint" {
            let options = action["options"].as_array().unwrap();
            let skips = options.iter().any(|it| it == "skip");
            return json!({"user_response": if skips { "skip" } else { "proceed" }});
        }
        let tasks = action["parallel_tasks"].as_array().cloned().unwrap_or_default();
        let files = tasks.iter().map(|it| &it["output_file"]).chain([&action["output_file"]]);
        for file in files.filter_map(Value::as_str) {
            self.write(file, text_of(file));
            self.build(file);
        }
        if let (Some(path), Some(text)) = (action["path"].as_str(), action["content"].as_str()) {
            self.project.write(path, text);
        }
        let action = &action["action_id"];
        json!({"previous_action_complete": true, "previous_tokens": 1, "action_id": action})
    }

    /// Does the work of a task.
    fn build(&self, file: &str) {
        if !file.starts_with("impl-") {
            return;
        }
        self.project.write("work.rs", "work\n");
        if self.commits {
            self.git(&["add", "work.rs"]);
            drop(self.try_git(&["commit", "-q", "-m", "feat: work", "--", "work.rs"]));
        }
    }

    /// Kills the server while it answers, and starts another.
    fn kill_during(&mut self, mut arguments: Value, after_ms: u64) {
        arguments["workspace"] = json!(self.workspace());
        let params = json!({"name": "pipeline_next_action", "arguments": arguments});
        let server = &self.server;
        thread::scope(|scope| {
            let told = scope.spawn(|| server.request("tools/call", params));
            thread::sleep(Duration::from_millis(after_ms));
            server.kill();
            drop(told.join().unwrap());
        });
        self.server = serve_apart(&self.project);
    }
}

fn serve(project: &Project) -> Server {
    Server::inside(project, &["--toolset", "forge"], Era::Modern)
}

/// The same, as a process: only that dies in the middle of a call.
fn serve_apart(project: &Project) -> Server {
    Server::start(&mut project.milepost(&["mcp", "--toolset", "forge"]), Era::Modern)
}

/// Returns what an agent writes.
fn text_of(file: &str) -> &'static str {
    match file {
        "design.md" => "# D\n\n## A\n",
        "review-design.md" | "review-tasks.md" => "## Verdict: APPROVE\n",
        "tasks.md" => "# T\n\n## Task 1: Implement\nmode: parallel\nfiles:\n- work.rs\n",
        _ if file.starts_with("review-") => "## Verdict: PASS\n",
        _ => "This is done.\n",
    }
}

fn is_last_question(action: &Value) -> bool {
    action["name"] == "post-to-source"
}

#[test]
fn a_published_main_that_is_checked_out_is_not_rewritten_by_the_last_commit() {
    let mut forge = Forge::begun("S");
    forge.play_until(is_last_question);
    forge.git(&["checkout", "-q", "main"]);
    let before = forge.belongings();
    let action = forge.go(json!({"user_response": "skip"}));
    assert_eq!(action["summary"], "pipeline completed", "{action:#}");
    assert_eq!(forge.stands("main"), (forge.base.clone(), forge.base.clone()));
    assert_eq!(forge.belongings(), before);
    let (near, far) = forge.stands(BRANCH);
    assert_eq!(near, far);
    assert_eq!(forge.git(&["rev-parse", "feature/x^"]), forge.base, "its own commit is amended");
    forge.git(&["cat-file", "-e", &format!("{BRANCH}:{WORKSPACE}/state.json")]);
}

#[test]
fn a_private_commit_on_main_is_neither_amended_nor_pushed_by_the_last_commit() {
    let mut forge = Forge::begun("S");
    forge.play_until(is_last_question);
    forge.git(&["checkout", "-q", "main"]);
    forge.git(&["commit", "-q", "--allow-empty", "-m", "private"]);
    let private = forge.git(&["rev-parse", "HEAD"]);
    forge.go(json!({"user_response": "skip"}));
    assert_eq!(forge.stands("main"), (private, forge.base.clone()));
    let (near, far) = forge.stands(BRANCH);
    assert_eq!(near, far);
}

#[test]
fn a_main_that_is_checked_out_is_not_pushed_instead_of_the_branch_of_the_pipeline() {
    let mut forge = Forge::begun("S");
    let action = forge.play_until(|it| it["phase"] == "final-verification");
    let report = forge.act(&action);
    forge.git(&["checkout", "-q", "main"]);
    forge.git(&["commit", "-q", "--allow-empty", "-m", "private"]);
    let private = forge.git(&["rev-parse", "HEAD"]);
    let action = forge.go(report);
    assert_eq!(action["type"], "exec", "{action:#}");
    assert_eq!(forge.stands("main"), (private, forge.base.clone()));
    let (near, far) = forge.stands(BRANCH);
    assert_eq!(near, far);
}

#[test]
fn a_batch_is_not_committed_to_a_main_that_is_checked_out() {
    let mut forge = Forge { commits: false, ..Forge::begun("M") };
    let action = forge.play_until(|it| it["phase"] == "phase-5");
    let report = forge.act(&action);
    forge.git(&["checkout", "-q", "main"]);
    let before = forge.git(&["status", "--porcelain=v2"]);
    let reason = forge.refused(report);
    assert!(reason.contains("`main` is checked out"), "{reason}");
    assert!(reason.contains("check `feature/x` out, then call again"), "{reason}");
    assert_eq!(forge.git(&["status", "--porcelain=v2"]), before);
    assert_eq!(forge.stands("main"), (forge.base.clone(), forge.base.clone()));
    forge.git(&["checkout", "-q", BRANCH]);
    let action = forge.go(json!({}));
    assert_eq!(action["phase"], "phase-6", "{action:#}");
    let last = forge.git(&["show", "--name-only", "--format=%s", BRANCH]);
    assert_eq!(last, "chore: batch commit parallel tasks\n\nwork.rs");
}

#[test]
fn the_commit_that_a_pipeline_began_with_is_not_amended_where_nobody_committed() {
    let mut forge = Forge { commits: false, ..Forge::begun("S") };
    let action = forge.play_until(|_| false);
    assert_eq!(action["summary"], "pipeline completed", "{action:#}");
    assert_eq!(forge.git(&["rev-parse", "feature/x^"]), forge.base);
    assert_eq!(forge.stands("main"), (forge.base.clone(), forge.base.clone()));
    let (near, far) = forge.stands(BRANCH);
    assert_eq!(near, far);
}

#[test]
fn a_default_branch_is_not_pushed_to_though_the_pipeline_works_on_it() {
    let mut forge = Forge::confirmed(json!({"effort": "S", "use_current_branch": true}));
    let action = forge.play_until(|it| it["phase"] == "final-verification");
    let report = forge.act(&action);
    let reason = forge.refused(report);
    assert!(reason.contains("`main` is the default branch"), "{reason}");
    assert_eq!(forge.stands("main").1, forge.base);
}

#[test]
fn a_kill_in_the_middle_of_the_last_commit_leaves_one_commit() {
    let mut random = Random::new(seed());
    for _ in 0..3 {
        let mut forge = Forge::begun("S");
        forge.play_until(is_last_question);
        let before = forge.belongings();
        forge.server = serve_apart(&forge.project);
        forge.kill_during(json!({"user_response": "skip"}), random.below(400));
        let mut action = forge.go(json!({}));
        if is_last_question(&action) {
            action = forge.go(json!({"user_response": "skip"}));
        }
        assert_eq!(action["type"], "done", "{action:#}");
        assert_eq!(forge.belongings(), before);
        assert_eq!(forge.git(&["rev-parse", "feature/x^"]), forge.base);
        let (near, far) = forge.stands(BRANCH);
        assert_eq!(near, far);
        assert_eq!(
            forge.git(&["status", "--porcelain", "--untracked-files=no", "--", WORKSPACE]),
            ""
        );
    }
}

#[test]
fn whatever_a_person_does_between_the_calls_everything_of_theirs_is_where_it_was() {
    let seed = seed();
    println!("MILEPOST_TEST_SEED={seed}");
    let mut forge = Forge { random: Some(Random::new(seed)), ..Forge::begun("M") };
    let action = forge.play_until(|_| false);
    assert_eq!(action["summary"], "pipeline completed", "{action:#}");
    let (near, far) = forge.stands(BRANCH);
    assert_eq!(near, far);
}

#[test]
fn a_state_file_behind_an_unanswered_checkpoint_moves_no_branch() {
    let project = Project::new().with("MILEPOST_GATES_ANSWERS", "verified");
    // Nobody answers, so nobody is waited for.
    let project = project.with("MILEPOST_FORGE_POLL", "0");
    let forge = Forge::confirmed_in(project, json!({"effort": "L"}));
    forge.git(&["branch", "alice/wip"]);
    let before = forge.git(&["for-each-ref"]);
    let text = fs::read_to_string(forge.project.path(&format!("{WORKSPACE}/state.json"))).unwrap();
    let mut state: Value = serde_json::from_str(&text).unwrap();
    for (number, phase) in ["final-commit", "pr-creation", "phase-7"].iter().enumerate() {
        let workspace = format!(".specs/2026010{}-y", number + 2);
        let whole = forge.project.path(&workspace).to_str().unwrap().to_owned();
        state["currentPhase"] = json!(phase);
        state["currentPhaseStatus"] = json!("in_progress");
        state["branch"] = json!("alice/wip");
        state["workspace"] = json!(whole);
        state["needsBatchCommit"] = json!(true);
        forge.project.write(&format!("{workspace}/state.json"), &state.to_string());
        for _ in 0..2 {
            let said = match forge.call("pipeline_next_action", json!({"workspace": whole})) {
                Said::Action(action) => action.to_string(),
                Said::Refused(reason) => reason,
            };
            assert!(said.contains("checkpoint"), "{phase}: {said}");
        }
        assert_eq!(forge.git(&["for-each-ref"]), before, "{phase}");
        assert_eq!(forge.git(&["ls-remote", "origin", "refs/heads/alice/*"]), "", "{phase}");
    }
}

#[test]
fn a_branch_that_is_named_after_the_checkpoints_is_neither_committed_to_nor_pushed() {
    let mut forge = Forge { commits: false, ..Forge::begun("M") };
    for branch in ["alice/wip", "alice/public"] {
        forge.git(&["checkout", "-q", "-b", branch, "main"]);
        forge.git(&["commit", "-q", "--allow-empty", "-m", branch]);
    }
    forge.git(&["push", "-q", "origin", "alice/public"]);
    forge.git(&["checkout", "-q", BRANCH]);
    let action = forge.play_until(|it| it["phase"] == "phase-5");
    let report = forge.act(&action);
    for branch in ["alice/wip", "alice/public"] {
        let named = json!({"workspace": forge.workspace(), "branch": branch});
        let Said::Action(_) = forge.call("set_branch", named) else { panic!("it is not set") };
        forge.git(&["checkout", "-q", branch]);
        let stood = forge.stands(branch);
        let reason = forge.refused(report.clone());
        assert!(reason.contains("Name a branch that is made for the run"), "{reason}");
        assert_eq!(forge.stands(branch), stood);
    }
    // The person names the pipeline's own branch again.
    let named = json!({"workspace": forge.workspace(), "branch": BRANCH});
    let Said::Action(_) = forge.call("set_branch", named) else { panic!("it is not set") };
    forge.git(&["checkout", "-q", BRANCH]);
    assert_eq!(forge.go(json!({}))["phase"], "phase-6");
}
