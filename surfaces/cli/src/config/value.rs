//! The values of settings: read from text or from a file, checked, and shown.

use std::{fmt, net::SocketAddr, path::Path, time::Duration};

use serde_json::json;
use world::Secret;

/// What is shown of a secret.
const MASK: &str = "***";

/// What a setting may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Flag,
    Count {
        min: u64,
        max: u64,
    },
    /// A number of bytes, also as `256KiB` or `1MiB`.
    Bytes {
        min: u64,
        max: u64,
    },
    /// `90s`, `15m`, `1h 30m`; a plain number is seconds.
    Duration {
        min_s: u64,
        max_s: u64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    Path,
    /// Several paths.
    Paths,
    /// Several words, separated by commas.
    Words,
    /// The same, or none.
    Names,
    /// Several of these words, or `none`.
    AnyOf(&'static [&'static str]),
    /// An address and a port.
    Address,
    /// Any text in one line.
    Text,
    /// `http://` or `https://` and a host.
    Url,
    /// A text that is never shown.
    Secret,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Unset,
    Flag(bool),
    Number(u64),
    Duration(Duration),
    Text(String),
    List(Vec<String>),
    Secret(Secret),
}

impl Kind {
    /// Reads a value from text, as it comes from the environment or a flag.
    pub(crate) fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        match self {
            Self::Path if text.is_empty() => Ok(Value::Unset),
            Self::Paths | Self::Names | Self::Text | Self::Url | Self::Secret
                if text.is_empty() =>
            {
                Ok(Value::Unset)
            }
            Self::Flag => match text.to_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok(Value::Flag(true)),
                "false" | "0" | "no" | "off" => Ok(Value::Flag(false)),
                _ => Err(self.expected(text)),
            },
            Self::Count { min, max } => self.number(text, text.parse().ok(), min, max),
            Self::Bytes { min, max } => self.number(text, parse_bytes(text), min, max),
            Self::Duration { min_s, max_s } => {
                let duration = parse_duration(text).ok_or_else(|| self.expected(text))?;
                let (min, max) = (Duration::from_secs(min_s), Duration::from_secs(max_s));
                let fits = min <= duration && duration <= max;
                fits.then_some(Value::Duration(duration)).ok_or_else(|| self.expected(text))
            }
            Self::Word(words) => self.word(text, words),
            Self::Path => Ok(Value::Text(text.to_owned())),
            Self::Text => {
                let is_line = !text.chars().any(char::is_control);
                is_line.then(|| Value::Text(text.to_owned())).ok_or_else(|| self.expected(text))
            }
            Self::Url => {
                let host = ["http://", "https://"].iter().find_map(|it| text.strip_prefix(it));
                let is_named = |it: &str| {
                    !it.is_empty()
                        && !it.starts_with('/')
                        // A name or a key in it would be shown wherever the address is.
                        && !it.contains(|it: char| it.is_whitespace() || "?#@".contains(it))
                };
                let fits = host.is_some_and(is_named);
                // There may be a password in it, so it is not repeated.
                fits.then(|| Value::Text(text.to_owned())).ok_or_else(|| self.unfit())
            }
            Self::Secret if text.chars().any(char::is_control) => Err(self.unfit()),
            Self::Secret => Ok(Value::Secret(Secret::new(text))),
            Self::Paths => {
                let paths = std::env::split_paths(text).map(|it| it.display().to_string());
                Ok(Value::List(paths.filter(|it| !it.is_empty()).collect()))
            }
            Self::Words | Self::Names => {
                let words = text.split([',', ' ']).filter(|it| !it.is_empty());
                let words: Vec<String> = words.map(str::to_owned).collect();
                if words.is_empty() { Err(self.expected(text)) } else { Ok(Value::List(words)) }
            }
            Self::AnyOf(words) => {
                let items = text.split([',', ' ']).filter(|it| !it.is_empty());
                self.any_of(items.map(str::to_owned).collect(), words)
            }
            Self::Address => match text.parse::<SocketAddr>() {
                Ok(address) => Ok(Value::Text(address.to_string())),
                Err(_) => Err(self.expected(text)),
            },
        }
    }

    /// Reads a value from a list of texts, as a file has it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other kind takes a list")]
    pub(crate) fn parse_list(self, items: Vec<String>) -> Result<Value, String> {
        match self {
            Self::Paths | Self::Words | Self::Names => Ok(Value::List(items)),
            Self::AnyOf(words) => self.any_of(items, words),
            _ => Err(self.expected("a list")),
        }
    }

    /// Returns what is expected, in words.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Count { min, max } => format!("a whole number from {min} to {max}"),
            Self::Bytes { min, max } => {
                format!("a size from {} to {}, such as `256KiB`", size(min), size(max))
            }
            Self::Duration { min_s, max_s } => format!(
                "a duration from {} to {}, such as `90s` or `1h 30m`",
                duration(Duration::from_secs(min_s)),
                duration(Duration::from_secs(max_s))
            ),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Path => "a path".to_owned(),
            Self::Paths => "a list of paths".to_owned(),
            Self::Words | Self::Names => "a list of names".to_owned(),
            Self::AnyOf(words) => {
                let words: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
                format!("any of {}, or `none`", words.join(", "))
            }
            Self::Address => "an address and a port, such as `127.0.0.1:7420`".to_owned(),
            Self::Text => "a text in one line".to_owned(),
            Self::Url => {
                "an address that begins with `http://` or `https://`, without a name or query"
                    .to_owned()
            }
            Self::Secret => "a secret in one line".to_owned(),
        }
    }

    /// Returns a value as people read it.
    pub(crate) fn show(self, value: &Value) -> String {
        match (self, value) {
            (Self::Bytes { .. }, Value::Number(bytes)) if bytes.is_multiple_of(1024) => {
                size(*bytes)
            }
            (_, value) => value.to_string(),
        }
    }

    fn expected(self, found: &str) -> String {
        format!("`{found}` is not {}", self.describe())
    }

    /// Says the same of a value that is not repeated.
    fn unfit(self) -> String {
        format!("the value is not {}", self.describe())
    }

    fn number(self, text: &str, found: Option<u64>, min: u64, max: u64) -> Result<Value, String> {
        let fitting = found.filter(|it| min <= *it && *it <= max);
        fitting.map(Value::Number).ok_or_else(|| self.expected(text))
    }

    fn any_of(self, items: Vec<String>, words: &[&str]) -> Result<Value, String> {
        if matches!(items.as_slice(), [one] if one == "none") {
            return Ok(Value::List(Vec::new()));
        }
        match items.iter().find(|it| !words.contains(&it.as_str())) {
            Some(unknown) => Err(self.expected(unknown)),
            None => Ok(Value::List(items)),
        }
    }

    fn word(self, text: &str, words: &[&str]) -> Result<Value, String> {
        let text = text.to_lowercase();
        // The words that loggers of other languages have for the same.
        let meant = match text.as_str() {
            "warning" => "warn",
            "critical" | "fatal" => "error",
            // The original's word for any other API than its own.
            "http" if words.contains(&"auto") => "auto",
            // Its words for doing without one.
            "stub" | "stub-sequential" | "rules" if words.contains(&"none") => "none",
            other => other,
        };
        let known = words.contains(&meant);
        known.then(|| Value::Text(meant.to_owned())).ok_or_else(|| self.expected(&text))
    }
}

impl Value {
    /// Returns the value for `--json`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Unset => serde_json::Value::Null,
            Self::Flag(flag) => json!(flag),
            Self::Number(number) => json!(number),
            Self::Duration(it) => json!(duration(*it)),
            Self::Text(text) => json!(text),
            Self::List(list) => json!(list),
            Self::Secret(_) => json!(MASK),
        }
    }

    /// Makes a path absolute, if it is one. `~` at its beginning is the user's home.
    pub(crate) fn based_on(self, kind: Kind, base: &Path, home: Option<&Path>) -> Self {
        let is_kept = |text: &str| text == super::MEMORY || Path::new(text).is_absolute();
        let absolute = |text: String| {
            if is_kept(&text) {
                return text;
            }
            let path = match (Path::new(&text).strip_prefix("~"), home) {
                (Ok(inside), Some(home)) => home.join(inside),
                (Ok(_), None) | (Err(_), _) => base.join(&text),
            };
            path.display().to_string()
        };
        match (kind, self) {
            (Kind::Path, Self::Text(text)) => Self::Text(absolute(text)),
            (Kind::Paths, Self::List(list)) => Self::List(list.into_iter().map(absolute).collect()),
            (_, other) => other,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => Ok(()),
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::Number(number) => write!(out, "{number}"),
            Self::Duration(it) => out.write_str(&duration(*it)),
            Self::Text(text) => out.write_str(text),
            Self::List(list) => out.write_str(&list.join(", ")),
            Self::Secret(_) => out.write_str(MASK),
        }
    }
}

fn parse_bytes(text: &str) -> Option<u64> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    let scale: u64 = match unit.trim().to_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

fn parse_duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    Duration::try_from(text.parse::<jiff::SignedDuration>().ok()?).ok()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes}B"),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        _ => format!("{}KiB", bytes >> 10),
    }
}

/// Returns a duration in the form that it is read in.
pub(crate) fn duration(duration: Duration) -> String {
    let millis = duration.subsec_millis();
    let seconds = duration.as_secs();
    if millis != 0 {
        return format!("{}ms", duration.as_millis());
    }
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let shown = parts.iter().filter(|it| 0 < it.0).map(|(count, unit)| format!("{count}{unit}"));
    let shown = shown.collect::<Vec<_>>().join(" ");
    if shown.is_empty() { "0s".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_project_or_from_the_home_of_the_user() {
        let check = |text: &str, home: Option<&str>, shown: &str| {
            let value = Value::Text(text.to_owned());
            let value = value.based_on(Kind::Path, Path::new("/project"), home.map(Path::new));
            assert_eq!(value.to_string(), shown, "{text}");
        };
        check("runs.db", Some("/home/ann"), "/project/runs.db");
        check("~/runs.db", Some("/home/ann"), "/home/ann/runs.db");
        check("~", Some("/home/ann"), "/home/ann/");
        check("~runs.db", Some("/home/ann"), "/project/~runs.db");
        check("/runs.db", Some("/home/ann"), "/runs.db");
        check(":memory:", Some("/home/ann"), ":memory:");
    }

    #[test]
    fn texts_are_read_by_kind() {
        let check = |kind: Kind, text: &str, shown: &str| {
            let found = kind.parse(text).map_or_else(|error| error, |it| it.to_string());
            assert_eq!(found, shown, "{kind:?} {text:?}");
        };
        let bytes = Kind::Bytes { min: 1, max: 10 << 20 };
        check(bytes, "256KiB", "262144");
        check(bytes, "1 mib", "1048576");
        check(bytes, "77", "77");
        check(bytes, "1GiB", "`1GiB` is not a size from 1B to 10MiB, such as `256KiB`");
        let span = Kind::Duration { min_s: 0, max_s: 7200 };
        check(span, "1h 30m", "1h 30m");
        check(span, "1500ms", "1500ms");
        check(span, "90", "1m 30s");
        check(span, "0", "0s");
        check(Kind::Flag, "Yes", "true");
        check(Kind::Word(&["warn", "error"]), "WARNING", "warn");
        check(Kind::Words, "core, forge", "core, forge");
        check(Kind::AnyOf(&["push", "commit"]), "commit", "commit");
        check(Kind::AnyOf(&["push", "commit"]), "none", "");
        check(Kind::Word(&["a", "b"]), "c", "`c` is not one of `a`, `b`");
        let endpoint = "the value is not an address that begins with `http://` or `https://`, without \
                        a name or query";
        check(Kind::Url, "https://ann:secret@example.org", endpoint);
        check(Kind::Address, "[::1]:80", "[::1]:80");
        let address = "`localhost` is not an address and a port, such as `127.0.0.1:7420`";
        check(Kind::Address, "localhost", address);
    }
}
