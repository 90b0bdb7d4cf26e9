//! The dialect's documents for those who have no agent: the commands that import, move and show
//! them.

use super::{config_file, options::Options, state_file::StateFile, state_json, words::is_pending};

pub use super::words::{CONFIG_FILE, STATE_FILE, STATE_JSON, config_paths, state_paths};

/// What a state file says, at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    pub phase: String,
    pub status: String,
    pub current_item: Option<String>,
    pub items: Vec<GlanceItem>,
}

/// A row of the items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlanceItem {
    pub id: u64,
    pub description: String,
    pub status: String,
}

impl Glance {
    /// Looks at a state file.
    pub fn of(text: &str) -> Self {
        let file = StateFile::parse(text);
        let items = file.items().into_iter().map(|it| GlanceItem {
            id: it.id,
            description: it.description,
            status: it.status,
        });
        Self {
            phase: file.phase().to_owned(),
            status: file.status().to_owned(),
            current_item: file.current_item(),
            items: items.collect(),
        }
    }

    /// Returns how many items are still to be done.
    pub fn pending(&self) -> usize {
        self.items.iter().filter(|it| is_pending(&it.status)).count()
    }
}

/// Returns where a new state file belongs: in the dialect's folder if there is one, else in the
/// project's root.
pub fn new_state_path(options: &Options, has_folder: bool) -> String {
    new_path(state_paths(options), has_folder)
}

/// Returns where a new file with the project's commands belongs.
pub fn new_config_path(options: &Options, has_folder: bool) -> String {
    new_path(config_paths(options), has_folder)
}

fn new_path(paths: Vec<String>, has_folder: bool) -> String {
    let mut paths = paths.into_iter();
    let path = if has_folder { paths.next() } else { paths.next_back() };
    path.unwrap_or_default()
}

/// Returns what is wrong with a state file; nothing, if all is well.
pub fn state_issues(text: &str) -> Vec<String> {
    StateFile::parse(text).issues()
}

/// Returns what is wrong with a file of the project's commands.
pub fn config_issues(text: &str) -> Vec<String> {
    config_file::issues(text)
}

/// Makes the Markdown form of a state from its JSON form, or says what is wrong with that.
pub fn state_from_json(text: &str) -> Result<String, String> {
    state_json::from_json(text).map(|(file, _)| file.text().to_owned())
}

/// Makes the JSON form of a state from its Markdown form.
pub fn state_to_json(text: &str) -> String {
    state_json::to_json(&StateFile::parse(text), &state_json::Metadata::default())
}
