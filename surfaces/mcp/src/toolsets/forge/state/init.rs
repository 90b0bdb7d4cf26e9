//! `init`: a pipeline begins in a folder, in place of the one that is there.

use engine::{Command, StartRun};
use runtime::{Request, Target};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::{
    WORKFLOW,
    answer::{Answer, Failure},
    dialect::DialectTool,
    place::Folder,
    workspace,
};
use crate::tool::{Call, Done, Effect, Hints};

pub(super) struct Init;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Its folder, which exists
    workspace: String,
    /// What it is called
    spec_name: String,
    /// Whether `validate_input` found the request valid
    validated: bool,
}

/// What the state file of a pipeline is called that another took the place of.
const REPLACED: &str = "state-replaced";

impl DialectTool for Init {
    type Parameters = Parameters;
    const NAME: &'static str = "init";
    const TITLE: &'static str = "Begin a bare pipeline";
    const DESCRIPTION: &'static str = "Begin a pipeline in an existing folder, in place of the \
                                       one that is there. `pipeline_init` is the usual way.";
    const HINTS: Hints = Hints { effect: Effect::Ends, ..Hints::ADDS };

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let spec_name = parameters.spec_name.trim();
        if spec_name.is_empty() {
            let message = "init: argument `spec_name` is required";
            return Err(Failure::new("argument_invalid", message, "name the spec"));
        }
        let (folder, key) = workspace::find_key(call, &parameters.workspace)?;
        if !parameters.validated {
            let message = "BLOCKED: `init` needs `validated: true`, after `validate_input` \
                           found the request valid";
            return Err(Failure::new("not_validated", message, ""));
        }
        if !folder.is_there(call).await {
            let message = format!("init: there is no folder `{key}`");
            return Err(Failure::new("workspace_unknown", message, "make it first"));
        }
        make_room(call, &key).await?;
        start(call, &folder, key, spec_name).await?;
        Ok(Answer::ok().into())
    }
}

/// Has the pipeline that is there give its place up. Its state file is kept under another name.
async fn make_room(call: &Call<'_>, key: &str) -> Result<(), Failure> {
    let fails = |error| workspace::failure(Init::NAME, &error);
    let Some((view, _)) = call.runtime.take_in_file(WORKFLOW, key).await.map_err(fails)? else {
        return Ok(());
    };
    let run = view.state.run;
    if view.state.standing.is_live() {
        let reason = "another pipeline took its place".to_owned();
        let (target, command) = (Target::Run(run), Command::CancelRun { reason });
        let (actor, request_id) = (call.actor.clone(), None);
        let request = Request { target, command, actor, request_id };
        call.runtime.execute(request).await.map_err(fails)?;
    }
    let name = format!("{key}/{REPLACED}");
    let put_away = call.runtime.put_away(run, call.actor.clone(), |_| Some(name));
    put_away.await.map(drop).map_err(fails)
}

async fn start(
    call: &Call<'_>,
    folder: &Folder,
    key: String,
    spec_name: &str,
) -> Result<(), Failure> {
    let vars = [("spec_name", spec_name), ("workspace", folder.as_str())];
    let start = StartRun {
        key: Some(key),
        flow: None,
        context: Map::new(),
        vars: vars.map(|(name, value)| (name.to_owned(), Value::from(value))).into_iter().collect(),
        root: call.runtime.settings().root.clone(),
    };
    let request = Request {
        target: Target::New(WORKFLOW.to_owned()),
        command: Command::StartRun(Box::new(start)),
        actor: call.actor.clone(),
        request_id: None,
    };
    let begun = call.runtime.execute(request).await;
    begun.map(drop).map_err(|error| workspace::failure(Init::NAME, &error))
}
