//! Runs the commands that must succeed according to a definition: without a shell, with a time limit,
//! and only where the user allows it.

use std::{path::Path, process::Stdio, time::Duration};

use engine::CheckFact;
use tokio::process::Command;

/// The variable with the token by which a person acts where there is no terminal.
pub(crate) const APPROVE_TOKEN: &str = "MILEPOST_APPROVE_TOKEN";
/// How much of what a command printed is kept: the end, where the errors are.
const OUTPUT_CHARS_MAX: usize = 2000;

pub(crate) async fn run(
    root: &Path,
    run: &[String],
    timeout: Duration,
    allowed: bool,
) -> CheckFact {
    let Some((program, arguments)) = run.split_first().filter(|_| allowed) else {
        return CheckFact::NotAllowed;
    };
    let running = Command::new(program)
        .args(arguments)
        .current_dir(root)
        // What a project has run must not answer in the person's name.
        .env_remove(APPROVE_TOKEN)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(timeout, running).await {
        Err(_) => CheckFact::TimedOut,
        Ok(Err(error)) => CheckFact::Ended { exit: -1, output: error.to_string() },
        Ok(Ok(output)) => {
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            let surplus = text.chars().count().saturating_sub(OUTPUT_CHARS_MAX);
            let output_end: String = text.chars().skip(surplus).collect();
            CheckFact::Ended { exit: output.status.code().unwrap_or(-1), output: output_end }
        }
    }
}
