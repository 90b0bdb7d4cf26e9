//! What `context` can say: which workflow to start, or what to do at the node that a session is at.

use engine::RunId;
use serde_json::{Map, Value};

/// The token that names a session within a context.
const SESSION_TOKEN: &str = "session_id:";
/// What announces a choice in plain text.
const CHOOSE: &str = "choose:";

/// Which workflow a new session is to go through.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// One that is found by its name.
    Named(String),
    /// One that is given as YAML, and perhaps by another name than its own.
    Inline { name: Option<String>, yaml: String },
}

/// Why a context names no workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    Empty,
    /// There is a name and the word `yaml:`, and nothing behind it.
    YamlMissing,
    /// It is neither of the forms.
    Unrecognized,
}

/// What is asked of a session.
#[derive(Debug, PartialEq)]
pub(super) enum Request {
    /// To see where it is.
    View,
    Choose(Choice),
    /// Something in JSON that cannot be read, and why.
    Broken(String),
}

/// A way out of the current node, and what is said of the work on it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Choice {
    /// `None`: only the work is reported.
    pub(super) choose: Option<String>,
    /// As it was given, by criterion.
    pub(super) evidence: Map<String, Value>,
    pub(super) is_approved: bool,
    /// What else was said, for the log.
    pub(super) remark: Option<String>,
}

impl Unreadable {
    /// Says it.
    pub(super) fn cause(self) -> &'static str {
        match self {
            Self::Empty => "The context is empty",
            Self::YamlMissing => "Workflow name provided but YAML content is missing",
            Self::Unrecognized => {
                "Unrecognized context format: it is neither `workflow: NAME` nor YAML with a `name`"
            }
        }
    }
}

/// Reads which workflow to start.
pub(super) fn read_start(context: &str) -> Result<Start, Unreadable> {
    let context = context.trim();
    if context.is_empty() {
        return Err(Unreadable::Empty);
    }
    if let Some(name) = find_name(context) {
        return match find_yaml(context) {
            Some(yaml) if yaml.trim().is_empty() => Err(Unreadable::YamlMissing),
            Some(yaml) => Ok(Start::Inline { name: Some(name), yaml }),
            None => Ok(Start::Named(name)),
        };
    }
    let is_key =
        |line: &str, key: &str| line.strip_prefix(key).is_some_and(|it| it.starts_with(':'));
    let looks_like_yaml =
        context.lines().any(|it| is_key(it, "name") || is_key(it, "workflow")) || is_json(context);
    if looks_like_yaml {
        return Ok(Start::Inline { name: None, yaml: context.to_owned() });
    }
    Err(Unreadable::Unrecognized)
}

/// JSON is YAML too, and a whole definition may come so.
fn is_json(context: &str) -> bool {
    let value: Option<Value> = serde_json::from_str(context).ok();
    value.is_some_and(|it| it.get("name").is_some() || it.get("workflow").is_some())
}

/// Returns the name after `workflow:` in the first line. YAML that begins with that key has none.
fn find_name(context: &str) -> Option<String> {
    let line = context.lines().next()?.trim();
    let (word, rest) = line.split_once(':')?;
    if !word.trim().eq_ignore_ascii_case("workflow") {
        return None;
    }
    let rest = rest.trim();
    let quoted = ['"', '\''].iter().find_map(|it| rest.strip_prefix(*it)?.strip_suffix(*it));
    let name = quoted.unwrap_or(rest).trim();
    (!name.is_empty() && !name.starts_with('{')).then(|| name.to_owned())
}

/// Returns what follows the line that begins with `yaml:`, on it or below.
fn find_yaml(context: &str) -> Option<String> {
    let mut lines = context.lines().skip(1);
    let first = lines.find_map(|line| {
        let line = line.trim_start();
        let word = line.get(..5).filter(|it| it.eq_ignore_ascii_case("yaml:"))?;
        line.strip_prefix(word)
    })?;
    // A block sign, as YAML itself would have it, is not a part of the text.
    let first = first.trim_start().trim_start_matches(['|', '>']).trim_start_matches('-');
    let rest: Vec<&str> = lines.collect();
    Some(unindented(&[&[first][..], &rest].concat()))
}

/// Takes away what all lines are indented by, but for an empty first one.
fn unindented(lines: &[&str]) -> String {
    let lines = match lines {
        [first, rest @ ..] if first.trim().is_empty() => rest,
        // The text began on the line of the word itself, so its depth is unknown.
        all => return all.join("\n"),
    };
    let is_fence = |it: &&&str| !it.trim_start().starts_with("```");
    let lines: Vec<&&str> = lines.iter().filter(is_fence).collect();
    let depth = |it: &&&str| it.len() - it.trim_start_matches(' ').len();
    let least = lines.iter().filter(|it| !it.trim().is_empty()).map(depth).min().unwrap_or(0);
    let cut: Vec<&str> = lines.iter().map(|it| it.get(least..).unwrap_or_default()).collect();
    cut.join("\n")
}

/// Returns the session that a context names by a token.
pub(super) fn find_session(context: &str) -> Option<RunId> {
    let (_, rest) = context.split_once(SESSION_TOKEN)?;
    let word = rest.split_whitespace().next()?;
    RunId::parse(word.trim_matches(['"', '\'', ',', ';', '}', '{']))
}

/// Reads what is asked of a session.
pub(super) fn read_request(context: &str) -> Request {
    let context = context.trim();
    let read =
        context.starts_with('{').then(|| serde_json::from_str::<Map<String, Value>>(context));
    if let Some(Ok(said)) = &read {
        return Request::Choose(read_object(said));
    }
    let place = context.to_ascii_lowercase().find(CHOOSE).map(|it| it + CHOOSE.len());
    if let Some(rest) = place.and_then(|it| context.get(it..)) {
        let name = rest.trim().trim_matches(['"', '\'', '`']).trim_end_matches(['}', ',']);
        let name = name.trim_end_matches(['"', '\'']);
        return Request::Choose(Choice {
            choose: Some(name.trim().to_owned()),
            ..Choice::default()
        });
    }
    match read {
        Some(Err(error)) => Request::Broken(error.to_string()),
        Some(Ok(_)) | None => Request::View,
    }
}

/// What has the wrong type counts as not said: the word "true" is not an approval.
fn read_object(said: &Map<String, Value>) -> Choice {
    let choose = said.get("choose").and_then(Value::as_str).map(|it| it.trim().to_owned());
    let evidence = said.get("criteria_evidence").and_then(Value::as_object);
    let trimmed = |value: &Value| match value {
        Value::String(text) => Value::String(text.trim().to_owned()),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.clone(),
    };
    let evidence = evidence.into_iter().flatten();
    Choice {
        choose: choose.filter(|it| !it.is_empty()),
        evidence: evidence.map(|(key, value)| (key.clone(), trimmed(value))).collect(),
        is_approved: said.get("user_approval") == Some(&Value::Bool(true)),
        remark: None,
    }
}

/// Returns the one of `names` that is meant: exactly, or in another case if only one fits then.
pub(super) fn find_named<'a>(names: &[&'a str], wanted: &str) -> Option<&'a str> {
    if let Some(name) = names.iter().find(|it| **it == wanted) {
        return Some(name);
    }
    let wanted = wanted.to_lowercase();
    let mut fitting = names.iter().filter(|it| it.to_lowercase() == wanted);
    let found = fitting.next()?;
    fitting.next().is_none().then_some(*found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        Choice, Request, Start, Unreadable, find_named, find_session, read_request, read_start,
    };

    #[test]
    fn a_start_is_a_name_or_a_definition() {
        let named = |name: &str| Ok(Start::Named(name.to_owned()));
        let inline = |name: Option<&str>, yaml: &str| {
            Ok(Start::Inline { name: name.map(ToOwned::to_owned), yaml: yaml.to_owned() })
        };
        let cases = [
            ("workflow: Tiny", named("Tiny")),
            ("  Workflow:  Default Coding Workflow  \nand more", named("Default Coding Workflow")),
            ("workflow: \"Tiny\"", named("Tiny")),
            ("workflow: Mine\nyaml: name: Yours", inline(Some("Mine"), "name: Yours")),
            (
                "workflow: Mine\nyaml:\n  name: Yours\n  workflow:\n    root: a",
                inline(Some("Mine"), "name: Yours\nworkflow:\n  root: a"),
            ),
            ("workflow: Mine\nyaml: |\n  name: Yours\n", inline(Some("Mine"), "name: Yours")),
            ("workflow: Mine\nyaml:\n", Err(Unreadable::YamlMissing)),
            ("name: Yours\nworkflow: {}", inline(None, "name: Yours\nworkflow: {}")),
            ("workflow:\n  root: a\nname: b", inline(None, "workflow:\n  root: a\nname: b")),
            ("please start", Err(Unreadable::Unrecognized)),
            (" \n", Err(Unreadable::Empty)),
        ];
        for (context, expected) in cases {
            assert_eq!(read_start(context), expected, "{context}");
        }
    }

    #[test]
    fn a_choice_is_text_or_json() {
        let choose = |name: &str| Choice { choose: Some(name.to_owned()), ..Choice::default() };
        let cases = [
            ("", Request::View),
            ("what now?", Request::View),
            ("choose: Beta", Request::Choose(choose("Beta"))),
            ("I CHOOSE:  Beta Max ", Request::Choose(choose("Beta Max"))),
            (r#"{"choose": " Beta "}"#, Request::Choose(choose("Beta"))),
            (r#"{"choose": "Beta", "user_approval": "true"}"#, Request::Choose(choose("Beta"))),
            (r#"{"choose": "Beta", "criteria_evidence": []}"#, Request::Choose(choose("Beta"))),
            ("{}", Request::Choose(Choice::default())),
        ];
        for (context, expected) in cases {
            assert_eq!(read_request(context), expected, "{context}");
        }
        assert!(matches!(read_request(r#"{"choose": "Beta""#), Request::Broken(_)));
        let whole = read_request(
            r#"{"choose": "B", "criteria_evidence": {"c1": " x ", "c2": null}, "user_approval": true}"#,
        );
        let Request::Choose(whole) = whole else { panic!("a choice") };
        assert!(whole.is_approved);
        assert_eq!(serde_json::Value::Object(whole.evidence), json!({ "c1": "x", "c2": null }));
    }

    #[test]
    fn a_session_is_named_by_a_token() {
        let id = "019a0000-0000-7000-8000-000000000001";
        let found = |text: &str| find_session(text).map(|it| it.to_string());
        assert_eq!(found(&format!("go on session_id:{id} please")).as_deref(), Some(id));
        assert_eq!(found(&format!("session_id: {id}")).as_deref(), Some(id));
        assert_eq!(found("session_id:nothing"), None);
        assert_eq!(found("nothing"), None);
    }

    #[test]
    fn a_name_is_met_in_another_case_only_if_that_is_clear() {
        assert_eq!(find_named(&["Beta", "beta"], "beta"), Some("beta"));
        assert_eq!(find_named(&["Beta", "Gamma"], "BETA"), Some("Beta"));
        assert_eq!(find_named(&["Beta", "beta"], "BETA"), None);
    }
}
