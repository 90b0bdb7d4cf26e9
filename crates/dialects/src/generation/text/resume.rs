//! `resume_generation`: the plan of a recovery, or why there is none.

use super::Scene;
use crate::{
    generation::{
        answer::Facts,
        document::{Recovery, UNKNOWN},
        words::{Dialect, STEPS, Status, Step, StepStatus, duration},
    },
    kit::Done,
};

/// There is no state.
pub(crate) fn missing(id: &str) -> String {
    format!(
        "❌ ERROR: No state found for scene {id}

Possible reasons:
  1. Scene never generated
  2. State file deleted
  3. Wrong scene ID

💡 Next steps:
  - Check scene exists: acts/.../scene-{id}-blueprint.md
  - List all generations: Use list_generations tool
  - Start new generation: \"Generate scene {id}\""
    )
}

/// The state has problems, and nobody said to go on anyway, if that can be.
pub(crate) fn unsound(scene: &Scene<'_>, problems: Vec<String>, is_open: bool) -> Done<Facts> {
    let id = scene.id;
    let lines = bullets(&problems);
    let next = match is_open {
        true => format!("To proceed anyway, use: resume_generation(scene_id='{id}', force=True)"),
        false => format!("Check progress: get_generation_status(scene_id='{id}')"),
    };
    let text = format!(
        "⚠️ WARNING: State validation issues for scene {id}

{lines}

💡 {next}"
    );
    let facts = Facts { ok: false, ..Facts::new(scene, text) };
    Done { warnings: problems, ..facts.into() }
}

/// The scene is done.
pub(crate) fn completed(scene: &Scene<'_>) -> String {
    let document = scene.document;
    let output = document.find_in("artifacts", "final_scene_path").and_then(|it| it.as_text());
    format!(
        "❌ ERROR: Scene {} already completed

Completed at: {}
Session ID: {}

💡 View final output: {}",
        scene.id,
        document.shown("updated_at"),
        document.shown("session_id"),
        output.unwrap_or("unknown"),
    )
}

/// The scene is being worked on, or waits for a person.
pub(crate) fn live(scene: &Scene<'_>) -> String {
    let (id, document) = (scene.id, scene.document);
    let is_waiting = document.status() == Some(Status::WaitingUserApproval);
    format!(
        "❌ ERROR: Scene {id} is {}

Current status: Step {}/7 ({})
Started: {}

{}
  - Check progress: get_generation_status(scene_id='{id}')
  - Cancel if needed: cancel_generation(scene_id='{id}')",
        if is_waiting { "waiting for user approval" } else { "currently running" },
        document.current_step(),
        document.shown("current_phase"),
        document.shown("started_at"),
        scene.hint("Options", Dialect::Numbered),
    )
}

/// The plan, or what was done by it: which resume of the scene it was, if it was confirmed.
///
/// `scene` is as it was before the resume.
pub(crate) fn plan(scene: &Scene<'_>, confirmed: Option<(u64, &Scene<'_>)>) -> Done<Facts> {
    let document = scene.document;
    let recovery = document.recovery(scene.point);
    let mut warnings = document.problems(scene.id);
    let noted = notes(scene, &warnings);
    let last = last_line(scene, !warnings.is_empty(), confirmed);
    let at = document.cancellation().map_or("Failed at", |_| "Cancelled at");
    let text = format!(
        "🔧 RESUMING GENERATION: Scene {}

📂 Loading state: {}

✓ State loaded:
  - Session ID: {}
  - Started: {}
  - {at}: Step {} ({})
  - Reason: {}

📋 Recovery Plan:

{}

⚡ Time saved: ~{} (Steps {} already completed)

{noted}{last}",
        scene.id,
        scene.path,
        document.shown("session_id"),
        document.shown("started_at"),
        document.current_step(),
        document.shown("current_phase"),
        document.cancellation().unwrap_or_else(|| document.reason()),
        steps(scene, &recovery).join("\n"),
        duration(recovery.saved_seconds),
        span(&recovery),
    );
    warnings.extend(stale(scene));
    let facts = Facts {
        resume_step: recovery.point.map(|it| it.number),
        completed_steps: Some(recovery.completed.iter().map(|it| it.number).collect()),
        time_saved_seconds: Some(recovery.saved_seconds),
        ..Facts::new(scene, text)
    };
    let facts = match confirmed {
        Some((_, after)) => resumed(facts, after),
        None => facts,
    };
    Done { warnings, ..facts.into() }
}

/// Says how a scene stands that was just resumed.
fn resumed(facts: Facts, after: &Scene<'_>) -> Facts {
    Facts {
        workflow_status: Some(after.status().to_owned()),
        current_step: Some(after.document.current_step()),
        ..facts
    }
}

fn steps(scene: &Scene<'_>, recovery: &Recovery) -> Vec<String> {
    let point = recovery.point.map_or(u8::MAX, |it| it.number);
    let mut lines = Vec::new();
    for step in &STEPS {
        let (number, title) = (step.number, step.title);
        let record = scene.document.step(step);
        if number == point {
            lines.push(format!("⚠️ Step {number}: {title} (RESUME - was at this step)"));
            lines.push("   → Will reset attempts counter".to_owned());
            lines.push("   → Will re-read blueprint (may have been fixed)".to_owned());
            lines.push("   → Will use enhanced constraint emphasis".to_owned());
        } else if point < number {
            let before = number - 1;
            lines.push(format!("⏭️ Step {number}: {title} (will run after Step {before})"));
        } else if record.status() == StepStatus::Skipped {
            lines.push(format!("✓ Step {number}: {title} (SKIP - not needed)"));
        } else {
            let took = duration(record.duration_seconds());
            lines.push(format!("✓ Step {number}: {title} (SKIP - already completed, {took})"));
        }
    }
    if recovery.point.is_none() {
        lines.push("All steps are completed: call complete_generation to finish.".to_owned());
    }
    lines
}

/// Says which steps are completed: `1-3`.
fn span(recovery: &Recovery) -> String {
    match (recovery.completed.first(), recovery.completed.last()) {
        (Some(first), Some(last)) => format!("{}-{}", first.number, last.number),
        (None, _) | (_, None) => "none-none".to_owned(),
    }
}

/// What to mind, with an empty line behind it; nothing if there is nothing to mind.
fn notes(scene: &Scene<'_>, problems: &[String]) -> String {
    let mut lines = Vec::new();
    if !problems.is_empty() {
        lines.push("⚠️ Warnings (force=True used):".to_owned());
        lines.push(bullets(problems));
    }
    lines.extend(stale(scene).map(|it| format!("⚠️ {it}")));
    if lines.is_empty() { String::new() } else { lines.join("\n") + "\n\n" }
}

fn stale(scene: &Scene<'_>) -> Option<String> {
    let hours = scene.document.stale_hours(scene.now)?;
    Some(format!("State is {hours}h old - blueprint may have changed"))
}

fn last_line(scene: &Scene<'_>, is_forced: bool, confirmed: Option<(u64, &Scene<'_>)>) -> String {
    let Some((count, after)) = confirmed else {
        let is_waiting = scene.document.status() == Some(Status::WaitingUserApproval);
        let (id, force) = (scene.id, if is_forced || is_waiting { ", force=True" } else { "" });
        return format!(
            "❓ Proceed with resume? Once the user agrees: resume_generation(scene_id='{id}', \
             confirm=True{force})"
        );
    };
    let (status, number) = (after.status(), after.document.current_step());
    let title = Step::find(number).map_or(UNKNOWN, |it| it.title);
    let lines = after.listed(Dialect::Numbered);
    format!(
        "▶️ Resumed: workflow is {status} at Step {number} ({title}), resume #{count}\n\n\
         🔄 Next Action:\n{}",
        lines.trim_end()
    )
}

fn bullets(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|it| format!("  - {it}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{Scene, plan, unsound};
    use crate::generation::{
        document::Document,
        text::fixture::{failed, scene},
        words::Step,
    };

    #[test]
    fn a_failed_scene_goes_on_where_it_failed() {
        let document = failed();
        let done = plan(&scene(&document), None);
        assert_eq!(
            (done.answer.resume_step, done.answer.time_saved_seconds),
            (Some(4), Some(32.0))
        );
        expect![[r#"
            🔧 RESUMING GENERATION: Scene 0204

            📂 Loading state: workspace/generation-state-0204.json

            ✓ State loaded:
              - Session ID: 2025-11-03-143045-scene-0204
              - Started: 2025-11-03T14:30:45Z
              - Failed at: Step 4 (Prose Generation)
              - Reason: last

            📋 Recovery Plan:

            ✓ Step 1: File System Check (SKIP - already completed, 1s)
            ✓ Step 2: Blueprint Validation (SKIP - already completed, 19s)
            ✓ Step 3: Verification Plan (SKIP - already completed, 12s)
            ⚠️ Step 4: Prose Generation (RESUME - was at this step)
               → Will reset attempts counter
               → Will re-read blueprint (may have been fixed)
               → Will use enhanced constraint emphasis
            ⏭️ Step 5: Fast Compliance Check (will run after Step 4)
            ⏭️ Step 6: Full Validation (will run after Step 5)
            ⏭️ Step 7: Final Output (will run after Step 6)

            ⚡ Time saved: ~32s (Steps 1-3 already completed)

            ❓ Proceed with resume? Once the user agrees: resume_generation(scene_id='0204', confirm=True)"#]]
        .assert_eq(&done.answer.result);
    }

    #[test]
    fn the_plan_of_a_cancelled_scene_tells_why_it_was_cancelled() {
        let mut document = failed();
        document.set(&["workflow_status"], "CANCELLED");
        document.set(&["failure_reason"], "an older failure");
        document.set(&["cancellation_reason"], "the user wants another scene first");
        let text = plan(&scene(&document), None).answer.result;
        let said = "Cancelled at: Step 4 (Prose Generation)\n  - Reason: the user wants another";
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("older"), "{text}");
    }

    #[test]
    fn a_confirmed_resume_says_so_in_its_last_line() {
        let mut after = failed();
        after.set(&["workflow_status"], "IN_PROGRESS");
        let done = plan(&scene(&failed()), Some((2, &scene(&after))));
        let last = "▶️ Resumed: workflow is IN_PROGRESS at Step 4 (Prose Generation), resume #2";
        assert!(done.answer.result.lines().any(|it| it == last), "{}", done.answer.result);
        assert_eq!(done.answer.workflow_status.as_deref(), Some("IN_PROGRESS"));
    }

    #[test]
    fn a_gap_ends_what_is_skipped() {
        let mut document = failed();
        document.object_mut(&["steps"]).remove("step_2_blueprint_validation");
        let done = plan(&Scene { point: Step::find(2), ..scene(&document) }, None);
        assert_eq!(done.answer.completed_steps, Some(vec![1]));
        let text = done.answer.result;
        assert!(text.contains("⚠️ Step 2: Blueprint Validation (RESUME - was at this step)"));
        assert!(text.contains("⏭️ Step 3: Verification Plan (will run after Step 2)"));
    }

    #[test]
    fn a_damaged_state_is_named_and_goes_on_only_by_force() {
        let text = r#"{"scene_id": "0205", "workflow_status": "PAUSED", "current_step": 9}"#;
        let document = Document::parse(text).unwrap();
        let scene = scene(&document);
        let problems = document.problems(scene.id);
        expect![[r#"
            ⚠️ WARNING: State validation issues for scene 0204

              - Missing required field: started_at
              - Scene ID mismatch: expected 0204, got 0205
              - Invalid workflow_status: PAUSED
              - Invalid current_step: 9 (must be 1-7)

            💡 To proceed anyway, use: resume_generation(scene_id='0204', force=True)"#]]
        .assert_eq(&unsound(&scene, problems, true).answer.result);
        let text = plan(&scene, None).answer.result;
        assert!(text.contains(
            "(Steps none-none already completed)\n\n⚠️ Warnings (force=True used):\n  - Missing"
        ));
        assert!(text.contains("- Invalid current_step: 9 (must be 1-7)\n\n❓ Proceed"));
    }

    #[test]
    fn an_old_state_is_said_to_be_old() {
        let document = failed();
        let later = scene(&document);
        let now = later.now.after(core::time::Duration::from_hours(30));
        let done = plan(&Scene { now, ..later }, None);
        assert!(
            done.answer.result.contains("\n⚠️ State is 30h old - blueprint may have changed\n\n❓")
        );
        assert_eq!(done.warnings, ["State is 30h old - blueprint may have changed"]);
    }
}
