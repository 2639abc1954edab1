//! The directories that files may be opened in.
//!
//! A path that is looked at and then opened may lead elsewhere by then. So the file is opened first, and where that
//! lies decides.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The directories and files that may be opened, with all that lies below them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots(Option<Vec<PathBuf>>);

impl Roots {
    /// These alone, wherever links lead that are a part of their own paths. Without any, everything may be opened.
    pub fn new(paths: &[PathBuf]) -> Self {
        let real = paths.iter().filter_map(|path| path.canonicalize().ok());
        Self((!paths.is_empty()).then(|| real.collect()))
    }

    /// These and one more.
    #[must_use]
    pub fn with(mut self, path: &Path) -> Self {
        if let Some(roots) = &mut self.0 {
            roots.extend(path.canonicalize());
        }
        self
    }

    /// Whether everything may be opened.
    pub fn is_everywhere(&self) -> bool {
        self.0.is_none()
    }

    /// Opens a file or a directory for reading, if what was opened lies in one of these.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        // A pipe that somebody put there would be waited for. Files are read as ever.
        let without_waiting = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(without_waiting)
            .open(path)?;
        let kind = file.metadata()?.file_type();
        if !kind.is_file() && !kind.is_dir() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, IRREGULAR));
        }
        let Some(roots) = &self.0 else {
            return Ok(file);
        };
        let real = fs::read_link(number(&file))?;
        match roots.iter().any(|root| real.starts_with(root)) {
            true => Ok(file),
            false => Err(io::Error::new(io::ErrorKind::PermissionDenied, OUTSIDE)),
        }
    }

    /// Reads a text of at most 64 MiB.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = match self.0 {
            // A person may name a pipe: `<(…)`.
            None => File::open(path)?,
            Some(_) => self.open(path)?,
        };
        io::Read::read_to_end(&mut io::Read::take(file, LONGEST), &mut bytes)?;
        Ok(bytes)
    }

    /// The names in a directory, which is the one that was opened.
    pub fn names(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let opened = self.open(directory)?;
        let entries = fs::read_dir(number(&opened))?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    }
}

/// The path at which the kernel names an open file.
fn number(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

const IRREGULAR: &str = "it is no regular file";
const OUTSIDE: &str = "it lies outside of the directories that may be imported from (import.roots)";
const LONGEST: u64 = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn what_lies_elsewhere_is_not_opened() {
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("root"), place.path().join("root-2"));
        for directory in [&root, &outside] {
            fs::create_dir_all(directory.join("below")).unwrap();
            fs::write(directory.join("below/file"), "text").unwrap();
        }
        symlink(&outside, root.join("out")).unwrap();
        symlink("below", root.join("in")).unwrap();
        symlink(&root, place.path().join("link")).unwrap();
        // The root may be named by a link, and links below it may lead around in it.
        let roots = Roots::new(&[place.path().join("link")]);

        for path in ["below/file", "in/file", "out/../root/in/file"] {
            assert_eq!(roots.read(&root.join(path)).unwrap(), b"text", "{path}");
        }
        for path in ["out/below/file", "../root-2/below/file", "out"] {
            let error = roots.open(&root.join(path)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{path}");
        }
        assert!(roots.names(&root.join("out")).is_err());
        assert_eq!(roots.names(&root.join("in")).unwrap(), ["file"]);
        let more = roots.with(&outside.join("below/file"));
        assert!(more.open(&root.join("out/below/file")).is_ok());
        // Roots that are gone let nothing through.
        let gone = Roots::new(&[place.path().join("gone")]);
        assert!(gone.open(&root.join("below/file")).is_err());
        assert!(Roots::default().open(&outside).is_ok());
    }

    /// Issue 18: a path was checked, and opened later.
    #[test]
    fn a_link_that_is_turned_while_it_is_opened_leads_nowhere_else() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("own"), "own").unwrap();
        fs::write(place.path().join("secret"), "secret").unwrap();
        let (link, next) = (root.join("link"), root.join("next"));
        symlink("own", &link).unwrap();
        let roots = Roots::new(std::slice::from_ref(&root));
        let is_over = AtomicBool::new(false);

        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    for target in ["../secret", "own"] {
                        symlink(target, &next).unwrap();
                        fs::rename(&next, &link).unwrap();
                    }
                }
            });
            let (mut own, mut refused) = (0, 0);
            while own < 100 || refused < 100 {
                match roots.read(&link) {
                    Ok(bytes) => {
                        assert_eq!(bytes, b"own");
                        own += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }

    /// A file below an allowed directory is replaced by a link before it is read.
    #[test]
    fn an_archive_that_became_a_link_to_elsewhere_is_not_read() {
        let record = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.example/\r\n\
                      Content-Type: text/plain\r\nContent-Length: 6\r\n\r\nsecret\r\n\r\n";
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir(&root).unwrap();
        let (archive, secret) = (root.join("a.warc"), place.path().join("secret.warc"));
        for path in [&archive, &secret] {
            fs::write(path, record).unwrap();
        }
        let options = crate::ReadOptions {
            limits: crate::Limits {
                roots: Roots::new(std::slice::from_ref(&root)),
                ..crate::Limits::default()
            },
            ..crate::ReadOptions::default()
        };
        let sources = crate::open(&root, &options.limits).unwrap();
        let read = || {
            let mut captures = 0;
            let ended = sources[0].read(0, &options, &|_, _| (), &mut |news| {
                captures += usize::from(matches!(news, crate::SourceEvent::Capture(..)));
                std::ops::ControlFlow::Continue(())
            });
            (captures, ended.map_err(|error| error.to_string()))
        };
        let (captures, ended) = read();
        assert!(captures == 1 && ended.is_ok());

        fs::remove_file(&archive).unwrap();
        symlink(&secret, &archive).unwrap();

        let (captures, ended) = read();
        assert_eq!(captures, 0);
        assert!(ended.unwrap_err().contains("import.roots"));
    }
}
