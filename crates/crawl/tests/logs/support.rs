//! A crawl in a fresh directory: a log and the files beside it.

use std::fs;
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crawl::{
    Body, Capture, Ended, Limits, LogFormat, LogSource, ReadOptions, Skipped, Source, SourceEvent,
};
use tempfile::TempDir;

/// A log and its files.
pub(crate) struct Crawl {
    pub(crate) directory: TempDir,
    pub(crate) log: Vec<u8>,
}

/// The result of reading a log.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Captures with their bytes, or with what is wrong with them.
    pub(crate) captures: Vec<(Capture, Result<String, String>)>,
    pub(crate) late: Vec<Capture>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) positions: Vec<u64>,
    pub(crate) ended: Option<Ended>,
}

impl Crawl {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            log: Vec::new(),
        }
    }

    /// Puts a file into the mirror.
    pub(crate) fn with_file(self, path: &str, content: &str) -> Self {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Adds a line about a document that was got.
    pub(crate) fn with_url(self, url: &str) -> Self {
        self.with_line(&heritrix_line(200, url, "-"))
    }

    pub(crate) fn with_line(mut self, line: &str) -> Self {
        self.log.extend(line.as_bytes());
        self.log.push(b'\n');
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("mirror")
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.directory.path().join("crawl.log")
    }

    pub(crate) fn source(&self, format: LogFormat) -> Source {
        fs::create_dir_all(self.root()).unwrap();
        fs::write(self.log_path(), &self.log).unwrap();
        let source = LogSource::open(&self.log_path(), &self.root(), format, &Limits::default());
        Source::Log(source.unwrap())
    }

    pub(crate) fn read(&self) -> Seen {
        read(
            &self.source(LogFormat::heritrix()),
            0,
            &ReadOptions::default(),
        )
    }

    pub(crate) fn read_as(&self, format: LogFormat) -> Seen {
        read(&self.source(format), 0, &ReadOptions::default())
    }
}

impl Seen {
    /// URLs and what their bodies are.
    pub(crate) fn bodies(&self) -> Vec<(&str, &str)> {
        let body = |body: &'_ Result<String, String>| match body {
            Ok(body) => body.clone(),
            Err(error) => error.clone(),
        };
        let captures = self.captures.iter();
        captures
            .map(|(capture, content)| (&*capture.url, &*Box::leak(body(content).into_boxed_str())))
            .collect()
    }

    pub(crate) fn urls(&self) -> Vec<&str> {
        self.captures
            .iter()
            .map(|(capture, _)| &*capture.url)
            .collect()
    }
}

/// A line of Heritrix.
pub(crate) fn heritrix_line(status: i32, url: &str, digest: &str) -> String {
    format!(
        "2012-05-06T07:08:10.550Z {status:>5} {:>10} {url} LL http://h/parent text/html #002 20120506070809441+2 {digest} - -",
        42
    )
}

pub(crate) fn read(source: &Source, from: u64, options: &ReadOptions) -> Seen {
    let mut seen = Seen::default();
    let work = |_: &Capture, body: &mut Body<'_>| {
        let mut bytes = Vec::new();
        match body.read_to_end(&mut bytes) {
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => Err("not found".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    };
    let ended = source.read(from, options, &work, &mut |news| {
        match news {
            SourceEvent::Capture(capture, body) => seen.captures.push((*capture, body)),
            SourceEvent::Late(capture) => seen.late.push(*capture),
            SourceEvent::Skipped(skipped) | SourceEvent::Noted(skipped) => {
                seen.skipped.push(skipped);
            }
            SourceEvent::Checked(_) => unreachable!("a log has no digests of records"),
            SourceEvent::Position(position) => seen.positions.push(position),
        }
        ControlFlow::Continue(())
    });
    seen.ended = Some(ended.unwrap());
    seen
}

/// A real file from beside the project, if it is there.
pub(crate) fn sample(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/samples/crawl")
        .join(name);
    if !path.exists() {
        eprintln!("SKIPPED: the sample {name} is not there");
        return None;
    }
    Some(path)
}
