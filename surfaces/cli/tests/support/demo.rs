//! The workflow `DEMO` of the acceptance scenarios. Where the original's stub decided, the same
//! moves are declared: a failure fails the run at `HandleFailure`, `FINISH` ends it, details that
//! come with `data_provided` are merged, and everything else leads to `NextStep`.

/// The files of the workflow, to be written below `folder`.
pub(crate) fn demo(folder: &str) -> String {
    let steps =
        ["Start", "NextStep", "HandleFailure", "AskForClarification", "ProcessClarification"];
    let links: Vec<String> = steps.iter().map(|it| format!("- [{it}](steps/{it}.md)")).collect();
    let mut text = format!(
        "== {folder}/DEMO/index.md\n---\ndecider: declared\n---\n# Demo\n\n# Goal\n\n\
         Shows every move.\n\n# Steps\n\n{}\n",
        links.join("\n")
    );
    for step in steps {
        let provided = match step {
            "AskForClarification" => "ProcessClarification",
            _ => "NextStep",
        };
        text.push_str(&format!(
            "== {folder}/DEMO/steps/{step}.md\n---\nnext:\n\
             \x20 - {{to: HandleFailure, when: \"report.status == 'failure'\", fails: true}}\n\
             \x20 - {{to: FINISH, when: \"report.status == 'FINISH'\"}}\n\
             \x20 - {{to: {provided}, when: \"report.status == 'data_provided'\", merge: \"report.details\"}}\n\
             \x20 - {{to: NextStep, when: \"report.status != ''\"}}\n---\n\
             # Goal\n\nBe {step}.\n\n# Orchestrator Guidance\n\nGo on from {step}.\n\n\
             # Client Instructions\n\nDo the work of {step}.\n\n\
             # Context Expectations\n\n- `user`: who asks\n"
        ));
    }
    text
}
