//! Figures of one run and of all of them.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::{
    patterns::Pattern,
    prices::{Prices, rounded},
    record::{Outcome, Record},
    review::Review,
    state::SpecState,
};

/// How many of the stored patterns a dashboard shows.
const FINDINGS_SHOWN: usize = 10;
/// How exactly a rate is said.
const RATE_PARTS: f64 = 10_000.0;

/// What one run took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub pipeline: String,
    pub effort: String,
    pub flow_template: String,
    pub total_tokens: u64,
    pub total_duration_ms: u64,
    pub total_duration: String,
    #[serde(serialize_with = "plain")]
    pub estimated_cost_usd: f64,
    pub phases_executed: usize,
    pub phases_skipped: usize,
    pub retries: u64,
    pub review_findings: ReviewFindings,
}

/// How many findings the reviews of a run had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ReviewFindings {
    pub critical: usize,
    pub minor: usize,
}

impl Summary {
    /// Sums a run up, given the texts of its reviews.
    pub fn new(state: &SpecState, reviews: &[String], prices: &Prices) -> Self {
        let findings = reviews.iter().flat_map(|it| Review::parse(it).findings);
        let (critical, minor): (Vec<_>, Vec<_>) =
            findings.partition(|it| it.severity == "CRITICAL");
        Self {
            pipeline: state.spec_name.clone(),
            effort: state.effort.clone(),
            flow_template: state.flow_template.clone(),
            total_tokens: state.tokens(),
            total_duration_ms: state.duration_ms(),
            total_duration: duration_text(state.duration_ms()),
            estimated_cost_usd: prices.total(state.usages()),
            phases_executed: state.completed_steps.len(),
            phases_skipped: state.skipped_steps.len(),
            retries: state.retries,
            review_findings: ReviewFindings { critical: critical.len(), minor: minor.len() },
        }
    }
}

/// Returns a duration for people: `1h 1m 1s`, `1m 30s`, `0s`.
pub fn duration_text(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m {seconds}s"),
        _ => format!("{hours}h {minutes}m {seconds}s"),
    }
}

/// What all runs of a repository took. Rates and templates are of those that were completed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Dashboard {
    pub total_pipelines: usize,
    pub completed: usize,
    pub abandoned: usize,
    pub by_flow_template: BTreeMap<String, TemplateCount>,
    pub total_tokens: u64,
    #[serde(serialize_with = "plain")]
    pub estimated_total_cost_usd: f64,
    #[serde(serialize_with = "plain")]
    pub review_pass_rate: f64,
    #[serde(serialize_with = "plain")]
    pub avg_retries_per_pipeline: f64,
    pub most_common_findings: Vec<FindingCount>,
}

/// How many runs had a template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TemplateCount {
    pub count: usize,
}

/// A finding that reviews had again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingCount {
    pub description: String,
    pub count: u64,
    pub severity: String,
}

impl Dashboard {
    /// Sums runs up.
    pub fn new<'a>(
        records: impl IntoIterator<Item = &'a Record>,
        patterns: &[Pattern],
        prices: &Prices,
    ) -> Self {
        let mut board = Self::default();
        let (mut passed, mut retries, mut cost) = (0, 0, 0.0);
        for record in records {
            board.total_pipelines += 1;
            board.total_tokens = board.total_tokens.saturating_add(record.tokens_total);
            cost += prices.total(&record.usages());
            match record.outcome {
                Outcome::Completed => {
                    board.completed += 1;
                    passed += usize::from(record.revisions == 0);
                    retries += record.retries;
                    board.count_template(&record.flow_template);
                }
                Outcome::Abandoned => board.abandoned += 1,
                Outcome::Failed | Outcome::InProgress | Outcome::Unknown => {}
            }
        }
        let completed = board.completed.max(1) as f64;
        board.estimated_total_cost_usd = rounded(cost, 1_000_000.0);
        board.review_pass_rate = rounded(passed as f64 / completed, RATE_PARTS);
        board.avg_retries_per_pipeline = rounded(retries as f64 / completed, RATE_PARTS);
        board.most_common_findings = patterns.iter().take(FINDINGS_SHOWN).map(counted).collect();
        board
    }

    fn count_template(&mut self, template: &str) {
        if !template.is_empty() {
            self.by_flow_template.entry(template.to_owned()).or_default().count += 1;
        }
    }
}

fn counted(pattern: &Pattern) -> FindingCount {
    FindingCount {
        description: pattern.pattern.clone(),
        count: pattern.frequency,
        severity: pattern.severity.clone(),
    }
}

/// Writes a whole number without a fraction.
pub(super) fn plain<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    /// From here on a float does not hold every whole number.
    const FLOAT_EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let is_whole = value.fract().abs() < f64::EPSILON && value.abs() < FLOAT_EXACT_MAX;
    match format!("{value:.0}").parse::<i64>().ok().filter(|_| is_whole) {
        Some(whole) => serializer.serialize_i64(whole),
        None => serializer.serialize_f64(*value),
    }
}

#[cfg(test)]
mod tests {
    use super::{Dashboard, Summary, duration_text};
    use crate::past::{LogEntry, Outcome, Patterns, Prices, Record, SpecState, Usage};

    #[test]
    fn durations_are_for_people() {
        let texts = [0, 999, 90_000, 3_661_000, 90_061_000].map(duration_text);
        assert_eq!(texts, ["0s", "0s", "1m 30s", "1h 1m 1s", "25h 1m 1s"]);
    }

    #[test]
    fn a_run_is_summed_up() {
        let usage = Usage { model: "sonnet".to_owned(), tokens: 1_000_000, split: None };
        let state = SpecState {
            spec_name: "x".to_owned(),
            effort: "S".to_owned(),
            flow_template: "light".to_owned(),
            completed_steps: ["setup", "phase-1", "phase-2"].map(str::to_owned).to_vec(),
            skipped_steps: vec!["phase-2".to_owned()],
            retries: 1,
            log: vec![LogEntry { duration_ms: 3_661_000, usage, ..LogEntry::default() }],
            ..SpecState::default()
        };
        let reviews = [
            "## Verdict: REVISE\n**[CRITICAL] a**\n**1. [MINOR] b**\n".to_owned(),
            "**[MINOR] without a verdict**".to_owned(),
        ];
        let summary = Summary::new(&state, &reviews, &Prices::default());
        assert_eq!(
            serde_json::to_string(&summary).unwrap(),
            r#"{"pipeline":"x","effort":"S","flow_template":"light","total_tokens":1000000,"total_duration_ms":3661000,"total_duration":"1h 1m 1s","estimated_cost_usd":6,"phases_executed":3,"phases_skipped":1,"retries":1,"review_findings":{"critical":1,"minor":1}}"#
        );
    }

    #[test]
    fn rates_are_of_completed_runs() {
        let run = |outcome, revisions, retries| Record {
            outcome,
            revisions,
            retries,
            flow_template: "light".to_owned(),
            tokens_total: 10,
            ..Record::default()
        };
        let runs = [
            run(Outcome::Completed, 0, 1),
            run(Outcome::Completed, 1, 0),
            run(Outcome::Completed, 0, 1),
            run(Outcome::Abandoned, 9, 9),
            run(Outcome::InProgress, 9, 9),
        ];
        let board = Dashboard::new(&runs, &Patterns::default().patterns, &Prices::default());
        assert_eq!((board.total_pipelines, board.completed, board.abandoned), (5, 3, 1));
        assert_eq!(board.by_flow_template["light"].count, 3);
        assert_eq!(board.total_tokens, 50);
        let rates = (board.review_pass_rate, board.avg_retries_per_pipeline);
        assert_eq!(format!("{rates:?}"), "(0.6667, 0.6667)");
        let none = Dashboard::new([], &[], &Prices::default());
        assert_eq!(none, Dashboard::default());
    }
}
