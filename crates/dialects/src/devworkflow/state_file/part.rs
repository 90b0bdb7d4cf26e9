//! The sections that a state file is made of.

use super::super::markdown;

/// A section that means something. All others are kept as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    State,
    Plan,
    Rules,
    Items,
    Log,
    ArchiveLog,
}

/// All of them, in the order in which a file has them.
pub(super) const PARTS: [Part; 6] =
    [Part::State, Part::Plan, Part::Rules, Part::Items, Part::Log, Part::ArchiveLog];

impl Part {
    /// Returns its name, as the heading has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::State => "State",
            Self::Plan => "Plan",
            Self::Rules => "Rules",
            Self::Items => "Items",
            Self::Log => "Log",
            Self::ArchiveLog => "ArchiveLog",
        }
    }

    /// Returns the section that a heading line opens, if it is one of these.
    pub(super) fn of(heading: &str) -> Option<Self> {
        let title = title(heading);
        PARTS.into_iter().find(|it| is_named(title, it.name()))
    }

    /// Returns what stands in the section while there is nothing in it.
    pub(super) fn empty(self) -> &'static str {
        match self {
            Self::State => "Phase: INIT  \nStatus: READY  \nCurrentItem: null  ",
            Self::Plan => "<!-- The plan of the current item goes here in BLUEPRINT -->",
            Self::Rules => "<!-- No rules yet -->",
            Self::Items => "| id | description | status |\n|----|-------------|--------|",
            Self::Log => "<!-- No log entries yet -->",
            Self::ArchiveLog => "<!-- RULE_LOG_ROTATE_01 leaves its summaries here -->",
        }
    }
}

/// Returns what a heading line says.
pub(super) fn title(heading: &str) -> &str {
    markdown::trim(heading.trim_start_matches('#').trim_end_matches('\n'))
}

/// Whether a title is the name, which a remark in brackets may follow.
pub(in super::super) fn is_named(title: &str, name: &str) -> bool {
    let Some((start, rest)) = title.split_at_checked(name.len()) else { return false };
    let rest = rest.trim_start_matches(':').trim_end_matches('#').trim();
    start.eq_ignore_ascii_case(name) && (rest.is_empty() || rest.starts_with(['(', '[']))
}
