//! Refreshing on request: inside of a web server nobody follows the site, so whoever asks first after a while looks
//! at the files, and at what the server shows of them to all.
//!
//! A file beside the index tells when that was last done, by its modification time, and its lock keeps all but one
//! process from doing it at once.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::index::{Row, State, Visibility};
use crate::scan::Scan;
use crate::stop::Stop;
use crate::sweep::Comparison;
use crate::{Error, Origin, Site, SitePath};

impl Site {
    /// Brings the index up to date, unless somebody began to do so no longer than `freshness` ago. `prepare` is
    /// called before the files are looked at.
    pub fn refresh(
        &self,
        freshness: Duration,
        origin: &dyn Origin,
        prepare: impl FnOnce(),
    ) -> Result<(), Error> {
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
        let settled = self.scan_and_sweep(origin)?;
        match settled {
            // One that is still empty tells nothing.
            true => lock.set_len(1).and_then(|()| lock.set_modified(began)),
            false => Ok(()),
        }
        .map_err(|source| self.data_error(source))
    }

    /// Looks at the files, then at what the origin shows of those that are new or changed, and for a while at the
    /// others. False means that something was still being written.
    fn scan_and_sweep(&self, origin: &dyn Origin) -> Result<bool, Error> {
        self.ground.renew()?;
        let mut scan = Scan::new(&self.ground, &self.index, None, Stop::default()).leaving_types();
        scan.run(&SitePath::root(), &|_| {})?;
        for _ in 0..PATIENCE {
            if scan.young.is_empty() {
                break;
            }
            thread::sleep(REST);
            let young: HashSet<_> = scan.young.drain(..).collect();
            young.iter().try_for_each(|path| scan.look(path))?;
            scan.apply()?;
        }
        let (settled, changed) = (scan.young.is_empty(), scan.untyped);
        let until = Instant::now() + LONGEST_SWEEP;
        let comparison = Comparison {
            ground: &self.ground,
            index: &self.index,
            origin,
        };
        if !origin.can_ask_as_nobody() {
            return Ok(settled);
        }
        for paths in changed.chunks(HELPING) {
            comparison.compare(&self.live_rows(paths)?)?;
        }
        let rules_changed = changed.iter().any(|path| path.name().starts_with(b".ht"));
        if rules_changed {
            self.sweep(&comparison, None, until)?;
        } else if self.sweep_is_due()? {
            self.sweep(&comparison, self.sweep_goes_on()?, until)?;
        }
        Ok(settled)
    }

    /// Goes on with the round of asking what is public, until its end or a moment. How far it came is kept with the
    /// index: whoever refreshes next goes on there, in whatever process.
    fn sweep(
        &self,
        comparison: &Comparison<'_>,
        mut after: Option<SitePath>,
        until: Instant,
    ) -> Result<(), Error> {
        let root = SitePath::root();
        while Instant::now() < until {
            let rows = self
                .index
                .reader()?
                .by_path(&root, after.as_ref(), HELPING)?;
            let Some(last) = rows.last() else {
                return self.index.set_fact(SWEPT, &self.sweep_stamp());
            };
            after = Some(last.path.clone());
            let live = rows.into_iter().filter(|row| row.state == State::Live);
            comparison.compare(&live.collect::<Vec<_>>())?;
        }
        let generation = self.config.sharing.generation();
        let place = after.map_or(String::new(), |path| path.to_url_path());
        self.index.set_fact(SWEPT, &format!("{generation}/{place}"))
    }

    /// Where an unfinished round under this configuration goes on.
    fn sweep_goes_on(&self) -> Result<Option<SitePath>, Error> {
        let swept = self.index.fact(SWEPT)?.unwrap_or_default();
        let (generation, place) = swept.split_once('/').unwrap_or_default();
        let own = self.config.sharing.generation().to_string();
        Ok(SitePath::from_url_path(place).filter(|_| generation == own))
    }

    /// Whether it is time for another round, or to go on with one: the configuration was read anew, or the last one is
    /// long ago.
    fn sweep_is_due(&self) -> Result<bool, Error> {
        let swept = self.index.fact(SWEPT)?.unwrap_or_default();
        let Some((generation, seconds)) = swept.split_once(' ') else {
            return Ok(true);
        };
        let own = self.sweep_stamp();
        let (own_generation, now) = own.split_once(' ').unwrap_or_default();
        let number = |text: &str| text.parse::<u64>().unwrap_or(0);
        let age = number(now).abs_diff(number(seconds));
        Ok(generation != own_generation || age >= SWEEP_EVERY)
    }

    fn sweep_stamp(&self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = now.unwrap_or_default().as_secs();
        format!("{} {seconds}", self.config.sharing.generation())
    }

    fn live_rows(&self, paths: &[SitePath]) -> Result<Vec<Row>, Error> {
        let reader = self.index.reader()?;
        let all = Visibility {
            undecided: true,
            ..Visibility::default()
        };
        let mut live = Vec::with_capacity(paths.len());
        for path in paths {
            let rows = reader.rows_of(&all, path)?;
            live.extend(rows.into_iter().filter(|row| row.state == State::Live));
        }
        Ok(live)
    }

    /// When the last complete look at the files began.
    fn scan_began(&self) -> Option<SystemTime> {
        let metadata = std::fs::metadata(self.scan_file()).ok()?;
        metadata.modified().ok().filter(|_| metadata.len() > 0)
    }

    /// Waits for its turn; none if that takes too long.
    fn lock_scan(&self) -> Result<Option<File>, Error> {
        let error = |source| self.data_error(source);
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
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

    fn data_error(&self, source: std::io::Error) -> Error {
        Error::Data {
            path: self.config.data.clone(),
            source,
        }
    }
}

const SCAN_FILE: &str = "scan.lock";

/// The fact that tells under which configuration the last round of asking what is public ended and when, or how far it
/// has come.
const SWEPT: &str = "swept";

/// Seconds between two such rounds where nothing else calls for one. A password or a group that changes tells nobody.
const SWEEP_EVERY: u64 = 300;

/// For how long one request goes on with such a round.
const LONGEST_SWEEP: Duration = Duration::from_millis(500);

/// How many rows are asked about at once.
const HELPING: usize = 256;

/// How long a request waits for another one that looks at the files.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

const A_MOMENT: Duration = Duration::from_millis(10);

/// How long, and how often, a file that is being written is given time to rest.
const REST: Duration = Duration::from_millis(25);
const PATIENCE: usize = 4;
