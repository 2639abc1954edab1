//! A directory that backups lie in, with the interface of a store.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Seek};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use store::{Objects, Reader};

/// A directory with files for objects. They are safe after [`Directory::settle`].
#[derive(Debug)]
pub(super) struct Directory {
    root: PathBuf,
    shown: String,
}

impl Directory {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            shown: root.display().to_string(),
        }
    }

    /// Waits until the disk has all that was put.
    pub(super) fn settle(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(&self.root)?)?)
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

impl Objects for Directory {
    fn location(&self) -> &str {
        &self.shown
    }

    fn put(&self, path: &str, mut file: &File, is_new: bool) -> io::Result<bool> {
        let place = self.place(path);
        let folder = place.parent().unwrap_or(&self.root);
        let mut new = match tempfile::NamedTempFile::new_in(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(folder)?;
                tempfile::NamedTempFile::new_in(folder)?
            }
            new => new?,
        };
        file.rewind()?;
        io::copy(&mut file, &mut new)?;
        new.as_file()
            .set_permissions(PermissionsExt::from_mode(0o600))?;
        match is_new {
            true => match new.persist_noclobber(&place) {
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
                placed => Ok(placed.map(|_| true)?),
            },
            false => Ok(new.persist(&place).map(|_| true)?),
        }
    }

    fn get(&self, path: &str) -> io::Result<Reader> {
        let file = File::open(self.place(path))?;
        let length = file.metadata()?.len();
        Ok(Reader::new(Box::new(file), length))
    }

    fn size(&self, path: &str) -> io::Result<Option<u64>> {
        match std::fs::metadata(self.place(path)) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let file = File::open(self.place(from))?;
        self.put(to, &file, false).map(drop)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        match std::fs::remove_file(self.place(path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn names(&self, directory: &str, see: &mut dyn FnMut(&str, Option<u64>)) -> io::Result<()> {
        let entries = match std::fs::read_dir(self.place(directory)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                continue;
            };
            let metadata = entry.metadata()?;
            see(&name, metadata.is_file().then_some(metadata.len()));
        }
        Ok(())
    }
}
