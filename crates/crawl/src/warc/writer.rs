//! Writes captures as WARC files that other programs read.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha1::{Digest, Sha1};

use super::Error;
use super::digest::{each_block, labelled, record_id};
use super::file::{OPEN, OpenFile, sync_directory};
use super::head::{self, Head};
use super::recovery::{Position, recover};

/// How WARC files are written.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The prefix of the file names.
    pub prefix: String,
    /// A file that has grown so far is the last but one: the next record begins another.
    pub file_size: u64,
    /// The fields of the `warcinfo` record of each file, such as `operator` or `isPartOf`.
    pub info: Vec<(String, String)>,
    /// Tells the time of records that say who wrote a file, and for its name.
    pub clock: fn() -> SystemTime,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prefix: "garner".to_owned(),
            file_size: 1_000_000_000,
            info: Vec::new(),
            clock: SystemTime::now,
        }
    }
}

/// A resource as it was at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Capture<'a> {
    /// The URL.
    pub url: &'a str,
    /// When its bytes were got.
    pub captured_at: SystemTime,
    /// The media type, for captures without headers.
    pub media_type: Option<&'a str>,
    /// The status and the headers that came with the bytes.
    pub http: Option<(u16, &'a [(String, String)])>,
}

/// Writes WARC files into a directory.
///
/// A file ends in `.open` until it is full and its records are committed by `checkpoint`. If the process is
/// killed, the next writer of the same prefix finishes the file with its last whole record, or with the position
/// of the last `checkpoint` if it is told.
///
/// ```
/// use std::io::Cursor;
/// use std::time::SystemTime;
/// use crawl::warc::{Capture, Settings, Writer};
///
/// let directory = tempfile::tempdir()?;
/// let mut writer = Writer::open(directory.path(), Settings::default(), None)?;
/// let capture = Capture {
///     url: "http://www.example.org/",
///     captured_at: SystemTime::now(),
///     media_type: Some("text/plain"),
///     http: None,
/// };
/// writer.write(&capture, &mut Cursor::new(b"hello"))?;
/// let files = writer.finish()?;
/// assert_eq!(files.len(), 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    directory: PathBuf,
    settings: Settings,
    current: Option<OpenFile>,
    /// Files that are full and wait for the next checkpoint.
    full: Vec<OpenFile>,
    finished: Vec<PathBuf>,
    serial: u64,
    /// The same for all files of a writer, so that the order of their names is that of their beginnings.
    begun: String,
}

impl Writer {
    /// Makes the directory if need be, and finishes what a killed writer left there. `committed` is what the
    /// last `checkpoint` returned that was kept.
    pub fn open(
        directory: &Path,
        settings: Settings,
        committed: Option<&Position>,
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(directory)
            .map_err(|error| Error::file("made", directory, error))?;
        let prefix: String = settings.prefix.chars().map(harmless).collect();
        let settings = Settings { prefix, ..settings };
        recover(directory, &settings.prefix, committed)?;
        let begun = head::date_digits((settings.clock)());
        Ok(Self {
            directory: directory.to_owned(),
            settings,
            current: None,
            full: Vec::new(),
            finished: Vec::new(),
            serial: 0,
            begun,
        })
    }

    /// Writes a capture: a `response` record if its headers are known, else a `resource` record. The bytes are
    /// read twice, because the digests stand before them.
    pub fn write(
        &mut self,
        capture: &Capture<'_>,
        body: &mut (impl Read + Seek),
    ) -> Result<(), Error> {
        let unreadable = |source| Error::Body {
            url: capture.url.to_owned(),
            source,
        };
        let start = body.stream_position().map_err(unreadable)?;
        let end = body.seek(SeekFrom::End(0)).map_err(unreadable)?;
        let length = end.saturating_sub(start);
        let http_head = match capture.http {
            Some((status, fields)) => head::response(status, fields, length),
            None => String::new(),
        };
        body.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let mut payload = Sha1::new();
        let mut block = Sha1::new_with_prefix(&http_head);
        each_block(body, |bytes| {
            payload.update(bytes);
            // Without headers the block is the payload.
            if capture.http.is_some() {
                block.update(bytes);
            }
            Ok(())
        })
        .map_err(unreadable)?;
        body.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let payload = labelled(payload);
        let block = match capture.http {
            Some(_) => labelled(block),
            None => payload.clone(),
        };

        let file = self.file()?;
        let id = record_id().map_err(|error| Error::file("written", file.path(), error))?;
        let (warc_type, content_type) = match capture.http {
            Some(_) => ("response", "application/http;msgtype=response"),
            None => ("resource", capture.media_type.unwrap_or(UNKNOWN)),
        };
        let mut head = Head::new(warc_type, &id, capture.captured_at);
        head.field("WARC-Target-URI", &head::target(capture.url));
        head.field("WARC-Warcinfo-ID", &file.info_id);
        head.field("WARC-Payload-Digest", &payload);
        head.field("WARC-Block-Digest", &block);
        head.field("Content-Type", content_type);
        let head = head.finish(http_head.len() as u64 + length);

        let mut broken = None;
        let written = file.record(|out| {
            out.write_all(head.as_bytes())?;
            out.write_all(http_head.as_bytes())?;
            let mut watched = Watched {
                body,
                broken: &mut broken,
            };
            let copied = each_block(&mut watched, |block| out.write_all(block))?;
            if copied != length {
                broken = Some(io::Error::other("they changed while they were written"));
                return Err(io::ErrorKind::InvalidData.into());
            }
            out.write_all(b"\r\n\r\n")
        });
        match (written, broken) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(source)) => Err(unreadable(source)),
            (Err(source), None) => Err(Error::file("written", &self.directory, source)),
        }
    }

    /// Waits until all records are safe on the disk, gives full files their names, and returns how far the
    /// records are. To be called before the catalog commits what it knows of them.
    pub fn checkpoint(&mut self) -> Result<Option<Position>, Error> {
        for file in std::mem::take(&mut self.full) {
            self.finished.push(file.finish()?);
        }
        if let Some(file) = &mut self.current {
            file.sync()?;
            let name = file.path().file_stem().unwrap_or_default();
            return Ok(Some(Position {
                file: name.to_string_lossy().into_owned(),
                length: file.length(),
            }));
        }
        Ok(None)
    }

    /// Finishes the last file and returns all that this writer wrote.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, Error> {
        self.full.extend(self.current.take());
        self.checkpoint()?;
        Ok(self.finished)
    }

    /// The file that takes the next record.
    fn file(&mut self) -> Result<&mut OpenFile, Error> {
        let size = self.settings.file_size;
        self.full
            .extend(self.current.take_if(|file| file.length() >= size));
        let file = match self.current.take() {
            Some(file) => file,
            None => self.begin()?,
        };
        Ok(self.current.insert(file))
    }

    fn begin(&mut self) -> Result<OpenFile, Error> {
        let prefix = &self.settings.prefix;
        let (name, path) = loop {
            let name = format!("{prefix}-{}-{:05}.warc.gz", self.begun, self.serial);
            self.serial += 1;
            let path = self.directory.join(format!("{name}.{OPEN}"));
            // A second writer of the same second.
            if !path.exists() && !self.directory.join(&name).exists() {
                break (name, path);
            }
        };
        let error = |source| Error::file("written", &path, source);
        let id = record_id().map_err(error)?;
        let mut file = OpenFile::create(path.clone(), id.clone())?;

        let block = self.info();
        let mut head = Head::new("warcinfo", &id, (self.settings.clock)());
        head.field("WARC-Filename", &name);
        head.field(
            "WARC-Block-Digest",
            &labelled(Sha1::new_with_prefix(&block)),
        );
        head.field("Content-Type", "application/warc-fields");
        let head = head.finish(block.len() as u64);
        file.record(|out| {
            out.write_all(head.as_bytes())?;
            out.write_all(block.as_bytes())?;
            out.write_all(b"\r\n\r\n")
        })
        .map_err(error)?;
        sync_directory(&self.directory)?;
        Ok(file)
    }

    fn info(&self) -> String {
        let software = concat!("garner/", env!("CARGO_PKG_VERSION"));
        let mut block =
            format!("software: {software}\r\nformat: WARC File Format 1.1\r\n{CONFORMS_TO}");
        for (name, value) in &self.settings.info {
            let plain = |text: &str| text.replace(|c: char| c.is_control(), " ");
            block.push_str(&format!(
                "{}: {}\r\n",
                plain(name).replace(':', " "),
                plain(value)
            ));
        }
        block
    }
}

/// Tells a body that cannot be read from a file that cannot be written.
struct Watched<'a, R> {
    body: &'a mut R,
    broken: &'a mut Option<io::Error>,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.body.read(buffer).map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                *self.broken = Some(error);
            }
            kind.into()
        })
    }
}

/// The prefix is part of a file's name and nothing else.
fn harmless(c: char) -> char {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => c,
        _ => '_',
    }
}

const UNKNOWN: &str = "application/octet-stream";
pub(super) const CONFORMS_TO: &str = "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n";
