//! The names in a directory, and their order.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, RawDir};

use crate::{Rules, SitePath, Symlinks};
use process::Stop;

/// A name in a directory.
pub(super) struct Name {
    pub(super) bytes: Vec<u8>,
    pub(super) kind: FileType,
    pub(super) source: Source,
}

/// Where a name comes from.
#[derive(PartialEq, Eq)]
pub(super) enum Source {
    /// It is in the directory.
    Directory,
    /// A mount is here.
    Mount(usize),
    /// Mounts are further down, and no directory is here.
    Nowhere,
}

/// The names in a directory that was just opened, in no order.
pub(super) fn names(
    directory: &OwnedFd,
    path: &SitePath,
    rules: &Rules,
    stop: &Stop,
) -> io::Result<Vec<Name>> {
    let follow = rules.symlinks() == Symlinks::Every;
    let mut names = Vec::new();
    let mut buffer = Vec::with_capacity(BUFFER_BYTES);
    let mut entries = RawDir::new(directory, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        if stop.is_set() {
            break;
        }
        let entry = entry?;
        let bytes = entry.file_name().to_bytes();
        if bytes == b"." || bytes == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => kind_at(directory, bytes, follow),
            // The target of a link decides on its place in the order.
            FileType::Symlink if follow => kind_at(directory, bytes, follow),
            kind => kind,
        };
        if kind == FileType::Directory && rules.prune(&path.join(bytes)).is_some() {
            continue;
        }
        names.push(Name {
            bytes: bytes.to_vec(),
            kind,
            source: Source::Directory,
        });
    }
    Ok(names)
}

/// Puts names in the order of the paths below them, last first.
pub(super) fn sort(names: &mut [Name]) {
    // A directory sorts as if its name ended in a slash, as the paths below it do.
    names.sort_unstable_by(|a, b| b.key().cmp(&a.key()));
}

fn kind_at(directory: &OwnedFd, name: &[u8], follow: bool) -> FileType {
    let flags = match follow {
        true => AtFlags::empty(),
        false => AtFlags::SYMLINK_NOFOLLOW,
    };
    let stat = rustix::fs::statat(directory, name, flags);
    stat.map_or(FileType::Unknown, |stat| {
        FileType::from_raw_mode(stat.st_mode)
    })
}

/// Most directories are told in one call.
const BUFFER_BYTES: usize = 32 * 1024;

impl Name {
    fn key(&self) -> Joined<'_> {
        let slash: &[u8] = if self.kind == FileType::Directory {
            b"/"
        } else {
            b""
        };
        Joined(&self.bytes, slash)
    }
}

/// Two slices compared as if they were one.
#[derive(PartialEq, Eq)]
struct Joined<'a>(&'a [u8], &'a [u8]);

impl Ord for Joined<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let bytes = |joined: &Self| {
            joined
                .0
                .iter()
                .chain(joined.1)
                .copied()
                .collect::<Vec<u8>>()
        };
        let common = self.0.len().min(other.0.len());
        match self.0[..common].cmp(&other.0[..common]) {
            std::cmp::Ordering::Equal => bytes(self).cmp(&bytes(other)),
            unequal => unequal,
        }
    }
}

impl PartialOrd for Joined<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
