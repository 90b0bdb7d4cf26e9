//! A person's branches, commits, index and work tree.
