//! What is asked of a person, and answered.

use alloc::{format, string::String, vec::Vec};

use super::{place, quoted};
use crate::{Event, GateReason, How, OpenGate};

pub(super) fn opened(gate: &OpenGate) -> String {
    let why = match gate.why {
        GateReason::Gate => "",
        GateReason::Early => " (early)",
        GateReason::Part => " (part)",
        GateReason::VerdictUnknown => " (verdict unknown)",
        GateReason::AttemptsSpent => " (attempts spent)",
        GateReason::RevisionsSpent => " (revisions spent)",
        GateReason::VisitsSpent => " (visits spent)",
        GateReason::BudgetSpent => " (budget spent)",
        GateReason::Owed => " (owed)",
    };
    let options: Vec<&str> = gate.options.iter().map(|it| it.name.as_str()).collect();
    let place = place(&gate.step, gate.part.as_ref());
    format!("asks at {place}{why}{} [{}]", quoted(&gate.ask), options.join(", "))
}

pub(super) fn answered(event: &Event) -> String {
    let Event::GateAnswered { step, part, answer, how, by, feedback, is_implied, .. } = event
    else {
        return String::new();
    };
    let place = place(step, part.as_ref());
    if *is_implied {
        return format!("`{answer}` at {place}: {by} completed it; nobody was asked");
    }
    let how = match how {
        How::Verified => "",
        How::Relayed => " (relayed)",
        How::Automatic => " (automatic)",
    };
    format!("{by}{how} answered `{answer}` at {place}{}", quoted(feedback))
}
