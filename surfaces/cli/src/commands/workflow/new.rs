//! `milepost workflow new`: writes a small workflow that works, to be changed from there.

use std::path::Path;

use definition::WorkflowName;
use runtime::World as _;
use serde_json::json;
use world::beneath::{Care, Root};

use super::schema::Of;
use crate::{
    config::FOLDER,
    failure::Failure,
    join::Joined,
    output::{Reply, text},
};

/// What `workflow new` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// What it is to be called: the name of its folder
    #[arg(value_name = "NAME")]
    name: String,
}

/// The files, by their path below the workflow's folder. `NAME` is replaced.
const FILES: &[(&str, &str)] = &[
    ("index.md", include_str!("new/index.md")),
    ("steps/01-plan.md", include_str!("new/01-plan.md")),
    ("steps/02-work.md", include_str!("new/02-work.md")),
    ("steps/03-report.md", include_str!("new/03-report.md")),
    ("steps/04-handle-failure.md", include_str!("new/04-handle-failure.md")),
];

/// The schemas for editors, beside the folder of workflows, where the files name them.
const SCHEMAS: [(&str, Of); 3] = [
    ("schema/index.schema.json", Of::Index),
    ("schema/step.schema.json", Of::Step),
    ("schema/graph.schema.json", Of::Graph),
];

/// Writes it.
pub(super) fn perform(joined: &Joined, args: &NewArgs) -> Result<Reply, Failure> {
    let name = WorkflowName::parse(&args.name).map_err(|error| {
        Failure::usage(format!("`{}` cannot be the name of a workflow: {error}", args.name))
    })?;
    let places = &joined.config.places;
    let inside = Path::new(FOLDER).join("workflows").join(name.as_str());
    let (root, folder) = (Root::project(&places.root)?, places.root.join(&inside));
    if root.find_kind(&inside)?.is_some() {
        let message = format!("`{}` is there already", folder.display());
        return Err(Failure::refused("workflow_exists", message).with_hint("take another name"));
    }
    let hidden = joined.world.find_workflows().into_iter().find(|it| it.name == name);
    let quoted = serde_json::to_string(name.as_str()).unwrap_or_default();
    for (path, text) in FILES {
        root.place_new(&inside.join(path), text.replace("NAME", &quoted).as_bytes(), Care::Plain)?;
    }
    for (path, schema) in SCHEMAS {
        root.replace(&Path::new(FOLDER).join(path), schema.text().as_bytes(), Care::Plain)?;
    }
    let shown = folder.strip_prefix(&places.working).unwrap_or(&folder).display().to_string();
    let json = json!({
        "name": name.as_str(),
        "folder": folder.display().to_string(),
        "files": FILES.iter().map(|it| it.0).collect::<Vec<_>>(),
    });
    let mut text = format!("wrote {shown}\n");
    for (path, _) in FILES {
        text.push_str(&format!("  {path}\n"));
    }
    let typed = text::word(name.as_str());
    let note = format!(
        "Change it, then look at it with `milepost workflow check {typed}` and `milepost workflow \
         show {typed}`, and walk it with `milepost workflow try {typed}`. An agent starts it with \
         `start_workflow`."
    );
    let note = match hidden {
        Some(hidden) => {
            let origin = text::line(&hidden.origin);
            format!("It takes the place of another workflow `{name}` ({origin}).\n{note}")
        }
        None => note,
    };
    Ok(Reply::new(json, text).with_note(note))
}
