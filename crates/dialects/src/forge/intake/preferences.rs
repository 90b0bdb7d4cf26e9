//! `preferences.json`: what a person wants of every new pipeline.

use serde::Serialize;
use serde_json::{Map, Value};

use super::effort::{Effort, wrong_effort};

/// The name of the file, in the specs' folder.
pub const PREFERENCES: &str = "preferences.json";

/// What is set; the rest is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Preferences {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nopr: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discuss: Option<bool>,
}

impl Preferences {
    /// Reads members, and passes over those that are none of them.
    pub fn read(members: &Map<String, Value>) -> Result<Self, String> {
        let flag = |name: &str| match members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(
                other @ (Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_)),
            ) => Err(format!("preference `{name}` must be true or false, not {other}")),
        };
        Ok(Self {
            auto: flag("auto")?,
            debug: flag("debug")?,
            effort: effort(members.get("effort"))?,
            nopr: flag("nopr")?,
            discuss: flag("discuss")?,
        })
    }

    /// Reads the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let members = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Self::read(&members)
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let why = "a few flags and a letter are always JSON";
        format!("{}\n", serde_json::to_string_pretty(self).expect(why))
    }
}

fn effort(value: Option<&Value>) -> Result<Option<Effort>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) => match Effort::find(word) {
            Some(effort) => Ok(Some(effort)),
            None => Err(wrong_effort(word)),
        },
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => {
            Err(wrong_effort(&other.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Preferences;

    fn read(members: &Value) -> Result<Preferences, String> {
        Preferences::read(members.as_object().unwrap())
    }

    #[test]
    fn what_is_set_is_kept_and_the_rest_dropped() {
        let members =
            json!({ "auto": true, "effort": "L", "junk": 1, "nopr": false, "discuss": true });
        let preferences = read(&members).unwrap();
        let text = preferences.text();
        assert_eq!(
            text,
            "{\n  \"auto\": true,\n  \"effort\": \"L\",\n  \"nopr\": false,\n  \"discuss\": true\n}\n"
        );
        assert_eq!(Preferences::parse(&text), Ok(preferences));
        assert_eq!(read(&json!({})).unwrap().text(), "{}\n");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(read(&json!({ "effort": "XL" })).unwrap_err().contains("S, M, L"));
        assert!(read(&json!({ "effort": 3 })).unwrap_err().contains("S, M, L"));
        assert!(read(&json!({ "auto": "yes" })).unwrap_err().contains("`auto`"));
        assert!(Preferences::parse("{").is_err());
        assert!(Preferences::parse("[]").is_err());
    }
}
