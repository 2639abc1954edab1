//! The damage campaign (issue 18): every sample archive, in every shape that archives have, with damage at its beginning, at
//! the boundaries of its records and at random places. Nothing breaks, nothing is lost in silence, and every record that is
//! not damaged is read.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use crawl::Limits;
use flate2::bufread::GzDecoder;
use support::*;

/// How the records of a sample are put into a file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Plain,
    Gzip,
    GzipAtOnce,
    GzipInPairs,
    Zstd,
    ZstdWithSkippable,
    WaczStored,
    WaczStoredPlain,
    WaczDeflated,
}

const SHAPES: [Shape; 9] = [
    Shape::Plain,
    Shape::Gzip,
    Shape::GzipAtOnce,
    Shape::GzipInPairs,
    Shape::Zstd,
    Shape::ZstdWithSkippable,
    Shape::WaczStored,
    Shape::WaczStoredPlain,
    Shape::WaczDeflated,
];

/// A record as it is without compression, and the captures that are read from it alone.
struct Record {
    bytes: Vec<u8>,
    captures: Vec<(String, Vec<u8>)>,
}

#[derive(Clone)]
struct Archive {
    name: String,
    bytes: Vec<u8>,
    /// Where each record lies; in what is compressed at once, where it ends at the latest.
    ranges: Vec<Range<usize>>,
}

/// One way in which bytes are damaged.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip,
    Zero(usize),
    Cut(usize),
    Insert(usize),
    Truncate,
}

/// Takes a file apart. `None` if it is not put together of records as it should be.
fn records(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut plain = Vec::new();
    let mut rest = bytes;
    if rest.starts_with(&[0x1F, 0x8B]) {
        while !rest.is_empty() {
            let mut decoder = GzDecoder::new(rest);
            decoder.read_to_end(&mut plain).ok()?;
            rest = decoder.into_inner();
        }
    } else {
        plain = bytes.to_vec();
    }
    let (mut records, mut rest) = (Vec::new(), &plain[..]);
    while !rest.is_empty() {
        let is_warc = rest.starts_with(b"WARC/");
        let mark: &[u8] = if is_warc { b"\r\n\r\n" } else { b"\n" };
        let head = rest.windows(mark.len()).position(|bytes| bytes == mark)? + mark.len();
        let text = String::from_utf8_lossy(&rest[..head]).to_lowercase();
        let length: usize = match is_warc {
            true => text.split("content-length:").nth(1)?.lines().next()?,
            false => text.trim_end().rsplit(' ').next()?,
        }
        .trim()
        .parse()
        .ok()?;
        let mut end = head + length;
        while rest.get(end).is_some_and(|byte| b"\r\n".contains(byte)) {
            end += 1;
        }
        records.push(rest.get(..end)?.to_vec());
        rest = &rest[end..];
    }
    Some(records)
}

fn shaped(records: &[Record], shape: Shape, is_arc: bool) -> Archive {
    let kind = if is_arc { "arc" } else { "warc" };
    let (mut bytes, mut ranges) = (Vec::new(), Vec::new());
    if shape == Shape::ZstdWithSkippable {
        bytes.extend(b"\x50\x2a\x4d\x18\x07\x00\x00\x00nothing");
    }
    for record in records {
        let start = bytes.len();
        match shape {
            Shape::Gzip | Shape::WaczStored => bytes.extend(gzip(&record.bytes)),
            Shape::Zstd | Shape::ZstdWithSkippable => bytes.extend(zstd(&record.bytes)),
            _ => bytes.extend(&record.bytes),
        }
        ranges.push(start..bytes.len());
    }
    let plain = |_: &Range<usize>| 0..usize::MAX;
    let suffix = match shape {
        Shape::Plain | Shape::WaczStoredPlain | Shape::WaczDeflated => "",
        Shape::Zstd | Shape::ZstdWithSkippable => ".zst",
        _ => ".gz",
    };
    let mut name = format!("damaged.{kind}{suffix}");
    match shape {
        Shape::GzipAtOnce => {
            bytes = gzip(&bytes);
            ranges = ranges.iter().map(plain).collect();
        }
        Shape::GzipInPairs => {
            (bytes, ranges) = (Vec::new(), Vec::new());
            for pair in records.chunks(2) {
                let start = bytes.len();
                let both: Vec<_> = pair.iter().flat_map(|one| one.bytes.clone()).collect();
                bytes.extend(gzip(&both));
                ranges.extend(pair.iter().map(|_| start..bytes.len()));
            }
        }
        Shape::WaczStored | Shape::WaczStoredPlain | Shape::WaczDeflated => {
            let member = format!("archive/data.{kind}{suffix}");
            let is_deflated = shape == Shape::WaczDeflated;
            let whole = zip(&[
                (
                    "datapackage.json",
                    b"{\"profile\": \"data-package\"}",
                    false,
                ),
                (&member, &bytes, is_deflated),
                (
                    "pages/pages.jsonl",
                    b"{\"format\": \"json-pages-1.0\"}\n",
                    true,
                ),
            ]);
            let begin = whole
                .windows(7)
                .position(|bytes| bytes == b"archive")
                .unwrap();
            let begin = begin + member.len();
            ranges = match is_deflated {
                true => ranges.iter().map(plain).collect(),
                false => ranges
                    .iter()
                    .map(|range| range.start + begin..range.end + begin)
                    .collect(),
            };
            (bytes, name) = (whole, "damaged.wacz".to_owned());
        }
        _ => {}
    }
    Archive {
        name,
        bytes,
        ranges,
    }
}

/// Damages bytes at an offset, and says which of them are touched.
fn damage(bytes: &mut Vec<u8>, at: usize, damage: Damage, random: &mut Random) -> Range<usize> {
    match damage {
        Damage::Flip => {
            bytes[at] ^= 1 << random.below(8);
            at..at + 1
        }
        Damage::Zero(count) => {
            let end = (at + count).min(bytes.len());
            bytes[at..end].fill(0);
            at..end
        }
        Damage::Cut(count) => {
            let end = (at + count).min(bytes.len());
            bytes.drain(at..end);
            at..end
        }
        Damage::Insert(count) => {
            let junk = random.bytes(count);
            bytes.splice(at..at, junk);
            at..at + 1
        }
        Damage::Truncate => {
            let end = bytes.len();
            bytes.truncate(at);
            at..end
        }
    }
}

/// Reads a damaged archive, beside a good one in a directory and by itself. Says what is wrong.
fn check(archive: &Archive, hurt: &Range<usize>, records: &[Record]) -> Result<(), String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(&archive.name);
    std::fs::write(&path, &archive.bytes).unwrap();
    let good = directory.path().join("good.warc");
    std::fs::write(&good, page("http://good/", b"good")).unwrap();
    for place in [directory.path(), &path] {
        let sources = crawl::open(place, &Limits::default());
        let sources = sources.map_err(|error| error.to_string())?;
        let (mut found, mut told) = (Vec::new(), Vec::new());
        for source in &sources {
            let seen = read_from(source, 0, &options(1, 4000), usize::MAX);
            told.extend(seen.skipped.iter().map(|skipped| skipped.reason.clone()));
            let odd = seen
                .captures
                .iter()
                .flat_map(|(capture, _)| &capture.oddities);
            told.extend(odd.map(ToString::to_string));
            for (capture, body) in seen.captures {
                match body {
                    Ok(body) => found.push((capture.url, body)),
                    Err(error) => told.push(error),
                }
            }
        }
        let is_good = |(url, _): &(String, Vec<u8>)| url == "http://good/";
        assert!(place == path || found.iter().any(is_good));
        found.retain(|one| !is_good(one));
        let expected: usize = records.iter().map(|record| record.captures.len()).sum();
        if found.len() < expected && told.is_empty() {
            return Err(format!("{} of {expected} captures in silence", found.len()));
        }
        for (record, range) in records.iter().zip(&archive.ranges) {
            if range.start < hurt.end && hurt.start < range.end {
                continue;
            }
            for (url, body) in &record.captures {
                let is_there = found
                    .iter()
                    .any(|(seen, bytes)| seen == url && bytes == body);
                if !is_there {
                    return Err(format!("{url} at {range:?} is lost; {told:?}"));
                }
            }
        }
    }
    Ok(())
}

fn samples() -> Vec<(String, Vec<u8>)> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/crawl");
    let mut made = Vec::new();
    for number in 0..30 {
        let body = vec![b'a' + number % 26; usize::from(number) * 37];
        made.push(page(&format!("http://made/{number}"), &body));
    }
    let mut all = vec![("made.warc".to_owned(), made.concat())];
    for entry in std::fs::read_dir(samples).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains(".warc") || name.contains(".arc") {
            all.push((name, std::fs::read(path).unwrap()));
        }
    }
    all.sort();
    all
}

/// More than a moment's worth can be asked for.
fn rounds() -> usize {
    let rounds = std::env::var("CRAWL_ROUNDS").ok();
    rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

#[test]
fn damage_anywhere_is_told_and_costs_no_other_record() {
    let mut random = Random::new(18);
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, bytes) in samples() {
        let is_arc = name.contains(".arc");
        let Some(split) = records(&bytes) else {
            continue;
        };
        let records: Vec<_> = split
            .into_iter()
            .map(|bytes| Record {
                captures: {
                    let found = read_bytes(&bytes).captures;
                    let read = found
                        .into_iter()
                        .filter_map(|(capture, body)| Some((capture.url, body.ok()?)));
                    read.collect()
                },
                bytes,
            })
            .collect();
        for shape in SHAPES {
            let whole = shaped(&records, shape, is_arc);
            // Large ones take long, and have nothing that small ones have not.
            let most = (rounds() * 300_000 / whole.bytes.len()).clamp(1, 12 * rounds());
            let mut places: Vec<_> = [
                (0, Damage::Flip),
                (0, Damage::Zero(4096)),
                (0, Damage::Cut(100)),
            ]
            .into_iter()
            .take(most.max(1))
            .collect();
            for _ in 0..most {
                let at = random.below(whole.bytes.len());
                let range = &whole.ranges[random.below(whole.ranges.len())];
                let kinds = [
                    Damage::Flip,
                    Damage::Zero(1 + random.below(300)),
                    Damage::Cut(1 + random.below(300)),
                    Damage::Insert(1 + random.below(60)),
                    Damage::Truncate,
                ];
                places.push((at, kinds[random.below(5)]));
                // Nobody can tell that a file ends between two records too early.
                if range.end < usize::MAX {
                    places.push((range.start, kinds[random.below(4)]));
                }
            }
            for (at, kind) in places {
                // Nor that whole records are missing.
                let is_edge = |at: usize| whole.ranges.iter().any(|range| range.end == at);
                if matches!(kind, Damage::Cut(count) if is_edge(at) && is_edge(at + count)) {
                    continue;
                }
                let what = format!("{name} as {shape:?}, {kind:?} at {at}");
                let mut damaged = whole.clone();
                let hurt = damage(&mut damaged.bytes, at, kind, &mut random);
                let checked = check(&damaged, &hurt, &records);
                if checked.is_err()
                    && let Ok(keep) = std::env::var("CRAWL_KEEP")
                {
                    std::fs::write(format!("{keep}/{count}-{}", damaged.name), &damaged.bytes)
                        .unwrap();
                }
                wrong.extend(
                    checked
                        .err()
                        .map(|error| format!("{count} {what}: {error}\n")),
                );
                count += 1;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.concat()
    );
    assert!(count > 100, "{count}");
}
