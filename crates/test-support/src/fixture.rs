//! A site of its own for each test, with a place for its index.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

/// A directory with a site in `site`, an index in `data` and room for other files.
#[derive(Debug)]
pub struct Fixture {
    directory: TempDir,
}

impl Fixture {
    /// A site without files.
    pub fn empty() -> Self {
        let fixture = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(fixture.site()).unwrap();
        fixture
    }

    /// A small site: three HTML pages, a PDF, a PNG, a text, in two directories.
    pub fn small() -> Self {
        let fixture = Self::empty();
        fixture.write("index.html", "<title>Start</title>hello");
        fixture.write("about.html", "<title>About</title>about us");
        fixture.write("docs/paper.pdf", "%PDF-1.4 not really");
        fixture.write("docs/page.html", "<title>Page</title>a page");
        fixture.write("logo.png", "\u{89}PNG not really");
        fixture.write("notes.txt", "some notes\n");
        fixture
    }

    /// The directory of the site.
    pub fn site(&self) -> PathBuf {
        self.directory.path().join("site")
    }

    /// The directory of its index.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A place beside the site.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The path of a file of the site.
    pub fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        let name = std::ffi::OsStr::from_bytes(name.as_ref()).to_owned();
        self.site().join(Path::new(&name))
    }

    /// Writes a file of the site, with the directories it needs.
    pub fn write(&self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes a file beside the site.
    pub fn write_beside(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.beside(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Sets the modification time of a file of the site, in seconds since 1970.
    pub fn set_mtime(&self, name: impl AsRef<[u8]>, seconds: i64) {
        let file = fs::File::options()
            .write(true)
            .open(self.path(name))
            .unwrap();
        let since = Duration::from_secs(seconds.unsigned_abs());
        let time: SystemTime = if seconds < 0 {
            UNIX_EPOCH - since
        } else {
            UNIX_EPOCH + since
        };
        file.set_modified(time).unwrap();
    }
}

/// The paths of all files below a directory, hidden or not, relative to it.
pub fn files_below(place: &Path) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let mut directories = vec![place.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let relative = path.strip_prefix(place).unwrap();
            files.push(relative.as_os_str().as_bytes().to_vec());
        }
    }
    files
}
