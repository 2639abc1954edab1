//! The forms that retrieved documents are written in: a directory, an archive, or lines about them alone.

use std::fs::{File, FileTimes};
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, SystemTime};

use catalog::DocumentEntry;
use crawl::warc::{Record, RecordKind, Records};
use flate2::{Crc, CrcWriter};
use rustix::fs::{Mode, OFlags};
use sha1::{Digest, Sha1};
use store::Collection;

use super::part::Part;
use super::tar::Tar;
use super::zip::Zip;
use super::{Copied, Format, Lines};

/// A file with its digests, to be written into an archive.
pub(super) struct Body<'a> {
    pub(super) bytes: &'a mut dyn BufRead,
    pub(super) length: u64,
    pub(super) crc: u32,
    pub(super) sha1: [u8; 20],
}

/// The text of a document.
#[derive(Clone, Copy)]
pub(super) enum Text<'a> {
    /// It has none, or none is wanted.
    None,
    There(&'a str),
    /// It has one, and why that is not here.
    Missing(&'static str),
}

/// The archive that is being written.
pub(super) struct Archive<'a> {
    form: Form,
    lines: &'a dyn Lines,
    /// The lines about all documents, which come last into an archive.
    spool: BufWriter<CrcWriter<File>>,
    length: u64,
    /// When the youngest document was crawled.
    newest: i64,
}

enum Form {
    Directory(OwnedFd),
    Tar(Tar<Out>),
    Zip(Zip<Out>),
    Warc(Records<Out>),
    Lines(Out),
}

type Out = BufWriter<File>;

impl<'a> Archive<'a> {
    pub(super) fn begin(part: &Part, format: Format, lines: &'a dyn Lines) -> io::Result<Self> {
        let out = || Ok::<_, io::Error>(BufWriter::with_capacity(BUFFER, part.file()?));
        let form = match format {
            Format::Directory => Form::Directory(part.directory()?),
            Format::Tar => Form::Tar(Tar::new(out()?)),
            Format::Zip => Form::Zip(Zip::new(out()?)),
            Format::Warc => Form::Warc(Records::new(out()?, part.is_compressed())),
            Format::Csv | Format::Jsonl => Form::Lines(out()?),
        };
        // Beside the archive, where there is room: the directory for temporary files may be in memory.
        let spool = tempfile::tempfile_in(part.beside())?;
        let mut archive = Self {
            form,
            lines,
            spool: BufWriter::new(CrcWriter::new(spool)),
            length: 0,
            newest: 0,
        };
        archive.tell(&lines.head())?;
        Ok(archive)
    }

    /// Adds a document, whose bytes are `body`, and its text.
    pub(super) fn add(
        &mut self,
        entry: &DocumentEntry,
        body: Option<Body<'_>>,
        text: Text<'_>,
    ) -> io::Result<()> {
        let (text, text_problem) = match text {
            Text::None => (None, None),
            Text::There(text) => (Some(text), None),
            Text::Missing(problem) => (None, Some(problem)),
        };
        let file = Collection::relative_path(entry.id, &entry.extension);
        let text_file = Collection::text_path(entry.id);
        self.newest = self.newest.max(entry.crawl_date);
        let mut copied = Copied {
            text_problem,
            ..Copied::default()
        };
        if let Form::Lines(_) = self.form {
            copied.text = text;
            return self.tell(&self.lines.line(entry, &copied));
        }
        let Some(body) = body else { return Ok(()) };
        if let Form::Warc(records) = &mut self.form {
            let line = self.lines.line(entry, &copied);
            return warc(records, entry, body, text, &line);
        }
        self.file(&file, entry.crawl_date, body)?;
        copied.file = Some(&file);
        // The text of a text document is the document.
        if let Some(text) = text.filter(|_| entry.extension != "txt") {
            let mut crc = Crc::new();
            crc.update(text.as_bytes());
            let body = Body {
                bytes: &mut text.as_bytes(),
                length: text.len() as u64,
                crc: crc.sum(),
                sha1: [0; 20],
            };
            self.file(&text_file, entry.crawl_date, body)?;
            copied.text_file = Some(&text_file);
        }
        self.tell(&self.lines.line(entry, &copied))
    }

    /// Names a document whose file cannot be had.
    pub(super) fn lose(&mut self, entry: &DocumentEntry, problem: &str) -> io::Result<()> {
        let copied = Copied {
            problem: Some(problem),
            ..Copied::default()
        };
        let line = self.lines.line(entry, &copied);
        match &mut self.form {
            Form::Warc(records) => facts(records, entry, None, &line).map(drop),
            _ => self.tell(&line),
        }
    }

    /// Ends the archive with the lines about all documents.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let spool = self
            .spool
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        let (crc, mut spool) = (spool.crc().sum(), spool.into_inner());
        spool.seek(SeekFrom::Start(0))?;
        let mut spool = BufReader::with_capacity(BUFFER, spool);
        let (length, newest) = (self.length, self.newest);
        let mut out = match self.form {
            Form::Directory(base) => {
                return place(&base, LINES, newest, length, &mut spool);
            }
            Form::Tar(mut tar) => {
                tar.file(LINES, newest, length, &mut spool)?;
                tar.finish()?
            }
            Form::Zip(mut zip) => {
                zip.file(LINES, newest, length, crc, &mut spool)?;
                zip.finish()?
            }
            Form::Warc(records) => records.into_inner(),
            Form::Lines(out) => out,
        };
        out.flush()?;
        self.length = 0;
        Ok(())
    }

    fn file(&mut self, name: &str, modified: i64, body: Body<'_>) -> io::Result<()> {
        let Body {
            bytes, length, crc, ..
        } = body;
        match &mut self.form {
            Form::Directory(base) => place(base, name, modified, length, bytes),
            Form::Tar(tar) => tar.file(name, modified, length, bytes),
            Form::Zip(zip) => zip.file(name, modified, length, crc, bytes),
            Form::Warc(_) | Form::Lines(_) => Ok(()),
        }
    }

    fn tell(&mut self, line: &str) -> io::Result<()> {
        self.length += line.len() as u64;
        match &mut self.form {
            Form::Lines(out) => out.write_all(line.as_bytes()),
            Form::Warc(_) => Ok(()),
            _ => self.spool.write_all(line.as_bytes()),
        }
    }
}

/// A document as a record, its text as another form of it, and what is known of it.
fn warc(
    records: &mut Records<Out>,
    entry: &DocumentEntry,
    body: Body<'_>,
    text: Option<&str>,
    line: &str,
) -> io::Result<()> {
    let record = Record {
        kind: RecordKind::Resource,
        url: &entry.url,
        captured_at: moment(entry.crawl_date),
        media_type: &entry.media_type,
        sha1: body.sha1,
        length: body.length,
        refers_to: None,
    };
    let id = records.write(&record, body.bytes)?;
    if let Some(text) = text {
        let conversion = Record {
            kind: RecordKind::Conversion,
            media_type: "text/plain; charset=utf-8",
            sha1: Sha1::digest(text).into(),
            length: text.len() as u64,
            refers_to: Some(&id),
            ..record
        };
        records.write(&conversion, &mut text.as_bytes())?;
    }
    facts(records, entry, Some(&id), line)
}

fn facts(
    records: &mut Records<Out>,
    entry: &DocumentEntry,
    about: Option<&str>,
    line: &str,
) -> io::Result<()> {
    let record = Record {
        kind: RecordKind::Metadata,
        url: &entry.url,
        captured_at: moment(entry.crawl_date),
        media_type: "application/json",
        sha1: Sha1::digest(line).into(),
        length: line.len() as u64,
        refers_to: about,
    };
    records.write(&record, &mut Cursor::new(line)).map(drop)
}

/// Writes a new file below a directory; no link is followed.
fn place(
    base: &OwnedFd,
    name: &str,
    modified: i64,
    length: u64,
    bytes: &mut dyn BufRead,
) -> io::Result<()> {
    let (parent, name) = beneath::open_parent(base, Path::new(name), true)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o666))?;
    let mut file = File::from(file);
    copy(bytes, length, &mut file)?;
    file.set_times(FileTimes::new().set_modified(moment(modified)))
}

/// Copies exactly `length` bytes, in pieces as large as the buffer of `bytes`.
pub(super) fn copy(bytes: &mut dyn BufRead, length: u64, out: &mut impl Write) -> io::Result<()> {
    let mut missing = length;
    while missing > 0 {
        let piece = bytes.fill_buf()?;
        if piece.is_empty() {
            return Err(io::Error::other("a file was cut off while it was copied"));
        }
        let most = usize::try_from(missing).unwrap_or(usize::MAX);
        let read = piece.len().min(most);
        out.write_all(&piece[..read])?;
        bytes.consume(read);
        missing -= read as u64;
    }
    Ok(())
}

fn moment(seconds: i64) -> SystemTime {
    let after = Duration::from_secs(seconds.max(0).unsigned_abs());
    SystemTime::UNIX_EPOCH + after
}

/// The file with a line about each document.
const LINES: &str = "documents.jsonl";
const BUFFER: usize = 1 << 20;
