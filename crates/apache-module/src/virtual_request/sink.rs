//! The end of a virtual connection: takes the response that a client would get, and sends it nowhere.

use std::ffi::{c_char, c_int};
use std::fs::File;
use std::os::fd::BorrowedFd;

use crate::border::guarded;
use crate::sys;

/// The bytes that came down to the connection so far.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    /// The status line and the headers, with the empty line behind them once they are complete.
    pub(crate) head: Vec<u8>,
    /// The body, unless it is a file.
    pub(crate) body: Vec<u8>,
    /// The file that is the whole body so far, by its handle and where it goes on.
    file: Option<Taken>,
    /// How many bytes of body are taken.
    pub(crate) limit: u64,
    /// Whether there were more.
    pub(crate) overflowed: bool,
    /// Whether the end came.
    pub(crate) ended: bool,
    /// Whether httpd said that it is not complete.
    pub(crate) broken: bool,
}

/// A file that httpd sends from its beginning.
#[derive(Debug)]
struct Taken {
    handle: *mut sys::apr_file_t,
    file: File,
    length: u64,
}

impl Sink {
    /// A sink for a body of at most so many bytes, and what frames them if they come in chunks.
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            limit: limit.saturating_add(limit / 16 + FRAMES),
            ..Self::default()
        }
    }

    /// The file that the body is, with the length that was sent; none if it is something else.
    pub(crate) fn into_file(self) -> Option<(File, u64)> {
        self.file.map(|taken| (taken.file, taken.length))
    }

    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Takes one bucket. False means that no more is wanted.
    ///
    /// # Safety
    /// The bucket is in a brigade that is being passed down.
    unsafe fn take(&mut self, bucket: *mut sys::apr_bucket) -> bool {
        // SAFETY: the caller's promise; httpd's bucket types are statics.
        unsafe {
            let kind = (*bucket).type_;
            if kind == &raw const sys::apr_bucket_type_eos {
                self.ended = true;
            } else if kind == &raw const sys::ap_bucket_type_error {
                self.broken = true;
            } else if (*kind).is_metadata == sys::apr_bucket_type_t_APR_BUCKET_METADATA {
                // Flushes and the like.
            } else if kind == &raw const sys::apr_bucket_type_file && self.take_file(bucket) {
                // Its length is enough; nothing is read.
            } else {
                return self.read(bucket);
            }
        }
        true
    }

    /// Takes a bucket that is a file, or the next part of the same one.
    ///
    /// # Safety
    /// The bucket is a file bucket.
    unsafe fn take_file(&mut self, bucket: *mut sys::apr_bucket) -> bool {
        // SAFETY: the data of a file bucket is of this type.
        let (handle, start, length) = unsafe {
            let data: *const sys::apr_bucket_file = (*bucket).data.cast();
            ((*data).fd, (*bucket).start, (*bucket).length as u64)
        };
        let start = u64::try_from(start).unwrap_or(u64::MAX);
        if !self.head.ends_with(HEAD_ENDS) || !self.body.is_empty() {
            return false;
        }
        match &mut self.file {
            Some(taken) if taken.handle == handle && taken.length == start => {
                taken.length += length;
                true
            }
            None if start == 0 => {
                // SAFETY: the bucket keeps the handle open.
                let file = unsafe { duplicate(handle) };
                self.file = file.map(|file| Taken {
                    handle,
                    file,
                    length,
                });
                self.file.is_some()
            }
            _ => false,
        }
    }

    /// Reads a bucket into the head or the body.
    ///
    /// # Safety
    /// As for `take`.
    unsafe fn read(&mut self, bucket: *mut sys::apr_bucket) -> bool {
        let mut data: *const c_char = std::ptr::null();
        let mut length = 0;
        // SAFETY: every bucket type has a function to read; what it returns lives until the bucket is deleted.
        let bytes = unsafe {
            let Some(read) = (*(*bucket).type_).read else {
                return false;
            };
            let block = sys::apr_read_type_e_APR_BLOCK_READ;
            if read(bucket, &raw mut data, &raw mut length, block) != 0 {
                self.broken = true;
                return false;
            }
            match length {
                0 => &[],
                length => std::slice::from_raw_parts(data.cast::<u8>(), length),
            }
        };
        self.append(bytes)
    }

    fn append(&mut self, mut bytes: &[u8]) -> bool {
        while !self.head.ends_with(HEAD_ENDS) && !bytes.is_empty() {
            // The head may come in pieces, but its end is at the end of a line.
            let line = bytes.iter().position(|byte| *byte == b'\n');
            let length = line.map_or(bytes.len(), |at| at + 1);
            self.head.extend_from_slice(&bytes[..length]);
            bytes = &bytes[length..];
            if self.head.len() > LONGEST_HEAD {
                self.overflowed = true;
                return false;
            }
        }
        if self.file.is_some() && !bytes.is_empty() {
            // Something behind a file: not the file as it is.
            self.broken = true;
            return false;
        }
        if (self.body.len() + bytes.len()) as u64 > self.limit {
            self.overflowed = true;
            return false;
        }
        self.body.extend_from_slice(bytes);
        true
    }
}

/// A descriptor of our own of a file that httpd has open. Both share the position in it, and mod_file_cache shares one
/// among all threads, so it must be read without it.
///
/// # Safety
/// The handle is open.
unsafe fn duplicate(handle: *mut sys::apr_file_t) -> Option<File> {
    let mut descriptor: c_int = -1;
    // SAFETY: the caller's promise; the descriptor is borrowed for one call.
    let file = unsafe {
        if sys::apr_os_file_get(&raw mut descriptor, handle) != 0 {
            return None;
        }
        BorrowedFd::borrow_raw(descriptor).try_clone_to_owned()
    };
    file.ok().map(File::from)
}

/// The filter function of a virtual connection. Its context is a [`Sink`].
pub(crate) unsafe extern "C" fn take_response(
    filter: *mut sys::ap_filter_t,
    brigade: *mut sys::apr_bucket_brigade,
) -> sys::apr_status_t {
    guarded(sys::APR_EGENERAL as sys::apr_status_t, || {
        // SAFETY: `Connection::new` put a sink there, which outlives the requests of the connection; httpd hands over a
        // whole brigade. Its ring ends where its own list is, which is laid out like the links of a bucket.
        unsafe {
            let sink = &mut *(*filter).ctx.cast::<Sink>();
            let end: *mut sys::apr_bucket = (&raw mut (*brigade).list).cast();
            let mut bucket = (*brigade).list.next;
            let mut wanted = true;
            while bucket != end && wanted {
                wanted = sink.take(bucket);
                // Reading may have put more buckets behind this one.
                bucket = (*bucket).link.next;
            }
            sys::apr_brigade_cleanup(brigade.cast());
            match wanted {
                true => 0,
                false => {
                    (*(*filter).c).aborted = 1;
                    sys::APR_ECONNABORTED as sys::apr_status_t
                }
            }
        }
    })
}

/// The input of a virtual connection: there is none.
pub(crate) unsafe extern "C" fn give_nothing(
    _: *mut sys::ap_filter_t,
    _: *mut sys::apr_bucket_brigade,
    _: sys::ap_input_mode_t,
    _: sys::apr_read_type_e,
    _: sys::apr_off_t,
) -> sys::apr_status_t {
    sys::APR_EOF as sys::apr_status_t
}

const HEAD_ENDS: &[u8] = b"\r\n\r\n";
const LONGEST_HEAD: usize = 256 * 1024;
const FRAMES: u64 = 16 * 1024;
