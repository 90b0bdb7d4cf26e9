//! Values that YAML has no type for: durations, and variables with a type of their own.

use std::time::Duration;

use serde_json::Value;

use super::{
    keys,
    node::{Content, Node},
    reader::Reader,
};
use crate::{Var, VarKind};

/// The longest duration that is taken: a year.
const SECONDS_MAX: u64 = 366 * 24 * 60 * 60;

/// Reads `90s`, `15m`, `2h`, `1h 30m` or `1d`. Nothing is not a duration, nor is more than a year.
pub(super) fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut seconds = 0_u64;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let (number, after) = rest.split_at_checked(digits)?;
        let unit = match after.chars().next()? {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return None,
        };
        seconds = seconds.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        rest = after.get(1..)?.trim_start();
    }
    (0 < seconds && seconds <= SECONDS_MAX).then(|| Duration::from_secs(seconds))
}

impl VarKind {
    /// Every kind, with its word.
    const WORDS: [(&'static str, Self); 6] = [
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("string", Self::String),
        ("list", Self::List),
        ("object", Self::Object),
    ];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Boolean),
            Value::Number(it) if it.is_f64() => Some(Self::Number),
            Value::Number(_) => Some(Self::Integer),
            Value::String(_) => Some(Self::String),
            Value::Array(_) => Some(Self::List),
            Value::Object(_) => Some(Self::Object),
        }
    }

    /// The value of a variable that has no other default.
    fn empty(self) -> Value {
        match self {
            Self::Boolean => false.into(),
            Self::Integer | Self::Number => 0.into(),
            Self::String => "".into(),
            Self::List => Value::Array(Vec::new()),
            Self::Object => Value::Object(serde_json::Map::new()),
        }
    }

    fn fits(self, value: &Value) -> bool {
        Self::of(value) == Some(self) || (self == Self::Number && value.is_number())
    }
}

/// Reads a variable: a value, whose kind is then the variable's, or a map that says more.
pub(super) fn read_var(reader: &mut Reader<'_>, name: &str, node: &Node) -> Option<Var> {
    let key = format!("vars.{name}");
    let second = if reader.language == 1 { "default" } else { "one_of" };
    let is_long = matches!(&node.content, Content::Map(fields)
        if fields.iter().any(|(it, _)| it.key() == "type" || it.key() == second));
    if !is_long {
        let default = node.to_json();
        let Some(kind) = VarKind::of(&default) else {
            let help = "write its first value, such as `''`, `0` or `[]`".to_owned();
            reader.refuse("value_invalid", node, format!("`{key}` has no type"), help);
            return None;
        };
        return Some(Var { kind, default, one_of: Vec::new() });
    }
    let fields = reader.fields(node, &key, &[&keys::VAR])?;
    let default = fields.find("default");
    let choices = fields.read(reader, "one_of", Reader::list);
    let kind = match fields.find("type") {
        Some(it) => reader.choice(it, &format!("{key}.type"), &VarKind::WORDS)?,
        None => VarKind::of(&default.or_else(|| choices?.first())?.to_json())?,
    };
    let mut is_fine = true;
    let mut check = |reader: &mut Reader<'_>, it: &Node| {
        if !kind.fits(&it.to_json()) {
            is_fine = false;
            let word = kind.word();
            reader.refuse_value(it, format!("`{key}` is of type `{word}`, and this is not"));
        }
    };
    for it in choices.unwrap_or_default().iter().chain(default) {
        check(reader, it);
    }
    let one_of: Vec<Value> = choices.unwrap_or_default().iter().map(Node::to_json).collect();
    let value = default.map(Node::to_json).or_else(|| one_of.first().cloned());
    let value = value.unwrap_or_else(|| kind.empty());
    if let Some(default) = default.filter(|_| !one_of.is_empty() && !one_of.contains(&value)) {
        reader.refuse_value(default, format!("`{key}.default` is not among its `one_of`"));
        return None;
    }
    is_fine.then_some(Var { kind, default: value, one_of })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let seconds = |text: &str| parse_duration(text).map(|it| it.as_secs());
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("15m"), Some(900));
        assert_eq!(seconds("2h"), Some(7200));
        assert_eq!(seconds("1h 30m"), Some(5400));
        assert_eq!(seconds("1h30m"), Some(5400));
        assert_eq!(seconds("1d"), Some(86400));
        for wrong in [
            "",
            "15",
            "m",
            "0s",
            "-1s",
            "1.5h",
            "1w",
            "1 h",
            "99999d",
            "é",
            "9".repeat(30).as_str(),
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
