//! Requests to a repository by client and verb: counted in a small database beside the index, so that a restart forgets nothing
//! and the processes of a web server count together.
//!
//! Answers wait for nothing: what happened is written by a thread of its own within a second. Everything is bounded.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, params};

use super::{DAY, now};
use crate::StartThread;
use crate::index::private_file;

/// One request, and how it was answered.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    /// The client.
    pub address: IpAddr,
    /// Its `User-Agent`.
    pub agent: Option<&'a str>,
    /// The verb, or the kind of document; `-` if it was none.
    pub verb: &'a str,
    /// The request, for people.
    pub request: &'a str,
    /// The code of the protocol's error, [`FAILED`] or [`TURNED_AWAY`]; `None` if it went well.
    pub error: Option<&'a str>,
    /// Records and headers given.
    pub records: u64,
    /// Bytes sent.
    pub bytes: u64,
}

/// The error of an answer that could not be given.
pub const FAILED: &str = "failed";
/// The error of a list that flow control refused.
pub const TURNED_AWAY: &str = "turned_away";

/// Counts of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// Those that were answered with an error.
    pub errors: u64,
    /// Records and headers given.
    pub records: u64,
    /// Bytes sent.
    pub bytes: u64,
}

/// The requests with one verb and one outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbCounts {
    /// The verb, or the kind of document; `-` if it was none.
    pub verb: String,
    /// The code of the error; empty if there was none.
    pub error: String,
    /// Their counts.
    pub counts: Counts,
}

/// A client: an address with one user agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harvester {
    /// The address.
    pub address: String,
    /// The `User-Agent`; empty if it sends none.
    pub agent: String,
    /// When it came first, in seconds since 1970.
    pub first: i64,
    /// When it came last.
    pub last: i64,
    /// Its last verb.
    pub last_verb: String,
    /// Its requests.
    pub counts: Counts,
}

/// A request that was answered with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// When, in seconds since 1970.
    pub at: i64,
    /// The client.
    pub address: String,
    /// The request.
    pub request: String,
    /// The code of the error.
    pub error: String,
}

/// Everything that was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrafficReport {
    /// Since when requests are counted, in seconds since 1970.
    pub since: Option<i64>,
    /// All requests, by verb and outcome.
    pub verbs: Vec<VerbCounts>,
    /// Clients, the last one first.
    pub harvesters: Vec<Harvester>,
    /// Requests that were answered with an error, the last one first.
    pub mistakes: Vec<Mistake>,
}

impl TrafficReport {
    /// The sum of all requests.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for verb in &self.verbs {
            total.add(&verb.counts);
        }
        total
    }

    /// The requests that ended with an error code.
    pub fn with_error(&self, error: &str) -> u64 {
        let with = self.verbs.iter().filter(|verb| verb.error == error);
        with.map(|verb| verb.counts.requests).sum()
    }
}

impl Counts {
    /// The counts as SQLite takes them.
    fn signed(&self) -> [i64; 4] {
        let counts = [self.requests, self.errors, self.records, self.bytes];
        counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.errors += other.errors;
        self.records += other.records;
        self.bytes += other.bytes;
    }
}

/// Counts requests; cheap to clone.
#[derive(Debug, Clone)]
pub struct Traffic(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    start_thread: StartThread,
    pending: Mutex<Pending>,
    /// Held while something is written, so that a report has all that was taken out before.
    writing: Mutex<()>,
    failing: AtomicBool,
}

/// Counts that are not written yet.
#[derive(Debug, Default)]
struct Pending {
    verbs: BTreeMap<(String, String), Counts>,
    harvesters: BTreeMap<(String, String), Harvester>,
    mistakes: Vec<Mistake>,
    /// Whether a thread is about to write.
    is_scheduled: bool,
}

impl Traffic {
    /// Counts into the directory `data`.
    pub(crate) fn new(data: &Path, start_thread: StartThread) -> Self {
        Self(Arc::new(Inner {
            path: data.join(FILE),
            start_thread,
            pending: Mutex::default(),
            writing: Mutex::default(),
            failing: AtomicBool::new(false),
        }))
    }

    /// Counts a request.
    pub fn note(&self, answered: &Answered<'_>) {
        let must_schedule = {
            let mut pending = locked(&self.0.pending);
            pending.add(answered);
            !std::mem::replace(&mut pending.is_scheduled, true)
        };
        if !must_schedule {
            return;
        }
        let traffic = self.clone();
        let started = (self.0.start_thread)(Box::new(move || {
            std::thread::sleep(WRITTEN_WITHIN);
            traffic.flush();
        }));
        if started.is_err() {
            self.flush();
        }
    }

    /// Writes what is not written yet. What cannot be written is said once, and is lost: an answer is worth more.
    pub(crate) fn flush(&self) {
        let _writing = locked(&self.0.writing);
        let pending = std::mem::take(&mut *locked(&self.0.pending));
        if pending.is_empty() {
            return;
        }
        match self.write(&pending) {
            Ok(()) => self.0.failing.store(false, Ordering::Relaxed),
            Err(error) if !self.0.failing.swap(true, Ordering::Relaxed) => {
                let path = self.0.path.display();
                tracing::warn!("requests cannot be counted in `{path}`: {error}");
            }
            Err(_) => {}
        }
    }

    /// Everything that was counted.
    pub fn report(&self) -> TrafficReport {
        self.flush();
        self.read().unwrap_or_default()
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        // SQLite would let everybody read it. What it cannot open it will say.
        let _ = private_file(&self.0.path);
        let connection = Connection::open(&self.0.path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // Counts need not survive a power cut.
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute_batch(TABLES)?;
        Ok(connection)
    }

    fn write(&self, pending: &Pending) -> rusqlite::Result<()> {
        let mut connection = self.open()?;
        let transaction = connection.transaction()?;
        for ((verb, error), counts) in &pending.verbs {
            let [requests, errors, records, bytes] = counts.signed();
            transaction.execute(
                "INSERT INTO verb (verb, error, requests, errors, records, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (verb, error) DO UPDATE SET requests = requests + ?3, errors = errors + ?4,
                 records = records + ?5, bytes = bytes + ?6",
                params![verb, error, requests, errors, records, bytes],
            )?;
        }
        for harvester in pending.harvesters.values() {
            let [requests, errors, records, bytes] = harvester.counts.signed();
            transaction.execute(
                "INSERT INTO harvester (address, agent, first, last, last_verb, requests, errors, records, bytes)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (address, agent) DO UPDATE SET last = ?4, last_verb = ?5, requests = requests + ?6,
                 errors = errors + ?7, records = records + ?8, bytes = bytes + ?9",
                params![
                    harvester.address,
                    harvester.agent,
                    harvester.first,
                    harvester.last,
                    harvester.last_verb,
                    requests,
                    errors,
                    records,
                    bytes
                ],
            )?;
        }
        for mistake in &pending.mistakes {
            transaction.execute(
                "INSERT INTO mistake (at, address, request, error) VALUES (?1, ?2, ?3, ?4)",
                params![mistake.at, mistake.address, mistake.request, mistake.error],
            )?;
        }
        let now = now();
        transaction.execute(
            "INSERT OR IGNORE INTO meta (key, value) VALUES ('since', ?1)",
            [now],
        )?;
        let oldest = now - KEPT_DAYS * DAY;
        transaction.execute("DELETE FROM harvester WHERE last < ?1", [oldest])?;
        transaction.execute(
            "DELETE FROM harvester WHERE rowid IN
             (SELECT rowid FROM harvester ORDER BY last DESC LIMIT -1 OFFSET ?1)",
            [MOST_HARVESTERS],
        )?;
        transaction.execute("DELETE FROM mistake WHERE at < ?1", [oldest])?;
        transaction.execute(
            "DELETE FROM mistake WHERE id <= (SELECT max(id) FROM mistake) - ?1",
            [MOST_MISTAKES],
        )?;
        transaction.commit()
    }

    fn read(&self) -> rusqlite::Result<TrafficReport> {
        let connection = self.open()?;
        let counts = |row: &rusqlite::Row<'_>, first: usize| -> rusqlite::Result<Counts> {
            let count = |at| row.get::<_, i64>(first + at).map(i64::unsigned_abs);
            Ok(Counts {
                requests: count(0)?,
                errors: count(1)?,
                records: count(2)?,
                bytes: count(3)?,
            })
        };
        let mut verbs = connection.prepare(
            "SELECT verb, error, requests, errors, records, bytes FROM verb ORDER BY requests DESC, verb, error",
        )?;
        let verbs = verbs.query_map([], |row| {
            Ok(VerbCounts {
                verb: row.get(0)?,
                error: row.get(1)?,
                counts: counts(row, 2)?,
            })
        })?;
        let mut harvesters = connection.prepare(
            "SELECT address, agent, first, last, last_verb, requests, errors, records, bytes
             FROM harvester ORDER BY last DESC, requests DESC",
        )?;
        let harvesters = harvesters.query_map([], |row| {
            Ok(Harvester {
                address: row.get(0)?,
                agent: row.get(1)?,
                first: row.get(2)?,
                last: row.get(3)?,
                last_verb: row.get(4)?,
                counts: counts(row, 5)?,
            })
        })?;
        let mut mistakes = connection
            .prepare("SELECT at, address, request, error FROM mistake ORDER BY id DESC")?;
        let mistakes = mistakes.query_map([], |row| {
            Ok(Mistake {
                at: row.get(0)?,
                address: row.get(1)?,
                request: row.get(2)?,
                error: row.get(3)?,
            })
        })?;
        let mut since = connection.prepare("SELECT value FROM meta WHERE key = 'since'")?;
        let since = since.query_map([], |row| row.get(0))?.next().transpose()?;
        Ok(TrafficReport {
            since,
            verbs: verbs.collect::<Result<_, _>>()?,
            harvesters: harvesters.collect::<Result<_, _>>()?,
            mistakes: mistakes.collect::<Result<_, _>>()?,
        })
    }
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.verbs.is_empty()
    }

    fn add(&mut self, answered: &Answered<'_>) {
        let now = now();
        let error = answered.error.unwrap_or_default();
        let counts = Counts {
            requests: 1,
            errors: u64::from(!error.is_empty()),
            records: answered.records,
            bytes: answered.bytes,
        };
        let verb = (answered.verb.to_owned(), error.to_owned());
        self.verbs.entry(verb).or_default().add(&counts);
        let address = answered.address.to_canonical().to_string();
        let agent = shortened(answered.agent.unwrap_or_default(), LONGEST_AGENT);
        if !error.is_empty() && self.mistakes.len() < MOST_MISTAKES as usize {
            self.mistakes.push(Mistake {
                at: now,
                address: address.clone(),
                request: shortened(answered.request, LONGEST_REQUEST),
                error: error.to_owned(),
            });
        }
        // More clients than this within a second are no harvesters.
        if self.harvesters.len() >= MOST_HARVESTERS as usize {
            return;
        }
        let key = (address.clone(), agent.clone());
        let harvester = self.harvesters.entry(key).or_insert_with(|| Harvester {
            address,
            agent,
            first: now,
            last: now,
            last_verb: String::new(),
            counts: Counts::default(),
        });
        harvester.last = now;
        answered.verb.clone_into(&mut harvester.last_verb);
        harvester.counts.add(&counts);
    }
}

/// A text without characters that could mislead a reader, of at most `most` characters.
fn shortened(text: &str, most: usize) -> String {
    let text: String = text.chars().take(most + 1).collect();
    let text = defence::harmful::replaced(&text);
    match text.chars().count() > most {
        true => text.chars().take(most).chain(['…']).collect(),
        false => text,
    }
}

/// Counts are worth keeping, whatever a thread that panicked left.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const FILE: &str = "traffic.sqlite";
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS verb (verb TEXT NOT NULL, error TEXT NOT NULL, requests INTEGER NOT NULL,
    errors INTEGER NOT NULL, records INTEGER NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (verb, error)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS harvester (address TEXT NOT NULL, agent TEXT NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, last_verb TEXT NOT NULL, requests INTEGER NOT NULL, errors INTEGER NOT NULL,
    records INTEGER NOT NULL, bytes INTEGER NOT NULL, UNIQUE (address, agent));
CREATE TABLE IF NOT EXISTS mistake (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, address TEXT NOT NULL,
    request TEXT NOT NULL, error TEXT NOT NULL);
";
const WRITTEN_WITHIN: Duration = Duration::from_secs(1);
/// Clients and mistakes are kept for this long.
const KEPT_DAYS: i64 = 90;
const MOST_HARVESTERS: u32 = 500;
const MOST_MISTAKES: u32 = 200;
const LONGEST_AGENT: usize = 200;
const LONGEST_REQUEST: usize = 300;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::record::helpers::start_thread;

    fn answered(address: u32, error: Option<&'static str>) -> Answered<'static> {
        Answered {
            address: IpAddr::V4(Ipv4Addr::from(address)),
            agent: Some("metha/1.0"),
            verb: "ListRecords",
            request: "verb=ListRecords",
            error,
            records: 10,
            bytes: 1000,
        }
    }

    #[test]
    fn processes_count_together_and_a_restart_forgets_nothing() {
        let data = tempfile::tempdir().unwrap();
        let (one, other) = (
            Traffic::new(data.path(), start_thread),
            Traffic::new(data.path(), start_thread),
        );
        one.note(&answered(1, None));
        other.note(&answered(1, None));
        other.note(&answered(2, Some("badArgument")));
        other.flush();

        let report = one.report();

        assert_eq!(report.total().requests, 3);
        assert_eq!(report.with_error("badArgument"), 1);
        assert_eq!(report.harvesters.len(), 2);
        assert_eq!(report.mistakes.len(), 1);
        assert_eq!(Traffic::new(data.path(), start_thread).report(), report);
    }

    #[test]
    fn what_is_kept_of_clients_is_bounded_and_plain() {
        let data = tempfile::tempdir().unwrap();
        let traffic = Traffic::new(data.path(), start_thread);
        let agent = format!("\u{202e}evil\n{}", "x".repeat(1000));
        for round in 0..3u32 {
            for address in 0..400 {
                let mut request = answered(round * 1000 + address, Some("badVerb"));
                request.agent = Some(&agent);
                traffic.note(&request);
            }
            traffic.flush();
        }

        let report = traffic.report();

        assert_eq!(report.total().requests, 1200);
        assert_eq!(report.harvesters.len(), MOST_HARVESTERS as usize);
        assert_eq!(report.mistakes.len(), MOST_MISTAKES as usize);
        let agent = &report.harvesters[0].agent;
        assert!(agent.chars().count() <= LONGEST_AGENT + 1, "{agent}");
        assert!(!agent.contains(['\n', '\u{202e}']), "{agent}");
    }

    #[test]
    fn a_directory_that_cannot_be_written_spoils_no_answer() {
        let traffic = Traffic::new(Path::new("/nowhere/at/all"), start_thread);
        traffic.note(&answered(1, None));
        traffic.flush();
        assert_eq!(traffic.report(), TrafficReport::default());
    }
}
