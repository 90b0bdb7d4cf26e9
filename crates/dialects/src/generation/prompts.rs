//! The commands of `/generation-state` as prompts. Each says which tool to call and what to do with
//! its answer; what is typed beside it is read as the tool itself would read it.

use serde_json::{Value, json};

use super::{scene_id::SceneId, text::list::Filter};
use crate::kit::{Given, Prompt, PromptArgument, missing};

const SCENE_ID: &str = "scene_id";
const FORCE: &str = "force";
const REASON: &str = "reason";
const FILTER: &str = "filter";

/// What is done with an answer.
const SHOW: &str = "Show the person what it answers, with its facts as they are: steps, statuses, \
                    times, attempts, paths, reasons. If it is refused, say why and what can be done \
                    instead. Never edit a state file.";

/// The prompts of this toolset.
pub(super) const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "generation_status",
        title: "Status of scenes",
        description: "Show how far a scene is, or every scene that is active",
        arguments: &[PromptArgument { is_required: false, ..SCENE }],
        says: status,
    },
    Prompt {
        name: "generation_resume",
        title: "Resume a scene",
        description: "Show how a failed or cancelled scene goes on, ask, and go on",
        arguments: &[
            SCENE,
            PromptArgument {
                name: FORCE,
                description: "`true` to resume despite warnings",
                is_required: false,
                choices: &["true", "false"],
            },
        ],
        says: resume,
    },
    Prompt {
        name: "generation_cancel",
        title: "Cancel a scene",
        description: "Stop a scene; it can be resumed later",
        arguments: &[
            SCENE,
            PromptArgument {
                name: REASON,
                description: "Why it is stopped",
                is_required: false,
                choices: &[],
            },
        ],
        says: cancel,
    },
    Prompt {
        name: "generation_list",
        title: "List scenes",
        description: "List all scenes, or those that are active, completed or failed",
        arguments: &[PromptArgument {
            name: FILTER,
            description: "`all`, `active`, `completed` or `failed`",
            is_required: false,
            choices: &["all", "active", "completed", "failed"],
        }],
        says: list,
    },
];

const SCENE: PromptArgument = PromptArgument {
    name: SCENE_ID,
    description: "The scene, as four digits such as 0204",
    is_required: true,
    choices: &[],
};

/// Whether an argument of a prompt names a scene.
pub fn takes_scene(prompt: &str, argument: &str) -> bool {
    let own = PROMPTS.iter().find(|it| it.name == prompt);
    argument == SCENE_ID && own.is_some_and(|it| it.arguments.iter().any(|it| it.name == argument))
}

fn status(_name: &str, given: &Given) -> Result<String, String> {
    match find_scene(given)? {
        Some(scene) => {
            let call = json!({SCENE_ID: scene.as_str(), "detailed": true});
            Ok(format!("Call `get_generation_status` with {call}. {SHOW}"))
        }
        None => Ok(listing(Filter::Active)),
    }
}

fn resume(name: &str, given: &Given) -> Result<String, String> {
    let scene = need_scene(name, given)?;
    let force = is_forced(given)?;
    let plan = json!({SCENE_ID: scene.as_str(), FORCE: force});
    let deed = json!({SCENE_ID: scene.as_str(), FORCE: force, "confirm": true});
    Ok(format!(
        "1. Call `resume_generation` with {plan}. It only shows a plan: what is skipped, where it \
         goes on, the time saved.\n\
         2. Show the plan to the person, and ask whether to go on. If the answer is a list of \
         warnings, show them and let the person choose; never add `force` on your own.\n\
         3. Only after a clear yes, call `resume_generation` with {deed}.\n\
         4. Then go on at the step that the answer names, with `start_step` for it, not for an \
         earlier one.\n\n{SHOW}"
    ))
}

fn cancel(name: &str, given: &Given) -> Result<String, String> {
    let scene = need_scene(name, given)?;
    let mut call = json!({SCENE_ID: scene.as_str()});
    if let (Some(reason), Value::Object(call)) = (find(given, REASON), &mut call) {
        call.insert(REASON.to_owned(), reason.into());
    }
    Ok(format!("Call `cancel_generation` with {call}. {SHOW}"))
}

fn list(_name: &str, given: &Given) -> Result<String, String> {
    let Some(word) = find(given, FILTER) else { return Ok(listing(Filter::All)) };
    let word = word.trim_start_matches('-');
    match serde_json::from_value(word.into()) {
        Ok(filter) => Ok(listing(filter)),
        Err(_) => Err(wrong(FILTER, "must be one of: all, active, completed, failed")),
    }
}

fn listing(filter: Filter) -> String {
    let call = json!({FILTER: filter.word(), "sort_by": "started_at"});
    format!("Call `list_generations` with {call}. {SHOW}")
}

/// Returns what was typed, if anything was.
fn find<'a>(given: &'a Given, name: &str) -> Option<&'a str> {
    given.get(name).map(|it| it.trim()).filter(|it| !it.is_empty())
}

fn find_scene(given: &Given) -> Result<Option<SceneId>, String> {
    let Some(text) = find(given, SCENE_ID) else { return Ok(None) };
    SceneId::try_from(text.to_owned()).map(Some).map_err(|rule| wrong(SCENE_ID, rule))
}

fn need_scene(name: &str, given: &Given) -> Result<SceneId, String> {
    find_scene(given)?.ok_or_else(|| missing(name, &[SCENE_ID]))
}

/// People type a flag, or a word for yes.
fn is_forced(given: &Given) -> Result<bool, String> {
    match find(given, FORCE).map(str::to_lowercase).as_deref() {
        None | Some("false" | "no" | "0") => Ok(false),
        Some("true" | "yes" | "1" | "force" | "--force") => Ok(true),
        Some(_) => Err(wrong(FORCE, "must be true or false")),
    }
}

fn wrong(argument: &str, rule: &str) -> String {
    format!("{argument}: {rule}")
}
