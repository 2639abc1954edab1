//! Compares the site with the index, the whole of it or where something changed.

mod known;

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use self::known::{Known, Suspect};
use crate::follow::public::{self, PublicView};
use crate::follow::watch::Watch;
use crate::ground::root::Sighting;
use crate::ground::walk::{Walk, WalkEntry, warn_unknown};
use crate::index::{Applied, Index, Loader, Observation, Seen};
use crate::record::helpers::{Assistance, Pending};
use crate::records::Typed;
use crate::{Error, Facts, Ground, Origin, Reason, SitePath};
use process::Stop;

/// Loads a new index from a first scan. Where an origin is at hand it says what the files are, and which of them are
/// for all.
pub(crate) fn first_scan(
    ground: &Ground,
    mut loader: Loader,
    origin: Option<&dyn Origin>,
    progress: &dyn Fn(u64),
) -> Result<Box<Index>, Error> {
    let (sender, receiver) = mpsc::sync_channel::<Vec<WalkEntry>>(16);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut walk = Walk::new(ground, &SitePath::root());
            loop {
                let batch: Vec<_> = walk.by_ref().take(WALKED_BATCH).collect();
                if batch.is_empty() || sender.send(batch).is_err() {
                    return;
                }
            }
        });
        let mut files = 0;
        for batch in receiver {
            let mut found = Vec::with_capacity(batch.len());
            for file in batch {
                if let WalkEntry::File {
                    path,
                    facts,
                    dynamic,
                } = file
                {
                    let facts = ground.settled(&path, facts);
                    found.push((path, facts, dynamic));
                }
            }
            files += found.len() as u64;
            load(ground, &mut loader, origin, &found)?;
            progress(files);
        }
        loader.finish()
    })
}

fn load(
    ground: &Ground,
    loader: &mut Loader,
    origin: Option<&dyn Origin>,
    found: &[(SitePath, Facts, bool)],
) -> Result<(), Error> {
    let paths = found.iter().map(|(path, _, _)| path);
    let views = match origin {
        Some(origin) => public::views(origin, paths)?,
        None => vec![PublicView::default(); found.len()],
    };
    for ((path, facts, dynamic), view) in found.iter().zip(views) {
        let media_type = match view.media_type {
            Some(media_type) => media_type,
            None => match ground.typed(path, facts, *dynamic) {
                Typed::Offered(media_type) => media_type,
                Typed::Nothing => continue,
                Typed::Unknown(error) => {
                    warn_unknown(path, &error);
                    continue;
                }
            },
        };
        loader.add(path, facts, &media_type, *dynamic, view.shown)?;
    }
    Ok(())
}

/// Compares the whole site with the index and makes every difference visible.
pub(crate) fn scan_all(
    ground: &Ground,
    index: &Index,
    progress: &dyn Fn(u64),
) -> Result<(), Error> {
    ground.renew()?;
    Scan::new(ground, index, None, Stop::default()).run(&SitePath::root(), progress)
}

/// One comparison of the site, or a part of it, with the index.
///
/// The comparison only finds suspects. Each is looked at once more right before its change becomes
/// visible, so that what is written is never older than what was written before.
pub(crate) struct Scan<'a> {
    ground: &'a Ground,
    index: &'a Index,
    watch: Option<&'a mut Watch>,
    stop: Stop,
    /// Whether the names decide on the media types, and not an origin.
    types_by_name: bool,
    observations: Vec<Observation>,
    /// Changed a moment ago: to be looked at again.
    pub(crate) young: Vec<SitePath>,
    /// Since when each of them has been too young whenever it was looked at.
    pub(crate) young_since: HashMap<SitePath, Instant>,
    pub(crate) applied: Applied,
    /// The files among what was applied, where an origin is still to be asked what they are.
    pub(crate) untyped: Vec<SitePath>,
    /// The files of rules among what was applied, new, changed or gone, where a web server has such files.
    pub(crate) rules: Vec<SitePath>,
    /// How many files the walk met.
    pub(crate) files: u64,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        ground: &'a Ground,
        index: &'a Index,
        watch: Option<&'a mut Watch>,
        stop: Stop,
    ) -> Self {
        Self {
            ground,
            index,
            watch,
            stop,
            types_by_name: true,
            observations: Vec::new(),
            young: Vec::new(),
            young_since: HashMap::new(),
            applied: Applied::default(),
            untyped: Vec::new(),
            rules: Vec::new(),
            files: 0,
        }
    }

    /// Leaves the media types of known items alone: the origin has said what they are, and will for new ones.
    pub(crate) fn leaving_types(mut self) -> Self {
        self.types_by_name = false;
        self
    }

    /// Compares everything within a directory, both sides in the order of paths. If it is stopped, what it did not
    /// come to stays as it was.
    pub(crate) fn run(&mut self, within: &SitePath, progress: &dyn Fn(u64)) -> Result<(), Error> {
        let walk = Walk::new(self.ground, within).until(&self.stop);
        self.compare(within, walk, progress)
    }

    /// Compares everything, while a helper walks ahead. There must be no watch, which is to be set before a directory is
    /// read.
    pub(crate) fn run_with(
        &mut self,
        ground: Arc<Ground>,
        assistance: &Assistance<'_>,
    ) -> Result<(), Error> {
        let root = SitePath::root();
        if !assistance.is_at_hand() {
            return self.run(&root, &|_| {});
        }
        let (sender, receiver) = mpsc::sync_channel::<Vec<WalkEntry>>(16);
        let walked = assistance.begin(move |stop| {
            let mut walk = Walk::new(&ground, &SitePath::root()).until(stop);
            loop {
                let batch: Vec<_> = walk.by_ref().take(WALKED_BATCH).collect();
                if batch.is_empty() || sender.send(batch).is_err() {
                    return;
                }
            }
        });
        let mut walked = Some(walked);
        let ends = std::iter::from_fn(|| {
            // A walk that panicked is not one that met nothing more.
            walked.take().map(Pending::wait);
            None
        });
        let found = receiver.into_iter().flatten().chain(ends);
        self.compare(&root, found, &|_| {})
    }

    fn compare(
        &mut self,
        within: &SitePath,
        walk: impl Iterator<Item = WalkEntry>,
        progress: &dyn Fn(u64),
    ) -> Result<(), Error> {
        let ground = self.ground;
        let mut known = Known::new(self.index, within, &self.stop)?;
        let mut suspects = Vec::new();
        for found in walk {
            match found {
                WalkEntry::Directory(path) => {
                    if let Some(watch) = &mut self.watch {
                        watch.add(&ground.place_of(&path), &path);
                    }
                }
                // The files of a mount below are known; the rest is found out by the second look.
                WalkEntry::Unknown(path) if ground.mounts.now().any_below(&path) => {}
                WalkEntry::Unknown(path) => {
                    known.skip_before(&path, &mut suspects)?;
                    known.skip_within(&path, &mut suspects)?;
                }
                WalkEntry::File {
                    path,
                    facts,
                    dynamic,
                } => {
                    self.files += 1;
                    if self.files.is_multiple_of(1024) {
                        progress(self.files);
                    }
                    // A change by another name before the watch stood is found by one more look.
                    if self.watch_names(&path, &facts) {
                        self.young.push(path.clone());
                    }
                    known.skip_before(&path, &mut suspects)?;
                    let typed = self
                        .types_by_name
                        .then(|| ground.typed(&path, &facts, dynamic));
                    // One that is nothing is looked at once more, as one that could not be read.
                    let media_type = typed.as_ref().map(|typed| match typed {
                        Typed::Offered(media_type) => media_type.as_str(),
                        Typed::Nothing | Typed::Unknown(_) => "",
                    });
                    if !known.matches(&path, &facts, media_type, dynamic)? {
                        suspects.push(Suspect::Met(path));
                    }
                }
            }
            if suspects.len() >= BATCH {
                self.look_at(&mut suspects)?;
            }
        }
        // A walk that was stopped ends like one that is complete, and the flag is set before it does.
        if self.stop.is_set() {
            return self.apply();
        }
        known.rest(&mut suspects)?;
        self.look_at(&mut suspects)?;
        self.apply()
    }

    /// Looks at one path as it is now, unless the scan is stopped.
    pub(crate) fn look(&mut self, path: &SitePath) -> Result<(), Error> {
        self.look_by(path, Ground::look)
    }

    fn look_by(
        &mut self,
        path: &SitePath,
        look: fn(&Ground, &SitePath) -> Sighting,
    ) -> Result<(), Error> {
        if self.stop.is_set() {
            return Ok(());
        }
        let sighting = look(self.ground, path);
        if let Sighting::File { facts, .. } = &sighting {
            self.watch_names(path, facts);
        }
        if let Sighting::File { facts, dynamic } = &sighting
            && facts.is_young()
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
                if let Some(records) = &self.ground.records {
                    records.forget(path);
                }
                self.observe_nothing(path)?;
            }
            Sighting::Unknown(error) => {
                warn_unknown(path, &error);
                // A mount below is there all the same.
                if self.ground.mounts.now().any_below(path) {
                    self.apply()?;
                    return self.run(path, &|_| {});
                }
            }
        }
        if self.observations.len() >= BATCH {
            self.apply()?;
        }
        Ok(())
    }

    /// Watches a file that has several names; says whether that is new.
    fn watch_names(&mut self, path: &SitePath, facts: &Facts) -> bool {
        match &mut self.watch {
            Some(watch) if facts.links > 1 => {
                watch.add_file(&self.ground.place_of(path), path, facts.links)
            }
            _ => false,
        }
    }

    /// Makes visible what was observed.
    pub(crate) fn apply(&mut self) -> Result<(), Error> {
        if !self.observations.is_empty() {
            let applied = self.index.apply(&self.observations)?;
            if !self.types_by_name {
                let paths = self
                    .observations
                    .iter()
                    .map(|observation| &observation.path);
                let rules = paths.filter(|path| path.name().starts_with(b".ht"));
                self.rules.extend(rules.cloned());
            }
            self.observations.clear();
            self.applied += applied;
        }
        Ok(())
    }

    fn look_at(&mut self, suspects: &mut Vec<Suspect>) -> Result<(), Error> {
        suspects.drain(..).try_for_each(|suspect| match suspect {
            Suspect::Met(path) => self.look_by(&path, Ground::look_again),
            Suspect::Missed(path) => self.look(&path),
        })
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

    /// Takes files that never rest as they are. Their marks are left open, so that the next look finds a change.
    pub(crate) fn take_young(&mut self) -> Result<(), Error> {
        for path in std::mem::take(&mut self.young) {
            if let Sighting::File { facts, dynamic } = self.ground.look(&path) {
                let mark = !facts.mark;
                self.observe_file(&path, Facts { mark, ..facts }, dynamic);
            }
        }
        self.apply()
    }

    fn observe_file(&mut self, path: &SitePath, facts: Facts, dynamic: bool) {
        let media_type = match self.ground.typed(path, &facts, dynamic) {
            Typed::Offered(media_type) => media_type,
            Typed::Nothing => {
                self.observations.push(Observation {
                    path: path.clone(),
                    seen: Seen::Nothing,
                });
                return;
            }
            Typed::Unknown(error) => return warn_unknown(path, &error),
        };
        if !self.types_by_name {
            self.untyped.push(path.clone());
        }
        self.observations.push(Observation {
            path: path.clone(),
            seen: Seen::File {
                facts,
                media_type,
                by_name: !self.types_by_name,
                dynamic,
            },
        });
    }

    /// A directory where a file may have been.
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
        while !gone.is_empty() && !self.stop.is_set() {
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
}

/// A file that has been too young for this long is being written all the time: it is taken as it is.
const RESTLESS: Duration = Duration::from_secs(1);

/// How many changes become visible at once: answers wait that long at the most.
const BATCH: usize = 1000;

/// How many files the first scan hands over at once.
const WALKED_BATCH: usize = 1024;

#[cfg(test)]
mod tests {
    mod mounts;

    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::ground::mounts::Mounts;
    use crate::index::{OpenedIndex, State};
    use crate::{OfferConfig, Root, Rules, Sharing, Symlinks};

    fn ground(site: &Path) -> Ground {
        Ground {
            root: Root::open(site, Symlinks::Inside).unwrap(),
            rules: Rules::compile(OfferConfig::default()).unwrap(),
            media_types: crate::ground::media_types::MediaTypes::default(),
            mounts: Mounts::default(),
            records: None,
        }
    }

    /// The index of a site of 3000 files.
    fn load(site: &Path, data: &Path) -> Box<Index> {
        for number in 0..3000 {
            let directory = site.join(format!("{}", number / 100));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(format!("{number}.txt")), "text").unwrap();
        }
        match Index::open(data, Sharing::Alone).unwrap() {
            OpenedIndex::Fresh(loader) => {
                first_scan(&ground(site), *loader, None, &|_| {}).unwrap()
            }
            OpenedIndex::Known(_) => unreachable!("the directory is new"),
        }
    }

    fn live(index: &Index) -> usize {
        let reader = index.reader().unwrap();
        let rows = reader.by_path(&SitePath::root(), None, 5000).unwrap();
        rows.iter().filter(|row| row.state == State::Live).count()
    }

    #[test]
    fn a_stopped_scan_ends_soon_and_leaves_the_rest_as_it_was() {
        let (site, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let index = load(site.path(), data.path());
        fs::remove_dir_all(site.path().join("9")).unwrap();
        let ground = ground(site.path());
        let stop = Stop::default();

        let mut scan = Scan::new(&ground, &index, None, stop.clone());
        scan.run(&SitePath::root(), &|_| stop.set()).unwrap();

        assert_eq!(scan.files, 1024);
        assert_eq!(live(&index), 3000);
    }

    #[test]
    fn a_scan_that_is_stopped_before_it_begins_changes_nothing() {
        let (site, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let index = load(site.path(), data.path());
        let gone = SitePath::root().join(b"9");
        fs::remove_dir_all(site.path().join("9")).unwrap();
        let ground = ground(site.path());
        let stop = Stop::default();
        stop.set();

        let mut scan = Scan::new(&ground, &index, None, stop);
        scan.run(&SitePath::root(), &|_| {}).unwrap();
        scan.look(&gone).unwrap();
        scan.apply().unwrap();
        assert_eq!(live(&index), 3000);

        let mut scan = Scan::new(&ground, &index, None, Stop::default());
        scan.run(&SitePath::root(), &|_| {}).unwrap();
        assert_eq!(live(&index), 2900);
    }
}
