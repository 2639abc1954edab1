//! Finds archives by what is in them. Names only tell what must not be passed over, and where to look harder.

pub(super) mod layout;
pub(super) mod names;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::layout::{Codec, Format, Layout, is_line_end};
use self::names::{Named, Refused};
use super::coding::{gzip, zstd};
use super::input::{Extent, Input};
use super::stream::{Stream, Tail};
use super::{Archive, Closed, Refusal, search, wacz};
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
        true => file(path, limits, true).map_err(failed)?,
        false => None,
    };
    let sources = sources.or_else(|| refused(path));
    sources.ok_or_else(|| Error::NotAnArchive {
        path: path.to_owned(),
    })
}

/// All archives below a directory, in the order of names. It may be a link itself, but links below it are not followed:
/// they may lead in circles.
fn directory(path: &Path, limits: &Limits) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    let mut waiting = entries(path, limits).map_err(|error| Error::file(path, error))?;
    let real = fs::canonicalize(path).ok();
    while let Some(path) = waiting.pop() {
        match below(&path, real.as_deref(), limits) {
            Ok(Below::Files(found)) => sources.extend(found),
            Ok(Below::Directory(mut paths)) => waiting.append(&mut paths),
            // Crawlers rename and remove what they have finished.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // An unreadable file is reported when its turn comes.
            Err(error) => sources.push(unreadable(&path, None, &error.to_string())),
        }
    }
    Ok(sources)
}

/// The kind of entry at a path below a directory.
enum Below {
    Files(Vec<Source>),
    Directory(Vec<PathBuf>),
}

/// `top` is the directory that was named.
fn below(path: &Path, top: Option<&Path>, limits: &Limits) -> io::Result<Below> {
    let kind = fs::symlink_metadata(path)?.file_type();
    let named = Named::of(&path.to_string_lossy());
    Ok(match () {
        () if kind.is_file() => {
            let found = file(path, limits, named.wants_search())?;
            let mut sources = found.or_else(|| refused(path)).unwrap_or_default();
            // Neither was it named nor is it called an archive, so what has nothing in it is not known to be one.
            sources.retain(|source| named.is_archive || !is_nothing(source));
            Below::Files(sources)
        }
        () if kind.is_dir() => Below::Directory(entries(path, limits)?),
        () if kind.is_symlink() => {
            let reason = "it is a link, and links in a directory are not followed; name it itself";
            let is_missed = named.wants_search() || leads_to_archives(path, top, limits);
            let missed = is_missed.then(|| unreadable(path, None, reason));
            Below::Files(missed.into_iter().collect())
        }
        () if named.wants_search() => {
            Below::Files(vec![unreadable(path, None, "it is no regular file")])
        }
        () => Below::Files(Vec::new()),
    })
}

/// Whether something is passed over by not following a link whose name says nothing: an archive, or a directory, which
/// may have some. A directory below `top` is read where it is.
fn leads_to_archives(path: &Path, top: Option<&Path>, limits: &Limits) -> bool {
    let Ok(real) = fs::canonicalize(path) else {
        return false;
    };
    if real.is_dir() {
        return !top.is_some_and(|top| real.starts_with(top));
    }
    let found = match real.is_file() {
        true => file(path, limits, false),
        false => Ok(None),
    };
    let found = found.ok().flatten().unwrap_or_default();
    found.iter().any(|source| !is_nothing(source))
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

/// Returns the sources in a file; `None` if it is no crawl. With `search`, the whole file is searched for records.
fn file(path: &Path, limits: &Limits, search: bool) -> io::Result<Option<Vec<Source>>> {
    let extent = Extent::of(limits.roots.open(path)?)?;
    let named = Named::of(&path.to_string_lossy());
    let mut head = [0; 4];
    let count = extent.read_at(0, &mut head)?;
    let is_zip = wacz::begins(&head[..count]);
    let search = search || is_nearly(named.codec, &head[..count]);
    if !is_zip && !named.is_wacz {
        let layout = layout(&extent, limits, &named, search)?;
        return Ok(layout.map(|layout| match layout.is_nothing {
            true if named.is_archive && !named.is_open => {
                vec![unreadable(path, None, NOTHING)]
            }
            _ => vec![archive(path, None, &extent, layout)],
        }));
    }
    let sources = in_wacz(path, &extent, limits)?;
    if !sources.is_empty() || !search {
        return Ok((!sources.is_empty()).then_some(sources));
    }
    // Nothing is left of the ZIP file but the bytes of its members.
    let found = searched(&extent, limits, &named)?;
    Ok(found.map(|layout| {
        vec![
            unreadable(path, None, NO_MEMBERS),
            archive(path, Some(REST.to_owned()), &extent, layout),
        ]
    }))
}

/// Whether a file that is called as a compressed one begins nearly as one does: its first bytes are damaged.
fn is_nearly(codec: Codec, head: &[u8]) -> bool {
    let magic: &[u8] = match codec {
        Codec::Gzip => &gzip::MAGIC,
        Codec::Zstd => &zstd::MAGIC,
        Codec::Plain => return false,
    };
    let alike = magic.iter().zip(head).filter(|(one, other)| one == other);
    alike.count() + 1 == magic.len()
}

/// The archives in a WACZ.
fn in_wacz(path: &Path, extent: &Extent, limits: &Limits) -> io::Result<Vec<Source>> {
    let listing = wacz::members(extent)?;
    let mut sources = Vec::new();
    for member in listing.members {
        let is_archive = member.is_gap || wacz::is_in_archive(&member.name);
        let named = Named::of(&member.name);
        let is_archive = is_archive || named.wants_search();
        let name = Some(member.name);
        match member.extent {
            Ok(extent) if extent.size() == 0 => {
                if named.is_archive && !named.is_open {
                    sources.push(unreadable(path, name, NOTHING));
                }
            }
            Ok(extent) => match layout(&extent, limits, &named, is_archive)? {
                Some(layout) => {
                    let mut source = archive(path, name, &extent, layout);
                    if let Source::Archive(Archive(Ok(closed))) = &mut source {
                        closed.crc = member.crc;
                    }
                    sources.push(source);
                }
                None if is_archive && !member.is_gap => {
                    let reason = "no WARC or ARC record was found in it";
                    sources.push(unreadable(path, name, reason));
                }
                None => {}
            },
            // Other files in the directory need not be readable.
            Err(reason) if is_archive => sources.push(unreadable(path, name, reason)),
            Err(_) => {}
        }
    }
    // An office document is a ZIP file as well: it is not told that something is wrong with it.
    if let Some(damage) = listing.damage
        && !sources.is_empty()
    {
        sources.insert(0, unreadable(path, None, damage));
    }
    Ok(sources)
}

fn archive(path: &Path, member: Option<String>, extent: &Extent, layout: Layout) -> Source {
    Source::Archive(Archive(Ok(Closed {
        path: path.to_owned(),
        member,
        part: extent.part,
        crc: None,
        layout,
    })))
}

fn unreadable(path: &Path, member: Option<String>, reason: &str) -> Source {
    let refused = Refused {
        reason: reason.to_owned(),
        is_loss: true,
    };
    refusal(path, member, refused)
}

/// A file in which nothing was found, if somebody expects to hear of it.
fn refused(path: &Path) -> Option<Vec<Source>> {
    let refused = Named::of(&path.to_string_lossy()).refused()?;
    Some(vec![refusal(path, None, refused)])
}

fn refusal(path: &Path, member: Option<String>, refused: Refused) -> Source {
    let place = Place {
        file: path.to_owned(),
        offset: 0,
        member,
    };
    let skipped = Skipped {
        place,
        length: None,
        reason: refused.reason,
    };
    Source::Archive(Archive(Err(Refusal {
        skipped,
        is_loss: refused.is_loss,
    })))
}

/// Finds out how an archive is written; `None` if it is none. `search` says that records are looked for in all of it if
/// it does not begin with one.
fn layout(
    extent: &Extent,
    limits: &Limits,
    named: &Named,
    search: bool,
) -> io::Result<Option<Layout>> {
    let mut input = Input::new(extent);
    let head = input.fill(LOOK)?;
    let codec = match head {
        [0x1F, 0x8B, ..] => Codec::Gzip,
        _ if zstd::begins(head) => Codec::Zstd,
        _ => Codec::Plain,
    };
    if head.is_empty() && extent.size() == 0 {
        return Ok(Some(Layout {
            is_nothing: true,
            ..plain(Format::Warc, extent)
        }));
    }
    if codec == Codec::Plain {
        let formats = [Format::Warc, Format::Arc];
        // Compressed data may contain a plain record by accident.
        let is_deep = !search || named.codec == Codec::Plain;
        let mut formats = formats.into_iter();
        let found = formats.find(|format| is_plain(*format, head, is_deep));
        return match found {
            None if search => searched(extent, limits, named),
            found => Ok(found.map(|format| plain(format, extent))),
        };
    }
    let dictionary = match codec {
        Codec::Zstd => zstd::dictionary(&mut input, limits.zstd_window)?,
        _ => None,
    };
    let mut is_begun = false;
    for format in [Format::Warc, Format::Arc] {
        let layout = Layout {
            codec,
            dictionary: dictionary.clone(),
            ..plain(format, extent)
        };
        match compressed(extent, layout, limits, search)? {
            Content::Other => {}
            Content::Archive(layout) => return Ok(Some(layout)),
            Content::Nothing => is_begun = true,
        }
    }
    if is_begun {
        return Ok(Some(Layout {
            codec,
            is_nothing: true,
            ..plain(Format::Warc, extent)
        }));
    }
    match search {
        true => searched(extent, limits, named),
        false => Ok(None),
    }
}

/// Finds out how an archive is written whose beginning says nothing, by the first record that can be believed. What the
/// name says is looked for first: archives hold others.
fn searched(extent: &Extent, limits: &Limits, named: &Named) -> io::Result<Option<Layout>> {
    let mut codecs = [Codec::Plain, Codec::Gzip, Codec::Zstd];
    codecs.sort_by_key(|codec| *codec != named.codec);
    let mut formats = [Format::Warc, Format::Arc];
    formats.sort_by_key(|format| *format != named.format);
    for codec in codecs {
        let dictionaries = match codec {
            Codec::Zstd => zstd::dictionaries(extent, limits.zstd_window)?,
            _ => vec![None],
        };
        for (format, dictionary) in formats.iter().flat_map(|format| {
            dictionaries
                .iter()
                .map(move |dictionary| (*format, dictionary))
        }) {
            let layout = Layout {
                codec,
                dictionary: dictionary.clone(),
                ..plain(format, extent)
            };
            let found = match codec {
                Codec::Plain => searched_plain(extent, layout, limits)?,
                _ => match compressed(extent, layout, limits, true)? {
                    Content::Archive(layout) => Some(layout),
                    Content::Other | Content::Nothing => None,
                },
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}

fn searched_plain(extent: &Extent, layout: Layout, limits: &Limits) -> io::Result<Option<Layout>> {
    let found = match layout.whole {
        true => {
            let mut stream = Stream::new(extent, &layout, limits);
            stream.start(0);
            has_record(&mut stream, layout.format, None)?
        }
        false => {
            let (options, size) = (patient(limits), extent.size());
            search::next_record(extent, layout.format, 0, size, &options)?.is_some()
        }
    };
    Ok(found.then_some(layout))
}

fn patient(limits: &Limits) -> ReadOptions {
    ReadOptions {
        limits: limits.clone(),
        ..ReadOptions::default()
    }
}

fn plain(format: Format, extent: &Extent) -> Layout {
    Layout {
        format,
        codec: Codec::Plain,
        whole: extent.part.deflated.is_some(),
        expanded: None,
        dictionary: None,
        is_nothing: false,
        headless: None,
    }
}

/// Whether a record begins at the beginning, or near it with `is_deep`: there may be junk before it, and the file may have
/// just been begun.
fn is_plain(format: Format, head: &[u8], is_deep: bool) -> bool {
    let start = head.iter().position(|byte| !is_line_end(*byte));
    let begin = &head[start.unwrap_or(head.len())..];
    let is_sure = is_deep || search::begins_surely(format, begin);
    if is_sure && format.begins(begin) || (format == Format::Warc && b"WARC/".starts_with(begin)) {
        return true;
    }
    let mut at = 0;
    while let Some(found) = search::next_start(format, &head[at..], false).filter(|_| is_deep) {
        at += found;
        if search::head(format, &head[at..]).is_some() {
            return true;
        }
        at += 1;
    }
    // A first line that is broken, as `filedesc` of unknown length.
    format == Format::Arc && begin.starts_with(b"filedesc://")
}

/// The content of a compressed file.
enum Content {
    /// No record begins in it.
    Other,
    /// Nothing of it has been written yet.
    Nothing,
    Archive(Layout),
}

/// Finds out whether there are records in what is compressed, and whether each was compressed by itself. The first member
/// may be what is damaged, so that others are looked for: in all of it with `search`.
fn compressed(
    extent: &Extent,
    layout: Layout,
    limits: &Limits,
    search: bool,
) -> io::Result<Content> {
    let layout = Layout {
        whole: false,
        ..layout
    };
    let mut stream = Stream::new(extent, &layout, limits);
    stream.start(0);
    if let Some(layout) = by_member(&mut stream, &layout)? {
        return Ok(Content::Archive(layout));
    }
    let (seen, tail) = (stream.window(), stream.tail());
    let is_begun = seen.is_empty() && tail == Tail::Truncated;
    let begins = layout.format.begins(seen);
    let has_seen = stream.decoded() > 0 || !stream.window().is_empty();
    if search && has_record(&mut stream, layout.format, None)? {
        return Ok(Content::Archive(at_once(&stream, layout)));
    }
    if search && layout.codec == Codec::Gzip && !has_seen {
        for at in 1..HEADLESS.min(extent.size()) {
            stream.start_headless(at);
            if let Some(layout) = by_member(&mut stream, &layout)? {
                return Ok(Content::Archive(Layout {
                    headless: Some(at),
                    ..layout
                }));
            }
        }
        stream = Stream::new(extent, &layout, limits);
    }
    let options = patient(limits);
    let until = if search { u64::MAX } else { DAMAGED };
    // A member need not begin with a record, but then one begins somewhere behind it.
    for any in [false, true] {
        if any && !search {
            break;
        }
        let mut input = Input::new(extent);
        input.seek(u64::from(!any));
        for _ in 0..TRIES {
            let found = search::next_member(&mut input, &layout, until, any, &options)?;
            let Some(at) = found else { break };
            stream.start(at);
            let found = match any {
                false => by_member(&mut stream, &layout)?,
                true => has_record(&mut stream, layout.format, Some(MODERATE))?
                    .then(|| at_once(&stream, layout.clone())),
            };
            if let Some(layout) = found {
                return Ok(Content::Archive(layout));
            }
            input.consume(1);
        }
    }
    Ok(match () {
        () if begins => Content::Archive(layout),
        () if is_begun => Content::Nothing,
        () => Content::Other,
    })
}

fn at_once(stream: &Stream, layout: Layout) -> Layout {
    Layout {
        whole: true,
        expanded: Some(stream.expected()),
        ..layout
    }
}

/// How an archive is written, by a member that begins with a record.
fn by_member(stream: &mut Stream, layout: &Layout) -> io::Result<Option<Layout>> {
    // Frames for somebody else come out as nothing.
    while stream.fill(LOOK)?.is_empty() {
        match stream.tail() {
            Tail::Ended(next) if next < stream.size() => stream.start(next),
            _ => break,
        }
    }
    let seen = stream.window();
    let start = seen.iter().position(|byte| !is_line_end(*byte));
    let start = start.unwrap_or(seen.len());
    let Some(span) = search::head(layout.format, &seen[start..]) else {
        return Ok(None);
    };
    let behind = (start + span.head) as u64;
    let record = behind.saturating_add(span.length);
    let is_stream =
        has_more(stream, layout.format, record)? || has_more_later(stream, layout.format)?;
    Ok(Some(match is_stream {
        true => at_once(stream, layout.clone()),
        false => layout.clone(),
    }))
}

/// Whether a record begins in what is left of a member, or in the next `most` bytes that come out of it and others.
fn has_record(stream: &mut Stream, format: Format, most: Option<u64>) -> io::Result<bool> {
    let end = most.map(|most| stream.decoded().saturating_add(most));
    let mut at_line = true;
    while end.is_none_or(|end| stream.decoded() < end) {
        let seen = stream.fill(LOOK)?;
        let count = seen.len();
        if count == 0 {
            match stream.tail() {
                Tail::Ended(next) if next < stream.size() && end.is_some() => stream.start(next),
                Tail::Open => {}
                _ => return Ok(false),
            }
            continue;
        }
        let mut at = 0;
        while let Some(found) = search::next_start(format, &seen[at..], at_line && at == 0) {
            at += found;
            if search::head(format, &seen[at..]).is_some() {
                return Ok(true);
            }
            at += 1;
        }
        // The head of a record may begin in one look and end in the next.
        let passed = match count > HEAD {
            true => count - HEAD,
            false => count,
        };
        at_line = seen[passed - 1] == b'\n';
        stream.consume(passed);
    }
    Ok(false)
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

/// As much of a head as has to be in view at once.
const HEAD: usize = 8 * 1024;

/// The deflated bytes of a gzip member with a damaged head begin at most this far behind its beginning.
const HEADLESS: u64 = 512;

/// How many members are tried that begin as one should.
const TRIES: usize = 64;

const NOTHING: &str = "it ends before its first record";
const NO_MEMBERS: &str =
    "its directory and the heads of its members are damaged; records are looked for in all of it";

/// Names the remainder of a WACZ without members.
const REST: &str = "*";

/// How far a first member that is damaged may reach.
const DAMAGED: u64 = 1024 * 1024;

/// How many members behind the first are looked at, and how long their records may be.
const LATER: usize = 2;
const MODERATE: u64 = 1024 * 1024;

/// A first record as large as this is one of many, each compressed by itself.
const LARGE: u64 = 64 * 1024 * 1024;
