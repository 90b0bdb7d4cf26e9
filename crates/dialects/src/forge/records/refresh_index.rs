//! `refresh_index`: writes `index.json` from all specs.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        place,
    },
    files::{INDEX, unreadable},
    library::Specs,
};
use crate::kit::{Ask, Caller, Effect, Folder, Hints, Tell, Text, Tool, Write};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RefreshIndex {
    /// Any spec's folder
    workspace: String,
}

impl Tool for RefreshIndex {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "refresh_index";
    const TITLE: &'static str = "Refresh the index";
    const DESCRIPTION: &'static str = "Rebuild `index.json` from all specs, for `search_patterns`.";
    const HINTS: Hints = Hints { effect: Effect::Adds, is_idempotent: true, reaches_out: false };

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let specs = Specs::of(caller);
        let workspace = place::reached(caller, &self.workspace)?;
        let folder = specs.folder.clone();
        if workspace.parent() != folder {
            return Err(elsewhere(&workspace, &folder));
        }
        let path = format!("{}/{INDEX}", folder.seen_from(&place::project(caller)));
        Ok(workspace.is_there().then(move |is_there| {
            if !is_there {
                return Self::fail(missing(&workspace)).into();
            }
            specs.index().then(move |made| {
                let written = folder.clone();
                let tell = move |count: Result<usize, String>| -> Tell {
                    let failed = |problem: String| unreadable(folder.as_str(), &problem);
                    Self::tell(count.map(|it| wrote(it, &path)).map_err(failed))
                };
                match made {
                    Ok((count, Some(text))) => {
                        let (path, text) = (INDEX.to_owned(), Text::Whole(text));
                        let write = Write { folder: written, path, text, is_private: true };
                        Ask::Write(write, Box::new(move |it| tell(it.map(|()| count))))
                    }
                    Ok((count, None)) => tell(Ok(count)).into(),
                    Err(problem) => tell(Err(problem)).into(),
                }
            })
        }))
    }
}

fn elsewhere(workspace: &Folder, specs: &Folder) -> Failure {
    let message =
        format!("`{}` is not in the specs' folder `{}`", workspace.as_str(), specs.as_str());
    let hint = "name the folder of a spec, or set `forge.specs` to where the specs are";
    Failure::new("workspace_outside", message, hint)
}

fn missing(workspace: &Folder) -> Failure {
    let message = format!("there is no folder `{}`", workspace.as_str());
    Failure::new("workspace_not_found", message, "name the folder of a spec that is there")
}

fn wrote(count: usize, path: &str) -> Answer {
    let noun = if count == 1 { "entry" } else { "entries" };
    Answer::text(format!("wrote {count} {noun} to `{path}`"))
}
