#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::path::Arg;

/// Opens the directory at `path` below `base`, an empty path being `base` itself. With `make`, directories that are missing
/// are made.
///
/// A link on the way is `ELOOP` or `ENOTDIR`, a path that is not plain (`..`, a leading slash) `EINVAL`.
pub fn open_directory(base: impl AsFd, path: &Path, make: bool) -> Result<OwnedFd, Errno> {
    if !is_plain(path) {
        return Err(Errno::INVAL);
    }
    match open_at_once(&base, path) {
        Err(Errno::NOENT) if !make => Err(Errno::NOENT),
        // A directory has to be made, or the kernel does not have the call.
        Err(_) => walk(&base, path, make),
        opened => opened,
    }
}

/// Opens the directory that `path` lies in, and returns it with the last name of the path.
pub fn open_parent(base: impl AsFd, path: &Path, make: bool) -> Result<(OwnedFd, &OsStr), Errno> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    let parent = path.parent().unwrap_or(Path::new(""));
    Ok((open_directory(base, parent, make)?, name))
}

/// Opens the directory `name` in another one, and makes it if it is missing and `make` is set. A link is not followed.
pub fn open_child(
    directory: impl AsFd,
    name: impl Arg + Copy,
    make: bool,
) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat(&directory, name, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) if make => {}
        opened => return opened,
    }
    match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::openat(&directory, name, DIRECTORY, Mode::empty())
}

/// Opens the file `name` of a directory for reading. A link is not followed, and a pipe is not waited for.
pub fn open_file(directory: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(directory, name, FILE, Mode::empty())
}

/// Whether a path consists of names alone, none of which leads upwards.
pub fn is_plain(path: &Path) -> bool {
    let is_name = |component| matches!(component, Component::Normal(_));
    path.components().all(is_name) && !path.as_os_str().as_bytes().contains(&0)
}

/// The flags of directories that are opened: links are not followed, and no child process inherits them.
pub const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The flags of files that are opened: a pipe or a terminal of that name keeps nobody waiting.
pub const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Has the kernel see to it that no link is on the way.
fn open_at_once(base: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    let path = match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(base, path, DIRECTORY, Mode::empty(), resolve)
}

fn walk(base: impl AsFd, path: &Path, make: bool) -> Result<OwnedFd, Errno> {
    let mut directory = open_child(base, ".", false)?;
    for component in path.components() {
        directory = open_child(&directory, component.as_os_str(), make)?;
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, File) {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("base/a/b")).unwrap();
        fs::create_dir(place.path().join("outside")).unwrap();
        symlink("../outside", place.path().join("base/out")).unwrap();
        symlink("a", place.path().join("base/in")).unwrap();
        fs::write(place.path().join("base/a/file"), "text").unwrap();
        symlink("file", place.path().join("base/a/link")).unwrap();
        let base = File::open(place.path().join("base")).unwrap();
        (place, base)
    }

    #[test]
    fn no_path_and_no_link_leads_out_however_it_is_walked() {
        let (_place, base) = tree();
        type Opening = fn(&File, &Path) -> Result<OwnedFd, Errno>;
        let ways: [Opening; 2] = [
            |base, path| open_directory(base, path, false),
            |base, path| walk(base, path, false),
        ];
        for open in ways {
            for path in ["", "a", "a/b"] {
                assert!(open(&base, Path::new(path)).is_ok(), "{path}");
            }
            for path in ["out", "out/x", "in", "in/b", "a/file", "missing"] {
                assert!(open(&base, Path::new(path)).is_err(), "{path}");
            }
        }
        for path in ["..", "a/../..", "/", "/etc", "a\0b"] {
            let opened = open_directory(&base, Path::new(path), true);
            assert_eq!(opened.unwrap_err(), Errno::INVAL, "{path:?}");
        }
    }

    #[test]
    fn missing_directories_are_made_only_on_request_and_never_through_a_link() {
        let (place, base) = tree();
        let path = Path::new("a/new/deep");

        assert_eq!(
            open_directory(&base, path, false).unwrap_err(),
            Errno::NOENT
        );
        let file = path.join("file");
        let (_parent, name) = open_parent(&base, &file, true).unwrap();

        assert_eq!(name, "file");
        assert!(place.path().join("base/a/new/deep").is_dir());
        assert!(open_directory(&base, Path::new("out/new"), true).is_err());
        assert!(!place.path().join("outside/new").exists());
    }

    #[test]
    fn a_file_is_opened_and_a_link_to_it_is_not() {
        let (_place, base) = tree();
        let directory = open_directory(&base, Path::new("a"), false).unwrap();
        assert!(open_file(&directory, "file").is_ok());
        assert_eq!(open_file(&directory, "link").unwrap_err(), Errno::LOOP);
    }
}
