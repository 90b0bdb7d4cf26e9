//! What a run may spend: once that is spent, a person is asked before more work is begun.

use alloc::{format, string::String, vec};

use definition::{Budget, Effect, Expression, Money, Step};
use serde_json::{Map, Value};

use super::{Draft, EvalContext, condition_failed, gate, scope};
use crate::{GateReason, Refusal, Spending, Standing, Stop};

/// The price of a token whose model has none of its own.
const ANY_MODEL: &str = "*";
/// Sums are compared in parts of which so many are one, so that they are exact.
const PARTS: f64 = 1_000_000.0;

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
    let Some(more) = find_spent(draft, step, budget)? else { return Ok(()) };
    let ask = question(draft, step, budget, &more)?;
    let options = vec![("continue", Effect::Approve), ("abandon", Effect::Cancel)];
    gate::ask(draft, step, None, GateReason::BudgetSpent, (ask, options))
}

/// Returns what the run would go on with, if it has spent what it may.
fn find_spent(draft: &Draft<'_>, step: &Step, budget: &Budget) -> Result<Option<String>, Refusal> {
    let usage = &draft.state.usage;
    let tokens = budget.tokens.as_ref().map(|it| number(draft, step, it)).transpose()?;
    let tokens = tokens.unwrap_or_default();
    let took = usage.since_granted().fold(0, |sum: u64, it| sum.saturating_add(it.1));
    if 0.0 < tokens && whole(tokens) <= took {
        return Ok(Some(format!("{} more", whole(tokens))));
    }
    let Some(money) = &budget.money else { return Ok(None) };
    let max = number(draft, step, &money.max)?;
    let is_spent =
        0.0 < max && whole(max * PARTS) <= whole(cost(draft, step, money, usage)? * PARTS);
    Ok(is_spent.then(|| format!("{max} more of what they cost")))
}

/// Returns what was spent since a person last let the run go on.
fn cost(draft: &Draft<'_>, step: &Step, money: &Money, usage: &Spending) -> Result<f64, Refusal> {
    let prices = evaluate(draft, step, &money.prices)?;
    let invalid = |it: &Value| {
        let problem = format!("`{}` is not a table of prices: {it}", money.prices.source());
        Refusal::ConditionFailed { step: step.name.clone(), problem }
    };
    let none = Map::new();
    let table = match &prices {
        Value::Object(table) => table,
        Value::Null => &none,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(invalid(&prices));
        }
    };
    let mut cost = 0.0;
    for (model, tokens) in usage.since_granted() {
        let Some(price) = table.get(model).or_else(|| table.get(ANY_MODEL)) else { continue };
        let price = price.as_f64().ok_or_else(|| invalid(&prices))?;
        #[expect(clippy::cast_precision_loss, reason = "nobody counts the single token")]
        let tokens = tokens as f64;
        cost += tokens * price;
    }
    Ok(cost)
}

/// Returns a limit; zero where there is none.
fn number(draft: &Draft<'_>, step: &Step, limit: &Expression) -> Result<f64, Refusal> {
    let value = evaluate(draft, step, limit)?;
    let number = match &value {
        Value::Null => Some(0.0),
        Value::Number(it) => it.as_f64(),
        Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let problem = || format!("`{}` is not a number: {value}", limit.source());
    let invalid = || Refusal::ConditionFailed { step: step.name.clone(), problem: problem() };
    number.ok_or_else(invalid)
}

fn evaluate(draft: &Draft<'_>, step: &Step, wanted: &Expression) -> Result<Value, Refusal> {
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    wanted.evaluate(&scope).map_err(|error| condition_failed(step, &error))
}

/// Returns a number without what lies behind its point, but for what arithmetic left there.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a token buys nothing, and less than none is none"
)]
fn whole(number: f64) -> u64 {
    (number.max(0.0) + 0.001) as u64
}

fn question(
    draft: &Draft<'_>,
    step: &Step,
    budget: &Budget,
    more: &str,
) -> Result<String, Refusal> {
    let Some(ask) = &budget.ask else {
        let spent = draft.state.usage.total();
        return Ok(format!(
            "The run took {spent} tokens, and its budget is spent. Go on with {more}?"
        ));
    };
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    ask.render(&scope).map_err(|error| condition_failed(step, &error))
}
