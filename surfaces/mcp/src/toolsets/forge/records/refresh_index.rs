//! `refresh_index`: writes `index.json` from all specs.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    files::{INDEX, no_specs, unreadable},
    library::library,
};
use crate::tool::{Call, Done, Effect, Hints};

pub(super) struct RefreshIndex;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Any spec's folder
    workspace: String,
}

impl DialectTool for RefreshIndex {
    type Parameters = Parameters;
    const NAME: &'static str = "refresh_index";
    const TITLE: &'static str = "Refresh the index";
    const DESCRIPTION: &'static str = "Rebuild `index.json` from all specs, for `search_patterns`.";
    const HINTS: Hints = Hints { effect: Effect::Adds, is_idempotent: true, reaches_out: false };

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let specs = Folder::reach(call, &parameters.workspace)?.parent();
        if !specs.exists(call).await {
            return Err(no_specs(&specs));
        }
        let count = library(call, &specs).await.write_index(call, &specs).await;
        let count = count.map_err(|problem| unreadable(specs.as_str(), &problem))?;
        let path = format!("{}/{INDEX}", specs.seen_from(&Folder::project(call)));
        let noun = if count == 1 { "entry" } else { "entries" };
        Ok(Answer::text(format!("wrote {count} {noun} to `{path}`")).into())
    }
}
