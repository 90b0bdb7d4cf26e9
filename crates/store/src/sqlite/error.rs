//! What `SQLite` says, in the words of the store.

use rusqlite::ErrorCode;

use crate::StoreError;

/// The shared memory beside the file could not grow: the disk is full there too.
const IOERR_SHMSIZE: i32 = 4874;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        if error.sqlite_extended_error_code() == Some(IOERR_SHMSIZE) {
            return Self::Full;
        }
        if is_unreadable(&error) {
            return Self::Damaged(error.to_string());
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged(error.to_string())
            }
            Some(_) | None => Self::Database(error.to_string()),
        }
    }
}

/// Returns whether a value is of another kind than we ever write.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// Returns whether a connection on which this happened must not be used again.
pub(super) fn is_fatal(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    code.is_some_and(|code| FATAL.contains(&code))
        && error.sqlite_extended_error_code() != Some(IOERR_SHMSIZE)
}

const FATAL: &[ErrorCode] = &[
    ErrorCode::InternalMalfunction,
    ErrorCode::OutOfMemory,
    ErrorCode::ReadOnly,
    ErrorCode::SystemIoFailure,
    ErrorCode::DatabaseCorrupt,
    ErrorCode::CannotOpen,
    ErrorCode::FileLockingProtocolFailed,
    ErrorCode::ApiMisuse,
    ErrorCode::NotADatabase,
];
