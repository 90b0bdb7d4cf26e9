//! `pipeline_init`: what a string asks for. Nothing is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        STATE_FILE,
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    arguments::{Arguments, Subject},
    flags::Flags,
    preferences_get, slug,
    source::{Fetch, TEXT},
};
use crate::tool::{Call, Done, Hints};

pub(super) struct PipelineInit;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for PipelineInit {
    type Parameters = Parameters;
    const NAME: &'static str = "pipeline_init";
    const TITLE: &'static str = "Read a pipeline's input";
    const DESCRIPTION: &'static str = "Find out what is asked for: a new pipeline, with its workspace, flags and what to fetch, or \
         one to resume. Writes nothing; `pipeline_init_with_context` comes next.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let refuse = |error: String| Ok(Answer::json(&Refused { errors: vec![error] }).into());
        let arguments = match Arguments::parse(&parameters.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return refuse(error),
        };
        match find_workspace(call, &arguments.core_text).await {
            Err(error) => return refuse(error),
            Ok(Some(workspace)) => {
                let instruction = "call `resume_info`, then `pipeline_next_action`";
                let warning = ignored(&arguments);
                let resumed = Resumed { resume_mode: "auto", workspace, instruction, warning };
                return Ok(Answer::json(&resumed).into());
            }
            Ok(None) => {}
        }
        // Preferences that cannot be read are looked at with `preferences_get`.
        let preferred = preferences_get::load(call).await.unwrap_or_default();
        let flags = Flags::new(&arguments, preferred, parameters.current_branch);
        Ok(Answer::json(&new(call, arguments, flags)).into())
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

fn new(call: &Call<'_>, arguments: Arguments, flags: Flags) -> New {
    let name = slug::new_name(&call.runtime.now().to_date(), &arguments.core_text);
    let spec_name = slug::spec_name(&name).to_owned();
    let workspace = shown(call, &Folder::resolve(Folder::specs(call).as_str(), &name));
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
async fn find_workspace(call: &Call<'_>, text: &str) -> Result<Option<String>, String> {
    let specs = Folder::specs(call);
    let inside = text.strip_prefix(".specs/");
    let folders = match inside {
        Some(inside) => vec![Folder::named(call, text), Folder::resolve(specs.as_str(), inside)],
        None if text.starts_with('/') => vec![Folder::named(call, text)],
        None => vec![Folder::resolve(specs.as_str(), text), Folder::named(call, text)],
    };
    for folder in &folders {
        if folder.has(call, STATE_FILE).await {
            return Ok(Some(shown(call, folder)));
        }
    }
    let is_path =
        text.starts_with('/') && text.contains("/.specs/") && !text.contains(char::is_whitespace);
    if inside.is_some() || is_path {
        let hint = "name a folder with a pipeline in it, or describe what is to be done";
        return Err(format!("{STATE_FILE} not found in `{text}`: {hint}"));
    }
    Ok(None)
}

fn shown(call: &Call<'_>, folder: &Folder) -> String {
    folder.seen_from(&Folder::project(call))
}
