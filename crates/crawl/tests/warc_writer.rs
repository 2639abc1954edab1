//! WARC files as other programs see them, and what is left of killed writers.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::fs;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crawl::warc::{Capture, Error, Settings, Writer};
use flate2::bufread::MultiGzDecoder;
use tempfile::TempDir;

fn clock() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn settings() -> Settings {
    Settings {
        clock,
        ..Settings::default()
    }
}

fn open(directory: &TempDir) -> Writer {
    Writer::open(directory.path(), settings(), None).unwrap()
}

fn resource(writer: &mut Writer, url: &str, body: &[u8]) {
    let capture = Capture {
        url,
        captured_at: clock(),
        media_type: Some("text/plain"),
        http: None,
    };
    writer.write(&capture, &mut Cursor::new(body)).unwrap();
}

fn text(path: &Path) -> String {
    let mut text = String::new();
    let bytes = fs::read(path).unwrap();
    MultiGzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    text
}

fn names(directory: &TempDir) -> Vec<String> {
    let entries = directory.path().read_dir().unwrap();
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn records_are_written_as_the_standard_says() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = open(&directory);
    resource(&mut writer, "http://a.example/x", b"hello");
    assert!(names(&directory)[0].ends_with(".warc.gz.open"));

    let files = writer.finish().unwrap();

    assert_eq!(names(&directory), ["garner-20231114221320-00000.warc.gz"]);
    let text = text(&files[0]);
    let (info, resource) = text.split_at(text.rfind("WARC/1.1\r\n").unwrap());
    assert!(
        info.starts_with("WARC/1.1\r\nWARC-Type: warcinfo\r\n"),
        "{info}"
    );
    assert!(resource.contains("WARC-Type: resource\r\n"), "{resource}");
    assert!(
        resource.contains("WARC-Date: 2023-11-14T22:13:20Z\r\n"),
        "{resource}"
    );
    assert!(
        resource.contains("WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"),
        "{resource}"
    );
    assert!(
        resource.ends_with("Content-Length: 5\r\n\r\nhello\r\n\r\n"),
        "{resource}"
    );
}

#[test]
fn full_files_get_their_names_at_the_next_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let small = Settings {
        file_size: 1,
        ..settings()
    };
    let mut writer = Writer::open(directory.path(), small, None).unwrap();
    for number in 0..3 {
        resource(&mut writer, &format!("http://a.example/{number}"), b"x");
    }
    assert!(names(&directory).iter().all(|name| name.ends_with(".open")));

    writer.checkpoint().unwrap();
    assert_eq!(
        names(&directory)
            .iter()
            .filter(|name| name.ends_with(".gz"))
            .count(),
        2
    );
    assert_eq!(writer.finish().unwrap().len(), 3);
}

#[test]
fn a_killed_writer_leaves_whole_records() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = open(&directory);
    resource(&mut writer, "http://a.example/1", b"first");
    resource(&mut writer, "http://a.example/2", b"second");
    drop(writer);
    let path = directory.path().join(&names(&directory)[0]);
    let length = fs::metadata(&path).unwrap().len();
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(length - 3)
        .unwrap();

    let writer = open(&directory);

    let text = text(&path.with_extension(""));
    assert!(text.contains("http://a.example/1"), "{text}");
    assert!(!text.contains("http://a.example/2"), "{text}");
    assert!(writer.finish().unwrap().is_empty());
}

#[test]
fn records_behind_the_last_checkpoint_are_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let small = Settings {
        file_size: 900,
        ..settings()
    };
    let mut writer = Writer::open(directory.path(), small.clone(), None).unwrap();
    resource(&mut writer, "http://a.example/kept", b"x");
    let committed = writer.checkpoint().unwrap();
    for number in 0..9 {
        resource(&mut writer, &format!("http://a.example/lost{number}"), b"x");
    }
    assert!(names(&directory).len() > 1);
    drop(writer);

    Writer::open(directory.path(), small, committed.as_ref()).unwrap();

    assert_eq!(names(&directory), ["garner-20231114221320-00000.warc.gz"]);
    let text = text(&directory.path().join(&names(&directory)[0]));
    assert!(text.contains("kept") && !text.contains("lost"), "{text}");
}

#[test]
fn a_writer_at_work_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let mut one = open(&directory);
    resource(&mut one, "http://a.example/1", b"first");
    let mut other = open(&directory);
    resource(&mut other, "http://a.example/2", b"second");

    let files = [one.finish().unwrap(), other.finish().unwrap()].concat();

    assert_eq!(files.len(), 2);
    assert_eq!(names(&directory).len(), 2);
}

/// Has more bytes at the second look.
struct Growing(Cursor<Vec<u8>>);

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for Growing {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        if to == io::SeekFrom::Start(0) && self.0.position() == 0 {
            self.0.get_mut().extend(vec![7; 300_000]);
        }
        self.0.seek(to)
    }
}

#[test]
fn a_record_that_fails_is_taken_back_and_the_next_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = open(&directory);
    let capture = Capture {
        url: "http://a.example/bad",
        captured_at: clock(),
        media_type: None,
        http: None,
    };

    let error = writer
        .write(&capture, &mut Growing(Cursor::new(Vec::new())))
        .unwrap_err();
    assert!(matches!(error, Error::Body { .. }), "{error}");
    resource(&mut writer, "http://a.example/good", b"good");

    let text = text(&writer.finish().unwrap()[0]);
    assert!(text.contains("good") && !text.contains("/bad"), "{text}");
}

#[test]
fn other_programs_read_what_we_write() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = open(&directory);
    let fields = [
        ("Content-Type".to_owned(), "application/pdf".to_owned()),
        (
            "Last-Modified".to_owned(),
            "Tue, 14 Nov 2023 22:13:20 GMT".to_owned(),
        ),
    ];
    let large: Vec<u8> = (0..3_000_000_u32)
        .map(|n| (n.wrapping_mul(n) / 7 % 256) as u8)
        .collect();
    for (number, body) in [&b""[..], b"\r\n\r\n", b"WARC/1.1\r\n", &large]
        .into_iter()
        .enumerate()
    {
        let capture = Capture {
            url: &format!("http://a.example/caf\u{e9} {number}"),
            captured_at: clock(),
            media_type: None,
            http: Some((200, &fields)),
        };
        writer.write(&capture, &mut Cursor::new(body)).unwrap();
        resource(&mut writer, "http://a.example/plain", body);
    }
    let path = &writer.finish().unwrap()[0];

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join(".venv/bin/python");
    assert!(python.exists(), "run scripts/setup test");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers.py");
    let output = Command::new(python)
        .arg("-B")
        .arg(script)
        .arg(path)
        .output()
        .unwrap();

    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    assert_eq!(said, "warcio 9 records\nfastwarc 9 records\n");
}
