//! What a review says: its verdict and its findings.

use definition::{Finding, read_review};

/// Every verdict that a review can have.
pub const VERDICTS: [&str; 6] =
    ["APPROVE", "APPROVE_WITH_NOTES", "REVISE", "PASS", "PASS_WITH_NOTES", "FAIL"];
/// The verdict of a review that has none.
pub const UNKNOWN: &str = "UNKNOWN";

/// What a review says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// One of [`VERDICTS`], or [`UNKNOWN`].
    pub verdict: String,
    /// None where there is no verdict: that is not a review yet.
    pub findings: Vec<Finding>,
}

impl Review {
    /// Reads a review.
    pub fn parse(text: &str) -> Self {
        match read_review(text, &VERDICTS) {
            Some(read) => Self { verdict: read.verdict, findings: read.findings },
            None => Self { verdict: UNKNOWN.to_owned(), findings: Vec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Review;

    #[test]
    fn a_review_without_a_verdict_has_no_findings() {
        let review = Review::parse("**[CRITICAL] x**\n");
        assert_eq!((review.verdict.as_str(), review.findings.len()), ("UNKNOWN", 0));
        let review = Review::parse("**[CRITICAL] x**\n**Verdict:** FAIL\n");
        assert_eq!((review.verdict.as_str(), review.findings.len()), ("FAIL", 1));
    }
}
