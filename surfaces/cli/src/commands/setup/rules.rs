//! `setup rules`: tells agents when to use workflows, and how, in the files that they read. What is
//! ours stands between two marks; only that is ever replaced.

use std::path::Path;

use clap::ValueEnum;
use serde_json::json;

use super::file;
use crate::{
    config::Config,
    failure::Failure,
    output::{ALERT, BAD, GOOD, Reply, text},
};

const RULES: &str = include_str!("rules.md");
const BEGIN: &str = "<!-- milepost:begin -->";
const END: &str = "<!-- milepost:end -->";

/// What `setup rules` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For whom to write them. Without a name: `AGENTS.md`, and the files of those that do not
    /// read it and are used here
    #[arg(value_name = "AGENT")]
    agents: Vec<Agent>,
    /// Write our part again where it is there already
    #[arg(short, long)]
    force: bool,
}

/// Whose file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Agent {
    /// `.cursor/rules/execute-tasks.mdc`
    Cursor,
    /// `.github/copilot-instructions.md`
    Copilot,
    /// `CLAUDE.md`
    Claude,
    /// `AGENTS.md`: Codex, OpenCode, Copilot, Zed, Qwen and others
    #[value(alias = "codex", alias = "opencode", alias = "zed")]
    Agents,
    /// `GEMINI.md`
    Gemini,
    /// All of them
    All,
}

/// A file that an agent reads.
struct Target {
    agent: &'static str,
    file: &'static str,
    /// What a new file begins with.
    head: &'static str,
    /// What in the project shows that `AGENTS.md` does not suffice.
    traces: &'static [&'static str],
}

const TARGETS: [Target; 5] = [
    Target {
        agent: "agents",
        file: "AGENTS.md",
        head: "# Instructions for agents\n\n",
        // The root of the project: it is always written.
        traces: &[""],
    },
    Target {
        agent: "cursor",
        file: ".cursor/rules/execute-tasks.mdc",
        head: "---\ndescription: When and how to use the workflows of Milepost\nalwaysApply: true\n---\n\n",
        traces: &[],
    },
    Target {
        agent: "copilot",
        file: ".github/copilot-instructions.md",
        head: "# Instructions for GitHub Copilot\n\n",
        traces: &[],
    },
    Target {
        agent: "claude",
        file: "CLAUDE.md",
        head: "# Instructions for Claude\n\n",
        // Where there is no `CLAUDE.md`, Claude Code reads `AGENTS.md`.
        traces: &["CLAUDE.md"],
    },
    Target {
        agent: "gemini",
        file: "GEMINI.md",
        head: "# Instructions for Gemini\n\n",
        traces: &["GEMINI.md", ".gemini"],
    },
];

/// What was done with a file, and its new text if it changes.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Created(String),
    Appended(String),
    Replaced(String),
    /// Our part is there; whether it is the text of this release.
    Skipped(bool),
    Failed(String),
}

/// Writes them.
pub(super) fn perform(args: &Args, config: &Config) -> Result<Reply, Failure> {
    let is_meant = |target: &&Target| {
        if args.agents.is_empty() {
            return target.is_needed(&config.places.root);
        }
        args.agents.iter().any(|it| it.name().is_none_or(|it| it == target.agent))
    };
    let mut rows = Vec::new();
    let mut said = String::new();
    let mut is_fine = true;
    for target in TARGETS.iter().filter(is_meant) {
        let path = config.places.root.join(target.file);
        let outcome = write(&path, target, args.force);
        let name = text::line(&config.places.short(&path));
        let (style, mark) = match &outcome {
            Outcome::Created(_) | Outcome::Appended(_) | Outcome::Replaced(_) => (GOOD, '✓'),
            Outcome::Skipped(_) => (ALERT, '!'),
            Outcome::Failed(_) => (BAD, '✗'),
        };
        let reason = outcome.reason();
        let why = reason.as_deref().map(|it| format!(": {}", text::line(it))).unwrap_or_default();
        let word = outcome.word();
        said.push_str(&format!("{style}{mark}{style:#} {name} {word}{why}\n"));
        is_fine &= !matches!(outcome, Outcome::Failed(_));
        rows.push(json!({
            "agent": target.agent,
            "file": path.display().to_string(),
            "outcome": word,
            "reason": reason,
        }));
    }
    Ok(Reply { is_fine, ..Reply::new(json!({"is_fine": is_fine, "files": rows}), said) })
}

impl Agent {
    /// Returns the name of the target; nothing for all of them.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Agents => Some("agents"),
            Self::Cursor => Some("cursor"),
            Self::Copilot => Some("copilot"),
            Self::Claude => Some("claude"),
            Self::Gemini => Some("gemini"),
            Self::All => None,
        }
    }
}

impl Target {
    /// Returns whether the file is written when no agent is named: most agents read `AGENTS.md`, and
    /// would read the same text twice.
    fn is_needed(&self, root: &Path) -> bool {
        let has_ours = || {
            let text = file::read(&root.join(self.file)).ok().flatten();
            text.is_some_and(|it| it.contains(BEGIN))
        };
        self.traces.iter().any(|it| root.join(it).exists()) || has_ours()
    }
}

fn write(path: &Path, target: &Target, is_forced: bool) -> Outcome {
    let before = match file::read(path) {
        Ok(before) => before,
        Err(failure) => return Outcome::Failed(failure.message),
    };
    let outcome = merged(before.as_deref(), target, is_forced);
    let written = match &outcome {
        Outcome::Created(text) | Outcome::Appended(text) | Outcome::Replaced(text) => {
            file::write(path, text)
        }
        Outcome::Skipped(_) | Outcome::Failed(_) => Ok(()),
    };
    written.map_or_else(|failure| Outcome::Failed(failure.message), |()| outcome)
}

/// Returns what to do with a file whose text is `before`.
fn merged(before: Option<&str>, target: &Target, is_forced: bool) -> Outcome {
    let block = format!("{BEGIN}\n{}\n{END}", RULES.trim_end());
    let Some(before) = before.filter(|it| !it.trim().is_empty()) else {
        return Outcome::Created(format!("{}{block}\n", target.head));
    };
    let line_end = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let block = block.replace('\n', line_end);
    let begins: Vec<usize> = before.match_indices(BEGIN).map(|it| it.0).collect();
    let ends: Vec<usize> = before.match_indices(END).map(|it| it.0 + END.len()).collect();
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => {
            let gap = match before {
                _ if before.ends_with("\n\n") || before.ends_with("\r\n\r\n") => String::new(),
                _ if before.ends_with('\n') => line_end.to_owned(),
                _ => line_end.repeat(2),
            };
            Outcome::Appended(format!("{before}{gap}{block}{line_end}"))
        }
        ([begin], [end]) if begin < end => {
            let ours = before.get(*begin..*end).unwrap_or_default();
            if !is_forced || ours == block {
                return Outcome::Skipped(ours == block);
            }
            let head = before.get(..*begin).unwrap_or_default();
            let tail = before.get(*end..).unwrap_or_default();
            Outcome::Replaced(format!("{head}{block}{tail}"))
        }
        _ => Outcome::Failed(format!("the marks `{BEGIN}` and `{END}` are not one pair")),
    }
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Self::Created(_) => "created",
            Self::Appended(_) => "appended",
            Self::Replaced(_) => "replaced",
            Self::Skipped(_) => "skipped",
            Self::Failed(_) => "failed",
        }
    }

    fn reason(&self) -> Option<String> {
        match self {
            Self::Created(_) | Self::Appended(_) | Self::Replaced(_) => None,
            Self::Skipped(true) => Some("our rules are there already, as of this release".into()),
            Self::Skipped(false) => {
                Some("our rules are there already, in other words; `--force` replaces them".into())
            }
            Self::Failed(reason) => Some(reason.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> String {
        format!("{BEGIN}\n{}\n{END}", RULES.trim_end())
    }

    fn check(before: &str, is_forced: bool, expected: &Outcome) {
        assert_eq!(&merged(Some(before), &TARGETS[3], is_forced), expected, "{before:?}");
    }

    #[test]
    fn our_part_is_appended_once_and_only_it_is_replaced() {
        let block = block();
        check("", false, &Outcome::Created(format!("# Instructions for Claude\n\n{block}\n")));
        check("Mine.", false, &Outcome::Appended(format!("Mine.\n\n{block}\n")));
        check("Mine.\n", true, &Outcome::Appended(format!("Mine.\n\n{block}\n")));
        check("Mine.\n\n", false, &Outcome::Appended(format!("Mine.\n\n{block}\n")));
        let windows = block.replace('\n', "\r\n");
        check("Mine.\r\n", false, &Outcome::Appended(format!("Mine.\r\n\r\n{windows}\r\n")));
        check(&format!("a\n{block}\nb"), false, &Outcome::Skipped(true));
        check(&format!("a\n{block}\nb"), true, &Outcome::Skipped(true));
        let old = format!("a {BEGIN}\nold\n{END} b\n");
        check(&old, false, &Outcome::Skipped(false));
        check(&old, true, &Outcome::Replaced(format!("a {block} b\n")));
    }

    #[test]
    fn marks_that_do_not_pair_are_left_to_people() {
        for before in [
            BEGIN.to_owned(),
            END.to_owned(),
            format!("{END}{BEGIN}"),
            format!("{BEGIN}{END}{BEGIN}{END}"),
        ] {
            let outcome = merged(Some(&before), &TARGETS[0], true);
            assert!(matches!(outcome, Outcome::Failed(_)), "{before}");
        }
    }
}
