//! Threads of our own in a process of httpd's.
//!
//! They are started while a request is handled, so in a worker process and never in the parent, and they see nothing that
//! is httpd's. httpd must not see them either: its signals are for the threads that it knows.

use std::io;
use std::mem::MaybeUninit;
use std::thread::{self, JoinHandle};

use site::Work;

use crate::sys;

/// Starts a thread that takes no signals.
pub(crate) fn start(work: Work) -> io::Result<JoinHandle<()>> {
    let _blocked = BlockedSignals::new();
    thread::Builder::new()
        .name(NAME.to_owned())
        .stack_size(STACK_BYTES)
        .spawn(work)
}

/// For as long as this lives, the present thread takes no signals; a thread that it starts never does.
struct BlockedSignals {
    before: sys::sigset_t,
}

impl BlockedSignals {
    fn new() -> Self {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: the first call fills the one set, and the second reads it and fills the other; with these arguments
        // neither can fail.
        unsafe {
            sys::sigfillset(all.as_mut_ptr());
            sys::pthread_sigmask(SETMASK, all.as_ptr(), before.as_mut_ptr());
            Self {
                before: before.assume_init(),
            }
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: the set was filled by the system.
        unsafe { sys::pthread_sigmask(SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}

const SETMASK: std::ffi::c_int = sys::SIG_SETMASK as std::ffi::c_int;
const NAME: &str = "mod_oai";
const STACK_BYTES: usize = 256 * 1024;
