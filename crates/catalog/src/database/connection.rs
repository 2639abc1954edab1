//! The two databases behind one face: the same text of SQL, values in, rows out.
//!
//! A few words of the text differ between the two and are written in braces; `dialect` has their list.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
#[cfg(feature = "postgres")]
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow,
    SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, Connection, Row as _, Sqlite};
#[cfg(feature = "postgres")]
use sqlx::{
    Executor as _, PgConnection, Postgres,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgRow},
};

use crate::Error;
use crate::changes::{self, OpenGroup};
use crate::database::bounded::clean;
use crate::database::dialect::Dialect;
use crate::database::slow::logged;

#[derive(Debug, Clone)]
pub(crate) struct Database {
    location: Arc<str>,
    pools: Pools,
    /// Whether lists are read with a time limit, over connections of their own.
    interactive: bool,
    /// When it was last away, or let this process wait.
    trouble: Arc<Mutex<Option<Instant>>>,
}

#[derive(Debug, Clone)]
enum Pools {
    Sqlite {
        /// One connection, because SQLite has one writer: others wait here instead of polling the file.
        writer: SqlitePool,
        readers: SqlitePool,
        lists: SqlitePool,
    },
    #[cfg(feature = "postgres")]
    Postgres { pool: PgPool, lists: PgPool },
}

/// A transaction that is rolled back unless it is committed.
pub(crate) struct Transaction {
    location: Arc<str>,
    inner: Inner,
    /// The groups of records and documents that it changed.
    pub(crate) groups: Vec<OpenGroup>,
}

enum Inner {
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::Transaction<'static, Postgres>),
}

/// A value of a parameter.
#[derive(Clone)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
}

/// A row of an answer, read by the names of its columns.
pub(crate) struct Row {
    location: Arc<str>,
    inner: InnerRow,
}

enum InnerRow {
    Sqlite(SqliteRow),
    #[cfg(feature = "postgres")]
    Postgres(PgRow),
}

/// How long SQLite waits for the writer of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);
/// Waits above `LONG` count as trouble; after `CALM` without any, the database is calm again.
const LONG: Duration = Duration::from_secs(3);
const CALM: Duration = Duration::from_secs(5);
const READERS: u32 = 4;
/// How many long lists are read at once for people. The other readers stay free for everything else.
const LISTS: u32 = 2;
/// How long a list may take that a person waits for, and how long it waits for a connection.
const LIST_TIME: Duration = match cfg!(test) {
    true => Duration::from_millis(500),
    false => Duration::from_secs(10),
};
/// How long people wait for what is only beside a list.
const QUICK_TIME: Duration = match cfg!(test) {
    true => Duration::from_millis(500),
    false => Duration::from_millis(120),
};
/// After how many steps SQLite looks at the clock where time is limited; it takes about a millisecond.
const STEPS: i32 = 20_000;
#[cfg(feature = "postgres")]
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
#[cfg(feature = "postgres")]
/// As many as there may be threads that work, and somebody who looks on.
const POSTGRES_CONNECTIONS: u32 = 10;
#[cfg(feature = "postgres")]
/// A process that is stopped within a transaction must not keep its locks from all others. The server ends its
/// connection after this time, and the process is refused if it goes on.
const LONGEST_PAUSE: &str = "SET idle_in_transaction_session_timeout = '30s'";

impl Database {
    /// Opens `postgres://…`, or else a SQLite file, which is made if it is missing.
    pub(crate) async fn open(location: &str) -> Result<Self, Error> {
        if location.starts_with("postgres://") || location.starts_with("postgresql://") {
            #[cfg(feature = "postgres")]
            return Self::open_postgres(location).await;
            #[cfg(not(feature = "postgres"))]
            return Err(Error::NotBuilt);
        }
        let path = location.strip_prefix("sqlite:").unwrap_or(location);
        let path = path.strip_prefix("//").unwrap_or(path);
        Self::open_sqlite(Path::new(path)).await
    }

    async fn open_sqlite(path: &Path) -> Result<Self, Error> {
        let location: Arc<str> = path.to_string_lossy().into();
        // SQLite would let everybody read it, and what it makes beside it has the same mode. What goes wrong it tells.
        let mut file = OpenOptions::new();
        drop(file.write(true).create_new(true).mode(0o600).open(path));
        let readers = logged(SqliteConnectOptions::new())
            .filename(path)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("cache_size", "-8000");
        let writer = readers
            .clone()
            .create_if_missing(true)
            // Digests are scattered over their indexes: what does not fit is read and written again with every group.
            .pragma("cache_size", "-48000")
            .journal_mode(SqliteJournalMode::Wal)
            // A committed page must survive the end of the power, because the repository is asked for the next one.
            .synchronous(SqliteSynchronous::Full);
        let pool = || {
            SqlitePoolOptions::new()
                .acquire_timeout(BUSY_TIMEOUT)
                .idle_timeout(None)
                .max_lifetime(None)
        };
        let writer = pool()
            .max_connections(1)
            // SQLite gives a transaction up by itself when the disk is full, and the pool does not notice.
            .before_acquire(|connection, _| {
                let fresh = !connection.is_in_transaction();
                Box::pin(async move { Ok(fresh) })
            })
            .connect_with(writer)
            .await
            .map_err(|source| failed(&location, source))?;
        let reading = readers.pragma("query_only", "ON");
        let readers_of = |connections, patience| {
            pool()
                .max_connections(connections)
                .acquire_timeout(patience)
                // The limit of a transaction must not become that of the next one.
                .after_release(|connection, _| {
                    Box::pin(async move {
                        connection.lock_handle().await?.remove_progress_handler();
                        Ok(true)
                    })
                })
                .connect_lazy_with(reading.clone())
        };
        Ok(Self {
            location,
            pools: Pools::Sqlite {
                writer,
                readers: readers_of(READERS, BUSY_TIMEOUT),
                lists: readers_of(LISTS, LIST_TIME),
            },
            interactive: false,
            trouble: Arc::default(),
        })
    }

    #[cfg(feature = "postgres")]
    async fn open_postgres(url: &str) -> Result<Self, Error> {
        // The URL may hold a password, so nothing of it is told before it is taken apart.
        let options = PgConnectOptions::from_str(url)
            .map_err(|source| failed("postgres://", source))?
            .application_name("garner");
        let options = logged(options);
        let location: Arc<str> = postgres_location(&options).into();
        // The pool would go on trying for as long as it may wait for a connection.
        let first = PgConnection::connect_with(&options).await;
        let first = first.map_err(|source| failed(&location, source))?;
        drop(first.close().await);
        let pool_of = |connections, patience| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(patience)
                .after_connect(|connection, _| {
                    Box::pin(async move { connection.execute(LONGEST_PAUSE).await.map(drop) })
                })
        };
        let lists = pool_of(LISTS, LIST_TIME).connect_lazy_with(options.clone());
        let pool = pool_of(POSTGRES_CONNECTIONS, BUSY_TIMEOUT)
            .connect_with(options)
            .await
            .map_err(|source| failed(&location, source))?;
        Ok(Self {
            location,
            pools: Pools::Postgres { pool, lists },
            interactive: false,
            trouble: Arc::default(),
        })
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        let is_file = matches!(self.pools, Pools::Sqlite { .. });
        is_file.then(|| Path::new(&*self.location))
    }

    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self.pools, Pools::Sqlite { .. })
    }

    /// The same database for people who wait: lists have a time limit, and long ones connections of their own.
    pub(crate) fn interactive(&self) -> Self {
        Self {
            interactive: true,
            ..self.clone()
        }
    }

    /// A transaction that reads, all of it as of one moment.
    pub(crate) fn read(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            let began = Instant::now();
            let inner = match &self.pools {
                Pools::Sqlite { readers, .. } => readers.begin().await.map(Inner::Sqlite),
                #[cfg(feature = "postgres")]
                Pools::Postgres { pool, .. } => {
                    pool.begin_with(SNAPSHOT).await.map(Inner::Postgres)
                }
            };
            self.transaction(inner, began)
        })
    }

    /// A transaction that reads a list, with a time limit if a person waits for it.
    pub(crate) fn list(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            let mut transaction = self.read().await?;
            if self.interactive {
                transaction.limit(LIST_TIME).await?;
            }
            Ok(transaction)
        })
    }

    /// The same for a list that grows with the holdings. At most [`LISTS`] of them are read at once for people, also if
    /// nobody waits for the answer any more: a connection is free when the database has ended what it was asked.
    pub(crate) fn long_list(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            if !self.interactive {
                return self.read().await;
            }
            let inner = match &self.pools {
                Pools::Sqlite { lists, .. } => lists.begin().await.map(Inner::Sqlite),
                #[cfg(feature = "postgres")]
                Pools::Postgres { lists, .. } => {
                    lists.begin_with(SNAPSHOT).await.map(Inner::Postgres)
                }
            };
            if matches!(inner, Err(sqlx::Error::PoolTimedOut)) {
                return Err(Error::TooManyLists);
            }
            // That others read long lists is no trouble of the database.
            let mut transaction = self.transaction(inner, Instant::now())?;
            transaction.limit(LIST_TIME).await?;
            Ok(transaction)
        })
    }

    /// The same for what is only beside a list, such as how long it is: people wait a moment for it.
    pub(crate) fn quick_list(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            let mut transaction = self.long_list().await?;
            if self.interactive {
                transaction.limit(QUICK_TIME).await?;
            }
            Ok(transaction)
        })
    }

    /// A transaction that writes.
    pub(crate) fn write(&self) -> BoxFuture<'_, Result<Transaction, Error>> {
        Box::pin(async move {
            let began = Instant::now();
            let inner = match &self.pools {
                // To begin as a reader and to write later can fail without being waited for.
                Pools::Sqlite { writer, .. } => writer
                    .begin_with("BEGIN IMMEDIATE")
                    .await
                    .map(Inner::Sqlite),
                #[cfg(feature = "postgres")]
                Pools::Postgres { pool, .. } => pool.begin().await.map(Inner::Postgres),
            };
            self.transaction(inner, began)
        })
    }

    /// Writes a SQLite database, as it stands, into another file that only its owner may read.
    pub(crate) async fn vacuum_into(&self, file: &Path) -> Result<(), Error> {
        let mut new = OpenOptions::new();
        drop(new.write(true).create_new(true).mode(0o600).open(file));
        match &self.pools {
            Pools::Sqlite { writer, .. } => sqlx::query("VACUUM INTO $1")
                .bind(file.to_string_lossy().into_owned())
                .execute(writer)
                .await
                .map(drop)
                .map_err(|source| failed(&self.location, source)),
            #[cfg(feature = "postgres")]
            Pools::Postgres { .. } => Ok(()),
        }
    }

    /// Moves the write-ahead log of SQLite into the file.
    pub(crate) async fn fold_log(&self) -> Result<(), Error> {
        match &self.pools {
            Pools::Sqlite { writer, .. } => sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
                .execute(writer)
                .await
                .map(drop)
                .map_err(|source| failed(&self.location, source)),
            #[cfg(feature = "postgres")]
            Pools::Postgres { .. } => Ok(()),
        }
    }

    pub(crate) async fn close(&self) {
        match &self.pools {
            Pools::Sqlite {
                writer,
                readers,
                lists,
            } => {
                lists.close().await;
                readers.close().await;
                writer.close().await;
            }
            #[cfg(feature = "postgres")]
            Pools::Postgres { pool, lists } => {
                lists.close().await;
                pool.close().await;
            }
        }
    }

    /// Whether this process could use it at once for the last few seconds. If not, others could not either, and whoever
    /// was not heard of may have had no chance to be.
    pub(crate) fn is_calm(&self) -> bool {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.is_none_or(|at| at.elapsed() >= CALM)
    }

    fn transaction(
        &self,
        inner: Result<Inner, sqlx::Error>,
        began: Instant,
    ) -> Result<Transaction, Error> {
        if inner.is_err() || began.elapsed() >= LONG {
            let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
            *trouble = Some(Instant::now());
        }
        let location = self.location.clone();
        match inner {
            Ok(inner) => Ok(Transaction {
                location,
                inner,
                groups: Vec::new(),
            }),
            Err(source) => Err(failed(&location, source)),
        }
    }
}

/// Binds the values one after the other, and runs the statement.
macro_rules! run {
    ($transaction:expr, $sql:expr, $values:expr, $method:ident) => {{
        let mut query = sqlx::query(AssertSqlSafe($sql));
        for value in $values {
            query = match value {
                Value::Integer(value) => query.bind(value),
                Value::Text(value) => query.bind(value),
            };
        }
        query.$method(&mut **$transaction).await
    }};
}

impl Transaction {
    /// Runs a statement and tells how many rows it changed.
    pub(crate) fn execute<const N: usize>(
        &mut self,
        sql: &str,
        values: [Value; N],
    ) -> BoxFuture<'_, Result<u64, Error>> {
        self.execute_all(self.translate(sql), values.into())
    }

    /// Runs a statement and gives the rows that it answers with.
    pub(crate) fn rows(
        &mut self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> BoxFuture<'_, Result<Vec<Row>, Error>> {
        self.fetch_all(self.translate(sql), values.into_iter().collect())
    }

    /// Boxed and without type parameters: otherwise each of the 500 statements would contain both drivers, which are 10 MB of
    /// code.
    fn execute_all(
        &mut self,
        sql: String,
        values: Vec<Value>,
    ) -> BoxFuture<'_, Result<u64, Error>> {
        Box::pin(async move {
            let result = match &mut self.inner {
                Inner::Sqlite(inner) => {
                    run!(inner, sql, values, execute).map(|result| result.rows_affected())
                }
                #[cfg(feature = "postgres")]
                Inner::Postgres(inner) => {
                    run!(inner, sql, values, execute).map(|result| result.rows_affected())
                }
            };
            result.map_err(|source| failed(&self.location, source))
        })
    }

    /// Boxed for the same reason.
    fn fetch_all(
        &mut self,
        sql: String,
        values: Vec<Value>,
    ) -> BoxFuture<'_, Result<Vec<Row>, Error>> {
        Box::pin(async move {
            let rows: Result<Vec<InnerRow>, _> = match &mut self.inner {
                Inner::Sqlite(inner) => run!(inner, sql, values, fetch_all)
                    .map(|rows| rows.into_iter().map(InnerRow::Sqlite).collect()),
                #[cfg(feature = "postgres")]
                Inner::Postgres(inner) => run!(inner, sql, values, fetch_all)
                    .map(|rows| rows.into_iter().map(InnerRow::Postgres).collect()),
            };
            let rows = rows.map_err(|source| failed(&self.location, source))?;
            let row = |inner| Row {
                location: self.location.clone(),
                inner,
            };
            Ok(rows.into_iter().map(row).collect())
        })
    }

    /// Runs a statement that answers with texts, and gives them as the database sends them.
    pub(crate) fn texts<'a>(&'a mut self, sql: &str) -> BoxStream<'a, Result<String, Error>> {
        let sql = AssertSqlSafe(self.translate(sql));
        let location = self.location.clone();
        let texts = match &mut self.inner {
            Inner::Sqlite(inner) => sqlx::query_scalar::<_, String>(sql).fetch(&mut **inner),
            #[cfg(feature = "postgres")]
            Inner::Postgres(inner) => sqlx::query_scalar::<_, String>(sql).fetch(&mut **inner),
        };
        texts
            .map_err(move |source| failed(&location, source))
            .boxed()
    }

    /// Runs a statement that answers with one row or none.
    pub(crate) fn row(
        &mut self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> impl Future<Output = Result<Option<Row>, Error>> + Send {
        first(self.rows(sql, values))
    }

    /// Waits for a lock that every process has a number for, and holds it until the end of the transaction. SQLite has
    /// one writer anyway.
    #[cfg_attr(
        not(feature = "postgres"),
        allow(unused_variables, reason = "SQLite has one writer")
    )]
    pub(crate) async fn take(&mut self, lock: i64) -> Result<(), Error> {
        #[cfg(feature = "postgres")]
        if let Inner::Postgres(_) = self.inner {
            let sql = "SELECT 1 AS one FROM (SELECT pg_advisory_xact_lock($1)) AS held";
            self.rows(sql, [lock.into()]).await?;
        }
        Ok(())
    }

    /// Takes such a lock if nobody has it, and tells whether it did.
    pub(crate) async fn try_take(&mut self, lock: i64) -> Result<bool, Error> {
        if matches!(self.inner, Inner::Sqlite(_)) {
            return Ok(true);
        }
        let sql = "SELECT CAST(pg_try_advisory_xact_lock($1) AS INT)::BIGINT AS held";
        let row = self.row(sql, [lock.into()]).await?;
        row.map_or(Ok(false), |row| row.flag("held"))
    }

    /// Lets what is read take no longer than this, all together. What takes longer is [`Error::TooLong`].
    pub(crate) fn limit(&mut self, time: Duration) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            match &mut self.inner {
                Inner::Sqlite(inner) => {
                    let end = Instant::now() + time;
                    let handle = inner.lock_handle().await;
                    handle
                        .map_err(|source| failed(&self.location, source))?
                        .set_progress_handler(STEPS, move || Instant::now() < end);
                    Ok(())
                }
                #[cfg(feature = "postgres")]
                Inner::Postgres(_) => {
                    let sql = format!("SET LOCAL statement_timeout = {}", time.as_millis());
                    self.script(&sql).await
                }
            }
        })
    }

    /// Runs several statements without parameters.
    pub(crate) fn script<'a>(&'a mut self, sql: &str) -> BoxFuture<'a, Result<(), Error>> {
        let script = sqlx::raw_sql(AssertSqlSafe(self.translate(sql)));
        Box::pin(async move {
            let result = match &mut self.inner {
                Inner::Sqlite(inner) => script.execute(&mut **inner).await.map(drop),
                #[cfg(feature = "postgres")]
                Inner::Postgres(inner) => script.execute(&mut **inner).await.map(drop),
            };
            result.map_err(|source| failed(&self.location, source))
        })
    }

    pub(crate) fn commit(mut self) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            changes::close(&mut self).await?;
            let result = match self.inner {
                Inner::Sqlite(inner) => inner.commit().await,
                #[cfg(feature = "postgres")]
                Inner::Postgres(inner) => inner.commit().await,
            };
            result.map_err(|source| failed(&self.location, source))
        })
    }

    fn translate(&self, sql: &str) -> String {
        let dialect = match self.inner {
            Inner::Sqlite(_) => Dialect::Sqlite,
            #[cfg(feature = "postgres")]
            Inner::Postgres(_) => Dialect::Postgres,
        };
        dialect.translate(sql)
    }
}

async fn first(rows: BoxFuture<'_, Result<Vec<Row>, Error>>) -> Result<Option<Row>, Error> {
    Ok(rows.await?.into_iter().next())
}

macro_rules! column {
    ($row:expr, $name:expr) => {{
        let value = match &$row.inner {
            InnerRow::Sqlite(row) => row.try_get($name),
            #[cfg(feature = "postgres")]
            InnerRow::Postgres(row) => row.try_get($name),
        };
        value.map_err(|source| failed(&$row.location, source))
    }};
}

impl Row {
    pub(crate) fn integer(&self, name: &str) -> Result<i64, Error> {
        column!(self, name)
    }

    pub(crate) fn maybe_integer(&self, name: &str) -> Result<Option<i64>, Error> {
        column!(self, name)
    }

    pub(crate) fn text(&self, name: &str) -> Result<String, Error> {
        column!(self, name)
    }

    pub(crate) fn maybe_text(&self, name: &str) -> Result<Option<String>, Error> {
        column!(self, name)
    }

    /// A count, which no catalog of ours holds as a negative number.
    pub(crate) fn count(&self, name: &str) -> Result<u64, Error> {
        Ok(self.integer(name)?.try_into().unwrap_or_default())
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Error> {
        Ok(self.integer(name)? != 0)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(Some(value))
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Integer(Some(value.try_into().unwrap_or(i64::MAX)))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Integer(Some(value.into()))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(clean(value).into_owned()))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::from(value.as_str())
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(|value| clean(value).into_owned()))
    }
}

#[cfg(feature = "postgres")]
fn postgres_location(options: &PgConnectOptions) -> String {
    let place = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let database = options.get_database().unwrap_or_default();
    format!("postgres://{}@{place}/{database}", options.get_username())
}

fn failed(location: &str, source: sqlx::Error) -> Error {
    let code = source.as_database_error().and_then(|error| error.code());
    // The codes of an interrupted query on SQLite and of a cancelled one on PostgreSQL.
    if matches!(code.as_deref(), Some("9" | "57014")) {
        return Error::TooLong;
    }
    Error::Database {
        location: location.to_owned(),
        source,
    }
}

/// Whether a row is there already that may be there once.
pub(crate) fn is_conflict(error: &Error) -> bool {
    let Error::Database { source, .. } = error else {
        return false;
    };
    let error = source.as_database_error();
    error.is_some_and(|error| error.is_unique_violation())
}

/// Whether another process had SQLite's file for itself at that moment.
pub(crate) fn is_busy(error: &Error) -> bool {
    let Error::Database { source, .. } = error else {
        return false;
    };
    let code = source.as_database_error().and_then(|error| error.code());
    // The low byte is the kind, the rest says more about it; the codes of PostgreSQL have five digits.
    code.filter(|code| code.len() < 5)
        .and_then(|code| code.parse::<u32>().ok())
        .is_some_and(|code| code & 0xff == 5)
}

#[cfg(test)]
mod tests {
    use test_support::Postgres;

    use super::*;

    const SHORT: Duration = Duration::from_millis(100);

    async fn is_limited(database: &Database, endless: &str) {
        let mut transaction = database.read().await.unwrap();
        transaction.limit(SHORT).await.unwrap();
        let ended = transaction.rows(endless, []).await;
        assert!(matches!(ended, Err(Error::TooLong)));
    }

    /// Issue 18: eight slow lists kept the front page from being read.
    async fn long_lists_leave_readers_for_others(database: &Database, endless: &str) {
        let people = database.interactive();
        let mut lists = Vec::new();
        for _ in 0..LISTS {
            lists.push(people.long_list().await.unwrap());
        }

        let refused = people.long_list().await;
        assert!(matches!(refused, Err(Error::TooManyLists)));
        let began = Instant::now();
        for _ in 0..READERS {
            let mut reading = people.read().await.unwrap();
            let one = "SELECT CAST(1 AS BIGINT) AS one";
            assert!(reading.row(one, []).await.unwrap().is_some());
        }
        assert!(began.elapsed() < BUSY_TIMEOUT / 2);

        for list in &mut lists {
            let ended = list.rows(endless, []).await;
            assert!(matches!(ended, Err(Error::TooLong)));
        }
        let mut short = people.list().await.unwrap();
        let ended = short.rows(endless, []).await;
        assert!(matches!(ended, Err(Error::TooLong)));
        // Work in the background has no time limit.
        let mut background = Vec::new();
        for _ in 0..=LISTS {
            background.push(database.long_list().await.unwrap());
        }
    }

    #[tokio::test]
    async fn long_lists_leave_readers_for_others_in_sqlite() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.sqlite");
        let database = Database::open(path.to_str().unwrap()).await.unwrap();
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) AS n FROM n";
        long_lists_leave_readers_for_others(&database, endless).await;
    }

    #[tokio::test]
    async fn long_lists_leave_readers_for_others_in_postgres() {
        let database = Database::open(&Postgres::shared().database())
            .await
            .unwrap();
        let endless = "SELECT CAST(1 AS BIGINT) AS one FROM pg_sleep(60)";
        long_lists_leave_readers_for_others(&database, endless).await;
    }

    #[tokio::test]
    async fn what_takes_too_long_in_sqlite_is_ended_and_the_next_has_its_own_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.sqlite");
        let database = Database::open(path.to_str().unwrap()).await.unwrap();
        let count = |end: &str| {
            format!(
                "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n {end}) SELECT count(*) AS number FROM n"
            )
        };
        for _ in 0..READERS {
            is_limited(&database, &count("")).await;
        }
        tokio::time::sleep(SHORT).await;

        let mut transaction = database.read().await.unwrap();
        let counted = transaction.row(&count("LIMIT 200000"), []).await.unwrap();

        assert_eq!(counted.unwrap().integer("number").unwrap(), 200_000);
    }

    #[tokio::test]
    async fn what_takes_too_long_in_postgres_is_ended_and_the_next_has_its_own_time() {
        let database = Database::open(&Postgres::shared().database())
            .await
            .unwrap();
        let sleep =
            |seconds: &str| format!("SELECT CAST(1 AS BIGINT) AS one FROM pg_sleep({seconds})");
        for _ in 0..READERS {
            is_limited(&database, &sleep("60")).await;
        }

        let mut transaction = database.read().await.unwrap();
        let slept = transaction.row(&sleep("0.2"), []).await.unwrap();

        assert_eq!(slept.unwrap().integer("one").unwrap(), 1);
    }
}
