//! What is kept of each past run to find it again and to count it, so that its folder is read once.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    prices::Usage,
    request::{Request, stand_in},
    state::SpecState,
};

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Completed,
    Abandoned,
    Failed,
    InProgress,
    /// Nothing says.
    #[default]
    Unknown,
}

impl Outcome {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Abandoned => "abandoned",
            Self::Failed => "failed",
            Self::InProgress => "in_progress",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the run is part of the history.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Abandoned)
    }
}

/// A past run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    pub spec_name: String,
    pub one_liner: String,
    pub effort: String,
    pub flow_template: String,
    pub tags: Tags,
    pub outcome: Outcome,
    pub tokens_total: u64,
    pub duration_ms: u64,
    pub created_at: String,
    /// The name of its folder. Two runs may have the same name, but not the same folder.
    pub directory: String,
    pub retries: u64,
    /// How often its design or its plan had to be revised.
    pub revisions: u64,
    /// Tokens by model, of those whose kind is not known.
    pub tokens_by_model: BTreeMap<String, u64>,
    /// Input and output tokens by model, of those whose kind is known.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub split_by_model: BTreeMap<String, (u64, u64)>,
    /// The size and the time of `state.json` when it was read.
    pub state_size: u64,
    pub state_modified: i64,
}

impl Record {
    /// Makes the record of a run from its state and its request. Where there is no request, as on a
    /// clone, which has only what was committed, its name and its summary stand in.
    pub fn new(directory: &str, state: &SpecState, request: &str, summary: &str) -> Self {
        let name = Some(state.spec_name.as_str()).filter(|it| !it.is_empty());
        let name = name.unwrap_or(directory);
        let stand_in = stand_in(name, summary);
        let is_asked = !request.trim().is_empty();
        let request = Request::parse(if is_asked { request } else { &stand_in });
        let mut record = Self {
            spec_name: name.to_owned(),
            one_liner: request.one_liner().to_owned(),
            effort: state.effort.clone(),
            flow_template: state.flow_template.clone(),
            tags: Tags(request.tags().join(" ")),
            outcome: state.outcome(),
            tokens_total: state.tokens(),
            duration_ms: state.duration_ms(),
            created_at: state.created.clone(),
            directory: directory.to_owned(),
            retries: state.retries,
            revisions: state.design_revisions + state.task_revisions,
            ..Self::default()
        };
        state.usages().filter(|it| 0 < it.tokens).for_each(|it| record.add(it));
        record
    }

    fn add(&mut self, usage: &Usage) {
        let model = usage.model.clone();
        match usage.split {
            Some((input, output)) => {
                let sums = self.split_by_model.entry(model).or_default();
                *sums = (sums.0.saturating_add(input), sums.1.saturating_add(output));
            }
            None => {
                let sum = self.tokens_by_model.entry(model).or_default();
                *sum = sum.saturating_add(usage.tokens);
            }
        }
    }

    /// Returns what it took of each model.
    pub fn usages(&self) -> Vec<Usage> {
        let plain = self.tokens_by_model.iter().map(|(model, tokens)| Usage {
            model: model.clone(),
            tokens: *tokens,
            split: None,
        });
        let split = self.split_by_model.iter().map(|(model, (input, output))| Usage {
            model: model.clone(),
            tokens: input + output,
            split: Some((*input, *output)),
        });
        plain.chain(split).collect()
    }

    /// Whether nothing is known that it could be found by.
    pub fn is_nameless(&self) -> bool {
        self.one_liner.is_empty() && self.tags.0.is_empty()
    }

    /// Returns what it is searched by.
    pub fn searched(&self) -> String {
        format!("{} {}", self.one_liner, self.tags.0)
    }
}

/// Words that a run is found by. There are many for each of many runs, so they are kept as one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(String);

impl Serialize for Tags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.split_whitespace())
    }
}

impl<'de> Deserialize<'de> for Tags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words: Option<Vec<String>> = Deserialize::deserialize(deserializer)?;
        Ok(Self(words.unwrap_or_default().join(" ")))
    }
}

/// `history-index.json`: the runs that are over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HistoryIndex {
    pub indexed_at: String,
    pub entries: Vec<Record>,
}

impl HistoryIndex {
    /// Reads the index. One that cannot be read is as good as none: it can be made again.
    pub fn parse(text: &str) -> Self {
        let mut index: Self = serde_json::from_str(text).unwrap_or_default();
        // Entries of other programs do not say which folder they are of.
        index.entries.retain(|it| !it.directory.is_empty());
        index
    }
}

#[cfg(test)]
mod tests {
    use super::{HistoryIndex, Outcome, Record};
    use crate::past::{LogEntry, Prices, SpecState, Usage};

    fn state() -> SpecState {
        let usage = |model: &str, tokens, split| Usage { model: model.to_owned(), tokens, split };
        let entry = |duration_ms, usage| LogEntry { duration_ms, usage, ..LogEntry::default() };
        SpecState {
            spec_name: "run0".to_owned(),
            step: "completed".to_owned(),
            effort: "M".to_owned(),
            design_revisions: 1,
            task_revisions: 1,
            log: vec![
                entry(7, usage("sonnet", 5, None)),
                entry(0, usage("skipped", 0, None)),
                entry(0, usage("opus", 4, Some((3, 1)))),
            ],
            ..SpecState::default()
        }
    }

    #[test]
    fn a_record_says_what_state_and_request_say() {
        let state = state();
        let record = Record::new("20260101-run0", &state, "# Fix login\n", "# Summary\n");
        assert_eq!((record.spec_name.as_str(), record.outcome), ("run0", Outcome::Completed));
        assert_eq!((record.tokens_total, record.duration_ms, record.revisions), (9, 7, 2));
        assert_eq!(record.searched(), "Fix login login");
        let prices = Prices::default();
        let (kept, said) = (prices.total(&record.usages()), prices.total(state.usages()));
        assert!((kept - said).abs() < 1e-9, "{kept} is not {said}");
    }

    #[test]
    fn without_a_request_name_and_summary_stand_in() {
        let state = state();
        let summary = "# Summary\n\nPeople can log in with a passkey.\n\n## Tests\n- all pass\n";
        let record = Record::new("20260101-run0", &state, "", summary);
        assert_eq!(record.one_liner, "People can log in with a passkey.");
        assert!(record.searched().contains("passkey"), "{}", record.searched());
        assert!(record.searched().contains("run0"), "{}", record.searched());
        let state = SpecState { spec_name: "fix-login_page".to_owned(), ..state };
        let record = Record::new("d", &state, " \n", "");
        assert_eq!(record.one_liner, "fix login page");
        assert!(!record.is_nameless());
    }

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let record = Record::new("d", &state(), "", "");
        let index = HistoryIndex { indexed_at: "now".to_owned(), entries: vec![record] };
        let text = serde_json::to_string(&index).unwrap();
        assert!(text.contains(r#""tokensTotal":9,"durationMs":7"#), "{text}");
        assert_eq!(HistoryIndex::parse(&text), index);
        assert_eq!(HistoryIndex::parse("{"), HistoryIndex::default());
        let others = r#"{"indexedAt":"x","entries":[{"specName":"a","tags":[]}]}"#;
        assert_eq!(HistoryIndex::parse(others).entries, []);
    }
}
