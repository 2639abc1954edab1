//! The bytes that a program has written: the sum of its directory. No limit of the kernel's counts more than one file.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A directory, and how much may lie there.
pub(super) struct Written<'a> {
    pub(super) directory: &'a Path,
    pub(super) most_bytes: u64,
}

impl Written<'_> {
    /// Whether there is more than may be. Programs can neither remove files, nor make directories or files without a name,
    /// so all that they wrote is seen here.
    pub(super) fn is_too_much(&self) -> bool {
        let entries = fs::read_dir(self.directory).into_iter().flatten().flatten();
        let (mut sum, mut count) = (0_u64, 0);
        for entry in entries {
            // A length may be a claim and blocks may come later; the greater of the two is what it takes.
            let size = entry.metadata().map_or(0, |metadata| {
                metadata.len().max(metadata.blocks().saturating_mul(512))
            });
            sum = sum.saturating_add(size);
            count += 1;
            if sum > self.most_bytes || count > MOST_FILES {
                return true;
            }
        }
        false
    }
}

/// Ghostscript makes a dozen.
const MOST_FILES: usize = 1000;
