//! A state that the tests speak of.

use engine::{Needs, Offer, Offers, Timestamp, What};

use super::Scene;
use crate::{
    generation::{document::Document, words::Step},
    kit::moment,
};

/// Failed at step 4, after three steps that took 1, 19 and 12 seconds.
pub(crate) fn failed() -> Document {
    let text = r#"{
        "scene_id": "0204", "session_id": "2025-11-03-143045-scene-0204",
        "started_at": "2025-11-03T14:30:45Z", "updated_at": "2025-11-03T14:36:24Z",
        "current_phase": "Prose Generation", "current_step": 4, "workflow_status": "FAILED",
        "steps": {
            "step_1_file_check": {"status": "COMPLETED", "duration_seconds": 1},
            "step_2_blueprint_validation": {"status": "COMPLETED", "duration_seconds": 19},
            "step_3_verification_plan": {"status": "COMPLETED", "duration_seconds": 12.0},
            "step_4_generation": {"status": "FAILED", "started_at": "2025-11-03T14:32:00Z"}
        },
        "generation_attempts": {"current_attempt": 3, "max_attempts": 3},
        "artifacts": {"blueprint_path": "acts/b.md", "draft_path": null},
        "errors": [{"step": 4, "message": "first"}, {"step": 4, "message": "last"}]
    }"#;
    Document::parse(text).unwrap()
}

/// Six minutes after the failure.
pub(crate) fn now() -> Timestamp {
    moment("2025-11-03T14:42:24+00:00").unwrap()
}

pub(crate) fn scene(document: &Document) -> Scene<'_> {
    Scene {
        id: "0204",
        path: "workspace/generation-state-0204.json",
        document,
        offers: Box::leak(Box::default()),
        point: Step::find(4),
        now: now(),
    }
}

/// The same scene, where so much can be done.
pub(crate) fn offering<'a>(scene: Scene<'a>, open: &[What]) -> Scene<'a> {
    let offer = |what: &What| Offer {
        what: what.clone(),
        command: what.command(),
        needs: Needs::default(),
    };
    let offers = Offers { open: open.iter().map(offer).collect(), ..Offers::default() };
    Scene { offers: Box::leak(Box::new(offers)), ..scene }
}
