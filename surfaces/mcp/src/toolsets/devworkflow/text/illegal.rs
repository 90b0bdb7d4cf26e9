//! A call that is out of order: what is wrong, the way out, and the calls that are in order.

use super::{
    Facts, Guidance, Mode, Shown, Told, Trial, VOID, block, next,
    quote::{line, span},
};

/// Says why a call is refused in this state, and which calls lead on.
pub(in super::super) fn illegal(
    tool: Guidance,
    shown: &Shown<'_>,
    legal: &[Guidance],
    trial: Option<&Trial<'_>>,
) -> String {
    // What the work is at decides how it goes on, not the call that was refused.
    let told = Told {
        tool: Guidance::Hello,
        mode: Mode::Managed,
        task: "",
        detail: "",
        state: Some(shown),
        warnings: &[],
        trial,
        facts: Facts::default(),
    };
    let is_void = trial.is_some_and(|it| it.lacks_approval(&told));
    let need = if is_void { VOID } else { need(tool) };
    let name = tool.name();
    let (at, is) = (span(&line(shown.phase, 40)), span(&line(shown.status, 40)));
    let way = block::lines(&next(&told));
    let names: Vec<String> = legal.iter().map(|it| format!("`{}`", it.name())).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!(
        "`{name}` is out of order in phase {at}, status {is}: {need}\n\n\
         Nothing was changed.\n\n\
         Way out:\n\n{way}\n\n\
         Legal calls now: {names}"
    )
}

/// Returns what a call asks of the state.
fn need(tool: Guidance) -> &'static str {
    match tool {
        Guidance::Init => "a new task begins in `INIT`, or once the item at hand is `COMPLETED`",
        Guidance::Analyze => "analysis begins in `INIT` or `ANALYZE`",
        Guidance::Blueprint => {
            "a plan is made in `ANALYZE`, or after an `ERROR` in `CONSTRUCT` or `VALIDATE`"
        }
        Guidance::Construct => "building needs a recorded plan that the user has approved",
        Guidance::Validate => "validation follows a `CONSTRUCT` without an open error",
        Guidance::Revise => "only a plan in `BLUEPRINT` can be revised",
        Guidance::Complete => "an item is completed in `VALIDATE`, with no open error",
        Guidance::Iterate => "the next item is taken once the item at hand is `COMPLETED`",
        Guidance::Finalize => {
            "the work ends once the item at hand is `COMPLETED` and none is pending"
        }
        Guidance::ErrorRecovery
        | Guidance::FixValidation
        | Guidance::Escalate
        | Guidance::Changelog
        | Guidance::Update
        | Guidance::CreateState
        | Guidance::CheckConfig
        | Guidance::CreateConfig
        | Guidance::ValidateFiles
        | Guidance::Hello => "it is not part of the way from here",
    }
}
