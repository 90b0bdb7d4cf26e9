//! Remedies in words that name no call.

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use definition::StepName;

use super::{Pick, Remedy};

impl fmt::Display for Remedy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FindRun => out.write_str("name a run of this project"),
            Self::NameRun { run } => write!(out, "to use that run, name it by its id: `{run}`"),
            Self::Pick { what, among } => what.write(out, among),
            Self::StartAnother => out.write_str("start another run"),
            Self::Reopen => out.write_str("reopen the run, or start another"),
            Self::Continue => out.write_str("continue with the run: there is nothing to reopen"),
            Self::Work { step } => write!(out, "continue with step `{step}`"),
            Self::Begin { step } => write!(out, "start step `{step}` first"),
            Self::Finish { steps } => write!(out, "finish first: {}", quoted(steps)),
            Self::PassGate { step } => {
                write!(out, "go to step `{step}` first, and have a person answer its gate")
            }
            Self::WorkTowards { step } => work_towards(out, step),
            Self::BeginBefore { step } => begin_before(out, step),
            Self::AskPerson { is_relayed } => ask_person(out, *is_relayed),
            Self::AnswerAgain => out.write_str("look at it again, then answer with the new digest"),
            Self::AnswerOtherwise => out.write_str("give another of the answers"),
            Self::Clear { condition, .. } => {
                write!(out, "make `{condition}` false, then have the person answer")
            }
            Self::Look => out.write_str("read the status of the run"),
            Self::LookAtHistory => out.write_str("read the history of the run"),
            Self::Wait { holder } => wait(out, holder),
            Self::Claim => out.write_str("claim the step first"),
            Self::WriteFile { path } => write!(out, "write `{path}`, then retry"),
            Self::FixFile { path } => write!(out, "fix `{path}`, then retry"),
            Self::AcceptFiles => {
                out.write_str("restore the files, or say that you continue with them as they are")
            }
            Self::UseCalls => out.write_str("change the run by a call, not by editing its file"),
            Self::GiveEvidence => {
                out.write_str("say for each criterion, by its key, what shows that it is met")
            }
            Self::GiveVerdict { words, is_read } => give_verdict(out, words, *is_read),
            Self::PlanParts => out.write_str("say what the parts are first"),
            Self::FixParts => out.write_str("fix the list of parts, then retry"),
            Self::SendBack { answer } => {
                write!(out, "answer `{answer}`, so that the list is made again")
            }
            Self::FinishItems => out.write_str("finish some of them, or begin another list"),
            Self::FixCause => out.write_str("fix the cause, then retry"),
            Self::FixValue => out.write_str("fix the value, then retry"),
            Self::FixContext => {
                out.write_str("give what is missing or wrong in the context, then retry")
            }
            Self::FixWorkflow { name: Some(name) } => {
                write!(out, "fix the definition of workflow `{name}`")
            }
            Self::FixWorkflow { name: None } => out.write_str("fix the definition of the workflow"),
            Self::GiveKey { pattern } => write!(out, "give a key that matches `{pattern}`"),
            Self::ShareKey { run } => {
                write!(out, "continue with run `{run}`, give another key, or cancel that run")
            }
            Self::NewRequestId => out.write_str("use a new id for a new request"),
            Self::Shorten => out.write_str("shorten it, or write it to a file and report the path"),
            Self::Flatten => out.write_str("flatten it, or write it to a file and report the path"),
            Self::Trust => out
                .write_str("a person must allow what this project runs; do not allow it yourself"),
            Self::WorkThere { root } => work_there(out, root),
            Self::Upgrade => {
                out.write_str("use the version of milepost that wrote the run, or a newer one")
            }
            Self::Nothing => out.write_str("there is nothing to do"),
        }
    }
}

fn work_towards(out: &mut fmt::Formatter<'_>, step: &StepName) -> fmt::Result {
    write!(
        out,
        "do the work that leads to step `{step}`, as the status says; the person is asked there"
    )
}

fn begin_before(out: &mut fmt::Formatter<'_>, step: &StepName) -> fmt::Result {
    write!(out, "start the run without what leads past step `{step}`; the person is asked there")
}

fn ask_person(out: &mut fmt::Formatter<'_>, is_relayed: bool) -> fmt::Result {
    out.write_str(if is_relayed {
        "ask the person, and pass their answer on"
    } else {
        "tell the person to answer it themselves, and retry when they have"
    })
}

fn wait(out: &mut fmt::Formatter<'_>, holder: &str) -> fmt::Result {
    write!(
        out,
        "if you are `{holder}`, say so; otherwise work on something else, or claim the step when \
         the lease ends"
    )
}

fn give_verdict(out: &mut fmt::Formatter<'_>, words: &[String], is_read: bool) -> fmt::Result {
    let words = words.join(", ");
    if is_read {
        write!(out, "write a line `## Verdict: WORD` with one of: {words}")
    } else {
        write!(out, "give the verdict, one of: {words}")
    }
}

fn work_there(out: &mut fmt::Formatter<'_>, root: &str) -> fmt::Result {
    write!(
        out,
        "use a server that was started in `{root}`; if the project was moved or copied here, \
         cancel the run and start it again"
    )
}

impl Pick {
    fn write(self, out: &mut fmt::Formatter<'_>, among: &[String]) -> fmt::Result {
        if among.is_empty() {
            return out.write_str("there are none");
        }
        let lead = match self {
            Self::Run => "write more of the id",
            Self::Next => "choose one of",
            Self::Answer => "answer one of",
            Self::Move => "allowed now",
            Self::Item => "open items",
            Self::Workflow | Self::Flow | Self::Step | Self::Part | Self::Variable => "name one of",
        };
        write!(out, "{lead}: {}", quoted(among))
    }
}

fn quoted<T: fmt::Display>(names: &[T]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
