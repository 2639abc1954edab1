//! Reads a site by its lists: the counterpart of `reading`, which reads a repository by its pages.
//!
//! A harvest that resumes reads the lists again and passes over what it has committed; lists are short, and may have
//! changed meanwhile.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use catalog::Known;
use harvester::lists::{Admission, Entry, Fault, ListError, Lists, ResourceSync};
use harvester::{ErrorKind, LeftOut, Quirks, Repository};
use oai::Datestamp;

use super::visit::Visited;
use super::{Found, Site};
use crate::Holdings;
use crate::harvest::checkpoint::SliceState;
use crate::harvest::now;
use crate::harvest::reading::{Event, Out, PageReport};
use crate::harvest::resources::Bodies;

/// Reads a site for one harvest.
pub(in crate::harvest) struct SiteReader<'a> {
    pub(in crate::harvest) holdings: &'a Holdings,
    pub(in crate::harvest) site: &'a Site,
    /// The site as it is asked.
    pub(in crate::harvest) remote: &'a Repository,
    pub(in crate::harvest) repository: &'a catalog::Repository,
    pub(in crate::harvest) metadata_prefix: &'a str,
    pub(in crate::harvest) run: i64,
    /// Where the bytes of resources wait.
    pub(in crate::harvest) bodies: &'a Bodies,
    /// Whether everything is got again.
    pub(in crate::harvest) anew: bool,
    pub(in crate::harvest) progress: Reached,
}

/// How far a harvest of lists is.
#[derive(Default)]
pub(in crate::harvest) struct Reached {
    seen: Mutex<HashSet<u64>>,
    random: RandomState,
    entries: AtomicUsize,
    /// How many requests in a row were not answered.
    failures: AtomicU32,
    /// Whether all that the site has was listed.
    is_whole: AtomicBool,
    /// Where the next harvest begins.
    next_from: Mutex<Option<i64>>,
    skipped: Mutex<Skipped>,
    /// When the last page ended.
    page_ended: Mutex<Option<Instant>>,
}

/// Resources that were skipped by a rule.
#[derive(Default)]
struct Skipped {
    by_host: BTreeMap<String, u64>,
    by_robots: u64,
    named: usize,
}

impl SiteReader<'_> {
    /// Reads the site, and puts what is found into `out`. `from` is where the last harvest ended.
    pub(in crate::harvest) fn read(&self, from: Option<&str>, out: Out<'_>) {
        let out = Mutex::new(out);
        let read = match &self.site.found {
            Found::ResourceSync(source) => self.read_resource_sync(source, from, &out),
            Found::Sitemaps(urls) => self.read_sitemaps(urls, &out),
        };
        self.tell_skipped(&out);
        self.end_page(&out);
        if let Err(error) = read {
            lock(&out).put(Event::Failed(error), 0);
        }
        lock(&out).send();
    }

    /// Where the next harvest begins. A date before all others makes it read whole lists.
    pub(in crate::harvest) fn next_from(&self) -> String {
        let moment = lock(&self.progress.next_from).unwrap_or(0);
        Datestamp::from_seconds(moment).to_string()
    }

    /// Whether all that the site has was listed, so that what was not seen has vanished.
    pub(in crate::harvest) fn is_whole(&self) -> bool {
        self.progress.is_whole.load(Ordering::Acquire)
    }

    /// Visits those of some held resources that no list names any more. Resource lists are complete, so that what they do not
    /// name is gone. Of a sitemap the server is asked; what may not be asked for stays as it is.
    pub(in crate::harvest) fn vanished(&self, urls: &[String]) -> anyhow::Result<Vec<Visited>> {
        let known = self.known(urls)?;
        let mut visited = Vec::new();
        for url in urls {
            let key = self.progress.random.hash_one(url);
            if lock(&self.progress.seen).contains(&key) {
                continue;
            }
            if matches!(self.site.found, Found::ResourceSync(_)) {
                visited.push(Event::Gone(url.clone()));
                continue;
            }
            let Some(known) = known.get(url) else {
                continue;
            };
            if self.site.lists.foreign_host(url).is_some() || !self.site.manners.admit(url)? {
                continue;
            }
            visited.extend(self.revisit(url, known)?);
        }
        Ok(visited)
    }

    fn read_sitemaps(&self, urls: &[String], out: &Mutex<Out<'_>>) -> anyhow::Result<()> {
        *lock(&self.progress.next_from) = Some(now());
        let mut is_whole = true;
        for list in self.site.lists.walk(urls.to_vec()) {
            match list {
                Ok((url, list)) => {
                    self.tell_unusable(&url, list.unusable, out);
                    self.entries(&list.entries, out)?;
                }
                Err(fault) => {
                    is_whole = false;
                    self.lose(fault, out)?;
                }
            }
        }
        self.progress.is_whole.store(is_whole, Ordering::Release);
        Ok(())
    }

    fn read_resource_sync(
        &self,
        source: &ResourceSync,
        from: Option<&str>,
        out: &Mutex<Out<'_>>,
    ) -> anyhow::Result<()> {
        let since = from.and_then(Datestamp::parse);
        let since = since
            .map(|(since, _)| since.seconds())
            .filter(|since| *since > 0);
        if let Some(since) = since {
            match source.changes(since) {
                Ok(changes) => {
                    self.entries(&changes.entries, out)?;
                    *lock(&self.progress.next_from) = Some(changes.until);
                    return Ok(());
                }
                Err(reason) => {
                    self.remote.check_stop()?;
                    let told = format!("{reason}, so the whole resource list is read");
                    lock(out).put(Event::Note(told), 0);
                }
            }
        }
        self.read_resource_list(source, out)
    }

    /// Reads everything that is listed; what has changed since the list was written is read from the change lists.
    fn read_resource_list(
        &self,
        source: &ResourceSync,
        out: &Mutex<Out<'_>>,
    ) -> anyhow::Result<()> {
        let roots = source.resource_lists().map_err(failed)?;
        let moment = ResourceSync::moment(&roots);
        let later = moment.and_then(|moment| source.changes(moment).ok());
        self.remote.check_stop()?;
        let changed: HashSet<&str> = match &later {
            Some(later) => later.entries.iter().map(|entry| &*entry.url).collect(),
            None => HashSet::new(),
        };
        let mut is_whole = true;
        for root in roots {
            for list in source.walk(root) {
                match list {
                    Ok((url, mut list)) => {
                        self.tell_unusable(&url, list.unusable, out);
                        list.entries.retain(|entry| !changed.contains(&*entry.url));
                        self.entries(&list.entries, out)?;
                    }
                    Err(fault) => {
                        is_whole = false;
                        self.lose(fault, out)?;
                    }
                }
            }
        }
        if let Some(later) = &later {
            self.entries(&later.entries, out)?;
        }
        self.progress.is_whole.store(is_whole, Ordering::Release);
        let until = later.as_ref().map(|later| later.until).or(moment);
        *lock(&self.progress.next_from) = until.filter(|_| is_whole);
        Ok(())
    }

    /// Visits the resources of some entries, several at once if that is wanted.
    fn entries(&self, entries: &[Entry], out: &Mutex<Out<'_>>) -> anyhow::Result<()> {
        for chunk in entries.chunks(CHUNK) {
            let mut wanted = Vec::new();
            for entry in chunk {
                if let Some(entry) = self.wanted(entry, out)? {
                    wanted.push(entry);
                }
            }
            let urls: Vec<_> = wanted.iter().map(|entry| entry.url.clone()).collect();
            let known = self.known(&urls)?;
            let next = AtomicUsize::new(0);
            let work = || -> anyhow::Result<()> {
                while let Some(entry) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    self.remote.check_stop()?;
                    if let Some(event) = self.visit(entry, known.get(&entry.url))? {
                        let size = match &event {
                            Event::Record(record) => record.xml.len() + OPEN_FILE,
                            _ => 0,
                        };
                        if !lock(out).put(event, size) {
                            next.store(wanted.len(), Ordering::Relaxed);
                        }
                        if self.is_page_due() {
                            self.end_page(out);
                        }
                    }
                }
                Ok(())
            };
            let options = self.remote.client().options();
            // Lists of ResourceSync are made for programs that copy a site; a sitemap is not, so that is crawling.
            let threads = match self.site.found {
                Found::ResourceSync(_) => options.resource_connections.max(1),
                Found::Sitemaps(_) => options.connections.max(1),
            };
            std::thread::scope(|scope| {
                let threads: Vec<_> = (1..threads.min(wanted.len()))
                    .map(|_| scope.spawn(work))
                    .collect();
                let worked = work();
                for thread in threads {
                    match thread.join() {
                        Ok(other) => other?,
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
                worked
            })?;
            self.progress
                .entries
                .fetch_add(chunk.len(), Ordering::Relaxed);
            self.end_page(out);
        }
        Ok(())
    }

    /// The entry under its canonical URL, unless a rule skips it or it came before.
    fn wanted(&self, entry: &Entry, out: &Mutex<Out<'_>>) -> anyhow::Result<Option<Entry>> {
        let Some(url) = self.site.lists.canonical(&entry.url) else {
            self.skip(&entry.url, "it is no URL that can be asked for", out);
            return Ok(None);
        };
        let key = self.progress.random.hash_one(&url);
        if !lock(&self.progress.seen).insert(key) {
            return Ok(None);
        }
        if let Some(host) = self.site.lists.foreign_host(&url) {
            let reason = format!("it is on another host, {host}");
            let reason = self.note_skipped(Some(host), reason);
            lock(out).put(Event::Skipped(url, reason), 0);
            return Ok(None);
        }
        if !self.site.manners.allows(&url)? {
            lock(&self.progress.skipped).by_robots += 1;
            self.skip(&url, "robots.txt does not allow it", out);
            return Ok(None);
        }
        Ok(Some(Entry {
            url,
            ..entry.clone()
        }))
    }

    /// Waits as long as the host of a URL wants, before it is asked.
    pub(super) fn pause(&self, url: &str) -> Result<(), harvester::Error> {
        self.site.manners.admit(url).map(drop)
    }

    fn skip(&self, url: &str, reason: &str, out: &Mutex<Out<'_>>) {
        let reason = self.note_skipped(None, reason.to_owned());
        lock(out).put(Event::Skipped(url.to_owned(), reason), 0);
    }

    /// Counts a resource that is skipped, and returns the reason if the resource is to be named.
    pub(super) fn note_skipped(&self, host: Option<String>, reason: String) -> Option<String> {
        let mut skipped = lock(&self.progress.skipped);
        if let Some(host) = host {
            *skipped.by_host.entry(host).or_default() += 1;
        }
        skipped.named += 1;
        (skipped.named <= MOST_NAMED).then_some(reason)
    }

    /// The same for one that robots.txt does not allow.
    pub(super) fn note_forbidden(&self, reason: String) -> Option<String> {
        lock(&self.progress.skipped).by_robots += 1;
        self.note_skipped(None, reason)
    }

    /// The rules for where redirects lead.
    pub(super) fn admission(&self) -> &dyn Admission {
        &self.site.manners
    }

    /// The lists of the site.
    pub(super) fn lists(&self) -> &Lists {
        &self.site.lists
    }

    fn tell_skipped(&self, out: &Mutex<Out<'_>>) {
        let skipped = lock(&self.progress.skipped);
        if !skipped.by_host.is_empty() {
            let count: u64 = skipped.by_host.values().sum();
            let hosts = skipped.by_host.iter().take(MOST_HOSTS);
            let mut hosts: Vec<_> = hosts
                .map(|(host, count)| format!("{host} ({count})"))
                .collect();
            if skipped.by_host.len() > MOST_HOSTS {
                hosts.push(format!("{} more hosts", skipped.by_host.len() - MOST_HOSTS));
            }
            let told = format!(
                "{count} resources on other hosts were skipped: {}; --other-hosts includes them",
                hosts.join(", ")
            );
            lock(out).put(Event::Note(told), 0);
        }
        if skipped.by_robots > 0 {
            let told = format!(
                "{} resources were skipped because robots.txt does not allow them",
                skipped.by_robots
            );
            lock(out).put(Event::Note(told), 0);
        }
    }

    fn tell_unusable(&self, list: &str, count: u64, out: &Mutex<Out<'_>>) {
        if count > 0 {
            let told = format!("{list} has {count} entries without a URL of the web");
            lock(out).put(Event::Note(told), 0);
        }
    }

    /// Notes a list that cannot be used. The rest of the site is read, unless nothing can be asked of it now.
    fn lose(&self, fault: Fault, out: &Mutex<Out<'_>>) -> anyhow::Result<()> {
        if let ListError::Unreached(error) = &fault.reason
            && matches!(
                error.kind(),
                ErrorKind::Stopped | ErrorKind::Busy(_) | ErrorKind::AskedToWait { .. }
            )
        {
            return Err(error.clone().into());
        }
        let left_out = LeftOut {
            identifier: None,
            dates: None,
            reason: format!("the list {}: {}", fault.url, fault.reason),
        };
        lock(out).put(Event::LeftOut(left_out), 0);
        Ok(())
    }

    /// Ends a page: what came so far may be committed. The lists are read again if the harvest is interrupted.
    fn end_page(&self, out: &Mutex<Out<'_>>) {
        let report = PageReport {
            state: SliceState::Ahead,
            given: self.progress.entries.load(Ordering::Relaxed) as u64,
            complete_list_size: None,
            is_broken: false,
            quirks: Quirks::default(),
            next_from: None,
        };
        let mut out = lock(out);
        let _ = out.put(Event::Page(Box::new(report)), 0) && out.send();
        *lock(&self.progress.page_ended) = Some(Instant::now());
    }

    /// Whether so much time has passed that what came should be committed: a slow site brings few resources a minute.
    fn is_page_due(&self) -> bool {
        let ended = *lock(&self.progress.page_ended);
        ended.is_none_or(|ended| ended.elapsed() > LONGEST_PAGE)
    }

    fn known(&self, urls: &[String]) -> anyhow::Result<std::collections::HashMap<String, Known>> {
        if urls.is_empty() {
            return Ok(std::collections::HashMap::new());
        }
        let names: Vec<_> = urls.iter().map(String::as_str).collect();
        let catalog = self.holdings.catalog();
        let known = catalog.known(self.repository.id, self.metadata_prefix, &names);
        Ok(self.holdings.wait(known)?)
    }

    /// Notes that a request was not answered. A site that answers none of many is away.
    pub(super) fn note_failure(&self, error: &harvester::Error) -> Result<(), harvester::Error> {
        if !matches!(error.kind(), ErrorKind::Transport(_)) {
            return Ok(());
        }
        let failures = self.progress.failures.fetch_add(1, Ordering::Relaxed) + 1;
        match failures >= MOST_FAILURES {
            true => Err(error.clone()),
            false => Ok(()),
        }
    }

    pub(super) fn note_answer(&self) {
        self.progress.failures.store(0, Ordering::Relaxed);
    }
}

fn failed(fault: Fault) -> anyhow::Error {
    match fault.reason {
        ListError::Unreached(error) => error.into(),
        reason => anyhow::anyhow!("the list {}: {reason}", fault.url),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of entries that are looked up, visited and committed together.
const CHUNK: usize = 1000;
/// The longest time before resources are committed.
const LONGEST_PAGE: Duration = Duration::from_millis(500);
const OPEN_FILE: usize = crate::harvest::storing::OPEN_FILE;
/// The number of skipped resources that are named one by one; all are counted.
const MOST_NAMED: usize = 100;
const MOST_HOSTS: usize = 10;
const MOST_FAILURES: u32 = 5;
