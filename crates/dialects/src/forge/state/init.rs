//! `init`: a pipeline begins in a folder, in place of the one that is there.

use engine::{Command, RunFile, StartRun};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    super::{
        WORKFLOW,
        answer::{Answer, Failure},
        place,
    },
    change::ENDS,
};
use crate::kit::{Ask, Caller, Deed, Hints, Look, Outcome, Snapshot, Stopped, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::forge) struct Init {
    /// Its folder, which exists
    workspace: String,
    /// What it is called
    spec_name: String,
    /// Whether `validate_input` found the request valid
    validated: bool,
}

/// What the state file of a pipeline is called that another took the place of.
const REPLACED: &str = "state-replaced";

impl Tool for Init {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "init";
    const TITLE: &'static str = "Begin a bare pipeline";
    const DESCRIPTION: &'static str = "Begin a pipeline in an existing folder, in place of the \
                                       one that is there. `pipeline_init` is the usual way.";
    const HINTS: Hints = ENDS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let spec_name = self.spec_name.trim();
        if spec_name.is_empty() {
            let message = "init: argument `spec_name` is required";
            return Err(Failure::new("argument_invalid", message, "name the spec"));
        }
        let (folder, key) = place::find_key(caller, &self.workspace)?;
        if !self.validated {
            let message = "BLOCKED: `init` needs `validated: true`, after `validate_input` \
                           found the request valid";
            return Err(Failure::new("not_validated", message, ""));
        }
        let vars = [("spec_name", spec_name), ("workspace", folder.as_str())];
        let vars = vars.map(|(name, value)| (name.to_owned(), Value::from(value)));
        let start = Box::new(StartRun {
            goes_on: false,
            key: Some(key.clone()),
            flow: None,
            context: Map::new(),
            vars: vars.into_iter().collect(),
            root: caller.root.clone(),
        });
        Ok(folder.is_there().then(move |is_there| {
            if !is_there {
                let message = format!("init: there is no folder `{key}`");
                let failure = Failure::new("workspace_unknown", message, "make it first");
                return Self::fail(failure).into();
            }
            let keys = vec![key.clone()];
            let begin = move |found: Result<Option<(Snapshot, RunFile)>, Stopped>| match found {
                Ok(found) => begin(found.map(|it| it.0), &key, start),
                Err(stopped) => Self::fail(Failure::of(Self::NAME, &stopped)).into(),
            };
            Look::File(WORKFLOW, keys, Box::new(begin)).into()
        }))
    }
}

/// Has the pipeline begun. One that is there gives its place up, and its state file is kept under
/// another name.
fn begin(there: Option<Snapshot>, key: &str, start: Box<StartRun>) -> Ask {
    let workflow = WORKFLOW.to_owned();
    let deed = match there {
        None => Deed::Start { workflow, start },
        Some(there) => {
            let state = &there.view.state;
            let reason = "another pipeline took its place".to_owned();
            let cancel = || Box::new(Command::CancelRun { reason });
            let (run, command) = (state.run, state.standing.is_live().then(cancel));
            let aside = format!("{key}/{REPLACED}");
            Deed::Replace { run, command, aside, workflow, start }
        }
    };
    let then = |done: Result<Outcome, Stopped>| {
        let failed = |it: Stopped| Failure::of(Init::NAME, &it);
        Init::tell(done.map(|_| Answer::ok()).map_err(failed))
    };
    Ask::Do(deed, Box::new(then))
}
