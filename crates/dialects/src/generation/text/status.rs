//! `get_generation_status`: where a generation is.

use super::Scene;
use crate::generation::{
    answer::Facts,
    document::UNKNOWN,
    words::{Dialect, STEPS, Status, Step, StepStatus, duration},
};

/// There is no state.
pub(crate) fn missing(id: &str) -> String {
    format!(
        "❌ ERROR: No state found for scene {id}

Scene has not been generated yet, or state file was deleted.

💡 Next steps:
  - Start generation: \"Generate scene {id}\"
  - List all generations: Use list_generations tool"
    )
}

/// Where the generation is. It ends in a line break, as every block does.
pub(crate) fn report(scene: &Scene<'_>, is_detailed: bool) -> Facts {
    let document = scene.document;
    let mut text = format!(
        "# 📊 GENERATION STATUS: Scene {}

**Session ID**: {}
**Started**: {}

**Progress**: Step {}/7 ({})
**Current Phase**: {}

",
        document.find_text("scene_id").unwrap_or(scene.id),
        document.shown("session_id"),
        started(scene),
        document.current_step(),
        scene.status(),
        document.shown("current_phase"),
    );
    if is_detailed {
        let rows = STEPS.iter().map(|it| row(scene, it));
        block(&mut text, "## 📋 Detailed Progress\n\n", rows);
    }
    let attempts = document.attempts().into_iter();
    let attempts = attempts.map(|(it, max)| format!("**Generation Attempts**: {it}/{max}"));
    block(&mut text, "", attempts);
    let artifacts = document.artifacts().map(|(key, path)| format!("- **{key}**: {path}"));
    block(&mut text, "## 📁 Artifacts\n", artifacts);
    let errors = document.errors().map(|it| format!("- {}", it.unwrap_or("Unknown error")));
    block(&mut text, "## ⚠️ Errors\n", errors);
    let lines = scene.onward(Dialect::Numbered).into_iter().map(|it| format!("- {it}"));
    block(&mut text, "## 🔄 Next\n", lines);
    // The last block's empty line ends the text with one line break.
    text.pop();
    Facts {
        completed_steps: Some(document.completed_steps().map(|it| it.number).collect()),
        ..Facts::new(scene, text)
    }
}

/// Adds a block, if there is something in it, and an empty line behind it.
fn block(text: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        text.push_str(heading);
        text.push_str(&lines.join("\n"));
        text.push_str("\n\n");
    }
}

/// Says when it began, and how long that is ago or how long it took.
fn started(scene: &Scene<'_>) -> String {
    let document = scene.document;
    let Some(text) = document.find_text("started_at") else { return UNKNOWN.to_owned() };
    let is_over = document.status().is_some_and(Status::is_terminal);
    let until = document.updated_at().filter(|_| is_over);
    let elapsed = document.started_at().map_or_else(
        || UNKNOWN.to_owned(),
        |it| duration(until.unwrap_or(scene.now).since(it).as_secs_f64()),
    );
    format!("{text} ({elapsed} {})", if is_over { "total" } else { "ago" })
}

fn row(scene: &Scene<'_>, step: &Step) -> String {
    let record = scene.document.step(step);
    let word = record.find_text("status").unwrap_or(StepStatus::Pending.word());
    let seconds = record.duration_seconds();
    let took = if 0.0 < seconds { format!(" - {}", duration(seconds)) } else { String::new() };
    format!("{} **{}** ({word}){took}", record.status().icon(), step.title)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::report;
    use crate::generation::{
        document::Document,
        text::fixture::{failed, scene},
    };

    #[test]
    fn all_seven_steps_are_shown_in_detail() {
        expect![[r#"
            # 📊 GENERATION STATUS: Scene 0204

            **Session ID**: 2025-11-03-143045-scene-0204
            **Started**: 2025-11-03T14:30:45Z (5m 39s total)

            **Progress**: Step 4/7 (FAILED)
            **Current Phase**: Prose Generation

            ## 📋 Detailed Progress

            ✓ **File System Check** (COMPLETED) - 1s
            ✓ **Blueprint Validation** (COMPLETED) - 19s
            ✓ **Verification Plan** (COMPLETED) - 12s
            ❌ **Prose Generation** (FAILED)
            ⋯ **Fast Compliance Check** (PENDING)
            ⋯ **Full Validation** (PENDING)
            ⋯ **Final Output** (PENDING)

            **Generation Attempts**: 3/3

            ## 📁 Artifacts
            - **blueprint_path**: acts/b.md

            ## ⚠️ Errors
            - first
            - last
        "#]]
        .assert_eq(&report(&scene(&failed()), true).result);
    }

    #[test]
    fn a_bare_file_is_still_a_state() {
        let document = Document::parse("{}").unwrap();
        expect![[r#"
            # 📊 GENERATION STATUS: Scene 0204

            **Session ID**: unknown
            **Started**: unknown

            **Progress**: Step 0/7 (unknown)
            **Current Phase**: unknown
        "#]]
        .assert_eq(&report(&scene(&document), false).result);
    }

    #[test]
    fn a_running_one_says_how_long_ago_it_began() {
        let mut document = failed();
        document.set(&["workflow_status"], "IN_PROGRESS");
        let text = report(&scene(&document), false).result;
        assert!(text.contains("**Started**: 2025-11-03T14:30:45Z (11m 39s ago)"), "{text}");
    }
}
