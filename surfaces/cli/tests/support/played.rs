//! What the scenario of a built-in workflow begins a run with, and the files that its agent writes.

use std::{fs, path::Path};

use serde_json::{Map, Value};

/// A workflow that is played well.
pub(crate) struct Played {
    pub(crate) key: Option<String>,
    pub(crate) flow: Option<String>,
    pub(crate) context: Map<String, Value>,
    /// What reports add to it.
    pub(crate) updates: Map<String, Value>,
    /// Paths and texts, as they are at the end.
    files: Vec<(String, String)>,
}

impl Played {
    /// Reads the scenario of the workflow called `name`.
    pub(crate) fn read(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows").join(name);
        let scenario = fs::read_to_string(folder.join("scenario.txt")).unwrap();
        // What follows `again` is another run.
        let lines: Vec<&str> = scenario.lines().take_while(|it| *it != "again").collect();
        // A start that is refused is one of the things that the scenario shows.
        let pairs = lines.windows(2).filter(|it| !it[1].trim_start().starts_with("refused "));
        let start = pairs.filter_map(|it| it[0].strip_prefix("> start")).next().unwrap_or_default();
        let word = |name| start.split_whitespace().find_map(|it| it.strip_prefix(name));
        let reports =
            lines.iter().filter(|it| it.starts_with("> report ") && it.contains(" success"));
        let updates =
            reports.filter_map(|it| it.split_once(" context=")).flat_map(|it| object(it.1));
        let context = start.split_once("context=").map(|it| object(it.1));
        let files = lines.iter().filter_map(|it| written(it.strip_prefix("write ")?));
        Self {
            key: word("key=").map(str::to_owned),
            flow: word("flow=").map(str::to_owned),
            context: context.unwrap_or_default(),
            updates: updates.collect(),
            files: files.collect(),
        }
    }

    /// Returns the files of a run that has `id` for a key.
    pub(crate) fn files(&self, id: &str) -> Vec<(String, String)> {
        let own = self.key.as_deref().unwrap_or("no key");
        let place = |path: &str| {
            let path = path.replace(&format!("work/{own}/"), &format!("work/{id}/"));
            path.replace(&format!("docs/{own}.md"), &format!("docs/{id}.md"))
        };
        self.files.iter().map(|(path, text)| (place(path), text.clone())).collect()
    }
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

/// Reads `PATH "TEXT"`, `PATH "TEXT" pad=WORDS` or `PATH {JSON}`.
fn written(line: &str) -> Option<(String, String)> {
    let (path, rest) = line.split_once(' ')?;
    let Some(quoted) = rest.strip_prefix('"') else {
        return Some((path.to_owned(), rest.to_owned()));
    };
    let (text, pad) = quoted.rsplit_once('"')?;
    let words = pad.trim().strip_prefix("pad=").map_or(0, |it| it.parse().unwrap());
    let text = text.replace("\\n", "\n") + "\n\n" + &"word ".repeat(words);
    Some((path.to_owned(), text))
}
