//! Unpacked harvests as a source: the catalog knows which resource each record speaks of, and the mirror has its
//! bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use catalog::{HistoryQuery, RecordEntry, RecordQuery, Repository};
use crawl::{LogFormat, Roots};
use harvester::unpack;
use oai::Datestamp;
use serde::Deserialize;
use store::{Durability, Mirror};
use tempfile::NamedTempFile;

use crate::Holdings;
use crate::harvest::is_url;

/// The resources that the harvests of a data directory left.
#[derive(Debug, Default)]
pub(in crate::import) struct Harvested {
    /// By the directory of each mirror, the list of what is in it.
    pub(in crate::import) mirrors: Vec<(PathBuf, NamedTempFile)>,
    /// Directories of WARC files.
    pub(in crate::import) warcs: BTreeSet<PathBuf>,
}

/// The places that a harvest was told.
#[derive(Debug, Deserialize)]
struct Places {
    unpack: Option<PathBuf>,
    warc: Option<PathBuf>,
}

/// Whether a directory is one that harvests write to.
pub(in crate::import) fn is_data_directory(directory: &Path) -> bool {
    directory.join("catalog.sqlite").is_file()
}

impl Harvested {
    /// Looks at what was harvested into a data directory. Its catalog may name any place, of which `roots` decide.
    pub(in crate::import) fn look(data: &Path, roots: &Roots) -> anyhow::Result<Self> {
        let holdings = Holdings::open(data, None)?;
        let mut harvested = Self::default();
        let (mirrors, warcs) = written(&holdings, data, roots)?;
        harvested.warcs = warcs;
        for (mirror, harvests) in mirrors {
            let list = list(&holdings, &mirror, &harvests, roots)?;
            harvested.mirrors.push((mirror, list));
        }
        Ok(harvested)
    }

    /// Gives the URLs of resources that were deleted, according to the harvests of a data directory, and that no mirror has
    /// any more. They come in parts.
    pub(in crate::import) fn each_deleted(
        data: &Path,
        roots: &Roots,
        take: &mut dyn FnMut(&[String]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let holdings = Holdings::open(data, None)?;
        let catalog = holdings.catalog();
        let (mirrors, _) = written(&holdings, data, roots)?;
        for (directory, harvests) in &mirrors {
            for (repository, metadata_prefix) in harvests {
                let Some(repository) = holdings.wait(catalog.repository(*repository))? else {
                    continue;
                };
                let mirror = Mirror::open(directory, Some(&repository.base_url), Durability::None)?;
                each_page(&holdings, &repository, metadata_prefix, true, |records| {
                    let urls = records.iter().map(|record| record.identifier.clone());
                    let is_gone =
                        |url: &String| is_url(url) && matches!(mirror.find(url), Ok(None));
                    take(&urls.filter(is_gone).collect::<Vec<_>>())
                })?;
            }
        }
        Ok(())
    }
}

/// Hands over the records of a repository in a format, live or deleted, page by page.
fn each_page(
    holdings: &Holdings,
    repository: &Repository,
    metadata_prefix: &str,
    deleted: bool,
    mut take: impl FnMut(&[RecordEntry]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut query = RecordQuery {
        repository: Some(repository.id),
        metadata_prefix: Some(metadata_prefix.to_owned()),
        deleted: Some(deleted),
        ..RecordQuery::default()
    };
    loop {
        let records = holdings.wait(holdings.catalog().records(&query))?;
        let Some(last) = records.last() else {
            return Ok(());
        };
        query.after = last.id;
        take(&records)?;
    }
}

/// The mirrors that harvests wrote, each with its repositories and formats, and the directories of WARC files.
type Written = (
    BTreeMap<PathBuf, BTreeSet<(i64, String)>>,
    BTreeSet<PathBuf>,
);

/// Finds what the harvests of a data directory wrote.
fn written(holdings: &Holdings, data: &Path, roots: &Roots) -> anyhow::Result<Written> {
    let (mut mirrors, mut warcs) = Written::default();
    let mut query = HistoryQuery::default();
    loop {
        let entries = holdings.wait(holdings.catalog().history(&query))?;
        let Some(last) = entries.last() else {
            break;
        };
        query.before = Some(last.id);
        for entry in &entries {
            let Ok(places) = serde_json::from_str::<Places>(&entry.parameters) else {
                continue;
            };
            if let Some(mirror) = places.unpack.and_then(|place| found(data, place, roots)) {
                let of = (entry.repository, entry.metadata_prefix.clone());
                mirrors.entry(mirror).or_default().insert(of);
            }
            warcs.extend(places.warc.and_then(|place| found(data, place, roots)));
        }
    }
    Ok((mirrors, warcs))
}

/// The format of the lists.
pub(in crate::import) fn format() -> anyhow::Result<LogFormat> {
    Ok(LogFormat::parse(
        "columns = ['date', 'media_type', 'url', 'file']\nseparator = 'tab'\ncomment = ''\nnone = '\\u0001'\n",
    )?)
}

/// A place that is there. The data directory may have been moved with all that is in it.
fn found(data: &Path, place: PathBuf, roots: &Roots) -> Option<PathBuf> {
    let moved = data.join(place.file_name()?);
    let is_ours = |place: &PathBuf| place.is_dir() && roots.open(place).is_ok();
    let place = [place, moved].into_iter().find(is_ours)?;
    Some(place.canonicalize().unwrap_or(place))
}

/// Lists all resources that records speak of and that are in a mirror: date, media type, URL and path on each line.
fn list(
    holdings: &Holdings,
    directory: &Path,
    harvests: &BTreeSet<(i64, String)>,
    roots: &Roots,
) -> anyhow::Result<NamedTempFile> {
    let file = NamedTempFile::new().context("no temporary file can be made")?;
    let mut out = BufWriter::new(file);
    for (repository, metadata_prefix) in harvests {
        let catalog = holdings.catalog();
        let Some(repository) = holdings.wait(catalog.repository(*repository))? else {
            continue;
        };
        let mirror = Mirror::open(directory, Some(&repository.base_url), Durability::None)?;
        each_page(holdings, &repository, metadata_prefix, false, |records| {
            for record in records.iter().filter(|record| record.is_held()) {
                write_resources(holdings, &repository, record, &mirror, roots, &mut out)?;
            }
            Ok(())
        })?;
    }
    let file = out.into_inner().map_err(|error| error.into_error());
    file.context("the list of resources cannot be written")
}

fn write_resources(
    holdings: &Holdings,
    repository: &Repository,
    record: &RecordEntry,
    mirror: &Mirror,
    roots: &Roots,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let prefix = &record.metadata_prefix;
    let is_open = |file: &str| match holdings.record_path(repository, prefix, file) {
        // A person who may name certain places only must not reach others by a catalog.
        Some(path) if path.starts_with("s3:") => roots.is_everywhere(),
        Some(path) => roots.open(&path).is_ok(),
        None => true,
    };
    let file = record.file.as_deref().filter(|file| is_open(file));
    let xml = file.and_then(|file| holdings.read_record(repository, prefix, file).ok());
    let Some(xml) = xml else {
        return Ok(());
    };
    let date = Datestamp::from_seconds(record.harvested);
    for resource in unpack::resources(&xml).unwrap_or_default() {
        let url = &resource.url;
        if !is_url(url) || url.contains(char::is_control) {
            continue;
        }
        // A resource that could not be obtained is not there, and its harvest has said so.
        let Ok(Some(path)) = mirror.find(url) else {
            continue;
        };
        let media_type = resource.media_type.as_deref().unwrap_or_default();
        let media_type = media_type.replace(char::is_control, " ");
        write!(out, "{date}\t{media_type}\t{url}\t")?;
        out.write_all(path.as_os_str().as_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
