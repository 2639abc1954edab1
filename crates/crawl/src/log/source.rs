//! A log and the directory that its files lie in, as a stream of captures; or a log alone, as a stream of what it says.

use std::fs::File;
use std::io::{self, Seek};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::LogFormat;
use super::blocks::{Block, Blocks};
use super::entry::{Entry, Meaning};
use super::format::PathRule;
use super::lazy_file::LazyFile;
use super::mirror;
use super::ordered::ordered;
use super::root::{Expected, Root};
use super::segment::Segment;
use super::superseded::{Fate, Superseded};
use crate::{Body, Capture, Ended, Error, Kind, Limits, Place, ReadOptions, Skipped, SourceEvent};

/// A log with its files.
///
/// Its lines are handed over in their order. A line whose file is not there is a capture whose body cannot be read, with
/// the kind `NotFound`. Of several lines that one file of a mirror was written for, the last has it.
#[derive(Debug)]
pub struct LogSource {
    path: PathBuf,
    /// None if archives hold what it speaks of.
    root: Option<Root>,
    format: Box<LogFormat>,
    length: u64,
    /// The open file: the file that was checked is the one that is read.
    file: File,
}

impl LogSource {
    /// Opens a log. Its files lie below `root`.
    pub fn open(
        log: &Path,
        root: &Path,
        format: LogFormat,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let root = Root::open(root, limits)?;
        Ok(Self {
            root: Some(root),
            ..Self::beside(log, format, limits)?
        })
    }

    /// Opens a log beside archives that hold what it speaks of. What it says of each capture is handed over as
    /// [`SourceEvent::Late`]; lines that cannot be read say nothing.
    pub fn beside(log: &Path, format: LogFormat, limits: &Limits) -> Result<Self, Error> {
        let file = open_log(log, limits)?;
        let length = file
            .metadata()
            .map_err(|error| Error::file(log, error))?
            .len();
        Ok(Self {
            path: log.to_owned(),
            root: None,
            format: Box::new(format),
            length,
            file,
        })
    }

    pub(crate) fn is_beside(&self) -> bool {
        self.root.is_none()
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
        take: &mut dyn FnMut(SourceEvent<T>) -> ControlFlow<()>,
    ) -> Result<Ended, Error> {
        let error = |error| Error::file(&self.path, error);
        let mut file = &self.file;
        file.rewind().map_err(error)?;
        let superseded = match self.format.path {
            // A list may name a file twice; a mirror cannot hold two.
            PathRule::Field if from == 0 => Superseded::none(0),
            PathRule::Field => Superseded::none(self.format.header_lines),
            _ if self.is_beside() && from == 0 => Superseded::none(0),
            _ if self.is_beside() => Superseded::none(self.format.header_lines),
            _ => Superseded::read(file, from, &self.format, options).map_err(error)?,
        };
        let mut blocks = Blocks::new(file, from, superseded.first, options).map_err(error)?;
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
        let news = |block: Block| (self.news(&block, &superseded, work), self.end_of(&block));
        ordered(options.threads, next, news, |(news, end)| {
            let taken = news.into_iter().try_for_each(&mut *take);
            if taken.is_continue() {
                ended.position = end;
            }
            let taken = taken.map_continue(|()| take(SourceEvent::Position(end)));
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

    /// Returns the end of a block. A growing log may end in half a line, which is read again once it is whole.
    fn end_of(&self, block: &Block) -> u64 {
        let last = block.lines.last().map(|(line, _)| line);
        let half = last.filter(|line| self.is_beside() && !line.ended);
        half.map_or(block.end, |line| line.offset)
    }

    /// Reads the lines of a block.
    fn news<T>(
        &self,
        block: &Block,
        superseded: &Superseded,
        work: &(dyn Fn(&Capture, &mut Body<'_>) -> T + Sync),
    ) -> Vec<SourceEvent<T>> {
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
                SourceEvent::Skipped(Skipped {
                    place,
                    length: Some(line.length),
                    reason,
                })
            };
            if line.too_long && self.is_beside() {
                continue;
            }
            if line.too_long {
                let reason = format!("the line has {} bytes, more than are read", line.length);
                news.push(skipped(place, reason));
                continue;
            }
            match self.format.read(&block.bytes[content.clone()]) {
                Meaning::Nothing => {}
                Meaning::Broken(_) if self.is_beside() => {}
                Meaning::Broken(reason) => {
                    news.push(skipped(place, format!("the line cannot be read: {reason}")));
                }
                Meaning::Capture(entry) => {
                    let mut entry = *entry;
                    entry.capture.place = place;
                    if self.is_beside() {
                        news.push(SourceEvent::Late(Box::new(entry.capture)));
                        continue;
                    }
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
    ) -> SourceEvent<T> {
        let mut capture = entry.capture;
        let mut body = match fate {
            // The bytes are gone, but that the URL was there then, and who led to it, is not.
            Fate::Renewed => return SourceEvent::Late(Box::new(capture)),
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
        SourceEvent::Capture(Box::new(capture), made)
    }

    /// Opens the file of a URL, or the one that a line names.
    pub(super) fn find(
        &self,
        url: &str,
        named: Option<&[u8]>,
        expected: &Expected,
    ) -> io::Result<File> {
        match &self.root {
            Some(root) => root.find(&self.paths(root, url, named), expected),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Returns the paths at which the file may be.
    fn paths(&self, root: &Root, url: &str, file: Option<&[u8]>) -> Vec<Vec<Segment>> {
        let Some(file) = file else {
            return match self.format.path {
                PathRule::Mirror => mirror::paths(url).collect(),
                _ => Vec::new(),
            };
        };
        // Lists are often made with whole paths.
        let root = root.path.as_os_str().as_encoded_bytes();
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

/// Opens a log. One that is compressed would be millions of broken lines.
pub(super) fn open_log(path: &Path, limits: &Limits) -> Result<File, Error> {
    let error = |error: io::Error| Error::file(path, error);
    let file = limits.roots.open(path).map_err(error)?;
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
