//! `log_question_answer`: what a person was asked, and what they said.

use super::Scene;

/// How many characters of a text are shown.
const SHOWN_MAX: usize = 200;

/// The exchange was logged.
pub(crate) fn logged(scene: &Scene<'_>, question: &str, answer: &str, timestamp: &str) -> String {
    format!(
        "💬 QUESTION/ANSWER LOGGED

**Scene**: {}
**Timestamp**: {timestamp}

**Question**:
{}

**Answer**:
{}

📊 Total Q&A entries: {}

💡 Use Cases:
  - Audit trail for user decisions
  - Context for future workflow steps
  - Analytics on user interaction patterns

💾 Logged to: {} → user_questions array",
        scene.id,
        short(question),
        short(answer),
        scene.document.list("user_questions").len(),
        scene.path,
    )
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_long_text_is_cut_at_200_characters() {
        assert_eq!(short(&"я".repeat(250)), "я".repeat(200) + "...");
        assert_eq!(short(&"я".repeat(200)), "я".repeat(200));
    }
}
