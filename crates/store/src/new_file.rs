//! A file that is being written and has no place yet. One that is dropped before it gets a place is gone.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Advice, AtFlags, CWD, FileType, RenameFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::{Errno, ReadWriteFlags};

/// A file to be filled and then placed, whole or not at all.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    directory: Arc<OwnedFd>,
    /// The name that it has there until it is placed, or could have.
    name: String,
    has_name: bool,
    /// Whether the name that it was to get was found to be taken.
    is_taken: bool,
    /// How many bytes were written.
    written: u64,
    /// Whether long stretches of it are not to stay in the page cache.
    passes_by: bool,
}

impl NewFile {
    /// A file in a directory, under a name that it has or, nameless and gone with this process, could have.
    pub(crate) fn new(file: File, directory: Arc<OwnedFd>, name: String, has_name: bool) -> Self {
        Self {
            file,
            directory,
            name,
            has_name,
            is_taken: false,
            written: 0,
            passes_by: false,
        }
    }

    /// Has long stretches written to the disk at once, and forgotten by the page cache when they are there.
    ///
    /// They have to be there before the catalog commits, nobody is going to read them soon, and the memory of the first
    /// serves the last: to be given new memory for all of them takes longer than to write them, above all in a virtual
    /// machine.
    pub(crate) fn passing_by(mut self) -> Self {
        self.passes_by = true;
        self
    }

    /// The file itself, for those who want to read back what they wrote.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Has the disk begin with a long file while others are written, so that less is left to wait for when all are synced.
    pub(crate) fn begin_sync(&self) {
        if self.written >= LONG && !self.passes_by {
            // Only a hint, and no harm done where it is not taken: syncing finds what is left to do.
            let _ = rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed);
        }
    }

    /// Sets when the content was last modified.
    pub(crate) fn set_modified(&self, modified: SystemTime) -> io::Result<()> {
        let times = Timestamps {
            last_access: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
            last_modification: timespec(modified),
        };
        Ok(rustix::fs::futimens(&self.file, &times)?)
    }

    /// Gives the file its name in another directory, in the place of what has that name, which is left over.
    pub(crate) fn rename(
        &mut self,
        directory: &OwnedFd,
        name: &std::ffi::OsStr,
    ) -> Result<Option<Leftover>, Errno> {
        if !self.has_name && !self.is_taken {
            match self.link(directory, name) {
                Err(Errno::EXIST) => {}
                linked => return linked.map(|()| None),
            }
        }
        if !self.has_name {
            // A rename replaces a file of that name at once; a file without a name cannot be renamed, so it gets one first.
            link(&self.file, &self.directory, self.name.as_ref())?;
            self.has_name = true;
        }
        let is_left = replace(&self.directory, &self.name, directory, name)?;
        self.has_name = false;
        Ok(is_left.then(|| Leftover {
            directory: Arc::clone(&self.directory),
            name: std::mem::take(&mut self.name),
        }))
    }

    /// Gives the file its name in another directory, unless something has that name.
    pub(crate) fn rename_new(
        &mut self,
        directory: &OwnedFd,
        name: &std::ffi::OsStr,
    ) -> Result<(), Errno> {
        if !self.has_name {
            return self.link(directory, name);
        }
        rename_new(&self.directory, self.name.as_ref(), directory, name)?;
        self.has_name = false;
        Ok(())
    }

    fn write_past(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = [IoSlice::new(bytes)];
        match rustix::io::pwritev2(&self.file, &bytes, AT_CURSOR, UNCACHED) {
            // Linux knows how since 6.14, and not every file system does.
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => {
                self.passes_by = false;
                self.file.write_vectored(&bytes)
            }
            written => Ok(written?),
        }
    }

    fn link(&mut self, directory: &OwnedFd, name: &std::ffi::OsStr) -> Result<(), Errno> {
        let linked = link(&self.file, directory, name);
        self.is_taken = linked == Err(Errno::EXIST);
        linked
    }
}

/// A file that was replaced. It is removed when this is dropped, which takes longer than to replace it.
#[derive(Debug)]
pub(crate) struct Leftover {
    directory: Arc<OwnedFd>,
    name: String,
}

impl Drop for Leftover {
    fn drop(&mut self) {
        // A leftover is removed when the directory is opened the next time.
        let _ = rustix::fs::unlinkat(&self.directory, &*self.name, AtFlags::empty());
    }
}

/// Gives a file the name of another, which gets its own; whether there was another.
///
/// Both change places. To rename one over the other would do the same, but ext4 has its bytes written to the disk at that
/// moment, file by file, where those of a whole page can be synced at once.
fn replace(from: &OwnedFd, old: &str, to: &OwnedFd, new: &std::ffi::OsStr) -> Result<bool, Errno> {
    let exchange = || rustix::fs::renameat_with(from, old, to, new, RenameFlags::EXCHANGE);
    match exchange() {
        Ok(()) => {}
        // Nothing has that name any more, or not every file system knows how.
        Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::renameat(from, old, to, new)?;
            return Ok(false);
        }
        Err(errno) => return Err(errno),
    }
    let replaced = rustix::fs::statat(from, old, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(replaced.st_mode).is_dir() {
        // A directory is never replaced, and gets its place back.
        exchange()?;
        return Err(Errno::ISDIR);
    }
    Ok(true)
}

/// Gives a nameless file a name, unless something has that name.
pub(crate) fn link(
    file: &(impl AsFd + AsRawFd),
    directory: &OwnedFd,
    name: &std::ffi::OsStr,
) -> Result<(), Errno> {
    match rustix::fs::linkat(file, c"", directory, name, AtFlags::EMPTY_PATH) {
        // Before Linux 6.10 only root may do that.
        Err(Errno::NOENT) => {
            let open = format!("{OPEN_FILES}/{}", file.as_raw_fd());
            rustix::fs::linkat(CWD, open, directory, name, AtFlags::SYMLINK_FOLLOW)
        }
        linked => linked,
    }
}

/// Gives a file another name, unless something has that name.
pub(crate) fn rename_new(
    from: &OwnedFd,
    old: &std::ffi::OsStr,
    to: &OwnedFd,
    new: &std::ffi::OsStr,
) -> Result<(), Errno> {
    match rustix::fs::renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
        // Not every file system knows how, but a second name for a file is refused by all if it is taken.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::linkat(from, old, to, new, AtFlags::empty())?;
            rustix::fs::unlinkat(from, old, AtFlags::empty())
        }
        renamed => renamed,
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match stretch(self.written, bytes.len()) {
            Stretch::Long(length) if self.passes_by => self.write_past(&bytes[..length]),
            Stretch::Long(length) | Stretch::Short(length) => self.file.write(&bytes[..length]),
        }?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.has_name {
            let _ = rustix::fs::unlinkat(&self.directory, &*self.name, AtFlags::empty());
        }
    }
}

/// The next part of some bytes to write.
#[derive(Debug, PartialEq, Eq)]
enum Stretch {
    /// This number of bytes, which fill whole pages.
    Long(usize),
    Short(usize),
}

/// Returns the next part of `length` bytes to write at `position`. Pages that are written to the disk at once are not
/// touched again, so long stretches begin and end where pages do.
fn stretch(position: u64, length: usize) -> Stretch {
    let over = (position % PAGE as u64) as usize;
    let before = (PAGE - over) % PAGE;
    match length.saturating_sub(before) >= LONG as usize {
        true if before == 0 => Stretch::Long(length - length % PAGE),
        true => Stretch::Short(before),
        false => Stretch::Short(length),
    }
}

/// Times before 1970 count back in whole seconds and forth in nanoseconds.
fn timespec(time: SystemTime) -> Timespec {
    let seconds = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => Timespec {
            tv_sec: seconds(since.as_secs()),
            tv_nsec: i64::from(since.subsec_nanos()),
        },
        Err(before) => {
            let before = before.duration();
            let part = i64::from(before.subsec_nanos());
            let whole = -seconds(before.as_secs());
            match part {
                0 => Timespec {
                    tv_sec: whole,
                    tv_nsec: 0,
                },
                _ => Timespec {
                    tv_sec: whole - 1,
                    tv_nsec: 1_000_000_000 - part,
                },
            }
        }
    }
}

/// The directory in which open files of this process have names.
const OPEN_FILES: &str = "/proc/self/fd";
/// Shorter stretches are written faster through the page cache.
const LONG: u64 = 32 << 10;
/// The page cache has pages of this size, or of a multiple.
const PAGE: usize = 4096;
/// `RWF_DONTCACHE` of Linux, which the library does not name yet.
const UNCACHED: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);
/// Stands for the place where the last write ended.
const AT_CURSOR: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::Mirror;
    use crate::directory::Durability;

    #[test]
    fn long_stretches_begin_and_end_where_pages_do() {
        let page = PAGE as u64;
        let long = LONG as usize;
        for (position, length, expected) in [
            (0, 0, Stretch::Short(0)),
            (0, long - 1, Stretch::Short(long - 1)),
            (0, long, Stretch::Long(long)),
            (page, long + 5, Stretch::Long(long)),
            (page - 3, long + 2, Stretch::Short(long + 2)),
            (page - 3, long + 3, Stretch::Short(3)),
            (u64::MAX - 3, long, Stretch::Short(long)),
        ] {
            assert_eq!(stretch(position, length), expected, "{position} {length}");
        }
    }

    #[test]
    fn bytes_are_the_same_in_whatever_pieces_they_come() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let mirror = Mirror::open(folder.path(), None, Durability::Page).unwrap();
        for piece in [1000, PAGE, 50_001, 100_000, 300_000] {
            let mut file = mirror.create().unwrap();
            for piece in bytes.chunks(piece) {
                file.write_all(piece).unwrap();
            }
            let path = mirror.place(file, "http://a.example/x", None).unwrap();
            mirror.sync().unwrap();

            let mut found = Vec::new();
            let mut file = File::open(folder.path().join(path)).unwrap();
            file.read_to_end(&mut found).unwrap();
            assert!(found == bytes, "{piece}");
        }
    }
}
