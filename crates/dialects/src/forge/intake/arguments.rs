//! The one string that a pipeline is begun with: flags, and a description, a URL or a workspace.

use std::collections::BTreeMap;

use super::{
    effort::{Effort, wrong_effort},
    extent::{Budget, Extent},
    source::{Source, TEXT},
};

/// Flags with a value, `--NAME=VALUE`.
const KEYED: [&str; 5] = ["type", "effort", "from", "until", "budget"];
/// Flags without one, in the order they are told of.
const BARE: [&str; 4] = ["auto", "nopr", "debug", "discuss"];
/// A flag that was once one, and is passed over.
const FORMER: &str = "resume";
/// What a path to a workspace has in it.
const WORKSPACE_MARK: &str = ".specs/";
/// How long a description must be, in characters.
const CHARS_MIN: usize = 5;

/// What the string says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    /// Flags with a value; the first of a kind counts.
    pub flags: BTreeMap<&'static str, String>,
    pub bare_flags: Vec<&'static str>,
    /// The string without flags.
    pub core_text: String,
    pub subject: Subject,
}

/// What the string without flags is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Subject {
    Issue(Source),
    /// It names a workspace, or speaks of one.
    Workspace,
    #[default]
    Text,
}

impl Subject {
    /// Returns the contract's word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Issue(source) => source.tracker.source_type(),
            Self::Workspace => "workspace",
            Self::Text => TEXT,
        }
    }
}

impl Arguments {
    /// Reads the string; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("empty input: describe what is to be done, or name an issue".to_owned());
        }
        let mut read = Self::split(text);
        if let Some(word) = find_unknown(text) {
            let known = KEYED.map(|it| format!("`--{it}=…`")).join(", ");
            let bare = BARE.map(|it| format!("`--{it}`")).join(", ");
            return Err(format!(
                "unknown flag `{word}`: there are {known}, {bare}; put it in backticks if it \
                 belongs to the description"
            ));
        }
        if let Some(effort) = read.flags.get("effort").filter(|it| Effort::find(it).is_none()) {
            return Err(wrong_effort(effort));
        }
        read.extent()?.check()?;
        if read.core_text.is_empty() {
            return Err("Only flags were given: describe what is to be done as well".to_owned());
        }
        read.subject = subject(&read.core_text)?;
        Ok(read)
    }

    /// Returns whether a flag without a value is there.
    pub fn has(&self, flag: &str) -> bool {
        self.bare_flags.contains(&flag)
    }

    /// Returns the effort that is asked for.
    pub fn effort(&self) -> Option<Effort> {
        self.flags.get("effort").and_then(|it| Effort::find(it))
    }

    /// Returns how far the pipeline goes.
    pub fn extent(&self) -> Result<Extent, String> {
        let text = |flag: &str| self.flags.get(flag).cloned().unwrap_or_default();
        let budget = self.flags.get("budget").map(|it| Budget::parse(it)).transpose()?;
        Ok(Extent {
            from: text("from"),
            until: text("until"),
            budget_tokens: budget.and_then(Budget::tokens),
            budget_dollars: budget.and_then(Budget::dollars),
        })
    }

    /// Takes the flags out, word by word. What is between other words stays as it is.
    fn split(text: &str) -> Self {
        let mut read = Self::default();
        let mut found: Vec<&str> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (blank, after) = rest.split_at(rest.len() - rest.trim_start().len());
            let end = after.find(char::is_whitespace).unwrap_or(after.len());
            let (word, next) = after.split_at(end);
            rest = next;
            match flag(word) {
                Some(Flag::Keyed(name, value)) => {
                    read.flags.entry(name).or_insert_with(|| value.to_owned());
                }
                Some(Flag::Bare(name)) => found.push(name),
                Some(Flag::Former) => {}
                None => read.core_text.extend([blank, word]),
            }
        }
        read.core_text = read.core_text.trim().to_owned();
        read.bare_flags = BARE.into_iter().filter(|it| found.contains(it)).collect();
        read
    }
}

/// Returns the first word that looks like a flag, is none, and stands where flags do: before or
/// after all other words. Between them it belongs to what is described.
fn find_unknown(text: &str) -> Option<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_flag = |it: &&&str| it.starts_with("--") && 2 < it.len();
    let leading = words.iter().take_while(is_flag);
    let trailing = words.iter().rev().take_while(is_flag);
    leading.chain(trailing).find(|it| flag(it).is_none()).copied()
}

enum Flag<'a> {
    Keyed(&'static str, &'a str),
    Bare(&'static str),
    Former,
}

fn flag(word: &str) -> Option<Flag<'_>> {
    let word = word.strip_prefix("--")?;
    if word == FORMER {
        return Some(Flag::Former);
    }
    if let Some((name, value)) = word.split_once('=') {
        let name = KEYED.into_iter().find(|it| *it == name)?;
        return Some(Flag::Keyed(name, value));
    }
    BARE.into_iter().find(|it| *it == word).map(Flag::Bare)
}

fn subject(core: &str) -> Result<Subject, String> {
    if core.starts_with("http://") || core.starts_with("https://") {
        return Source::parse(core).map(Subject::Issue);
    }
    if core.contains(WORKSPACE_MARK) {
        return Ok(Subject::Workspace);
    }
    let count = core.chars().count();
    if count < CHARS_MIN {
        return Err(format!(
            "the description has {count} chars and is too short: at least {CHARS_MIN} are needed"
        ));
    }
    Ok(Subject::Text)
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    #[track_caller]
    fn check(text: &str, core: &str, subject: &str, bare: &[&str]) -> Arguments {
        let read = Arguments::parse(text).unwrap();
        assert_eq!((read.core_text.as_str(), read.subject.as_str()), (core, subject), "{text}");
        assert_eq!(read.bare_flags, bare, "{text}");
        read
    }

    #[track_caller]
    fn check_error(text: &str, parts: &[&str]) {
        let error = Arguments::parse(text).unwrap_err();
        assert!(parts.iter().all(|it| error.contains(it)), "{text}: {error}");
    }

    #[test]
    fn what_is_asked_for_is_told_from_its_flags() {
        check("abcde", "abcde", "text", &[]);
        let text = "fix login --auto --nopr --effort=S --type=bugfix";
        let read = check(text, "fix login", "text", &["auto", "nopr"]);
        let flags: Vec<_> =
            read.flags.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(flags, [("effort", "S"), ("type", "bugfix")]);
        check(".specs/foo --debug", ".specs/foo", "workspace", &["debug"]);
        check("do x --resume now", "do x now", "text", &[]);
        check("do--auto it", "do--auto it", "text", &[]);
        check(
            "https://github.com/o/r/issues/12",
            "https://github.com/o/r/issues/12",
            "github_issue",
            &[],
        );
    }

    #[test]
    fn flags_may_stand_anywhere_and_come_twice() {
        check("--nopr --auto --auto --auto make it so", "make it so", "text", &["auto", "nopr"]);
        check("one  two\n--debug\nthree", "one  two\nthree", "text", &["debug"]);
        let read = check("--effort=S --effort=L do a thing", "do a thing", "text", &[]);
        assert_eq!(read.flags["effort"], "S");
        check("use --verbose and more", "use --verbose and more", "text", &[]);
        check("add `--json` as `--json`", "add `--json` as `--json`", "text", &[]);
    }

    #[test]
    fn what_says_nothing_is_refused() {
        check_error("", &["empty input"]);
        check_error("  \n ", &["empty input"]);
        check_error("--auto", &["Only flags"]);
        check_error("--auto --effort=S", &["Only flags"]);
        check_error("abcd", &["4 chars", "too short"]);
        check_error("日本語だ", &["4 chars"]);
        check_error("--effort=XS do the thing", &["XS", "S, M, L"]);
        check_error("--effort=foo do the thing", &["foo", "S, M, L"]);
        check_error("--effort= do the thing", &["S, M, L"]);
        check_error("--until=phase-x do the thing", &["phase-x", "phase-1", "final-commit"]);
        check_error("--from=phase-5 --until=phase-3 do the thing", &["before"]);
        check_error("do the thing --atuo", &["--atuo", "`--auto`", "backticks"]);
        check_error("--foo=1 do the thing --auto", &["--foo=1"]);
        check_error("do the thing --effort", &["--effort", "`--effort=…`"]);
        check_error("--budget=lots do the thing", &["lots", "500k"]);
        check_error("https://github.com/o/r/issues/12; rm -rf ~", &["Invalid GitHub URL"]);
    }
}
