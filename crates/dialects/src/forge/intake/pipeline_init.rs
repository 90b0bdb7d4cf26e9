//! `pipeline_init`: what a string asks for. Nothing is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        STATE_FILE,
        answer::{Answer, Failure},
        place,
    },
    arguments::{Arguments, Subject},
    flags::Flags,
    preferences_get, slug,
    source::{Fetch, TEXT},
};
use crate::kit::{Ask, Caller, Folder, Hints, Seeing, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PipelineInit {
    /// Task description, issue URL or spec folder, with flags (`--until=`, `--from=` PHASE,
    /// `--budget=` TOKENS or $ among them)
    arguments: String,
    /// The branch that is checked out
    #[serde(default)]
    current_branch: String,
}

#[derive(Serialize)]
struct Refused {
    errors: Vec<String>,
}

#[derive(Serialize)]
struct Resumed {
    resume_mode: &'static str,
    workspace: String,
    instruction: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    warning: String,
}

#[derive(Serialize)]
struct New {
    workspace: String,
    spec_name: String,
    source_type: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    source_url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    source_id: String,
    core_text: String,
    flags: Flags,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetch_needed: Option<Fetch>,
}

impl Tool for PipelineInit {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "pipeline_init";
    const TITLE: &'static str = "Read a pipeline's input";
    const DESCRIPTION: &'static str = "Find out what is asked for: a new pipeline, with its workspace, flags and what to fetch, or \
         one to resume. Writes nothing; `pipeline_init_with_context` comes next.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let refuse = |error: String| Self::say(Answer::json(&Refused { errors: vec![error] }));
        let arguments = match Arguments::parse(&self.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Ok(refuse(error).into()),
        };
        let caller = caller.clone();
        Ok(find_workspace(&caller, &arguments.core_text).then(move |found| match found {
            Err(error) => refuse(error).into(),
            Ok(Some(workspace)) => {
                let instruction = "call `resume_info`, then `pipeline_next_action`";
                let warning = ignored(&arguments);
                let resumed = Resumed { resume_mode: "auto", workspace, instruction, warning };
                Self::say(Answer::json(&resumed)).into()
            }
            Ok(None) => preferences_get::load(&caller).then(move |preferred| {
                // Preferences that cannot be read are looked at with `preferences_get`.
                let preferred = preferred.unwrap_or_default();
                let flags = Flags::new(&arguments, preferred, self.current_branch);
                Self::say(Answer::json(&new(&caller, arguments, flags))).into()
            }),
        }))
    }
}

/// Says which flags do not count because the pipeline has begun, and how the same is set now.
fn ignored(arguments: &Arguments) -> String {
    let given = arguments.bare_flags.iter().chain(arguments.flags.keys());
    let told = given.map(|flag| match *flag {
        "auto" => "`--auto` (call `set_auto_approve`)".to_owned(),
        "nopr" => "`--nopr` (call `set_skip_pr`)".to_owned(),
        "debug" => "`--debug` (call `set_debug`)".to_owned(),
        "effort" => "`--effort` (call `set_effort`)".to_owned(),
        other => format!("`--{other}`"),
    });
    let told: Vec<String> = told.collect();
    match told.as_slice() {
        [] => String::new(),
        told => format!("the pipeline has begun, so flags do not count: {}", told.join(", ")),
    }
}

fn new(caller: &Caller, arguments: Arguments, flags: Flags) -> New {
    let name = slug::new_name(&caller.at.to_date(), &arguments.core_text);
    let spec_name = slug::spec_name(&name).to_owned();
    let workspace = shown(caller, &Folder::resolve(place::specs(caller).as_str(), &name));
    let new = New {
        workspace,
        spec_name,
        source_type: TEXT,
        source_url: String::new(),
        source_id: String::new(),
        core_text: arguments.core_text,
        flags,
        fetch_needed: None,
    };
    match arguments.subject {
        Subject::Issue(source) => New {
            source_type: source.tracker.source_type(),
            fetch_needed: Some(source.fetch()),
            source_url: source.url,
            source_id: source.id,
            ..new
        },
        Subject::Workspace | Subject::Text => new,
    }
}

/// Returns the workspace that a text names, if there is a pipeline in it. A path that can mean
/// nothing else is an error where there is none.
fn find_workspace(caller: &Caller, text: &str) -> Seeing<Result<Option<String>, String>> {
    let specs = place::specs(caller);
    let inside = text.strip_prefix(".specs/");
    let [first, second] = match inside {
        Some(inside) => [place::named(caller, text), Folder::resolve(specs.as_str(), inside)],
        None if text.starts_with('/') => [place::named(caller, text), place::named(caller, text)],
        None => [Folder::resolve(specs.as_str(), text), place::named(caller, text)],
    };
    let is_path =
        text.starts_with('/') && text.contains("/.specs/") && !text.contains(char::is_whitespace);
    let missing = (inside.is_some() || is_path).then(|| {
        let hint = "name a folder with a pipeline in it, or describe what is to be done";
        format!("{STATE_FILE} not found in `{text}`: {hint}")
    });
    let found = [&first, &second].map(|it| shown(caller, it));
    first.stat(STATE_FILE).then(move |stat| {
        let [one, other] = found;
        if stat.is_some() {
            return Seeing::Seen(Ok(Some(one)));
        }
        second.stat(STATE_FILE).map(move |stat| match (stat, missing) {
            (Some(_), _) => Ok(Some(other)),
            (None, Some(missing)) => Err(missing),
            (None, None) => Ok(None),
        })
    })
}

fn shown(caller: &Caller, folder: &Folder) -> String {
    folder.seen_from(&place::project(caller))
}
