//! Where a request comes from: the issue trackers, their URLs, and how an issue is fetched and
//! answered.
//!
//! A URL counts only as a whole, and only of plain characters: what follows it would ride along into
//! commands. Commands are lists of arguments, for no shell to read.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde::Serialize;

/// The source type of a request that comes from nowhere else.
pub const TEXT: &str = "text";

/// An issue tracker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracker {
    GitHub,
    Jira,
    Linear,
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub tracker: Tracker,
    pub url: String,
    pub id: String,
}

/// How an agent gets an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fetch {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_tool: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    mcp_params: BTreeMap<&'static str, String>,
    /// The fields of the issue, and what they are called in `external_context`.
    response_mapping: BTreeMap<&'static str, &'static str>,
    instruction: &'static str,
}

/// How an agent answers an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PostMethod {
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_tool: Option<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    mcp_params: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<&'static str>,
    /// The file with the text.
    body_source: String,
}

impl Tracker {
    /// In the order they are tried.
    pub const ALL: [Self; 3] = [Self::GitHub, Self::Jira, Self::Linear];

    /// Returns what its issues are called in files and answers.
    pub fn source_type(self) -> &'static str {
        match self {
            Self::GitHub => "github_issue",
            Self::Jira => "jira_issue",
            Self::Linear => "linear_issue",
        }
    }

    /// Returns what people call its issues.
    pub fn label(self) -> &'static str {
        match self {
            Self::GitHub => "GitHub issue",
            Self::Jira => "Jira issue",
            Self::Linear => "Linear issue",
        }
    }

    /// Returns what the names of its fields begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::GitHub => "github_",
            Self::Jira => "jira_",
            Self::Linear => "linear_",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::GitHub => "GitHub",
            Self::Jira => "Jira",
            Self::Linear => "Linear",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::GitHub => "https://github.com/OWNER/REPO/issues/NUMBER",
            Self::Jira => "https://HOST.atlassian.net/browse/KEY-NUMBER",
            Self::Linear => "https://linear.app/ORG/issue/KEY-NUMBER",
        }
    }

    /// Whether a URL is one of the tracker's at all.
    fn is_base_of(self, url: &str) -> bool {
        match self {
            Self::GitHub => url.starts_with("https://github.com/"),
            Self::Jira => JIRA_BASE.is_match(url),
            Self::Linear => url.starts_with("https://linear.app/"),
        }
    }

    fn find_id(self, url: &str) -> Option<String> {
        let pattern: &Regex = match self {
            Self::GitHub => &GITHUB,
            Self::Jira => &JIRA,
            Self::Linear => &LINEAR,
        };
        pattern.captures(url)?.get(1).map(|it| it.as_str().to_owned())
    }

    fn mapping(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::GitHub => {
                &[("title", "github_title"), ("body", "github_body"), ("labels", "github_labels")]
            }
            Self::Jira => &[
                ("summary", "jira_summary"),
                ("description", "jira_description"),
                ("issue_type", "jira_issue_type"),
                ("story_points", "jira_story_points"),
            ],
            Self::Linear => &[
                ("title", "linear_title"),
                ("description", "linear_description"),
                ("priority", "linear_priority"),
                ("estimate", "linear_estimate"),
                ("labels", "linear_labels"),
            ],
        }
    }
}

impl Source {
    /// Reads a URL as that of an issue; the error says what it should look like.
    pub fn parse(url: &str) -> Result<Self, String> {
        let Some(tracker) = Tracker::ALL.into_iter().find(|it| it.is_base_of(url)) else {
            let expected: Vec<&str> = Tracker::ALL.into_iter().map(Tracker::expected).collect();
            return Err(format!(
                "Unrecognised URL: expected one of {}, with nothing after it",
                expected.join(", ")
            ));
        };
        let Some(id) = tracker.find_id(url) else {
            let (name, expected) = (tracker.name(), tracker.expected());
            return Err(format!("Invalid {name} URL: expected {expected}, with nothing after it"));
        };
        Ok(Self { tracker, url: url.to_owned(), id })
    }

    /// Returns how an agent gets the issue.
    pub fn fetch(&self) -> Fetch {
        let mapping = self.tracker.mapping().iter().copied().collect();
        let (kind, instruction) = match self.tracker {
            Tracker::GitHub => {
                ("github", "run `command` without a shell, and map the fields of its JSON")
            }
            Tracker::Jira => (
                "jira",
                "read the issue with an Atlassian MCP server, or over its REST API with JIRA_USER \
                 and JIRA_TOKEN, and map the fields",
            ),
            Tracker::Linear => {
                ("linear", "call `mcp_tool` with `mcp_params`, and map the fields of its answer")
            }
        };
        let mut fetch = Fetch {
            kind,
            mcp_tool: None,
            command: Vec::new(),
            mcp_params: BTreeMap::new(),
            response_mapping: mapping,
            instruction,
        };
        match self.tracker {
            Tracker::GitHub => {
                fetch.command = argv(&["gh", "issue", "view", &self.url, "--json", GITHUB_FIELDS]);
            }
            Tracker::Jira => {}
            Tracker::Linear => {
                fetch.mcp_tool = Some("mcp__linear__get_issue");
                fetch.mcp_params = self.issue_params();
            }
        }
        fetch
    }

    /// Returns how an agent answers the issue with the text in a file.
    pub fn post_method(&self, path: &str) -> PostMethod {
        let body_source = path.to_owned();
        let (mut mcp_tool, mut mcp_params) = (None, BTreeMap::new());
        let (mut command, mut instruction) = (Vec::new(), None);
        match self.tracker {
            Tracker::GitHub => {
                command = argv(&["gh", "issue", "comment", &self.url, "--body-file", path]);
            }
            Tracker::Jira => {
                instruction = Some(
                    "add the text of `body_source` to the issue as a comment, with an Atlassian \
                     MCP server, or over its REST API with JIRA_USER and JIRA_TOKEN",
                );
            }
            Tracker::Linear => {
                mcp_tool = Some("mcp__linear__save_comment");
                mcp_params = self.issue_params();
            }
        }
        PostMethod { mcp_tool, mcp_params, command, instruction, body_source }
    }

    /// Returns the line that closes the issue when a pull request is merged, where there is one.
    pub fn closing_reference(&self) -> Option<String> {
        match self.tracker {
            Tracker::GitHub => Some(format!("Closes #{}", self.id)),
            Tracker::Jira | Tracker::Linear => None,
        }
    }

    fn issue_params(&self) -> BTreeMap<&'static str, String> {
        BTreeMap::from([("issueId", self.id.clone())])
    }
}

/// What is asked of GitHub.
const GITHUB_FIELDS: &str = "title,body,labels";

static GITHUB: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^https://github\.com/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/issues/([0-9]+)/?(?:#[A-Za-z0-9_-]+)?$",
    )
});
static JIRA_BASE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^https://[A-Za-z0-9-]+\.atlassian\.net/"));
static JIRA: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^https://[A-Za-z0-9-]+\.atlassian\.net/browse/([A-Z][A-Z0-9]*-[0-9]+)/?$")
});
static LINEAR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^https://linear\.app/[A-Za-z0-9_-]+/issue/([A-Z][A-Z0-9]*-[0-9]+)(?:/[A-Za-z0-9_.%-]*)?(?:#[A-Za-z0-9_-]+)?$",
    )
});

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the pattern is fixed, and a test compiles it")
}

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Source, Tracker};

    #[track_caller]
    fn check(url: &str, expected: Result<(Tracker, &str), &str>) {
        match (Source::parse(url), expected) {
            (Ok(source), Ok((tracker, id))) => {
                assert_eq!((source.tracker, source.id.as_str()), (tracker, id));
            }
            (Err(message), Err(expected)) => assert!(message.contains(expected), "{message}"),
            (read, expected) => panic!("{url}: {read:?} is not {expected:?}"),
        }
    }

    #[test]
    fn urls_of_issues_are_known_as_a_whole() {
        check("https://github.com/o/r/issues/12", Ok((Tracker::GitHub, "12")));
        check("https://github.com/o/r/issues/12/", Ok((Tracker::GitHub, "12")));
        check("https://github.com/o/r/issues/12#issuecomment-1", Ok((Tracker::GitHub, "12")));
        check("https://x.atlassian.net/browse/AB-1", Ok((Tracker::Jira, "AB-1")));
        check("https://linear.app/acme/issue/ENG-77/some-title", Ok((Tracker::Linear, "ENG-77")));
        check("https://linear.app/acme/issue/ENG-77", Ok((Tracker::Linear, "ENG-77")));
    }

    #[test]
    fn anything_else_is_no_issue() {
        check("https://github.com/o/r/pull/12", Err("Invalid GitHub URL"));
        check("https://github.com/o/r/issues/12/foo", Err("Invalid GitHub URL"));
        check("https://x.atlassian.net/browse/ab-1", Err("Invalid Jira URL"));
        check("https://linear.app/acme/issue/eng-1", Err("Invalid Linear URL"));
        check("https://gitlab.com/x", Err("Unrecognised URL"));
        check("http://github.com/o/r/issues/1", Err("Unrecognised URL"));
        check("https://x.evil.com/.atlassian.net/browse/AB-1", Err("Unrecognised URL"));
    }

    #[test]
    fn nothing_rides_along_behind_a_url() {
        for tail in
            ["; rm -rf ~", " && ls", "\nx", "$(id)", "`id`", "|sh", "'", "\"", "#", "?a&b", "\\"]
        {
            check(&format!("https://github.com/o/r/issues/12{tail}"), Err("Invalid GitHub URL"));
            check(&format!("https://x.atlassian.net/browse/AB-1{tail}"), Err("Invalid Jira URL"));
            check(&format!("https://linear.app/a/issue/E-7{tail}"), Err("Invalid Linear URL"));
        }
    }

    #[test]
    fn commands_are_lists_of_arguments() {
        let source = Source::parse("https://github.com/o/r/issues/12").unwrap();
        let fetch = serde_json::to_value(source.fetch()).unwrap();
        let view = "gh issue view https://github.com/o/r/issues/12 --json title,body,labels";
        assert_eq!(fetch["command"], Value::from(view.split(' ').collect::<Vec<_>>()));
        assert_eq!(fetch["response_mapping"]["labels"], "github_labels");
        assert_eq!(source.closing_reference().as_deref(), Some("Closes #12"));
        let comment = "gh issue comment https://github.com/o/r/issues/12 --body-file /w/summary.md";
        assert_eq!(
            serde_json::to_value(source.post_method("/w/summary.md")).unwrap(),
            json!({ "command": comment.split(' ').collect::<Vec<_>>(), "body_source": "/w/summary.md" }),
        );
    }

    #[test]
    fn other_trackers_are_reached_by_tools_and_words() {
        let source = Source::parse("https://linear.app/a/issue/ENG-7").unwrap();
        let fetch = serde_json::to_value(source.fetch()).unwrap();
        assert_eq!(fetch["mcp_tool"], "mcp__linear__get_issue");
        assert_eq!(fetch["response_mapping"].as_object().unwrap().len(), 5);
        assert_eq!(
            serde_json::to_value(source.post_method("s")).unwrap(),
            json!({ "mcp_tool": "mcp__linear__save_comment", "mcp_params": { "issueId": "ENG-7" },
                "body_source": "s" }),
        );
        let source = Source::parse("https://x.atlassian.net/browse/AB-1").unwrap();
        let fetch = serde_json::to_value(source.fetch()).unwrap();
        assert!(fetch.get("command").is_none() && fetch.get("mcp_tool").is_none());
        let post = serde_json::to_value(source.post_method("s")).unwrap();
        assert!(post["instruction"].is_string() && post["body_source"] == "s");
        assert_eq!(source.closing_reference(), None);
    }
}
