//! Rules that a project has on the parts of a plan: the front matter of a file of its own.
//!
//! ```yaml
//! ---
//! rules:
//!   - id: migrations
//!     when: {files_match: ["db/migrations/**"], title_matches: "(?i)schema"}
//!     require: human_gate
//!     reason: a person looks at every change of the schema
//! ---
//! ```

use serde::Deserialize;

use crate::{PartSpec, Pattern, parse::read_front_matter};

/// The rules of a project, in the order they are written.
#[derive(Debug, Clone)]
pub struct Rulebook {
    rules: Vec<PlanRule>,
}

#[derive(Debug, Clone)]
struct PlanRule {
    id: String,
    reason: String,
    /// The globs as they are written, and compiled.
    files: Vec<(String, Pattern)>,
    title: Option<Pattern>,
}

/// A part that a rule asks more of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub part: PartSpec,
    pub rule: String,
    /// What of the rule's conditions fits: `files_match:GLOB`, `title_matches`.
    pub matched_by: Vec<String>,
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    rules: Vec<WrittenRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    #[serde(default)]
    id: String,
    #[serde(default)]
    when: WrittenWhen,
    #[serde(default)]
    require: String,
    #[serde(default)]
    reason: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenWhen {
    files_match: Vec<String>,
    title_matches: Option<String>,
}

impl Rulebook {
    /// Reads the rules of a project; the error says what is wrong with them.
    pub fn parse(text: &str) -> Result<Self, String> {
        let front = find_front(text)?;
        let written: Written = read_front_matter(front)?;
        let rules = written.rules.into_iter().enumerate().map(|(at, it)| it.compile(at + 1));
        Ok(Self { rules: rules.collect::<Result<_, _>>()? })
    }

    /// Returns the parts that do not keep to the rules, in the order of their ids as texts, and for
    /// each the rules in their own.
    pub fn check(&self, parts: &[PartSpec]) -> Vec<Violation> {
        let mut parts: Vec<&PartSpec> =
            parts.iter().filter(|it| it.mode != PartSpec::HUMAN_GATE).collect();
        parts.sort_by(|one, two| one.id.as_str().cmp(two.id.as_str()));
        let broken = |part: &PartSpec| {
            let found = self.rules.iter().filter_map(|rule| {
                let matched_by = rule.find_match(part)?;
                let (rule, reason) = (rule.id.clone(), rule.reason.clone());
                Some(Violation { part: part.clone(), rule, matched_by, reason })
            });
            found.collect::<Vec<_>>()
        };
        parts.into_iter().flat_map(broken).collect()
    }
}

impl PlanRule {
    /// Returns what of the conditions fits, if all that are given do.
    fn find_match(&self, part: &PartSpec) -> Option<Vec<String>> {
        let mut matched = Vec::new();
        if !self.files.is_empty() {
            let fits = |glob: &Pattern| part.files.iter().any(|it| glob.is_full_match(it));
            let (glob, _) = self.files.iter().find(|(_, glob)| fits(glob))?;
            matched.push(format!("files_match:{glob}"));
        }
        if let Some(title) = &self.title {
            if !title.is_match(&part.title) {
                return None;
            }
            matched.push("title_matches".to_owned());
        }
        Some(matched)
    }
}

impl WrittenRule {
    fn compile(self, number: usize) -> Result<PlanRule, String> {
        let name = if self.id.is_empty() { format!("{number}") } else { self.id.clone() };
        let wrong = |problem: String| format!("rule `{name}`: {problem}");
        if self.id.trim().is_empty() {
            return Err(wrong("it has no `id`".to_owned()));
        }
        if self.reason.trim().is_empty() {
            return Err(wrong("it has no `reason`".to_owned()));
        }
        if self.require != PartSpec::HUMAN_GATE {
            let (meant, found) = (PartSpec::HUMAN_GATE, self.require);
            return Err(wrong(format!("`require` must be `{meant}`, not `{found}`")));
        }
        let WrittenWhen { files_match, title_matches } = self.when;
        if files_match.is_empty() && title_matches.is_none() {
            return Err(wrong("`when` has neither `files_match` nor `title_matches`".to_owned()));
        }
        let glob = |source: String| {
            let pattern = glob_to_pattern(&source).and_then(|it| Pattern::parse(&it));
            let pattern = pattern.map_err(|problem| wrong(format!("`{source}`: {problem}")))?;
            Ok((source, pattern))
        };
        let files = files_match.into_iter().map(glob).collect::<Result<_, String>>()?;
        let title = title_matches.map(|it| Pattern::parse(&it)).transpose();
        let title = title.map_err(|problem| wrong(format!("`title_matches`: {problem}")))?;
        Ok(PlanRule { id: self.id, reason: self.reason, files, title })
    }
}

/// Returns what stands between the first two lines `---`.
fn find_front(text: &str) -> Result<&str, String> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let rest = text.strip_prefix("---").and_then(|it| it.split_once('\n'));
    let Some((_, rest)) = rest.filter(|(line, _)| line.trim().is_empty()) else {
        return Err("it does not begin with front matter (`---`)".to_owned());
    };
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok(rest.get(..end).unwrap_or_default());
        }
        end += line.len();
    }
    Err("its front matter has no end (`---`)".to_owned())
}

/// Makes a regular expression of a glob: `*` stays within a folder, `**` does not.
fn glob_to_pattern(glob: &str) -> Result<String, String> {
    let mut pattern = String::new();
    let mut rest = glob;
    let mut depth = 0;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            pattern.push_str("(?:.*/)?");
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("**") {
            pattern.push_str(".*");
            rest = after;
            continue;
        }
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '*' => pattern.push_str("[^/]*"),
            '?' => pattern.push_str("[^/]"),
            '{' => {
                depth += 1;
                pattern.push_str("(?:");
            }
            '}' if 0 < depth => {
                depth -= 1;
                pattern.push(')');
            }
            ',' if 0 < depth => pattern.push('|'),
            '[' => {
                let Some((set, after)) = rest.split_once(']') else {
                    return Err("a `[` has no `]`".to_owned());
                };
                let (sign, set) = match set.strip_prefix(['!', '^']) {
                    Some(set) => ("^", set),
                    None => ("", set),
                };
                pattern
                    .push_str(&format!("[{sign}{}]", set.replace('\\', r"\\").replace('[', r"\[")));
                rest = after;
            }
            '\\' => {
                let Some(next) = rest.chars().next() else {
                    return Err("it ends with `\\`".to_owned());
                };
                pattern.push_str(&regex::escape(&next.to_string()));
                rest = rest.get(next.len_utf8()..).unwrap_or_default();
            }
            letter => pattern.push_str(&regex::escape(&letter.to_string())),
        }
    }
    if depth != 0 {
        return Err("a `{` has no `}`".to_owned());
    }
    Ok(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PartId;

    fn part(id: &str, title: &str, mode: &str, files: &[&str]) -> PartSpec {
        PartSpec {
            id: PartId::parse(id).unwrap(),
            title: title.to_owned(),
            mode: mode.to_owned(),
            files: files.iter().map(|it| (*it).to_owned()).collect(),
            after: Vec::new(),
        }
    }

    fn book(rules: &str) -> Result<Rulebook, String> {
        Rulebook::parse(&format!("\u{feff}---\nrules:\n{rules}---\n# Notes\n"))
    }

    #[test]
    fn a_part_that_fits_a_rule_must_be_for_a_person() {
        let book = book(
            "  - {id: db, when: {files_match: ['db/**', '*.sql']}, require: human_gate, reason: care}\n  - {id: api, when: {files_match: ['api/*.rs'], title_matches: '(?i)break'}, require: human_gate, reason: users}\n",
        )
        .unwrap();
        let parts = [
            part("2", "Break the API", "parallel", &["api/v1.rs", "x.sql"]),
            part("10", "Deep", "sequential", &["db/a/b.sql"]),
            part("3", "By hand", "human_gate", &["db/x"]),
            part("4", "break", "sequential", &["api/sub/v1.rs"]),
        ];
        let found: Vec<(String, String, String)> = book
            .check(&parts)
            .into_iter()
            .map(|it| (it.part.id.to_string(), it.rule, it.matched_by.join(", ")))
            .collect();
        let expected = [
            ("10", "db", "files_match:db/**"),
            ("2", "db", "files_match:*.sql"),
            ("2", "api", "files_match:api/*.rs, title_matches"),
        ];
        let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn rules_that_make_no_sense_are_refused() {
        let wrong = [
            ("  - {when: {title_matches: x}, require: human_gate, reason: r}\n", "no `id`"),
            ("  - {id: a, when: {title_matches: x}, require: human_gate}\n", "no `reason`"),
            ("  - {id: a, when: {title_matches: x}, require: review, reason: r}\n", "`require`"),
            ("  - {id: a, require: human_gate, reason: r}\n", "neither"),
            ("  - {id: a, when: {title_matches: '('}, require: human_gate, reason: r}\n", "title"),
            ("  - {id: a, when: {files_match: ['[x']}, require: human_gate, reason: r}\n", "`[`"),
            ("  - {id: a, when: {files: [x]}, require: human_gate, reason: r}\n", "files"),
        ];
        for (rules, problem) in wrong {
            let error = book(rules).unwrap_err();
            assert!(error.contains(problem), "{rules}: {error}");
        }
        assert!(Rulebook::parse("# None\n").unwrap_err().contains("front matter"));
        assert!(Rulebook::parse("---\nrules: []\n").unwrap_err().contains("no end"));
    }
}
