//! A crawl that a test makes up, and a data directory that it is imported into.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;
use test_support::{Garner, files_below};

use crate::command_line::{stderr, stdout};
use crate::garner;

/// A directory with a crawl and what is made of it.
pub(crate) struct Crawl {
    directory: TempDir,
}

/// A WARC file in the making; each record is a gzip member of its own.
#[derive(Default)]
pub(crate) struct Warc {
    pub(crate) bytes: Vec<u8>,
    /// Where each record begins.
    pub(crate) offsets: Vec<usize>,
}

/// The end state of an import, without values that depend on the run: a number depends on how captures are grouped,
/// and that on time.
#[derive(Debug, PartialEq)]
pub(crate) struct Left {
    /// By URL and member, each row of the catalog as JSON.
    pub(crate) documents: BTreeMap<String, Value>,
    /// The contents.
    pub(crate) contents: BTreeSet<Vec<u8>>,
}

impl Crawl {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// The program with arguments and this data directory, among the files of the crawl.
    pub(crate) fn garner(&self, arguments: &[&str]) -> Garner {
        let command = garner().args(arguments).arg("--data").arg(self.data());
        command.current_dir(self.directory.path())
    }

    /// Imports, and gives what it printed with its exit code.
    pub(crate) fn try_import(&self, arguments: &[&str]) -> Output {
        let import = self.garner(&["import", "--json"]).args(arguments);
        import.output()
    }

    /// Imports, which ends with this code, and gives the counters.
    pub(crate) fn import(&self, code: i32, arguments: &[&str]) -> Value {
        let output = self.try_import(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    }

    /// All documents as the catalog has them.
    pub(crate) fn documents(&self) -> Vec<Value> {
        let output = self.garner(&["documents", "list", "--json"]).output();
        assert!(output.status.success(), "{}", stderr(&output));
        let lines = stdout(&output);
        let documents = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        documents.collect()
    }

    pub(crate) fn left(&self) -> Left {
        let here = self.path("").to_str().unwrap().to_owned();
        let documents = self.documents();
        assert_each_content_has_one_owner(&documents);
        let documents = documents.into_iter().map(|mut document| {
            let names = document.as_object_mut().unwrap();
            for name in [
                "id",
                "import",
                "content",
                "near",
                "parent",
                "file",
                "path",
                "shared_with",
            ] {
                names.remove(name);
            }
            let source = document["source"].as_str().unwrap().replace(&here, "");
            document["source"] = source.into();
            (
                format!("{} {}", document["url"], document["member"]),
                document,
            )
        });
        let files = self.files().into_iter();
        let contents = files.filter(|(path, _)| !path.ends_with(b".met"));
        Left {
            documents: documents.collect(),
            contents: contents.map(|(_, bytes)| bytes).collect(),
        }
    }

    /// The files of the collection by their paths.
    pub(crate) fn files(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        files_in(&self.data().join("documents"))
    }
}

/// Of the documents that have the same bytes, one owns them, and the others name it. Which one it is depends on the order
/// in which groups were committed.
fn assert_each_content_has_one_owner(documents: &[Value]) {
    let mut owners = BTreeMap::new();
    for document in documents.iter().filter(|one| one["shared_with"].is_null()) {
        let other = owners.insert(document["content_sha1"].as_str(), &document["id"]);
        assert_eq!(other, None, "both own their bytes: {document}");
    }
    for document in documents {
        let owner = owners[&document["content_sha1"].as_str()];
        assert!(
            document["shared_with"].is_null() || &document["shared_with"] == owner,
            "{owner} owns the bytes of {document}"
        );
    }
}

impl Left {
    /// Compares, and tells the first difference only.
    pub(crate) fn assert_is(&self, other: &Self) {
        for (url, document) in &self.documents {
            assert_eq!(Some(document), other.documents.get(url), "{url}");
        }
        assert_eq!(self.documents.len(), other.documents.len());
        assert_eq!(self.contents.len(), other.contents.len());
        assert!(self.contents == other.contents, "the contents differ");
    }
}

impl Warc {
    /// An HTTP answer.
    pub(crate) fn response(&mut self, url: &str, date: &str, media_type: &str, body: &[u8]) {
        self.answer(url, date, "200 OK", media_type, body);
    }

    pub(crate) fn answer(
        &mut self,
        url: &str,
        date: &str,
        status: &str,
        media_type: &str,
        body: &[u8],
    ) {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        let block = [head.as_bytes(), body].concat();
        let id = format!("<urn:test:{}>", self.offsets.len());
        let headers =
            format!("Content-Type: application/http; msgtype=response\r\nWARC-Record-ID: {id}\r\n");
        self.record("response", url, date, &headers, &block);
    }

    /// A crawler's metadata on the record before: the linking page, and how it was found.
    pub(crate) fn metadata(&mut self, url: &str, date: &str, via: &str, path: &str) {
        let about = format!("<urn:test:{}>", self.offsets.len() - 1);
        let headers =
            format!("Content-Type: application/warc-fields\r\nWARC-Concurrent-To: {about}\r\n");
        let block = format!("via: {via}\r\nhopsFromSeed: {path}\r\n");
        self.record("metadata", url, date, &headers, block.as_bytes());
    }

    pub(crate) fn record(
        &mut self,
        kind: &str,
        url: &str,
        date: &str,
        headers: &str,
        block: &[u8],
    ) {
        let length = block.len();
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n{headers}Content-Length: {length}\r\n\r\n"
        );
        self.member(&[head.as_bytes(), block, b"\r\n\r\n"].concat());
    }

    /// Bytes as a gzip member.
    pub(crate) fn member(&mut self, bytes: &[u8]) {
        self.offsets.push(self.bytes.len());
        let mut gzip = GzEncoder::new(&mut self.bytes, Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap();
    }
}

/// The files below a directory by their paths; of one that is not there, none.
pub(crate) fn files_in(directory: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    if !directory.exists() {
        return BTreeMap::new();
    }
    let paths = files_below(directory).into_iter();
    let files = paths.map(|path| {
        let file = directory.join(OsStr::from_bytes(&path));
        (path, std::fs::read(file).unwrap_or_default())
    });
    files.collect()
}

/// Lets no group of the second source be committed, as long as `is_broken`.
pub(crate) fn break_second_source(crawl: &Crawl, is_broken: bool) {
    let catalog = rusqlite::Connection::open(crawl.data().join("catalog.sqlite")).unwrap();
    let sql = match is_broken {
        true => {
            "CREATE TRIGGER no_second BEFORE UPDATE OF position ON import_source WHEN new.number = 1
                 BEGIN SELECT RAISE(ABORT, 'the second source is not taken'); END;"
        }
        false => "DROP TRIGGER no_second;",
    };
    catalog.execute_batch(sql).unwrap();
}

/// A zip archive whose members are not compressed.
pub(crate) fn stored_zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let size = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let offset = u32::try_from(zip.len()).unwrap().to_le_bytes();
        // Flags, method, time and date are all nothing.
        let sizes = [&[0; 8][..], &crc.sum().to_le_bytes(), &size, &size, &length];
        let common = [&[20, 0][..], &sizes.concat(), &[0; 2]].concat();
        zip.extend([b"PK\x03\x04", &common[..], name.as_bytes(), bytes].concat());
        let entry = [b"PK\x01\x02\x14\x00", &common[..], &[0; 10], &offset];
        directory.extend([&entry.concat(), name.as_bytes()].concat());
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let length = u32::try_from(directory.len()).unwrap().to_le_bytes();
    let start = u32::try_from(zip.len()).unwrap().to_le_bytes();
    let end = [&count[..], &count, &length, &start, &[0; 2]].concat();
    zip.extend(directory);
    zip.extend([b"PK\x05\x06\0\0\0\0", &end[..]].concat());
    zip
}

/// A PDF that no other number makes.
pub(crate) fn pdf(number: usize) -> Vec<u8> {
    let text = format!("(paper {number}) ").repeat(20 + number % 50);
    format!("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Note {text} >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n")
        .into_bytes()
}

pub(crate) fn date(number: usize) -> String {
    let (hours, minutes, seconds) = (number / 3600 % 24, number / 60 % 60, number % 60);
    format!("2026-03-01T{hours:02}:{minutes:02}:{seconds:02}Z")
}

/// A crawl of so many papers and as many pages, with metadata records.
pub(crate) fn many(papers: usize) -> Warc {
    let mut warc = Warc::default();
    for number in 0..papers {
        let page = format!("http://host-{}.example/", number % 7);
        warc.response(
            &page,
            &date(number),
            "text/html",
            b"<!DOCTYPE html><p>papers</p>",
        );
        let url = format!("{page}papers/{number}.pdf");
        // Some have the same bytes as another, and some are seen twice.
        warc.response(
            &url,
            &date(number),
            "application/pdf",
            &pdf(number - number % 3),
        );
        warc.metadata(&url, &date(number), &page, "L");
        if number % 5 == 0 {
            let later = date(number + 40_000);
            warc.response(&url, &later, "application/pdf", &pdf(number + papers));
        }
    }
    warc
}

/// Where samples of other people's crawls are, if they are there.
pub(crate) fn samples() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let samples = root.join("../shared/samples/crawl");
    let found = samples.is_dir().then_some(samples);
    if found.is_none() {
        eprintln!("skipped: there are no samples");
    }
    found
}
