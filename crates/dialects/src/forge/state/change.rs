//! What the tools have in common that change one thing: the pipeline is opened, a command is asked
//! for, and a no of the engine is worded.

use engine::{Command, Refusal, Status};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    super::{
        answer::{Answer, Failure},
        way_out,
        workspace::{self, Pipeline},
    },
    phase,
};
use crate::kit::{Ask, Caller, Deed, Effect, Hints, Outcome, Stopped, Tool};

/// What sets something to a value: the same again changes nothing.
pub(super) const SETS: Hints = Hints { is_idempotent: true, ..Hints::ADDS };
/// What ends something, or decides in a person's name.
pub(super) const ENDS: Hints = Hints { effect: Effect::Ends, ..Hints::ADDS };

/// The parameters of a call on a pipeline.
pub(super) trait Card: DeserializeOwned + JsonSchema + Send + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints;

    /// Returns the folder of the pipeline.
    fn workspace(&self) -> &str;
}

/// Writes the parameters of a tool down: its name, title, description and hints, and what it takes
/// besides the workspace.
macro_rules! card {
    (
        $tool:ident $name:literal $title:literal $description:literal $hints:expr;
        $($(#[$meta:meta])* $field:ident: $type:ty,)*
    ) => {
        #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
        pub(in crate::forge) struct $tool {
            /// Its folder
            workspace: String,
            $($(#[$meta])* $field: $type,)*
        }

        impl $crate::forge::state::change::Card for $tool {
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;
            const DESCRIPTION: &'static str = $description;
            const HINTS: $crate::kit::Hints = $hints;

            fn workspace(&self) -> &str {
                &self.workspace
            }
        }
    };
}
pub(super) use card;

/// One small change.
pub(super) trait Change: Card {
    /// Returns what is asked of the pipeline.
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure>;

    /// Returns what to mind, seen from how the pipeline stood before.
    fn warnings(&self, _pipeline: &Pipeline) -> Vec<String> {
        Vec::new()
    }

    /// Returns what holds the tool back, and what helps, where it says so in words of its own.
    fn guard(&self, _pipeline: &Pipeline, _refusal: &Refusal) -> Option<(String, String)> {
        None
    }

    /// Whether a refusal says that all is as it is to be.
    fn is_done(_refusal: &Refusal) -> bool {
        false
    }

    /// Says that all is done, and what to mind.
    fn answer(warnings: Vec<String>) -> Answer {
        Answer::ok_with(&warnings)
    }
}

impl<T: Change> Tool for T {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = <T as Card>::NAME;
    const TITLE: &'static str = <T as Card>::TITLE;
    const DESCRIPTION: &'static str = <T as Card>::DESCRIPTION;
    const HINTS: Hints = <T as Card>::HINTS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let workspace = self.workspace().to_owned();
        workspace::open::<Self>(caller, &workspace, move |pipeline| {
            let command = Box::new(self.command(&pipeline)?);
            let deed = Deed::Change { run: pipeline.view.state.run, command, by: None };
            let then = move |done| <Self as Tool>::tell(told(&self, &pipeline, done));
            Ok(Ask::Do(deed, Box::new(then)))
        })
    }
}

/// Words what came of a change.
fn told<T: Change>(
    asked: &T,
    pipeline: &Pipeline,
    done: Result<Outcome, Stopped>,
) -> Result<Answer, Failure> {
    let mut warnings = pipeline.notices.clone();
    match done {
        Ok(outcome) => {
            warnings.splice(0..0, asked.warnings(pipeline));
            warnings.extend(workspace::notices(&outcome));
            Ok(T::answer(warnings))
        }
        Err(Stopped::Refused(refusal)) if T::is_done(&refusal) => Ok(T::answer(warnings)),
        Err(stopped) => Err(refused(asked, pipeline, &stopped).noting(&warnings)),
    }
}

/// Words why a change led to nothing: as the guard that stands in its way, else plainly.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others say of themselves what is wrong")]
fn refused<T: Change>(asked: &T, pipeline: &Pipeline, stopped: &Stopped) -> Failure {
    let tool = <T as Card>::NAME;
    let Stopped::Refused(refusal) = stopped else { return Failure::of(tool, stopped) };
    if let Some((message, hint)) = asked.guard(pipeline, refusal) {
        return Failure::new(refusal.code(), format!("BLOCKED: {message}"), hint);
    }
    let hint = way_out::hint_at(refusal, pipeline);
    if let Some(message) = phase::blocked(refusal) {
        return Failure::new(refusal.code(), format!("BLOCKED: {message}"), hint);
    }
    let (problem, hint) = match refusal {
        Refusal::StepNotCurrent { step, current } => {
            (format!("`{step}` is not the current phase, which is `{current}`"), hint)
        }
        // What the call says is wrong, and not a file.
        Refusal::PartsInvalid { problem, .. } => (problem.clone(), way_out::hint(refusal)),
        Refusal::RunEnded { status } => (format!("the pipeline is {}", ended(*status)), hint),
        _ => (refusal.to_string(), hint),
    };
    Failure::new(refusal.code(), format!("{tool}: {problem}"), hint)
}

/// Returns how a pipeline that is over stands, in the dialect's word.
fn ended(status: Status) -> &'static str {
    if status == Status::Cancelled { "abandoned" } else { status.as_str() }
}
