//! What a run may spend: once that is spent, a person is asked before more work is begun.

use alloc::{format, string::String, vec};

use definition::{Budget, Effect, Step};
use serde_json::Value;

use super::{Draft, Sight, condition_failed, gate, scope};
use crate::{GateReason, Refusal, Standing, Stop};

/// Asks at the current step whether the run goes on, if its budget is spent and there is work left.
pub(super) fn settle(draft: &mut Draft<'_>) -> Result<(), Stop> {
    let Some(budget) = &draft.workflow.budget else { return Ok(()) };
    if draft.state.standing != Standing::Running {
        return Ok(());
    }
    let step = draft.current()?;
    if draft.state.progress(&step.name).is_settled() {
        return Ok(());
    }
    let Some(tokens) = limit(draft, step, budget)? else { return Ok(()) };
    let spent = draft.state.usage.total();
    if spent.saturating_sub(draft.state.usage.granted_at) < tokens {
        return Ok(());
    }
    let ask = question(draft, step, budget, (spent, tokens))?;
    let options = vec![("continue", Effect::Approve), ("abandon", Effect::Cancel)];
    gate::ask(draft, step, None, GateReason::BudgetSpent, (ask, options))
}

/// Returns how many tokens there are to spend before a person is asked; `None` for any number.
fn limit(draft: &Draft<'_>, step: &Step, budget: &Budget) -> Result<Option<u64>, Refusal> {
    let scope = scope(draft.workflow, &draft.state, Sight::default());
    let value = budget.tokens.evaluate(&scope).map_err(|error| condition_failed(step, &error))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a token buys nothing, and less than none is none"
    )]
    let whole = |it: f64| it.max(0.0) as u64;
    let tokens = match &value {
        Value::Null => Some(0),
        Value::Number(it) => it.as_u64().or_else(|| it.as_f64().map(whole)),
        Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let problem = || format!("`{}` is no number of tokens: {value}", budget.tokens.source());
    let invalid = || Refusal::ConditionFailed { step: step.name.clone(), problem: problem() };
    tokens.ok_or_else(invalid).map(|it| Some(it).filter(|it| 0 < *it))
}

fn question(
    draft: &Draft<'_>,
    step: &Step,
    budget: &Budget,
    (spent, tokens): (u64, u64),
) -> Result<String, Refusal> {
    let Some(ask) = &budget.ask else {
        return Ok(format!(
            "The run took {spent} tokens, and its budget is spent. Go on with {tokens} more?"
        ));
    };
    let scope = scope(draft.workflow, &draft.state, Sight::default());
    ask.render(&scope).map_err(|error| condition_failed(step, &error))
}
