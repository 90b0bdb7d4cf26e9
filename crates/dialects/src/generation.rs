//! The tools of the Generation State Tracker, by their own names, words and files.
//!
//! Its words for our things: a *generation* is a run, a *scene* its key. `words.rs` has the steps;
//! `document.rs` the state file, from which every answer is made (`text.rs`).

mod advice;
mod answer;
mod cancel_generation;
mod complete_generation;
mod complete_step;
mod document;
mod fail_generation;
mod fail_step;
mod files;
mod get_generation_status;
mod list_generations;
mod log_question_answer;
mod path;
pub mod prompts;
mod record_error;
mod resume_generation;
mod scene;
mod scene_id;
mod start_generation;
mod start_step;
mod step_choice;
mod text;
mod words;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::kit::{Effect, Entry, Hints, Toolset};

pub use files::{StateFiles, WORKSPACE};

/// What an agent is told before anything else.
const INSTRUCTIONS: &str = "\
Milepost tracks the generation of scenes in seven steps; each scene has four digits.
1. `get_generation_status` first. No state: `start_generation`. FAILED or CANCELLED: `resume_generation` shows the plan; after the user agreed, call it with `confirm`. IN_PROGRESS: go on, or tell the user.
2. For each step `start_step`, the work, `complete_step` with its duration and artifacts. Step 3 waits for the user with `awaiting_approval`; do not approve for them.
3. An error: `record_error`, then `start_step` again (4 again after a failed check in 5). After three attempts `fail_generation`. In the end `complete_generation`.
4. An error has `refusal.hint`: the way out. Arguments are flat; `{\"params\": {…}}` works too.";

/// The tools.
pub const TOOLSET: Toolset = Toolset {
    name: "generation",
    summary: "track the generation of scenes, as the Generation State Tracker did",
    instructions: INSTRUCTIONS,
    tools: &[
        Entry::of::<resume_generation::ResumeGeneration>(),
        Entry::of::<get_generation_status::GetGenerationStatus>(),
        Entry::of::<cancel_generation::CancelGeneration>(),
        Entry::of::<list_generations::ListGenerations>(),
        Entry::of::<start_generation::StartGeneration>(),
        Entry::of::<start_step::StartStep>(),
        Entry::of::<complete_step::CompleteStep>(),
        Entry::of::<record_error::RecordError>(),
        Entry::of::<fail_generation::FailGeneration>(),
        Entry::of::<complete_generation::CompleteGeneration>(),
        Entry::of::<log_question_answer::LogQuestionAnswer>(),
        Entry::of::<fail_step::FailStep>(),
        Entry::of::<fail_step::RetryStep>(),
        Entry::of::<get_generation_status::GetStatus>(),
    ],
    prompts: prompts::PROMPTS,
    words: |workflow, _| (workflow == WORKFLOW).then_some(&advice::WORDS),
};

/// The workflow whose runs are the generations.
pub const WORKFLOW: &str = "scene-generation";

/// A tool that writes, and writes nothing more when it is called again.
const WRITES_ONCE: Hints = Hints { effect: Effect::Adds, is_idempotent: true, reaches_out: false };

/// Whether a flag is set. Only `true` sets it, not a text that says so.
fn is_true(metadata: Option<&Map<String, Value>>, flag: &str) -> bool {
    metadata.and_then(|it| it.get(flag)) == Some(&Value::Bool(true))
}
