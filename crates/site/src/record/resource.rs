//! The resource at the moment its record is written: its headers, and its bytes in one version.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use oai::format::didl::Didl;

use super::Record;
use crate::facts::TOO_YOUNG;
use crate::{DynamicPolicy, Facts, Opened, headers};

/// What is known of the resource at the moment of writing.
pub(super) struct Resource {
    pub(super) media_type: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) size: Option<u64>,
    pub(super) mtime: Option<i64>,
    pub(super) content: Content,
}

/// Where the resource's bytes are.
pub(super) enum Content {
    /// By reference only; with the reason if it is worth a word.
    Reference(Option<String>),
    /// Read already.
    Bytes(Vec<u8>),
    /// To be read while it is written.
    File(File, Facts),
}

impl Record<'_> {
    /// What the resource is like now; for a record with its bytes, if it is to have them.
    pub(super) fn resource(&self, with_bytes: bool) -> Resource {
        let row = &self.item.row;
        if row.dynamic {
            return self.dynamic_resource(with_bytes);
        }
        let media_type = self.media_type();
        let Some(opened) = self.open() else {
            return self.bare_reference();
        };
        let (content, facts) = match with_bytes {
            true => self.content(opened.file, opened.facts, &media_type),
            false => (Content::Reference(None), opened.facts),
        };
        let headers = match &self.item.origin_headers {
            Some(headers) => headers.clone(),
            None => headers::of_file(&facts, &media_type),
        };
        Resource {
            media_type,
            headers,
            size: Some(facts.size),
            mtime: Some(facts.mtime),
            content,
        }
    }

    /// Opens the file as a GET of the same requester would at this moment, whatever it was when it was indexed.
    /// Beside an origin nothing but the file that the origin was asked about will do.
    pub(super) fn open(&self) -> Option<Opened> {
        let row = &self.item.row;
        let opened = self.view.site.open_file(&row.path, &self.view.requester);
        opened
            .ok()
            .filter(|opened| self.view.site.origin.is_none() || opened.facts.mark == row.mark)
    }

    /// Streams a file. If it changes under way the bytes cannot be called back: the answer breaks off, and
    /// for a while the file goes by reference, so that the harvest gets past it.
    pub(super) fn stream<W: Write>(
        &self,
        didl: &mut Didl<'_, W>,
        media_type: &str,
        file: &File,
        facts: &Facts,
    ) -> io::Result<()> {
        let mut reader = WatchedReader { file, broke: false };
        let written = didl.by_value(media_type, &mut reader, facts.size);
        let broke = reader.broke
            || written
                .as_ref()
                .is_err_and(|error| error.kind() == io::ErrorKind::UnexpectedEof);
        if broke || (written.is_ok() && !is_unchanged(file, facts)) {
            self.view.site.note_trouble(self.item.row.id);
            let message = format!(
                "`{}` changed while it was read",
                self.item.header.identifier
            );
            return Err(io::Error::other(message));
        }
        written
    }

    /// What the origin says it is, else what the table says.
    fn media_type(&self) -> String {
        let headers = self.item.origin_headers.as_deref().unwrap_or_default();
        content_type(headers).unwrap_or_else(|| self.indexed_media_type())
    }

    pub(super) fn indexed_media_type(&self) -> String {
        let types = self.view.site.index.media_types();
        let entry = types.get(self.item.row.media_type);
        entry.map_or_else(
            || "application/octet-stream".to_owned(),
            |entry| entry.name.clone(),
        )
    }

    pub(super) fn by_value_limit(&self, media_type: &str) -> u64 {
        self.view.site.config.by_value.limit_of(media_type)
    }

    /// The bytes of a file if they are to be given, with the facts of that very version.
    fn content(&self, mut file: File, facts: Facts, media_type: &str) -> (Content, Facts) {
        if facts.size > self.by_value_limit(media_type) {
            return (Content::Reference(None), facts);
        }
        if self.view.site.is_trouble(self.item.row.id) {
            let reason = "the file changes while it is read; fetch it by its reference";
            return (Content::Reference(Some(reason.to_owned())), facts);
        }
        let read = match facts.size > SMALL {
            true => rested(&file, facts).map(|facts| (Content::File(file, facts), facts)),
            false => {
                read_steadily(&mut file, facts).map(|(bytes, facts)| (Content::Bytes(bytes), facts))
            }
        };
        match read {
            Ok(content) => content,
            Err(error) => {
                tracing::warn!(
                    "`{}` cannot be given by value: {error}",
                    self.item.header.identifier
                );
                let reason = "the file could not be read as a whole; fetch it by its reference";
                (Content::Reference(Some(reason.to_owned())), facts)
            }
        }
    }

    /// The resource by its URL alone: nothing of the file at its place is told, not even its size.
    fn bare_reference(&self) -> Resource {
        Resource {
            media_type: self.media_type(),
            headers: self.item.origin_headers.clone().unwrap_or_else(|| {
                let server = ("Server".to_owned(), headers::SERVER.to_owned());
                vec![server]
            }),
            size: None,
            mtime: None,
            content: Content::Reference(None),
        }
    }

    /// A file that a server runs: nothing of its source is told.
    fn dynamic_resource(&self, with_bytes: bool) -> Resource {
        let site = self.view.site;
        let mut resource = self.bare_reference();
        let (DynamicPolicy::Processed, Some(origin), true) =
            (site.config.offer.dynamic, &site.origin, with_bytes)
        else {
            return resource;
        };
        let limit = LARGEST_PROCESSED.min(self.by_value_limit(&resource.media_type));
        match origin.fetch(&self.view.requester, &self.item.row.path, limit) {
            Ok(fetched) => {
                resource.size = Some(fetched.body.len() as u64);
                resource.media_type = content_type(&fetched.headers).unwrap_or(resource.media_type);
                resource.headers = fetched.headers;
                resource.content = Content::Bytes(fetched.body);
            }
            Err(reason) => {
                tracing::warn!(
                    "`{}` cannot be given by value: {reason}",
                    self.item.header.identifier
                );
                let told =
                    "what the server makes of it could not be taken; fetch it by its reference";
                resource.content = Content::Reference(Some(told.to_owned()));
            }
        }
        resource
    }
}

/// Tells a file that cannot be read from an output that cannot be written.
struct WatchedReader<'a> {
    file: &'a File,
    broke: bool,
}

impl Read for WatchedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.file.read(buffer);
        self.broke |= result
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        result
    }
}

/// Whether a file is still the version that the facts speak of.
pub(super) fn is_unchanged(file: &File, facts: &Facts) -> bool {
    Facts::of_file(file).is_ok_and(|now| now.mark == facts.mark)
}

/// Waits a moment for a file that changed just now: a further change might not show in its times.
fn rested(file: &File, facts: Facts) -> io::Result<Facts> {
    if !facts.is_young() {
        return Ok(facts);
    }
    std::thread::sleep(TOO_YOUNG);
    let now = Facts::of_file(file)?;
    match now.is_young() {
        true => Err(io::Error::other("it is being written")),
        false => Ok(now),
    }
}

/// Reads a small file until two looks at it agree.
fn read_steadily(file: &mut File, mut facts: Facts) -> io::Result<(Vec<u8>, Facts)> {
    for _ in 0..3 {
        facts = rested(file, facts)?;
        let mut bytes = Vec::with_capacity(usize::try_from(facts.size).unwrap_or(0) + 1);
        file.rewind()?;
        file.take(SMALL + 1).read_to_end(&mut bytes)?;
        let now = Facts::of_file(file)?;
        if now.mark == facts.mark && bytes.len() as u64 == facts.size {
            return Ok((bytes, facts));
        }
        facts = now;
    }
    Err(io::Error::other("it changes while it is read"))
}

fn content_type(headers: &[(String, String)]) -> Option<String> {
    let header = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    header.map(|(_, value)| value.clone())
}

/// Smaller files are read whole: then a change while reading can be mended by reading again.
const SMALL: u64 = 256 * 1024;

/// What a file that a server runs may return.
const LARGEST_PROCESSED: u64 = 1024 * 1024;
