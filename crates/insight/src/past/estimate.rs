//! What a run of some effort will take, going by those that were completed.

use serde::Serialize;

use super::{
    figures::plain,
    prices::{Prices, rounded},
    record::{Outcome, Record},
};

const HIGH_FROM: usize = 10;
const MEDIUM_FROM: usize = 3;
const MINUTE_MS: f64 = 60_000.0;
/// How exactly minutes are said.
const MINUTE_PARTS: f64 = 100.0;

/// What a run will take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    pub sample_size: usize,
    pub tokens: Spread,
    pub duration_min: Spread,
    pub cost_usd: Spread,
    pub confidence: Confidence,
    pub note: String,
}

/// What half of the runs, and what nine of ten, stayed within.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    #[serde(serialize_with = "plain")]
    pub p50: f64,
    #[serde(serialize_with = "plain")]
    pub p90: f64,
}

/// How far an estimate can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    High,
    Medium,
    Low,
}

/// Estimates a run of this effort.
pub fn estimate<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    effort: &str,
    prices: &Prices,
) -> Estimate {
    let is_like = |it: &&Record| it.outcome == Outcome::Completed && it.effort == effort;
    let runs: Vec<&Record> = records.into_iter().filter(is_like).collect();
    let minutes = |it: &&Record| rounded(it.duration_ms as f64 / MINUTE_MS, MINUTE_PARTS);
    Estimate {
        sample_size: runs.len(),
        tokens: spread(runs.iter().map(|it| it.tokens_total as f64).collect()),
        duration_min: spread(runs.iter().map(minutes).collect()),
        cost_usd: spread(runs.iter().map(|it| prices.total(&it.usages())).collect()),
        confidence: confidence(runs.len()),
        note: note(runs.len(), effort),
    }
}

fn confidence(count: usize) -> Confidence {
    match count {
        HIGH_FROM.. => Confidence::High,
        MEDIUM_FROM.. => Confidence::Medium,
        _ => Confidence::Low,
    }
}

fn note(count: usize, effort: &str) -> String {
    match count {
        0 => format!("no run of effort `{effort}` was completed yet"),
        1 => format!("one completed run of effort `{effort}`"),
        _ => format!("{count} completed runs of effort `{effort}`"),
    }
}

/// Takes values that there were; nothing is made up between two of them.
fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let at = |index: usize| values.get(index).copied().unwrap_or_default();
    Spread {
        p50: at(count.saturating_sub(1) / 2),
        p90: at((count * 9).div_ceil(10).saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Confidence, confidence, estimate, spread};
    use crate::past::{Outcome, Prices, Record};

    fn run(tokens_total: u64, minutes: u64) -> Record {
        Record {
            tokens_total,
            tokens_by_model: [("sonnet".to_owned(), tokens_total)].into(),
            duration_ms: minutes * 60_000,
            outcome: Outcome::Completed,
            effort: "M".to_owned(),
            ..Record::default()
        }
    }

    #[test]
    fn percentiles_are_values_that_there_were() {
        let ends = |count: u32| {
            let spread = spread((1..=count).map(f64::from).collect());
            format!("{} {}", spread.p50, spread.p90)
        };
        let all = [1, 2, 3, 4, 5, 10, 11, 20].map(ends);
        assert_eq!(all, ["1 1", "1 2", "2 3", "2 4", "3 5", "5 9", "6 10", "10 18"]);
    }

    #[test]
    fn only_completed_runs_of_the_effort_count() {
        let mut runs: Vec<Record> = (1..=4).map(|it| run(it * 100_000, it)).collect();
        runs.push(Record { outcome: Outcome::Abandoned, ..run(9, 9) });
        runs.push(Record { effort: "L".to_owned(), ..run(8, 8) });
        let estimate = estimate(&runs, "M", &Prices::default());
        assert_eq!(
            serde_json::to_string(&estimate).unwrap(),
            r#"{"sample_size":4,"tokens":{"p50":200000,"p90":400000},"duration_min":{"p50":2,"p90":4},"cost_usd":{"p50":1.2,"p90":2.4},"confidence":"medium","note":"4 completed runs of effort `M`"}"#
        );
    }

    #[test]
    fn the_more_runs_the_more_trust() {
        let words = [0, 2, 3, 9, 10, 99].map(confidence);
        let (low, medium, high) = (Confidence::Low, Confidence::Medium, Confidence::High);
        assert_eq!(words, [low, low, medium, medium, high, high]);
        let none = estimate([], "L", &Prices::default());
        assert_eq!((none.sample_size, none.note.is_empty()), (0, false));
    }
}
