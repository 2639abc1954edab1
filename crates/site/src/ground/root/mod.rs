//! A directory of the site, its root or a mount: opens what lies below it and nothing else.
//!
//! Paths are walked component by component without following symbolic links; a link is resolved apart
//! and its target walked again, so that no race can lead out of the root. Only where another server decides on
//! links, they are simply followed.

mod open;
mod place;
mod sighting;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

pub use self::open::{OpenError, Opened};
pub(crate) use self::place::is_away;
use self::place::{Place, away};
pub use self::sighting::Sighting;
use crate::SitePath;
use crate::config::Symlinks;

/// A directory whose files are the site, or a part of it: paths are those of the site, also in a mount.
#[derive(Debug)]
pub struct Root {
    /// Where in the site it is.
    at: SitePath,
    /// As it was given; a link that is switched to another directory is followed there.
    given: PathBuf,
    /// None while there is nothing that can be opened.
    place: RwLock<Option<Arc<Place>>>,
    symlinks: Symlinks,
    /// Whether links to directories are followed: only where the configuration says so for all of them.
    follows: bool,
    /// The superuser may read everything; what nobody may read is still left out.
    superuser: bool,
    /// Whether the directory is held open, as the only one of a site is.
    held: bool,
}

impl Root {
    /// Opens the root of a site that has no other directories.
    pub fn open(path: &Path, symlinks: Symlinks) -> io::Result<Self> {
        let given = std::path::absolute(path)?;
        let place = Place::hold(path)?;
        Ok(Self::new(SitePath::root(), given, symlinks, Some(place)))
    }

    /// Finds what is mounted somewhere in a site; it may be away.
    pub(crate) fn mount(at: SitePath, path: &Path, symlinks: Symlinks) -> Self {
        let given = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let place = Place::find(&given);
        let place = place.map_err(|error| warn_away(&given, &error)).ok();
        Self {
            held: false,
            ..Self::new(at, given, symlinks, place)
        }
    }

    fn new(at: SitePath, given: PathBuf, symlinks: Symlinks, place: Option<Place>) -> Self {
        Self {
            at,
            given,
            place: RwLock::new(place.map(Arc::new)),
            symlinks,
            follows: matches!(symlinks, Symlinks::All | Symlinks::Every),
            // Another server that decides on links decides on permissions too.
            superuser: symlinks != Symlinks::Every && rustix::process::geteuid().is_root(),
            held: true,
        }
    }

    /// Where it is in the file system, all links resolved.
    pub fn path(&self) -> PathBuf {
        let place = self.place();
        place.map_or_else(|_| self.given.clone(), |place| place.path.clone())
    }

    /// Where in the site it is.
    pub(crate) fn at(&self) -> &SitePath {
        &self.at
    }

    /// Where it is in the file system, as it was given.
    pub(crate) fn given(&self) -> &Path {
        &self.given
    }

    /// Whether it is a single file that is mounted.
    pub(crate) fn is_file(&self) -> bool {
        self.place().is_ok_and(|place| place.is_file())
    }

    /// A path of the site below a directory of the file system that stands for this root.
    pub(crate) fn below(&self, directory: PathBuf, path: &SitePath) -> PathBuf {
        match self.local(path) {
            b"" => directory,
            local => directory.join(OsStr::from_bytes(local)),
        }
    }

    /// Looks whether the root is still the same directory, and takes the new one if not.
    pub fn renew(&self) -> io::Result<bool> {
        let stat = rustix::fs::stat(&self.given)?;
        if (self.place()).is_ok_and(|place| place.identity == (stat.st_dev, stat.st_ino)) {
            return Ok(false);
        }
        let place = match self.held {
            true => Place::hold(&self.given)?,
            false => Place::find(&self.given)?,
        };
        self.set_place(Some(place));
        Ok(true)
    }

    /// Renews it, or notes that it is away: then nothing is told of what it has.
    pub(crate) fn renew_or_miss(&self) -> bool {
        self.renew().unwrap_or_else(|error| {
            if self.set_place(None).is_some() {
                warn_away(&self.given, &error);
            }
            false
        })
    }

    /// Opens a directory below the root; the root itself for its own path.
    pub(crate) fn open_directory(&self, path: &SitePath) -> io::Result<OwnedFd> {
        if self.local(path).is_empty() {
            return self.place()?.open();
        }
        let (parent, name) = self.locate(path)?;
        self.open_directory_at(&parent, name)
    }

    /// Opens a directory in another one; one that nobody may look into is refused to the superuser too.
    pub(crate) fn open_directory_at(&self, parent: &OwnedFd, name: &[u8]) -> io::Result<OwnedFd> {
        let directory = match self.follows {
            true => rustix::fs::openat(parent, name, FOLLOWED, Mode::empty())?,
            false => beneath::open_child(parent, name, false)?,
        };
        if self.superuser && is_closed(&directory)? {
            return Err(Errno::ACCESS.into());
        }
        Ok(directory)
    }

    fn place(&self) -> io::Result<Arc<Place>> {
        let place = self.place.read().unwrap_or_else(PoisonError::into_inner);
        place
            .as_ref()
            .map(Arc::clone)
            .ok_or_else(|| away(&self.given))
    }

    /// Puts another place, or none; returns the one before.
    fn set_place(&self, place: Option<Place>) -> Option<Arc<Place>> {
        let mut present = self.place.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *present, place.map(Arc::new))
    }

    /// A path of the site relative to this root.
    fn local<'p>(&self, path: &'p SitePath) -> &'p [u8] {
        let rest = path.as_bytes().strip_prefix(self.at.as_bytes());
        let rest = rest.unwrap_or_default();
        rest.strip_prefix(b"/").unwrap_or(rest)
    }

    /// The parent directory of a path, reached without following a link, and the last component.
    fn locate<'p>(&self, path: &'p SitePath) -> io::Result<(OwnedFd, &'p [u8])> {
        let mut directory = self.place()?.directory()?;
        let local = self.local(path);
        let mut components = local.split(|byte| *byte == b'/');
        let name = components.next_back().filter(|name| !name.is_empty());
        let name = name.ok_or(io::ErrorKind::IsADirectory)?;
        if !self.follows && !self.superuser {
            let local = Path::new(OsStr::from_bytes(local));
            let (parent, _) = beneath::open_parent(&directory, local, false)?;
            return Ok((parent, name));
        }
        for component in components {
            directory = self.open_directory_at(&directory, component)?;
        }
        Ok((directory, name))
    }

    /// The metadata of a name: of a link itself, unless links are not looked at here at all.
    pub(crate) fn stat_at(&self, parent: &OwnedFd, name: &[u8]) -> io::Result<Stat> {
        let flags = match self.symlinks {
            Symlinks::Every => AtFlags::empty(),
            _ => AtFlags::SYMLINK_NOFOLLOW,
        };
        Ok(rustix::fs::statat(parent, name, flags)?)
    }

    fn inside(&self, target: &Path) -> Option<SitePath> {
        let place = self.place().ok()?;
        let relative = target.strip_prefix(&place.path).ok()?;
        let relative = relative.as_os_str().as_bytes();
        let bytes = match (self.at.as_bytes(), relative) {
            (b"", relative) => Cow::Borrowed(relative),
            (at, b"") => Cow::Borrowed(at),
            (at, relative) => Cow::Owned([at, relative].join(&b'/')),
        };
        SitePath::new(bytes)
    }
}

fn warn_away(path: &Path, error: &io::Error) {
    tracing::warn!(
        "`{}` cannot be read, what is known of it stays: {error}",
        path.display()
    );
}

/// Whether nobody may look into a directory.
fn is_closed(directory: &OwnedFd) -> io::Result<bool> {
    Ok(is_closed_mode(rustix::fs::fstat(directory)?.st_mode))
}

fn is_closed_mode(mode: u32) -> bool {
    mode & ANYONE_READS == 0 || mode & ANYONE_ENTERS == 0
}

/// `O_NOFOLLOW` on a link: ELOOP, or ENOTDIR where a directory was wanted.
fn is_link_error(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::LOOP | Errno::NOTDIR | Errno::MLINK))
}

/// How directories are opened where links are followed.
const FOLLOWED: OFlags = beneath::DIRECTORY.difference(OFlags::NOFOLLOW);
const ANYONE_READS: u32 = 0o444;
const ANYONE_ENTERS: u32 = 0o111;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::config::OfferConfig;
    use crate::{Reason, Rules};

    fn root() -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("d")).unwrap();
        fs::write(directory.path().join("d/a.txt"), "hello").unwrap();
        let root = Root::open(directory.path(), Symlinks::Inside).unwrap();
        (directory, root)
    }

    fn path(text: &str) -> SitePath {
        SitePath::new(text).unwrap()
    }

    fn look(root: &Root, name: &str) -> Sighting {
        root.look(
            &path(name),
            &Rules::compile(OfferConfig::default()).unwrap(),
        )
    }

    #[test]
    fn opens_files_and_tells_directories() {
        let (_keep, root) = root();
        assert_eq!(
            root.open_file(&path("d/a.txt"), Symlinks::Inside)
                .unwrap()
                .facts
                .size,
            5
        );
        assert!(matches!(
            root.open_file(&path("d"), Symlinks::Inside),
            Err(OpenError::Directory(_))
        ));
        assert!(matches!(
            root.open_file(&path("x"), Symlinks::Inside),
            Err(OpenError::Missing)
        ));
        assert!(matches!(
            root.open_file(&path("d/a.txt/x"), Symlinks::Inside),
            Err(OpenError::Missing)
        ));
    }

    #[test]
    fn links_inside_are_served_but_offered_under_their_target() {
        let (keep, root) = root();
        symlink("d/a.txt", keep.path().join("link.txt")).unwrap();
        symlink("d", keep.path().join("e")).unwrap();

        assert!(matches!(
            look(&root, "link.txt"),
            Sighting::LeftOut(Reason::SymlinkToOffered { .. })
        ));
        let opened = root.open_file(&path("e/a.txt"), Symlinks::Inside).unwrap();
        assert_eq!(opened.path, path("d/a.txt"));
        assert!(matches!(
            root.open_file(&path("link.txt"), Symlinks::None),
            Err(OpenError::Forbidden)
        ));
    }

    #[test]
    fn links_to_hidden_files_are_offered_themselves() {
        let (keep, root) = root();
        fs::create_dir(keep.path().join(".store")).unwrap();
        fs::write(keep.path().join(".store/x"), "x").unwrap();
        symlink(".store/x", keep.path().join("x.txt")).unwrap();

        assert!(matches!(look(&root, "x.txt"), Sighting::File { .. }));
    }

    #[test]
    fn links_that_leave_the_root_are_refused() {
        let (keep, root) = root();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        symlink(outside.path().join("secret"), keep.path().join("s")).unwrap();
        symlink(outside.path(), keep.path().join("o")).unwrap();

        for name in ["s", "o/secret"] {
            assert!(
                matches!(
                    root.open_file(&path(name), Symlinks::Inside),
                    Err(OpenError::Forbidden)
                ),
                "{name}"
            );
        }
        assert!(matches!(
            look(&root, "s"),
            Sighting::LeftOut(Reason::SymlinkOutside { .. })
        ));
        assert!(root.open_file(&path("s"), Symlinks::All).is_ok());
    }

    #[test]
    fn what_nobody_may_read_is_left_out_even_for_the_superuser() {
        let (keep, root) = root();
        let file = keep.path().join("d/a.txt");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o000)).unwrap();
        assert!(matches!(
            look(&root, "d/a.txt"),
            Sighting::LeftOut(Reason::Unreadable { .. })
        ));
        assert!(matches!(
            root.open_file(&path("d/a.txt"), Symlinks::Inside),
            Err(OpenError::Forbidden)
        ));

        fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        fs::set_permissions(keep.path().join("d"), PermissionsExt::from_mode(0o000)).unwrap();
        let sighting = look(&root, "d/a.txt");
        fs::set_permissions(keep.path().join("d"), PermissionsExt::from_mode(0o755)).unwrap();
        assert!(matches!(
            sighting,
            Sighting::LeftOut(Reason::Unreadable { .. })
        ));
    }

    #[test]
    fn the_mark_tells_every_kind_of_change() {
        let (keep, root) = root();
        let file = keep.path().join("d/a.txt");
        let mark = |root: &Root| {
            root.open_file(&path("d/a.txt"), Symlinks::Inside)
                .unwrap()
                .facts
                .mark
        };
        let first = mark(&root);
        assert_eq!(first, mark(&root));

        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "world").unwrap();
        assert_ne!(first, mark(&root));
    }
}
