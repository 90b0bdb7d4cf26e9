//! What there is to say of a classic tool. `rows.rs` says it.

use serde_json::{Map, Value, json};

use super::rows::ROWS;
use crate::kit::{Hints, schema};

/// A classic tool. Its number is that of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guidance {
    Init,
    Analyze,
    Blueprint,
    Construct,
    Validate,
    Revise,
    Complete,
    Iterate,
    Finalize,
    ErrorRecovery,
    FixValidation,
    Escalate,
    Changelog,
    Update,
    CreateState,
    CheckConfig,
    CreateConfig,
    ValidateFiles,
    Hello,
}

/// What there is to know of a tool.
pub(crate) struct Row {
    pub(crate) tool: Guidance,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) hints: Hints,
    pub(crate) params: &'static [Param],
    /// The move that it makes. Empty where it only looks, or makes a file.
    pub(crate) makes: &'static str,
    /// Whether it works on a task, and so cannot do without one.
    pub(crate) takes_task: bool,
    /// Its text, with places to fill.
    pub(crate) text: &'static str,
    /// The calls that usually follow. Where none applies, where the run is decides; `None`: nothing
    /// follows.
    pub(crate) then: Option<&'static [Advice]>,
}

/// A call that may follow: when, with `[conditions]` as in the texts and the moves of calls that are
/// named before it; which tool; and its arguments. `{detail}` is what was sent with the call.
pub(crate) type Advice = (&'static str, Guidance, &'static [(&'static str, &'static str)]);

/// What an agent passes in.
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: Kind,
    /// What the text calls it that quotes it.
    pub(crate) label: &'static str,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Needed,
    Optional,
    /// A path that is `project_config.md` where it is left out.
    Path,
    Flag,
    /// A text for which `null` is a value of its own.
    Clearable,
}

/// A text that must be there.
pub(super) const fn needed(name: &'static str, about: &'static str) -> Param {
    Param { name, about, kind: Kind::Needed, label: "" }
}

/// A text that may be left out.
pub(super) const fn optional(name: &'static str, about: &'static str) -> Param {
    Param { name, about, kind: Kind::Optional, label: "" }
}

/// A text that the answer quotes.
pub(super) const fn detail(name: &'static str, about: &'static str, label: &'static str) -> Param {
    Param { name, about, kind: Kind::Needed, label }
}

/// The file with the project's commands.
pub(super) const fn path(about: &'static str) -> Param {
    Param { name: CONFIG_PATH, about, kind: Kind::Path, label: "" }
}

pub(crate) const TASK: &str = "task_description";
pub(crate) const CONFIG_PATH: &str = "project_config_path";
pub(crate) const APPROVAL: &str = "user_approval";
pub(crate) const ITEM: &str = "current_item";

pub(super) const TASK_PARAM: Param =
    needed(TASK, "What is to be done, best as `Action: Brief description`");

impl Guidance {
    /// Returns what there is to know of the tool.
    pub(crate) fn row(self) -> &'static Row {
        const ALL: &[Row] = &ROWS;
        ALL.iter().find(|it| it.tool == self).expect("every tool has a row")
    }

    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }
}

impl Row {
    /// Returns the row of the tool called `name`.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        const ALL: &[Row] = &ROWS;
        ALL.iter().find(|it| it.name == name)
    }

    /// Returns the parameter that a text quotes.
    pub(crate) fn detail(&self) -> Option<&'static Param> {
        self.params.iter().find(|it| !it.label.is_empty())
    }

    /// Whether it has a parameter.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.params.iter().any(|it| it.name == name)
    }

    /// Returns the JSON Schema of the parameters.
    pub(crate) fn schema(&self) -> Map<String, Value> {
        let required = self.params.iter().filter(|it| it.kind == Kind::Needed).map(|it| it.name);
        let required: Vec<&str> = required.collect();
        let properties = self.params.iter().map(|it| (it.name.to_owned(), it.schema()));
        let mut schema = schema::object(json!({
            "type": "object",
            "properties": properties.collect::<Map<_, _>>(),
        }));
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema
    }
}

impl Param {
    /// Returns its JSON Schema.
    pub(super) fn schema(&self) -> Value {
        let about = self.about;
        match self.kind {
            Kind::Needed => json!({"type": "string", "description": about}),
            Kind::Optional => json!({"type": ["string", "null"], "description": about}),
            Kind::Path => json!({
                "type": ["string", "null"], "description": about, "x-default": "project_config.md",
            }),
            Kind::Flag => json!({"type": ["boolean", "null"], "description": about}),
            Kind::Clearable => json!({"type": "string", "description": about, "x-null": true}),
        }
    }
}
