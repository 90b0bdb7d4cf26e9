//! Which doors count as a person's own, and what a repository may decide for itself.
