//! `complete_generation`: the end that was meant.

use super::{Scene, number};
use crate::{
    generation::{
        document::UNKNOWN,
        words::{STEPS_TOTAL, duration, thousands},
    },
    kit::json::Json,
};

/// Below so many seconds a generation was quick.
const QUICK_SECONDS: f64 = 300.0;

/// It was completed before; nothing was changed.
pub(crate) fn again(scene: &Scene<'_>) -> String {
    format!(
        "ℹ️ INFO: Generation already COMPLETED for scene {}

**Completed**: {}
**Word count**: {}
**Duration**: {}

💡 Idempotent call - workflow already successful",
        scene.id,
        scene.document.shown("updated_at"),
        number(metric(scene, "word_count")),
        duration(seconds(scene)),
    )
}

/// It is complete.
pub(crate) fn report(scene: &Scene<'_>) -> String {
    let document = scene.document;
    let word_count = metric(scene, "word_count").and_then(Json::as_count).unwrap_or_default();
    let retries = retries(scene);
    let mut text = format!(
        "✅ GENERATION COMPLETED: Scene {}

**Session**: {}
**Started**: {}
**Completed**: {}

📊 Final Metrics:
  - Word count: {} words
  - Total duration: {}
  - Generation retries: {retries}/{}
  - All steps: {}/{STEPS_TOTAL} completed
",
        scene.id,
        document.shown("session_id"),
        document.shown("started_at"),
        document.shown("updated_at"),
        thousands(word_count),
        duration(seconds(scene)),
        document.attempts_max(),
        usize::from(STEPS_TOTAL) - document.missing_steps().count(),
    );
    let missing = super::names(document.missing_steps());
    if !missing.is_empty() {
        text.push_str(&format!("⚠️ Steps not completed: {missing}\n"));
    }
    text.push_str(&format!(
        "
📁 Final Artifacts:
  - Scene file: {}
  - Validation report: {}

💾 State archived: {}",
        path(scene, "final_scene_path"),
        path(scene, "validation_report_path"),
        scene.path,
    ));
    // What was left out was not verified either.
    if missing.is_empty() {
        text.push_str(SUCCESS);
    }
    if seconds(scene) < QUICK_SECONDS {
        text.push_str(&format!("\n\n⚡ Performance: Excellent ({})", duration(seconds(scene))));
    }
    if 0 < retries {
        text.push_str(&format!("\n\n🔄 Note: Success achieved after {retries} retry(ies)"));
    }
    text
}

const SUCCESS: &str = "

🎉 Success Indicators:
  ✓ All constraint validations passed
  ✓ Blueprint compliance verified
  ✓ Literary quality approved
  ✓ Scene ready for publication";

fn metric<'a>(scene: &Scene<'a>, key: &str) -> Option<&'a Json> {
    scene.document.find_in("completion_metrics", key)
}

fn seconds(scene: &Scene<'_>) -> f64 {
    metric(scene, "total_duration_seconds").and_then(Json::as_f64).unwrap_or_default()
}

fn retries(scene: &Scene<'_>) -> u64 {
    metric(scene, "retry_count").and_then(Json::as_count).unwrap_or_default()
}

fn path<'a>(scene: &Scene<'a>, key: &str) -> &'a str {
    metric(scene, key).and_then(Json::as_text).unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::report;
    use crate::generation::{
        text::fixture::{failed, scene},
        words::STEPS,
    };

    #[test]
    fn a_complete_generation_has_its_figures() {
        let mut document = failed();
        document.set(&["completion_metrics", "final_scene_path"], "s.md");
        document.set(&["completion_metrics", "validation_report_path"], "v.md");
        document.set(&["completion_metrics", "word_count"], 2847_u64);
        document.set(&["completion_metrics", "total_duration_seconds"], 324.5);
        document.set(&["completion_metrics", "retry_count"], 1_u64);
        let partly = report(&scene(&document));
        assert!(
            partly.contains("3/7 completed\n⚠️ Steps not completed: 4 (Prose Generation), 5 (")
        );
        for step in &STEPS {
            document.step_mut(step).set("status", "COMPLETED");
        }
        expect![[r#"
            ✅ GENERATION COMPLETED: Scene 0204

            **Session**: 2025-11-03-143045-scene-0204
            **Started**: 2025-11-03T14:30:45Z
            **Completed**: 2025-11-03T14:36:24Z

            📊 Final Metrics:
              - Word count: 2,847 words
              - Total duration: 5m 24s
              - Generation retries: 1/3
              - All steps: 7/7 completed

            📁 Final Artifacts:
              - Scene file: s.md
              - Validation report: v.md

            💾 State archived: workspace/generation-state-0204.json

            🎉 Success Indicators:
              ✓ All constraint validations passed
              ✓ Blueprint compliance verified
              ✓ Literary quality approved
              ✓ Scene ready for publication

            🔄 Note: Success achieved after 1 retry(ies)"#]]
        .assert_eq(&report(&scene(&document)));
        document.set(&["completion_metrics", "total_duration_seconds"], 299.9);
        assert!(report(&scene(&document)).contains("\n\n⚡ Performance: Excellent (4m 59s)\n\n🔄"));
    }
}
