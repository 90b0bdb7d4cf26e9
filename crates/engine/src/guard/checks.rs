//! Guard: the commands that the server runs itself end well.

use alloc::{format, string::ToString as _, vec::Vec};

use definition::Step;

use crate::{CheckFact, CheckRun, Refusal, Stop, decide::Draft};

pub(super) fn check(draft: &Draft<'_>, step: &Step) -> Result<Vec<CheckRun>, Stop> {
    let mut passed = Vec::new();
    for check in &step.checks {
        let run = check.run.join(" ");
        let failed =
            |problem| Refusal::CheckFailed { step: step.name.clone(), run: run.clone(), problem };
        match draft.known.check(check)? {
            CheckFact::NotAllowed => {
                return Err(Refusal::CheckNotAllowed { step: step.name.clone(), run }.into());
            }
            CheckFact::TimedOut => {
                let seconds = check.timeout.as_secs();
                return Err(failed(format!("it took longer than {seconds} s")).into());
            }
            CheckFact::Ended { exit: 0, .. } => {
                passed.push(CheckRun { run: check.run.clone(), exit: 0 });
            }
            CheckFact::Ended { exit, output } => {
                let output = output.trim().to_string();
                return Err(failed(format!("exit code {exit}: {output}")).into());
            }
        }
    }
    Ok(passed)
}
