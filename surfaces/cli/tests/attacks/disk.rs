//! The database on disk: the WAL, damaged bytes, removed files, backups.
