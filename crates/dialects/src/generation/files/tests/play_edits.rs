//! What people write into a state file, by chance.

use definition::Digest;
use engine::Projection as _;
use engine::{Command, FileClaim};
use serde_json::{Value, json};

use super::{
    super::{super::words::STEPS, StateFiles},
    play::Player,
};

impl Player {
    /// Begins from a file that was there before.
    pub(super) fn adopt(&mut self) {
        let text = match self.picks(6) {
            0 => "{}".to_owned(),
            1 => r#"{"mine": 1, "steps": 3, "errors": {}, "workflow_status": 7}"#.to_owned(),
            2 => r#"{"scene_id": "0204", "workflow_status": "PAUSED", "current_step": 2, "steps": {"step_1_file_check": {"status": "COMPLETED"}}}"#.to_owned(),
            3 => r#"{"scene_id": "0204", "session_id": "s", "started_at": "2025-12-31T10:00:00Z",
                "workflow_status": "FAILED", "current_step": "scene:gen:draft:prose", "failed_at_step": 4,
                "failure_reason": "why", "x": null, "steps": {
                "scene:gen:setup:files": {"status": "COMPLETED", "mine": true},
                "scene:gen:setup:blueprint": {"status": "COMPLETED"},
                "scene:gen:setup:plan": {"status": "COMPLETED"},
                "scene:gen:draft:prose": {"status": "IN_PROGRESS", "started_at": "2025-12-31T11:00:00Z"}},
                "generation_attempts": {"current_attempt": 2, "attempts_history": [{"status": "IN_PROGRESS"}]}}"#
                .to_owned(),
            4 => r#"{"scene_id": "0204", "workflow_status": "WAITING_USER_APPROVAL", "current_step": 3, "revision": 5,
                "steps": {"step_1_file_check": {"status": "COMPLETED"}, "step_2_blueprint_validation": {"status": "COMPLETED"},
                "step_3_verification_plan": {"status": "COMPLETED"}}}"#
                .to_owned(),
            _ => {
                let status = self.status();
                let mut document = json!({ "scene_id": "0204", "workflow_status": status });
                self.spoil(&mut document);
                document.to_string()
            }
        };
        let start = self.start();
        if let Some(placement) = placement(&text) {
            self.attempt(&Command::AdoptRun(Box::new(start), Box::new(placement)));
        }
    }

    /// Changes what the file says, and has that taken in.
    pub(super) fn edit(&mut self) {
        let Ok(mut document) = serde_json::from_str::<Value>(&self.written()) else { return };
        for _ in 0..=self.picks(3) {
            self.spoil(&mut document);
        }
        let text = serde_json::to_string_pretty(&document).unwrap();
        if let Some(placement) = placement(&text) {
            self.attempt(&Command::TakeEdit(Box::new(placement)));
        }
    }

    fn status(&mut self) -> &'static str {
        let words = ["IN_PROGRESS", "IN_PROGRESS", "WAITING_USER_APPROVAL", "FAILED", "CANCELLED"];
        words[usize::try_from(self.picks(5)).unwrap()]
    }

    fn spoil(&mut self, document: &mut Value) {
        let step = STEPS[usize::try_from(self.picks(7)).unwrap()].key;
        let words = ["PENDING", "IN_PROGRESS", "COMPLETED", "FAILED", "SKIPPED", "ODD"];
        let word = words[usize::try_from(self.picks(6)).unwrap()];
        if !document["steps"].is_object() {
            document["steps"] = json!({});
        }
        match self.picks(12) {
            0 => document["my_key"] = json!({ "deep": [1, null] }),
            1 => document["workflow_status"] = self.status().into(),
            2..=4 => document["steps"][step] = json!({ "status": word, "mine": 1 }),
            5 if document["steps"][step].is_object() => {
                document["steps"][step]["status"] = word.into();
            }
            6 => document["current_step"] = self.picks(9).into(),
            7 => drop(document.as_object_mut().unwrap().remove("revision")),
            8 => drop(document.as_object_mut().unwrap().remove("generation_attempts")),
            9 => document["artifacts"] = json!({ "draft_path": "edited.md" }),
            10 => document["errors"] = json!([{ "message": "by hand" }, 3]),
            _ => document["user_interactions"] = json!("none"),
        }
    }
}

fn placement(text: &str) -> Option<FileClaim> {
    let reading = StateFiles::default().read(text).ok()?;
    Some(FileClaim {
        path: "workspace/generation-state-0204.json".to_owned(),
        sha256: Digest::of(text.as_bytes()),
        text: text.to_owned(),
        stood: reading.stood,
        reason: reading.reason,
        steps: reading.steps,
        stated: reading.stated,
        at: reading.at,
        current: None,
        is_work_done: false,
        vars: reading.vars,
        parts: reading.parts,
        items: reading.items,
        journal: reading.journal,
        started_at: reading.started_at,
        updated_at: reading.updated_at,
    })
}
