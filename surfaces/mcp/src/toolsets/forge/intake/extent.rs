//! How far a pipeline goes: which phases it begins with and ends after, and what it may spend.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::state_doc::PHASES;

/// How far a pipeline goes. Only what was asked for is told.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Extent {
    /// The phase that it begins with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) from: String,
    /// The phase that it ends after.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) until: String,
    /// After how many tokens a person is asked; never where it is none.
    #[serde(skip_serializing_if = "is_none")]
    pub(super) budget_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(tokens: &u64) -> bool {
    *tokens == 0
}

/// A budget as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Budget {
    Tokens(u64),
    Dollars(f64),
}

impl Extent {
    /// Says what is wrong with it, if anything is.
    pub(super) fn check(&self) -> Result<(), String> {
        check_phase("from", &self.from)?;
        check_phase("until", &self.until)?;
        let place = |phase: &str| PHASES.iter().position(|it| *it == phase);
        if let (Some(from), Some(until)) = (place(&self.from), place(&self.until))
            && until < from
        {
            let (from, until) = (&self.from, &self.until);
            return Err(format!("`--until={until}` comes before `--from={from}`"));
        }
        Ok(())
    }

    /// Adds what was asked for to the variables of the run.
    pub(super) fn add_to(&self, vars: &mut Map<String, Value>) {
        for (name, phase) in [("from", &self.from), ("until", &self.until)] {
            if !phase.is_empty() {
                vars.insert(name.to_owned(), phase.as_str().into());
            }
        }
        if 0 < self.budget_tokens {
            vars.insert("budget_tokens".to_owned(), self.budget_tokens.into());
        }
    }
}

fn check_phase(flag: &str, phase: &str) -> Result<(), String> {
    if phase.is_empty() || PHASES.contains(&phase) {
        return Ok(());
    }
    Err(format!("`--{flag}={phase}` names no phase: use one of {}", PHASES.join(", ")))
}

impl Budget {
    /// Reads `500000`, `500k`, `2M` or `$12.50`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("budget `{text}` is not supported: use tokens (500000, 500k, 2M) or money ($5)")
        };
        if let Some(dollars) = text.strip_prefix('$') {
            let dollars = dollars.parse::<f64>().ok().filter(|it| it.is_finite() && 0.0 < *it);
            return dollars.map(Self::Dollars).ok_or_else(wrong);
        }
        let (digits, factor) = match text.strip_suffix(['k', 'K']) {
            Some(digits) => (digits, 1_000),
            None => match text.strip_suffix(['m', 'M']) {
                Some(digits) => (digits, 1_000_000),
                None => (text, 1),
            },
        };
        let count = digits.parse::<u64>().ok().and_then(|it| it.checked_mul(factor));
        count.filter(|it| 0 < *it).map(Self::Tokens).ok_or_else(wrong)
    }

    /// Returns how many tokens it buys at this rate.
    pub(super) fn tokens(self, dollars_per_token: f64) -> u64 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Dollars(dollars) if 0.0 < dollars_per_token => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a part of a token buys nothing, and both numbers are above zero"
                )]
                let tokens = (dollars / dollars_per_token).round() as u64;
                tokens.max(1)
            }
            // What costs nothing spends nothing.
            Self::Dollars(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Extent};

    #[test]
    fn a_budget_is_tokens_or_money() {
        let tokens = |text: &str| Budget::parse(text).unwrap().tokens(0.000_006);
        assert_eq!((tokens("7"), tokens("500k"), tokens("2M")), (7, 500_000, 2_000_000));
        assert_eq!((tokens("$6"), tokens("$0.000001")), (1_000_000, 1));
        assert_eq!(Budget::parse("$5").unwrap().tokens(0.0), 0);
        for text in ["", "0", "-1", "k", "$", "$-2", "$inf", "much", "99999999999999999999m"] {
            assert!(Budget::parse(text).unwrap_err().contains("500k"), "{text}");
        }
    }

    #[test]
    fn only_phases_are_begun_with_and_ended_after() {
        let check = |from: &str, until: &str| {
            let (from, until) = (from.to_owned(), until.to_owned());
            Extent { from, until, budget_tokens: 0 }.check()
        };
        assert_eq!(check("", ""), Ok(()));
        assert_eq!(check("phase-4", "phase-4"), Ok(()));
        assert!(check("phase-9", "").unwrap_err().contains("phase-1, phase-2"));
        assert!(check("", "completed").unwrap_err().contains("--until"));
        assert!(check("phase-5", "phase-4").unwrap_err().contains("before"));
    }
}
