//! Errors of the catalog, with the culprit and the remedy.

/// An error of the catalog.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be read or written.
    #[error("the catalog `{location}` cannot be used: {source}{}", remedy(source))]
    Database {
        /// Where it is, without a password.
        location: String,
        /// The error of the database.
        source: sqlx::Error,
    },
    /// The program was built without PostgreSQL.
    #[cfg(not(feature = "postgres"))]
    #[error(
        "PostgreSQL is not built into this garner (feature `postgres`); name a file as catalog, or use another build"
    )]
    NotBuilt,
    /// The catalog belongs to a newer garner.
    #[error(
        "the catalog `{location}` was written by a newer garner (version {version}, this one knows {known}); use that, or another catalog"
    )]
    Newer {
        /// Where it is, without a password.
        location: String,
        /// Its version.
        version: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The SQLite database is somebody else's.
    #[error("`{location}` is a database, but not a catalog of garner; give another file")]
    NotACatalog {
        /// The file.
        location: String,
    },
    /// A catalog is to be copied into one that somebody uses.
    #[error(
        "the catalog `{location}` is in use: its table `{table}` has rows; name a new file or an empty database"
    )]
    CatalogInUse {
        /// Where it is, without a password.
        location: String,
        /// The first table with rows.
        table: String,
    },
    /// A copy does not have the rows of the original. It was taken back.
    #[error(
        "{arrived} of {rows} rows of the table `{table}` were copied, so nothing was; please report this"
    )]
    NotCopied {
        /// The table.
        table: String,
        /// Its rows.
        rows: u64,
        /// Those of the copy.
        arrived: u64,
    },
    /// Somebody else is harvesting the same, or keeps it quiet.
    #[error("{what} is {doing} by {owner}; wait for it, or stop it")]
    Busy {
        /// The repository, and as far as they are known prefix and set.
        what: String,
        /// The action, in words.
        doing: String,
        /// The process that does so.
        owner: String,
    },
    /// Another process took the run over, because this one was not heard of for too long.
    #[error("another process took over harvest {run}; nothing more is written for it here")]
    LeaseLost {
        /// The number of its history entry.
        run: i64,
    },
    /// Another process took the import over, because this one was not heard of for too long.
    #[error("another process took over import {import}; nothing more is written for it here")]
    ImportLost {
        /// Its number.
        import: i64,
    },
    /// A capture has bytes that no number was reserved for.
    #[error("no place is reserved for the content {sha1} of `{url}`; reserve the group again")]
    NotReserved {
        /// The URL of the capture.
        url: String,
        /// The SHA-1 of its bytes.
        sha1: String,
    },
    /// The run is over, or does not belong to what is to be harvested.
    #[error("harvest {run} cannot be gone on with; begin a new one")]
    NotResumable {
        /// The number of its history entry.
        run: i64,
    },
    /// There is no such repository.
    #[error("the catalog knows no repository with the number {id}; it may have been removed")]
    UnknownRepository {
        /// The number asked for.
        id: i64,
    },
    /// Another worker has the job, or it is over.
    #[error("job {job} is not this worker's any more; nothing is written for it here")]
    JobLost {
        /// The number of the job.
        job: i64,
    },
    /// The job is not over, or came to a good end.
    #[error("job {job} is {state}; only one that failed or was cancelled can be tried again")]
    NotRetryable {
        /// The number of the job.
        job: i64,
        /// How it stands.
        state: &'static str,
    },
    /// There is no such job.
    #[error("the catalog knows no job with the number {id}; it may have been removed")]
    UnknownJob {
        /// The number asked for.
        id: i64,
    },
    /// There is no such blacklist or whitelist.
    #[error(
        "the catalog knows no list with the number {id}; garner lists list shows those that it knows"
    )]
    UnknownList {
        /// The number asked for.
        id: i64,
    },
    /// There is no such schedule.
    #[error("the catalog knows no schedule with the number {id}; it may have been removed")]
    UnknownSchedule {
        /// The number asked for.
        id: i64,
    },
    /// Somebody else changed it since it was looked at.
    #[error("{what} was changed in the meantime; look at it again, and change it then")]
    Changed {
        /// The subject, with its number.
        what: String,
    },
    /// The query takes too long.
    #[error(
        "this takes too long to find; ask for rarer words, or in one repository, host or import"
    )]
    TooLong,
    /// As many long lists are being read for others as may be.
    #[error("too many long lists are being read at the moment; try again soon")]
    TooManyLists,
    /// The name belongs to another.
    #[error("`{name}` is taken; choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There are accounts already.
    #[error("there is an account already; ask an admin for another one")]
    NotFirst,
    /// Nobody could see to accounts any more.
    #[error("`{name}` is the only admin who can log in; make another one first")]
    LastAdmin {
        /// The name of the account.
        name: String,
    },
    /// There is no such account, or it is disabled.
    #[error("there is no account with the number {id}, or it is disabled")]
    UnknownAccount {
        /// The number asked for.
        id: i64,
    },
    /// There are no such rules.
    #[error("there are no rules with the number {id}; they may have been removed")]
    UnknownRules {
        /// The number asked for.
        id: i64,
    },
    /// Schedules go by the rules.
    #[error("`{name}` is used by schedule {}; change that first", schedules.join(", "))]
    InUse {
        /// The name of the rules.
        name: String,
        /// The schedules, by number and name.
        schedules: Vec<String>,
    },
}

impl Error {
    /// Whether the same may go well a little later: the database is busy, starts, stops, or cannot be reached.
    ///
    /// A commit at that moment may have succeeded. A second attempt then finds its lease lost.
    pub fn is_transient(&self) -> bool {
        let Self::Database { source, .. } = self else {
            return false;
        };
        match source {
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => true,
            // A connection that breaks within an answer.
            sqlx::Error::Protocol(_) => true,
            sqlx::Error::Database(error) => error.code().is_some_and(|code| is_transient(&code)),
            _ => false,
        }
    }

    /// Whether the disk of the database is full: the same goes well once somebody has made room.
    pub fn is_full(&self) -> bool {
        let Self::Database {
            source: sqlx::Error::Database(error),
            ..
        } = self
        else {
            return false;
        };
        error.code().is_some_and(|code| is_full(&code))
    }
}

/// The remedy beside waiting, where one is known.
fn remedy(source: &sqlx::Error) -> &'static str {
    let error = source.as_database_error();
    match error.and_then(sqlx::error::DatabaseError::code).as_deref() {
        Some(READ_ONLY) => {
            "; the server is a replica that was not promoted, or default_transaction_read_only is on: name the primary"
        }
        _ => "",
    }
}

/// By the code of the database, as below.
fn is_full(code: &str) -> bool {
    matches!(code, "13" | "53100")
}

/// By the code of the database: five characters from PostgreSQL, a number from SQLite.
fn is_transient(code: &str) -> bool {
    if code.len() == 5 {
        // Connections, too many of them, one that was stopped for too long, a server that starts or stops, a deadlock,
        // a row that another keeps.
        return code.starts_with("08")
            || matches!(
                code,
                "53300" | "25P03" | "57P01" | "57P02" | "57P03" | "40001" | "40P01" | "55P03"
            )
            // A replica becomes the primary.
            || code == READ_ONLY;
    }
    // The low byte is the kind, the rest says more about it: busy and locked.
    code.parse::<u32>()
        .is_ok_and(|code| matches!(code & 0xff, 5 | 6))
}

/// A statement that writes, in a transaction that may not.
const READ_ONLY: &str = "25006";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_from_what_stays() {
        for code in [
            "5", "6", "261", "517", "57P01", "57P03", "08006", "40P01", "25006",
        ] {
            assert!(is_transient(code), "{code}");
        }
        for code in ["13", "1", "2067", "23505", "42P01", "53100", ""] {
            assert!(!is_transient(code), "{code}");
            assert_eq!(is_full(code), ["13", "53100"].contains(&code), "{code}");
        }
    }
}
