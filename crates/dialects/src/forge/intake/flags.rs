//! The flags of a new pipeline, as `pipeline_init` tells them and is told them again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    arguments::Arguments,
    effort::{Effort, wrong_effort},
    extent::Extent,
    preferences::Preferences,
};

/// What is wanted of a pipeline.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "these are the members that the contract has")]
pub struct Flags {
    pub auto: bool,
    pub skip_pr: bool,
    pub debug: bool,
    pub discuss: bool,
    pub effort_override: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub current_branch: String,
    #[serde(flatten)]
    pub extent: Extent,
}

impl Flags {
    /// Returns the flags of the arguments, with what is preferred where they say nothing.
    pub fn new(arguments: &Arguments, preferred: Preferences, branch: String) -> Self {
        let is_on = |flag: &str, preferred: Option<bool>| {
            arguments.has(flag) || preferred.unwrap_or_default()
        };
        let effort = arguments.effort().or(preferred.effort);
        Self {
            auto: is_on("auto", preferred.auto),
            skip_pr: is_on("nopr", preferred.nopr),
            debug: is_on("debug", preferred.debug),
            discuss: is_on("discuss", preferred.discuss),
            effort_override: effort.map(|it| it.as_str().to_owned()),
            current_branch: branch,
            // What is wrong with it was told when the arguments were read.
            extent: arguments.extent().unwrap_or_default(),
        }
    }

    /// Reads flags that are told again; the error says what is wrong with them.
    pub fn read(members: Option<Map<String, Value>>) -> Result<Self, String> {
        let mut members = members.unwrap_or_default();
        members.retain(|_, value| !value.is_null());
        let flags: Self = serde_json::from_value(Value::Object(members))
            .map_err(|error| format!("argument `flags` cannot be read: {error}"))?;
        flags.extent.check()?;
        match flags.effort_override.as_deref() {
            None | Some("") => Ok(flags),
            Some(word) if Effort::find(word).is_some() => Ok(flags),
            Some(word) => Err(wrong_effort(word)),
        }
    }

    /// Returns the effort that is asked for.
    pub fn effort(&self) -> Option<Effort> {
        self.effort_override.as_deref().and_then(Effort::find)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::effort::Effort;
    use super::{Arguments, Flags, Preferences};

    fn read(members: &Value) -> Result<Flags, String> {
        Flags::read(members.as_object().cloned())
    }

    #[test]
    fn preferences_switch_on_and_never_off() {
        let preferred = Preferences {
            auto: Some(true),
            debug: Some(false),
            effort: Some(Effort::L),
            ..Preferences::default()
        };
        let flags =
            |text: &str| Flags::new(&Arguments::parse(text).unwrap(), preferred, "main".to_owned());
        let one = flags("some text here --effort=S --debug");
        assert!(one.auto && one.debug && !one.skip_pr && !one.discuss);
        assert_eq!(one.effort(), Some(Effort::S));
        assert_eq!(flags("some text here").effort(), Some(Effort::L));
    }

    #[test]
    fn how_far_it_goes_is_told_where_it_was_said() {
        let text = "fix login --from=phase-3 --until=phase-4 --budget=$3";
        let arguments = Arguments::parse(text).unwrap();
        let flags = Flags::new(&arguments, Preferences::default(), String::new());
        let told = serde_json::to_value(&flags).unwrap();
        assert_eq!(told["from"], "phase-3");
        assert_eq!((&told["until"], &told["budget_dollars"]), (&json!("phase-4"), &json!(3.0)));
        assert_eq!(read(&told), Ok(flags));
        assert!(read(&json!({ "until": "phase-77" })).unwrap_err().contains("phase-1"));
        assert!(read(&json!({ "budget_tokens": -1 })).unwrap_err().contains("`flags`"));
        assert!(read(&json!({ "budget_dollars": -1 })).unwrap_err().contains("below zero"));
    }

    #[test]
    fn flags_are_told_and_told_again() {
        let arguments = Arguments::parse("fix login --auto").unwrap();
        let flags = Flags::new(&arguments, Preferences::default(), String::new());
        let told = serde_json::to_value(&flags).unwrap();
        assert_eq!(
            told,
            json!({ "auto": true, "skip_pr": false, "debug": false, "discuss": false,
                "effort_override": null }),
        );
        assert_eq!(read(&told), Ok(flags));
        assert_eq!(read(&json!({ "junk": 1, "skip_pr": null })), Ok(Flags::default()));
        assert_eq!(Flags::read(None), Ok(Flags::default()));
        assert!(read(&json!({ "auto": "yes" })).unwrap_err().contains("`flags`"));
        assert!(read(&json!({ "effort_override": "XS" })).unwrap_err().contains("S, M, L"));
    }
}
