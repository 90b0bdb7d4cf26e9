//! Sessions of dev-workflow's graphs: advice is the call that a node's view spells out, the choices
//! that it lists, and what a refusal says.

use serde_json::{Map, Value, json};

use crate::walk::{Advice, Dialect, Said, Walk, define_builtin, find_named, object, play};

const TOOL: &str = "workflow_guidance";
const WORKFLOWS: [&str; 8] = [
    "Approval Example Workflow",
    "Classic",
    "Debugging Workflow",
    "Default Coding Workflow",
    "Documentation Workflow",
    "Editorial Article Workflow",
    "Simple Decision Workflow",
    "Simple Linear Workflow",
];
const STATUSES: [&str; 8] = [
    "READY",
    "RUNNING",
    "NEEDS_PLAN_APPROVAL",
    "PAUSED",
    "COMPLETED",
    "FAILED",
    "ERROR",
    "CANCELLED",
];

#[test]
fn advice_on_sessions_can_be_followed_in_the_first_half() {
    play::<Sessions>(0);
}

#[test]
fn advice_on_sessions_can_be_followed_in_the_second_half() {
    play::<Sessions>(1);
}

struct Sessions {
    session: String,
    workflow: &'static str,
}

impl Dialect for Sessions {
    const TOOLSET: &'static str = "devworkflow";
    const STEPS: usize = 6;
    const ENDS_EVERY: u64 = 8;

    async fn begin(walk: &mut Walk) -> (Self, Said) {
        let workflow = walk.pick(&WORKFLOWS);
        define_builtin(&walk.stage, workflow);
        let start = json!({ "task_description": "Add: login", "action": "start",
            "context": format!("workflow: {workflow}") });
        let said = walk.call(TOOL, object(start)).await;
        let session = said.data["session_id"].as_str().unwrap_or_default().to_owned();
        (Self { session, workflow }, said)
    }

    fn advice(&self, walk: &Walk, said: &Said) -> Vec<Advice> {
        let mut advice = Vec::new();
        let content = said.data["content"].as_str().unwrap_or_default();
        let session = said.data["session_id"].as_str().unwrap_or(&self.session);
        if let Some((_, rest)) = content.split_once("**🔧 How to go on:**")
            && let Some((line, rest)) = rest.split_once("```json\n")
            && let Some((context, _)) = rest.split_once("\n```")
        {
            let context = context.replace("<true, once the user has said yes>", "true");
            let context: Value = serde_json::from_str(&context).unwrap();
            let is_announced = content.contains("is answered `approval_required`");
            let announced = is_announced.then_some("approval_required");
            advice.push(Advice { announced, ..self.call(session, &context, line) });
            for name in options_in(content) {
                let mut other = context.clone();
                other["choose"] = json!(name);
                let other = self.call(session, &other, &format!("NEXT STEPS: {name}"));
                let other = Advice { announced, ..other };
                if !advice.contains(&other) {
                    advice.push(other);
                }
            }
        }
        let hint = said.hint();
        if let Some((_, names)) = hint.split_once("choose one of: ") {
            for name in names.split(", ") {
                let mut context = said.arguments.get("context").cloned().unwrap_or(json!({}));
                if !context.is_object() {
                    context = json!({});
                }
                context["choose"] = json!(name);
                if hint.contains("`\"user_approval\": true`") {
                    context["user_approval"] = json!(true);
                }
                let mut next = self.call(session, &context, hint);
                next.needs_person = hint.starts_with("tell the user to answer");
                let is_announced = hint.contains("is answered `approval_required`");
                next.announced = is_announced.then_some("approval_required");
                advice.push(next);
            }
        }
        if hint.contains("`criteria_evidence`") || hint.contains("`user_approval`") {
            let mut context = said.arguments.get("context").cloned().unwrap_or(json!({}));
            if hint.contains("`user_approval`") {
                context["user_approval"] = json!(true);
            }
            if hint.contains("`criteria_evidence`") {
                let keys = said.data["refusal"]["message"].as_str().unwrap_or_default();
                let keys = keys.split_once(" for ").map_or("", |it| it.1);
                for key in keys.split(", ").map(|it| it.trim_matches('`')) {
                    context["criteria_evidence"][key] = json!("it is there");
                }
            }
            advice.push(self.call(session, &context, hint));
        }
        let mut again = said.arguments.get("context").cloned().unwrap_or(json!({}));
        if hint.contains("with `session_id` alone") {
            let mut next = self.call(session, &json!({}), hint);
            next.arguments.remove("context");
            next.needs_person = true;
            advice.push(next);
        }
        if hint.contains("make this call again") {
            let mut next = self.call(session, &again, hint);
            next.needs_person = true;
            advice.push(next);
        }
        if hint.contains("leave `choose` out") {
            if let Some(context) = again.as_object_mut() {
                context.remove("choose");
            }
            advice.push(self.call(session, &again, hint));
        }
        for line in content.lines().chain([hint]) {
            if line.contains("How to go on") || line.contains("`session_id` alone") {
                continue;
            }
            for mut found in find_named(line, &walk.tools) {
                if !found.arguments.contains_key("action") {
                    found.arguments.entry("session_id").or_insert(json!(session));
                }
                found
                    .arguments
                    .retain(|name, _| !walk.tools[&found.tool]["properties"][name].is_null());
                walk.fill(&found.tool, &mut found.arguments);
                found.gives_up = found.tool != TOOL && found.tool != "workflow_state";
                advice.push(found);
            }
        }
        advice
    }

    async fn prepare(&mut self, _walk: &mut Walk, _advice: &Advice) {}

    async fn disturb(&mut self, walk: &mut Walk) -> Said {
        let session = self.session.clone();
        match walk.draw(9) {
            0 => walk.restart().await,
            1 => edit(walk, &session),
            2..=4 => {
                let updates = match walk.draw(4) {
                    0 => json!({ "status": walk.pick(&STATUSES) }),
                    1 => json!({ "log_entry": "noted" }),
                    2 => json!({ "node": self.any_node(walk).await }),
                    _ => json!({ "node": self.any_node(walk).await, "force": true }),
                };
                let call = json!({ "operation": "update", "session_id": session,
                    "updates": updates.to_string() });
                return walk.call("workflow_state", object(call)).await;
            }
            5 => {
                let call = json!({ "operation": "get", "session_id": session });
                return walk.call("workflow_state", object(call)).await;
            }
            _ => {
                let choice = self.any_node(walk).await;
                let mut context = json!({ "choose": choice });
                if walk.draw(2) == 0 {
                    context["user_approval"] = json!(true);
                }
                if walk.draw(3) == 0 {
                    context["criteria_evidence"] = json!({ "c": "" });
                }
                let call = json!({ "task_description": "x", "session_id": session,
                    "context": context });
                return walk.call(TOOL, object(call)).await;
            }
        }
        self.look(walk).await
    }

    async fn look(&mut self, walk: &mut Walk) -> Said {
        let look = json!({ "task_description": "Add: login", "session_id": self.session });
        walk.call(TOOL, object(look)).await
    }

    fn run(&self) -> String {
        self.session.clone()
    }

    fn is_end(&self, standing: &engine::Standing) -> bool {
        // A session that is closed stays as it is.
        !standing.is_live()
    }
}

impl Sessions {
    fn call(&self, session: &str, context: &Value, line: &str) -> Advice {
        let arguments = object(json!({ "task_description": "Add: login", "session_id": session,
            "context": context }));
        Advice { tool: TOOL.to_owned(), arguments, line: line.to_owned(), ..Advice::default() }
    }

    async fn any_node(&self, walk: &mut Walk) -> String {
        let run = walk.runtime.find_run(&self.session).await.unwrap();
        let view = walk.runtime.view(run, None).await.unwrap();
        let mut names: Vec<String> =
            view.workflow.steps.iter().map(|it| it.name.to_string()).collect();
        names.push("Nowhere".to_owned());
        walk.tell(format!("of {}", self.workflow));
        walk.pick(&names)
    }
}

/// Returns the names under "NEXT STEPS".
fn options_in(content: &str) -> Vec<&str> {
    let Some((_, rest)) = content.split_once("NEXT STEPS:**\n") else { return Vec::new() };
    let lines = rest.lines().take_while(|it| it.starts_with("- **"));
    lines.filter_map(|it| it.strip_prefix("- **")?.split("**").next()).collect()
}

/// Someone writes into the session's file.
fn edit(walk: &mut Walk, session: &str) {
    let names = walk.stage.promised_names();
    let Some(name) = names.iter().find(|it| it.contains(session)) else { return };
    let text = walk.stage.promised(name).unwrap_or_default();
    let Ok(mut document) = serde_json::from_str::<Map<String, Value>>(&text) else { return };
    let status = walk.pick(&STATUSES);
    walk.tell(format!("edit of {name}: {status}"));
    document.insert("status".to_owned(), json!(status));
    walk.stage.rewrite(name, |_| Value::Object(document.clone()).to_string());
}
