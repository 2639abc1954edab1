//! The resources that records speak of: real files, in a mirror of their site or in WARC files.

use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crawl::warc::{Capture, Position, Settings, Writer};
use harvester::Repository;
use harvester::unpack::{self, Handle, PlaceError, Resource, Spool, Spooled};
use store::{Mirror, NewFile};

use super::{HarvestOrder, digest};
use crate::holdings::plain_name;

/// Where resources go.
pub(super) struct Resources<'a> {
    repository: &'a Repository,
    bodies: Bodies,
    warc: Option<Writer>,
    /// The directory of the WARC files.
    warcs: Option<PathBuf>,
}

/// Where bytes wait until they get their place: in the file system of the mirror, or in memory as long as they are few.
#[derive(Debug, Clone)]
pub(super) struct Bodies {
    mirror: Option<Arc<Mirror>>,
    limit: u64,
}

/// Why a resource is missing.
#[derive(Debug)]
pub(super) enum Missing {
    /// It cannot be had; the harvest goes on without it.
    Lost(String),
    /// It cannot be kept, and neither can others: a disk that is full.
    Fatal(anyhow::Error),
}

impl<'a> Resources<'a> {
    /// Opens the places that are asked for, if any are. `committed` is how far WARC files are safe.
    pub(super) fn open(
        order: &HarvestOrder,
        repository: &'a Repository,
        committed: Option<&Position>,
    ) -> anyhow::Result<Option<Self>> {
        if order.unpack.is_none() && order.warc.is_none() {
            return Ok(None);
        }
        let base_url = repository.base_url();
        let mirror =
            |directory| Mirror::open(directory, Some(&base_url), order.durability()).map(Arc::new);
        let settings = || Settings {
            prefix: warc_prefix(order, &base_url),
            info: vec![
                ("isPartOf".to_owned(), base_url.clone()),
                (
                    "description".to_owned(),
                    format!("harvested from {base_url} over OAI-PMH"),
                ),
            ],
            ..Settings::default()
        };
        let warc = |directory: &Path| Writer::open(directory, settings(), committed);
        Ok(Some(Self {
            repository,
            bodies: Bodies::new(
                order.unpack.as_deref().map(mirror).transpose()?,
                order.longest_resource(),
            ),
            warc: order.warc.as_deref().map(warc).transpose()?,
            warcs: order.warc.clone(),
        }))
    }

    /// Keeps one resource: its bytes from the record, or from where the record says they are. The former may have been
    /// written already.
    pub(super) fn keep(
        &mut self,
        resource: &Resource<'_>,
        body: Option<Result<Handle, Missing>>,
    ) -> Result<(), Missing> {
        if !is_url(&resource.url) {
            let reason = format!("`{}` is not a URL, so it has no place", resource.url);
            return Err(Missing::Lost(reason));
        }
        let by_value = match body.or_else(|| self.bodies.of_value(resource)) {
            Some(body) => body.and_then(|body| self.keep_value(resource, body)),
            None => Err(Missing::Lost("it is not in the record".to_owned())),
        };
        match (by_value, &resource.reference) {
            (Err(Missing::Lost(_)), Some(reference)) => self.keep_reference(resource, reference),
            (kept, _) => kept,
        }
    }

    /// Removes what a URL had in the mirror. WARC files are never taken back.
    pub(super) fn remove(&self, url: &str) -> anyhow::Result<()> {
        if let Some(mirror) = self.bodies.mirror.as_ref().filter(|_| is_url(url)) {
            mirror.remove(url)?;
        }
        Ok(())
    }

    /// The mirror, for whoever syncs it.
    pub(super) fn mirror(&self) -> Option<Arc<Mirror>> {
        self.bodies.mirror.clone()
    }

    /// For whoever writes bytes before they get their place.
    pub(super) fn bodies(&self) -> Bodies {
        self.bodies.clone()
    }

    /// Waits until all captures are safe on the disk; returns how far the WARC files are.
    pub(super) fn end_captures(&mut self) -> anyhow::Result<Option<Position>> {
        match &mut self.warc {
            Some(warc) => Ok(warc.checkpoint()?),
            None => Ok(None),
        }
    }

    /// Gives the last WARC file its name, and each file its index.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        if let Some(warc) = self.warc {
            warc.finish()?;
        }
        if let Some(directory) = &self.warcs {
            index_new(directory)?;
        }
        Ok(())
    }

    fn keep_value(&mut self, resource: &Resource<'_>, body: Handle) -> Result<(), Missing> {
        let http = resource.http.as_ref();
        let http = http.map(|http| (http.status, http.fields.as_slice()));
        self.place(body, resource, http)
    }

    /// Gets a resource, again if it breaks off.
    fn keep_reference(&mut self, resource: &Resource<'_>, reference: &str) -> Result<(), Missing> {
        let mut attempt = 1;
        loop {
            match self.fetch(resource, reference) {
                Err(Broken::Off(_)) if attempt < ATTEMPTS => {
                    let options = self.repository.client().options();
                    options
                        .pace
                        .sleep(options.first_wait * attempt, &options.stop);
                    attempt += 1;
                }
                Err(Broken::Off(reason)) => return Err(Missing::Lost(reason)),
                Err(Broken::Finally(missing)) => return Err(missing),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn fetch(&mut self, resource: &Resource<'_>, reference: &str) -> Result<(), Broken> {
        let lost = |reason: String| Broken::Finally(Missing::Lost(reason));
        let mut download = match self.repository.download(reference) {
            Ok(download) => download,
            Err(error) if *error.kind() == harvester::ErrorKind::Stopped => {
                return Err(Broken::Finally(Missing::Fatal(error.into())));
            }
            Err(error) => return Err(lost(error.to_string())),
        };
        let mut body = self.bodies.empty()?;
        let mut checked = resource.checked(&mut body);
        let mut block = vec![0; BLOCK];
        let mut left = self.bodies.limit;
        loop {
            let length = match download.read(&mut block) {
                Ok(0) => break,
                Ok(length) => length,
                Err(_) if self.is_stopped() => {
                    let stopped = harvester::Error::new(harvester::ErrorKind::Stopped);
                    return Err(Broken::Finally(Missing::Fatal(stopped.into())));
                }
                Err(error) => return Err(Broken::Off(format!("{reference} breaks off: {error}"))),
            };
            left = left.checked_sub(length as u64).ok_or_else(|| {
                lost(format!(
                    "{reference} is longer than {} bytes",
                    self.bodies.limit
                ))
            })?;
            checked.write_all(&block[..length]).map_err(unwritable)?;
        }
        checked.finish().map_err(|error| lost(error.to_string()))?;
        self.place(body, resource, Some((download.status, &download.fields)))?;
        Ok(())
    }

    /// A resource that breaks off because it was asked to is not lost: it is asked for again when the harvest resumes.
    fn is_stopped(&self) -> bool {
        self.repository.client().options().stop.is_set()
    }

    /// Puts the bytes where they belong.
    fn place(
        &mut self,
        mut body: Handle,
        resource: &Resource<'_>,
        http: Option<(u16, &[(String, String)])>,
    ) -> Result<(), Missing> {
        if let Some(warc) = &mut self.warc {
            let capture = Capture {
                url: &resource.url,
                captured_at: SystemTime::now(),
                media_type: resource.media_type.as_deref(),
                http,
            };
            body.rewind()
                .map_err(|error| Missing::Fatal(error.into()))?;
            warc.write(&capture, &mut body)
                .map_err(|error| Missing::Fatal(error.into()))?;
        }
        let modified = resource.modified.or_else(|| last_modified(http));
        Ok(body.place(&resource.url, modified)?)
    }
}

/// Writes an index beside each WARC file that has none: those of a harvest that was killed are among them.
fn index_new(directory: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        let has_none = || !Path::new(&format!("{name}.cdxj")).exists();
        if name.ends_with(".warc.gz") && has_none() {
            crate::index_beside(&path)?;
        }
    }
    Ok(())
}

impl Bodies {
    /// Bodies of at most so many bytes each.
    pub(super) fn new(mirror: Option<Arc<Mirror>>, limit: u64) -> Self {
        Self { mirror, limit }
    }

    /// Whether none of them is held in memory.
    pub(super) fn are_files(&self) -> bool {
        self.mirror.is_some()
    }

    /// The bytes that a record has of a resource, written and found to be right. None if it has none.
    pub(super) fn of_value(&self, resource: &Resource<'_>) -> Option<Result<Handle, Missing>> {
        resource.value.as_ref()?;
        Some(self.empty().and_then(|mut body| {
            resource.copy_to(&mut body, self.limit)?;
            Ok(body)
        }))
    }

    fn empty(&self) -> Result<Handle, Missing> {
        let Some(mirror) = &self.mirror else {
            let memory = tempfile::SpooledTempFile::new(SPOOLED);
            return Ok(Box::new(Passing(memory)));
        };
        let file = mirror.create();
        let file = file.map_err(|error| Missing::Fatal(error.into()))?;
        let mirror = Arc::clone(mirror);
        Ok(Box::new(Mirrored { file, mirror }))
    }
}

impl Spool for Bodies {
    fn create(&self) -> io::Result<Handle> {
        self.empty().map_err(|missing| match missing {
            Missing::Lost(reason) => io::Error::other(reason),
            Missing::Fatal(error) => io::Error::other(error),
        })
    }

    fn limit(&self) -> u64 {
        self.limit
    }
}

impl From<PlaceError> for Missing {
    fn from(error: PlaceError) -> Self {
        match error {
            PlaceError::Refused(reason) => Self::Lost(reason),
            PlaceError::Failed(error) => Self::Fatal(anyhow::Error::from_boxed(error)),
        }
    }
}

impl From<unpack::Error> for Missing {
    fn from(error: unpack::Error) -> Self {
        match error {
            unpack::Error::Output { .. } => Self::Fatal(error.into()),
            error => Self::Lost(error.to_string()),
        }
    }
}

/// The prefix of the names of WARC files: each harvest finds its own again, and no other's. The writer takes a hyphen for
/// the end.
fn warc_prefix(order: &HarvestOrder, base_url: &str) -> String {
    let place = base_url
        .split_once("://")
        .map_or(base_url, |(_, place)| place);
    let mut name = place.trim_end_matches('/').to_owned();
    if order.metadata_prefix != "oai_didl" {
        name.push_str(&format!("_{}", order.metadata_prefix));
    }
    if let Some(set) = &order.set {
        name.push_str(&format!("_{set}"));
    }
    let own = digest::of_bytes(name.as_bytes());
    format!("{}_{}", plain_name(&name).replace('-', "_"), &own[..8])
}

/// Bytes in the file system of the mirror, which get a name in it.
struct Mirrored {
    file: NewFile,
    mirror: Arc<Mirror>,
}

/// Bytes that only pass through to a WARC file, in memory as long as they are few.
struct Passing(tempfile::SpooledTempFile);

impl Spooled for Mirrored {
    fn place(self: Box<Self>, url: &str, modified: Option<SystemTime>) -> Result<(), PlaceError> {
        match self.mirror.place(self.file, url, modified) {
            Ok(_) => Ok(()),
            Err(error @ (store::Error::NotAUrl { .. } | store::Error::InTheWay { .. })) => {
                Err(PlaceError::Refused(error.to_string()))
            }
            Err(error) => Err(PlaceError::Failed(error.into())),
        }
    }
}

impl Spooled for Passing {
    fn place(self: Box<Self>, _: &str, _: Option<SystemTime>) -> Result<(), PlaceError> {
        Ok(())
    }
}

/// Why a download did not come to its end.
enum Broken {
    /// Another attempt may help.
    Off(String),
    Finally(Missing),
}

impl From<Missing> for Broken {
    fn from(missing: Missing) -> Self {
        Self::Finally(missing)
    }
}

impl Write for Mirrored {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for Mirrored {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.file().read(bytes)
    }
}

impl Seek for Mirrored {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.file().seek(to)
    }
}

impl Write for Passing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Read for Passing {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Seek for Passing {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

fn unwritable(error: io::Error) -> Broken {
    Broken::Finally(Missing::Fatal(
        anyhow::Error::from(error).context("a resource cannot be written"),
    ))
}

fn last_modified(http: Option<(u16, &[(String, String)])>) -> Option<SystemTime> {
    let (_, fields) = http?;
    let mut fields = fields.iter();
    let (_, date) = fields.find(|(name, _)| name.eq_ignore_ascii_case("last-modified"))?;
    httpdate::parse_http_date(date).ok()
}

pub(crate) fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    })
}

const ATTEMPTS: u32 = 3;
const BLOCK: usize = 64 * 1024;
/// Up to here bytes wait in memory.
const SPOOLED: usize = 4 << 20;
