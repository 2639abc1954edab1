//! Damage of every kind: nothing outside of it is lost, and nothing hostile breaks or holds up the reader.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::fs::OpenOptions;
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crawl::{Body, Capture, Limits};
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

/// Where segments begin as the ones before them end, nothing is done twice.
#[test]
fn what_is_read_in_parallel_is_read_once() {
    let mut random = Random::new(4);
    for shape in SHAPES {
        let archive = archive(&mut random, shape, 200);
        let file = crawl("x", &archive.bytes);
        let source = open_one(&file.path);
        let count = AtomicUsize::new(0);
        let work = |_: &Capture, _: &mut Body<'_>| count.fetch_add(1, Ordering::Relaxed);
        let taken = &mut |_| ControlFlow::Continue(());
        let ended = source.read(0, &options(2, 60_000), &work, taken).unwrap();
        assert!(!ended.stopped);
        assert_eq!(count.into_inner(), 200, "{shape:?}");
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
        // An archive that is compressed at once is lost behind its damage; that is another test.
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
        let middle = with_length(page("http://h/2", b"some body"), wrong);
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

/// Where the head of a record is wrong and the message in it says how long it is, and is, nothing is lost.
#[test]
fn a_record_with_a_wrong_length_is_read_by_the_length_of_its_message() {
    let announcing = |length: &str| {
        let head = format!("Content-Type: text/plain\r\nContent-Length: {length}\r\n");
        response("http://h/2", "<urn:2>", &head, b"some body")
    };
    for wrong in ["3", "7", "99", "2000", "99999999999"] {
        for (announced, is_whole) in [("9", true), ("8", false), ("10", false), ("x", false)] {
            let middle = with_length(announcing(announced), wrong);
            let (before, behind) = (page("http://h/1", b"a"), page("http://h/3", b"c"));

            let within = read_bytes(&[&before[..], &middle, &behind].concat());
            let at_end = read_bytes(&[&before[..], &middle].concat());

            for found in [within, at_end] {
                let read = found.urls().contains(&"http://h/2");
                assert_eq!(read, is_whole, "{wrong} {announced}: {:?}", found.urls());
                assert_eq!(found.skipped.len(), usize::from(!is_whole));
                assert!(!read || found.body(1) == b"some body");
            }
        }
    }
}

/// A record whose head says that it has so many bytes.
fn with_length(mut record: Vec<u8>, wrong: &str) -> Vec<u8> {
    let head = String::from_utf8_lossy(&record);
    let length = head.find("Content-Length: ").unwrap() + 16;
    let end = length + head[length..].find('\r').unwrap();
    record.splice(length..end, wrong.bytes());
    record
}

/// Files that are one stream may still have members, and records that begin with them or lie in two.
#[test]
fn a_wrong_length_in_a_stream_of_members_costs_no_other() {
    let page = |name: &str| page(&format!("http://h/{name}"), b"some body");
    for wrong in ["3", "99", "450", "99999999999"] {
        let two = with_length(page("2"), wrong);
        let begun = [page("1"), two, page("3")];
        let rest = ["4", "5", "6"].map(page);
        let members = [gzip(&begun.concat())].into_iter();
        let members = members.chain(rest.iter().map(|record| gzip(record)));
        let mut files = vec![members.collect::<Vec<_>>().concat()];
        let all = [begun.concat(), rest.concat()].concat();
        // The first has more than a record; then come pieces of every length.
        for length in 1..40 {
            let (first, rest) = all.split_at(400);
            let pieces = rest.chunks(length).map(gzip);
            files.push([gzip(first)].into_iter().chain(pieces).flatten().collect());
        }
        for bytes in files {
            let found = read_bytes(&bytes);
            assert_eq!(
                found.urls(),
                ["1", "3", "4", "5", "6"].map(|name| format!("http://h/{name}")),
                "{wrong}: {:?}",
                found.skipped
            );
            assert_eq!(found.skipped.len(), 1, "{:?}", found.skipped);
        }
    }
}

/// Files are put together of such as have a member for each record, and of such as have one for all.
#[test]
fn members_with_many_records_lose_nothing_of_the_others() {
    let page = |name: &str| page(&format!("http://h/{name}"), b"some body");
    for wrong in ["3", "99", "450", "99999999999"] {
        let two = with_length(page("2"), wrong);
        let many = gzip(&[page("1"), two, page("3"), page("4")].concat());
        let each = |names: &[&str]| -> Vec<u8> {
            names.iter().flat_map(|name| gzip(&page(name))).collect()
        };
        for before in [&["a"][..], &["a", "b", "c", "d", "e"]] {
            let bytes = [each(before), many.clone(), each(&["5"])].concat();
            let file = crawl("x", &bytes);
            for threads in [1, 2] {
                let source = open_one(&file.path);
                let found = read_from(&source, 0, &options(threads, 300), usize::MAX);
                let names = [before, &["1", "3", "4", "5"]].concat();
                let urls: Vec<_> = names
                    .iter()
                    .map(|name| format!("http://h/{name}"))
                    .collect();
                assert_eq!(found.urls(), urls, "{wrong}: {:?}", found.skipped);
                assert_eq!(found.skipped.len(), 1, "{:?}", found.skipped);
            }
        }
    }
}

/// The part read of a member that is still being written is not read again.
#[test]
fn a_member_of_many_records_that_grows_is_read_once() {
    let page = |number: usize| page(&format!("http://h/{number}"), &[b'x'; 200]);
    let many = stored(&(1..20).map(page).collect::<Vec<_>>().concat());
    let bytes = [gzip(&page(0)), many].concat();
    let half = bytes.len() / 2;
    let file = crawl("x.warc.gz.open", &bytes[..half]);

    let first = read(&file.path);
    std::fs::write(&file.path, &bytes).unwrap();
    let position = first.ended.as_ref().unwrap().position;
    let rest = read_from(
        &open_one(&file.path),
        position,
        &options(1, 1000),
        usize::MAX,
    );

    let urls = [first.urls(), rest.urls()].concat();
    let expected: Vec<_> = (0..20).map(|number| format!("http://h/{number}")).collect();
    assert_eq!(urls, expected);
}

#[test]
fn a_damaged_member_of_a_stream_costs_nothing_of_the_next() {
    let pair = |name: &str| {
        let page = |number: u8| page(&format!("http://h/{name}{number}"), b"some body");
        gzip(&[page(1), page(2)].concat())
    };
    let mut middle = pair("b");
    let at = middle.len() / 2;
    middle[at..at + 8].fill(0xFF);
    let found = read_bytes(&[pair("a"), middle, pair("c"), pair("d")].concat());

    let of_others = |url: &&str| !url.starts_with("http://h/b");
    let urls: Vec<_> = found.urls().into_iter().filter(of_others).collect();
    let expected = ["a1", "a2", "c1", "c2", "d1", "d2"];
    assert_eq!(urls, expected.map(|name| format!("http://h/{name}")));
    assert_eq!(found.skipped.len(), 1, "{:?}", found.skipped);
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

/// The end of a member with a wrong checksum is known, so nothing in it is taken for a member.
#[test]
fn an_archive_inside_of_a_damaged_member_stays_inside() {
    let inner: Vec<_> = (0..20)
        .map(|number| gzip(&page(&format!("http://inner/{number}"), b"inner")))
        .collect();
    let mut middle = stored(&page("http://outer/2", &inner.concat()));
    let last = middle.len() - 20;
    middle[last] ^= 1;
    let one = stored(&page("http://outer/1", b"x"));
    let three = stored(&page("http://outer/3", b"x"));
    let file = crawl("x", &[one, middle, three].concat());
    for threads in [1, 2] {
        let found = read_from(&open_one(&file.path), 0, &options(threads, 500), usize::MAX);
        assert_eq!(found.urls(), ["http://outer/1", "http://outer/3"]);
        assert_eq!(
            found.reasons(),
            ["the checksum of its gzip member is wrong"]
        );
    }
}

/// Members in members, thousands deep, and all of them end in the same damage.
#[test]
fn damage_is_not_decoded_again_and_again() {
    within_a_minute(|| {
        const BLOCK: usize = 60_000;
        let head = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\n";
        let kept = |length: usize| {
            let length = (length as u16).to_le_bytes();
            [0, length[0], length[1], !length[0], !length[1]]
        };
        let good = gzip(&page("http://h/good", b"x"));
        let mut bytes = good.clone();
        for block in 0..40 {
            if block > 0 {
                bytes.extend(kept(BLOCK));
            }
            // The bytes kept as they are up to the end of the block are those of each member in it.
            let mut at = 0;
            while at + 200 < BLOCK {
                bytes.extend(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03");
                bytes.extend(kept(BLOCK - at - 15));
                bytes.extend(head);
                at += 15 + head.len();
            }
            bytes.extend(vec![b'x'; BLOCK - at]);
        }
        bytes.extend([7; 400]);
        bytes.extend(&good);
        let file = crawl("x", &bytes);
        let source = open_one(&file.path);

        let alone = read_from(&source, 0, &options(1, 500_000), usize::MAX);
        let together = read_from(&source, 0, &options(2, 500_000), usize::MAX);

        assert_eq!(alone.urls(), ["http://h/good", "http://h/good"]);
        assert!(alone.skipped.len() < 1000, "{}", alone.skipped.len());
        assert_eq!(alone.skipped, together.skipped);
        assert_eq!(alone.ended, together.ended);
    });
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

/// Beginnings of heads that never end: each is looked at, but not far.
#[test]
fn heads_without_an_end_do_not_take_forever() {
    within_a_minute(|| {
        for line in ["\nWARC/1", "\nWARC/x", "\nWARC/1.0\nA: b"] {
            let junk = line.repeat((1 << 20) / line.len());
            let good = page("http://h/good", b"x");
            let first = page("http://h/first", b"x");
            let plain = [&first[..], junk.as_bytes(), b"\n", &good].concat();
            let second = [junk.as_bytes(), b"\n", &good].concat();
            let members = [gzip(&first), gzip(&second)].concat();
            for bytes in [&plain, &gzip(&plain), &members] {
                let found = read_bytes(bytes);
                assert_eq!(found.urls(), ["http://h/first", "http://h/good"], "{line}");
                assert_eq!(found.skipped.len(), 1);
            }
        }
    });
}

/// A record cut off in its head does not take the next with it.
#[test]
fn a_head_that_is_cut_off_costs_no_other() {
    let one = page("http://h/1", b"x");
    let cut = [&one[..50], b"\r\n", &page("http://h/2", b"x")].concat();
    for bytes in [[&one[..], &cut].concat(), [gzip(&one), gzip(&cut)].concat()] {
        let found = read_bytes(&bytes);
        assert_eq!(found.urls(), ["http://h/1", "http://h/2"]);
        assert_eq!(found.reasons(), ["its head has no end"]);
    }
}

#[test]
fn a_member_that_lost_as_much_as_the_next_one_has_does_not_swallow_it() {
    let names = ["archive/a.warc.gz", "archive/b.warc.gz"];
    let first = [("http://a/1", 4000), ("http://a/2", 10)];
    let first: Vec<u8> = first
        .into_iter()
        .flat_map(|(url, size)| gzip(&page(url, &Random::new(3).bytes(size))))
        .collect();
    let second = gzip(&page("http://b/", b"b"));
    let mut bytes = zip(&[
        (names[0], &first, false),
        (names[1], &second, false),
        ("datapackage.json", b"{}", false),
    ]);
    let next = 30 + names[1].len() + second.len();
    let at = 30 + names[0].len() + 100;
    bytes.drain(at..at + next);
    let file = crawl("x.wacz", &bytes);

    let sources = crawl::open(&file.path, &Limits::default()).unwrap();

    let mut urls: Vec<String> = Vec::new();
    for source in &sources {
        let found = read_from(source, 0, &options(1, 4000), usize::MAX);
        urls.extend(found.captures.into_iter().map(|(capture, _)| capture.url));
    }
    assert_eq!(urls, ["http://a/2", "http://b/"]);
}

#[test]
fn a_panic_in_what_takes_is_passed_on() {
    within_a_minute(|| {
        let records: Vec<_> = (0..3000)
            .map(|n| gzip(&page(&format!("http://h/{n}"), b"x")))
            .collect();
        let file = crawl("x", &records.concat());
        let source = open_one(&file.path);
        let result = std::panic::catch_unwind(|| {
            source.read(0, &options(3, 5000), &whole_body, &mut |_| panic!("enough"))
        });
        assert!(result.is_err());
    });
}
