//! Runs: advice is in the fields of an answer (`next_step`, `choices`, `waiting`, `parts`), and in
//! tools that its texts name in backticks.

use definition::Workflow;
use serde_json::{Map, Value, json};

use crate::{
    played::Played,
    walk::{Advice, Dialect, Said, Walk, define_builtin, find_named, object, parse_builtin, play},
};

const WORKFLOWS: [&str; 7] = [
    "WORK",
    "SPRINT_TASK",
    "REFACTOR_WITH_TESTS",
    "SAVE",
    "RESUME",
    "WORKFLOW_CREATOR",
    "scene-generation",
];

#[test]
fn advice_on_runs_can_be_followed_in_the_first_half() {
    play::<Runs>(0);
}

#[test]
fn advice_on_runs_can_be_followed_in_the_second_half() {
    play::<Runs>(1);
}

struct Runs {
    run: String,
    last: Option<Said>,
    workflow: Workflow,
    played: Played,
}

impl Dialect for Runs {
    const TOOLSET: &'static str = "core";
    const STEPS: usize = 8;
    // Left: by turns among the choices, a run can go round (24 of 500 walks) before it ends.
    const ENDS_EVERY: u64 = u64::MAX;

    async fn begin(walk: &mut Walk) -> (Self, Said) {
        let workflow = walk.pick(&WORKFLOWS);
        define_builtin(&walk.stage, workflow);
        let mut start = json!({ "workflow_name": workflow });
        if workflow == "scene-generation" {
            start["key"] = json!(walk.number());
        }
        let played = Played::read(workflow);
        if workflow != "scene-generation" {
            start["context"] = json!(played.context);
        }
        let said = walk.call("start_workflow", object(start)).await;
        let run = said.data["instance_id"].as_str().unwrap_or_default().to_owned();
        let workflow = parse_builtin(workflow);
        (Self { run, last: None, workflow, played }, said)
    }

    fn advice(&self, walk: &Walk, said: &Said) -> Vec<Advice> {
        let data = &said.data;
        let mut advice = Vec::new();
        let is_running = data["status"] == "RUNNING";
        if is_running && let Some(step) = data["next_step"]["step_name"].as_str() {
            let line = data["next_step"].to_string();
            let parts = data["parts"].as_array().cloned().unwrap_or_default();
            for part in &parts {
                let mut report = self.report(step);
                report.insert("part".to_owned(), part["id"].clone());
                advice.push(call("advance_workflow", report, &line));
            }
            if parts.is_empty() {
                advice.push(call("advance_workflow", self.report(step), &line));
            }
        }
        for choice in data["choices"].as_array().into_iter().flatten() {
            let line = data["reasoning"].as_str().or(data["current_step_name"].as_str());
            let line = line.unwrap_or_default();
            let Some(step) = quoted_after(line, "step ").or(Some(line)) else { continue };
            let mut report = self.report(step);
            report.insert("next_step_name".to_owned(), choice["step_name"].clone());
            advice.push(call("advance_workflow", report, line));
        }
        if data["waiting"].is_object() {
            self.answers(walk, &data["waiting"], &mut advice);
        }
        let warnings = data["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let more = [data["reason"].as_str(), data["hint"].as_str()];
        for text in warnings.chain(more.into_iter().flatten()).chain([said.hint()]) {
            self.in_text(walk, said, text, &mut advice);
        }
        if let Some(brief) = data["brief"].as_str() {
            for line in brief.lines().filter(|it| it.contains("`advance_workflow`")) {
                if let Some(step) = quoted_after(line, "`step_id` ") {
                    let report = self.report(step);
                    advice.push(call("advance_workflow", report, line));
                }
            }
        }
        advice
    }

    async fn prepare(&mut self, walk: &mut Walk, advice: &Advice) {
        let played = self.played.files(&self.run);
        for path in advice.files.iter().filter(|it| !played.iter().any(|(path, _)| path == *it)) {
            walk.stage.write(path, "# It\n\nis here.\n");
        }
        for (path, text) in &played {
            walk.stage.write(path, text);
        }
    }

    async fn disturb(&mut self, walk: &mut Walk) -> Said {
        let state = walk.state(&self.run).await;
        let current = state.and_then(|it| it.current).map(|it| it.to_string()).unwrap_or_default();
        let id = json!(self.run);
        let said = match walk.draw(13) {
            0 => {
                walk.restart().await;
                self.look(walk).await
            }
            1 => {
                walk.answer(&self.run.clone(), false).await;
                self.look(walk).await
            }
            2..=4 => {
                let status = walk.pick(&["failure", "success", "in_progress", "failure"]);
                let report = json!({ "step_id": current, "status": status });
                let call = json!({ "instance_id": id, "report": report });
                walk.call("advance_workflow", object(call)).await
            }
            5 => {
                let report = json!({ "step_id": "Elsewhere", "status": "success" });
                let call = json!({ "instance_id": id, "report": report });
                walk.call("advance_workflow", object(call)).await
            }
            6 => walk.call("resume_workflow", object(json!({ "instance_id": id }))).await,
            7 => {
                let call = json!({ "instance_id": id, "reopen": true });
                walk.call("resume_workflow", object(call)).await
            }
            8 => {
                let report = json!({ "step_id": current, "status": "success" });
                let call = json!({ "instance_id": id, "report": report,
                    "assumed_current_step_name": "Elsewhere" });
                walk.call("resume_workflow", object(call)).await
            }
            9 => walk.call("cancel_workflow", object(json!({ "instance_id": id }))).await,
            10 => {
                let answer = walk.pick(&["approve", "reject", "maybe"]);
                let call = json!({ "instance_id": id, "answer": answer });
                walk.call("answer_gate", object(call)).await
            }
            11 => {
                let report = json!({ "step_id": current, "status": "success" });
                let call = json!({ "instance_id": id, "report": report,
                    "next_step_name": "Elsewhere" });
                walk.call("advance_workflow", object(call)).await
            }
            _ => match self.last.clone() {
                Some(last) => walk.call(&last.tool, last.arguments).await,
                None => self.look(walk).await,
            },
        };
        self.last = Some(said.clone());
        said
    }

    async fn look(&mut self, walk: &mut Walk) -> Said {
        let tool = walk.pick(&["get_workflow_status", "resume_workflow"]);
        walk.call(tool, object(json!({ "instance_id": self.run }))).await
    }

    fn run(&self) -> String {
        self.run.clone()
    }
}

impl Runs {
    fn report(&self, step: &str) -> Map<String, Value> {
        let criteria =
            self.workflow.find_step_loosely(step).into_iter().flat_map(|it| &it.criteria);
        let evidence: Map<String, Value> =
            criteria.map(|it| (it.key.clone(), json!(it.text))).collect();
        let report = json!({ "step_id": step, "status": "success",
            "details": { "evidence": evidence } });
        object(json!({ "instance_id": self.run, "report": report }))
    }

    /// The answers that a gate takes.
    fn answers(&self, walk: &Walk, waiting: &Value, advice: &mut Vec<Advice>) {
        let line = waiting["hint"].as_str().unwrap_or_default();
        for mut found in find_named(line, &walk.tools) {
            if found.arguments.contains_key("answer") {
                // It is one of the options.
                continue;
            }
            found.arguments.insert("instance_id".to_owned(), json!(self.run));
            // The person answers while the agent waits.
            found.needs_person = found.tool == "get_workflow_status";
            advice.push(found);
        }
        if waiting["answers"] != "relayed" {
            return;
        }
        for option in waiting["options"].as_array().into_iter().flatten() {
            let arguments = json!({ "instance_id": self.run, "answer": option["name"] });
            let mut answer = call("answer_gate", object(arguments), line);
            let effect = option["effect"].as_str().unwrap_or_default();
            answer.gives_up = !["go on", "leave it out"].contains(&effect);
            advice.push(answer);
        }
    }

    /// The tools that a text names.
    fn in_text(&self, walk: &Walk, said: &Said, text: &str, advice: &mut Vec<Advice>) {
        for mut found in find_named(text, &walk.tools) {
            found.needs_person =
                text.contains("`milepost gate`") && found.tool == "get_workflow_status";
            found.arguments.insert("instance_id".to_owned(), json!(self.run));
            found.arguments.entry("answer").and_modify(|it| *it = json!("approve"));
            found
                .arguments
                .retain(|name, _| !walk.tools[&found.tool]["properties"][name].is_null());
            if found.tool != "advance_workflow" {
                walk.fill(&found.tool, &mut found.arguments);
                advice.push(found);
            }
        }
        if ["report again", "try again", "then retry"].iter().any(|it| text.contains(it)) {
            let mut again = call(&said.tool, said.arguments.clone(), text);
            again.files = quoted_after(text, "write ").map(ToOwned::to_owned).into_iter().collect();
            advice.push(again);
        }
        if let Some(step) = quoted_after(text, "continue with step ") {
            advice.push(call("advance_workflow", self.report(step), text));
        }
        for heading in ["choose one of: ", "name one as `next_step_name`: "] {
            let Some((_, names)) = text.split_once(heading) else { continue };
            for name in names.split(", ").map(|it| it.trim_matches('`')) {
                let mut arguments = said.arguments.clone();
                arguments.insert("next_step_name".to_owned(), json!(name));
                advice.push(call(&said.tool, arguments, text));
            }
        }
        if let Some((_, names)) = text.split_once("answer one of: ") {
            for name in names.split(", ").map(|it| it.trim_matches('`')) {
                let arguments = json!({ "instance_id": self.run, "answer": name });
                let mut answer = call("answer_gate", object(arguments), text);
                answer.gives_up = true;
                answer.announced = Some("rounds_spent");
                advice.push(answer);
            }
        }
    }
}

fn call(tool: &str, arguments: Map<String, Value>, line: &str) -> Advice {
    let files = Vec::new();
    Advice { tool: tool.to_owned(), arguments, line: line.to_owned(), files, ..Advice::default() }
}

/// Returns what stands in backticks right after `before`.
fn quoted_after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("{before}`"))?;
    rest.split('`').next()
}
