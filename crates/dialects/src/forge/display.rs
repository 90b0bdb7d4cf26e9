//! The short lines that a person reads while a pipeline goes on, and how numbers look in them.

use insight::past::Estimate;

/// Returns what a phase is called: its label, after its number where it has one.
pub fn title(phase: &str, label: &str) -> String {
    match phase.strip_prefix("phase-") {
        Some(number) => format!("Phase {number} — {label}"),
        None => label.to_owned(),
    }
}

/// Returns the line that says which agent is sent out. `parallel` is how many go side by side, where
/// they do.
pub fn spawning(title: &str, agent: &str, parallel: Option<usize>) -> String {
    let beside =
        parallel.map(|it| format!("  (parallel · {})", counted(it, "task"))).unwrap_or_default();
    format!("▶ {title}  ·  spawning {agent}{beside}…")
}

/// Returns the line that says that a phase is over.
pub fn complete(tokens: u64, duration_ms: u64) -> String {
    format!("  ✓ Complete  ·  {} tokens  ·  {}", thousands(tokens), clock(duration_ms))
}

/// What a pipeline has come to so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    pub tokens: u64,
    pub cost_usd: f64,
    pub phases: usize,
    pub retries: u64,
}

/// Returns the line that says what a pipeline has cost, if it has cost anything.
pub fn cost(spent: Spent) -> Option<String> {
    let Spent { tokens, cost_usd, phases, retries } = spent;
    if tokens == 0 {
        return None;
    }
    let retried = if retries == 1 { "retry" } else { "retries" };
    Some(format!(
        "  💰 {} tokens  ·  ~{}  ·  {}  ·  {} {retried}",
        thousands(tokens),
        dollars(cost_usd),
        counted(phases, "phase"),
        thousands(retries),
    ))
}

/// Returns the line that says what past pipelines of an effort took.
pub fn estimate(effort: &str, estimate: &Estimate) -> String {
    let Estimate { sample_size, tokens, cost_usd, .. } = estimate;
    let whole = |tokens: f64| grouped(&format!("{tokens:.0}"));
    format!(
        "  📊 Effort {effort}, {}  ·  P50 {} tokens / {}  ·  P90 {} tokens / {}",
        counted(*sample_size, "past run"),
        whole(tokens.p50),
        dollars(cost_usd.p50),
        whole(tokens.p90),
        dollars(cost_usd.p90),
    )
}

/// Returns a number with a comma between thousands.
pub fn thousands(number: u64) -> String {
    grouped(&number.to_string())
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at != 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns an amount of money to the cent.
pub fn dollars(amount: f64) -> String {
    format!("${amount:.2}")
}

/// Returns a duration as `M:SS`; an hour is sixty minutes.
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn counted(count: usize, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_with_a_number_is_called_by_it() {
        assert_eq!(title("phase-3b", "Design Review"), "Phase 3b — Design Review");
        assert_eq!(title("final-summary", "Final Summary"), "Final Summary");
        assert_eq!(title("checkpoint-a", "Design Checkpoint"), "Design Checkpoint");
    }

    #[test]
    fn it_is_said_which_agent_is_sent_out_and_how_many_go_side_by_side() {
        let first = title("phase-1", "Situation Analysis");
        let line = "▶ Phase 1 — Situation Analysis  ·  spawning situation-analyst…";
        assert_eq!(spawning(&first, "situation-analyst", None), line);
        let fifth = title("phase-5", "Implementation");
        let line = "▶ Phase 5 — Implementation  ·  spawning implementer  (parallel · 3 tasks)…";
        assert_eq!(spawning(&fifth, "implementer", Some(3)), line);
        assert!(spawning(&fifth, "implementer", Some(1)).contains("(parallel · 1 task)…"));
    }

    #[test]
    fn a_phase_that_is_over_says_what_it_took() {
        assert_eq!(complete(1000, 2000), "  ✓ Complete  ·  1,000 tokens  ·  0:02");
        assert_eq!(complete(0, 0), "  ✓ Complete  ·  0 tokens  ·  0:00");
    }

    #[test]
    fn costs_are_said_once_there_are_any() {
        let spent = Spent { tokens: 4000, cost_usd: 0.024, phases: 5, retries: 0 };
        let line = "  💰 4,000 tokens  ·  ~$0.02  ·  5 phases  ·  0 retries";
        assert_eq!(cost(spent).as_deref(), Some(line));
        let one = cost(Spent { phases: 1, retries: 1, ..spent }).unwrap();
        assert!(one.ends_with("1 phase  ·  1 retry"), "{one}");
        assert_eq!(cost(Spent { tokens: 0, ..spent }), None);
    }

    #[test]
    fn thousands_are_set_apart() {
        let cases = [
            (0, "0"),
            (7, "7"),
            (999, "999"),
            (1000, "1,000"),
            (12_345, "12,345"),
            (1_234_567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ];
        for (number, text) in cases {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn durations_are_minutes_and_seconds() {
        let cases =
            [(0, "0:00"), (999, "0:00"), (1000, "0:01"), (90_000, "1:30"), (3_661_000, "61:01")];
        for (ms, text) in cases {
            assert_eq!(clock(ms), text);
        }
    }

    #[test]
    fn money_is_said_to_the_cent() {
        assert_eq!(dollars(7.407_402), "$7.41");
        assert_eq!(dollars(0.0), "$0.00");
    }
}
