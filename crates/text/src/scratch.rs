//! Directories that programs write in. What was killed leaves its own behind; the next one that makes some removes those.
//!
//! A directory is locked as long as somebody uses it, which no process can forget: the lock goes with it, however it ends.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, OFlags, flock};
use tempfile::TempDir;

/// A directory for one program, removed when this value goes away.
#[derive(Debug)]
pub(super) struct Scratch {
    directory: TempDir,
    /// Holds the lock.
    _locked: File,
}

impl Scratch {
    /// Makes a directory that nobody else of this machine can look into.
    pub(super) fn make(place: &Path) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(place)?;
        let locked = open(directory.path())?;
        flock(&locked, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self {
            directory,
            _locked: locked,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what others of this user left behind who are gone. What cannot be removed does no harm.
pub(super) fn sweep(place: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            let _ = remove_abandoned(&entry.path(), own);
        }
    }
}

fn remove_abandoned(path: &Path, own: u32) -> io::Result<()> {
    let locked = open(path)?;
    let metadata = locked.metadata()?;
    let age = SystemTime::now().duration_since(metadata.modified()?);
    // One that was made this moment may not have its lock yet.
    if metadata.uid() != own || age.is_ok_and(|age| age < YOUNG) {
        return Ok(());
    }
    flock(&locked, FlockOperation::NonBlockingLockExclusive)?;
    fs::remove_dir_all(path)
}

/// Opens a directory, and nothing that a link leads to.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    File::options().read(true).custom_flags(flags).open(path)
}

/// Nobody names anything of their own like that.
const PREFIX: &str = ".garner-reading-";
const YOUNG: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_is_removed_and_what_is_used_stays() {
        let place = tempfile::tempdir().unwrap();
        let old = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("written"), "text").unwrap();
            age(&path);
            path
        };
        let left = old(".garner-reading-a1b2c3");
        let other = old("garner-data");
        let young = place.path().join(".garner-reading-d4e5f6");
        fs::create_dir(&young).unwrap();
        let used = Scratch::make(place.path()).unwrap();
        age(used.path());

        sweep(place.path());

        assert!(!left.exists());
        assert!(other.exists() && young.exists() && used.path().exists());
        let mode = used.path().metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }

    fn age(path: &Path) {
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        open(path).unwrap().set_modified(long_ago).unwrap();
    }
}
