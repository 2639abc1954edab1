//! Finds archives, by what is in them and never by their names.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::input::{Extent, Input};
use super::layout::{Codec, Format, Layout, is_line_end};
use super::stream::{Stream, Tail};
use super::{Archive, Opened, search, wacz, zstd};
use crate::{Error, Limits, Place, Skipped, Source};

/// See `crate::open`.
pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Vec<Source>, Error> {
    let failed = |error| Error::file(path, error);
    if fs::metadata(path).map_err(failed)?.is_dir() {
        return directory(path, limits);
    }
    let sources = file(path, limits).map_err(failed)?;
    sources.ok_or_else(|| Error::NotAnArchive {
        path: path.to_owned(),
    })
}

/// All archives below a directory, in the order of names. Links are not followed: they may lead in circles.
fn directory(path: &Path, limits: &Limits) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        let failed = |error| Error::file(&path, error);
        let kind = fs::symlink_metadata(&path).map_err(failed)?.file_type();
        if kind.is_file() {
            match file(&path, limits) {
                Ok(found) => sources.extend(found.into_iter().flatten()),
                // One file that cannot be read is told when its turn comes.
                Err(error) => sources.push(unreadable(&path, None, &error.to_string())),
            }
        } else if kind.is_dir() {
            let entries = fs::read_dir(&path).map_err(failed)?;
            let paths = entries.map(|entry| Ok(entry?.path()));
            let mut paths = paths.collect::<io::Result<Vec<_>>>().map_err(failed)?;
            // The last is looked at first.
            paths.sort_by(|one, other| other.cmp(one));
            waiting.append(&mut paths);
        }
    }
    Ok(sources)
}

/// What is in a file; `None` if that is nothing for us.
fn file(path: &Path, limits: &Limits) -> io::Result<Option<Vec<Source>>> {
    let extent = Extent::of(File::open(path)?)?;
    let mut head = [0; 4];
    let count = extent.read_at(0, &mut head)?;
    if !wacz::begins(&head[..count]) {
        let layout = layout(&extent, limits)?;
        return Ok(layout.map(|layout| vec![archive(path, None, extent, layout)]));
    }
    let Some(members) = wacz::members(&extent)? else {
        return Ok(None);
    };
    let mut sources = Vec::new();
    for member in members {
        let name = Some(member.name);
        match member.extent {
            Ok(extent) if extent.length == 0 => {}
            Ok(extent) => {
                if let Some(layout) = layout(&extent, limits)? {
                    sources.push(archive(path, name, extent, layout));
                }
            }
            // What else lies there need not be readable.
            Err(reason) if is_in_archive(name.as_deref()) => {
                sources.push(unreadable(path, name, reason));
            }
            Err(_) => {}
        }
    }
    Ok((!sources.is_empty()).then_some(sources))
}

/// Where a WACZ has its WARC files.
fn is_in_archive(name: Option<&str>) -> bool {
    name.is_some_and(|name| name.starts_with("archive/"))
}

fn archive(path: &Path, member: Option<String>, extent: Extent, layout: Layout) -> Source {
    Source::Archive(Archive(Ok(Opened {
        path: path.to_owned(),
        member,
        extent,
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
        return Ok(Some(plain(Format::Warc, extent)));
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
        };
        if let Some(expanded) = compressed(extent, &layout, limits)? {
            let whole = expanded.is_some();
            return Ok(Some(Layout {
                whole,
                expanded,
                ..layout
            }));
        }
    }
    Ok(None)
}

fn plain(format: Format, extent: &Extent) -> Layout {
    Layout {
        format,
        codec: Codec::Plain,
        whole: extent.deflated.is_some(),
        expanded: None,
        dictionary: None,
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

/// `None` if no record begins in it; what it expands to, more or less, if all is compressed at once.
fn compressed(
    extent: &Extent,
    layout: &Layout,
    limits: &Limits,
) -> io::Result<Option<Option<u64>>> {
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
        // Nothing of it has been written yet.
        return Ok((layout.format == Format::Warc).then_some(None));
    }
    let start = seen.iter().position(|byte| !is_line_end(*byte));
    let start = start.unwrap_or(seen.len());
    if let Some(span) = search::head(layout.format, &seen[start..]) {
        let behind = (start + span.head) as u64;
        let record = behind.saturating_add(span.length);
        let has_more = has_more(&mut stream, layout.format, record)?;
        return Ok(Some(has_more.then(|| stream.expected())));
    }
    if layout.format.begins(seen) {
        return Ok(Some(None));
    }
    // The first member may be what is damaged.
    let mut input = Input::new(extent);
    let found = search::next_member(&mut input, layout, DAMAGED, false, limits)?;
    Ok(found.map(|_| None))
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

/// How far a file is looked into.
const LOOK: usize = 64 * 1024;

/// How far a first member that is damaged may reach.
const DAMAGED: u64 = 1024 * 1024;

/// A first record as large as this is one of many, each compressed by itself.
const LARGE: u64 = 64 * 1024 * 1024;
