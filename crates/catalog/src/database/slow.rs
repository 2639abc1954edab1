//! The time above which a statement or a page of the console gets a line in the log. It holds for the process, as the log does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use log::LevelFilter;
use sqlx::ConnectOptions;

static LIMIT_MS: AtomicU64 = AtomicU64::new(1000);

/// Sets the limit for catalogs that are opened later, and for pages.
pub fn set_slow_limit(limit: Duration) {
    let limit = limit.as_millis().try_into().unwrap_or(u64::MAX);
    LIMIT_MS.store(limit, Ordering::Relaxed);
}

/// A statement or page that takes at least as long is slow. One second unless it is set.
pub fn slow_limit() -> Duration {
    Duration::from_millis(LIMIT_MS.load(Ordering::Relaxed))
}

/// Connections that log slow statements as warnings, without the values in them.
pub(super) fn logged<O: ConnectOptions>(options: O) -> O {
    options.log_slow_statements(LevelFilter::Warn, slow_limit())
}
