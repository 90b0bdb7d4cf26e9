//! How a task must be written, where that is asked for.

use super::{
    super::{
        answer::Failure,
        options::{Options, TaskFormat},
    },
    Guidance, Row,
};

const EXAMPLES: &str = "`Add: user login with sessions`, `Fix: crash on an empty file`, \
                        `Implement: export to CSV`, `Refactor: split the parser`";

/// Refuses a task that is not of the form that is asked for; where none is, a hint is returned.
pub(super) fn check(options: &Options, row: &Row, task: &str) -> Result<Vec<String>, Failure> {
    let task = task.trim();
    if task.is_empty() || is_action(task) {
        return Ok(Vec::new());
    }
    match options.task_format {
        TaskFormat::Action => {
            let message = "the task must have the form `Action: Brief description`";
            let hint = format!("write it as one of these: {EXAMPLES}");
            Err(Failure::new(row.name, "INVALID_TASK_FORMAT", message, &hint))
        }
        TaskFormat::Free if row.tool == Guidance::Init => Ok(vec![format!(
            "hint: a task reads best as `Action: Brief description`, such as {EXAMPLES}"
        )]),
        TaskFormat::Free => Ok(Vec::new()),
    }
}

/// Whether a task is `Action: Brief description`.
fn is_action(task: &str) -> bool {
    let Some((action, rest)) = task.split_once(':') else { return false };
    action.starts_with(char::is_uppercase)
        && action.chars().all(char::is_alphabetic)
        && rest.starts_with(' ')
        && !rest.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::is_action;

    #[test]
    fn an_action_is_a_word_a_colon_a_blank_and_more() {
        assert!(is_action("Add: login"));
        for task in ["add: login", "Add:login", "Add:  ", "Add a login", "Add2: login", ": login"] {
            assert!(!is_action(task), "{task}");
        }
    }
}
