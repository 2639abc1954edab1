//! The border between httpd and Rust: no panic crosses it.
//!
//! Functions that httpd calls run in [`guarded`], but for the few functions that only copy pointers and so cannot panic; those
//! for directories, hooks and filters are called for every request of the whole server.

use std::panic::{self, AssertUnwindSafe};

use crate::log;

/// Runs what httpd called. A panic ends here: [`report_panics`] has written its line, and httpd gets `otherwise`.
pub(crate) fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// Makes a panic one line in the error log, without the backtrace that would cost megabytes.
pub(crate) fn report_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string);
        let place = place.unwrap_or_default();
        let message = info.payload_as_str().unwrap_or("no message");
        log::server(
            log::CRIT,
            &format!("mod_oai panicked at {place}: {message}; please report this"),
        );
    }));
}
