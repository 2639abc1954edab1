//! The sighting of a path, seen with the rules: a file that is offered, a directory, or why neither.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, Stat};

use super::{ANYONE_READS, Root, is_link_error};
use crate::config::Symlinks;
use crate::{Decision, Facts, Reason, Rules, SitePath};

/// The sighting of a path, seen with the rules.
#[derive(Debug)]
pub enum Sighting {
    /// A file that is offered; `dynamic` if a server would run it.
    File {
        /// Its facts in the file system.
        facts: Facts,
        /// Whether it is offered as what a server makes of it.
        dynamic: bool,
    },
    /// A directory to look into.
    Directory,
    /// Nothing that is offered.
    LeftOut(Reason),
    /// The file system would not say; what was known of it stays.
    Unknown(io::Error),
}

impl Sighting {
    /// A missing file is gone and a forbidden one hidden; any other error says nothing about the file.
    pub(crate) fn of_error(error: io::Error, path: &SitePath) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidFilename => Self::LeftOut(Reason::Missing),
            io::ErrorKind::PermissionDenied => unreadable(path),
            _ if is_link_error(&error) => Self::LeftOut(Reason::Missing),
            _ => Self::Unknown(error),
        }
    }
}

impl Root {
    /// Looks at one path with the rules.
    pub fn look(&self, path: &SitePath, rules: &Rules) -> Sighting {
        let decision = rules.decide(path);
        if let Decision::LeftOut(reason) = decision {
            return match &reason {
                // A directory may be hidden by a rule that speaks of its files.
                Reason::Url { .. } | Reason::Pattern { .. } | Reason::Program { .. }
                    if self.is_directory(path) =>
                {
                    Sighting::Directory
                }
                _ => Sighting::LeftOut(reason),
            };
        }
        let dynamic = decision != Decision::Offered;
        if path == self.at() {
            return self.look_at_itself(path, dynamic);
        }
        let located = self.locate(path).and_then(|(parent, name)| {
            let stat = self.stat_at(&parent, name)?;
            Ok((parent, stat))
        });
        match located {
            Ok((parent, stat)) => self.judge(path, &parent, &stat, rules, dynamic),
            Err(error) => Sighting::of_error(error, path),
        }
    }

    /// Looks once more at a file that a walk has just met, in one call. None where that would not do: it is not such a
    /// file any more, or links must not be followed on the way.
    pub(crate) fn look_again(&self, path: &SitePath, rules: &Rules) -> Option<Sighting> {
        if self.symlinks != Symlinks::Every || path == self.at() {
            return None;
        }
        let decision = rules.decide(path);
        if matches!(decision, Decision::LeftOut(_)) {
            return None;
        }
        let stat = rustix::fs::stat(self.below(self.path(), path)).ok()?;
        let is_plain = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && stat.st_mode & Mode::ROTH.bits() != 0;
        is_plain.then(|| Sighting::File {
            facts: Facts::of(&stat),
            dynamic: decision != Decision::Offered,
        })
    }

    /// Judges what a walk or a look found at a path.
    pub(crate) fn judge(
        &self,
        path: &SitePath,
        parent: &OwnedFd,
        stat: &Stat,
        rules: &Rules,
        dynamic: bool,
    ) -> Sighting {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile
                if !self.is_readable(parent, Path::new(OsStr::from_bytes(path.name())), stat) =>
            {
                unreadable(path)
            }
            FileType::RegularFile => Sighting::File {
                facts: Facts::of(stat),
                dynamic,
            },
            FileType::Directory => Sighting::Directory,
            FileType::Symlink => self.judge_symlink(path, rules, dynamic),
            _ => Sighting::LeftOut(Reason::NotAFile),
        }
    }

    /// A mounted file or the directory itself. That it is not there says nothing: a disk may be away.
    fn look_at_itself(&self, path: &SitePath, dynamic: bool) -> Sighting {
        match self.place() {
            Ok(place) if !place.is_file() => return Sighting::Directory,
            Ok(_) => {}
            Err(error) => return Sighting::Unknown(error),
        }
        match rustix::fs::stat(self.given()) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
                Sighting::Unknown(io::Error::other("it is a file no longer"))
            }
            Ok(stat) if !self.is_readable(CWD, self.given(), &stat) => unreadable(path),
            Ok(stat) => Sighting::File {
                facts: Facts::of(&stat),
                dynamic,
            },
            Err(error) => Sighting::Unknown(error.into()),
        }
    }

    fn judge_symlink(&self, path: &SitePath, rules: &Rules, dynamic: bool) -> Sighting {
        let target = match self.below(self.path(), path).canonicalize() {
            Ok(target) => target,
            Err(error) => return Sighting::of_error(error, path),
        };
        let inside = self.inside(&target);
        if let Some(reason) = refuse_symlink(path, &target, inside.as_ref(), rules) {
            return Sighting::LeftOut(reason);
        }
        let name = target.file_name().unwrap_or_default().as_bytes();
        match rules.program_extension(name) {
            Some(extension) if !dynamic && target.is_file() => {
                let extension = extension.to_owned();
                Sighting::LeftOut(Reason::Program { extension })
            }
            _ => judge_target(path, &target, dynamic, inside.is_none()),
        }
    }

    fn is_directory(&self, path: &SitePath) -> bool {
        if path == self.at() {
            return !self.is_file();
        }
        let stat = self
            .locate(path)
            .and_then(|(parent, name)| self.stat_at(&parent, name));
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }

    fn is_readable(&self, parent: impl AsFd, name: &Path, stat: &Stat) -> bool {
        if self.superuser {
            return stat.st_mode & ANYONE_READS != 0;
        }
        // The usual case, a file that everybody may read, needs no further call.
        stat.st_mode & Mode::ROTH.bits() != 0
            || rustix::fs::accessat(parent, name, Access::READ_OK, AtFlags::EACCESS).is_ok()
    }
}

/// Why a link does not make an item of its own.
fn refuse_symlink(
    link: &SitePath,
    target: &Path,
    inside: Option<&SitePath>,
    rules: &Rules,
) -> Option<Reason> {
    let place = || target.display().to_string();
    match (rules.symlinks(), inside) {
        (Symlinks::None, _) => Some(Reason::SymlinkNotFollowed { target: place() }),
        (_, Some(inside)) if rules.decide(inside) == Decision::Offered => {
            let target = format!("/{}", inside.display());
            Some(Reason::SymlinkToOffered { target })
        }
        (_, Some(inside)) if rules.leads_into_area(link, inside) => {
            let target = format!("/{}", inside.display());
            Some(Reason::SymlinkIntoArea { target })
        }
        (Symlinks::Inside, None) => Some(Reason::SymlinkOutside { target: place() }),
        _ => None,
    }
}

fn judge_target(path: &SitePath, target: &Path, dynamic: bool, outside: bool) -> Sighting {
    let stat = match rustix::fs::stat(target) {
        Ok(stat) => stat,
        Err(error) => return Sighting::of_error(error.into(), path),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_mode & ANYONE_READS == 0 => unreadable(path),
        FileType::RegularFile => Sighting::File {
            facts: Facts::of(&stat),
            dynamic,
        },
        FileType::Directory if outside => Sighting::Directory,
        FileType::Directory => Sighting::LeftOut(Reason::SymlinkToDirectory {
            target: target.display().to_string(),
        }),
        _ => Sighting::LeftOut(Reason::NotAFile),
    }
}

fn unreadable(path: &SitePath) -> Sighting {
    Sighting::LeftOut(Reason::Unreadable {
        path: format!("/{}", path.display()),
    })
}
