//! The texts of the tools for people: commands where they name calls.

/// The command that has the scenes.
const COMMAND: &str = "milepost generation";
/// Tools, and the words after the command that have them called.
const CALLS: &[(&str, &str)] = &[
    ("get_generation_status", "status"),
    ("resume_generation", "resume"),
    ("cancel_generation", "cancel"),
];

/// What stands before the call that passes a person's approval on.
const APPROVAL: &str = "Ask the user to approve; after their yes:";
/// Calls that only an agent makes.
const AGENT: &[&str] =
    &["start_step(", "retry_step(", "complete_step(", "complete_generation(", "fail_generation("];

/// Returns the text with commands in place of calls.
pub(super) fn in_commands(text: &str) -> String {
    let mut text = text.replace("Use list_generations tool", &format!("{COMMAND} list"));
    for (tool, word) in CALLS {
        text = replaced(&text, tool, |scene, flags| format!("{COMMAND} {word} {scene}{flags}"));
    }
    // A person approves at the gate itself; all other work is the agent's.
    let lines = text.split('\n').map(|line| match line.split_once(APPROVAL) {
        Some((before, call)) => {
            let gate = |scene: &str, _: &str| format!("milepost gate approve {scene}");
            format!("{before}Approve it: {}", replaced(call.trim_start(), "complete_step", gate))
        }
        None if AGENT.iter().any(|it| line.contains(it)) => match line.split_once("- ") {
            Some((before, call)) => format!("{before}- The agent: {call}"),
            None => line.to_owned(),
        },
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces every call of a tool by what `command` makes of its scene and its flags.
fn replaced(text: &str, tool: &str, command: impl Fn(&str, &str) -> String) -> String {
    let call = format!("{tool}(scene_id='");
    let mut parts = text.split(&call);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (arguments, rest) = part.split_once(')').unwrap_or((part, ""));
        let (scene, others) = arguments.split_once('\'').unwrap_or((arguments, ""));
        let flags = if others.contains("force=True") { " --force" } else { "" };
        whole.push_str(&command(scene, flags));
        whole.push_str(rest);
    }
    whole
}

/// Separates the message from the hint, which begins with 💡.
pub(super) fn parted(said: &str) -> (String, Option<String>) {
    let (message, hint) = match said.split_once("\n\n💡") {
        Some((message, hint)) => (message, Some(hint.trim().to_owned())),
        None => (said, None),
    };
    let plain = message.strip_prefix("❌ ERROR: ").or_else(|| message.strip_prefix("Error: "));
    (plain.unwrap_or(message).trim().to_owned(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_become_commands() {
        let said = |text: &str| in_commands(text);
        assert_eq!(
            said("Check: get_generation_status(scene_id='0204')\nUse list_generations tool"),
            "Check: milepost generation status 0204\nmilepost generation list"
        );
        assert_eq!(
            said("use: resume_generation(scene_id='0204', force=True)."),
            "use: milepost generation resume 0204 --force."
        );
        assert_eq!(
            said("To go on: resume_generation(scene_id='0204', confirm=True)"),
            "To go on: milepost generation resume 0204"
        );
        assert_eq!(
            said(
                "- Ask the user to approve; after their yes: complete_step(scene_id='0204', \
                 step_number=3, duration_seconds=X)"
            ),
            "- Approve it: milepost gate approve 0204"
        );
        assert_eq!(
            said("- When step 4 is done: complete_step(scene_id='0204', step_number=4)"),
            "- The agent: When step 4 is done: complete_step(scene_id='0204', step_number=4)"
        );
        assert_eq!(said("cancel_generation( is a word"), "cancel_generation( is a word");
    }

    #[test]
    fn what_is_wrong_is_parted_from_the_way_out() {
        let (message, hint) = parted("❌ ERROR: No state\n\nA file.\n\n💡 Options:\n  - Wait");
        assert_eq!(message, "No state\n\nA file.");
        assert_eq!(hint.as_deref(), Some("Options:\n  - Wait"));
        assert_eq!(parted("Error: torn"), ("torn".to_owned(), None));
    }
}
