//! The examples, one for each size. A test has each of them read.

/// How large an example is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Simple,
    Medium,
    Complex,
}

impl Size {
    /// Reads a word. One that is unknown means the middle one.
    pub(super) fn parse(word: &str) -> Self {
        match word.trim().to_lowercase().as_str() {
            "simple" => Self::Simple,
            "complex" => Self::Complex,
            _ => Self::Medium,
        }
    }

    /// Returns what the example shows.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Simple => "Three nodes in a row",
            Self::Medium => "Analyze, plan, execute, validate",
            Self::Complex => "A branch, an approval, and a way back",
        }
    }

    /// Returns the example.
    pub(super) fn yaml(self) -> &'static str {
        match self {
            Self::Simple => include_str!("simple.yaml"),
            Self::Medium => include_str!("medium.yaml"),
            Self::Complex => include_str!("complex.yaml"),
        }
    }
}

#[cfg(test)]
mod tests {
    use definition::{MemoryFiles, parse_graph};

    use super::Size;

    #[test]
    fn each_example_can_be_started_as_it_is() {
        for (size, nodes) in [(Size::Simple, 3), (Size::Medium, 4), (Size::Complex, 6)] {
            let files = MemoryFiles([("it.yaml".to_owned(), size.yaml().to_owned())].into());
            let (workflow, doubts) = parse_graph(None, "it.yaml", &files).unwrap();
            assert_eq!(workflow.steps.len(), nodes);
            assert!(doubts.is_empty(), "{doubts:?}");
        }
    }
}
