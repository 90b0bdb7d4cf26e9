//! What an agent fetched of an issue, read by the names that each tracker's fields have.

use serde_json::{Map, Value};

use super::source::Tracker;

/// An issue, as far as it counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct External {
    pub title: String,
    pub body: String,
    /// The labels and the type, as words.
    pub kinds: Vec<String>,
    pub points: Option<f64>,
}

impl External {
    /// Reads the fields of an issue of `tracker`.
    pub fn read(tracker: Tracker, context: &Map<String, Value>) -> Self {
        let text = |names: &[&str]| find_text(context, names);
        match tracker {
            Tracker::GitHub => Self {
                title: text(&["github_title"]),
                body: text(&["github_body"]),
                kinds: labels(context.get("github_labels")),
                points: None,
            },
            Tracker::Jira => Self {
                title: text(&["jira_summary", "summary"]),
                body: text(&["jira_description", "description"]),
                kinds: Some(text(&["jira_issue_type", "issue_type"]))
                    .filter(|it| !it.is_empty())
                    .into_iter()
                    .collect(),
                points: find_number(context, &["jira_story_points", "story_points"]),
            },
            Tracker::Linear => Self {
                title: text(&["linear_title", "title"]),
                body: text(&["linear_description", "description"]),
                kinds: labels(context.get("linear_labels")),
                points: find_number(context, &["linear_estimate", "estimate"]),
            },
        }
    }

    /// Returns whether nothing is known of the issue itself.
    pub fn is_empty(&self) -> bool {
        self.title.is_empty() && self.body.is_empty()
    }

    /// Returns the title and the body as one text.
    pub fn text(&self) -> String {
        format!("{}\n\n{}", self.title, self.body).trim().to_owned()
    }
}

/// Returns the tracker that a context names in its fields.
pub fn guess(context: &Map<String, Value>) -> Option<Tracker> {
    Tracker::ALL.into_iter().find(|it| context.keys().any(|key| key.starts_with(it.prefix())))
}

/// Returns the first of some fields that has a text.
pub fn find_text(context: &Map<String, Value>, names: &[&str]) -> String {
    let found = names.iter().filter_map(|it| context.get(*it)?.as_str()).find(|it| !it.is_empty());
    found.unwrap_or_default().to_owned()
}

fn find_number(context: &Map<String, Value>, names: &[&str]) -> Option<f64> {
    names.iter().filter_map(|it| context.get(*it)).find_map(|it| match it {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    })
}

/// Labels come as one text, as texts, or as objects that have a name.
fn labels(value: Option<&Value>) -> Vec<String> {
    let one = |it: &Value| it.as_str().or_else(|| it.get("name")?.as_str()).map(ToOwned::to_owned);
    match value {
        Some(Value::Array(labels)) => labels.iter().filter_map(one).collect(),
        Some(label) => one(label).into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::super::source::Tracker;
    use super::{External, guess};

    fn context(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn fields_are_read_by_the_names_of_their_tracker() {
        let read = External::read(
            Tracker::Jira,
            &context(&json!({ "summary": "s", "jira_description": "d", "jira_story_points": "5",
                "issue_type": "Bug" })),
        );
        let expected = External {
            title: "s".to_owned(),
            body: "d".to_owned(),
            kinds: vec!["Bug".to_owned()],
            points: Some(5.0),
        };
        assert_eq!(read, expected);
        assert_eq!(read.text(), "s\n\nd");
        let read = External::read(Tracker::GitHub, &context(&json!({ "title": "t", "body": "b" })));
        assert!(read.is_empty());
    }

    #[test]
    fn labels_may_be_objects() {
        let labels = json!({ "github_labels": [{ "name": "bug" }, "ui", 5], "github_title": 3 });
        let read = External::read(Tracker::GitHub, &context(&labels));
        assert_eq!(read.kinds, ["bug", "ui"]);
        assert_eq!(read.title, "");
    }

    #[test]
    fn the_tracker_is_guessed_from_the_names() {
        assert_eq!(guess(&context(&json!({ "x": 1, "linear_title": "t" }))), Some(Tracker::Linear));
        assert_eq!(guess(&context(&json!({ "title": "t" }))), None);
    }
}
