//! What an agent reads in a brief. What is not in it, the agent does not know.

use regex::Regex;

/// A brief, as far as the next call needs it.
#[derive(Debug)]
pub(crate) struct Brief {
    pub(crate) run: String,
    pub(crate) now: Now,
    /// The steps that it tells of as done.
    pub(crate) done: Vec<String>,
    /// As they are named in it.
    pub(crate) files: Vec<String>,
    /// Where they are: nothing, or the beginning of their paths.
    pub(crate) folder: String,
    text: String,
}

/// What is to do now.
#[derive(Debug)]
pub(crate) enum Now {
    Work {
        call: String,
        step: String,
        parts: Vec<String>,
        /// Keys and texts.
        criteria: Vec<(String, String)>,
    },
    Choose {
        call: String,
        step: String,
        choices: Vec<String>,
    },
    Wait {
        /// How the agent passes the answer on, unless only the person's own counts.
        call: Option<String>,
        answers: Vec<String>,
    },
    Completed,
}

impl Brief {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let section = |title: &str| {
            let found = text.split_once(&format!("## {title}\n"));
            found.map_or("", |it| it.1.split("\n\n## ").next().unwrap())
        };
        let now = section("Do this now");
        let done = all(section("Done already: do not do it again"), r"(?m)^- `([^`]+)`");
        // With several parts open, each names its own; the agent takes the first.
        let folder = first(text, r"Its files are in `([^`]+)`").map(|it| it + "/");
        let files = first(now, r"(?m)^- part `[^`]+`, must leave behind ((?:`[^`]+`(?:, )?)+)")
            .or_else(|| first(now, r"(?m)^It must leave behind: (.+)$"));
        Some(Self {
            run: first(text, r"Run `([^`]+)`")?,
            now: Now::read(now)?,
            done,
            files: files.map(|it| quoted(&it)).unwrap_or_default(),
            folder: folder.unwrap_or_default(),
            text: text.to_owned(),
        })
    }

    /// Whether it names something as code.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.text.contains(&format!("`{word}`"))
    }
}

impl Now {
    fn read(text: &str) -> Option<Self> {
        if text.starts_with("Nothing: the run is completed.") {
            return Some(Self::Completed);
        }
        if text.starts_with("Wait at step ") {
            let answers = quoted(&first(text, r"(?m)^Answers: ((?:`[^`]+`(?:, )?)+)")?);
            let is_relayed = !text.contains("only the person's own answer counts");
            let call = is_relayed.then(|| first(text, r"`(\w+)` with `answer`")).flatten();
            return Some(Self::Wait { call, answers });
        }
        let listed = text.split("\nInstructions:\n").next()?;
        if let Some(step) = first(text, r"^Step `([^`]+)` is done") {
            let call = first(listed, r"[Cc]all `(\w+)`")?;
            let choices = all(listed, r"(?m)^- `([^`]+)`$");
            return Some(Self::Choose { call, step, choices });
        }
        let work =
            Regex::new(r"^Work on step .+ report with `(\w+)` \(`step_id` `([^`]+)`").unwrap();
        let found = work.captures(text)?;
        let criterion = Regex::new(r"(?m)^- evidence for `([^`]+)`: (.+)$").unwrap();
        let criteria =
            criterion.captures_iter(listed).map(|it| (it[1].to_owned(), it[2].to_owned()));
        Some(Self::Work {
            call: found[1].to_owned(),
            step: found[2].to_owned(),
            parts: all(listed, r"(?m)^- part `([^`]+)`"),
            criteria: criteria.collect(),
        })
    }
}

/// Returns the first thing that a pattern catches.
fn first(text: &str, pattern: &str) -> Option<String> {
    all(text, pattern).into_iter().next()
}

fn all(text: &str, pattern: &str) -> Vec<String> {
    Regex::new(pattern).unwrap().captures_iter(text).map(|it| it[1].to_owned()).collect()
}

/// Returns what stands between backquotes.
fn quoted(text: &str) -> Vec<String> {
    all(text, "`([^`]+)`")
}
