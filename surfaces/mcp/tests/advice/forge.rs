//! Pipelines: advice is the action that is told next, with the answers that a checkpoint offers, and
//! the tools that refusals, warnings and summaries name in backticks.

use serde_json::{Map, Value, json};

use crate::walk::{Advice, Dialect, Said, Walk, define_builtin, find_named, object, play};

const TOOL: &str = "pipeline_next_action";
const PHASES: [&str; 16] = [
    "phase-1",
    "phase-2",
    "phase-3",
    "phase-3b",
    "checkpoint-a",
    "phase-4",
    "phase-4b",
    "checkpoint-b",
    "phase-5",
    "phase-6",
    "phase-7",
    "final-verification",
    "pr-creation",
    "final-summary",
    "post-to-source",
    "final-commit",
];

/// The walks, in parts that several cores share.
macro_rules! parts {
    ($($name:ident $part:literal)*) => { $(
        #[test]
        fn $name() {
            play::<Pipelines>($part);
        }
    )* };
}

parts! {
    advice_on_pipelines_can_be_followed_in_the_first_part 0
    advice_on_pipelines_can_be_followed_in_the_second_part 1
    advice_on_pipelines_can_be_followed_in_the_third_part 2
    advice_on_pipelines_can_be_followed_in_the_fourth_part 3
    advice_on_pipelines_can_be_followed_in_the_fifth_part 4
    advice_on_pipelines_can_be_followed_in_the_sixth_part 5
    advice_on_pipelines_can_be_followed_in_the_seventh_part 6
    advice_on_pipelines_can_be_followed_in_the_eighth_part 7
}

struct Pipelines {
    workspace: String,
    /// Which phase the pipeline is at.
    phase: String,
    last: Option<Said>,
}

impl Dialect for Pipelines {
    const TOOLSET: &'static str = "forge";
    // An action is dearer than a call of the other dialects.
    const TESTS: u64 = 8;
    const STEPS: usize = 3;
    const ENDS_EVERY: u64 = 10;

    async fn begin(walk: &mut Walk) -> (Self, Said) {
        define_builtin(&walk.stage, "forge");
        walk.stage.clear_files();
        let number = walk.number();
        let begin = json!({ "workspace": format!(".specs/20261115-w{number}"),
            "task_text": format!("Add page {number}"),
            "flags": { "auto": walk.draw(4) == 0, "skip_pr": walk.draw(2) == 0 },
            "user_confirmation": { "effort": walk.pick(&["S", "M", "L"]),
                "workspace_slug": format!("w{number}") } });
        let said = walk.call("pipeline_init_with_context", object(begin)).await;
        let workspace = said.data["workspace"].as_str().unwrap_or_default().to_owned();
        let mut pipelines = Self { workspace, phase: String::new(), last: None };
        // The work has come somewhere.
        let mut said = pipelines.look(walk).await;
        let kind = std::mem::replace(&mut walk.is_kind, true);
        for _ in 0..walk.draw(8) {
            let Some(next) = pipelines.advice(walk, &said).into_iter().find(|it| !it.gives_up)
            else {
                break;
            };
            pipelines.prepare(walk, &next).await;
            said = walk.call(&next.tool, next.arguments).await;
        }
        walk.is_kind = kind;
        (pipelines, said)
    }

    fn advice(&self, walk: &Walk, said: &Said) -> Vec<Advice> {
        let data = &said.data;
        let mut advice = Vec::new();
        let line = said.text.as_str();
        let mut report = json!({ "workspace": self.workspace, "previous_action_complete": true });
        if !data["action_id"].is_null() {
            report["action_id"] = data["action_id"].clone();
        }
        match data["type"].as_str().filter(|_| said.tool == TOOL) {
            Some("spawn_agent" | "exec") => {
                let mut next = call(TOOL, report, line);
                let tasks = data["parallel_tasks"].as_array().into_iter().flatten();
                let tasks = tasks.filter_map(|it| it["output_file"].as_str());
                let files = data["output_file"].as_str().into_iter().chain(tasks);
                next.files = files.map(ToOwned::to_owned).collect();
                advice.push(next);
            }
            Some("write_file") => {
                report["previous_setup_only"] = json!(true);
                let mut next = call(TOOL, report, line);
                next.files = data["path"].as_str().map(|it| self.inside(it)).into_iter().collect();
                advice.push(next);
            }
            Some("checkpoint" | "human_gate") => {
                for option in data["options"].as_array().into_iter().flatten() {
                    let mut answer = json!({ "workspace": self.workspace,
                        "user_response": option, "action_id": data["action_id"] });
                    answer.as_object_mut().unwrap().retain(|_, it| !it.is_null());
                    let mut next = call(TOOL, answer, line);
                    let word = option.as_str().unwrap_or_default();
                    next.gives_up = ["abandon", "revise"].contains(&word);
                    let warning = data["warning"].as_str().unwrap_or_default();
                    let announced = format!("`{word}` is refused for now: ");
                    let refused = warning.split_once(&announced).map(|it| self.files_in(it.1));
                    let is_closed = refused.as_ref().is_some_and(Vec::is_empty);
                    next.files = refused.unwrap_or_default();
                    advice.extend((!is_closed).then_some(next));
                }
            }
            // A review wants changes: the next call tells which.
            Some("") => advice.push(call(TOOL, json!({ "workspace": self.workspace }), line)),
            _ => {}
        }
        let summary = data["summary"].as_str().unwrap_or_default();
        let warning = data["warning"].as_str().unwrap_or_default();
        let is_told = said.tool == "resume_info" || said.is_refused && said.hint().is_empty();
        let told = if is_told { line } else { "" };
        for text in [summary, warning, said.hint(), told] {
            self.in_text(walk, said, text, &mut advice);
        }
        advice
    }

    async fn prepare(&mut self, walk: &mut Walk, advice: &Advice) {
        for file in &advice.files {
            let is_lazy = !walk.is_kind && walk.draw(8) == 0;
            if is_lazy {
                walk.is_honest = false;
                walk.tell(format!("{file} is not written"));
            } else {
                let text = content(walk, file);
                self.write(walk, file, &text);
            }
        }
    }

    async fn disturb(&mut self, walk: &mut Walk) -> Said {
        let current = walk.state(&self.run()).await.and_then(|it| it.current);
        self.phase = current.map(|it| it.to_string()).unwrap_or_default();
        let phase =
            if walk.draw(3) == 0 { walk.pick(&PHASES).to_owned() } else { self.phase.clone() };
        let workspace = json!(self.workspace);
        let on_phase = json!({ "workspace": workspace, "phase": phase });
        let (tool, arguments) = match walk.draw(18) {
            0 => {
                walk.restart().await;
                return self.look(walk).await;
            }
            1 => {
                walk.answer(&self.run(), false).await;
                return self.look(walk).await;
            }
            2 => {
                self.edit(walk);
                return self.look(walk).await;
            }
            3 => ("phase_start", on_phase),
            4..=5 => ("phase_complete", on_phase),
            6 => ("phase_fail", json!({ "workspace": workspace, "phase": phase, "message": "no" })),
            7 => ("checkpoint", on_phase),
            8 => ("skip_phase", on_phase),
            9 => {
                let answer = walk.pick(&["proceed", "revise", "maybe", "approve", "skip"]);
                (TOOL, json!({ "workspace": workspace, "user_response": answer }))
            }
            10..=11 => (TOOL, json!({ "workspace": workspace, "previous_action_complete": true })),
            12 => (
                "pipeline_report_result",
                json!({ "workspace": workspace, "phase": phase,
                "tokens_used": 1, "duration_ms": 1, "model": "m" }),
            ),
            13 => ("resume_info", json!({ "workspace": workspace })),
            14 => (
                "set_revision_pending",
                json!({ "workspace": workspace,
                "checkpoint": walk.pick(&["checkpoint-a", "checkpoint-b"]) }),
            ),
            15 => {
                let bad =
                    ["## Task 1 - x\n", "# T\n\n## Task 1: a\ndepends_on: [1]\n", "", "# T\n"];
                let text = walk.pick(&bad);
                self.write(walk, "tasks.md", text);
                return self.look(walk).await;
            }
            16 => ("abandon", json!({ "workspace": workspace })),
            _ => match self.last.clone() {
                Some(last) => return walk.call(&last.tool, last.arguments).await,
                None => return self.look(walk).await,
            },
        };
        let said = walk.call(tool, object(arguments)).await;
        self.last = Some(said.clone());
        said
    }

    async fn look(&mut self, walk: &mut Walk) -> Said {
        let current = walk.state(&self.run()).await.and_then(|it| it.current);
        self.phase = current.map(|it| it.to_string()).unwrap_or_default();
        walk.call(TOOL, object(json!({ "workspace": self.workspace }))).await
    }

    fn run(&self) -> String {
        self.workspace.clone()
    }

    fn is_end(&self, standing: &engine::Standing) -> bool {
        // What was abandoned stays so.
        matches!(standing, engine::Standing::Completed | engine::Standing::Cancelled { .. })
    }
}

impl Pipelines {
    /// The tools that a text names.
    fn in_text(&self, walk: &Walk, said: &Said, text: &str, advice: &mut Vec<Advice>) {
        // What comes once that is done is no call for now.
        let text = text.split(", and then call ").next().unwrap_or_default();
        if let Some((_, phase)) = text.split_once("skip `") {
            let phase = phase.split('`').next();
            let skip = json!({ "workspace": self.workspace, "phase": phase });
            advice.push(call("skip_phase", skip, text));
        }
        for mut found in find_named(text, &walk.tools) {
            if found.tool.starts_with("pipeline_init") || found.tool == "abandon" {
                found.gives_up = true;
                continue;
            }
            found.needs_person = text.contains("`milepost gate`");
            found.arguments.insert("workspace".to_owned(), json!(self.workspace));
            if let Some((_, rest)) = text.split_once(&format!("`{}` for `", found.tool)) {
                found.arguments.insert("phase".to_owned(), json!(rest.split('`').next()));
            }
            let takes = |name: &str| !walk.tools[&found.tool]["properties"][name].is_null();
            if takes("phase") && !found.arguments.contains_key("phase") {
                let phase = said.arguments.get("phase").cloned().unwrap_or(json!(self.phase));
                found.arguments.insert("phase".to_owned(), phase);
            }
            if takes("checkpoint") {
                let named = found.arguments.get("phase").cloned();
                let checkpoint = named.unwrap_or(json!(self.phase));
                found.arguments.insert("checkpoint".to_owned(), checkpoint);
                found.arguments.retain(|name, _| takes(name));
            }
            if let Some((before, _)) = text.split_once("` as `user_response`")
                && let Some((_, option)) = before.rsplit_once('`')
            {
                found.arguments.insert("user_response".to_owned(), json!(option));
            }
            if takes("tasks") {
                let tasks = json!({ "1": { "title": "all of it" } });
                found.arguments.insert("tasks".to_owned(), tasks);
            }
            walk.fill(&found.tool, &mut found.arguments);
            advice.push(found);
        }
        let again =
            ["then report again", "then call again", "then retry", "then pass the answer on"];
        if said.is_refused && again.iter().any(|it| text.contains(it)) {
            let mut again = call(&said.tool, Value::Object(said.arguments.clone()), text);
            again.files = self.files_in(text);
            advice.push(again);
        }
    }

    /// The files that a text has the agent write.
    fn files_in(&self, text: &str) -> Vec<String> {
        let files = ["write `", "fix `"].iter().filter_map(|it| text.split_once(*it));
        files.filter_map(|it| it.1.split('`').next()).map(|it| self.inside(it)).collect()
    }

    /// Returns a path as it is in the workspace.
    fn inside(&self, path: &str) -> String {
        path.rsplit('/').next().unwrap_or(path).to_owned()
    }

    fn write(&self, walk: &Walk, file: &str, text: &str) {
        // Guards look at the name, and the tools at the path.
        walk.stage.write(file, text);
        walk.stage.write(&format!("{}/{file}", self.workspace), text);
    }

    /// Someone writes into the state file.
    fn edit(&self, walk: &mut Walk) {
        let names = walk.stage.promised_names();
        let file = format!("{}/state.json", self.workspace);
        let Some(name) = names.iter().find(|it| it.ends_with(&file)).cloned() else { return };
        let text = walk.stage.promised(&name).unwrap_or_default();
        let Ok(mut document) = serde_json::from_str::<Map<String, Value>>(&text) else { return };
        let (key, value) = match walk.draw(3) {
            0 => ("currentPhase", walk.pick(&PHASES)),
            1 => (
                "currentPhaseStatus",
                walk.pick(&["pending", "in_progress", "completed", "failed"]),
            ),
            _ => ("currentPhase", "phase-99"),
        };
        walk.tell(format!("edit of the file: {key} {value}"));
        document.insert(key.to_owned(), json!(value));
        walk.stage.rewrite(&name, |_| Value::Object(document.clone()).to_string());
    }
}

fn call(tool: &str, arguments: Value, line: &str) -> Advice {
    let arguments = object(arguments);
    Advice { tool: tool.to_owned(), arguments, line: line.to_owned(), ..Advice::default() }
}

/// Returns what an agent writes into a file.
fn content(walk: &mut Walk, file: &str) -> String {
    let is_rough = !walk.is_kind && walk.draw(4) == 0;
    let text = match file {
        "design.md" => "# D\n\n## A\n",
        "analysis.md" | "investigation.md" => "# A\n\n## B\n",
        "review-design.md" | "review-tasks.md" if is_rough => {
            "## Verdict: REVISE\n\n**1. [CRITICAL] no**\n"
        }
        "review-design.md" | "review-tasks.md" => "## Verdict: APPROVE\n",
        "tasks.md" if walk.seed_is_even() => {
            "# T\n\n## Task 1: Do\nmode: parallel\n\n## Task 2: Do too\nmode: parallel\n"
        }
        "tasks.md" => "# T\n\n## Task 1: Implement\nmode: sequential\n",
        _ if file.starts_with("review-") && is_rough => "## Verdict: FAIL\n",
        _ if file.starts_with("review-") => "## Verdict: PASS\n",
        _ => "This is done.\n",
    };
    text.to_owned()
}
