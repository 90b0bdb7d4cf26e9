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
#[cfg(test)]
mod tests;
mod told;
mod trial;
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
    options::{Mode, Settings as Options},
    text::Guidance,
    words,
};
use crate::tool::{Call, Done, Entry, Hints, Tool};
use place::Found;

pub(super) use trial::Trial;

/// The classic tools, in the order they are listed.
const ROWS: [Row; 19] = [
    Row::making::<init_workflow_guidance::Guide>("init"),
    Row::making::<analyze_phase_guidance::Guide>("analyze"),
    Row::making::<blueprint_phase_guidance::Guide>("blueprint"),
    Row::making::<construct_phase_guidance::Guide>("construct"),
    Row::making::<validate_phase_guidance::Guide>("validate"),
    Row::making::<revise_blueprint_guidance::Guide>("revise"),
    Row::making::<complete_workflow_guidance::Guide>("complete"),
    Row::making::<iterate_next_item_guidance::Guide>("iterate"),
    Row::making::<finalize_workflow_guidance::Guide>("finalize"),
    Row::making::<error_recovery_guidance::Guide>("error"),
    Row::making::<fix_validation_issues_guidance::Guide>("fix"),
    Row::making::<escalate_to_user_guidance::Guide>("escalate"),
    Row::making::<changelog_update_guidance::Guide>("changelog"),
    Row::making::<update_workflow_state_guidance::Guide>("update"),
    Row::other::<create_workflow_state_file_guidance::Guide>(),
    Row::other::<check_project_config_guidance::Guide>(),
    Row::other::<create_project_config_guidance::Guide>(),
    Row::other::<validate_workflow_files_guidance::Guide>(),
    Row::other::<hello_workflow::Guide>(),
];

/// The same as tools.
pub(super) const TOOLS: [Entry; ROWS.len()] = entries();

/// Reads the arguments of a call.
type Reading = fn(Map<String, Value>, &Options) -> Result<Ask, Failure>;

/// A classic tool: how it is called, and what of the workflow it is.
pub(super) struct Row {
    entry: Entry,
    pub(super) tool: Guidance,
    /// The move that it makes. Empty where it only looks, or makes a file.
    pub(super) name: &'static str,
    /// Reads the arguments of a call that is a move.
    ask: Option<Reading>,
}

impl Row {
    const fn making<T: DialectTool>(name: &'static str) -> Self {
        Self { entry: Entry::of::<ToolAdapter<T>>(), tool: T::TOOL, name, ask: Some(read::<T>) }
    }

    const fn other<T: DialectTool>() -> Self {
        Self { entry: Entry::of::<ToolAdapter<T>>(), tool: T::TOOL, name: "", ask: None }
    }
}

#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it, over lengths it knows")]
const fn entries() -> [Entry; ROWS.len()] {
    let mut all = [ROWS[0].entry; ROWS.len()];
    let mut at = 0;
    while at < ROWS.len() {
        all[at] = ROWS[at].entry;
        at += 1;
    }
    all
}

/// Reads the arguments of a call as the call itself does.
fn read<T: DialectTool>(params: Map<String, Value>, options: &Options) -> Result<Ask, Failure> {
    let parameters = serde_json::from_value(Value::Object(params)).map_err(|error| {
        Failure::new(
            T::TOOL.name(),
            "INVALID_PARAMETER",
            &error.to_string(),
            "fix that, then retry",
        )
    })?;
    T::ask(parameters, options)
}

/// Returns the row of the tool called `name`.
fn find_row(name: &str) -> Option<&'static Row> {
    const ALL: &[Row] = &ROWS;
    ALL.iter().find(|it| it.tool.name() == name)
}

/// Returns the tools that make one of these moves.
pub(super) fn tools_of(moves: &[String]) -> Vec<Guidance> {
    // An update is judged by what it says.
    let is_legal = |it: &&Row| {
        it.tool == Guidance::Update
            || (!it.name.is_empty() && moves.iter().any(|name| name == it.name))
    };
    ROWS.iter().filter(is_legal).map(|it| it.tool).collect()
}

/// One classic tool.
pub(crate) trait DialectTool {
    /// What the agent passes in.
    type Parameters: DeserializeOwned + JsonSchema + Send + Sync;
    const TOOL: Guidance;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints = Hints::ADDS;

    /// Returns what the arguments ask for.
    fn ask(parameters: Self::Parameters, options: &Options) -> Result<Ask, Failure>;

    /// Calls the tool: its move is made.
    fn call(
        call: &Call<'_>,
        parameters: Self::Parameters,
    ) -> impl Future<Output = Result<Done<Answer>, Failure>> + Send {
        async move { make(call, Self::TOOL, Self::ask(parameters, &call.options.devworkflow)?).await }
    }
}

/// Makes a [`Tool`] of a [`DialectTool`].
pub(crate) struct ToolAdapter<T>(PhantomData<T>);

impl<T: DialectTool> Tool for ToolAdapter<T> {
    type Parameters = T::Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = T::TOOL.name();
    const TITLE: &'static str = <T as DialectTool>::TITLE;
    const DESCRIPTION: &'static str = <T as DialectTool>::DESCRIPTION;
    const HINTS: Hints = <T as DialectTool>::HINTS;
    const LISTS_WARNINGS: bool = true;

    fn text(answer: &Answer) -> Option<&str> {
        Some(&answer.result)
    }

    fn failure_text(failure: &Failure) -> Option<&str> {
        Some(failure.text())
    }

    async fn call(call: &Call<'_>, parameters: T::Parameters) -> Result<Done<Answer>, Failure> {
        <T as DialectTool>::call(call, parameters).await
    }
}

/// What a tool asks for.
#[derive(Debug, Default)]
pub(crate) struct Ask {
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
    let mut found = place::find(call).await.map_err(|it| failed(call, tool, &it, None))?;
    warnings.extend(place::notices(found.as_ref()));
    if told::lacks_task(tool, &ask, found.as_ref()) {
        return Ok(told::ask_for_task(call, tool, &ask, found.as_ref()).await);
    }
    let command = command(tool, &ask);
    let mut done = execute(call, found.as_ref(), command.clone()).await;
    if let Err(ExecuteError::Refused(Refusal::KeyTaken { .. } | Refusal::RunEnded { .. })) = &done {
        // Another process began it at the same moment, or moved the file elsewhere.
        found = place::find(call).await.map_err(|it| failed(call, tool, &it, None))?;
        done = execute(call, found.as_ref(), command).await;
    }
    match done {
        Ok(outcome) => {
            warnings.extend(told::other_task(tool, &ask, found.as_ref()));
            warnings.extend(told::warnings(&outcome));
            Ok(told::answer(call, tool, &ask, (outcome, warnings)).await)
        }
        Err(error) => Err(failed(call, tool, &error, found.as_ref())),
    }
}

/// Returns the move that a call asks for.
fn command(tool: Guidance, ask: &Ask) -> Command {
    // A new file begins like a new task.
    let tool = if tool == Guidance::CreateState { Guidance::Init } else { tool };
    let name = find_row(tool.name()).map_or("", |it| it.name).to_owned();
    Command::Move(Box::new(MakeMove { name, args: ask.args(), is_approved: ask.is_approved }))
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
            let has_folder = call.runtime.has_beside(WORKFLOW, &options.directory).await;
            let start = StartRun {
                key: Some(documents::new_state_path(options, has_folder)),
                flow: None,
                context: Map::new(),
                vars: Map::new(),
                root: call.runtime.settings().root.clone(),
            };
            let start = Command::StartRun(Box::new(start));
            (Target::New(WORKFLOW.to_owned()), Command::All(vec![start, command]))
        }
    };
    let (actor, request_id) = (call.actor.clone(), None);
    call.runtime.execute(Request { target, command, actor, request_id }).await
}

fn failed(call: &Call<'_>, tool: Guidance, error: &ExecuteError, found: Option<&Found>) -> Failure {
    let failure = Failure::of(tool, error, found.map(Found::place).unwrap_or_default());
    let failure = match (error, found) {
        (ExecuteError::Refused(Refusal::MoveNotAllowed { legal, .. }), Some(found)) => {
            told::out_of_order(call, failure, (tool, found, &tools_of(legal)))
        }
        _ => failure,
    };
    failure.noticing(place::notices(found))
}

/// Returns a path that was named; the usual one counts as none. One that could lead out of the
/// project, or is not a place for a changelog, is refused.
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
