//! The directory below which the files of a log are, and the way from a path to a file in it.
//!
//! Paths are walked name by name from the open directory, and no symbolic link is followed, so that nothing that a log
//! says or that lies in the tree leads out of it.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use rustix::fs::FileType;
use rustix::io::Errno;
use sha1::{Digest, Sha1};

use super::segment::Segment;
use crate::{Error, Limits};

/// A directory of files.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    directory: OwnedFd,
}

/// The known properties of a file before it is found.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) digest: Option<String>,
    pub(super) size: Option<u64>,
}

/// A file that may be the one.
struct Candidate {
    file: File,
    /// The writer can only have put it here.
    certain: bool,
}

enum Seen {
    File(File),
    Directory(OwnedFd),
    /// A link, a pipe or a device: something that no crawler made.
    Other,
    Nothing,
}

impl Root {
    pub(super) fn open(path: &Path, limits: &Limits) -> Result<Self, Error> {
        // The root is the user's own choice and may be a link.
        let opened =
            limits
                .roots
                .open(path)
                .and_then(|directory| match directory.metadata()?.is_dir() {
                    true => Ok(directory),
                    false => Err(io::ErrorKind::NotADirectory.into()),
                });
        let directory = opened.map_err(|error| Error::file(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            directory: directory.into(),
        })
    }

    /// Opens the file at the first of some paths that has one. Where several files may be meant, the digest decides.
    pub(super) fn find(&self, paths: &[Vec<Segment>], expected: &Expected) -> io::Result<File> {
        for path in paths {
            let mut search = Search::default();
            search.descend(self.directory.as_fd(), path, true)?;
            if let Some(file) = choose(search.candidates, expected)? {
                return Ok(file);
            }
        }
        Err(self.not_found(paths))
    }

    fn not_found(&self, paths: &[Vec<Segment>]) -> io::Error {
        let reason = match paths.first() {
            Some(path) => {
                let names: Vec<_> = path.iter().map(|segment| segment.name(None)).collect();
                let path = names.join(&b'/');
                let path: String = String::from_utf8_lossy(&path).chars().take(300).collect();
                format!("there is no file `{path}` below `{}`", self.path.display())
            }
            None => format!(
                "what the log says names no file below `{}`",
                self.path.display()
            ),
        };
        io::Error::new(io::ErrorKind::NotFound, reason)
    }
}

/// A search for the files that a path may mean.
#[derive(Default)]
struct Search {
    candidates: Vec<Candidate>,
    looks: u32,
}

impl Search {
    /// Looks for files at the end of a path, with the numbers that names got where something else had them.
    fn descend(
        &mut self,
        directory: BorrowedFd<'_>,
        path: &[Segment],
        certain: bool,
    ) -> io::Result<()> {
        let Some((segment, rest)) = path.split_first() else {
            return Ok(());
        };
        let wants_file = rest.is_empty();
        // Nothing there: on systems that do not tell cases apart another spelling may have had the name.
        let mut numbered_is_certain = false;
        match self.look(directory, &segment.name(None))? {
            Seen::File(file) if wants_file => {
                self.candidates.push(Candidate { file, certain });
                return Ok(());
            }
            Seen::Directory(directory) if !wants_file => {
                return self.descend(directory.as_fd(), rest, certain);
            }
            // A file where a directory is needed, or the other way round: the later of the two got a number.
            Seen::File(_) | Seen::Directory(_) => numbered_is_certain = certain,
            Seen::Nothing => {}
            Seen::Other => return Ok(()),
        }
        let clashes = if segment.can_clash { MOST_CLASHES } else { 0 };
        for number in 1..=clashes {
            match self.look(directory, &segment.name(Some(number)))? {
                Seen::File(file) if wants_file => self.candidates.push(Candidate {
                    file,
                    certain: numbered_is_certain,
                }),
                Seen::Directory(directory) if !wants_file => {
                    self.descend(directory.as_fd(), rest, numbered_is_certain)?;
                }
                Seen::File(_) | Seen::Directory(_) => {}
                Seen::Other | Seen::Nothing => break,
            }
        }
        Ok(())
    }

    /// Looks at the entry `name`. After too many looks every name counts as absent, against trees made to delay the import.
    fn look(&mut self, directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<Seen> {
        self.looks += 1;
        match self.looks > MOST_LOOKS || self.candidates.len() >= MOST_CANDIDATES {
            true => Ok(Seen::Nothing),
            false => look(directory, name),
        }
    }
}

fn look(directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<Seen> {
    let opened = match beneath::open_file(directory, name) {
        Ok(opened) => opened,
        Err(Errno::NOENT | Errno::NAMETOOLONG | Errno::INVAL | Errno::ILSEQ) => {
            return Ok(Seen::Nothing);
        }
        Err(Errno::LOOP | Errno::NXIO | Errno::MLINK) => return Ok(Seen::Other),
        Err(errno) => return Err(errno.into()),
    };
    let stat = rustix::fs::fstat(&opened)?;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Seen::File(File::from(opened)),
        FileType::Directory => Seen::Directory(opened),
        _ => Seen::Other,
    })
}

/// The one that is meant. A file that can only be it needs no proof, and one whose name may as well be that of another
/// URL does.
fn choose(mut candidates: Vec<Candidate>, expected: &Expected) -> io::Result<Option<File>> {
    if candidates.len() == 1 && candidates[0].certain {
        return Ok(candidates.pop().map(|candidate| candidate.file));
    }
    for candidate in &mut candidates {
        if is_expected(&mut candidate.file, expected)? {
            return candidate.file.try_clone().map(Some);
        }
    }
    let certain = candidates.into_iter().find(|candidate| candidate.certain);
    Ok(certain.map(|candidate| candidate.file))
}

fn is_expected(file: &mut File, expected: &Expected) -> io::Result<bool> {
    let Some(digest) = &expected.digest else {
        return Ok(expected.size == Some(file.metadata()?.len()));
    };
    let mut sha1 = Sha1::new();
    let mut block = vec![0; 64 * 1024];
    loop {
        match file.read(&mut block)? {
            0 => break,
            read => sha1.update(&block[..read]),
        }
    }
    file.rewind()?;
    Ok(is_digest(&sha1.finalize(), digest))
}

/// Whether a log's digest, base32 or hexadecimal and with or without a label, is this one.
fn is_digest(sha1: &[u8], written: &str) -> bool {
    let bare = written.rsplit(':').next().unwrap_or(written);
    bare.eq_ignore_ascii_case(&HEXLOWER.encode(sha1))
        || bare.eq_ignore_ascii_case(&BASE32_NOPAD.encode(sha1))
}

/// More things of one name have not been seen.
const MOST_CLASHES: u32 = 100;
const MOST_LOOKS: u32 = 5000;
const MOST_CANDIDATES: usize = 16;
