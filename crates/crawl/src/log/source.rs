//! A log and the directory that its files lie in, as a stream of captures.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::LogFormat;
use super::entry::{Entry, Meaning};
use super::format::PathRule;
use super::lines::{Line, Lines};
use super::mirror::{self, Segment};
use super::ordered::ordered;
use super::root::{Expected, Root};
use super::superseded::{Fate, Superseded};
use crate::{Body, Capture, Ended, Error, Kind, Limits, News, Place, ReadOptions, Skipped};

/// A log with its files.
///
/// Its lines are handed over in their order. A line whose file is not there is a capture whose body cannot be read, with
/// the kind `NotFound`. Of several lines that one file of a mirror was written for, the last has it.
#[derive(Debug)]
pub struct LogSource {
    path: PathBuf,
    root: Root,
    format: Box<LogFormat>,
    length: u64,
}

impl LogSource {
    /// Opens a log. Its files lie below `root`.
    pub fn open(
        log: &Path,
        root: &Path,
        format: LogFormat,
        _limits: &Limits,
    ) -> Result<Self, Error> {
        let file = open_log(log)?;
        let length = file
            .metadata()
            .map_err(|error| Error::file(log, error))?
            .len();
        Ok(Self {
            path: log.to_owned(),
            root: Root::open(root)?,
            format: Box::new(format),
            length,
        })
    }

    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn read<T: Send>(
        &self,
        from: u64,
        options: &ReadOptions,
        work: &(dyn Fn(&Capture, &mut Body<'_>) -> T + Sync),
        take: &mut dyn FnMut(News<T>) -> ControlFlow<()>,
    ) -> Result<Ended, Error> {
        let error = |error| Error::file(&self.path, error);
        let file = open_log(&self.path)?;
        let superseded = match self.format.path {
            // A list may name a file twice; a mirror cannot hold two.
            PathRule::Field if from == 0 => Superseded::none(0),
            PathRule::Field => Superseded::none(self.format.header_lines),
            _ => Superseded::read(&file, from, &self.format, options).map_err(error)?,
        };
        let mut blocks = Blocks::new(&file, from, superseded.first, options).map_err(error)?;
        let mut ended = Ended {
            position: from,
            still_written: false,
            stopped: false,
        };
        let mut failure = None;
        let next = || {
            blocks.next().unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        };
        let news = |block: Block| (self.news(&block, &superseded, work), block.end);
        ordered(options.threads, next, news, |(news, end)| {
            let taken = news.into_iter().try_for_each(&mut *take);
            if taken.is_continue() {
                ended.position = end;
            }
            let taken = taken.map_continue(|()| take(News::Position(end)));
            let flow = match taken {
                ControlFlow::Continue(flow) => flow,
                stopped => stopped.map_continue(|_| ()),
            };
            ended.stopped |= flow.is_break();
            flow
        });
        if let Some(failure) = failure {
            return Err(error(failure));
        }
        ended.stopped |= options.stopped();
        ended.still_written = blocks.still_written && !ended.stopped;
        Ok(ended)
    }

    /// What the lines of a block tell.
    fn news<T>(
        &self,
        block: &Block,
        superseded: &Superseded,
        work: &(dyn Fn(&Capture, &mut Body<'_>) -> T + Sync),
    ) -> Vec<News<T>> {
        let mut news = Vec::with_capacity(block.lines.len());
        for (number, (line, content)) in (block.number..).zip(&block.lines) {
            if number < self.format.header_lines {
                continue;
            }
            let place = Place {
                file: self.path.clone(),
                offset: line.offset,
                member: None,
            };
            let skipped = |place, reason| {
                News::Skipped(Skipped {
                    place,
                    length: Some(line.length),
                    reason,
                })
            };
            if line.too_long {
                let reason = format!("the line has {} bytes, more than are read", line.length);
                news.push(skipped(place, reason));
                continue;
            }
            match self.format.read(&block.bytes[content.clone()]) {
                Meaning::Nothing => {}
                Meaning::Broken(reason) => {
                    news.push(skipped(place, format!("the line cannot be read: {reason}")));
                }
                Meaning::Capture(entry) => {
                    let mut entry = *entry;
                    entry.capture.place = place;
                    news.push(self.capture(entry, superseded.fate(number), work));
                }
            }
        }
        news
    }

    fn capture<T>(
        &self,
        entry: Entry,
        fate: Fate,
        work: &(dyn Fn(&Capture, &mut Body<'_>) -> T + Sync),
    ) -> News<T> {
        let mut capture = entry.capture;
        let mut body = match fate {
            // The bytes are gone, but that the URL was there then, and who led to it, is not.
            Fate::Renewed => return News::Late(Box::new(capture)),
            Fate::Lost => Body::failing(io::Error::new(
                io::ErrorKind::NotFound,
                "its file was overwritten by that of another URL",
            )),
            Fate::Kept if capture.kind != Kind::Document => Body::empty(),
            Fate::Kept => {
                let file = LazyFile {
                    source: self,
                    url: capture.url.clone(),
                    named: entry.file,
                    expected: Expected {
                        digest: capture.digest.clone(),
                        size: entry.size,
                    },
                    file: None,
                };
                file.body(&mut capture)
            }
        };
        let made = work(&capture, &mut body);
        News::Capture(Box::new(capture), made)
    }

    /// Where the file may be.
    fn paths(&self, url: &str, file: Option<&[u8]>) -> Vec<Vec<Segment>> {
        let Some(file) = file else {
            return match self.format.path {
                PathRule::Mirror => mirror::paths(url).collect(),
                _ => Vec::new(),
            };
        };
        // Lists are often made with whole paths.
        let root = self.root.path.as_os_str().as_encoded_bytes();
        let below = file
            .strip_prefix(root)
            .filter(|rest| rest.starts_with(b"/"));
        let is_absolute = below.is_none() && file.starts_with(b"/");
        let file = below.unwrap_or(file);
        let plain = mirror::plain(file).filter(|_| !is_absolute);
        let is_template = matches!(self.format.path, PathRule::Template(_));
        let decoded = is_template
            .then(|| mirror::plain(&mirror::decoded(file)))
            .flatten();
        let mut paths: Vec<_> = plain.into_iter().chain(decoded).collect();
        paths.dedup();
        paths
    }
}

/// A file that is looked for when somebody reads it: many captures are not wanted.
struct LazyFile<'s> {
    source: &'s LogSource,
    url: String,
    /// What the line says of its path.
    named: Option<Vec<u8>>,
    expected: Expected,
    file: Option<File>,
}

impl<'s> LazyFile<'s> {
    /// The body of a capture. One without a date gets that of its file.
    fn body(self, capture: &mut Capture) -> Body<'s> {
        if capture.crawled.is_some() {
            return Body::new(self, None);
        }
        let file = match self.find() {
            Ok(file) => file,
            Err(error) => return Body::failing(error),
        };
        let metadata = file.metadata().ok();
        let modified = metadata
            .as_ref()
            .and_then(|metadata| metadata.modified().ok());
        let since = modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        capture.crawled = since.and_then(|since| i64::try_from(since.as_secs()).ok());
        Body::new(file, metadata.map(|metadata| metadata.len()))
    }

    fn find(&self) -> io::Result<File> {
        let paths = self.source.paths(&self.url, self.named.as_deref());
        self.source.root.find(&paths, &self.expected)
    }
}

impl Read for LazyFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.file.is_none() {
            self.file = Some(self.find()?);
        }
        match &mut self.file {
            Some(file) => file.read(buffer),
            None => Ok(0),
        }
    }
}

/// Some lines of a log.
struct Block {
    /// The number of the first.
    number: u64,
    bytes: Vec<u8>,
    lines: Vec<(Line, Range<usize>)>,
    /// The offset behind them.
    end: u64,
}

/// Cuts a log into blocks.
struct Blocks<'f> {
    file: &'f File,
    lines: Lines<BufReader<&'f File>>,
    number: u64,
    end: u64,
    /// How long the log was when reading began.
    length: u64,
    stop: &'f ReadOptions,
    /// Somebody is writing the last line.
    still_written: bool,
}

impl<'f> Blocks<'f> {
    fn new(file: &'f File, from: u64, number: u64, options: &'f ReadOptions) -> io::Result<Self> {
        let mut reader = file;
        reader.seek(SeekFrom::Start(from))?;
        let reader = BufReader::with_capacity(BUFFER, file);
        Ok(Self {
            file,
            lines: Lines::new(reader, from, options.limits.line),
            number,
            end: from,
            length: file.metadata()?.len(),
            stop: options,
            still_written: false,
        })
    }

    fn next(&mut self) -> io::Result<Option<Block>> {
        let mut block = Block {
            number: self.number,
            bytes: Vec::new(),
            lines: Vec::new(),
            end: self.end,
        };
        while block.lines.len() < LINES && block.bytes.len() < BYTES && !self.stop.stopped() {
            let start = block.bytes.len();
            let Some(line) = self.lines.next(&mut block.bytes)? else {
                break;
            };
            let end = line.offset + line.length;
            if !line.ended && (end > self.length || self.file.metadata()?.len() > end) {
                self.still_written = true;
                break;
            }
            block.end = end;
            let is_marked = line.offset == 0 && block.bytes.starts_with(BYTE_ORDER_MARK);
            let start = if is_marked {
                BYTE_ORDER_MARK.len()
            } else {
                start
            };
            block.lines.push((line, start..block.bytes.len()));
        }
        self.number += block.lines.len() as u64;
        self.end = block.end;
        Ok((!block.lines.is_empty()).then_some(block))
    }
}

/// Opens a log. One that is compressed would be millions of broken lines.
pub(super) fn open_log(path: &Path) -> Result<File, Error> {
    let error = |error: io::Error| Error::file(path, error);
    let file = File::open(path).map_err(error)?;
    if file.metadata().map_err(error)?.is_dir() {
        return Err(error(io::ErrorKind::IsADirectory.into()));
    }
    let mut start = [0; 2];
    let is_compressed = file.read_exact_at(&mut start, 0).is_ok() && start == [0x1F, 0x8B];
    match is_compressed {
        true => Err(Error::CompressedLog {
            path: path.to_owned(),
        }),
        false => Ok(file),
    }
}

/// Small, so that a stop is soon and little is done ahead of time; each line may stand for a large file.
const LINES: usize = 32;
const BYTES: usize = 256 * 1024;
const BUFFER: usize = 256 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
