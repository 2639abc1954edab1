//! The servers and virtual hosts of the present configuration.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::sys;

/// The first of httpd's list; null while a configuration is being read.
static FIRST: AtomicPtr<sys::server_rec> = AtomicPtr::new(std::ptr::null_mut());

/// Forgets them: httpd is about to read its configuration, and the old one is gone.
pub(crate) fn forget() {
    FIRST.store(std::ptr::null_mut(), Ordering::Release);
}

/// Takes note of the list that holds from now on.
pub(crate) fn set(first: *mut sys::server_rec) {
    FIRST.store(first, Ordering::Release);
}

/// The main server, whose log takes what is about no request; null if none is known.
pub(crate) fn main() -> *const sys::server_rec {
    FIRST.load(Ordering::Acquire)
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = *const sys::server_rec> {
    let there = |server: *const sys::server_rec| (!server.is_null()).then_some(server);
    // SAFETY: httpd keeps its list of servers as long as its configuration; the last one has none behind it.
    std::iter::successors(there(main()), move |server| unsafe {
        there((**server).next)
    })
}
