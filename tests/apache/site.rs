//! The test site: files, configuration, and what is known of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use test_support::{Fixture, Httpd, HttpdSetup, Mpm};

use super::php_fpm::PhpFpm;
use super::{cases, dynamic_cases};

/// The directives that a repository needs.
pub(crate) const LOCATION: &str = "<Location \"/modoai\">\nSetHandler oai\n</Location>\n";

/// A site that grows case by case. Every file has a mark of its own, so that a leak can be told.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) fixture: Fixture,
    pub(crate) mpm: Mpm,
    pub(crate) php: Option<PhpFpm>,
    modules: Vec<String>,
    conf: String,
    oai: String,
    places: Vec<(String, PathBuf)>,
    expectations: BTreeMap<String, Expectation>,
    statuses: BTreeMap<String, u16>,
    names: BTreeSet<String>,
    marks: usize,
}

/// Facts about a URL beyond those that a GET tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// The server sends the file or does not: a GET decides.
    Plain,
    /// The server runs the file, or something in it.
    Dynamic,
    /// The server changes what it sends and runs nothing.
    Rewritten,
    /// It is kept out of lists whatever a GET gives.
    Hidden,
    /// Both listing it and not listing it would be right.
    Either,
}

/// A file under a URL it might have.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// The path of the URL, escaped.
    pub(crate) path: String,
    pub(crate) expectation: Expectation,
    /// The contents of all files that might be at this URL; none where it is no file at all.
    pub(crate) contents: Vec<Vec<u8>>,
}

impl Site {
    pub(crate) fn empty(mpm: Mpm) -> Self {
        let fixture = Fixture::empty();
        let places = vec![("/".to_owned(), fixture.site())];
        Self {
            fixture,
            mpm,
            php: None,
            modules: Vec::new(),
            conf: String::new(),
            oai: LOCATION.to_owned(),
            places,
            expectations: BTreeMap::new(),
            statuses: BTreeMap::new(),
            names: BTreeSet::new(),
            marks: 0,
        }
    }

    /// The site with all cases.
    pub(crate) fn matrix(mpm: Mpm) -> Self {
        let mut site = Self::empty(mpm);
        cases::add_all(&mut site);
        dynamic_cases::add_all(&mut site);
        site
    }

    /// A server for it without the module.
    pub(crate) fn plain(&self) -> HttpdSetup {
        self.setup().plain()
    }

    /// A server for it with the module.
    pub(crate) fn httpd(&self) -> HttpdSetup {
        self.setup().conf(&self.oai)
    }

    fn setup(&self) -> HttpdSetup {
        age(&self.fixture.beside(""));
        let modules: Vec<_> = self.modules.iter().map(String::as_str).collect();
        let httpd = Httpd::of(&self.fixture).mpm(self.mpm).modules(&modules);
        httpd.conf(&self.conf)
    }

    /// Writes a file of the document root with a mark; a GET of it by anybody has this status.
    pub(crate) fn file(&mut self, path: &str, status: u16) -> PathBuf {
        self.statuses.insert(format!("/{path}"), status);
        self.beside(&format!("site/{path}"))
    }

    /// Writes a file anywhere with a mark.
    pub(crate) fn beside(&mut self, path: &str) -> PathBuf {
        let content = format!("{} is in {path}\n", self.mark());
        self.fixture.write_beside(path, content)
    }

    /// A GET of a path by anybody has this status.
    pub(crate) fn answers(&mut self, path: &str, status: u16) {
        self.statuses.insert(path.to_owned(), status);
    }

    /// Writes the `.htaccess` of a directory of the document root.
    pub(crate) fn htaccess(&mut self, directory: &str, directives: &str) {
        let text = format!("# {}\n{directives}\n", self.mark());
        self.fixture.write(format!("{directory}/.htaccess"), text);
    }

    /// Puts a directory of the document root behind the passwords of a file; `require` says who may enter.
    pub(crate) fn protect(&mut self, directory: &str, passwords: &Path, require: &str) {
        let directives = format!(
            "AuthType Basic\nAuthName inner\nAuthUserFile {}\n{require}",
            passwords.display()
        );
        self.htaccess(directory, &directives);
    }

    /// A text that occurs nowhere else.
    pub(crate) fn mark(&mut self) -> String {
        self.marks += 1;
        format!("mark{:04}x", self.marks)
    }

    pub(crate) fn conf(&mut self, directives: &str) {
        self.conf.push_str(directives);
        self.conf.push('\n');
    }

    /// Adds directives of the module.
    pub(crate) fn oai(&mut self, directives: &str) {
        self.oai.push_str(directives);
        self.oai.push('\n');
    }

    pub(crate) fn module(&mut self, module: &str) {
        self.modules.push(module.to_owned());
    }

    /// Files of a directory, or one file, might be found below a URL.
    pub(crate) fn place(&mut self, prefix: &str, path: impl AsRef<Path>) {
        let path = self.fixture.beside("").join(path);
        self.places.push((prefix.to_owned(), path));
    }

    pub(crate) fn expect(&mut self, path: &str, expectation: Expectation) {
        self.expectations.insert(path.to_owned(), expectation);
    }

    /// A URL that is another name of something: never an identifier.
    pub(crate) fn name(&mut self, path: &str, status: u16) {
        self.answers(path, status);
        self.names.insert(path.to_owned());
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The expected answer to an anonymous GET.
    pub(crate) fn statuses(&self) -> &BTreeMap<String, u16> {
        &self.statuses
    }

    /// Every file under every URL it might have.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let mut found: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        for (prefix, place) in &self.places {
            let mut files = Vec::new();
            walk(place, prefix.as_bytes(), &mut files);
            for (path, content) in files {
                found.entry(escaped(&path)).or_default().extend(content);
            }
        }
        let candidates = found.into_iter().map(|(path, contents)| Candidate {
            expectation: self.expectation(&path),
            path,
            contents,
        });
        candidates.collect()
    }

    fn expectation(&self, path: &str) -> Expectation {
        let known = self.expectations.get(path);
        known.copied().unwrap_or(Expectation::Plain)
    }
}

/// All files at or below a place with their contents; those that are no regular files have none.
fn walk(place: &Path, path: &[u8], files: &mut Vec<(Vec<u8>, Option<Vec<u8>>)>) {
    if !place.is_dir() {
        let content = place.is_file().then(|| fs::read(place).unwrap());
        files.push((path.to_vec(), content));
        return;
    }
    for entry in fs::read_dir(place).unwrap() {
        let entry = entry.unwrap();
        let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
        let below = [path, slash, entry.file_name().as_bytes()].concat();
        walk(&entry.path(), &below, files);
    }
}

/// Dates what was just written an hour back. The ETag of a file is another one within its first second.
fn age(place: &Path) {
    let Ok(metadata) = fs::symlink_metadata(place) else {
        return;
    };
    // The files of the module's own state do not count.
    if metadata.is_dir() && !place.ends_with("state") {
        let entries = fs::read_dir(place).unwrap();
        entries.for_each(|entry| age(&entry.unwrap().path()));
    }
    let now = SystemTime::now();
    let new = now - Duration::from_secs(60) < metadata.modified().unwrap();
    if metadata.is_file() && new {
        let file = fs::File::open(place).unwrap();
        file.set_modified(now - Duration::from_secs(3600)).unwrap();
    }
}

/// A path with every byte escaped but slashes and the unreserved ones.
pub(crate) fn escaped(path: &[u8]) -> String {
    let escape = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(*byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    path.iter().map(escape).collect()
}

/// All marks in some bytes.
pub(crate) fn marks(bytes: &[u8]) -> BTreeSet<String> {
    let windows = bytes.windows(9).filter(|window| {
        window.starts_with(b"mark")
            && window[4..8].iter().all(u8::is_ascii_digit)
            && window[8] == b'x'
    });
    windows
        .map(|window| String::from_utf8_lossy(window).into_owned())
        .collect()
}
