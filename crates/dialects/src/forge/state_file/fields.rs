//! The fields of a document: their order, their types, and what they are where they are not there.

use super::{VERSION, tasks};
use crate::kit::json::{Json, Object};

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Count,
    Text,
    Flag,
    List,
    Map,
    /// Null where it is not there.
    MaybeText,
    MaybeMap,
    /// Left out where it is not there.
    OptionalText,
    OptionalFlag,
    OptionalMap,
}

const FIELDS: [(&str, Kind); 29] = [
    ("version", Kind::Count),
    ("forge-state-mcp-version", Kind::OptionalText),
    ("specName", Kind::Text),
    ("workspace", Kind::Text),
    ("branch", Kind::MaybeText),
    ("effort", Kind::MaybeText),
    ("flowTemplate", Kind::MaybeText),
    ("autoApprove", Kind::Flag),
    ("skipPr", Kind::Flag),
    ("useCurrentBranch", Kind::Flag),
    ("branchClassified", Kind::Flag),
    ("branchPushed", Kind::Flag),
    ("debug", Kind::Flag),
    ("skippedPhases", Kind::List),
    ("currentPhase", Kind::Text),
    ("currentPhaseStatus", Kind::Text),
    ("completedPhases", Kind::List),
    ("revisions", Kind::Map),
    ("designReviseCapReached", Kind::OptionalFlag),
    ("checkpointRevisionPending", Kind::Map),
    ("needsBatchCommit", Kind::Flag),
    ("pendingHumanGate", Kind::OptionalText),
    ("tasks", Kind::Map),
    ("phaseLog", Kind::List),
    ("timestamps", Kind::Map),
    ("error", Kind::MaybeMap),
    ("lastDispatch", Kind::OptionalMap),
    ("status", Kind::Text),
    ("phases", Kind::List),
];

const REVISIONS: [(&str, Kind); 4] = [
    ("designRevisions", Kind::Count),
    ("taskRevisions", Kind::Count),
    ("designInlineRevisions", Kind::Count),
    ("taskInlineRevisions", Kind::Count),
];

const PENDING: [(&str, Kind); 2] = [("checkpoint-a", Kind::Flag), ("checkpoint-b", Kind::Flag)];

const TIMESTAMPS: [(&str, Kind); 3] =
    [("created", Kind::Text), ("lastUpdated", Kind::Text), ("phaseStarted", Kind::MaybeText)];

/// Returns the document with all its fields, in their order, and the rest behind them.
pub(super) fn complete(object: Object) -> Result<Object, String> {
    let mut object = arrange(object, &FIELDS, "")?;
    for (key, fields) in [
        ("revisions", &REVISIONS[..]),
        ("checkpointRevisionPending", &PENDING),
        ("timestamps", &TIMESTAMPS),
    ] {
        let inner = std::mem::take(object.entry(key).make_object());
        object.set(key, arrange(inner, fields, &format!("{key}."))?);
    }
    let tasks = tasks::complete(object.entry("tasks").make_object())?;
    object.set("tasks", tasks);
    if object.get("version").and_then(Json::as_count) < Some(VERSION) {
        object.set("version", VERSION);
    }
    Ok(object)
}

/// Returns an object with these fields, in their order, and the rest behind them.
pub(super) fn arrange(
    mut object: Object,
    fields: &[(&str, Kind)],
    outer: &str,
) -> Result<Object, String> {
    let mut whole: Vec<(String, Json)> = Vec::new();
    for (key, kind) in fields {
        let value = object.remove(key).filter(|it| !it.is_null());
        let value = match value {
            Some(value) if kind.fits(&value) => Some(value),
            Some(_) => return Err(format!("`{outer}{key}` is not {}", kind.says())),
            None => kind.absent(),
        };
        let is_left_out = value.as_ref().is_some_and(|it| kind.is_left_out(it));
        whole.extend(value.filter(|_| !is_left_out).map(|it| ((*key).to_owned(), it)));
    }
    whole.extend(object.iter().map(|(key, value)| (key.to_owned(), value.clone())));
    Ok(whole.into_iter().collect())
}

impl Kind {
    fn fits(self, value: &Json) -> bool {
        match self {
            Self::Count => value.as_count().is_some(),
            Self::Text | Self::MaybeText | Self::OptionalText => value.as_text().is_some(),
            Self::Flag | Self::OptionalFlag => matches!(value, Json::Bool(_)),
            Self::List => value.as_list().is_some(),
            Self::Map | Self::MaybeMap | Self::OptionalMap => value.as_object().is_some(),
        }
    }

    fn says(self) -> &'static str {
        match self {
            Self::Count => "a whole number",
            Self::Text | Self::MaybeText | Self::OptionalText => "a text",
            Self::Flag | Self::OptionalFlag => "true or false",
            Self::List => "a list",
            Self::Map | Self::MaybeMap | Self::OptionalMap => "an object",
        }
    }

    /// Returns what a field is that is not there.
    fn absent(self) -> Option<Json> {
        match self {
            Self::Count => Some(0_u64.into()),
            Self::Text => Some("".into()),
            Self::Flag => Some(false.into()),
            Self::List => Some(Vec::new().into()),
            Self::Map => Some(Object::new().into()),
            Self::MaybeText | Self::MaybeMap => Some(Json::Null),
            Self::OptionalText | Self::OptionalFlag | Self::OptionalMap => None,
        }
    }

    /// Whether a value says as much as none.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only these are left out")]
    fn is_left_out(self, value: &Json) -> bool {
        match self {
            Self::OptionalText => value.as_text() == Some(""),
            Self::OptionalFlag => *value == Json::Bool(false),
            _ => false,
        }
    }
}
