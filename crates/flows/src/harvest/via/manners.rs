//! The manners of a crawler: robots.txt is read for each host before anything else of it, and obeyed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use harvester::lists::{Admission, ListError, Lists};
use harvester::{Error, ErrorKind, Repository, Robots};

/// The rules of the hosts of a site. ResourceSync needs none: its lists are made for programs that copy a site.
pub(super) struct Manners {
    repository: Option<Repository>,
    hosts: Mutex<HashMap<String, Host>>,
}

struct Host {
    robots: Robots,
    /// When the next request may begin.
    next: SystemTime,
}

impl Manners {
    /// No rules.
    pub(super) fn none() -> Self {
        Self {
            repository: None,
            hosts: Mutex::default(),
        }
    }

    /// The rules of robots.txt.
    pub(super) fn robots(repository: &Repository) -> Self {
        Self {
            repository: Some(repository.clone()),
            hosts: Mutex::default(),
        }
    }

    /// The sitemaps that the robots.txt of a URL's host names.
    pub(super) fn sitemaps(&self, url: &str) -> Result<Vec<String>, Error> {
        let robots = self.of(url, |host| host.robots.sitemaps().to_vec())?;
        Ok(robots.unwrap_or_default())
    }

    /// Whether a URL may be asked for. Waits before as long as the host wants.
    pub(super) fn admit(&self, url: &str) -> Result<bool, Error> {
        let Some(repository) = &self.repository else {
            return Ok(true);
        };
        let options = repository.client().options();
        let path = path(url);
        let now = options.pace.now();
        let wait = self.of(url, |host| {
            if !host.robots.allows(path) {
                return None;
            }
            let begin = host.next.max(now);
            host.next = begin + host.robots.delay().unwrap_or_default().min(LONGEST_DELAY);
            begin.duration_since(now).ok()
        })?;
        let Some(Some(wait)) = wait else {
            return Ok(wait.is_none());
        };
        if !wait.is_zero() {
            options.pace.sleep(wait, &options.stop);
        }
        Ok(true)
    }

    /// Whether a URL may be asked for, without a wait.
    pub(super) fn allows(&self, url: &str) -> Result<bool, Error> {
        let path = path(url);
        let allows = self.of(url, |host| host.robots.allows(path))?;
        Ok(allows.unwrap_or(true))
    }

    /// The result of `f` for the host of a URL; `None` if there are no rules.
    fn of<T>(&self, url: &str, f: impl FnOnce(&mut Host) -> T) -> Result<Option<T>, Error> {
        let Some(repository) = &self.repository else {
            return Ok(None);
        };
        let origin = origin(url);
        // One thread asks for the file, and the others wait for it.
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if !hosts.contains_key(origin) {
            let host = Host {
                robots: robots(repository, origin)?,
                next: repository.client().options().pace.now(),
            };
            hosts.insert(origin.to_owned(), host);
        }
        Ok(hosts.get_mut(origin).map(f))
    }
}

impl Admission for Manners {
    fn admits(&self, url: &str) -> Result<bool, Error> {
        self.admit(url)
    }
}

/// Reads the robots.txt of an origin (RFC 9309, 2.3.1): without one everything is allowed, and a server that fails may
/// have one.
fn robots(repository: &Repository, origin: &str) -> Result<Robots, Error> {
    let lists = Lists::new(repository, true);
    match lists.bytes(&format!("{origin}/robots.txt")) {
        Ok(bytes) => Ok(Robots::parse(&bytes[..bytes.len().min(LONGEST)], PROGRAM)),
        Err(ListError::Unreached(error)) => match error.kind() {
            ErrorKind::RepositoryMisbehaved(_) => Ok(Robots::default()),
            _ => Err(error),
        },
        Err(_) => Ok(Robots::default()),
    }
}

/// The origin of a URL: `http://example.org:8080`.
fn origin(url: &str) -> &str {
    &url[..url.len() - path(url).len()]
}

/// The path of a URL, with its query.
fn path(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let at = url[host..].find(['/', '?', '#']);
    &url[at.map_or(url.len(), |at| host + at)..]
}

/// The name in robots.txt.
const PROGRAM: &str = "garner";
/// A robots.txt may be longer; the rest is not read.
const LONGEST: usize = 500 << 10;
/// A host that asks for more is asked every minute.
const LONGEST_DELAY: Duration = Duration::from_secs(60);
