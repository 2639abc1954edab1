//! Refreshing on request: inside of a web server nobody follows the site, so whoever asks first after a while looks
//! at the files, and at what the server shows of them to all.
//!
//! A file beside the index tells when that was last done, by its modification time, and its lock keeps all but one
//! process from doing it at once.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::follow::round::RESTAMP_DYNAMIC;
use crate::follow::scan::Scan;
use crate::follow::sweep::Comparison;
use crate::record::helpers::Assistance;
use crate::{Error, Origin, Site, SitePath};
use process::Stop;

impl Site {
    /// Brings the index up to date, unless somebody began to do so no longer than `freshness` ago. `prepare` is
    /// called before the files are looked at.
    pub fn refresh(
        &self,
        freshness: Duration,
        origin: &dyn Origin,
        prepare: impl Fn(),
    ) -> Result<(), Error> {
        self.follow_scan(&prepare);
        let now = SystemTime::now();
        let soon_enough = now.checked_sub(freshness).unwrap_or(UNIX_EPOCH);
        let is_fresh = |began: SystemTime| began >= soon_enough && began <= SystemTime::now();
        if self.scan_began().is_some_and(is_fresh) || self.index.is_superseded() {
            return Ok(());
        }
        let Some(lock) = self.lock_scan()? else {
            // Somebody has been at it for long: a large site, or a slow disk. What is known by now is still right.
            tracing::warn!(
                "the site is still being looked at; this answer rests on an earlier look"
            );
            return Ok(());
        };
        if self.scan_began().is_some_and(is_fresh) {
            return Ok(());
        }
        prepare();
        let began = SystemTime::now();
        self.scan_and_sweep(origin)?;
        if self.index.is_superseded() {
            // Nothing of it was written: who is configured anew must look for itself.
            return Ok(());
        }
        self.keep_scan(lock, began)
            .map_err(|source| self.data_error(source))?;
        self.follow_scan(&prepare);
        Ok(())
    }

    /// Lets every process do what the one that looked did before it: user directories may have come and gone.
    fn follow_scan(&self, prepare: &impl Fn()) {
        let began = self.scan_began();
        let mut followed = self
            .followed_scan
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *followed != began {
            prepare();
            *followed = began;
        }
    }

    /// Writes down when a look began, and under which configuration.
    fn keep_scan(&self, mut lock: File, began: SystemTime) -> io::Result<()> {
        let generation = self.config.sharing.generation().to_string();
        lock.set_len(0)?;
        lock.write_all(generation.as_bytes())?;
        lock.set_modified(began)
    }

    /// Looks at the files, then at what the origin shows of those that are new or changed, and for a while at the
    /// others.
    fn scan_and_sweep(&self, origin: &dyn Origin) -> Result<(), Error> {
        self.ground.renew()?;
        let mut scan = Scan::new(&self.ground, &self.index, None, Stop::default()).leaving_types();
        let assistance = Assistance::new(&self.helpers);
        scan.run_with(Arc::clone(&self.ground), &assistance)?;
        for _ in 0..PATIENCE {
            if scan.young.is_empty() {
                break;
            }
            thread::sleep(REST);
            let young: HashSet<_> = scan.young.drain(..).collect();
            young.iter().try_for_each(|path| scan.look(path))?;
            scan.apply()?;
        }
        // A file that is written all the time is taken as it is.
        scan.take_young()?;
        let (changed, rules) = (scan.untyped, scan.rules);
        for path in &rules {
            self.index.touch_unshown(&path.parent())?;
        }
        self.notice_server_rules()?;
        if !origin.can_ask_as_nobody() {
            return Ok(());
        }
        let comparison = Comparison {
            ground: &self.ground,
            index: &self.index,
            origin,
            restamp_dynamic: self
                .index
                .fact(RESTAMP_DYNAMIC)?
                .is_some_and(|fact| !fact.is_empty()),
        };
        for paths in changed.chunks(BATCH) {
            let rows = self.index.reader()?.live_rows_of(paths)?;
            comparison.compare(&rows)?;
        }
        self.go_round(&comparison, !rules.is_empty())
    }

    /// A server that is configured anew may show other things to those with credentials, and make something else of
    /// its programs. What it shows to all is found out by asking.
    fn notice_server_rules(&self) -> Result<(), Error> {
        let rules = &self.config.server_rules;
        let before = self.index.fact(SERVER_RULES)?;
        if before.as_ref() == Some(rules) {
            return Ok(());
        }
        if before.is_some() {
            self.index.touch_unshown(&SitePath::root())?;
            self.index.set_fact(RESTAMP_DYNAMIC, "yes")?;
        }
        self.index.set_fact(SERVER_RULES, rules)
    }

    /// When the last complete look at the files under this configuration began.
    fn scan_began(&self) -> Option<SystemTime> {
        let mut file = File::open(self.scan_file()).ok()?;
        let began = file.metadata().ok()?.modified().ok()?;
        let mut generation = String::new();
        file.read_to_string(&mut generation).ok()?;
        (generation == self.config.sharing.generation().to_string()).then_some(began)
    }

    /// Waits for its turn; none if that takes too long.
    fn lock_scan(&self) -> Result<Option<File>, Error> {
        let error = |source| self.data_error(source);
        let mut options = File::options();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(self.scan_file()).map_err(error)?;
        let until = Instant::now() + LONGEST_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(file)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(A_MOMENT),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(source)) => return Err(error(source)),
            }
        }
    }

    fn scan_file(&self) -> PathBuf {
        self.config.data.join(SCAN_FILE)
    }

    fn data_error(&self, source: io::Error) -> Error {
        Error::Data {
            path: self.config.data.clone(),
            source,
        }
    }
}

const SCAN_FILE: &str = "scan.lock";

/// The fact that tells how the server was configured when it was last looked at.
const SERVER_RULES: &str = "server_rules";

/// How many rows are asked about at once.
pub(crate) const BATCH: usize = 256;

/// How long a request waits for another one that looks at the files.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

const A_MOMENT: Duration = Duration::from_millis(10);

/// How long, and how often, a file that is being written is given time to rest.
const REST: Duration = Duration::from_millis(25);
const PATIENCE: usize = 4;
