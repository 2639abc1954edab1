//! Keeps the index true: a scan at the start and from time to time, and in between what the watch tells.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};

use crate::follow::scan::Scan;
use crate::follow::watch::{Dirty, Watch};
use crate::index::{Applied, Index};
use crate::{Error, Ground, SitePath};
use process::Stop;

/// How the index follows the site.
#[derive(Debug, Clone)]
pub(crate) struct Following {
    /// Whether directories are watched.
    pub(crate) watch: bool,
    /// At most how many.
    pub(crate) watch_limit: usize,
    /// How long after a scan the next one begins, where all directories are watched.
    pub(crate) rescan: Duration,
}

/// The thread that keeps the index true.
#[derive(Debug)]
pub(crate) struct Indexer {
    stop: Stop,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Indexer {
    /// Starts to follow the site.
    pub(crate) fn start(
        ground: Arc<Ground>,
        index: Arc<Index>,
        following: Following,
    ) -> std::io::Result<Self> {
        let stop = Stop::default();
        let wake = Arc::new(rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?);
        let watch = match following.watch {
            true => Some(Watch::new(following.watch_limit)?),
            false => None,
        };
        let mut follower = Follower {
            ground,
            index,
            rescan: following.rescan,
            watch,
            stop: stop.clone(),
            wake: Arc::clone(&wake),
            dirty: Dirty::default(),
            names_wanted: false,
            young_since: HashMap::new(),
            root_missing: false,
            reported_at: None,
        };
        let thread = thread::Builder::new()
            .name("indexer".to_owned())
            .spawn(move || follower.follow())?;
        Ok(Self {
            stop,
            wake,
            thread: Some(thread),
        })
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        // A scan looks at the flag; who waits is woken.
        self.stop.set();
        // An event counter cannot refuse this; and if it did, the process is about to end anyway.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Follower {
    ground: Arc<Ground>,
    index: Arc<Index>,
    rescan: Duration,
    watch: Option<Watch>,
    stop: Stop,
    /// Readable when it is time to stop.
    wake: Arc<OwnedFd>,
    dirty: Dirty,
    /// Whether a file has names that are not known, which a scan finds.
    names_wanted: bool,
    /// Files that were too young whenever they were looked at.
    young_since: HashMap<SitePath, Instant>,
    root_missing: bool,
    /// When the present trouble was last spoken of.
    reported_at: Option<Instant>,
}

impl Follower {
    /// The first round sets the watches and finds what changed before they stood.
    fn follow(&mut self) {
        let mut next_scan = Instant::now();
        let mut next_for_names = next_scan;
        loop {
            self.check_root();
            if self.names_wanted {
                next_scan = next_scan.min(next_for_names);
            }
            if Instant::now() >= next_scan || self.dirty.everywhere {
                let began = Instant::now();
                self.scan();
                let (now, took) = (Instant::now(), began.elapsed());
                next_scan = now + self.pause(took);
                next_for_names = now + took * 4;
            }
            let waiting = match self.dirty.paths.is_empty() {
                true => next_scan
                    .saturating_duration_since(Instant::now())
                    .min(ROOT_CHECKED_EVERY),
                false => Duration::ZERO,
            };
            if !self.wait(waiting) {
                return;
            }
            if !self.dirty.paths.is_empty() {
                if !self.gather() {
                    return;
                }
                self.look_again();
            }
        }
    }

    /// A root that is another directory now is scanned; one that is missing leaves all as it was.
    fn check_root(&mut self) {
        match self.ground.renew() {
            Ok(renewed) => {
                if renewed && let Some(watch) = &mut self.watch {
                    watch.forget(&SitePath::root());
                }
                self.dirty.everywhere |= renewed || self.root_missing;
                self.root_missing = false;
            }
            Err(error) => {
                if !self.root_missing {
                    tracing::error!("{error}");
                }
                self.root_missing = true;
            }
        }
    }

    /// Where not everything is watched, scans follow one another, but most of the time is left to others.
    fn pause(&self, scan_took: Duration) -> Duration {
        match &self.watch {
            Some(watch) if watch.is_complete() => self.rescan,
            _ => (scan_took * 4).max(SHORTEST_PAUSE).min(self.rescan),
        }
    }

    fn scan(&mut self) {
        self.dirty.everywhere = false;
        self.names_wanted = false;
        if self.root_missing {
            return;
        }
        if let Some(watch) = &mut self.watch {
            watch.begin_round();
        }
        let began = Instant::now();
        let (files, written) = self.compare("scan", |scan| scan.run(&SitePath::root(), &|_| {}));
        // Whatever is still unknown lies outside of the site.
        self.watch.as_mut().map(Watch::take_unknown_names);
        if !written {
            self.dirty.everywhere = true;
            self.wait_a_little();
        }
        let elapsed_ms = began.elapsed().as_millis();
        tracing::debug!(files, elapsed_ms, "scanned the site");
    }

    /// Lets a burst of events come in. False means stop.
    fn gather(&mut self) -> bool {
        let until = Instant::now() + GATHERING;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            if !self.wait(left) {
                return false;
            }
        }
    }

    fn look_again(&mut self) {
        let paths = std::mem::take(&mut self.dirty.paths);
        if self.root_missing {
            return;
        }
        let (_, written) = self.compare("change", |scan| {
            paths.iter().try_for_each(|path| scan.look(path))?;
            scan.apply()
        });
        let watch = self.watch.as_mut();
        self.names_wanted |= watch.is_some_and(Watch::take_unknown_names);
        if !written {
            self.dirty.paths.extend(paths);
            self.wait_a_little();
        }
    }

    /// Compares and reports; returns the number of files met, and whether all changes could be written. What
    /// could not is for the caller to look at again, until it can.
    fn compare(
        &mut self,
        what: &str,
        work: impl FnOnce(&mut Scan<'_>) -> Result<(), Error>,
    ) -> (u64, bool) {
        let mut scan = Scan::new(
            &self.ground,
            &self.index,
            self.watch.as_mut(),
            self.stop.clone(),
        );
        scan.young_since = std::mem::take(&mut self.young_since);
        let result = work(&mut scan);
        self.young_since = std::mem::take(&mut scan.young_since);
        self.dirty.paths.extend(std::mem::take(&mut scan.young));
        let (applied, files) = (scan.applied, scan.files);
        (files, self.report(what, result, applied))
    }

    /// Says whether all went well.
    fn report(&mut self, what: &str, result: Result<(), Error>, applied: Applied) -> bool {
        if applied != Applied::default() {
            let Applied {
                created,
                changed,
                deleted,
            } = applied;
            tracing::info!(created, changed, deleted, "index updated by {what}");
        }
        let Err(error) = result else {
            self.reported_at = None;
            return true;
        };
        let is_news = |at: Instant| at.elapsed() >= REPORTED_AGAIN_AFTER;
        if self.reported_at.is_none_or(is_news) {
            tracing::error!("{error}");
            self.reported_at = Some(Instant::now());
        }
        false
    }

    fn wait_a_little(&self) {
        let mut fds = [PollFd::new(&*self.wake, PollFlags::IN)];
        let _ = rustix::event::poll(&mut fds, Some(&timespec(A_LITTLE)));
    }

    /// Waits for events. False means stop.
    fn wait(&mut self, at_most: Duration) -> bool {
        let wake = Arc::clone(&self.wake);
        let mut fds = vec![PollFd::new(&*wake, PollFlags::IN)];
        if let Some(watch) = &self.watch {
            fds.push(PollFd::new(watch.fd(), PollFlags::IN));
        }
        let waited = rustix::event::poll(&mut fds, Some(&timespec(at_most)));
        if waited.is_ok() && !fds[0].revents().is_empty() {
            return false;
        }
        if let Some(watch) = &mut self.watch {
            watch.read(&mut self.dirty);
        }
        true
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// Changes are gathered for this long before they are looked at together.
const GATHERING: Duration = Duration::from_millis(200);

/// A deployment may switch the root to another directory.
const ROOT_CHECKED_EVERY: Duration = Duration::from_millis(500);

/// Between two scans where not everything is watched.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);

/// Before what could not be written is tried again.
const A_LITTLE: Duration = Duration::from_secs(1);

/// The same trouble every second is said once a minute.
const REPORTED_AGAIN_AFTER: Duration = Duration::from_secs(60);
