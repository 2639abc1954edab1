//! Facts about the repositories that records come from, refreshed every few seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use catalog::Repository;
use flows::Holdings;
use provider::Error;

/// The repositories of the catalog, and those that were removed from it.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) repositories: HashMap<i64, KnownRepository>,
    /// The base URL and the name of those that are gone.
    pub(crate) former: HashMap<i64, (String, Option<String>)>,
    /// Formats that records are held in.
    pub(crate) formats: Vec<catalog::MetadataFormat>,
}

/// A repository that records come from.
#[derive(Debug)]
pub(crate) struct KnownRepository {
    pub(crate) repository: Repository,
    /// The namespaces of its formats, by their prefixes.
    namespaces: Mutex<Option<HashMap<String, String>>>,
}

/// The last that was read.
#[derive(Debug, Default)]
pub(crate) struct Cached(Mutex<Option<(Instant, Arc<Known>)>>);

/// How old it may be.
const FRESH: Duration = Duration::from_secs(5);

impl Cached {
    /// The facts, refreshed if they are old.
    pub(crate) fn read(&self, holdings: &Holdings) -> Result<Arc<Known>, Error> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, known)) = &*cached
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(known));
        }
        let known = Arc::new(Known::read(holdings).map_err(unavailable)?);
        *cached = Some((Instant::now(), Arc::clone(&known)));
        Ok(known)
    }

    /// The facts as of now, for a row that names a repository added since.
    pub(crate) fn renew(&self, holdings: &Holdings) -> Result<Arc<Known>, Error> {
        let known = Arc::new(Known::read(holdings).map_err(unavailable)?);
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *cached = Some((Instant::now(), Arc::clone(&known)));
        Ok(known)
    }
}

impl Known {
    fn read(holdings: &Holdings) -> Result<Self, catalog::Error> {
        let catalog = holdings.catalog();
        let repositories = holdings.wait(catalog.repositories())?;
        let former = holdings.wait(catalog.former_repositories())?;
        let known = |repository: Repository| {
            let id = repository.id;
            let namespaces = Mutex::default();
            (
                id,
                KnownRepository {
                    repository,
                    namespaces,
                },
            )
        };
        Ok(Self {
            repositories: repositories.into_iter().map(known).collect(),
            former: former
                .into_iter()
                .map(|(id, base_url, name)| (id, (base_url, name)))
                .collect(),
            formats: holdings.wait(catalog.all_formats_held())?,
        })
    }

    /// The number of a repository that somebody names by its number or its base URL.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        let by_url = || {
            let present = self.repositories.values().map(|known| &known.repository);
            let present = present.map(|known| (known.id, known.base_url.as_str()));
            let former = self.former.iter().map(|(id, (url, _))| (*id, url.as_str()));
            let mut all = present.chain(former);
            all.find(|(_, url)| url.trim_end_matches('/') == name.trim_end_matches('/'))
        };
        match name.parse() {
            Ok(number) => Some(number),
            Err(_) => by_url().map(|(id, _)| id),
        }
    }
}

impl KnownRepository {
    /// The namespace of a format, as the repository names it.
    pub(crate) fn namespace(&self, holdings: &Holdings, prefix: &str) -> Result<String, Error> {
        let mut namespaces = self
            .namespaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if namespaces.is_none() {
            let formats = holdings.catalog().formats(self.repository.id);
            let formats = holdings.wait(formats).map_err(unavailable)?;
            let pair = |format: catalog::MetadataFormat| (format.metadata_prefix, format.namespace);
            *namespaces = Some(formats.into_iter().map(pair).collect());
        }
        let known = namespaces.as_ref().and_then(|known| known.get(prefix));
        Ok(known.cloned().unwrap_or_default())
    }
}

/// An error of the catalog, for the provider.
pub(crate) fn unavailable(error: impl std::fmt::Display) -> Error {
    Error::Unavailable(error.to_string())
}
