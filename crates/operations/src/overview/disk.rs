//! How full the disk of the data directory is.

use std::path::Path;

use serde::Serialize;
use utoipa::ToSchema;

/// The disk of the data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Disk {
    /// Bytes that are free for garner.
    pub free: u64,
    /// Bytes in all.
    pub size: u64,
}

impl Disk {
    /// The disk of a directory, if the system says.
    pub(super) fn of(directory: &Path) -> Option<Self> {
        let found = rustix::fs::statvfs(directory).ok()?;
        Some(Self {
            free: found.f_bavail.saturating_mul(found.f_frsize),
            size: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }

    /// Whether it is nearly full: less than a gigabyte and a twentieth of it is free.
    pub fn is_low(self) -> bool {
        self.free < MIN_FREE && self.free < self.size / 20
    }
}

const MIN_FREE: u64 = 1_000_000_000;
