//! `cancel_generation`: what a generation leaves that is not wanted any more.

use super::Scene;
use crate::{
    generation::{
        document::UNKNOWN,
        words::{STEPS, Step, StepStatus, duration},
    },
    kit::moment,
};

/// There is no state.
pub(crate) fn missing(id: &str) -> String {
    format!(
        "❌ ERROR: No generation found for scene {id}

State file does not exist.

💡 Next steps:
  - List all generations: Use list_generations tool"
    )
}

/// What is done cannot be cancelled.
pub(crate) fn completed(scene: &Scene<'_>) -> String {
    let (id, at) = (scene.id, scene.document.shown("updated_at"));
    format!(
        "❌ ERROR: Cannot cancel completed workflow

Scene {id} completed at: {at}

💡 If you want to regenerate, start a new generation: \"Generate scene {id}\""
    )
}

/// It was cancelled before.
pub(crate) fn again(scene: &Scene<'_>) -> String {
    let (id, at) = (scene.id, scene.document.shown("updated_at"));
    let reason = scene.document.find_text("cancellation_reason").unwrap_or("No reason provided");
    format!(
        "❌ ERROR: Scene {id} was already cancelled

Cancelled at: {at}
Reason: {reason}

💡 To resume: Use resume_generation(scene_id='{id}')"
    )
}

/// It was cancelled, for `reason` if one was given.
pub(crate) fn report(scene: &Scene<'_>, reason: Option<&str>) -> String {
    let (id, document) = (scene.id, scene.document);
    let mut text = format!(
        "🛑 CANCELLING GENERATION: Scene {id}

⏸️ Previous status: {} (Step {}/7)

✓ Cancelled successfully

📊 Work completed before cancellation:
",
        document.find_text("cancelled_from").unwrap_or(UNKNOWN),
        document.current_step(),
    );
    for line in STEPS.iter().filter_map(|it| work(scene, it)) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(&format!(
        "
💾 State saved: {}
   - Can resume later with: resume_generation(scene_id='{id}')

",
        scene.path
    ));
    if let Some(reason) = reason.filter(|it| !it.is_empty()) {
        text.push_str(&format!("📝 Cancellation reason: {reason}\n\n"));
    }
    text.push_str("🗑️ Cleanup:\n   - State preserved for future resume");
    let artifacts: Vec<String> =
        document.artifacts().map(|(_, path)| format!("\n     • {path}")).collect();
    if !artifacts.is_empty() {
        text.push_str("\n   - Artifacts preserved:");
        text.push_str(&artifacts.concat());
    }
    text
}

/// Returns the line of a step that is completed or was interrupted.
fn work(scene: &Scene<'_>, step: &Step) -> Option<String> {
    let record = scene.document.step(step);
    if record.status() == StepStatus::Completed {
        return Some(scene.work_line(step));
    }
    if scene.document.current_step() != step.number || record.status().is_done() {
        return None;
    }
    let until = record.find_text("interrupted_at").and_then(moment);
    let worked = until.zip(record.started_at()).map(|(until, since)| until.since(since));
    let took = duration(worked.unwrap_or_default().as_secs_f64());
    Some(format!("   ⏳ Step {}: {} ({took}, INTERRUPTED)", step.number, step.title))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::report;
    use crate::generation::{
        text::fixture::{failed, scene},
        words::Step,
    };

    #[test]
    fn what_was_done_and_what_was_interrupted_is_named() {
        let mut document = failed();
        document.set(&["workflow_status"], "CANCELLED");
        document.set(&["cancelled_from"], "IN_PROGRESS");
        let draft = document.step_mut(Step::find(4).unwrap());
        draft.set("status", "PENDING");
        draft.set("interrupted_at", "2025-11-03T14:36:24Z");
        expect![[r#"
            🛑 CANCELLING GENERATION: Scene 0204

            ⏸️ Previous status: IN_PROGRESS (Step 4/7)

            ✓ Cancelled successfully

            📊 Work completed before cancellation:
               ✓ Step 1: File System Check (1s)
               ✓ Step 2: Blueprint Validation (19s)
               ✓ Step 3: Verification Plan (12s)
               ⏳ Step 4: Prose Generation (4m 24s, INTERRUPTED)

            💾 State saved: workspace/generation-state-0204.json
               - Can resume later with: resume_generation(scene_id='0204')

            📝 Cancellation reason: Blueprint has error

            🗑️ Cleanup:
               - State preserved for future resume
               - Artifacts preserved:
                 • acts/b.md"#]]
        .assert_eq(&report(&scene(&document), Some("Blueprint has error")));
        assert!(!report(&scene(&document), None).contains("📝"));
    }
}
