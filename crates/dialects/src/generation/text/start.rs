//! `start_generation`: a new generation, or the one that there is.

use super::Scene;
use crate::{
    generation::{document::UNKNOWN, words::Dialect},
    kit::json::Json,
};

/// One is running already.
pub(crate) fn exists(scene: &Scene<'_>) -> String {
    let (id, document) = (scene.id, scene.document);
    format!(
        "⚠️ WARNING: Generation already in progress for scene {id}

**Existing session**: {}
**Status**: {} (Step {}/7)
**Started**: {}

💡 Options:
{}  - Check progress: get_generation_status(scene_id='{id}')
  - Cancel existing: cancel_generation(scene_id='{id}')",
        document.shown("session_id"),
        scene.status(),
        document.current_step(),
        document.shown("started_at"),
        scene.listed(Dialect::Numbered),
    )
}

/// One has ended, and its state is still there.
pub(crate) fn ended(scene: &Scene<'_>) -> String {
    let (id, document) = (scene.id, scene.document);
    let hint = if scene.offers.open.is_empty() {
        format!("💡 To start over, the user moves `{}` away first", scene.path)
    } else {
        let fresh = format!("cancel_generation(scene_id='{id}'), then start_generation");
        let hint = scene.hint("Options", Dialect::Numbered);
        format!("{hint}\n  - Or start over: {fresh}")
    };
    format!(
        "❌ ERROR: Scene {id} already has terminal state: {}

**Session ID**: {}
**Completed**: {}

{hint}",
        scene.status(),
        document.shown("session_id"),
        document.shown("updated_at"),
    )
}

/// It has begun.
pub(crate) fn started(scene: &Scene<'_>) -> String {
    let (id, document) = (scene.id, scene.document);
    let inner =
        |outer, key| document.find_in(outer, key).and_then(Json::as_text).unwrap_or(UNKNOWN);
    format!(
        "✅ GENERATION STARTED: Scene {id}

**Session ID**: {}
**Blueprint**: {}
**Initiated by**: {}
**Started**: {}

📊 Initial Status:
  - Workflow: {}
  - Current Step: Not started
  - Max Attempts: {}

💾 State file: {}

🚀 Next Steps:
  1. Call start_step(scene_id='{id}', step_number=1, phase_name='File System Check')
  2. Perform step operations
  3. Call complete_step(scene_id='{id}', step_number=1, duration_seconds=X)
  4. Continue with remaining steps",
        document.shown("session_id"),
        inner("artifacts", "blueprint_path"),
        inner("metadata", "initiated_by"),
        document.shown("started_at"),
        scene.status(),
        document.attempts_max(),
        scene.path,
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::started;
    use crate::generation::{document::Document, text::fixture::scene};

    #[test]
    fn a_new_generation_names_its_first_step() {
        let text = r#"{"session_id": "2025-11-03-143045-scene-0204", "workflow_status": "IN_PROGRESS",
            "started_at": "2025-11-03T14:30:45Z", "artifacts": {"blueprint_path": "acts/b.md"},
            "metadata": {"initiated_by": "generation-coordinator"}}"#;
        let document = Document::parse(text).unwrap();
        expect![[r#"
            ✅ GENERATION STARTED: Scene 0204

            **Session ID**: 2025-11-03-143045-scene-0204
            **Blueprint**: acts/b.md
            **Initiated by**: generation-coordinator
            **Started**: 2025-11-03T14:30:45Z

            📊 Initial Status:
              - Workflow: IN_PROGRESS
              - Current Step: Not started
              - Max Attempts: 3

            💾 State file: workspace/generation-state-0204.json

            🚀 Next Steps:
              1. Call start_step(scene_id='0204', step_number=1, phase_name='File System Check')
              2. Perform step operations
              3. Call complete_step(scene_id='0204', step_number=1, duration_seconds=X)
              4. Continue with remaining steps"#]]
        .assert_eq(&started(&scene(&document)));
    }
}
