//! Sources on other machines and in stores: fetched first, then imported as if they had always been here.

use std::path::{Path, PathBuf};

use anyhow::Context;
use harvester::Stop;
use remote::{Address, FetchEvent, Limits, Options};

use super::stored::{self, StoredSource};
use crate::import::Location;
use crate::import::events::{FetchProgress, ImportEvent};
use crate::import::order::ImportOrder;

/// Fetches what an order names by address, and gives it the paths of what came. Without any it stays as it is.
///
/// `data` is the data directory: what is fetched lies in `fetched` below it, so that it comes but once.
pub fn fetch_sources(
    data: &Path,
    order: &ImportOrder,
    stop: &Stop,
    tell: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> anyhow::Result<ImportOrder> {
    let mut order = order.clone();
    let fetching = Fetching {
        base: data.join("fetched"),
        order: &order.clone(),
        stop,
        tell,
    };
    for path in &mut order.paths {
        if let Some(source) = fetching.source(path)? {
            *path = source.path.clone();
            order.fetched.push(source);
        }
    }
    for path in [&mut order.log, &mut order.root].into_iter().flatten() {
        if let Some(source) = fetching.source(path)? {
            *path = source.path.clone();
            order.fetched.push(source);
        }
    }
    Ok(order)
}

/// Something that came from another machine.
#[derive(Debug, Clone)]
pub struct FetchedSource {
    /// Where it lies now.
    pub(in crate::import) path: PathBuf,
    /// The URL that it has there.
    pub(in crate::import) base_url: String,
    /// The sources that could not be fetched, and why.
    pub(in crate::import) refused: Vec<(PathBuf, String)>,
}

struct Fetching<'a> {
    base: PathBuf,
    order: &'a ImportOrder,
    stop: &'a Stop,
    tell: &'a (dyn Fn(ImportEvent<'_>) + Sync),
}

impl Fetching<'_> {
    fn source(&self, path: &Path) -> anyhow::Result<Option<FetchedSource>> {
        if StoredSource::is_meant(path) {
            let fetched = stored::fetch(path, &self.base, self.stop, self.tell);
            let fetched = fetched.with_context(|| "a source in a store cannot be fetched")?;
            return Ok(Some(fetched));
        }
        let Some(address) = address(path)? else {
            return Ok(None);
        };
        let fetched = remote::fetch(
            &address,
            &self.base,
            &Options {
                access: &self.order.access,
                admits: &|name, address| self.order.allow.admits(name, address),
                stop: &|| self.stop.is_set(),
                tell: &|news| self.tell(&news),
                limits: Limits::default(),
            },
        );
        let fetched =
            fetched.with_context(|| format!("`{}` cannot be fetched", address.base_url(false)))?;
        let url = |path: String| PathBuf::from(format!("{}:{path}", address.host()));
        let refused = fetched.refused.into_iter();
        let mut refused: Vec<_> = refused.map(|(path, why)| (url(path), why)).collect();
        if fetched.more_refused > 0 {
            let why = format!("{} more could not be obtained", fetched.more_refused);
            refused.push((url(String::new()), why));
        }
        Ok(Some(FetchedSource {
            path: fetched.path,
            base_url: address.base_url(fetched.is_directory),
            refused,
        }))
    }

    fn tell(&self, news: &FetchEvent<'_>) {
        match *news {
            FetchEvent::Note(note) => (self.tell)(ImportEvent::Note(note)),
            FetchEvent::Progress { file, done, total } => {
                (self.tell)(ImportEvent::Fetching(FetchProgress { file, done, total }));
            }
        }
    }
}

/// Whether a path is none, but the address of something that is fetched. One that is written wrong is an error.
pub fn is_remote(path: &Path) -> anyhow::Result<bool> {
    if StoredSource::is_meant(path) {
        Location::given(path.to_str().unwrap_or_default())?;
        return Ok(true);
    }
    Ok(address(path)?.is_some())
}

/// The address that a path is, if it is one.
fn address(path: &Path) -> anyhow::Result<Option<Address>> {
    match path.to_str().filter(|_| Address::is_meant(path)) {
        Some(text) => Ok(Some(Address::parse(text)?)),
        None => Ok(None),
    }
}
