//! The facts of a file in the file system, and how far they can be relied on.

use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

/// The facts of a file in the file system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its length in bytes.
    pub size: u64,
    /// When its content last changed, in seconds since 1970.
    pub mtime: i64,
    /// When anything about it last changed, in nanoseconds; only for telling how long ago that was.
    pub ctime_ns: i128,
    /// A number that changes with size, times or inode.
    pub mark: i64,
    /// How many names (hard links) it has; 0 where that is not known.
    pub links: u64,
}

impl Facts {
    /// Reads the facts of an open file once more.
    pub fn of_file(file: &File) -> io::Result<Self> {
        Ok(Self::of(&rustix::fs::fstat(file)?))
    }

    #[allow(
        clippy::useless_conversion,
        reason = "the number of links has 32 bits on some machines"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let numbers = [
            stat.st_mtime as u64,
            stat.st_mtime_nsec,
            stat.st_ctime as u64,
            stat.st_ctime_nsec,
            size,
            stat.st_ino,
        ];
        Self {
            size,
            mtime: stat.st_mtime,
            ctime_ns: i128::from(stat.st_ctime) * 1_000_000_000
                + i128::from(stat.st_ctime_nsec as i64),
            mark: mix(&numbers),
            links: u64::from(stat.st_nlink),
        }
    }
    /// Whether the file changed a moment ago, so that a further change might not show in its times.
    pub(crate) fn is_young(&self) -> bool {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let now = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
        (0..TOO_YOUNG.as_nanos() as i128).contains(&(now - self.ctime_ns))
    }
}

/// Mixes numbers into one. Kept in the index, so it must stay the same for ever.
fn mix(numbers: &[u64]) -> i64 {
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    for number in numbers {
        state = (state ^ number).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        state ^= state >> 32;
    }
    state as i64
}

/// File systems tell times in steps of a few milliseconds; a change within the same step as the last look
/// could not be told apart, so files this young are looked at again later.
pub(crate) const TOO_YOUNG: Duration = Duration::from_millis(20);
