//! Shared by the tests: a directory on the server, one that is fetched to, and the recorded news.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use remote::{Access, Address, Error, FetchEvent, Fetched, Limits, Options, fetch};
use tempfile::TempDir;

pub(crate) struct Place {
    directory: TempDir,
    pub(crate) access: Access,
    pub(crate) limits: Limits,
    pub(crate) notes: Mutex<Vec<String>>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("there")).unwrap();
        Self {
            directory,
            // Not what the environment of the test says.
            access: Access::default(),
            limits: Limits {
                first_wait: Duration::from_millis(50),
                longest_wait: Duration::from_millis(200),
                ..Limits::default()
            },
            notes: Mutex::default(),
        }
    }

    /// A place on the server.
    pub(crate) fn there(&self) -> PathBuf {
        self.directory.path().join("there")
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The directory of all fetched files.
    pub(crate) fn base(&self) -> PathBuf {
        self.directory.path().join("fetched")
    }

    pub(crate) fn write(&self, name: impl AsRef<std::ffi::OsStr>, bytes: impl AsRef<[u8]>) {
        let path = self.there().join(Path::new(name.as_ref()));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn fetch(&self, address: &str) -> Result<Fetched, Error> {
        self.fetch_until(address, &|| false)
    }

    pub(crate) fn fetch_until(
        &self,
        address: &str,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Fetched, Error> {
        let options = Options {
            access: &self.access,
            admits: &|_, _| true,
            stop,
            tell: &|news| {
                if let FetchEvent::Note(note) = news {
                    self.notes.lock().unwrap().push(note.to_owned());
                }
            },
            limits: self.limits.clone(),
        };
        fetch(&Address::parse(address)?, &self.base(), &options)
    }

    /// The message for an address that nothing can be fetched from.
    pub(crate) fn refusal(&self, address: &str) -> String {
        self.fetch(address).unwrap_err().to_string()
    }
}

/// All files below a directory with how long they are and a digest, so that a difference can be shown.
pub(crate) fn files(below: &Path) -> BTreeMap<String, (usize, u64)> {
    let mut files = BTreeMap::new();
    let mut directories = vec![below.to_owned()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let kind = std::fs::symlink_metadata(&path).unwrap();
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_file() {
                let name = path.strip_prefix(below).unwrap().as_os_str().as_bytes();
                let name = String::from_utf8_lossy(name).into_owned();
                let bytes = std::fs::read(&path).unwrap();
                let mut digest = DefaultHasher::new();
                bytes.hash(&mut digest);
                files.insert(name, (bytes.len(), digest.finish()));
            }
        }
    }
    files
}

/// Bytes that repeat nowhere.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}
