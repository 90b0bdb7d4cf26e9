//! What a pipeline can learn from its files before it goes on: where its request came from, and what
//! its branch is to be called.

use engine::RunState;
use serde_json::{Map, Value};

use super::super::{
    intake::{
        branch::classify,
        request::{REQUEST_FILE, RequestFile},
    },
    workspace::Pipeline,
};
use crate::kit::Seeing;

/// The file with the design.
const DESIGN: &str = "design.md";

/// Finds the variables that the files give a value.
pub(super) fn find(pipeline: &Pipeline) -> Seeing<Map<String, Value>> {
    let branch = find_branch(pipeline);
    find_source(pipeline).then(move |source| {
        branch.map(move |branch| {
            let mut set = source.unwrap_or_default();
            set.extend(branch.map(|it| ("branch_to".to_owned(), it.into())));
            set
        })
    })
}

/// Returns what the branch of a pipeline is called.
pub(super) fn branch(pipeline: &Pipeline) -> &str {
    text(&pipeline.view.state, "branch")
}

fn text<'a>(state: &'a RunState, name: &str) -> &'a str {
    state.vars.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Finds where the request came from, if the run does not know it: one that was begun from a state
/// file has it in the request alone.
fn find_source(pipeline: &Pipeline) -> Seeing<Option<Map<String, Value>>> {
    let known = pipeline.view.state.vars.get("source_url").and_then(Value::as_str);
    if known != Some("") {
        return Seeing::Seen(None);
    }
    pipeline.folder.text(REQUEST_FILE).map(|text| {
        let source = RequestFile::parse(&text.ok()??).source()?;
        let vars = [
            ("source_type", source.tracker.source_type().to_owned()),
            ("source_url", source.url),
            ("source_id", source.id),
        ];
        Some(vars.into_iter().map(|(name, it)| (name.to_owned(), it.into())).collect())
    })
}

/// Finds what the branch is to be called by what the design says that the work is about, as long as
/// nobody was asked at a checkpoint. Whether and when it is renamed, the definition says.
fn find_branch(pipeline: &Pipeline) -> Seeing<Option<String>> {
    let Some((kind, rest)) = branch(pipeline).split_once('/') else { return Seeing::Seen(None) };
    if pipeline.file().is("branchClassified") {
        return Seeing::Seen(None);
    }
    let (kind, rest) = (kind.to_owned(), rest.to_owned());
    let known = text(&pipeline.view.state, "branch_to").to_owned();
    pipeline.folder.text(DESIGN).map(move |design| {
        let wanted = classify(&design.ok()??);
        let branch = if wanted == kind { String::new() } else { format!("{wanted}/{rest}") };
        (branch != known).then_some(branch)
    })
}
