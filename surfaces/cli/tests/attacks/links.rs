//! Files outside of a root, and files that are not regular files.
