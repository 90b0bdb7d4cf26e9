//! What is wrong with a state file, in words for the one who fixes it.

use std::collections::HashSet;

use super::{
    super::words::{PHASES, STATUSES},
    StateFile, escape, fields,
    part::{PARTS, Part},
    table,
};

impl StateFile {
    /// Returns what is wrong with the file; nothing, if all is well.
    pub(in super::super) fn issues(&self) -> Vec<String> {
        let mut issues = self.missing_sections();
        issues.extend(self.state_issues());
        issues.extend(self.item_issues());
        issues.extend(self.duplicate_sections());
        issues
    }

    fn missing_sections(&self) -> Vec<String> {
        let missing = PARTS.into_iter().filter(|it| self.section(*it).is_none());
        missing.map(|it| format!("Missing required section: ## {}", it.name())).collect()
    }

    fn state_issues(&self) -> Vec<String> {
        if self.section(Part::State).is_none() {
            return Vec::new();
        }
        if self.content(Part::State).is_empty() {
            return vec!["Could not parse State section".to_owned()];
        }
        let missing = fields::FIELDS.iter().filter(|it| self.field(it).is_none());
        let mut issues: Vec<String> =
            missing.map(|it| format!("Missing field in State section: {it}:")).collect();
        issues.extend(unknown("phase", self.phase(), &PHASES));
        issues.extend(unknown("status", self.status(), &STATUSES));
        issues
    }

    fn item_issues(&self) -> Vec<String> {
        let mut issues = Vec::new();
        if self.section(Part::Items).is_some() && !table::has_header(self.body(Part::Items)) {
            issues.push("Items section missing proper table header".to_owned());
        }
        let items = self.items();
        let (mut seen, mut told) = (HashSet::new(), HashSet::new());
        for row in &items {
            if !seen.insert(row.id) && told.insert(row.id) {
                issues.push(format!("Duplicate item id: {}", row.id));
            }
        }
        let current = self.current_item();
        let astray = current.filter(|it| items.iter().all(|row| row.description != *it));
        issues.extend(astray.map(|it| {
            let shown = escape::write_line(&it, escape::Pipes::Plain);
            format!("CurrentItem is not among the items: `{shown}`")
        }));
        issues
    }

    fn duplicate_sections(&self) -> Vec<String> {
        let others = self.sections.iter().filter(|it| it.part.is_none());
        let again = others.filter_map(|it| Part::of(self.text.get(it.heading.clone())?));
        let mut again: Vec<Part> = again.collect();
        again.sort_unstable();
        again.dedup();
        again.iter().map(|it| format!("Duplicate section: ## {}", it.name())).collect()
    }
}

fn unknown(what: &str, word: &str, words: &[&str]) -> Option<String> {
    let listed = || format!("Unknown {what}: `{word}` (one of: {})", words.join(", "));
    (!words.contains(&word)).then(listed)
}
