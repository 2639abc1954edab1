//! Keeps the index true: a scan at the start and from time to time, and in between what the watch tells.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};

use crate::index::{Applied, Index, Loader, Observation, Seen};
use crate::root::Sighting;
use crate::walk::{Found, Walk};
use crate::watch::{Dirty, Watch};
use crate::{Error, Facts, Ground, Reason, SitePath};

/// Changes are gathered for this long before they are looked at together.
const GATHERING: Duration = Duration::from_millis(200);
/// File systems tell times in steps of a few milliseconds; a change within the same step as the last look
/// could not be told apart, so files this young are looked at again later.
pub(crate) const TOO_YOUNG: Duration = Duration::from_millis(20);
/// A file that has been too young for this long is being written all the time: it is taken as it is.
const RESTLESS: Duration = Duration::from_secs(1);
/// How many changes become visible at once: answers wait that long at the most.
const BATCH: usize = 1000;

/// A deployment may switch the root to another directory.
const ROOT_CHECKED_EVERY: Duration = Duration::from_millis(500);

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
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Loads a new index from a first scan.
pub(crate) fn first_scan(
    ground: &Ground,
    mut loader: Loader,
    progress: &dyn Fn(u64),
) -> Result<Box<Index>, Error> {
    let (sender, receiver) = mpsc::sync_channel::<Vec<Found>>(16);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut walk = Walk::new(&ground.root, &ground.rules, &SitePath::root());
            loop {
                let helping: Vec<_> = walk.by_ref().take(1024).collect();
                if helping.is_empty() || sender.send(helping).is_err() {
                    return;
                }
            }
        });
        let mut files = 0;
        for helping in receiver {
            for found in helping {
                if let Found::File {
                    path,
                    facts,
                    dynamic,
                } = found
                {
                    let facts = ground.settled(&path, facts);
                    loader.add(&path, &facts, ground.media_types.of(path.name()), dynamic)?;
                    files += 1;
                }
            }
            progress(files);
        }
        loader.finish()
    })
}

/// Compares the whole site with the index and makes every difference visible.
pub(crate) fn scan(
    ground: &Ground,
    index: &Index,
    progress: &dyn Fn(u64),
) -> Result<Applied, Error> {
    ground.renew_root()?;
    let mut scan = Scan::new(ground, index, None);
    scan.run(&SitePath::root(), progress)?;
    Ok(scan.applied)
}

impl Indexer {
    /// Starts to follow the site.
    pub(crate) fn start(
        ground: Arc<Ground>,
        index: Arc<Index>,
        following: Following,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?);
        let watch = match following.watch {
            true => Some(Watch::new(following.watch_limit)?),
            false => None,
        };
        let mut follower = Follower {
            ground,
            index,
            rescan: following.rescan,
            watch,
            stop: Arc::clone(&stop),
            dirty: Dirty::default(),
            young_since: HashMap::new(),
            root_missing: false,
            said: None,
        };
        let thread = thread::Builder::new()
            .name("indexer".to_owned())
            .spawn(move || follower.follow())?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        // An event counter cannot refuse this; and if it did, the process is about to end anyway.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread works with.
struct Follower {
    ground: Arc<Ground>,
    index: Arc<Index>,
    rescan: Duration,
    watch: Option<Watch>,
    stop: Arc<OwnedFd>,
    dirty: Dirty,
    /// Files that were too young whenever they were looked at.
    young_since: HashMap<SitePath, Instant>,
    root_missing: bool,
    /// When the present trouble was last spoken of.
    said: Option<Instant>,
}

impl Follower {
    /// The first round sets the watches and finds what changed before they stood.
    fn follow(&mut self) {
        let mut next_scan = Instant::now();
        loop {
            self.check_root();
            let now = Instant::now();
            if now >= next_scan || self.dirty.everywhere {
                let began = Instant::now();
                self.scan();
                next_scan = Instant::now() + self.pause(began.elapsed());
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
        match self.ground.renew_root() {
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
            _ => (scan_took * 4)
                .max(Duration::from_millis(500))
                .min(self.rescan),
        }
    }

    fn scan(&mut self) {
        self.dirty.everywhere = false;
        if self.root_missing {
            return;
        }
        let ground = Arc::clone(&self.ground);
        let index = Arc::clone(&self.index);
        let began = Instant::now();
        let mut scan = Scan::new(&ground, &index, self.watch.as_mut());
        scan.young_since = std::mem::take(&mut self.young_since);
        let result = scan.run(&SitePath::root(), &|_| {});
        let young = std::mem::take(&mut scan.young);
        self.young_since = std::mem::take(&mut scan.young_since);
        let (applied, files) = (scan.applied, scan.files);
        if self.report("scan", result, applied).is_err() {
            // What could not be written is looked for again, until it can.
            self.dirty.everywhere = true;
            self.wait_a_little();
        }
        self.dirty.paths.extend(young);
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
        let ground = Arc::clone(&self.ground);
        let index = Arc::clone(&self.index);
        let mut scan = Scan::new(&ground, &index, self.watch.as_mut());
        scan.young_since = std::mem::take(&mut self.young_since);
        let result = paths
            .iter()
            .try_for_each(|path| scan.look(path))
            .and_then(|()| scan.apply());
        let young = std::mem::take(&mut scan.young);
        self.young_since = std::mem::take(&mut scan.young_since);
        let applied = scan.applied;
        if self.report("change", result, applied).is_err() {
            // What could not be written is looked at again, until it can.
            self.dirty.paths.extend(paths);
            self.wait_a_little();
        }
        self.dirty.paths.extend(young);
    }

    fn report(
        &mut self,
        what: &str,
        result: Result<(), Error>,
        applied: Applied,
    ) -> Result<(), ()> {
        if applied != Applied::default() {
            let Applied {
                created,
                changed,
                deleted,
            } = applied;
            tracing::info!(created, changed, deleted, "index updated by {what}");
        }
        let Err(error) = result else {
            self.said = None;
            return Ok(());
        };
        // The same trouble every second is said once a minute.
        if self
            .said
            .is_none_or(|said| said.elapsed() >= Duration::from_secs(60))
        {
            tracing::error!("{error}");
            self.said = Some(Instant::now());
        }
        Err(())
    }

    fn wait_a_little(&mut self) {
        let mut fds = [PollFd::new(&*self.stop, PollFlags::IN)];
        let _ = rustix::event::poll(&mut fds, Some(&timespec(Duration::from_secs(1))));
    }

    /// Waits for events. False means stop.
    fn wait(&mut self, at_most: Duration) -> bool {
        let stop = Arc::clone(&self.stop);
        let mut fds = vec![PollFd::new(&*stop, PollFlags::IN)];
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

/// One comparison of the site, or a part of it, with the index.
///
/// The comparison only finds suspects. Each is looked at once more right before its change becomes
/// visible, so that what is written is never older than what was written before.
struct Scan<'a> {
    ground: &'a Ground,
    index: &'a Index,
    watch: Option<&'a mut Watch>,
    observations: Vec<Observation>,
    /// Changed a moment ago: to be looked at again.
    young: Vec<SitePath>,
    /// Since when each of them has been too young whenever it was looked at.
    young_since: HashMap<SitePath, Instant>,
    applied: Applied,
    files: u64,
}

impl<'a> Scan<'a> {
    fn new(ground: &'a Ground, index: &'a Index, watch: Option<&'a mut Watch>) -> Self {
        Self {
            ground,
            index,
            watch,
            observations: Vec::new(),
            young: Vec::new(),
            young_since: HashMap::new(),
            applied: Applied::default(),
            files: 0,
        }
    }

    /// Compares everything within a directory, both sides in the order of paths.
    fn run(&mut self, within: &SitePath, progress: &dyn Fn(u64)) -> Result<(), Error> {
        let ground = self.ground;
        let mut known = Known::new(self.index, within)?;
        let mut suspects = Vec::new();
        for found in Walk::new(&ground.root, &ground.rules, within) {
            match found {
                Found::Directory(path) => {
                    if let Some(watch) = &mut self.watch {
                        watch.add(&ground.root, &path);
                    }
                }
                Found::Unknown(path) => {
                    known.skip_before(&path, &mut suspects)?;
                    known.skip_within(&path)?;
                }
                Found::File {
                    path,
                    facts,
                    dynamic,
                } => {
                    self.files += 1;
                    if self.files.is_multiple_of(1024) {
                        progress(self.files);
                    }
                    known.skip_before(&path, &mut suspects)?;
                    let media_type = ground.media_types.of(path.name());
                    if !known.matches(&path, &facts, media_type, dynamic)? {
                        suspects.push(path);
                    }
                }
            }
            if suspects.len() >= BATCH {
                self.look_at(&mut suspects)?;
            }
        }
        known.rest(&mut suspects)?;
        self.look_at(&mut suspects)?;
        self.apply()
    }

    fn look_at(&mut self, suspects: &mut Vec<SitePath>) -> Result<(), Error> {
        suspects.drain(..).try_for_each(|path| self.look(&path))
    }

    /// Looks at one path as it is now.
    fn look(&mut self, path: &SitePath) -> Result<(), Error> {
        let sighting = self.ground.look(path);
        if let Sighting::File { facts, dynamic } = &sighting
            && is_young(facts)
        {
            return self.look_at_young(path, *facts, *dynamic);
        }
        self.young_since.remove(path);
        match sighting {
            Sighting::Directory => {
                // A file of this name is gone in any case; what is below is compared apart.
                self.apply()?;
                return self.run_below(path);
            }
            Sighting::File { facts, dynamic } => self.observe_file(path, facts, dynamic),
            Sighting::LeftOut(reason) => {
                if let (Reason::Missing, Some(watch)) = (&reason, &mut self.watch) {
                    watch.forget(path);
                }
                self.observe_nothing(path)?;
            }
            Sighting::Unknown(error) => {
                tracing::warn!(
                    "`/{}` cannot be looked at, what is known of it stays: {error}",
                    path.display()
                );
            }
        }
        if self.observations.len() >= BATCH {
            self.apply()?;
        }
        Ok(())
    }

    /// A file that changed a moment ago is looked at again when it rests, or from time to time if it never
    /// does. Its mark is then left open, so that the next look finds a change in any case.
    fn look_at_young(&mut self, path: &SitePath, facts: Facts, dynamic: bool) -> Result<(), Error> {
        self.young.push(path.clone());
        let since = self
            .young_since
            .entry(path.clone())
            .or_insert_with(Instant::now);
        if since.elapsed() < RESTLESS {
            return Ok(());
        }
        self.young_since.remove(path);
        let mark = !facts.mark;
        self.observe_file(path, Facts { mark, ..facts }, dynamic);
        self.apply()
    }

    fn observe_file(&mut self, path: &SitePath, facts: Facts, dynamic: bool) {
        let media_type = self.ground.media_types.of(path.name()).to_owned();
        self.observations.push(Observation {
            path: path.clone(),
            seen: Seen::File {
                facts,
                media_type,
                dynamic,
            },
        });
    }

    fn run_below(&mut self, directory: &SitePath) -> Result<(), Error> {
        let ground = self.ground;
        if ground.rules.prune(directory).is_some() {
            return Ok(());
        }
        // Only the path itself is no file any more: what lies below has rows of its own.
        self.observations.push(Observation {
            path: directory.clone(),
            seen: Seen::Nothing,
        });
        self.run(directory, &|_| {})
    }

    /// There is nothing here, nor below.
    fn observe_nothing(&mut self, path: &SitePath) -> Result<(), Error> {
        let mut gone = vec![path.clone()];
        while !gone.is_empty() {
            let last = gone.last().filter(|last| *last != path).cloned();
            self.observations
                .extend(gone.drain(..).map(|path| Observation {
                    path,
                    seen: Seen::Nothing,
                }));
            if self.observations.len() >= BATCH {
                self.apply()?;
            }
            let below = self.index.reader()?.by_path(path, last.as_ref(), BATCH)?;
            gone.extend(below.into_iter().map(|row| row.path));
        }
        Ok(())
    }

    fn apply(&mut self) -> Result<(), Error> {
        if !self.observations.is_empty() {
            let applied = self.index.apply(&self.observations)?;
            self.observations.clear();
            self.applied += applied;
        }
        Ok(())
    }
}

/// The index's side of a comparison.
struct Known<'a> {
    index: &'a Index,
    within: SitePath,
    rows: std::collections::VecDeque<crate::index::Row>,
    last: Option<SitePath>,
    exhausted: bool,
}

impl<'a> Known<'a> {
    const HELPING: usize = 2000;

    fn new(index: &'a Index, within: &SitePath) -> Result<Self, Error> {
        let mut known = Self {
            index,
            within: within.clone(),
            rows: std::collections::VecDeque::new(),
            last: None,
            exhausted: false,
        };
        known.fill()?;
        Ok(known)
    }

    /// Makes sure that there is a row in front, if there are any left.
    fn fill(&mut self) -> Result<(), Error> {
        while self.rows.is_empty() && !self.exhausted {
            let rows =
                self.index
                    .reader()?
                    .by_path(&self.within, self.last.as_ref(), Self::HELPING)?;
            self.exhausted = rows.len() < Self::HELPING;
            self.last = rows.last().map(|row| row.path.clone()).or(self.last.take());
            let live = rows
                .into_iter()
                .filter(|row| row.state == crate::index::State::Live);
            self.rows.extend(live);
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<crate::index::Row>, Error> {
        let row = self.rows.pop_front();
        self.fill()?;
        Ok(row)
    }

    /// Rows before a path were not met by the walk.
    fn skip_before(&mut self, path: &SitePath, suspects: &mut Vec<SitePath>) -> Result<(), Error> {
        while self.rows.front().is_some_and(|row| row.path < *path) {
            suspects.extend(self.pop()?.map(|row| row.path));
        }
        Ok(())
    }

    fn skip_within(&mut self, path: &SitePath) -> Result<(), Error> {
        while self
            .rows
            .front()
            .is_some_and(|row| row.path.is_within(path))
        {
            self.pop()?;
        }
        Ok(())
    }

    /// Whether the front row is of this path and says the same.
    fn matches(
        &mut self,
        path: &SitePath,
        facts: &Facts,
        media_type: &str,
        dynamic: bool,
    ) -> Result<bool, Error> {
        if self.rows.front().is_none_or(|row| row.path != *path) {
            return Ok(false);
        }
        let Some(row) = self.pop()? else {
            return Ok(false);
        };
        let types = self.index.media_types();
        let same_type = types
            .get(row.media_type)
            .is_some_and(|entry| entry.name == media_type);
        Ok(row.mark == facts.mark && row.dynamic == dynamic && same_type)
    }

    fn rest(mut self, suspects: &mut Vec<SitePath>) -> Result<(), Error> {
        while let Some(row) = self.pop()? {
            suspects.push(row.path);
        }
        Ok(())
    }
}

impl Ground {
    /// The facts of a file that is not just being written, as far as waiting a moment can help.
    fn settled(&self, path: &SitePath, facts: Facts) -> Facts {
        if !is_young(&facts) {
            return facts;
        }
        thread::sleep(TOO_YOUNG);
        match self.look(path) {
            Sighting::File { facts, .. } => facts,
            _ => facts,
        }
    }
}

impl std::ops::AddAssign for Applied {
    fn add_assign(&mut self, other: Self) {
        self.created += other.created;
        self.changed += other.changed;
        self.deleted += other.deleted;
    }
}

pub(crate) fn is_young(facts: &Facts) -> bool {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
    (0..TOO_YOUNG.as_nanos() as i128).contains(&(now - facts.ctime_ns))
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
