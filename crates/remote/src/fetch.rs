//! Fetches what lies at an address: all of it that is not here yet, and only that.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::entry::{Entry, Kind};
use crate::link::Link;
use crate::tree::Tree;
use crate::waiting::Waiting;
use crate::walk::{RemoteFile, Walk};
use crate::{Access, Address, Error, Limits};

/// How something is fetched.
pub struct Options<'a> {
    /// The credentials.
    pub access: &'a Access,
    /// Which addresses may be connected to: the name that led there, if it was one, and the address.
    pub admits: &'a (dyn Fn(Option<&str>, IpAddr) -> bool + Sync),
    /// Whether somebody wants it to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Hears how it goes.
    pub tell: &'a (dyn Fn(FetchEvent<'_>) + Sync),
    /// The limits.
    pub limits: Limits,
}

/// Something that somebody who waits wants to know.
#[derive(Debug, Clone, Copy)]
pub enum FetchEvent<'a> {
    /// A sentence.
    Note(&'a str),
    /// How far it is.
    Progress {
        /// The path of the file that is fetched.
        file: &'a str,
        /// How many bytes came.
        done: u64,
        /// How many there are to come in all.
        total: u64,
    },
}

/// The result of a fetch.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The local path.
    pub path: PathBuf,
    /// Whether that is a directory.
    pub is_directory: bool,
    /// How many files there are.
    pub files: u64,
    /// How many of them came now, whole or in part.
    pub came: u64,
    /// How many bytes came.
    pub bytes: u64,
    /// Files that could not be fetched, with the reason; limited to the first ones.
    pub refused: Vec<(String, String)>,
    /// How many more could not be had.
    pub more_refused: u64,
}

/// Fetches a file, or a directory with all below, to a place below `base`.
pub fn fetch(address: &Address, base: &Path, options: &Options<'_>) -> Result<Fetched, Error> {
    let tree = Tree::open(base, &address.place())?;
    let waiting = Waiting {
        stop: options.stop,
        silence: options.limits.silence,
    };
    wait_for(&tree, address, options, &waiting)?;
    let (sender, news) = mpsc::channel();
    std::thread::scope(|scope| {
        let tree = &tree;
        let fetching = scope.spawn(move || {
            let tell = |news: FetchEvent<'_>| {
                // A closed channel means that the receiver panics, and only waits for this thread.
                let _ = sender.send(OwnedEvent::of(news));
            };
            let options = Options {
                tell: &tell,
                limits: options.limits.clone(),
                ..*options
            };
            run(tree, address, &options, waiting)
        });
        // The listener may block, which is not allowed on the runtime.
        for told in news {
            told.tell(options.tell);
        }
        match fetching.join() {
            Ok(fetched) => fetched,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn run(
    tree: &Tree,
    address: &Address,
    options: &Options<'_>,
    waiting: Waiting<'_>,
) -> Result<Fetched, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Disk(format!("the runtime cannot be started: {error}")))?;
    let mut fetching = Fetching {
        tree,
        options,
        waiting,
        done: 0,
        total: 0,
        came: 0,
        told: None,
    };
    let fetched = runtime.block_on(fetching.all(address));
    // A lookup of a name that hangs is not waited for.
    runtime.shutdown_background();
    fetched
}

/// An event on the way to its listener.
enum OwnedEvent {
    Note(String),
    Progress(String, u64, u64),
}

impl OwnedEvent {
    fn of(news: FetchEvent<'_>) -> Self {
        match news {
            FetchEvent::Note(note) => Self::Note(note.to_owned()),
            FetchEvent::Progress { file, done, total } => {
                Self::Progress(file.to_owned(), done, total)
            }
        }
    }

    fn tell(&self, tell: &(dyn Fn(FetchEvent<'_>) + Sync)) {
        tell(match self {
            Self::Note(note) => FetchEvent::Note(note),
            Self::Progress(file, done, total) => FetchEvent::Progress {
                file,
                done: *done,
                total: *total,
            },
        });
    }
}

/// Two who fetch the same would write into one file.
fn wait_for(
    tree: &Tree,
    address: &Address,
    options: &Options<'_>,
    waiting: &Waiting<'_>,
) -> Result<(), Error> {
    let mut is_told = false;
    while !tree.lock() {
        waiting.check()?;
        if !is_told {
            let note = format!(
                "waiting for another process that fetches from {}",
                address.host
            );
            (options.tell)(FetchEvent::Note(&note));
            is_told = true;
        }
        std::thread::sleep(A_MOMENT);
    }
    Ok(())
}

struct Fetching<'a> {
    tree: &'a Tree,
    options: &'a Options<'a>,
    waiting: Waiting<'a>,
    done: u64,
    total: u64,
    came: u64,
    told: Option<Instant>,
}

impl<'a> Fetching<'a> {
    async fn all(&mut self, address: &'a Address) -> Result<Fetched, Error> {
        let mut link = Link::new(address, self.options, self.waiting);
        let root = address.path.join(&b'/');
        let mut walk = Walk::default();
        let entry = look(&mut link, &root, address).await?;
        let is_directory = match entry.kind {
            Kind::Directory => {
                let note = format!("looking at what is on {}", address.host);
                (self.options.tell)(FetchEvent::Note(&note));
                walk.below(root.clone(), &mut link, &self.options.limits)
                    .await?;
                true
            }
            Kind::File if !address.is_directory => {
                let Some(size) = entry.size else {
                    let host = &address.host;
                    return Err(Error::Refused(format!(
                        "{host} does not tell how long the file is"
                    )));
                };
                walk.files.push(RemoteFile {
                    path: root.clone(),
                    size,
                    modified: entry.modified,
                });
                false
            }
            _ => {
                return Err(Error::Missing(
                    "the address is neither that of a file nor of a directory".to_owned(),
                ));
            }
        };
        let files = walk.files.len() as u64;
        let missing = self.missing(&mut walk)?;
        for file in missing {
            match self.one(&file, &mut link).await {
                Ok(()) => self.came += 1,
                // The file is gone or not readable; the others are good without it.
                Err(Error::Missing(why)) => walk.refuse(&file.path, why),
                Err(error) => return Err(error),
            }
        }
        self.tell_end(address, files, &walk);
        if !is_directory && let Some((_, why)) = walk.refused.first() {
            return Err(Error::Missing(why.clone()));
        }
        let path = self.tree.absolute(&root);
        if is_directory {
            // One without files is there as well.
            std::fs::create_dir_all(&path).map_err(|error| Error::disk("made", &path, error))?;
        }
        Ok(Fetched {
            path,
            is_directory,
            files,
            came: self.came,
            bytes: self.done,
            refused: walk.refused,
            more_refused: walk.more_refused,
        })
    }

    /// The files that are not here as they are there.
    fn missing(&mut self, walk: &mut Walk) -> Result<Vec<RemoteFile>, Error> {
        let mut missing = Vec::new();
        for file in std::mem::take(&mut walk.files) {
            let here = match self.tree.look(&file.path) {
                Ok(here) => here,
                Err(Error::Missing(why)) => {
                    walk.refuse(&file.path, why);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let begun = match here {
                Some((size, time)) if size == file.size => {
                    // A server that tells no times has to be believed that nothing changed.
                    if file.modified.is_none_or(|modified| modified == time) {
                        continue;
                    }
                    self.tree.forget(&file.path);
                    0
                }
                Some((size, _)) if size < file.size => {
                    self.tree.take_back(&file.path)?;
                    size
                }
                Some(_) => {
                    self.tree.forget(&file.path);
                    0
                }
                None => self.tree.begun(&file.path),
            };
            self.total = self.total.saturating_add(file.size.saturating_sub(begun));
            missing.push(file);
        }
        match self.tree.free() {
            Some(free) if free < self.total => Err(Error::Disk(format!(
                "{} bytes are to be fetched, and the disk of `{}` has room for {free}",
                self.total,
                self.tree.absolute(b"").display()
            ))),
            _ => Ok(missing),
        }
    }

    /// Fetches one file, or what is missing of it.
    async fn one(&mut self, file: &RemoteFile, link: &mut Link<'_>) -> Result<(), Error> {
        let name = crate::error::said(&String::from_utf8_lossy(&file.path));
        let mut restarts = 0;
        loop {
            let mut part = self.tree.begin(&file.path)?;
            if part.length() > file.size {
                part.clear()?;
            }
            let from = part.length().saturating_sub(OVERLAP);
            let expected = part.tail(from)?;
            let had = part.length();
            let mut compared = 0;
            let mut pace = Pace::new(&self.options.limits);
            let mut take = |bytes: &[u8]| {
                // The end of the local part is fetched again: a different file under the old name must not be resumed.
                let known = bytes.len().min(expected.len() - compared);
                if bytes[..known] != expected[compared..compared + known] {
                    return Err(Error::Changed);
                }
                compared += known;
                part.append(&bytes[known..])?;
                self.done += (bytes.len() - known) as u64;
                self.progress(&name);
                pace.check(bytes.len() as u64)
            };
            let read = match (link.session().await, file.size - from) {
                (Ok(_), 0) => Ok(()),
                (Ok(session), length) => session.read(&file.path, from, length, &mut take).await,
                (Err(error), _) => Err(error),
            };
            match read {
                Ok(()) => {
                    link.went_on();
                    return self.tree.place(&part, &file.path, file.modified);
                }
                Err(Error::Lost(why)) => {
                    if part.length() - had >= ENOUGH {
                        link.went_on();
                    }
                    link.lost(why).await?;
                }
                Err(Error::Changed | Error::NoResume(_)) if had > 0 && restarts < RESTARTS => {
                    restarts += 1;
                    self.done = self.done.saturating_sub(part.length() - had);
                    self.total = self.total.saturating_add(had);
                    part.clear()?;
                }
                Err(Error::Changed | Error::NoResume(_)) => {
                    return Err(Error::Missing(
                        "it changes while it is fetched; import it again".to_owned(),
                    ));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn progress(&mut self, file: &str) {
        if self.told.is_some_and(|told| told.elapsed() < A_MOMENT) {
            return;
        }
        self.told = Some(Instant::now());
        (self.options.tell)(FetchEvent::Progress {
            file,
            done: self.done,
            total: self.total.max(self.done),
        });
    }

    fn tell_end(&self, address: &Address, files: u64, walk: &Walk) {
        let host = &address.host;
        let mut note = match self.came {
            0 => format!("nothing new on {host}: {files} files are here"),
            came => format!(
                "{came} of {files} files came from {host}, {} bytes",
                self.done
            ),
        };
        let refused = walk.refused.len() as u64 + walk.more_refused;
        if refused > 0 {
            note.push_str(&format!("; {refused} could not be obtained"));
        }
        if walk.passed_by > 0 {
            note.push_str(&format!(
                "; {} links or devices were passed by",
                walk.passed_by
            ));
        }
        (self.options.tell)(FetchEvent::Note(&note));
    }
}

async fn look(link: &mut Link<'_>, root: &[u8], address: &Address) -> Result<Entry, Error> {
    loop {
        let looked = match link.session().await {
            Ok(session) => session.look(root, address.is_directory).await,
            Err(error) => Err(error),
        };
        match looked {
            Err(Error::Lost(why)) => link.lost(why).await?,
            looked => return looked,
        }
    }
}

/// Whether bytes come fast enough to be worth the wait.
struct Pace<'a> {
    limits: &'a Limits,
    since: Instant,
    bytes: u64,
}

impl<'a> Pace<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            since: Instant::now(),
            bytes: 0,
        }
    }

    fn check(&mut self, bytes: u64) -> Result<(), Error> {
        self.bytes += bytes;
        if self.since.elapsed() < self.limits.pace_time {
            return Ok(());
        }
        if self.bytes < self.limits.pace {
            let seconds = self.limits.pace_time.as_secs();
            return Err(Error::Lost(format!(
                "only {} bytes came in {seconds} s",
                self.bytes
            )));
        }
        self.since = Instant::now();
        self.bytes = 0;
        Ok(())
    }
}

/// The number of bytes that are compared before a file is resumed.
const OVERLAP: u64 = 64 << 10;
/// So much has to come before a connection that breaks again counts as a new one.
const ENOUGH: u64 = 64 << 10;
/// The number of restarts from the beginning for a server that cannot resume.
const RESTARTS: u32 = 3;
const A_MOMENT: Duration = Duration::from_millis(100);
