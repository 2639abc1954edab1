//! Failures that a program can tell apart, by a code.

pub(crate) mod message;
pub(crate) mod mistake;

use std::fmt;

/// Why something could not be done: a code for programs, a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure; one of the constants here.
    pub code: &'static str,
    message: String,
}

impl Failure {
    /// There is no catalog where one was looked for.
    pub const NO_CATALOG: &str = "no_catalog";
    /// The source of an import is no crawl.
    pub const NOT_AN_ARCHIVE: &str = "not_an_archive";
    /// A file is no result of an extraction that can be loaded.
    pub const NOT_A_RESULT: &str = "not_a_result";
    /// There is no such record.
    pub const NOT_FOUND: &str = "not_found";
    /// This machine does not see the files that were ordered.
    pub const OTHER_FILES: &str = "other_files";
    /// The place where documents lie cannot be reached.
    pub const STORE_AWAY: &str = "store_away";

    /// A failure with a code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The code of an error, for programs.
pub fn failure_code(error: &anyhow::Error) -> &'static str {
    if is_store_away(error) {
        return Failure::STORE_AWAY;
    }
    error.chain().find_map(code).unwrap_or("failed")
}

fn code(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    if let Some(failure) = cause.downcast_ref::<Failure>() {
        return Some(failure.code);
    }
    if let Some(error) = cause.downcast_ref::<catalog::Error>() {
        return Some(of_catalog(error));
    }
    if cause.is::<harvester::Error>() {
        return Some("repository");
    }
    let error = match cause.downcast_ref::<store::Error>() {
        Some(store::Error::Io { source, .. }) => Some(source),
        Some(_) => return Some("store"),
        None => cause.downcast_ref::<std::io::Error>(),
    };
    use std::io::ErrorKind::{NotFound, PermissionDenied, QuotaExceeded, StorageFull};
    Some(match error?.kind() {
        NotFound => "not_found",
        PermissionDenied => "permission_denied",
        StorageFull | QuotaExceeded => "disk_full",
        _ => "io",
    })
}

fn of_catalog(error: &catalog::Error) -> &'static str {
    use catalog::Error;
    match error {
        _ if error.is_full() => "disk_full",
        Error::Busy { .. } => "busy",
        Error::TooLong | Error::TooManyLists => "too_long",
        Error::UnknownRepository { .. }
        | Error::UnknownJob { .. }
        | Error::UnknownSchedule { .. }
        | Error::UnknownRules { .. }
        | Error::UnknownAccount { .. } => "unknown",
        Error::Database { .. } => "catalog_away",
        Error::Newer { .. } | Error::NotACatalog { .. } => "catalog",
        _ => "conflict",
    }
}

/// Whether the place where documents lie cannot be reached now, and may be later.
pub fn is_store_away(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let failure = cause.downcast_ref::<Failure>();
        let store = cause.downcast_ref::<store::Error>();
        failure.is_some_and(|failure| failure.code == Failure::STORE_AWAY)
            || store.is_some_and(store::Error::is_away)
    })
}

/// Whether an error is a failure with this code.
pub fn is_failure(error: &anyhow::Error, code: &str) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| {
        cause
            .downcast_ref::<Failure>()
            .is_some_and(|failure| failure.code == code)
    })
}
