//! How far a pipeline goes: which phases it begins with and ends after, and what it may spend.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::state_file::PHASES;

/// How far a pipeline goes. Only what was asked for is told.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Extent {
    /// The phase that it begins with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// The phase that it ends after.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub until: String,
    /// After how many tokens a person is asked; never where it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u64>,
    /// After how much money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_dollars: Option<f64>,
}

/// The variable with what a pipeline may cost.
pub const BUDGET_DOLLARS: &str = "budget_dollars";

/// A budget as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    Tokens(u64),
    Dollars(f64),
}

impl Extent {
    /// Says what is wrong with it, if anything is.
    pub fn check(&self) -> Result<(), String> {
        check_phase("from", &self.from)?;
        check_phase("until", &self.until)?;
        let place = |phase: &str| PHASES.iter().position(|it| *it == phase);
        if let (Some(from), Some(until)) = (place(&self.from), place(&self.until))
            && until < from
        {
            let (from, until) = (&self.from, &self.until);
            return Err(format!("`--until={until}` comes before `--from={from}`"));
        }
        if self.budget_dollars.is_some_and(|it| it < 0.0) {
            return Err("`budget_dollars` is below zero".to_owned());
        }
        Ok(())
    }

    /// Adds what was asked for to the variables of the run.
    pub fn add_to(&self, vars: &mut Map<String, Value>) {
        for (name, phase) in [("from", &self.from), ("until", &self.until)] {
            if !phase.is_empty() {
                vars.insert(name.to_owned(), phase.as_str().into());
            }
        }
        if let Some(tokens) = self.budget_tokens {
            vars.insert("budget_tokens".to_owned(), tokens.into());
        }
        if let Some(dollars) = self.budget_dollars {
            vars.insert(BUDGET_DOLLARS.to_owned(), dollars.into());
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
    pub fn parse(text: &str) -> Result<Self, String> {
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

    /// Returns the tokens, where it is that.
    pub fn tokens(self) -> Option<u64> {
        match self {
            Self::Tokens(tokens) => Some(tokens),
            Self::Dollars(_) => None,
        }
    }

    /// Returns the money, where it is that.
    pub fn dollars(self) -> Option<f64> {
        match self {
            Self::Tokens(_) => None,
            Self::Dollars(dollars) => Some(dollars),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Extent};

    #[test]
    fn a_budget_is_tokens_or_money() {
        let read = |text: &str| Budget::parse(text).unwrap();
        let tokens = [("7", 7), ("500k", 500_000), ("2M", 2_000_000)];
        assert!(tokens.into_iter().all(|(text, it)| read(text) == Budget::Tokens(it)));
        assert_eq!(read("$12.50"), Budget::Dollars(12.5));
        for text in ["", "0", "-1", "k", "$", "$-2", "$inf", "much", "99999999999999999999m"] {
            assert!(Budget::parse(text).unwrap_err().contains("500k"), "{text}");
        }
    }

    #[test]
    fn only_phases_are_begun_with_and_ended_after() {
        let check = |from: &str, until: &str| {
            let (from, until) = (from.to_owned(), until.to_owned());
            Extent { from, until, ..Extent::default() }.check()
        };
        assert_eq!(check("", ""), Ok(()));
        assert_eq!(check("phase-4", "phase-4"), Ok(()));
        assert!(check("phase-9", "").unwrap_err().contains("phase-1, phase-2"));
        assert!(check("", "completed").unwrap_err().contains("--until"));
        assert!(check("phase-5", "phase-4").unwrap_err().contains("before"));
    }
}
