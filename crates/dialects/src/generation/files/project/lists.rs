//! What a file lists, each entry in the order in which it happened.

use definition::StepName;
use engine::{Asked, Closing, Ending, Entry, Mark, Noted};
use serde_json::{Map, Value};

use super::{Base, find};
use crate::{
    generation::document::Document,
    kit::json::{Json, Object},
};

/// The fields of an entry of `errors` that a caller does not write.
const ERROR_FIELDS: [&str; 4] = ["step", "step_name", "timestamp", "message"];

/// Something that went wrong since the text.
pub(super) struct Wrong<'a> {
    pub(super) mark: Mark,
    pub(super) step: &'a StepName,
    pub(super) message: &'a str,
    severity: Option<&'a str>,
    details: Option<&'a Map<String, Value>>,
    /// When it was, as far as that was said.
    timestamp: Option<&'a str>,
}

impl<'a> Base<'a> {
    /// Returns what went wrong since the text: errors that were recorded, and failures.
    pub(super) fn errors(&self) -> Vec<Wrong<'a>> {
        let noted = self.entries().filter_map(|it| match &it.entry {
            Entry::Error { message, severity, details } => Some(Wrong {
                mark: Mark { seq: it.seq, at: it.at },
                step: &it.step,
                message,
                severity: severity.as_deref(),
                details: Some(details),
                timestamp: details.get("timestamp").and_then(Value::as_str),
            }),
            Entry::Question { .. }
            | Entry::Metric { .. }
            | Entry::Usage { .. }
            | Entry::Note { .. } => None,
        });
        let failures = self.history.failures.iter().filter(|it| self.is_new(it.mark));
        let failures = failures.map(|it| Wrong {
            mark: it.mark,
            step: &it.step,
            message: &it.reason,
            severity: None,
            details: it.details.as_object().filter(|it| !it.is_empty()),
            timestamp: None,
        });
        let mut errors: Vec<Wrong<'a>> = noted.chain(failures).collect();
        errors.sort_by_key(|it| it.mark.seq);
        errors
    }

    fn entries(&self) -> impl Iterator<Item = &'a Noted> {
        let seq = self.seq;
        self.state.entries.iter().filter(move |it| seq < it.seq)
    }

    pub(super) fn add_errors(&self, document: &mut Document) {
        for wrong in self.errors() {
            let Some(step) = find(wrong.step) else { continue };
            let mut entry = Object::new();
            entry.set("step", step.number);
            entry.set("step_name", step.key);
            let at = wrong.mark.at.to_string();
            entry.set("timestamp", wrong.timestamp.unwrap_or(&at));
            entry.set("message", wrong.message);
            let mut more = wrong.details.cloned().unwrap_or_default();
            if let Some(severity) = wrong.severity {
                more.insert("severity".to_owned(), severity.into());
            }
            merge(&mut entry, Some(&more), &ERROR_FIELDS);
            document.push(&["errors"], entry);
        }
    }

    pub(super) fn add_questions(&self, document: &mut Document) {
        for noted in self.entries() {
            let Entry::Question { question, answer, answered_at } = &noted.entry else { continue };
            let timestamp = answered_at.clone().unwrap_or_else(|| noted.at.to_string());
            let mut entry = Object::new();
            entry.set("question", question.as_str());
            entry.set("answer", answer.as_str());
            entry.set("timestamp", timestamp);
            document.push(&["user_questions"], entry);
        }
    }

    /// Lists what was asked of the author, and what came of it.
    pub(super) fn add_interactions(&self, document: &mut Document) {
        let mut said: Vec<(u64, Object)> = Vec::new();
        for asked in &self.history.asked {
            let closed = asked.closed.as_ref();
            // Who was asked and answered at once was not asked at all.
            let is_answer = |how: &Closing| matches!(how, Closing::Answered { .. });
            if closed.is_some_and(|it| it.mark.at == asked.opened.at && is_answer(&it.how)) {
                continue;
            }
            if self.is_new(asked.opened) && !(said.is_empty() && self.asks_as_placed()) {
                let words = ("APPROVAL_REQUESTED", asked.ask.as_str(), None);
                said.push((asked.opened.seq, interaction(asked, words, asked.opened)));
            }
            let Some(closed) = closed.filter(|it| self.is_new(it.mark)) else { continue };
            let words = match &closed.how {
                Closing::Answered { answer, by, feedback, .. } => {
                    (action(answer), feedback.as_str(), Some(by.as_str()))
                }
                Closing::Withdrawn | Closing::Reopened => ("APPROVAL_WITHDRAWN", "", None),
                Closing::Ended => ("REJECTED", self.reason_of_end(closed.mark), None),
            };
            said.push((closed.mark.seq, interaction(asked, words, closed.mark)));
        }
        said.sort_by_key(|it| it.0);
        for (_, entry) in said {
            document.push(&["user_interactions"], entry);
        }
    }

    fn reason_of_end(&self, mark: Mark) -> &'a str {
        let ended = self.history.ends.iter().find(|it| it.mark == mark);
        ended.map_or("", |it| match &it.how {
            Ending::Failed { reason } | Ending::Cancelled { reason } => reason,
            Ending::Completed { .. } => "",
        })
    }

    /// Lists how the run was resumed, and from what.
    pub(super) fn add_resumes(&self, document: &mut Document) {
        let mut since = self.seq;
        for (place, reopening) in self.reopenings().enumerate() {
            let step = reopening.step.as_ref().and_then(find);
            let mut entry = Object::new();
            entry.set("resumed_at", reopening.mark.at.to_string());
            entry.set("from_step", step.map(|it| it.number));
            let before = self.word_before(reopening.mark, reopening.from);
            entry.set("previous_status", before);
            entry.set("reason", self.reason_before(reopening.mark, since, place == 0));
            entry.set("forced", reopening.forced);
            document.push(&["resume_history"], entry);
            since = reopening.mark.seq;
        }
    }

    /// Returns why the run had stopped before it was resumed: what it failed of, else the last
    /// error, else why it was cancelled.
    pub(super) fn reason_before(&self, mark: Mark, since: u64, is_first: bool) -> String {
        let ends = self.ends().filter(|it| since < it.mark.seq && it.mark < mark);
        let mut failure = self.document.find_text("failure_reason").filter(|_| is_first);
        let mut cancellation = self.document.find_text("cancellation_reason").filter(|_| is_first);
        for ended in ends {
            match &ended.how {
                Ending::Failed { reason } => failure = Some(reason),
                Ending::Cancelled { reason } => cancellation = Some(reason),
                Ending::Completed { .. } => {}
            }
        }
        let errors = self.errors();
        let error = errors.iter().rfind(|it| it.mark < mark && !it.message.is_empty());
        let error = error.map(|it| it.message);
        let listed = self.document.errors().rev().flatten().next();
        let failure = failure.filter(|it| !it.is_empty()).or(error).or(listed);
        let said = failure.or_else(|| cancellation.filter(|it| !it.is_empty()));
        said.unwrap_or("Unknown").to_owned()
    }

    /// Keeps the paths of the context, and whatever the steps left, among the artifacts.
    pub(super) fn set_artifacts(&self, document: &mut Document) {
        let mut left: Vec<(u64, &str, &Value)> = Vec::new();
        for touched in self.history.context.iter().filter(|it| self.is_new(it.mark)) {
            for (key, _) in touched.keys.iter().filter(|it| it.0.ends_with("_path")) {
                let path = self.state.context.get(key).filter(|it| it.is_string());
                left.extend(path.map(|it| (touched.mark.seq, key.as_str(), it)));
            }
        }
        for done in self.completions() {
            let artifacts = done.details.get("artifacts").and_then(Value::as_object);
            let artifacts = artifacts.into_iter().flatten();
            left.extend(artifacts.map(|(key, path)| (done.mark.seq, key.as_str(), path)));
        }
        left.sort_by_key(|it| it.0);
        for (_, key, path) in left {
            document.set(&["artifacts", key], path);
        }
        for (key, path) in self.figures().filter(|it| it.0.ends_with("_path")) {
            document.set(&["artifacts", key], path);
        }
    }

    /// Returns the changes of the context since the text that changed a path.
    pub(super) fn path_changes(&self) -> Vec<Mark> {
        let mut seen: Vec<&str> = Vec::new();
        let mut marks = Vec::new();
        for touched in self.history.context.iter().filter(|it| self.is_new(it.mark)) {
            let mut has_news = false;
            for (key, changed) in touched.keys.iter().filter(|it| it.0.ends_with("_path")) {
                let said = self.document.find_in("artifacts", key).and_then(Json::as_text);
                let path = self.state.context.get(key).and_then(Value::as_str);
                let is_first = !seen.contains(&key.as_str());
                has_news |= path.is_some() && (*changed || is_first && said != path);
                seen.push(key);
            }
            if has_news {
                marks.push(touched.mark);
            }
        }
        marks
    }
}

fn interaction(asked: &Asked, words: (&str, &str, Option<&str>), mark: Mark) -> Object {
    let (action, message, by) = words;
    let mut entry = Object::new();
    entry.set("step", find(&asked.step).map(|it| it.number));
    entry.set("timestamp", mark.at.to_string());
    entry.set("action", action);
    entry.set("message", message);
    if let Some(by) = by {
        entry.set("by", by);
    }
    entry
}

/// Adds what a caller said to what the log says, which nobody else may write.
pub(super) fn merge(object: &mut Object, more: Option<&Map<String, Value>>, kept: &[&str]) {
    let said = more.into_iter().flatten();
    let is_free =
        |(key, value): &(&String, &Value)| !value.is_null() && !kept.contains(&key.as_str());
    for (key, value) in said.filter(is_free) {
        object.set(key, value);
    }
}

/// Returns the word for what a person answered.
fn action(answer: &str) -> &str {
    match answer {
        "approve" => "APPROVED",
        "changes" => "CHANGES_REQUESTED",
        "stop" => "REJECTED",
        other => other,
    }
}
