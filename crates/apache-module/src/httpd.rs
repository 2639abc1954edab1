//! The parts of httpd that are used everywhere: its numbers as one type, its strings as slices, its pools.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use crate::sys;

pub(crate) const OK: c_int = sys::OK as c_int;
pub(crate) const DECLINED: c_int = sys::DECLINED as c_int;
pub(crate) const UNAUTHORIZED: c_int = sys::HTTP_UNAUTHORIZED as c_int;
pub(crate) const FORBIDDEN: c_int = sys::HTTP_FORBIDDEN as c_int;
pub(crate) const NOT_FOUND: c_int = sys::HTTP_NOT_FOUND as c_int;
pub(crate) const METHOD_NOT_ALLOWED: c_int = sys::HTTP_METHOD_NOT_ALLOWED as c_int;
pub(crate) const REQUEST_ENTITY_TOO_LARGE: c_int = sys::HTTP_REQUEST_ENTITY_TOO_LARGE as c_int;
pub(crate) const UNSUPPORTED_MEDIA_TYPE: c_int = sys::HTTP_UNSUPPORTED_MEDIA_TYPE as c_int;
pub(crate) const INTERNAL_SERVER_ERROR: c_int = sys::HTTP_INTERNAL_SERVER_ERROR as c_int;
pub(crate) const BAD_GATEWAY: c_int = sys::HTTP_BAD_GATEWAY as c_int;
pub(crate) const SERVICE_UNAVAILABLE: c_int = sys::HTTP_SERVICE_UNAVAILABLE as c_int;

/// The bytes of a C string; none if there is no string.
///
/// # Safety
/// The pointer is null or points to a string that lives as long as the caller says.
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The text of a C string; what is not UTF-8 is replaced.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes(text) };
    bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// A C string of text that may hold what C cannot: it ends there.
pub(crate) fn c_string(text: impl Into<Vec<u8>>) -> CString {
    let mut bytes = text.into();
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes.truncate(end.unwrap_or(bytes.len()));
    CString::new(bytes).unwrap_or_default()
}

/// A pool of httpd's: what is allocated in it lives until it is cleared.
#[derive(Clone, Copy)]
pub(crate) struct Pool(*mut sys::apr_pool_t);

impl Pool {
    /// # Safety
    /// The pool outlives every use of this value.
    pub(crate) unsafe fn new(pool: *mut sys::apr_pool_t) -> Self {
        Self(pool)
    }

    pub(crate) fn raw(self) -> *mut sys::apr_pool_t {
        self.0
    }

    /// Copies text into the pool.
    pub(crate) fn string(self, text: impl AsRef<[u8]>) -> *mut c_char {
        let text = text.as_ref();
        // SAFETY: the slice is valid for its length, and the pool lives (see `new`).
        unsafe { sys::apr_pstrmemdup(self.0, text.as_ptr().cast(), text.len()) }
    }

    /// Moves a value that needs no drop into the pool.
    pub(crate) fn place<T: Copy>(self, value: T) -> *mut T {
        const { assert!(align_of::<T>() <= 8) };
        // SAFETY: APR aligns to 8 bytes, which the line above says is enough, and gives as much as was asked for.
        unsafe {
            let place: *mut T = sys::apr_palloc(self.0, size_of::<T>()).cast();
            place.write(value);
            place
        }
    }

    /// Moves a value to the heap and drops it when the pool is cleared.
    pub(crate) fn keep<T>(self, value: T) -> *mut T {
        let place = Box::into_raw(Box::new(value));
        // SAFETY: `place` came from a box of `T`, and the pool calls `drop_kept` once.
        unsafe {
            sys::apr_pool_cleanup_register(
                self.0,
                place.cast(),
                Some(drop_kept::<T>),
                Some(sys::apr_pool_cleanup_null),
            );
        }
        place
    }

    /// A pool of its own, for as long as it is not destroyed.
    pub(crate) fn root() -> Self {
        Self(std::ptr::null_mut()).child()
    }

    /// A pool that is destroyed with this one or before.
    pub(crate) fn child(self) -> Self {
        let mut child = std::ptr::null_mut();
        // SAFETY: the parent lives, or there is none. Without memory APR ends the process, as it does everywhere in
        // httpd.
        unsafe {
            sys::apr_pool_create_ex(&raw mut child, self.0, None, std::ptr::null_mut());
        }
        Self(child)
    }

    /// Ends the pool and all that is in it.
    ///
    /// # Safety
    /// Nothing in it is used any more.
    pub(crate) unsafe fn destroy(self) {
        // SAFETY: the caller's promise.
        unsafe { sys::apr_pool_destroy(self.0) }
    }
}

/// Drops what [`Pool::keep`] put on the heap.
unsafe extern "C" fn drop_kept<T>(place: *mut c_void) -> sys::apr_status_t {
    crate::border::guarded(0, || {
        // SAFETY: `Pool::keep` made it from a box, and this is called once.
        drop(unsafe { Box::from_raw(place.cast::<T>()) });
        0
    })
}
