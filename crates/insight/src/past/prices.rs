//! What tokens cost: by model where a price is known, at one rate for all where none is.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The rate of a token whose model has no price, in dollars.
const FLAT: f64 = 0.000_006;
/// Which part of tokens is taken for output where only the sum is known: agents read far more than
/// they write.
const OUTPUT_SHARE: f64 = 0.25;
const MILLION: f64 = 1_000_000.0;

/// What a million tokens of a model cost, in dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

/// What a step took of which model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    pub model: String,
    pub tokens: u64,
    /// How many of them were input and output, where that is known.
    pub split: Option<(u64, u64)>,
}

/// Prices by model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// Of a token whose model has no price, in dollars.
    pub per_token: f64,
    pub models: BTreeMap<String, Price>,
}

impl Default for Prices {
    fn default() -> Self {
        Self { per_token: FLAT, models: BTreeMap::new() }
    }
}

impl Prices {
    /// Returns what some tokens cost, in dollars.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let Some(price) = self.models.get(&usage.model) else {
            return usage.tokens as f64 * self.per_token;
        };
        let tokens = usage.tokens as f64;
        let (input, output) = match usage.split {
            Some((input, output)) => (input as f64, output as f64),
            None => (tokens * (1.0 - OUTPUT_SHARE), tokens * OUTPUT_SHARE),
        };
        (input * price.input + output * price.output) / MILLION
    }

    /// Returns what one token costs, by model; `*` is any other.
    pub fn by_token(&self) -> Map<String, Value> {
        let one = |model: &String| Usage { model: model.clone(), tokens: 1, split: None };
        let priced = self.models.keys().map(|it| (it.clone(), self.cost(&one(it))));
        let others = ("*".to_owned(), self.per_token);
        priced.chain([others]).map(|(model, price)| (model, price.into())).collect()
    }

    /// Returns what all of them cost, to a millionth of a dollar.
    pub fn total<'a>(&self, usages: impl IntoIterator<Item = &'a Usage>) -> f64 {
        rounded(usages.into_iter().map(|it| self.cost(it)).sum(), MILLION)
    }
}

/// Returns a number without what lies below one part in `parts`.
pub(super) fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use super::{Price, Prices, Usage};

    fn usage(model: &str, tokens: u64) -> Usage {
        Usage { model: model.to_owned(), tokens, split: None }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "sums are rounded to what can be written")]
    fn a_model_without_a_price_costs_the_flat_rate() {
        let mut prices = Prices::default();
        assert_eq!(prices.total(&[usage("sonnet", 200_000)]), 1.2);
        prices.models.insert("opus".to_owned(), Price { input: 15.0, output: 75.0 });
        assert_eq!(prices.total(&[usage("sonnet", 200_000), usage("opus", 100_000)]), 4.2);
        let split = Usage { split: Some((90_000, 10_000)), ..usage("opus", 100_000) };
        assert_eq!(prices.total(&[split]), 2.1);
        prices.per_token = 0.00001;
        assert_eq!(prices.total(&[usage("", 50_000)]), 0.5);
    }
}
