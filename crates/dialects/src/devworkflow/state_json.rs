//! The JSON form of a state file, `workflow_state.json`, as older versions wrote it.
//!
//! It knows no rules and no sections of one's own. Where a file has them, two more keys carry
//! them, so that either form can be made from the other.

use serde::{Deserialize, Serialize};

use super::{
    state_file::{Row, StateFile},
    words::PHASES,
};

/// Who made a file, and when. The Markdown form has no place for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub client_id: Option<String>,
    pub created_at: Option<String>,
    /// The date of the file is the first part of this.
    pub last_updated: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Form {
    metadata: Metadata,
    state: State,
    plan: Option<String>,
    items: Option<Vec<Item>>,
    log: Option<Entries>,
    archive_log: Option<Entries>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sections: Option<Vec<Own>>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct State {
    phase: Option<String>,
    status: Option<String>,
    current_item: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Item {
    id: u64,
    #[serde(default)]
    description: String,
    #[serde(default)]
    status: String,
}

/// A section that means nothing here.
#[derive(Serialize, Deserialize)]
struct Own {
    heading: String,
    #[serde(default)]
    text: String,
}

/// The entries of a log. One text is read as one entry.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Entries {
    Many(Vec<String>),
    One(String),
}

/// Writes a state file in its JSON form.
pub(super) fn to_json(file: &StateFile, metadata: &Metadata) -> String {
    let text = |it: String| Some(it).filter(|it| !it.is_empty());
    let items = file.items().into_iter();
    let items = items.map(|Row { id, description, status }| Item { id, description, status });
    let own = file.own_sections().into_iter().map(|(heading, text)| Own { heading, text });
    let own: Vec<Own> = own.collect();
    let is_usual = file.rules() == StateFile::blank().rules();
    let mut metadata = metadata.clone();
    metadata.last_updated = last_updated(file, metadata.last_updated);
    let form = Form {
        metadata,
        state: State {
            phase: Some(file.phase().to_owned()),
            status: Some(file.status().to_owned()),
            current_item: file.current_item(),
        },
        plan: text(file.plan()),
        items: Some(items.collect()),
        log: entries(&file.log()),
        archive_log: entries(&file.archive_log()),
        rules: Some(file.rules()).filter(|_| !is_usual),
        sections: Some(own).filter(|it| !it.is_empty()),
    };
    serde_json::to_string_pretty(&form).expect("its keys are text and its numbers whole")
}

/// Reads the JSON form, or says what is wrong with it.
pub(super) fn from_json(text: &str) -> Result<(StateFile, Metadata), String> {
    let text = text.trim_start_matches('\u{feff}');
    // The reader would take a list for the fields of an object, in their order.
    if !text.trim_start().starts_with('{') {
        return Err("expected an object at the top".to_owned());
    }
    let form: Form = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut file = StateFile::blank();
    if let Some(rules) = &form.rules {
        file.set_rules(rules);
    }
    for own in form.sections.unwrap_or_default() {
        file.add_own_section(&own.heading, &own.text);
    }
    file.set_phase(form.state.phase.as_deref().unwrap_or(PHASES[0]));
    file.set_status(form.state.status.as_deref().unwrap_or("READY"));
    file.set_current_item(form.state.current_item.as_deref());
    file.set_plan(&form.plan.unwrap_or_default());
    let items = form.items.unwrap_or_default().into_iter();
    let rows = items.map(|Item { id, description, status }| Row { id, description, status });
    file.set_items(&rows.collect::<Vec<Row>>());
    file.set_log(&form.log.map(Entries::joined).unwrap_or_default());
    file.set_archive_log(&form.archive_log.map(Entries::joined).unwrap_or_default());
    if let Some(date) = form.metadata.last_updated.as_deref().and_then(|it| it.get(..10)) {
        file.set_date(date);
    }
    Ok((file, form.metadata))
}

impl Entries {
    fn joined(self) -> String {
        match self {
            Self::Many(entries) => entries.join("\n"),
            Self::One(text) => text,
        }
    }
}

/// Returns the entries of a log. An entry begins with its time, or with the mark of a rotation;
/// put together again they are the log.
fn entries(log: &str) -> Option<Entries> {
    let mut entries: Vec<String> = Vec::new();
    for line in log.split('\n') {
        match entries.last_mut().filter(|_| !is_start(line)) {
            Some(last) => {
                last.push('\n');
                last.push_str(line);
            }
            None => entries.push(line.to_owned()),
        }
    }
    (!log.is_empty()).then_some(Entries::Many(entries))
}

fn is_start(line: &str) -> bool {
    let stamp = line.strip_prefix('[').and_then(|it| it.split_once(']'));
    let is_time = |it: &str| {
        it.starts_with(|it: char| it.is_ascii_digit())
            && it.contains(':')
            && it.chars().all(|it| it.is_ascii_digit() || "-+:.TZ ".contains(it))
    };
    line.starts_with("--- ") || stamp.is_some_and(|(stamp, _)| is_time(stamp))
}

/// Returns when the file was changed: to the second if that is known, else its date.
fn last_updated(file: &StateFile, known: Option<String>) -> Option<String> {
    let date = file.date().filter(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    let Some(date) = date else { return known };
    known.filter(|it| it.starts_with(date)).or_else(|| Some(date.to_owned()))
}

#[cfg(test)]
mod tests;
