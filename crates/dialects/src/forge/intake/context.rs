//! What a pipeline is begun with, gathered from the arguments of `pipeline_init_with_context`.

use serde_json::{Map, Value};

use super::{
    effort::Effort,
    external::{self, External},
    flags::Flags,
    source::{Source, Tracker},
};

/// The heading that answers to questions are put under.
const ANSWERS: &str = "## Discussion Answers";

/// What is known of a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// Where the request comes from, if it does.
    pub tracker: Option<Tracker>,
    pub url: String,
    /// The id of the issue as it was told.
    pub id: String,
    pub external: External,
    pub task: String,
    pub flags: Flags,
}

/// The arguments that say where a request comes from.
#[derive(Debug, Default)]
pub struct Told {
    pub source_id: String,
    pub source_url: String,
    pub task_text: String,
    pub external_context: Map<String, Value>,
}

impl Context {
    /// Joins what was told; the error says what cannot be.
    pub fn new(told: Told, flags: Flags) -> Result<Self, String> {
        let or_context = |own: String, name: &str| {
            if own.is_empty() { external::find_text(&told.external_context, &[name]) } else { own }
        };
        let url = or_context(told.source_url, "source_url").trim().to_owned();
        let id = or_context(told.source_id, "source_id").trim().to_owned();
        if id.chars().any(|it| it.is_whitespace() || it.is_control()) {
            return Err("argument `source_id` must be one word".to_owned());
        }
        let tracker = if url.is_empty() {
            external::guess(&told.external_context)
        } else {
            Some(Source::parse(&url)?.tracker)
        };
        let external = tracker.map(|it| External::read(it, &told.external_context));
        let external = external.unwrap_or_default();
        Ok(Self { tracker, url, id, external, task: told.task_text, flags })
    }

    /// Returns the id of the issue as it was told, else as its URL has it.
    pub fn issue_id(&self) -> String {
        if self.id.is_empty() {
            return Source::parse(&self.url).map(|it| it.id).unwrap_or_default();
        }
        self.id.clone()
    }

    /// Returns how much work it looks like.
    pub fn effort(&self, enriched: &str) -> Effort {
        let text = self.all_text(enriched);
        Effort::detect(self.flags.effort(), self.external.points, &text)
    }

    /// Returns everything that is said of the work.
    pub fn all_text(&self, enriched: &str) -> String {
        [enriched, &self.external.title, &self.external.body, &self.task].join("\n")
    }

    /// Returns what is to be done in the words of the request: those that a person agreed to, else
    /// the task, else the issue.
    pub fn body(&self, enriched: &str) -> String {
        let candidates = [enriched.to_owned(), self.task.clone(), self.external.text()];
        candidates.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
    }

    /// Returns the task with a person's answers under it.
    pub fn discussed(&self, answers: &str) -> String {
        format!("{}\n\n{ANSWERS}\n\n{answers}", self.task)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn context(url: &str, external: &Value) -> Result<Context, String> {
        let told = Told {
            source_url: url.to_owned(),
            task_text: "task".to_owned(),
            external_context: external.as_object().unwrap().clone(),
            ..Told::default()
        };
        Context::new(told, Flags::default())
    }

    #[test]
    fn the_tracker_is_known_by_the_url_and_else_guessed() {
        let url = "https://x.atlassian.net/browse/A-1";
        let read =
            context(url, &json!({ "summary": "architecture", "jira_story_points": 5 })).unwrap();
        assert_eq!((read.tracker, read.effort("")), (Some(Tracker::Jira), Effort::M));
        assert_eq!((read.issue_id().as_str(), read.id.as_str()), ("A-1", ""));
        let read = context("", &json!({ "linear_title": "t", "source_id": "ENG-7" })).unwrap();
        assert_eq!((read.tracker, read.id.as_str()), (Some(Tracker::Linear), "ENG-7"));
        let read = context("", &json!({ "source_url": url })).unwrap();
        assert_eq!(read.tracker, Some(Tracker::Jira));
        assert_eq!(context("", &json!({ "title": "t" })).unwrap().external, External::default());
    }

    #[test]
    fn what_could_ride_along_into_files_and_commands_is_refused() {
        assert!(context("--repo=x", &json!({})).unwrap_err().contains("Unrecognised URL"));
        assert!(context("", &json!({ "source_id": "a\nb" })).unwrap_err().contains("`source_id`"));
    }

    #[test]
    fn the_words_of_the_request_are_those_that_were_agreed_to() {
        let read = context("", &json!({ "github_title": "t", "github_body": "b" })).unwrap();
        assert_eq!(read.body("enriched"), "enriched");
        assert_eq!(read.body(""), "task");
        assert_eq!(Context { task: String::new(), ..read.clone() }.body(""), "t\n\nb");
        assert_eq!(read.discussed("yes"), "task\n\n## Discussion Answers\n\nyes");
    }
}
