//! Damage of every kind: nothing outside of it is lost, and nothing hostile breaks or holds up the reader.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::fs::OpenOptions;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

use crawl::Limits;
use support::*;

/// How the records of a random archive are put into a file.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Plain,
    Gzip,
    Stored,
    Zstd,
    Arc,
    ArcGzip,
    GzipAtOnce,
}

/// A file, and for each record its URL, its body and where it lies.
struct Archive {
    bytes: Vec<u8>,
    records: Vec<(String, Vec<u8>, Range<usize>)>,
}

fn archive(random: &mut Random, shape: Shape, count: usize) -> Archive {
    let is_arc = matches!(shape, Shape::Arc | Shape::ArcGzip);
    let (mut bytes, mut records) = (Vec::new(), Vec::new());
    for number in 0..count {
        let url = format!("http://host/{number}");
        let length = match random.below(8) {
            0 => 0,
            1 => 20_000 + random.below(200_000),
            _ => random.below(3000),
        };
        let body = random.bytes(length);
        let record = match is_arc {
            true => arc_record(&url, &[b"HTTP/1.0 200 OK\r\n\r\n", &body[..]].concat()),
            false => page(&url, &body),
        };
        let record = match shape {
            Shape::Plain | Shape::Arc | Shape::GzipAtOnce => record,
            Shape::Gzip | Shape::ArcGzip => gzip(&record),
            Shape::Stored => stored(&record),
            Shape::Zstd => zstd(&record),
        };
        let start = bytes.len();
        bytes.extend(record);
        records.push((url, body, start..bytes.len()));
    }
    if matches!(shape, Shape::GzipAtOnce) {
        bytes = gzip(&bytes);
    }
    Archive { bytes, records }
}

const SHAPES: [Shape; 7] = [
    Shape::Plain,
    Shape::Gzip,
    Shape::Stored,
    Shape::Zstd,
    Shape::Arc,
    Shape::ArcGzip,
    Shape::GzipAtOnce,
];

#[test]
fn archives_come_back_exactly_on_any_number_of_threads() {
    let mut random = Random::new(1);
    for round in 0..2 {
        for shape in SHAPES {
            let archive = archive(&mut random, shape, 40);
            let file = crawl("x", &archive.bytes);
            let source = open_one(&file.path);
            for threads in [1, 2, 4] {
                let segment = 1 + random.below(50_000) as u64;
                let found = read_from(&source, 0, &options(threads, segment), usize::MAX);
                let expected = archive
                    .records
                    .iter()
                    .map(|(url, body, _)| (url.as_str(), body));
                let captures = found.captures.iter();
                let captures =
                    captures.map(|(capture, body)| (capture.url.as_str(), body.as_ref().unwrap()));
                assert!(
                    captures.eq(expected),
                    "{shape:?}, round {round}, {threads} threads"
                );
                assert!(found.skipped.is_empty(), "{shape:?} {:?}", found.skipped);
            }
        }
    }
}

/// Bytes are overwritten, cut out or put in, at one to three places.
fn damage(random: &mut Random, archive: &mut Archive) -> Vec<bool> {
    let mut hurt = vec![false; archive.records.len()];
    let mut places: Vec<_> = (0..1 + random.below(3))
        .map(|_| random.below(archive.bytes.len()))
        .collect();
    places.sort_unstable();
    // From the end, so that places before stay where they are.
    for at in places.into_iter().rev() {
        let length = (1 + random.below(40)).min(archive.bytes.len() - at);
        let junk_length = 1 + random.below(60);
        let junk = random.bytes(junk_length);
        let touched = match random.below(3) {
            0 => {
                for byte in &mut archive.bytes[at..at + length] {
                    *byte = byte.wrapping_add(1 + random.below(255) as u8);
                }
                at..at + length
            }
            1 => {
                archive.bytes.drain(at..at + length);
                at..at + length
            }
            _ => {
                archive.bytes.splice(at..at, junk);
                at..at + 1
            }
        };
        for (hurt, (_, _, range)) in hurt.iter_mut().zip(&archive.records) {
            *hurt |= range.start < touched.end && touched.start < range.end;
        }
    }
    hurt
}

/// More than a moment's worth can be asked for.
fn rounds() -> u64 {
    let rounds = std::env::var("CRAWL_ROUNDS").ok();
    rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(12)
}

#[test]
fn nothing_outside_of_damage_is_lost() {
    let mut random = Random::new(2);
    for round in 0..rounds() {
        // What is compressed at once is lost behind its damage; that is another test.
        for shape in &SHAPES[..6] {
            let mut archive = archive(&mut random, *shape, 25);
            let hurt = damage(&mut random, &mut archive);
            if archive.bytes.is_empty() {
                continue;
            }
            let file = crawl("x", &archive.bytes);
            let Ok(sources) = crawl::open(&file.path, &Limits::default()) else {
                continue;
            };
            let segment = 1 + random.below(20_000) as u64;
            let alone = read_from(&sources[0], 0, &options(1, segment), usize::MAX);
            let what = format!("{shape:?}, round {round}: {:?}", alone.skipped);
            for ((url, body, _), hurt) in archive.records.iter().zip(&hurt) {
                let found = alone
                    .captures
                    .iter()
                    .any(|(capture, found)| capture.url == *url && found.as_ref() == Ok(body));
                assert!(found || *hurt, "{url} is lost; {what}");
            }

            let together = read_from(&sources[0], 0, &options(3, segment), usize::MAX);
            assert_eq!(together.captures, alone.captures, "{what}");
            assert_eq!(together.skipped, alone.skipped, "{what}");
            assert_eq!(together.ended, alone.ended, "{what}");
        }
    }
}

#[test]
fn a_record_with_a_wrong_length_costs_no_other() {
    for wrong in ["3", "7", "99", "2000", "99999999999"] {
        let mut middle = page("http://h/2", b"some body");
        let head = String::from_utf8(middle.clone()).unwrap();
        let length = head.find("Content-Length: ").unwrap() + 16;
        let end = length + head[length..].find('\r').unwrap();
        middle.splice(length..end, wrong.bytes());
        let records = [
            page("http://h/1", b"a"),
            middle,
            page("http://h/3", b"c"),
            page("http://h/4", b"d"),
        ];
        let each: Vec<_> = records.iter().map(|record| gzip(record)).collect();

        for bytes in [records.concat(), each.concat(), gzip(&records.concat())] {
            let found = read_bytes(&bytes);
            assert_eq!(
                found.urls(),
                ["http://h/1", "http://h/3", "http://h/4"],
                "{wrong}"
            );
            assert_eq!(found.skipped.len(), 1, "{:?}", found.skipped);
        }
    }
}

#[test]
fn junk_and_missing_versions_are_told_with_their_place() {
    let (one, two) = (page("http://h/1", b"a"), page("http://h/2", b"b"));
    let headless = &page("http://h/lost", b"x")[10..];
    let plain = [&one[..], b"\x00\xffjunk\x01", headless, &two].concat();
    let members = [
        gzip(&one),
        b"\x1f\x8b\x08junk".to_vec(),
        gzip(headless),
        gzip(&two),
    ]
    .concat();

    let found = read_bytes(&plain);
    assert_eq!(found.urls(), ["http://h/1", "http://h/2"]);
    assert_eq!(found.skipped[0].place.offset, one.len() as u64);
    assert_eq!(
        found.skipped[0].length,
        Some((plain.len() - one.len() - two.len()) as u64)
    );
    assert_eq!(found.reasons(), ["no record begins there"]);

    let found = read_bytes(&members);
    assert_eq!(found.urls(), ["http://h/1", "http://h/2"]);
    assert_eq!(found.skipped.len(), 1);
    assert_eq!(found.skipped[0].place.offset, gzip(&one).len() as u64);
}

/// Downloads may be archives themselves.
#[test]
fn an_archive_inside_of_an_archive_stays_one_body() {
    let members: Vec<_> = (0..200)
        .map(|number| gzip(&page(&format!("http://inner/{number}"), b"inner")))
        .collect();
    let plain: Vec<_> = (0..200)
        .map(|number| page(&format!("http://inner/{number}"), b"inner"))
        .collect();
    for inner in [members.concat(), plain.concat()] {
        let outer = |number| page(&format!("http://outer/{number}"), &inner);
        let outer: Vec<_> = (0..5).map(outer).collect();
        let kept: Vec<_> = outer.iter().map(|record| stored(record)).collect();
        for bytes in [outer.concat(), kept.concat()] {
            let file = crawl("x", &bytes);
            for threads in [1, 2, 4] {
                let options = options(threads, 1500);
                let found = read_from(&open_one(&file.path), 0, &options, usize::MAX);
                assert_eq!(found.captures.len(), 5, "{:?}", found.urls());
                assert!(
                    found
                        .captures
                        .iter()
                        .all(|(_, body)| body.as_ref() == Ok(&inner))
                );
                assert!(found.skipped.is_empty());
            }
        }
    }
}

#[test]
fn a_tail_that_was_cut_off_is_told() {
    let records: Vec<_> = (0..3)
        .map(|n| page(&format!("http://h/{n}"), b"some body"))
        .collect();
    let each: Vec<_> = records.iter().map(|record| gzip(record)).collect();
    for (bytes, last) in [
        (records.concat(), records[2].len()),
        (each.concat(), each[2].len()),
    ] {
        for cut in [1, 5, 20, last - 1] {
            // Line ends are no loss.
            if bytes.ends_with(b"\n") && cut < 5 {
                continue;
            }
            let found = read_bytes(&bytes[..bytes.len() - cut]);
            assert_eq!(found.urls(), ["http://h/0", "http://h/1"], "cut by {cut}");
            assert_eq!(found.skipped.len(), 1);
            let ended = found.ended.unwrap();
            assert!(!ended.still_written);
            assert_eq!(ended.position, (bytes.len() - cut) as u64);
        }
    }
}

#[test]
fn what_is_still_being_written_is_taken_the_next_time() {
    let records: Vec<_> = (0..3)
        .map(|n| page(&format!("http://h/{n}"), b"some body"))
        .collect();
    let each: Vec<_> = records.iter().map(|record| gzip(record)).collect();
    for bytes in [records.concat(), each.concat(), gzip(&records.concat())] {
        let half = bytes.len() - 30;
        let file = crawl("x.warc.gz.open", &bytes[..half]);
        let source = open_one(&file.path);

        let first = read_from(&source, 0, &options(1, 50), usize::MAX);
        let ended = first.ended.as_ref().unwrap();
        assert!(ended.still_written && first.skipped.is_empty(), "{first:?}");
        let mut handle = OpenOptions::new().append(true).open(&file.path).unwrap();
        handle.write_all(&bytes[half..]).unwrap();
        let rest = read_from(&source, ended.position, &options(2, 50), usize::MAX);

        let urls = [first.urls(), rest.urls()].concat();
        assert_eq!(urls, ["http://h/0", "http://h/1", "http://h/2"]);
        assert!(rest.skipped.is_empty() && !rest.ended.unwrap().still_written);
    }
}

#[test]
fn reading_can_be_stopped_from_outside() {
    let records: Vec<_> = (0..500)
        .map(|n| gzip(&page(&format!("http://h/{n}"), b"x")))
        .collect();
    let file = crawl("x", &records.concat());
    for threads in [1, 2] {
        let options = options(threads, 1000);
        options.stop.store(true, Ordering::Relaxed);
        let found = read_from(&open_one(&file.path), 0, &options, usize::MAX);
        assert!(found.ended.unwrap().stopped);
        assert!(found.captures.is_empty());
    }
}

/// Runs on a thread of its own, so that what never ends fails.
fn within_a_minute(work: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        work();
        let _ = sender.send(());
    });
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it takes too long"),
        _ => thread.join().unwrap(),
    }
}

#[test]
fn random_bytes_break_nothing() {
    within_a_minute(|| {
        let mut random = Random::new(5);
        let beginnings: [&[u8]; 8] = [
            b"",
            b"WARC/1.0\r\n",
            b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 10\r\n\r\n",
            b"filedesc://x 0.0.0.0 20240203040506 text/plain 5\n12345\n",
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
            b"\x28\xb5\x2f\xfd",
            b"\x5d\x2a\x4d\x18\x10\x00\x00\x00\x37\xa4\x30\xec",
            b"PK\x03\x04",
        ];
        for round in 0..2000 {
            let mut bytes = Vec::new();
            for _ in 0..1 + random.below(6) {
                bytes.extend(beginnings[(round + random.below(2)) % beginnings.len()]);
                let length = random.below(200);
                bytes.extend(random.bytes(length));
            }
            let file = crawl("x", &bytes);
            let Ok(sources) = crawl::open(&file.path, &Limits::default()) else {
                continue;
            };
            for source in sources {
                let alone = read_from(&source, 0, &options(1, 50), usize::MAX);
                let together = read_from(&source, 0, &options(2, 50), usize::MAX);
                assert_eq!(alone.captures, together.captures, "{bytes:?}");
                assert_eq!(alone.skipped, together.skipped, "{bytes:?}");
            }
        }
    });
}

#[test]
fn damage_to_what_is_compressed_at_once_ends_it_and_no_more() {
    within_a_minute(|| {
        let mut random = Random::new(6);
        for _ in 0..40 {
            let mut archive = archive(&mut random, Shape::GzipAtOnce, 30);
            let hurt = damage(&mut random, &mut archive);
            assert_eq!(hurt.len(), 30);
            let file = crawl("x", &archive.bytes);
            let Ok(sources) = crawl::open(&file.path, &Limits::default()) else {
                continue;
            };
            let found = read_from(&sources[0], 0, &options(2, 50), usize::MAX);
            assert!(!found.skipped.is_empty() || found.captures.len() == 30);
            for (capture, body) in &found.captures {
                let known = archive
                    .records
                    .iter()
                    .any(|(url, _, _)| *url == capture.url);
                assert!(!known || body.is_ok());
            }
        }
    });
}

/// Records that claim to reach to the end of the file, one after the other: each is looked at once.
#[test]
fn lengths_that_are_lies_do_not_take_forever() {
    within_a_minute(|| {
        let lie = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\r\nContent-Length: 99999999\r\n\r\n";
        let file = crawl("x", lie.repeat(20_000).as_bytes());
        let found = read(&file.path);
        assert_eq!(found.skipped.len(), 20_000);

        let arc = "http://h/ 1.2.3.4 20240203040506 text/plain 99999999\n";
        let file = crawl("x", arc.repeat(20_000).as_bytes());
        assert_eq!(read(&file.path).skipped.len(), 20_000);

        let file = crawl("x", &gzip(lie.repeat(20_000).as_bytes()));
        assert!(!read(&file.path).skipped.is_empty());
        let file = crawl("x", &b"\x1f\x8b\x08\x00".repeat(200_000));
        let _ = crawl::open(&file.path, &Limits::default());
    });
}
