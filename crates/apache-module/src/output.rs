//! The answer on its way to the client.

use std::ffi::c_int;
use std::io::{self, Write};

use crate::httpd::BAD_GATEWAY;
use crate::request::Request;
use crate::sys;

/// Writes the body of a response; blocks as long as the client does not read, up to httpd's own `Timeout`.
pub(crate) struct Output<'r> {
    request: Request<'r>,
    buffer: Vec<u8>,
    /// The brigade in which large pieces are passed down.
    brigade: Option<*mut sys::apr_bucket_brigade>,
    /// Bytes that were handed to httpd.
    pub(crate) written: u64,
}

impl<'r> Output<'r> {
    pub(crate) fn new(request: Request<'r>) -> Self {
        Self {
            request,
            buffer: Vec::with_capacity(BLOCK),
            brigade: None,
            written: 0,
        }
    }

    /// Whether nothing was sent, so that another answer can be given.
    pub(crate) fn is_unsent(&self) -> bool {
        self.written == 0
    }

    /// Hands over what is gathered, and that this is the end: the client need not wait for what is done afterwards.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let r = self.request.raw();
        // SAFETY: the request is being handled, and the buffer outlives the call; httpd makes a copy of what it does not
        // send at once, and what an error leaves behind is taken away.
        let status = unsafe {
            let (pool, list) = ((*r).pool, (*(*r).connection).bucket_alloc);
            let brigade = *self
                .brigade
                .get_or_insert_with(|| sys::apr_brigade_create(pool, list));
            if !buffer.is_empty() {
                let (start, length) = (buffer.as_ptr().cast(), buffer.len());
                append(
                    brigade,
                    sys::apr_bucket_transient_create(start, length, list),
                );
            }
            append(brigade, sys::apr_bucket_eos_create(list));
            let status = sys::ap_pass_brigade((*r).output_filters, brigade);
            sys::apr_brigade_cleanup(brigade.cast());
            status
        };
        match status {
            0 => self.sent(buffer.len() as u64),
            _ => Err(gone()),
        }
    }

    /// Makes the answer visibly incomplete: the last chunk is never sent, and the connection is closed.
    pub(crate) fn break_off(self) {
        let r = self.request.raw();
        // SAFETY: the request is being handled. The brigade and its buckets belong to it and are passed down.
        unsafe {
            let (connection, pool) = ((*r).connection, (*r).pool);
            let brigade = sys::apr_brigade_create(pool, (*connection).bucket_alloc);
            let list = (*connection).bucket_alloc;
            // Behind this error httpd's chunk filter leaves out the last chunk.
            let error = sys::ap_bucket_error_create(BAD_GATEWAY, std::ptr::null(), pool, list);
            append(brigade, error);
            append(brigade, sys::apr_bucket_eos_create(list));
            sys::ap_pass_brigade((*r).output_filters, brigade);
            (*connection).keepalive = sys::ap_conn_keepalive_e_AP_CONN_CLOSE;
            (*connection).aborted = 1;
        }
    }

    /// Hands over what is gathered.
    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        let length = c_int::try_from(buffer.len()).unwrap_or(c_int::MAX);
        // SAFETY: the buffer is valid for its length, and httpd copies or sends it before it returns.
        let sent = unsafe { sys::ap_rwrite(buffer.as_ptr().cast(), length, self.request.raw()) };
        self.buffer = buffer;
        self.buffer.clear();
        match sent < 0 {
            true => Err(gone()),
            false => self.sent(length as u64),
        }
    }

    /// Hands over a large piece as it is. It is flushed, because httpd would make a copy of what it does not send at
    /// once.
    fn send_through(&mut self, bytes: &[u8]) -> io::Result<()> {
        let r = self.request.raw();
        // SAFETY: the request is being handled, and the bytes outlive the call. Once a flush was passed down, httpd has
        // no bucket left that refers to them; what an error leaves behind is taken away.
        let status = unsafe {
            let (pool, list) = ((*r).pool, (*(*r).connection).bucket_alloc);
            let brigade = *self
                .brigade
                .get_or_insert_with(|| sys::apr_brigade_create(pool, list));
            let bucket = sys::apr_bucket_transient_create(bytes.as_ptr().cast(), bytes.len(), list);
            append(brigade, bucket);
            append(brigade, sys::apr_bucket_flush_create(list));
            let status = sys::ap_pass_brigade((*r).output_filters, brigade);
            sys::apr_brigade_cleanup(brigade.cast());
            status
        };
        match status {
            0 => self.sent(bytes.len() as u64),
            _ => Err(gone()),
        }
    }

    fn sent(&mut self, length: u64) -> io::Result<()> {
        // SAFETY: the request is being handled.
        if unsafe { (*(*self.request.raw()).connection).aborted != 0 } {
            return Err(gone());
        }
        self.written += length;
        Ok(())
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BLOCK {
            self.send()?;
        }
        if bytes.len() >= BLOCK {
            self.send_through(bytes)?;
            return Ok(bytes.len());
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Hands over what is gathered. httpd itself is not told to flush: it sends when it has enough.
    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")
}

/// Puts a bucket at the end of a brigade, as the macro `APR_BRIGADE_INSERT_TAIL` does in C.
///
/// # Safety
/// Both are whole, and the bucket is in no brigade.
unsafe fn append(brigade: *mut sys::apr_bucket_brigade, bucket: *mut sys::apr_bucket) {
    // SAFETY: the caller's promise; the list of a brigade is laid out like the links of a bucket, which come first.
    unsafe {
        let end: *mut sys::apr_bucket = (&raw mut (*brigade).list).cast();
        let last = (*brigade).list.prev;
        (*bucket).link.next = end;
        (*bucket).link.prev = last;
        (*last).link.next = bucket;
        (*brigade).list.prev = bucket;
    }
}

const BLOCK: usize = 64 * 1024;
