//! `start_step` and `complete_step`: a step begins, and is done.

use std::collections::BTreeMap;

use definition::Target;
use engine::{Offer, What};

use super::Scene;
use crate::{
    generation::{
        advice::find_step,
        words::{NamedStep, Status, Step, duration},
    },
    kit::json::Json,
};

/// There is no state to start a step in.
pub(crate) fn missing_to_start(id: &str) -> String {
    format!(
        "❌ ERROR: No state found for scene {id}

💡 Initialize first: start_generation(scene_id='{id}', blueprint_path='...')"
    )
}

/// A step cannot begin any more.
pub(crate) fn ended_to_start(scene: &Scene<'_>) -> String {
    super::failure::ended(scene, "start step")
}

/// Nothing was started yet, and this is not the first step.
pub(crate) fn not_first(scene: &Scene<'_>, requested: NamedStep) -> String {
    let first = Step::find(1).map_or(requested, |step| NamedStep { step, ..requested });
    let hint = scene.hint("Steps must be executed in order", requested.dialect);
    let (first, requested) = (first.alone(), requested.alone());
    format!("❌ ERROR: First step must be {first}, got {requested}\n\n{hint}")
}

/// A step before this one is not done.
pub(crate) fn out_of_order(scene: &Scene<'_>, requested: NamedStep) -> String {
    let current = Step::find(scene.document.current_step());
    let current = current.map(|step| NamedStep { step, ..requested }.alone());
    format!(
        "❌ ERROR: Step order violation

**Current**: {}
**Requested**: {}

{}",
        current.unwrap_or_else(|| "Not started".to_owned()),
        requested.alone(),
        scene.hint("Steps must be executed in order", requested.dialect),
    )
}

/// A person has to say yes first.
pub(crate) fn unapproved(scene: &Scene<'_>, requested: NamedStep) -> String {
    let id = scene.id;
    let step = scene.document.current_step();
    let then = scene.onward(requested.dialect).join("; ");
    format!(
        "❌ ERROR: Cannot go on - scene {id} is waiting for user approval

**Current**: Step {}/7 ({})
**Requested**: {}

💡 {then}",
        step,
        scene.document.shown("current_phase"),
        requested.alone(),
    )
}

/// No one is asked to approve this step.
pub(crate) fn unasked(requested: NamedStep) -> String {
    format!(
        "❌ ERROR: {} is not approved by the user

💡 Leave awaiting_approval out: only step 3 waits for approval",
        requested.alone()
    )
}

/// What is completed is not started again.
pub(crate) fn completed_before(scene: &Scene<'_>, requested: NamedStep) -> String {
    let step = requested.after_step();
    let hint = scene.hint("Cannot restart completed step", requested.dialect);
    format!("❌ ERROR: Step {step} already COMPLETED\n\n{hint}")
}

/// The step has begun.
pub(crate) fn started(scene: &Scene<'_>, spoken: NamedStep) -> String {
    let (id, document) = (scene.id, scene.document);
    let record = document.step(spoken.step);
    let phase = record.find_text("phase_name").unwrap_or(spoken.step.title);
    let position = spoken.position();
    let step = spoken.name().unwrap_or(phase);
    let heading =
        spoken.name().map_or_else(|| format!("Step {position} - {phase}"), ToOwned::to_owned);
    let agent = record.find_text("agent_used").map(|it| format!("**Agent**: {it}\n"));
    let now = scene.now.to_string();
    let started_at = record.find_text("started_at").unwrap_or(&now);
    let is_waiting = document.status() == Some(Status::WaitingUserApproval);
    let action = if is_waiting { "Ask the user to approve" } else { "Perform step operations" };
    let argument = spoken.argument();
    let complete = format!("complete_step(scene_id='{id}', {argument}, duration_seconds=X)");
    let asks = scene.may(|it| matches!(it, What::Ask(step) if step.as_str() == spoken.step.key));
    let then = match scene.offers.needs_person {
        true => scene.onward(spoken.dialect).join("; "),
        false if asks => scene.onward(spoken.dialect).join("\n  - "),
        false => format!("Call {complete}"),
    };
    let warning = scene.attempts_warning().filter(|_| spoken.step.number == 4);
    format!(
        "⏳ STEP STARTED: {heading}

**Scene**: {id}
**Session**: {}
**Started**: {started_at}
{}
📊 Workflow Status:
  - Progress: {position}
  - Step: {step}
  - Status: {}

🔄 Next Action:
  - {action}
  - {then}{}",
        document.shown("session_id"),
        agent.unwrap_or_default(),
        scene.status(),
        warning.map(|it| format!("\n\n{it}")).unwrap_or_default(),
    )
}

/// The step was completed before; nothing was changed.
pub(crate) fn completed_again(scene: &Scene<'_>, spoken: NamedStep) -> String {
    format!(
        "ℹ️ INFO: Step {} already COMPLETED

**Existing duration**: {}

{}",
        spoken.after_step(),
        duration(scene.document.step(spoken.step).duration_seconds()),
        scene.hint("Idempotent call - no changes made", spoken.dialect),
    )
}

/// The step is not being worked on.
pub(crate) fn not_running(scene: &Scene<'_>, spoken: NamedStep) -> String {
    let hint = scene.hint("What can be done now", spoken.dialect);
    format!("❌ ERROR: Step {} not IN_PROGRESS\n\n{hint}", spoken.after_step())
}

/// A step cannot be completed any more.
pub(crate) fn ended_to_complete(scene: &Scene<'_>) -> String {
    super::failure::ended(scene, "complete step")
}

/// The workflow cannot be complete, since other steps are not.
pub(crate) fn incomplete(scene: &Scene<'_>, spoken: NamedStep) -> String {
    let others = scene.document.missing_steps().filter(|it| it.number != spoken.step.number);
    format!(
        "❌ ERROR: Cannot complete workflow - steps not completed: {}

💡 Complete them first, or leave out metadata.workflow_complete",
        super::names(others)
    )
}

/// The step is done, and left these artifacts.
pub(crate) fn completed(
    scene: &Scene<'_>,
    spoken: NamedStep,
    artifacts: &BTreeMap<String, String>,
) -> String {
    let (id, document) = (scene.id, scene.document);
    let record = document.step(spoken.step);
    let now = scene.now.to_string();
    let total = document.find_in("metadata", "total_duration_seconds").and_then(Json::as_f64);
    let text = format!(
        "✅ STEP COMPLETED: {}

**Scene**: {id}
**Duration**: {}
**Completed**: {}

{}📊 Workflow Progress:
  - Steps completed: {}
  - Total time: {}",
        spoken.alone(),
        duration(record.duration_seconds()),
        record.find_text("completed_at").unwrap_or(&now),
        produced(artifacts),
        spoken.count(document.completed_steps().count()),
        duration(total.unwrap_or_default()),
    );
    text + &after(scene, spoken)
}

fn produced(artifacts: &BTreeMap<String, String>) -> String {
    if artifacts.is_empty() {
        return String::new();
    }
    let lines: Vec<String> =
        artifacts.iter().map(|(key, path)| format!("  - {key}: {path}\n")).collect();
    format!("📁 Artifacts produced:\n{}\n", lines.concat())
}

/// What comes after a step that is done; nothing after the last.
fn after(scene: &Scene<'_>, spoken: NamedStep) -> String {
    if scene.document.status() == Some(Status::Completed) {
        return "

🎉 WORKFLOW COMPLETE:
  - Status: COMPLETED
  - Final scene available in artifacts"
            .to_owned();
    }
    let mut lines = scene.onward(spoken.dialect);
    let next = match &*scene.offers.open {
        [Offer { what: What::Begin(step) | What::Choose { to: Target::Step(step), .. }, .. }]
            if !scene.offers.needs_person =>
        {
            find_step(step)
        }
        _ => None,
    };
    if let Some(step) = next {
        lines.insert(0, NamedStep { step, ..spoken }.alone());
    }
    if lines.is_empty() {
        return String::new();
    }
    format!("\n\n🔄 Next Step:\n  - {}", lines.join("\n  - "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::expect;

    use super::{What, completed, not_first, out_of_order, started};
    use crate::generation::{
        text::fixture::{failed, offering, scene},
        words::{Dialect, NamedStep, Step},
    };

    fn spoken(number: u8, dialect: Dialect) -> NamedStep {
        NamedStep { step: Step::find(number).unwrap(), dialect }
    }

    #[test]
    fn a_started_step_is_said_in_the_callers_words() {
        let mut document = failed();
        document.set(&["workflow_status"], "IN_PROGRESS");
        let step = document.step_mut(Step::find(4).unwrap());
        step.set("phase_name", "Draft");
        step.set("agent_used", "prose-writer");
        let scene = scene(&document);
        expect![[r#"
            ⏳ STEP STARTED: Step 4/7 - Draft

            **Scene**: 0204
            **Session**: 2025-11-03-143045-scene-0204
            **Started**: 2025-11-03T14:32:00Z
            **Agent**: prose-writer

            📊 Workflow Status:
              - Progress: 4/7
              - Step: Draft
              - Status: IN_PROGRESS

            🔄 Next Action:
              - Perform step operations
              - Call complete_step(scene_id='0204', step_number=4, duration_seconds=X)"#]]
        .assert_eq(&started(&scene, spoken(4, Dialect::Numbered)));
        expect![[r#"
            ⏳ STEP STARTED: scene:gen:draft:prose

            **Scene**: 0204
            **Session**: 2025-11-03-143045-scene-0204
            **Started**: 2025-11-03T14:32:00Z
            **Agent**: prose-writer

            📊 Workflow Status:
              - Progress: 4/6
              - Step: scene:gen:draft:prose
              - Status: IN_PROGRESS

            🔄 Next Action:
              - Perform step operations
              - Call complete_step(scene_id='0204', step_name='scene:gen:draft:prose', duration_seconds=X)"#]].assert_eq(&started(&scene, spoken(4, Dialect::Named)));
    }

    #[test]
    fn a_completed_step_names_the_next() {
        let document = failed();
        let artifacts = BTreeMap::from([("plan_path".to_owned(), "p.md".to_owned())]);
        let text = completed(&scene(&document), spoken(3, Dialect::Numbered), &artifacts);
        expect![[r#"
            ✅ STEP COMPLETED: Step 3 - Verification Plan

            **Scene**: 0204
            **Duration**: 12s
            **Completed**: 2025-11-03T14:42:24.000000Z

            📁 Artifacts produced:
              - plan_path: p.md

            📊 Workflow Progress:
              - Steps completed: 3/7
              - Total time: 0s"#]]
        .assert_eq(&text);
        let sixth = definition::StepName::parse(Step::find(6).unwrap().key).unwrap();
        let led = offering(scene(&document), &[What::Begin(sixth)]);
        let text = completed(&led, spoken(4, Dialect::Named), &BTreeMap::new());
        assert!(
            text.ends_with("start_step(scene_id='0204', step_name='scene:gen:review:validation')")
        );
        let text = completed(&scene(&document), spoken(7, Dialect::Numbered), &BTreeMap::new());
        assert!(text.ends_with("- Total time: 0s"), "{text}");
    }

    #[test]
    fn steps_out_of_order_are_named() {
        let text = not_first(&scene(&failed()), spoken(2, Dialect::Numbered));
        let (first, second) = ("Step 1 - File System Check", "Step 2 - Blueprint Validation");
        assert!(text.starts_with(&format!("❌ ERROR: First step must be {first}, got {second}\n")));
        expect![[r#"
            ❌ ERROR: Step order violation

            **Current**: scene:gen:draft:prose
            **Requested**: scene:gen:review:validation

            💡 Steps must be executed in order"#]]
        .assert_eq(&out_of_order(&scene(&failed()), spoken(6, Dialect::Named)));
    }
}
