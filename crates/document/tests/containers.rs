//! Containers: what is handed over, what is left out, and what stops bombs.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use document::container::{Containers, Error, Limits, Opened, open};
use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

type Members = Vec<(String, Result<Vec<u8>, String>)>;

fn opened(
    container: &[u8],
    which: Containers,
    limits: &Limits,
) -> (Members, Result<Opened, Error>) {
    let mut members = Vec::new();
    // Some of it was read before, as for the media type.
    let (head, mut rest) = container.split_at(container.len().min(700));
    let opened = open(head, &mut rest, which, limits, &mut |path, reader| {
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes).map(|_| bytes);
        members.push((path.to_owned(), read.map_err(|error| error.to_string())));
        ControlFlow::Continue(())
    });
    (members, opened)
}

fn all(container: &[u8]) -> Vec<(String, String)> {
    let (members, opened) = opened(container, Containers::ALL, &Limits::default());
    let opened = opened.unwrap();
    assert_eq!(opened.members, members.len() as u64);
    let text = |bytes: Result<Vec<u8>, String>| String::from_utf8(bytes.unwrap()).unwrap();
    members
        .into_iter()
        .map(|(path, bytes)| (path, text(bytes)))
        .collect()
}

fn pairs(found: &[(String, String)]) -> Vec<(&str, &str)> {
    found
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A gzip layer around so many zeros.
fn bomb(size: u64) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    io::copy(&mut io::repeat(0).take(size), &mut encoder).unwrap();
    encoder.finish().unwrap()
}

fn tar_header(name: &[u8], flag: u8, size: usize) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name);
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[156] = flag;
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].fill(b' ');
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

fn tar_entry(name: &[u8], flag: u8, content: &[u8]) -> Vec<u8> {
    let mut entry = tar_header(name, flag, content.len());
    entry.extend(content);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

fn tar(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, flag, content) in entries {
        archive.extend(tar_entry(name.as_bytes(), *flag, content));
    }
    archive.extend([0; 1024]);
    archive
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Stored,
    Deflated,
    /// The sizes stand behind it.
    Streamed,
    /// The sizes stand behind it, without a mark.
    StreamedBare,
    Encrypted,
    Strange,
}

fn zip_member(name: &[u8], form: Form, content: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(content);
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(content).unwrap();
    let data = match form {
        Form::Stored | Form::Encrypted | Form::Strange => content.to_vec(),
        _ => deflate.finish().unwrap(),
    };
    let is_streamed = matches!(form, Form::Streamed | Form::StreamedBare);
    let flags: u16 = if is_streamed {
        8
    } else {
        u16::from(form == Form::Encrypted)
    };
    let method: u16 = match form {
        Form::Stored | Form::Encrypted => 0,
        Form::Strange => 99,
        _ => 8,
    };
    let sizes = [crc.sum(), data.len() as u32, content.len() as u32];
    let mut member = b"PK\x03\x04\x14\0".to_vec();
    member.extend(flags.to_le_bytes());
    member.extend(method.to_le_bytes());
    member.extend([0; 4]);
    for size in sizes {
        member.extend(if is_streamed {
            [0; 4]
        } else {
            size.to_le_bytes()
        });
    }
    member.extend((name.len() as u16).to_le_bytes());
    member.extend([0, 0]);
    member.extend(name);
    member.extend(data);
    if form == Form::Streamed {
        member.extend(b"PK\x07\x08");
    }
    if is_streamed {
        sizes
            .iter()
            .for_each(|size| member.extend(size.to_le_bytes()));
    }
    member
}

fn zip(members: &[(&str, Form, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, form, content) in members {
        archive.extend(zip_member(name.as_bytes(), *form, content));
    }
    archive.extend(b"PK\x01\x02 whatever the directory says");
    archive
}

#[test]
fn one_gzip_layer_is_opened_and_no_more() {
    assert_eq!(pairs(&all(&gzip(b"text"))), [("", "text")]);
    let two_members = [gzip(b"one, "), gzip(b"two")].concat();
    assert_eq!(pairs(&all(&two_members)), [("", "one, two")]);
    let padded = [gzip(b"text"), vec![0; 100]].concat();
    assert_eq!(pairs(&all(&padded)), [("", "text")]);

    let twice = gzip(&gzip(b"text"));
    let (members, _) = opened(&twice, Containers::ALL, &Limits::default());
    assert_eq!(
        members[0].1.as_ref().unwrap(),
        &gzip(b"text"),
        "the second layer is as it was"
    );
}

#[test]
fn archives_are_opened_when_asked_for() {
    let archive = tar(&[
        ("a/1.txt", b'0', b"one"),
        ("a/", b'5', b""),
        ("2.txt", b'\0', b"two"),
    ]);
    assert_eq!(
        pairs(&all(&archive)),
        [("a/1.txt", "one"), ("2.txt", "two")]
    );
    assert_eq!(
        pairs(&all(&gzip(&archive))),
        [("a/1.txt", "one"), ("2.txt", "two")]
    );

    let (members, _) = opened(&gzip(&archive), Containers::default(), &Limits::default());
    assert_eq!(members.len(), 1);
    assert_eq!(
        members[0].1.as_ref().unwrap(),
        &archive,
        "only the layer was asked for"
    );
    let (_, refused) = opened(&archive, Containers::default(), &Limits::default());
    assert!(matches!(refused, Err(Error::NoContainer)));
    assert!(Containers::ALL.opens(&archive) && !Containers::default().opens(&archive));
}

#[test]
fn every_form_of_a_zip_member_is_read() {
    let long = "a long text ".repeat(10_000);
    let archive = zip(&[
        ("stored.txt", Form::Stored, b"stored"),
        ("empty", Form::Stored, b""),
        ("folder/", Form::Stored, b""),
        ("deflated.txt", Form::Deflated, long.as_bytes()),
        ("streamed.txt", Form::Streamed, long.as_bytes()),
        ("bare.txt", Form::StreamedBare, long.as_bytes()),
        ("last.txt", Form::Deflated, b"last"),
    ]);

    let found = all(&archive);

    assert_eq!(
        pairs(&found),
        [
            ("stored.txt", "stored"),
            ("empty", ""),
            ("deflated.txt", &*long),
            ("streamed.txt", &*long),
            ("bare.txt", &*long),
            ("last.txt", "last"),
        ]
    );
}

#[test]
fn members_that_nobody_reads_are_passed_over() {
    let long = "a long text ".repeat(10_000);
    let tar = tar(&[
        ("1", b'0', long.as_bytes()),
        ("2", b'0', long.as_bytes()),
        ("3", b'0', b"x"),
    ]);
    let zip = zip(&[
        ("1", Form::Stored, long.as_bytes()),
        ("2", Form::Deflated, long.as_bytes()),
        ("3", Form::Streamed, long.as_bytes()),
        ("4", Form::Streamed, b"x"),
    ]);

    for (container, count) in [(gzip(&tar), 3), (tar, 3), (zip, 4)] {
        let mut paths = Vec::new();
        let opened = open(
            &container,
            &mut io::empty(),
            Containers::ALL,
            &Limits::default(),
            &mut |path, reader| {
                reader.read_exact(&mut [0]).unwrap();
                paths.push(path.to_owned());
                ControlFlow::Continue(())
            },
        );

        assert_eq!(paths.len(), count);
        assert_eq!(opened.unwrap().skipped, []);
    }
}

#[test]
fn whoever_has_enough_gets_no_more() {
    let archive = tar(&[("1", b'0', b"x"), ("2", b'0', b"y")]);
    let mut count = 0;

    let opened = open(
        &archive,
        &mut io::empty(),
        Containers::ALL,
        &Limits::default(),
        &mut |_, _| {
            count += 1;
            ControlFlow::Break(())
        },
    );

    assert_eq!(count, 1);
    assert!(opened.unwrap().stopped);
}

#[test]
fn paths_and_links_lead_nowhere() {
    let archive = tar(&[
        ("../../etc/passwd", b'0', b"dots"),
        ("/etc/passwd", b'0', b"absolute"),
        ("link", b'2', b""),
        ("hard", b'1', b""),
        ("device", b'3', b""),
        ("a\\..\\b", b'0', b"backslashes"),
    ]);
    let (members, opened) = opened(&archive, Containers::ALL, &Limits::default());

    let paths: Vec<&str> = members.iter().map(|(path, _)| &**path).collect();
    assert_eq!(paths, ["etc/passwd", "etc/passwd~2", "a/b"]);
    let skipped: Vec<String> = opened
        .unwrap()
        .skipped
        .iter()
        .map(|skipped| format!("{}: {}", skipped.path, skipped.reason))
        .collect();
    assert_eq!(
        skipped,
        [
            "link: it is a link",
            "hard: it is a link",
            "device: it is a device or a pipe"
        ]
    );
    let found = all(&zip(&[
        ("../x", Form::Stored, b"zip"),
        ("/x", Form::Deflated, b"zip"),
    ]));
    assert_eq!(pairs(&found), [("x", "zip"), ("x~2", "zip")]);
}

#[test]
fn long_names_of_tar_are_read() {
    let name = "d/".repeat(100) + "file.txt";
    let pax = |key: &str, value: &str| {
        let rest = format!(" {key}={value}\n");
        let mut length = rest.len() + 1;
        while length.to_string().len() + rest.len() != length {
            length += 1;
        }
        format!("{length}{rest}")
    };
    let gnu = [
        tar_entry(b"././@LongLink", b'L', format!("{name}\0").as_bytes()),
        tar_entry(b"short", b'0', b"gnu"),
    ]
    .concat();
    let posix = [
        tar_entry(b"global", b'g', pax("comment", "x").as_bytes()),
        tar_entry(
            b"header",
            b'x',
            (pax("path", &name) + &pax("mtime", "1.5")).as_bytes(),
        ),
        tar_entry(b"short", b'0', b"pax"),
    ]
    .concat();
    let mut prefixed = tar_header(b"file.txt", b'0', 0);
    prefixed[345..352].copy_from_slice(b"some/di");
    prefixed[148..156].fill(b' ');
    let sum: u64 = prefixed.iter().map(|byte| u64::from(*byte)).sum();
    prefixed[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());

    assert_eq!(pairs(&all(&gnu)), [(&*name, "gnu")]);
    assert_eq!(pairs(&all(&posix)), [(&*name, "pax")]);
    assert_eq!(pairs(&all(&prefixed)), [("some/di/file.txt", "")]);

    let mut endless = tar_header(b"././@LongLink", b'L', 0o77777777777);
    endless.extend([b'x'; 4096]);
    let (_, refused) = opened(&endless, Containers::ALL, &Limits::default());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "it is damaged: the description of a member is too long"
    );
}

#[test]
fn containers_in_containers_are_opened_to_a_depth() {
    let inner = gzip(b"paper");
    let package = gzip(&tar(&[
        ("paper.ps.gz", b'0', &inner),
        ("readme", b'0', b"text"),
    ]));
    assert_eq!(
        pairs(&all(&package)),
        [("paper.ps.gz", "paper"), ("readme", "text")]
    );

    let nested = zip(&[(
        "a.zip",
        Form::Stored,
        &zip(&[(
            "b.zip",
            Form::Deflated,
            &zip(&[("c", Form::Stored, b"deep")]),
        )]),
    )]);
    let (members, _) = opened(&nested, Containers::ALL, &Limits::default());
    assert_eq!(members[0].0, "a.zip!b.zip");
    assert!(
        members[0].1.as_ref().unwrap().starts_with(b"PK"),
        "what lies deeper is as it is"
    );
    let deeper = Limits {
        depth: 3,
        ..Limits::default()
    };
    let (members, _) = opened(&nested, Containers::ALL, &deeper);
    assert_eq!(
        members,
        [("a.zip!b.zip!c".to_owned(), Ok(b"deep".to_vec()))]
    );
}

#[test]
fn bombs_are_stopped_and_called_so() {
    let limits = Limits {
        free: 1024 * 1024,
        size: 6 * 1024 * 1024,
        ..Limits::default()
    };
    let large = bomb(4 * 1024 * 1024);
    let zeros = vec![0; 4 * 1024 * 1024];
    for container in [
        large.clone(),
        zip(&[("bomb", Form::Deflated, &zeros)]),
        zip(&[("bomb", Form::Streamed, &zeros)]),
        tar(&[("bomb.gz", b'0', &large)]),
        gzip(&tar(&[("zeros", b'0', &zeros)])),
    ] {
        let (members, opened) = opened(&container, Containers::ALL, &limits);
        let error = opened.unwrap_err();
        assert!(error.is_bomb(), "{error}");
        assert!(
            error
                .to_string()
                .contains("expands to more than 200 times its size"),
            "{error}"
        );
        assert!(
            members.iter().any(|(_, read)| read.is_err()),
            "the reader was told"
        );
    }

    let generous = Limits {
        ratio: u64::MAX,
        ..limits
    };
    let (_, too_large) = opened(&bomb(10 * 1024 * 1024), Containers::ALL, &generous);
    assert!(matches!(too_large, Err(Error::Size { limit }) if limit == 6 * 1024 * 1024));
    let (members, fine) = opened(&large, Containers::ALL, &generous);
    assert!(fine.is_ok() && members[0].1.as_ref().unwrap().len() == 4 * 1024 * 1024);
}

#[test]
fn bombs_that_nobody_reads_are_stopped_too() {
    let zeros = vec![0; 4 * 1024 * 1024];
    let container = zip(&[("bomb", Form::Streamed, &zeros), ("2", Form::Stored, b"x")]);

    let limits = Limits {
        free: 1024 * 1024,
        ..Limits::default()
    };
    let opened = open(
        &container,
        &mut io::empty(),
        Containers::ALL,
        &limits,
        &mut |_, _| ControlFlow::Continue(()),
    );

    assert!(opened.unwrap_err().is_bomb());
}

#[test]
fn members_are_counted() {
    let limits = Limits {
        members: 10,
        ..Limits::default()
    };
    let name = |index: usize| format!("{index}");
    let names: Vec<String> = (0..11).map(name).collect();
    let entries: Vec<(&str, u8, &[u8])> =
        names.iter().map(|name| (&**name, b'2', &b""[..])).collect();

    let (_, opened) = opened(&tar(&entries), Containers::ALL, &limits);

    assert_eq!(
        opened.unwrap_err().to_string(),
        "it has more than 10 members; raise the limit on members if it is no bomb"
    );
}

#[test]
fn damage_costs_what_it_hits() {
    let text = b"some text that is long enough to be damaged".repeat(20);
    let mut archive = zip(&[
        ("good", Form::Deflated, &text),
        ("bad", Form::Deflated, &text),
        ("also good", Form::Deflated, &text),
    ]);
    let second = archive
        .windows(3)
        .position(|window| window == b"bad")
        .unwrap();
    archive[second + 10] ^= 0x55;

    let (mut members, opened) = opened(&archive, Containers::ALL, &Limits::default());

    let opened = opened.unwrap();
    members.retain(|(_, read)| read.is_ok());
    let good: Vec<&str> = members.iter().map(|(path, _)| &**path).collect();
    assert_eq!(good, ["good", "also good"]);
    assert_eq!(opened.skipped[0].path, "bad");
    assert!(opened.skipped[0].reason.starts_with("it is damaged: "));
}

#[test]
fn nested_damage_costs_only_the_inner_container() {
    let mut inner = gzip(&b"paper".repeat(1000));
    let length = inner.len();
    inner[length / 2] ^= 0xFF;
    let archive = tar(&[("paper.gz", b'0', &inner), ("readme", b'0', b"text")]);

    let (members, opened) = opened(&archive, Containers::ALL, &Limits::default());

    assert_eq!(
        members.last().unwrap(),
        &("readme".to_owned(), Ok(b"text".to_vec()))
    );
    assert_eq!(opened.unwrap().skipped[0].path, "paper.gz");
}

#[test]
fn what_cannot_be_had_is_named() {
    let archive = zip(&[
        ("secret", Form::Encrypted, b"x"),
        ("strange", Form::Strange, b"x"),
        ("good", Form::Stored, b"y"),
    ]);

    let (members, opened) = opened(&archive, Containers::ALL, &Limits::default());

    assert_eq!(members, [("good".to_owned(), Ok(b"y".to_vec()))]);
    let reasons: Vec<String> = opened
        .unwrap()
        .skipped
        .into_iter()
        .map(|skipped| skipped.reason)
        .collect();
    assert_eq!(
        reasons,
        [
            "it is encrypted",
            "it is compressed by a method that is not known here"
        ]
    );
}

#[test]
fn truncated_containers_are_damaged() {
    let text = b"text ".repeat(1000);
    let packed = gzip(&tar(&[("1", b'0', &text), ("2", b'0', &text)]));
    let (_, cut) = opened(
        &packed[..packed.len() / 2],
        Containers::ALL,
        &Limits::default(),
    );
    assert!(matches!(cut, Err(Error::Damaged(_))), "{cut:?}");

    let archive = tar(&[("1", b'0', &text)]);
    let (members, cut) = opened(&archive[..1500], Containers::ALL, &Limits::default());
    assert!(members[0].1.is_err());
    assert_eq!(
        cut.unwrap_err().to_string(),
        "it is damaged: it ends within a member"
    );
}

/// Random damage and random bytes end in an error or in less, never in a panic or a loop.
#[test]
fn random_damage_does_no_harm() {
    let mut state = 0x1234_5678_9ABC_DEF1_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let text = b"some text ".repeat(50);
    let containers = [
        gzip(&text),
        gzip(&tar(&[
            ("1", b'0', &text),
            ("2.gz", b'0', &gzip(&text)),
            ("x", b'x', b"12 path=abc\n"),
        ])),
        tar(&[("1", b'0', &text), ("l", b'L', b"name\0"), ("2", b'0', b"")]),
        zip(&[
            ("1", Form::Stored, &text),
            ("2", Form::Deflated, &text),
            ("3", Form::Streamed, &text),
            ("4", Form::StreamedBare, &text),
        ]),
    ];
    for container in &containers {
        for _ in 0..2000 {
            let mut damaged = container.clone();
            for _ in 0..1 + random() % 4 {
                let at = (random() % damaged.len() as u64) as usize;
                match random() % 3 {
                    0 => damaged[at] = random() as u8,
                    1 => damaged[at] ^= 1 << (random() % 8),
                    _ => damaged.truncate(at.max(1)),
                }
            }
            let _ = opened(&damaged, Containers::ALL, &Limits::default());
        }
    }
    for start in [
        &b"\x1F\x8B\x08\0"[..],
        b"PK\x03\x04",
        b"PK\x07\x08PK\x03\x04",
    ] {
        for _ in 0..500 {
            let mut noise = start.to_vec();
            noise.extend((0..600).map(|_| random() as u8));
            let _ = opened(&noise, Containers::ALL, &Limits::default());
        }
    }
}
