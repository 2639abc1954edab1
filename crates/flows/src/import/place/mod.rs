//! Where the documents of the holdings lie: in DIR/documents, or where the first import was told to put them.

#[cfg(not(feature = "s3"))]
pub(crate) mod no_bucket;

use std::io;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, bail};
#[cfg(feature = "s3")]
use bucket::Bucket;
#[cfg(feature = "s3")]
pub(crate) use bucket::Location;
use store::{Collection, Durability, Objects};

#[cfg(not(feature = "s3"))]
use self::no_bucket::Bucket;
#[cfg(not(feature = "s3"))]
pub(crate) use self::no_bucket::Location;
use crate::{Failure, Holdings};

/// Opens the collection for an import that is told to put documents at a place, or nothing of it.
pub(super) fn for_import(
    holdings: &Holdings,
    wanted: Option<&str>,
    durability: Durability,
) -> anyhow::Result<Collection> {
    let held = holdings.wait(holdings.catalog().collection_place())?;
    let wanted = wanted.map(|place| named(holdings, place)).transpose()?;
    let place = match wanted.or(held) {
        Some(place) => place,
        None => usual(holdings)?,
    };
    let settled = holdings.wait(holdings.catalog().settle_place(&place))?;
    let (lie, wanted) = (directory(holdings, &settled), directory(holdings, &place));
    if settled != place && !is_same(&lie, &wanted) {
        bail!(
            "the documents of this catalog lie in `{}`, not in `{}`; leave import.collection out, or use another catalog",
            lie.display(),
            wanted.display()
        );
    }
    if settled.is_empty() {
        holdings.check_place()?;
    }
    // A store may have moved: the way that is named now counts.
    let collection = match Location::is_meant(&place) {
        true => open(holdings, &place, durability)?,
        false => open(holdings, &settled, durability)?,
    };
    let (greatest, next) = numbers(holdings, &collection)?;
    if greatest.is_some() && holdings.wait(holdings.catalog().is_behind())? {
        bail!(
            "the catalog is older than the collection in `{}`, and its repair has not come to its end; garner verify --repair takes in what is there",
            collection.absolute("").display()
        );
    }
    if let Some(greatest) = greatest.filter(|greatest| *greatest >= next) {
        bail!(
            "document {greatest} lies in `{}`, and the catalog knows numbers below {next} only: it is older than the collection; garner verify --repair takes in what is there",
            collection.absolute("").display()
        );
    }
    Ok(collection)
}

/// Whether documents lie in the collection under numbers that the catalog has not given out.
pub(super) fn is_ahead(holdings: &Holdings, collection: &Collection) -> anyhow::Result<bool> {
    let (greatest, next) = numbers(holdings, collection)?;
    Ok(greatest.is_some_and(|greatest| greatest >= next))
}

/// The greatest number of the collection, and the next one of the catalog.
fn numbers(holdings: &Holdings, collection: &Collection) -> anyhow::Result<(Option<i64>, i64)> {
    let greatest = collection.greatest_number()?;
    Ok((greatest, holdings.wait(holdings.catalog().next_number())?))
}

/// Where documents go if nobody says so: into the store of records, if there is one.
fn usual(holdings: &Holdings) -> anyhow::Result<String> {
    let store = holdings
        .wait(holdings.catalog().default_record_store())?
        .store;
    Ok(match store.is_empty() {
        true => store,
        false => Location::given(&store)?.below("documents").whole(),
    })
}

/// Opens the collection as it is.
pub(crate) fn of_holdings(holdings: &Holdings) -> anyhow::Result<Collection> {
    let place = holdings.wait(holdings.catalog().collection_place())?;
    open(holdings, &place.unwrap_or_default(), Durability::Page)
}

/// The store that a text names; none if it names a directory.
pub(crate) fn objects(place: &str) -> anyhow::Result<Option<Box<dyn Objects>>> {
    if !Location::is_meant(place) {
        return Ok(None);
    }
    let location = Location::parse(place)?;
    let shown = location.shown();
    let bucket = Bucket::open(location).with_context(|| format!("`{shown}` cannot be reached"));
    let bucket = bucket.map_err(of_store)?;
    #[cfg(feature = "s3")]
    let bucket: Box<dyn Objects> = Box::new(bucket);
    Ok(Some(bucket))
}

/// An error of a store, with its code and a remedy if the store may answer later.
pub(crate) fn of_store(error: anyhow::Error) -> anyhow::Error {
    let is_away = |cause: &(dyn std::error::Error + 'static)| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
    };
    if !error.chain().any(is_away) {
        return error;
    }
    let said = crate::message(&error);
    let message = format!("{said}; the store is away or busy: give the command again later");
    Failure::new(Failure::STORE_AWAY, message).into()
}

/// Whether a place, as the catalog keeps it, is a store and no directory.
pub(crate) fn is_store(place: &str) -> bool {
    Location::is_meant(place)
}

/// Where the documents of the holdings lie.
pub fn documents_directory(holdings: &Holdings) -> anyhow::Result<PathBuf> {
    let place = holdings.wait(holdings.catalog().collection_place())?;
    Ok(directory(holdings, &place.unwrap_or_default()))
}

/// A directory that is not there has lost its documents, or its disk: nothing is made in its place.
fn open(holdings: &Holdings, place: &str, durability: Durability) -> anyhow::Result<Collection> {
    if Location::is_meant(place) {
        let location = Location::parse(place)?;
        let path = PathBuf::from(location.shown());
        let bucket = Bucket::open(location).map_err(|source| store::Error::Io {
            action: "reached",
            path,
            source,
        });
        let bucket = bucket.context("the collection cannot be reached")?;
        #[cfg(feature = "s3")]
        let bucket = Box::new(bucket);
        let spool = holdings.directory().join("spool");
        return Ok(Collection::of_objects(bucket, &spool)?);
    }
    let directory = &directory(holdings, place);
    let has_contents = || holdings.wait(holdings.catalog().contents_from(0, 1));
    if !directory.exists() && !has_contents()?.is_empty() {
        let message = format!(
            "the collection `{}` is not there; is a disk not mounted?",
            directory.display()
        );
        bail!(Failure::new(Failure::STORE_AWAY, message));
    }
    Ok(Collection::open(directory, durability)?)
}

/// A place as the catalog keeps it.
fn named(holdings: &Holdings, place: &str) -> anyhow::Result<String> {
    if Location::is_meant(place) {
        // The environment may say otherwise tomorrow.
        return Ok(Location::given(place)?.whole());
    }
    if place.contains("://") {
        bail!("documents cannot go to `{place}`; name a directory or s3://BUCKET/PREFIX");
    }
    let path = absolute(place).with_context(|| format!("`{place}` is no directory"))?;
    // The data directory can be moved with all that is in it.
    if path == absolute(directory(holdings, ""))? {
        return Ok(String::new());
    }
    match path.into_os_string().into_string() {
        Ok(path) => Ok(path),
        Err(_) => {
            bail!("`{place}` cannot be kept as text; name another directory as import.collection")
        }
    }
}

/// Whether two names are those of one directory, or of one bucket.
fn is_same(one: &Path, other: &Path) -> bool {
    if one == other {
        return true;
    }
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|path| real(other) == Some(path))
}

fn directory(holdings: &Holdings, place: &str) -> PathBuf {
    match place {
        "" => holdings.directory().join("documents"),
        place if Location::is_meant(place) => match Location::given(place) {
            Ok(location) => PathBuf::from(location.shown()),
            Err(_) => PathBuf::from(place),
        },
        place => PathBuf::from(place),
    }
}
