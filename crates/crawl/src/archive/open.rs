//! Finds archives, by what is in them and never by their names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::input::{Extent, Input};
use super::layout::{Codec, Format, Layout, is_line_end};
use super::stream::{Stream, Tail};
use super::{Archive, Closed, search, wacz, zstd};
use crate::{Error, Limits, Place, ReadOptions, Skipped, Source};

/// See `crate::open`.
pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Vec<Source>, Error> {
    let failed = |error| Error::file(path, error);
    let kind = fs::metadata(path).map_err(failed)?.file_type();
    if kind.is_dir() {
        return directory(path, limits);
    }
    // A pipe would have to be waited for, and cannot be gone back in.
    let sources = match kind.is_file() {
        true => file(path, limits).map_err(failed)?,
        false => None,
    };
    sources.ok_or_else(|| Error::NotAnArchive {
        path: path.to_owned(),
    })
}

/// All archives below a directory, in the order of names. It may be a link itself, but links below it are not followed:
/// they may lead in circles.
fn directory(path: &Path, limits: &Limits) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    let mut waiting = entries(path, limits).map_err(|error| Error::file(path, error))?;
    while let Some(path) = waiting.pop() {
        match below(&path, limits) {
            Ok(Below::Files(found)) => sources.extend(found),
            Ok(Below::Directory(mut paths)) => waiting.append(&mut paths),
            // Crawlers rename and remove what they have finished.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // What cannot be read is told when its turn comes.
            Err(error) => sources.push(unreadable(&path, None, &error.to_string())),
        }
    }
    Ok(sources)
}

/// What there is at a path below a directory.
enum Below {
    Files(Vec<Source>),
    Directory(Vec<PathBuf>),
}

fn below(path: &Path, limits: &Limits) -> io::Result<Below> {
    let kind = fs::symlink_metadata(path)?.file_type();
    Ok(match () {
        () if kind.is_file() => {
            let mut sources = file(path, limits)?.unwrap_or_default();
            // Nobody named it, so what has nothing in it is not known to be an archive.
            sources.retain(|source| !is_nothing(source));
            Below::Files(sources)
        }
        () if kind.is_dir() => Below::Directory(entries(path, limits)?),
        () => Below::Files(Vec::new()),
    })
}

fn is_nothing(source: &Source) -> bool {
    match source {
        Source::Archive(Archive(Ok(closed))) => closed.layout.is_nothing,
        _ => false,
    }
}

/// The paths in a directory, the last first.
fn entries(path: &Path, limits: &Limits) -> io::Result<Vec<PathBuf>> {
    let names = limits.roots.names(path)?.into_iter();
    let mut paths: Vec<_> = names.map(|name| path.join(name)).collect();
    paths.sort_by(|one, other| other.cmp(one));
    Ok(paths)
}

/// What is in a file; `None` if that is nothing for us.
fn file(path: &Path, limits: &Limits) -> io::Result<Option<Vec<Source>>> {
    let extent = Extent::of(limits.roots.open(path)?)?;
    let mut head = [0; 4];
    let count = extent.read_at(0, &mut head)?;
    if !wacz::begins(&head[..count]) {
        let layout = layout(&extent, limits)?;
        return Ok(layout.map(|layout| vec![archive(path, None, &extent, layout)]));
    }
    let Some(members) = wacz::members(&extent)? else {
        return Ok(None);
    };
    let mut sources = Vec::new();
    for member in members {
        let name = Some(member.name);
        match member.extent {
            Ok(extent) if extent.part.length == 0 => {}
            Ok(extent) => {
                if let Some(layout) = layout(&extent, limits)? {
                    sources.push(archive(path, name, &extent, layout));
                }
            }
            // What else lies there need not be readable.
            Err(reason) if name.as_deref().is_some_and(wacz::is_in_archive) => {
                sources.push(unreadable(path, name, reason));
            }
            Err(_) => {}
        }
    }
    Ok((!sources.is_empty()).then_some(sources))
}

fn archive(path: &Path, member: Option<String>, extent: &Extent, layout: Layout) -> Source {
    Source::Archive(Archive(Ok(Closed {
        path: path.to_owned(),
        member,
        part: extent.part,
        layout,
    })))
}

fn unreadable(path: &Path, member: Option<String>, reason: &str) -> Source {
    let place = Place {
        file: path.to_owned(),
        offset: 0,
        member,
    };
    Source::Archive(Archive(Err(Skipped {
        place,
        length: None,
        reason: reason.to_owned(),
    })))
}

/// Finds out how an archive is written; `None` if it is none.
fn layout(extent: &Extent, limits: &Limits) -> io::Result<Option<Layout>> {
    let mut input = Input::new(extent);
    let head = input.fill(LOOK)?;
    let codec = match head {
        [0x1F, 0x8B, ..] => Codec::Gzip,
        _ if zstd::begins(head) => Codec::Zstd,
        _ => Codec::Plain,
    };
    if head.is_empty() {
        return Ok(Some(Layout {
            is_nothing: true,
            ..plain(Format::Warc, extent)
        }));
    }
    if codec == Codec::Plain {
        let formats = [Format::Warc, Format::Arc];
        let found = formats.into_iter().find(|format| is_plain(*format, head));
        return Ok(found.map(|format| plain(format, extent)));
    }
    let dictionary = match codec {
        Codec::Zstd => zstd::dictionary(&mut input, limits.zstd_window)?,
        _ => None,
    };
    for format in [Format::Warc, Format::Arc] {
        let layout = Layout {
            format,
            codec,
            whole: false,
            expanded: None,
            dictionary: dictionary.clone(),
            is_nothing: false,
        };
        let whole = |expanded| Layout {
            whole: true,
            expanded: Some(expanded),
            ..layout.clone()
        };
        match compressed(extent, &layout, limits)? {
            Content::Other => {}
            Content::Records => return Ok(Some(layout)),
            Content::Stream(expanded) => return Ok(Some(whole(expanded))),
            Content::Nothing => {
                return Ok(Some(Layout {
                    is_nothing: true,
                    ..layout
                }));
            }
        }
    }
    Ok(None)
}

fn plain(format: Format, extent: &Extent) -> Layout {
    Layout {
        format,
        codec: Codec::Plain,
        whole: extent.part.deflated.is_some(),
        expanded: None,
        dictionary: None,
        is_nothing: false,
    }
}

/// Whether a record begins near the beginning: there may be junk before it, and the file may have just been begun.
fn is_plain(format: Format, head: &[u8]) -> bool {
    let start = head.iter().position(|byte| !is_line_end(*byte));
    let begin = &head[start.unwrap_or(head.len())..];
    if format.begins(begin) || (format == Format::Warc && b"WARC/".starts_with(begin)) {
        return true;
    }
    let mut at = 0;
    while let Some(found) = search::next_start(format, &head[at..], false) {
        at += found;
        if search::head(format, &head[at..]).is_some() {
            return true;
        }
        at += 1;
    }
    // A first line that is broken, as `filedesc` of unknown length.
    format == Format::Arc && begin.starts_with(b"filedesc://")
}

/// What is compressed.
enum Content {
    /// No record begins in it.
    Other,
    /// Nothing of it has been written yet.
    Nothing,
    /// Each record by itself.
    Records,
    /// All at once. It expands to so many bytes, more or less.
    Stream(u64),
}

fn compressed(extent: &Extent, layout: &Layout, limits: &Limits) -> io::Result<Content> {
    let mut stream = Stream::new(extent, layout, limits);
    stream.start(0);
    // Frames for somebody else come out as nothing.
    while stream.fill(LOOK)?.is_empty() {
        match stream.tail() {
            Tail::Ended(next) if next < stream.size() => stream.start(next),
            _ => break,
        }
    }
    let seen = stream.window();
    if seen.is_empty() && stream.tail() == Tail::Truncated {
        return Ok(Content::Nothing);
    }
    let start = seen.iter().position(|byte| !is_line_end(*byte));
    let start = start.unwrap_or(seen.len());
    if let Some(span) = search::head(layout.format, &seen[start..]) {
        let behind = (start + span.head) as u64;
        let record = behind.saturating_add(span.length);
        let is_stream = has_more(&mut stream, layout.format, record)?
            || has_more_later(&mut stream, layout.format)?;
        return Ok(match is_stream {
            true => Content::Stream(stream.expected()),
            false => Content::Records,
        });
    }
    if layout.format.begins(seen) {
        return Ok(Content::Records);
    }
    // The first member may be what is damaged.
    let mut input = Input::new(extent);
    let options = ReadOptions {
        limits: limits.clone(),
        ..ReadOptions::default()
    };
    let found = search::next_member(&mut input, layout, DAMAGED, false, &options)?;
    Ok(match found {
        Some(_) => Content::Records,
        None => Content::Other,
    })
}

/// Whether a member has more than its first record.
fn has_more(stream: &mut Stream, format: Format, mut record: u64) -> io::Result<bool> {
    if record > LARGE {
        return Ok(false);
    }
    while record > 0 {
        let seen = stream.fill(1)?.len() as u64;
        if seen == 0 {
            return Ok(false);
        }
        let count = seen.min(record);
        stream.consume(count as usize);
        record -= count;
    }
    Ok(format.begins(stream.fill(LOOK)?))
}

/// Whether the members behind the first have more than a record each: files are put together of such as do and such as
/// do not.
fn has_more_later(stream: &mut Stream, format: Format) -> io::Result<bool> {
    for _ in 0..LATER {
        let next = match stream.tail() {
            Tail::Ended(next) if next < stream.size() => next,
            _ => return Ok(false),
        };
        stream.start(next);
        let seen = stream.fill(LOOK)?;
        let start = seen.iter().position(|byte| !is_line_end(*byte));
        let start = start.unwrap_or(seen.len());
        let Some(span) = search::head(format, &seen[start..]) else {
            return Ok(false);
        };
        let record = ((start + span.head) as u64).saturating_add(span.length);
        if record > MODERATE {
            return Ok(false);
        }
        if has_more(stream, format, record)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How far a file is looked into.
const LOOK: usize = 64 * 1024;

/// How far a first member that is damaged may reach.
const DAMAGED: u64 = 1024 * 1024;

/// How many members behind the first are looked at, and how long their records may be.
const LATER: usize = 2;
const MODERATE: u64 = 1024 * 1024;

/// A first record as large as this is one of many, each compressed by itself.
const LARGE: u64 = 64 * 1024 * 1024;
