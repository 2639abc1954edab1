//! `index.state`: what all processes that have the index open agree on, in a few bytes under a lock.
//!
//! It is for the time of one boot. A process that is killed has written it or has not, and its lock goes with
//! it; the file is never synced, and after a crash of the machine it counts for nothing.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The agreement of the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Agreed {
    /// The latest answer that any of them has given.
    pub(super) answered: i64,
    /// The newest datestamp there is.
    pub(super) latest: i64,
    /// When the index was last told that answers are being given.
    pub(super) noted: i64,
    /// Another number whenever there may be new media types.
    pub(super) media_types: i64,
    /// The newest configuration that any of them has.
    pub(super) generation: i64,
}

/// The file.
#[derive(Debug)]
pub(super) struct StateFile {
    file: File,
    boot: [u8; BOOT],
}

impl StateFile {
    pub(super) fn open(data: &Path) -> io::Result<Self> {
        Ok(Self {
            file: private_file(&data.join(FILE))?,
            boot: this_boot(),
        })
    }

    /// Waits until no other process has the lock.
    pub(super) fn lock(&self) -> io::Result<()> {
        uninterrupted(|| self.file.lock())
    }

    pub(super) fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }

    /// The agreement; none if the file is new or not to be understood.
    pub(super) fn read(&self) -> Option<Agreed> {
        self.read_bytes().map(|bytes| decode(&bytes))
    }

    /// The same, if it was written since the machine was started.
    pub(super) fn read_of_this_boot(&self) -> Option<Agreed> {
        let bytes = self.read_bytes()?;
        let known = self.boot != [0; BOOT];
        (known && bytes[NUMBERS_END..BOOT_END] == self.boot).then(|| decode(&bytes))
    }

    pub(super) fn write(&self, agreed: &Agreed) -> io::Result<()> {
        let mut bytes = [0; LENGTH];
        bytes[..NUMBERS].copy_from_slice(MAGIC);
        let numbers = [
            agreed.answered,
            agreed.latest,
            agreed.noted,
            agreed.media_types,
            agreed.generation,
        ];
        for (place, number) in bytes[NUMBERS..NUMBERS_END].chunks_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes[NUMBERS_END..BOOT_END].copy_from_slice(&self.boot);
        let sum = checksum(&bytes);
        bytes[BOOT_END..].copy_from_slice(&sum);
        self.file.write_all_at(&bytes, 0)
    }

    fn read_bytes(&self) -> Option<[u8; LENGTH]> {
        let mut bytes = [0; LENGTH];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        let whole = bytes.starts_with(MAGIC) && bytes[BOOT_END..] == checksum(&bytes);
        whole.then_some(bytes)
    }
}

/// Opens a file for reading and writing, made if need be, that is nobody else's business.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.mode(0o600).open(path)
}

/// A signal is no reason to go on without a lock, nor to fail.
pub(super) fn uninterrupted(mut lock: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn decode(bytes: &[u8; LENGTH]) -> Agreed {
    let number = |place: usize| {
        let mut number = [0; 8];
        number.copy_from_slice(&bytes[NUMBERS + 8 * place..][..8]);
        i64::from_le_bytes(number)
    };
    Agreed {
        answered: number(0),
        latest: number(1),
        noted: number(2),
        media_types: number(3),
        generation: number(4),
    }
}

fn checksum(bytes: &[u8; LENGTH]) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&Sha256::digest(&bytes[..BOOT_END])[..SUM]);
    sum
}

/// The number of this boot; zeros where the kernel does not say.
fn this_boot() -> [u8; BOOT] {
    let mut boot = [0; BOOT];
    if let Ok(id) = fs::read("/proc/sys/kernel/random/boot_id") {
        boot.copy_from_slice(&Sha256::digest(id)[..BOOT]);
    }
    boot
}

pub(super) const FILE: &str = "index.state";

/// The last byte is the version.
const MAGIC: &[u8; NUMBERS] = b"garner.\x01";
const NUMBERS: usize = 8;
const NUMBERS_END: usize = NUMBERS + 5 * 8;
const BOOT: usize = 16;
const BOOT_END: usize = NUMBERS_END + BOOT;
const SUM: usize = 8;
const LENGTH: usize = BOOT_END + SUM;

#[cfg(test)]
mod tests {
    use super::*;

    const AGREED: Agreed = Agreed {
        answered: 1,
        latest: i64::MIN,
        noted: -3,
        media_types: 4,
        generation: i64::MAX,
    };

    #[test]
    fn what_is_written_is_read_again() {
        let data = tempfile::tempdir().unwrap();
        let state = StateFile::open(data.path()).unwrap();
        assert_eq!(state.read(), None);

        state.write(&AGREED).unwrap();

        let again = StateFile::open(data.path()).unwrap();
        assert_eq!(again.read(), Some(AGREED));
        assert_eq!(again.read_of_this_boot(), Some(AGREED));
    }

    #[test]
    fn what_was_written_before_a_boot_is_known_as_such() {
        let data = tempfile::tempdir().unwrap();
        let mut state = StateFile::open(data.path()).unwrap();
        state.boot = [7; BOOT];
        state.write(&AGREED).unwrap();

        let now = StateFile::open(data.path()).unwrap();

        assert_eq!(now.read(), Some(AGREED));
        assert_eq!(now.read_of_this_boot(), None);
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_noticed() {
        let data = tempfile::tempdir().unwrap();
        let state = StateFile::open(data.path()).unwrap();
        state.write(&AGREED).unwrap();
        let whole = fs::read(data.path().join(FILE)).unwrap();

        for place in 0..LENGTH {
            let mut flipped = whole.clone();
            flipped[place] ^= 1;
            fs::write(data.path().join(FILE), flipped).unwrap();
            assert_eq!(state.read(), None, "byte {place}");
            fs::write(data.path().join(FILE), &whole[..place]).unwrap();
            assert_eq!(state.read(), None, "cut at {place}");
        }
    }
}
