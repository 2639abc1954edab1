//! Limits on a server, beyond which it is given up.

use std::time::Duration;

/// Bounds that no honest server meets.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many names there may be in all.
    pub entries: usize,
    /// How many directories may lie in each other.
    pub depth: usize,
    /// How many bytes the listing of one directory may have.
    pub listing: u64,
    /// How long one line of a listing may be.
    pub line: usize,
    /// How long the listing of one directory may take.
    pub listing_time: Duration,
    /// How long the server may be silent, and a connection take to open.
    pub silence: Duration,
    /// The number of bytes that must arrive in each `pace_time`; a slower server counts as lost.
    pub pace: u64,
    /// The time in which `pace` bytes must arrive.
    pub pace_time: Duration,
    /// How often the server is asked again before it is given up, if nothing comes meanwhile.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles from then on.
    pub first_wait: Duration,
    /// The longest wait.
    pub longest_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 1_000_000,
            depth: 32,
            listing: 256 << 20,
            line: 16 << 10,
            listing_time: Duration::from_secs(1800),
            silence: Duration::from_secs(60),
            pace: 4 << 10,
            pace_time: Duration::from_secs(120),
            attempts: 8,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
        }
    }
}
