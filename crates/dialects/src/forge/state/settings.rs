//! The tools that set one thing, or count one up. They differ in a word or two, so they are one table.

use engine::{Command, MakeMove};
use serde_json::{Map, Value};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, SETS, card},
    phase::{CHECKPOINTS, pending_at},
};
use crate::kit::Hints;

/// Makes a tool of each row: its parameters beside the workspace, its name, title and description,
/// whether the same again changes nothing, and the command.
macro_rules! settings {
    ($(
        $tool:ident { $($help:literal $field:ident)? } $name:literal $title:literal
        $description:literal $hints:expr, $command:expr;
    )*) => { $(
        card! {
            $tool $name $title $description $hints;
            $(#[doc = $help] $field: String,)?
        }

        impl Change for $tool {
            fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
                let make: fn(&Self, &Pipeline) -> Result<Command, Failure> = $command;
                make(self, pipeline)
            }
        }
    )* };
}

settings! {
    SetBranch { "Its name" branch } "set_branch" "Set the branch"
        "Name the branch that is worked on."
        SETS, |it, _| set([("branch", it.branch.as_str().into())]);
    SetUseCurrentBranch { "Its name" branch } "set_use_current_branch" "Use the current branch"
        "Work on a branch that exists already."
        SETS, |it, _| {
            set([("use_current_branch", true.into()), ("branch", it.branch.as_str().into())])
        };
    SetEffort { "S, M or L" effort } "set_effort" "Set the effort"
        "Set the effort alone; template and skipped phases stay."
        SETS, |it, _| {
            let effort = one_of("set_effort", "effort", &it.effort, &["S", "M", "L"])?;
            set([("effort", effort.into())])
        };
    SetFlowTemplate { "light, standard or full" flow_template }
        "set_flow_template" "Set the flow template"
        "Set the template alone; skipped phases stay."
        SETS, |it, pipeline| {
            let known: Vec<&str> =
                pipeline.view.workflow.flows.keys().map(String::as_str).collect();
            let template = one_of("set_flow_template", "flow_template", &it.flow_template, &known)?;
            set([("flow_template", template.into())])
        };
    SetAutoApprove {} "set_auto_approve" "Approve automatically"
        "Ask nobody at a checkpoint whose review approves."
        SETS, |_, _| set([("auto_approve", true.into())]);
    SetSkipPr {} "set_skip_pr" "Skip the pull request"
        "Open no pull request."
        SETS, |_, _| set([("skip_pr", true.into())]);
    SetDebug {} "set_debug" "Debug"
        "Mark the pipeline as one to debug."
        SETS, |_, _| set([("debug", true.into())]);
    SetRevisionPending { "checkpoint-a or checkpoint-b" checkpoint }
        "set_revision_pending" "Mark a revision as pending"
        "Say that the user wants something changed: the checkpoint is held until it is cleared."
        SETS, |it, _| set([(pending("set_revision_pending", &it.checkpoint)?, true.into())]);
    ClearRevisionPending { "checkpoint-a or checkpoint-b" checkpoint }
        "clear_revision_pending" "Clear a pending revision"
        "Say that the user approved what was changed."
        SETS, |it, _| set([(pending("clear_revision_pending", &it.checkpoint)?, false.into())]);
    RevisionBump { "design or tasks" rev_type } "revision_bump" "Count a revision"
        "Count one more revision of the design or the tasks."
        Hints::ADDS, |it, _| bump("revision_bump", &it.rev_type, "");
    InlineRevisionBump { "design or tasks" rev_type }
        "inline_revision_bump" "Count an inline revision"
        "Count one more small revision that the user asked for."
        Hints::ADDS, |it, _| bump("inline_revision_bump", &it.rev_type, "_inline");
}

fn set<const N: usize>(vars: [(&str, Value); N]) -> Result<Command, Failure> {
    let set = vars.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(Command::SetVars { set })
}

/// Counts within the run, so that two who count at once both count.
fn bump(tool: &str, kind: &str, suffix: &str) -> Result<Command, Failure> {
    let kind = one_of(tool, "rev_type", kind, &["design", "tasks"])?;
    let name = format!("bump_{kind}{suffix}");
    Ok(Command::Move(Box::new(MakeMove { name, args: Map::new(), ..MakeMove::default() })))
}

/// Returns the variable that says whether a revision is pending at a checkpoint.
fn pending(tool: &str, checkpoint: &str) -> Result<&'static str, Failure> {
    let known = CHECKPOINTS.map(|(name, _)| name);
    let name = one_of(tool, "checkpoint", checkpoint, &known)?;
    Ok(pending_at(name).unwrap_or_default())
}

/// Returns the word if it is one of those that are known.
pub(super) fn one_of<'a>(
    tool: &str,
    argument: &str,
    word: &'a str,
    known: &[&str],
) -> Result<&'a str, Failure> {
    if known.contains(&word) {
        return Ok(word);
    }
    let message = format!("{tool}: invalid {argument} `{word}`");
    Err(Failure::new("argument_invalid", message, format!("one of: {}", listed(known))))
}

/// Lists words. The empty one is taken, but not offered.
pub(super) fn listed(words: &[&str]) -> String {
    let offered: Vec<&str> = words.iter().copied().filter(|it| !it.is_empty()).collect();
    offered.join(", ")
}
