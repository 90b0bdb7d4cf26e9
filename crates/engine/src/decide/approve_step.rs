//! An agent passes on that the person agrees to a step. Unlike an answer it names the step, so that
//! it cannot be taken for consent to something else.

use definition::Step;

use super::{Draft, answer_gate, complete_step, gate, mode::Mode, report_step};
use crate::{
    AnswerGate, CompletedBy, Consent, GateReason, OpenGate, Refusal, Report, ReportOptions,
    ReportStep, Rigor, Standing, Stop,
};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, named: &str) -> Result<(), Stop> {
    draft.check_live()?;
    let Some(step) = draft.workflow.find_step_loosely(named) else {
        return Err(draft.step_unknown(named).into());
    };
    let Standing::Waiting(open) = draft.state.standing.clone() else {
        return Err(Refusal::GateNotOpen.into());
    };
    if open.step != step.name || !is_whole(&open) {
        return Err(gate::refusal(&open).into());
    }
    let report = report(step);
    if open.why == GateReason::Early {
        return report_step::decide(draft, mode, &report);
    }
    if !draft.state.progress(&step.name).is_settled() {
        // A person may be asked before the work was reported, but not in its place.
        let mode = Mode { by: CompletedBy::Approved, ..mode };
        complete_step::finish(draft, mode, step, None, &report)?;
    }
    answer_gate::decide(draft, mode, &AnswerGate::relayed())
}

/// Whether a yes lets the run go on from the step, and does not only try something again.
fn is_whole(open: &OpenGate) -> bool {
    match open.why {
        GateReason::Gate
        | GateReason::Early
        | GateReason::Owed
        | GateReason::VerdictUnknown
        | GateReason::RevisionsSpent => open.part.is_none(),
        GateReason::Part
        | GateReason::AttemptsSpent
        | GateReason::VisitsSpent
        | GateReason::BudgetSpent => false,
    }
}

fn report(step: &Step) -> ReportStep {
    let report = Report::passed(&step.name, gate::APPROVED.1);
    let (rigor, consent) = (Rigor::Presence, Consent::Stated);
    let terms = ReportOptions { rigor, consent, ..ReportOptions::default() };
    ReportStep { report, terms, ..ReportStep::default() }
}
