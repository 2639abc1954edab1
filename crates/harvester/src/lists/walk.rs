//! Gets lists from a site, and walks through indexes of them: each list once, to a limited depth, and a limited number.

use std::collections::{HashSet, VecDeque};
use std::io::{BufReader, Read};

use reqwest::Url;

use super::{Entry, List, ListError};
use crate::client::Revisited;
use crate::read::plain_bytes;
use crate::{ErrorKind, Incompatibility, Misbehaviour, Repository, Validators};

/// The lists of one site.
#[derive(Debug, Clone)]
pub struct Lists {
    repository: Repository,
    home: Url,
    other_hosts: bool,
}

/// A list that had to be passed over, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The URL of the list.
    pub url: String,
    /// The reason.
    pub reason: ListError,
}

impl Lists {
    /// The lists of the site at the URL of `repository`. With `other_hosts`, lists and resources of other hosts belong to it.
    pub fn new(repository: &Repository, other_hosts: bool) -> Self {
        Self {
            repository: repository.clone(),
            home: repository.base().clone(),
            other_hosts,
        }
    }

    /// The client's view of the site.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The URL at a path of the site: `/robots.txt`.
    pub fn at(&self, path: &str) -> String {
        let mut url = self.home.clone();
        url.set_path(path);
        url.set_query(None);
        url.into()
    }

    /// Whether the URL of the site is that of its home page.
    pub fn is_home(&self) -> bool {
        self.home.path() == "/" && self.home.query().is_none()
    }

    /// The URL that a link on the home page leads to.
    pub fn resolved(&self, link: &str) -> Option<String> {
        let home = Url::parse(&self.at("/")).ok()?;
        self.canonical(home.join(link).ok()?.as_str())
    }

    /// The URL of an entry in the one form under which it is kept. `None` if it is no URL that can be asked for.
    pub fn canonical(&self, url: &str) -> Option<String> {
        let mut url = Url::parse(url).ok()?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        if !is_plain || url.host_str().is_none_or(str::is_empty) {
            return None;
        }
        url.set_fragment(None);
        Some(url.into())
    }

    /// The host of a URL that does not belong to the site.
    pub fn foreign_host(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let is_own = url.host_str() == self.home.host_str()
            && (url.port() == self.home.port()
                || url.port_or_known_default() == self.home.port_or_known_default());
        match is_own || self.other_hosts {
            true => None,
            false => url.host_str().map(|host| match url.port() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            }),
        }
    }

    /// Gets one list.
    pub fn get(&self, url: &str) -> Result<List, ListError> {
        List::parse(&self.bytes(url)?)
    }

    /// Gets one document, uncompressed.
    pub fn bytes(&self, url: &str) -> Result<Vec<u8>, ListError> {
        let answer = self.repository.revisit(url, &Validators::default());
        let download = match answer {
            Ok(Revisited::Changed(download)) => download,
            Ok(Revisited::Gone(status)) => return Err(ListError::Missing(status)),
            Ok(Revisited::Redirected(to)) => {
                return Err(ListError::Unreached(Misbehaviour::Redirect(to).into()));
            }
            Ok(Revisited::Unchanged) => return Err(ListError::Missing(304)),
            Err(error) => {
                return Err(match error.kind() {
                    ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(status)) => {
                        ListError::Missing(*status)
                    }
                    _ => ListError::Unreached(error),
                });
            }
        };
        let broken = |error: std::io::Error| ListError::Broken(error.to_string());
        let plain = plain_bytes(Box::new(BufReader::new(*download))).map_err(broken)?;
        let mut bytes = Vec::new();
        plain
            .take(LONGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(broken)?;
        match bytes.len() as u64 > LONGEST {
            true => Err(ListError::TooLong(LONGEST)),
            false => Ok(bytes),
        }
    }

    /// Walks through the lists at some URLs, and through those that they name.
    pub fn walk(&self, urls: Vec<String>) -> Walk<'_> {
        Walk {
            lists: self,
            seen: urls.iter().cloned().collect(),
            waiting: urls.into_iter().map(|url| (url, 0)).collect(),
            first: None,
        }
    }

    /// Walks through the lists that a list names which was read already.
    pub(super) fn walk_from(&self, url: &str, list: List) -> Walk<'_> {
        Walk {
            lists: self,
            seen: HashSet::from([url.to_owned()]),
            waiting: VecDeque::new(),
            first: Some((url.to_owned(), list)),
        }
    }
}

/// A walk through lists, which gives those that are no indexes.
pub struct Walk<'a> {
    lists: &'a Lists,
    seen: HashSet<String>,
    /// URLs and how deep they lie.
    waiting: VecDeque<(String, usize)>,
    first: Option<(String, List)>,
}

impl Walk<'_> {
    /// Reads an index: notes the lists that it names.
    fn enter(&mut self, url: &str, index: List, depth: usize) -> Result<(), Fault> {
        let fault = |reason: String| Fault {
            url: url.to_owned(),
            reason: ListError::Broken(reason),
        };
        let mut foreign = None;
        for Entry { url: entry, .. } in index.entries {
            if let Some(host) = self.lists.foreign_host(&entry) {
                foreign.get_or_insert(host);
                continue;
            }
            if self.seen.len() >= MOST_LISTS {
                return Err(fault(format!("there are more than {MOST_LISTS} lists")));
            }
            if !self.seen.insert(entry.clone()) {
                continue;
            }
            if depth >= DEEPEST {
                return Err(fault(format!(
                    "indexes are nested more than {DEEPEST} deep"
                )));
            }
            self.waiting.push_back((entry, depth + 1));
        }
        match foreign {
            Some(host) => Err(fault(format!("it names lists on another host, {host}"))),
            None => Ok(()),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<(String, List), Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (url, depth, list) = match self.first.take() {
                Some((url, list)) => (url, 0, Ok(list)),
                None => {
                    let (url, depth) = self.waiting.pop_front()?;
                    let list = self.lists.get(&url);
                    (url, depth, list)
                }
            };
            match list {
                Ok(list) if !list.is_index => return Some(Ok((url, list))),
                Ok(index) => {
                    if let Err(fault) = self.enter(&url, index, depth) {
                        return Some(Err(fault));
                    }
                }
                Err(reason) => return Some(Err(Fault { url, reason })),
            }
        }
    }
}

/// The longest list that is read, uncompressed.
const LONGEST: u64 = 64 << 20;
/// An index names lists and no indexes, says the protocol; some nest them nevertheless.
const DEEPEST: usize = 5;
const MOST_LISTS: usize = 50_000;
