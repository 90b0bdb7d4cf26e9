//! `record_error`, `fail_step`, `retry_step` and `fail_generation`: what goes wrong, and what then.

use super::{Scene, number};
use crate::{
    generation::words::{DRAFT, Dialect, NamedStep, Status, Step, severity_icon},
    kit::json::Json,
};

/// An error that is recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded<'a> {
    pub(crate) kind: &'a str,
    pub(crate) message: &'a str,
    pub(crate) severity: &'a str,
    pub(crate) retry_count: Option<u64>,
}

/// Nothing more is done with a scene that has ended. `what` is what was tried: `record error`.
pub(crate) fn ended(scene: &Scene<'_>, what: &str) -> String {
    let (id, status) = (scene.id, scene.status());
    let why = match scene.document.status() {
        Some(_) => format!("workflow in terminal state: {status}"),
        None => format!("the state file has an unknown workflow_status: {status}"),
    };
    let hint = match scene.offers.open.is_empty() {
        true => format!("💡 Look at it: get_generation_status(scene_id='{id}')"),
        false => scene.hint("To continue", Dialect::Numbered),
    };
    format!("❌ ERROR: Cannot {what} - {why}\n\n{hint}")
}

/// An error was recorded; the step goes on.
pub(crate) fn recorded(scene: &Scene<'_>, spoken: NamedStep, error: &Recorded<'_>) -> String {
    let id = scene.id;
    let max = scene.document.attempts_max();
    let retry = error.retry_count.map(|it| format!("**Retry**: {it}/{max}\n"));
    let by_number = NamedStep { dialect: Dialect::Numbered, ..spoken };
    format!(
        "{} ERROR RECORDED: {}

**Scene**: {id}
**Type**: {}
**Severity**: {}
{}
**Message**:
{}

📊 Error Count: {} total

💡 Workflow Status: {} (can retry)

🔄 Next Action:
{}  - Or give up: fail_generation(scene_id='{id}', {}, failure_reason='...')",
        severity_icon(error.severity),
        by_number.alone(),
        error.kind,
        error.severity,
        retry.unwrap_or_default(),
        error.message,
        scene.document.list("errors").len(),
        scene.status(),
        scene.listed(spoken.dialect),
        spoken.argument(),
    )
}

/// A step failed: for this reason, this badly, and for good if the workflow has failed with it.
pub(crate) fn failed(
    scene: &Scene<'_>,
    spoken: NamedStep,
    reason: &str,
    severity: Option<&str>,
) -> String {
    let id = scene.id;
    let is_terminal = scene.document.status() == Some(Status::Failed);
    let severity = severity.unwrap_or("UNKNOWN");
    let terminal = if is_terminal { "YES" } else { "NO (can retry)" };
    let text = format!(
        "{} STEP FAILED: {}

**Scene**: {id}
**Severity**: {severity}
**Terminal**: {terminal}

**Failure Reason**:
{reason}

📊 Error Count: {} total

",
        severity_icon(severity),
        spoken.alone(),
        scene.document.list("errors").len(),
    );
    let then = if is_terminal {
        format!("💡 Workflow Status: FAILED (terminal)\n\n{}", recovery(id))
    } else {
        format!(
            "💡 Workflow Status: {} (can retry)

🔄 Next Action:
{}  - Or give up: fail_generation(scene_id='{id}', {}, failure_reason='...')",
            scene.status(),
            scene.listed(spoken.dialect),
            spoken.argument(),
        )
    };
    text + &then
}

/// A step that was never touched cannot be tried again.
pub(crate) fn not_found(scene: &Scene<'_>, spoken: NamedStep) -> String {
    let hint = scene.hint("What can be done now", spoken.dialect);
    format!("❌ ERROR: Step {} not found in state\n\n{hint}", spoken.after_step())
}

/// A step that did not fail cannot be tried again.
pub(crate) fn not_failed(scene: &Scene<'_>, spoken: NamedStep) -> String {
    let status = scene.document.step(spoken.step).status().word();
    format!(
        "❌ ERROR: Step {} not FAILED (status: {status})\n\n{}",
        spoken.after_step(),
        scene.hint("Only a FAILED step is tried again", spoken.dialect),
    )
}

/// A step is tried again.
pub(crate) fn retried(scene: &Scene<'_>, spoken: NamedStep) -> String {
    let id = scene.id;
    let record = scene.document.step(spoken.step);
    let told = record.find("retry_metadata").and_then(Json::as_object);
    let told = told.and_then(|it| it.get("attempt_number")).map(|it| number(Some(it)));
    let is_draft = spoken.step.number == DRAFT;
    let counted = scene.document.attempts().filter(|_| is_draft);
    let attempt = told.or_else(|| counted.map(|(count, _)| (count + 1).to_string()));
    let line = attempt.iter().map(|it| format!("**Attempt**: {it}\n")).collect::<String>();
    let max = scene.document.attempts_max();
    let beyond = attempt.filter(|it| it.parse().is_ok_and(|it: u64| max < it));
    let warning = beyond.map(|it| format!("\n\n⚠️ Attempt {it} exceeds max_attempts ({max})"));
    format!(
        "🔄 RETRY STEP: {}

**Scene**: {id}
{line}
💡 Step Status:
  - Previous: FAILED
  - Current: PENDING (ready for retry)

🔄 Next Action:
{}  - Then execute step operations
  - Call complete_step() on success or fail_step() on failure{}",
        spoken.alone(),
        scene.listed(spoken.dialect),
        warning.unwrap_or_default(),
    )
}

/// The generation failed. `is_again` of one that had failed before.
pub(crate) fn generation_failed(scene: &Scene<'_>, spoken: NamedStep, is_again: bool) -> String {
    let (id, document) = (scene.id, scene.document);
    let heading = if is_again {
        format!("ℹ️ INFO: Generation already FAILED for scene {id} - failure reason updated")
    } else {
        format!("❌ GENERATION FAILED: Scene {id}")
    };
    let work: Vec<String> = scene.work().into_iter().map(|it| it + "\n").collect();
    let step = document.object().get("failed_at_step").and_then(Json::as_count);
    let step = step.and_then(|it| u8::try_from(it).ok()).and_then(Step::find);
    let failed_at = NamedStep { step: step.unwrap_or(spoken.step), dialect: Dialect::Numbered };
    format!(
        "{heading}

**Session**: {}
**Failed at**: {}
**Time**: {}

**Failure Reason**:
{}

📊 Work preserved:
{}
📊 Error Count: {} total

💾 State saved: {}

{}",
        document.shown("session_id"),
        failed_at.alone(),
        scene.now,
        document.shown("failure_reason"),
        work.concat(),
        document.list("errors").len(),
        scene.path,
        recovery(id),
    )
}

/// How a scene that failed comes to its end after all.
fn recovery(id: &str) -> String {
    format!(
        "🔧 Recovery Options:
  1. Fix issues (blueprint, constraints, etc.)
  2. Resume: resume_generation(scene_id='{id}')
  3. Start fresh: cancel_generation(scene_id='{id}'), then start_generation"
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use engine::What;

    use super::{Recorded, Scene, ended, failed, generation_failed, recorded, retried};
    use crate::{
        generation::{
            text::fixture,
            words::{Dialect, NamedStep, Step},
        },
        kit::json::Object,
    };

    fn draft(dialect: Dialect) -> NamedStep {
        NamedStep { step: Step::find(4).unwrap(), dialect }
    }

    #[test]
    fn an_error_leaves_the_workflow_as_it_is() {
        let mut document = fixture::failed();
        document.set(&["workflow_status"], "IN_PROGRESS");
        let scene = fixture::scene(&document);
        let error = Recorded { kind: "t", message: "m", severity: "HIGH", retry_count: Some(1) };
        expect![[r#"
            ⚠️ ERROR RECORDED: Step 4 - Prose Generation

            **Scene**: 0204
            **Type**: t
            **Severity**: HIGH
            **Retry**: 1/3

            **Message**:
            m

            📊 Error Count: 2 total

            💡 Workflow Status: IN_PROGRESS (can retry)

            🔄 Next Action:
              - Or give up: fail_generation(scene_id='0204', step_number=4, failure_reason='...')"#]].assert_eq(&recorded(&scene, draft(Dialect::Numbered), &error));
        expect![[r#"
            ⚠️ STEP FAILED: scene:gen:draft:prose

            **Scene**: 0204
            **Severity**: MEDIUM
            **Terminal**: NO (can retry)

            **Failure Reason**:
            x

            📊 Error Count: 2 total

            💡 Workflow Status: IN_PROGRESS (can retry)

            🔄 Next Action:
              - Or give up: fail_generation(scene_id='0204', step_name='scene:gen:draft:prose', failure_reason='...')"#]]
        .assert_eq(&failed(&scene, draft(Dialect::Named), "x", Some("MEDIUM")));
    }

    #[test]
    fn an_unknown_status_is_not_called_terminal() {
        let mut document = fixture::failed();
        document.set(&["workflow_status"], "PAUSED");
        let scene = fixture::offering(fixture::scene(&document), &[What::Reopen]);
        expect![[r#"
            ❌ ERROR: Cannot start step - the state file has an unknown workflow_status: PAUSED

            💡 To continue:
              - Show the resume plan: resume_generation(scene_id='0204')"#]]
        .assert_eq(&ended(&scene, "start step"));
    }

    #[test]
    fn a_failed_check_leads_back_to_the_draft_first() {
        let document = fixture::failed();
        let named = |number| definition::StepName::parse(Step::find(number).unwrap().key).unwrap();
        let what = [What::Begin(named(4)), What::Retry(named(5)), What::Begin(named(5))];
        let scene = Scene { point: Step::find(5), ..fixture::scene(&document) };
        let scene = fixture::offering(scene, &what);
        expect![[r#"
            To go back to step 4: start_step(scene_id='0204', step_number=4, phase_name='Prose Generation')
            To retry step 5: retry_step(scene_id='0204', step_number=5)
            To restart step 5: start_step(scene_id='0204', step_number=5, phase_name='Fast Compliance Check')"#]]
        .assert_eq(&scene.onward(Dialect::Numbered).join("\n"));
    }

    #[test]
    fn a_failed_generation_points_to_its_recovery() {
        let mut document = fixture::failed();
        document.set(&["failure_reason"], "r1");
        let scene = fixture::scene(&document);
        expect![[r#"
            ❌ GENERATION FAILED: Scene 0204

            **Session**: 2025-11-03-143045-scene-0204
            **Failed at**: Step 4 - Prose Generation
            **Time**: 2025-11-03T14:42:24.000000Z

            **Failure Reason**:
            r1

            📊 Work preserved:
               ✓ Step 1: File System Check (1s)
               ✓ Step 2: Blueprint Validation (19s)
               ✓ Step 3: Verification Plan (12s)

            📊 Error Count: 2 total

            💾 State saved: workspace/generation-state-0204.json

            🔧 Recovery Options:
              1. Fix issues (blueprint, constraints, etc.)
              2. Resume: resume_generation(scene_id='0204')
              3. Start fresh: cancel_generation(scene_id='0204'), then start_generation"#]]
        .assert_eq(&generation_failed(&scene, draft(Dialect::Named), false));
        let again = generation_failed(&scene, draft(Dialect::Numbered), true);
        assert!(again.starts_with("ℹ️ INFO: Generation already FAILED for scene 0204"));
    }

    #[test]
    fn one_attempt_too_many_is_allowed_and_named() {
        let mut document = fixture::failed();
        let attempt: Object = [("attempt_number", 4_u64)].into_iter().collect();
        document.step_mut(Step::find(4).unwrap()).set("retry_metadata", attempt);
        expect![[r#"
            🔄 RETRY STEP: scene:gen:draft:prose

            **Scene**: 0204
            **Attempt**: 4

            💡 Step Status:
              - Previous: FAILED
              - Current: PENDING (ready for retry)

            🔄 Next Action:
              - Then execute step operations
              - Call complete_step() on success or fail_step() on failure

            ⚠️ Attempt 4 exceeds max_attempts (3)"#]]
        .assert_eq(&retried(&fixture::scene(&document), draft(Dialect::Named)));
    }
}
