//! The catalog, opened.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Error;
use crate::database::migrations::migrate;
use crate::database::{Database, is_busy};

/// The catalog in a database. A clone is another handle to the same one.
#[derive(Debug, Clone)]
pub struct Catalog {
    pub(crate) database: Database,
    /// When jobs were last looked for whose worker is gone.
    swept: Arc<Mutex<Option<Instant>>>,
}

impl Catalog {
    /// Opens the catalog at `postgres://…`, or else in a SQLite file, which is made if it is missing.
    ///
    /// Tables are made or brought up to date. Several processes may do so at once.
    pub async fn open(location: &str) -> Result<Self, Error> {
        let give_up = Instant::now() + OPENING;
        loop {
            match Self::try_open(location).await {
                // To turn a new file over to the write-ahead log needs it alone, and SQLite does not wait for that.
                Err(error) if is_busy(&error) && Instant::now() < give_up => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                result => return result,
            }
        }
    }

    async fn try_open(location: &str) -> Result<Self, Error> {
        let database = Database::open(location).await?;
        migrate(&database).await?;
        Ok(Self {
            database,
            swept: Arc::default(),
        })
    }

    /// The same catalog for people who wait for answers: a list that takes longer than 10 seconds is
    /// [`Error::TooLong`], and long lists leave connections for everything else.
    pub fn interactive(&self) -> Self {
        Self {
            database: self.database.interactive(),
            ..self.clone()
        }
    }

    pub(crate) fn swept(&self) -> MutexGuard<'_, Option<Instant>> {
        self.swept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its file, if it is one of SQLite.
    pub fn file(&self) -> Option<&Path> {
        self.database.file()
    }

    /// Where it is, without a password.
    pub fn location(&self) -> &str {
        self.database.location()
    }

    /// The database and its version: `PostgreSQL 17.2`.
    pub async fn database_version(&self) -> Result<String, Error> {
        let (name, sql) = match self.database.is_sqlite() {
            true => ("SQLite", "SELECT sqlite_version() AS version"),
            false => (
                "PostgreSQL",
                "SELECT current_setting('server_version') AS version",
            ),
        };
        let row = self.database.read().await?.row(sql, []).await?;
        let version = row.map_or(Ok(None), |row| row.maybe_text("version"))?;
        Ok(format!("{name} {}", version.unwrap_or_default())
            .trim_end()
            .to_owned())
    }

    /// Closes all connections, also those of other handles.
    pub async fn close(&self) {
        self.database.close().await;
    }
}

const OPENING: Duration = Duration::from_secs(60);
