//! The classic tools: each is a move of the workflow, and its answer says what to do now.

mod analyze_phase_guidance;
mod blueprint_phase_guidance;
mod changelog_update_guidance;
mod check_project_config_guidance;
mod complete_workflow_guidance;
mod construct_phase_guidance;
mod create_project_config_guidance;
mod create_workflow_state_file_guidance;
mod error_recovery_guidance;
mod escalate_to_user_guidance;
mod finalize_workflow_guidance;
mod fix_validation_issues_guidance;
mod hello_workflow;
mod init_workflow_guidance;
mod iterate_next_item_guidance;
mod place;
mod revise_blueprint_guidance;
mod task;
mod told;
mod update_workflow_state_guidance;
mod validate_phase_guidance;
mod validate_workflow_files_guidance;

use std::marker::PhantomData;

use engine::{Command, MakeMove, Refusal, StartRun};
use runtime::{ExecuteError, Outcome, Request, Target};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    WORKFLOW,
    answer::{Answer, Failure},
    documents,
    options::{Mode, Options, Policy},
    text::Guidance,
    words,
};
use crate::tool::{Call, Done, Entry, Hints, Tool};
use place::Found;

/// The classic tools, in the order they are listed.
pub(super) const TOOLS: [Entry; 19] = [
    Entry::of::<Spoken<init_workflow_guidance::Guide>>(),
    Entry::of::<Spoken<analyze_phase_guidance::Guide>>(),
    Entry::of::<Spoken<blueprint_phase_guidance::Guide>>(),
    Entry::of::<Spoken<construct_phase_guidance::Guide>>(),
    Entry::of::<Spoken<validate_phase_guidance::Guide>>(),
    Entry::of::<Spoken<revise_blueprint_guidance::Guide>>(),
    Entry::of::<Spoken<complete_workflow_guidance::Guide>>(),
    Entry::of::<Spoken<iterate_next_item_guidance::Guide>>(),
    Entry::of::<Spoken<finalize_workflow_guidance::Guide>>(),
    Entry::of::<Spoken<error_recovery_guidance::Guide>>(),
    Entry::of::<Spoken<fix_validation_issues_guidance::Guide>>(),
    Entry::of::<Spoken<escalate_to_user_guidance::Guide>>(),
    Entry::of::<Spoken<changelog_update_guidance::Guide>>(),
    Entry::of::<Spoken<update_workflow_state_guidance::Guide>>(),
    Entry::of::<Spoken<create_workflow_state_file_guidance::Guide>>(),
    Entry::of::<Spoken<check_project_config_guidance::Guide>>(),
    Entry::of::<Spoken<create_project_config_guidance::Guide>>(),
    Entry::of::<Spoken<validate_workflow_files_guidance::Guide>>(),
    Entry::of::<Spoken<hello_workflow::Guide>>(),
];

/// One classic tool.
pub(crate) trait Verb {
    /// What the agent passes in.
    type Parameters: DeserializeOwned + JsonSchema + Send + Sync;
    const TOOL: Guidance;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints = Hints::ADDS;

    /// Calls the tool.
    fn call(
        call: &Call<'_>,
        parameters: Self::Parameters,
    ) -> impl Future<Output = Result<Done<Answer>, Failure>> + Send;
}

/// Makes a [`Tool`] of a [`Verb`].
pub(crate) struct Spoken<T>(PhantomData<T>);

impl<T: Verb> Tool for Spoken<T> {
    type Parameters = T::Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = T::TOOL.name();
    const TITLE: &'static str = <T as Verb>::TITLE;
    const DESCRIPTION: &'static str = <T as Verb>::DESCRIPTION;
    const HINTS: Hints = <T as Verb>::HINTS;
    const LISTS_WARNINGS: bool = true;

    fn text(answer: &Answer) -> Option<&str> {
        Some(&answer.result)
    }

    fn failure_text(failure: &Failure) -> Option<&str> {
        Some(failure.text())
    }

    async fn call(call: &Call<'_>, parameters: T::Parameters) -> Result<Done<Answer>, Failure> {
        <T as Verb>::call(call, parameters).await
    }
}

/// What a tool asks for.
#[derive(Debug, Default)]
struct Ask {
    task: String,
    /// What is said of it (a summary, feedback, an error), and what that is called.
    detail: String,
    detail_name: &'static str,
    /// What the move is told besides.
    args: Map<String, Value>,
    /// Whether the user agreed to the plan.
    is_approved: bool,
    /// What an update is to write in advisory mode.
    fields: Vec<(&'static str, String)>,
    config_path: String,
}

impl Ask {
    fn new(task: String) -> Self {
        Self { task, ..Self::default() }
    }

    fn with_detail(task: String, detail_name: &'static str, detail: String) -> Self {
        Self { task, detail_name, detail, ..Self::default() }
    }

    fn args(&self) -> Map<String, Value> {
        let mut args = self.args.clone();
        for value in args.values_mut() {
            if let Value::String(text) = value {
                *text = clean(text);
            }
        }
        args.insert("task".to_owned(), clean(&self.task).into());
        if !self.detail_name.is_empty() {
            args.insert(self.detail_name.to_owned(), clean(&self.detail).into());
        }
        args
    }
}

/// Makes the move of a tool, and says what to do now.
async fn make(call: &Call<'_>, tool: Guidance, ask: Ask) -> Result<Done<Answer>, Failure> {
    let options = &call.options.devworkflow;
    let mut warnings = task::check(options, tool, &ask.task)?;
    if options.mode == Mode::Advisory {
        return Ok(told::advise(tool, &ask, warnings));
    }
    place::check_config(call, tool, &ask.config_path).await?;
    let mut found = place::find(call).await.map_err(|it| failed(tool, &it, None))?;
    warnings.extend(place::notices(found.as_ref()));
    if told::lacks_task(tool, &ask, found.as_ref()) {
        return Ok(told::ask_for_task(call, tool, &ask, found.as_ref()).await);
    }
    let command = Command::Move(Box::new(MakeMove {
        name: words::move_of(tool).to_owned(),
        args: ask.args(),
        vars: vars(options),
        is_lax: options.transitions == Policy::Warn,
        is_approved: ask.is_approved,
    }));
    let mut done = execute(call, found.as_ref(), command.clone()).await;
    if let Err(ExecuteError::Refused(Refusal::KeyTaken { .. } | Refusal::RunEnded { .. })) = &done {
        // Another process began it at the same moment, or moved the file elsewhere.
        found = place::find(call).await.map_err(|it| failed(tool, &it, None))?;
        done = execute(call, found.as_ref(), command).await;
    }
    match done {
        Ok(outcome) => {
            warnings.extend(told::other_task(tool, &ask, found.as_ref()));
            warnings.extend(told::warnings(&outcome));
            Ok(told::answer(call, tool, &ask, (outcome, warnings)).await)
        }
        Err(error) => Err(failed(tool, &error, found.as_ref())),
    }
}

/// Changes the run, which is begun where there is none.
async fn execute(
    call: &Call<'_>,
    found: Option<&Found>,
    command: Command,
) -> Result<Outcome, ExecuteError> {
    let (target, command) = match found {
        Some(found) => (Target::Run(found.view.state.run), command),
        None => {
            let options = &call.options.devworkflow;
            let start = StartRun {
                key: Some(documents::new_state_path(call.runtime, options).await),
                flow: None,
                context: Map::new(),
                vars: vars(options),
                root: call.runtime.settings().root.clone(),
            };
            let start = Command::StartRun(Box::new(start));
            (Target::New(WORKFLOW.to_owned()), Command::All(vec![start, command]))
        }
    };
    let (actor, request_id) = (call.actor.clone(), None);
    call.runtime.execute(Request { target, command, actor, request_id }).await
}

/// What settings say, as the workflow's variables.
fn vars(options: &Options) -> Map<String, Value> {
    Map::from_iter([
        ("auto_approve_plans".to_owned(), options.auto_approve.into()),
        ("log_chars_max".to_owned(), options.log_chars_max.into()),
    ])
}

fn failed(tool: Guidance, error: &ExecuteError, found: Option<&Found>) -> Failure {
    let failure = Failure::of(tool, error, found.map(Found::place).unwrap_or_default());
    failure.noticing(place::notices(found))
}

/// Returns a path that was named; the usual one counts as none. One that could lead out of the
/// project, or is no place for a changelog, is refused.
fn named(tool: Guidance, path: Option<String>, options: &Options) -> Result<String, Failure> {
    let path = path.unwrap_or_default().trim().to_owned();
    let is_file = path.is_empty() || words::is_config_path(&path, options);
    if !is_file {
        let shown: String = path.chars().filter(|it| !it.is_control()).take(80).collect();
        let message = format!("`project_config_path` cannot be `{shown}`");
        let hint = "name a Markdown file in the project, seen from its root";
        return Err(Failure::new(tool.name(), "INVALID_PATH", &message, hint));
    }
    Ok(if path == words::CONFIG_FILE { String::new() } else { path })
}

/// Returns a text as it can stand in a file that people read: with plain line ends, and without
/// control characters.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|it| !it.is_control() || matches!(it, '\n' | '\t')).collect()
}
