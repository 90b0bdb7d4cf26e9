//! What a trial shows of a run: what to do now, what the guards look for, and what can be answered.

use definition::{PartSpec, Step};
use engine::{Action, find_promised, find_required, next, target_name};
use runtime::View;
use serde_json::{Value, json};

use crate::output::{ALERT, BOLD, DIM, GOOD, text};

/// The same, for people and for programs.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) json: Value,
}

/// Shows where a run is.
pub(super) fn show(view: &View, width: usize) -> Shown {
    let View { workflow, state, .. } = view;
    match next(workflow, state) {
        Action::Work { step, parts } => work(view, step, &parts, width),
        Action::Choose { after, choices } => {
            let names: Vec<&str> = choices.iter().map(target_name).collect();
            let text = format!(
                "{ALERT}choose{ALERT:#} what follows {}: type `next NAME`, one of {}\n",
                text::line(after.name.as_str()),
                text::line(&names.join(", "))
            );
            Shown { text, json: json!({ "choose": names, "after": after.name.as_str() }) }
        }
        Action::Wait { gate } => {
            let options: Vec<&str> = gate.options.iter().map(|it| it.name.as_str()).collect();
            let text = format!(
                "{ALERT}a person is asked{ALERT:#} {}\n  type `answer NAME`, one of {}\n",
                text::wrap(&text::line(&gate.ask), width, 2),
                text::line(&options.join(", "))
            );
            let json = json!({ "ask": gate.ask, "step": gate.step.as_str(), "options": options });
            Shown { text, json }
        }
        Action::Chore { chore } => {
            let what = chore.deed.describe();
            let text = format!("the server must {} first\n", text::line(&what));
            Shown { text, json: json!({ "chore": what }) }
        }
        Action::Done => {
            let last = workflow.finish_instructions().unwrap_or_default();
            let text = format!("{GOOD}the run is completed{GOOD:#}\n{}", block(last, width));
            Shown { text, json: json!({ "status": "completed" }) }
        }
        Action::Stopped { reason } => {
            let text = format!("the run has ended: {}\n", text::line(&reason));
            Shown { text, json: json!({ "status": state.standing.as_str(), "reason": reason }) }
        }
    }
}

fn work(view: &View, step: &Step, parts: &[PartSpec], width: usize) -> Shown {
    let View { workflow, state, .. } = view;
    let instructions = workflow.instructions(step, &state.context);
    let part = parts.first();
    let promised = find_promised(workflow, state, step, part);
    let required = find_required(workflow, state, step, part);
    let fill = |text: &str| workflow.fill(text, &state.context).into_owned();
    let criteria: Vec<(String, String)> =
        step.criteria.iter().map(|it| (it.key.clone(), fill(&it.text))).collect();
    let ids: Vec<&str> = parts.iter().map(|it| it.id.as_str()).collect();
    let checks: Vec<String> = step.checks.iter().map(|it| it.run.join(" ")).collect();
    let mut facts: Vec<String> = Vec::new();
    facts.extend((!ids.is_empty()).then(|| format!("parts: {}", ids.join(", "))));
    facts.extend(promised.iter().map(|it| format!("must write {it}")));
    facts.extend(required.iter().cloned());
    facts.extend(criteria.iter().map(|(key, text)| format!("evidence `{key}`: {text}")));
    facts.extend(checks.iter().map(|it| format!("the server runs {it}")));
    let facts: String = facts
        .iter()
        .map(|it| format!("  {DIM}│ {}{DIM:#}\n", text::wrap(&text::line(it), width, 4)))
        .collect();
    let name = text::line(step.name.as_str());
    let text = format!("{BOLD}{name}{BOLD:#}\n{}{facts}", block(&instructions, width));
    let json = json!({
        "step": step.name.as_str(),
        "instructions": instructions,
        "parts": ids,
        "produces": promised,
        "requires": required,
        "criteria": criteria.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "checks": checks,
    });
    Shown { text, json }
}

fn block(text: &str, width: usize) -> String {
    if text.is_empty() { String::new() } else { format!("  {}\n", text::block(text, width, 2)) }
}
