//! The resource at the moment its record is written: its headers, and its bytes in one version.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use oai::format::didl::Didl;

use super::Record;
use crate::facts::TOO_YOUNG;
use crate::{Facts, Opened, headers};

/// What is known of the resource at the moment of writing.
pub(super) struct Resource {
    pub(super) media_type: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) size: Option<u64>,
    pub(super) mtime: Option<i64>,
    /// The mark of the file that all this is about; none if it is not about a file.
    pub(super) mark: Option<i64>,
    pub(super) content: Content,
}

/// Where the resource's bytes are.
pub(super) enum Content {
    /// By reference only.
    Reference {
        /// Why, if it is worth a word.
        reason: Option<String>,
        /// The file that is referred to, if it was opened.
        file: Option<(File, Facts)>,
    },
    /// Read already.
    Bytes(Vec<u8>),
    /// To be read while it is written.
    File(File, Facts),
}

impl Content {
    /// By reference, and no word about it.
    pub(super) const UNSAID: Self = Self::Reference {
        reason: None,
        file: None,
    };

    fn unsaid_of(file: File, facts: Facts) -> Self {
        Self::Reference {
            reason: None,
            file: Some((file, facts)),
        }
    }

    pub(super) fn failed(reason: &str) -> Self {
        Self::Reference {
            reason: Some(reason.to_owned()),
            file: None,
        }
    }
}

/// How much a record is to say; each includes what stands above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Wanted {
    /// Media type, size and date.
    Description,
    /// The headers of a GET.
    Headers,
    /// The bytes, if it is to have them.
    Bytes,
}

impl Record<'_> {
    /// What the resource is like now, as far as the record is to say it.
    pub(super) fn resource(&self, wanted: Wanted) -> Resource {
        if let Some(policy) = self.item.dynamic {
            return self.dynamic_resource(policy, wanted);
        }
        if let Some(origin) = self.view.origin.filter(|origin| origin.fetches_files()) {
            return match wanted {
                Wanted::Description => self.indexed_resource(),
                _ => self.fetched_resource(origin, wanted),
            };
        }
        let media_type = self.media_type();
        let Some(opened) = self.open() else {
            return self.bare_reference();
        };
        let (content, facts) = self.content(opened.file, opened.facts, &media_type, wanted);
        let headers = match self.known_headers() {
            Some(headers) => headers.to_vec(),
            None => headers::of_file(&facts, &media_type),
        };
        Resource {
            content,
            headers,
            ..file_resource(media_type, &facts)
        }
    }

    /// Opens the file as a GET of the same requester would at this moment, whatever it was when it was indexed.
    /// Beside an origin nothing but the file that the origin was asked about will do.
    pub(super) fn open(&self) -> Option<Opened> {
        let row = &self.item.row;
        let opened = self.view.site.open_file(&row.path, &self.view.requester);
        opened
            .ok()
            .filter(|opened| self.view.origin.is_none() || opened.facts.mark == row.mark)
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
    pub(super) fn media_type(&self) -> String {
        let served = self.item.served.as_ref();
        let told = served.and_then(|served| served.media_type.clone());
        told.unwrap_or_else(|| self.indexed_media_type())
    }

    /// The headers of a GET that the origin told without being asked for them.
    pub(super) fn known_headers(&self) -> Option<&[(String, String)]> {
        self.item.served.as_ref()?.headers.as_deref()
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
    pub(super) fn content(
        &self,
        mut file: File,
        facts: Facts,
        media_type: &str,
        wanted: Wanted,
    ) -> (Content, Facts) {
        if wanted < Wanted::Bytes || facts.size > self.by_value_limit(media_type) {
            return (Content::unsaid_of(file, facts), facts);
        }
        if self.view.site.is_trouble(self.item.row.id) {
            let reason = "the file changes while it is read; fetch it by its reference";
            let content = Content::Reference {
                reason: Some(reason.to_owned()),
                file: Some((file, facts)),
            };
            return (content, facts);
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
                (Content::failed(reason), facts)
            }
        }
    }

    /// The resource by its URL alone: nothing of the file at its place is told, not even its size.
    pub(super) fn bare_reference(&self) -> Resource {
        let media_type = self.media_type();
        let headers = match (self.known_headers(), self.view.origin) {
            (Some(headers), _) => headers.to_vec(),
            (None, Some(_)) => vec![("Content-Type".to_owned(), media_type.clone())],
            (None, None) => vec![("Server".to_owned(), headers::SERVER.to_owned())],
        };
        Resource {
            media_type,
            headers,
            size: None,
            mtime: None,
            mark: None,
            content: Content::UNSAID,
        }
    }

    /// A plain file as the index knows it, which is enough for a description.
    fn indexed_resource(&self) -> Resource {
        file_resource(self.media_type(), &self.item.row.facts())
    }
}

/// What the facts say of a file that nothing else is known of.
pub(super) fn file_resource(media_type: String, facts: &Facts) -> Resource {
    Resource {
        media_type,
        headers: Vec::new(),
        size: Some(facts.size),
        mtime: Some(facts.mtime),
        mark: Some(facts.mark),
        content: Content::UNSAID,
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

/// Smaller files are read whole: then a change while reading can be mended by reading again.
const SMALL: u64 = 256 * 1024;
