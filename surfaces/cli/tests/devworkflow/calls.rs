//! The calls of the toolset by short names, and ways to come to a phase.

use std::fs;

use serde_json::{Value, json};

use crate::{
    fixtures::{
        ANALYZE, BLUEPRINT, CHANGELOG, COMPLETE, CONSTRUCT, ERROR, INIT, REVISE, UPDATE, VALIDATE,
    },
    said::Said,
    stage::Stage,
};

/// The classic tools.
impl Stage {
    #[track_caller]
    pub(crate) fn init(&self, task: &str) -> Said {
        self.done(INIT, json!({"task_description": task}))
    }

    #[track_caller]
    pub(crate) fn analyze(&self, task: &str) -> Said {
        self.done(ANALYZE, json!({"task_description": task}))
    }

    #[track_caller]
    pub(crate) fn blueprint(&self, task: &str) -> Said {
        let summary = "people must sign in";
        self.done(BLUEPRINT, json!({"task_description": task, "requirements_summary": summary}))
    }

    /// Has a plan written down, and approval asked for.
    #[track_caller]
    pub(crate) fn plan(&self, plan: &str) -> Said {
        self.update("BLUEPRINT", "NEEDS_PLAN_APPROVAL", json!({"plan": plan}))
    }

    #[track_caller]
    pub(crate) fn approve(&self, task: &str) -> Said {
        self.done(CONSTRUCT, json!({"task_description": task, "user_approval": true}))
    }

    #[track_caller]
    pub(crate) fn revise(&self, task: &str, feedback: &str) -> Said {
        self.done(REVISE, json!({"task_description": task, "feedback": feedback}))
    }

    #[track_caller]
    pub(crate) fn validate(&self, task: &str) -> Said {
        self.done(VALIDATE, json!({"task_description": task}))
    }

    #[track_caller]
    pub(crate) fn complete(&self, task: &str, summary: Option<&str>) -> Said {
        let mut arguments = json!({"task_description": task});
        if let Some(summary) = summary {
            arguments["summary"] = json!(summary);
        }
        self.done(COMPLETE, arguments)
    }

    #[track_caller]
    pub(crate) fn error(&self, task: &str, details: &str) -> Said {
        self.done(ERROR, json!({"task_description": task, "error_details": details}))
    }

    #[track_caller]
    pub(crate) fn changelog(&self, summary: &str) -> Said {
        self.done(CHANGELOG, json!({"task_description": "Add: login", "summary": summary}))
    }

    #[track_caller]
    pub(crate) fn update(&self, phase: &str, status: &str, more: Value) -> Said {
        self.done(UPDATE, updating(phase, status, more))
    }

    /// Appends to the log, and changes nothing else.
    #[track_caller]
    pub(crate) fn log(&self, entry: &str) -> Said {
        let state = self.state();
        self.update(&state.phase, &state.status, json!({"log_entry": entry}))
    }

    /// Comes from a task to a plan that waits for approval.
    #[track_caller]
    pub(crate) fn come_to_approval(&self, task: &str) {
        self.analyze(task);
        self.blueprint(task);
        self.plan("1. write `login.rs`");
        self.stands("BLUEPRINT", "NEEDS_PLAN_APPROVAL");
    }

    /// Brings an item that is begun to its end.
    #[track_caller]
    pub(crate) fn work(&self, task: &str) -> Said {
        self.come_to_approval(task);
        self.approve(task);
        self.validate(task);
        self.complete(task, None)
    }

    /// Checks where the file says that the work stands.
    #[track_caller]
    pub(crate) fn stands(&self, phase: &str, status: &str) {
        let state = self.state();
        assert_eq!((state.phase.as_str(), state.status.as_str()), (phase, status));
    }
}

/// Returns the arguments of an update.
pub(crate) fn updating(phase: &str, status: &str, more: Value) -> Value {
    let mut arguments = json!({"phase": phase, "status": status});
    let Value::Object(more) = more else { panic!("{more} is not an object") };
    arguments.as_object_mut().unwrap().extend(more);
    arguments
}

/// The graph tools.
impl Stage {
    /// Asks for guidance, in whatever way it is answered.
    pub(crate) fn ask(&self, more: Value) -> Said {
        self.call("workflow_guidance", guiding(more))
    }

    /// Asks for guidance that must be given.
    #[track_caller]
    pub(crate) fn guide(&self, more: Value) -> Said {
        self.done("workflow_guidance", guiding(more))
    }

    /// Asks for guidance that must be refused, and that must not touch a file.
    #[track_caller]
    pub(crate) fn unguided(&self, more: Value) -> Said {
        self.refused("workflow_guidance", guiding(more))
    }

    /// Starts a session, and returns its id.
    #[track_caller]
    pub(crate) fn begin(&self, context: &str) -> String {
        self.guide(json!({"action": "start", "context": context})).session()
    }

    /// Makes a choice in a session, in whatever way it is answered.
    pub(crate) fn choose(&self, id: &str, context: &Value) -> Said {
        self.ask(json!({"session_id": id, "context": context.to_string()}))
    }

    /// Makes a choice that must be followed.
    #[track_caller]
    pub(crate) fn go(&self, id: &str, context: &Value) -> Said {
        self.guide(json!({"session_id": id, "context": context.to_string()}))
    }

    #[track_caller]
    pub(crate) fn update_session(&self, id: &str, updates: &Value) -> Said {
        let arguments =
            json!({"operation": "update", "updates": updates.to_string(), "session_id": id});
        self.done("workflow_state", arguments)
    }

    /// Returns the names of the files in the folder of the sessions.
    pub(crate) fn session_files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.project.path(".accordo/sessions")).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Returns the record of a session, from its one file.
    #[track_caller]
    pub(crate) fn session(&self, id: &str) -> Value {
        let names = self.session_files();
        let is_own = |it: &&String| it.starts_with(id) && it.ends_with(".json");
        let own: Vec<&String> = names.iter().filter(is_own).collect();
        let [name] = own.as_slice() else { panic!("not one file of {id} in {names:?}") };
        let text = fs::read_to_string(self.project.path(&format!(".accordo/sessions/{name}")));
        serde_json::from_str(&text.unwrap()).unwrap()
    }

    /// Checks where a session is.
    #[track_caller]
    pub(crate) fn is_at(&self, id: &str, node: &str, status: &str) {
        let record = self.session(id);
        let stands = (record["current_node"].as_str(), record["status"].as_str());
        assert_eq!(stands, (Some(node), Some(status)), "{record:#}");
    }
}

fn guiding(more: Value) -> Value {
    let mut arguments = json!({"task_description": "Add: login"});
    let Value::Object(more) = more else { panic!("{more} is not an object") };
    arguments.as_object_mut().unwrap().extend(more);
    arguments
}

/// Returns all that a record has in a list of texts, as one text.
pub(crate) fn joined(list: &Value) -> String {
    let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let entries: Vec<&str> = entries.iter().filter_map(Value::as_str).collect();
    entries.join("\n")
}
