//! The certificate by which a client is known, if it has shown one.

use std::ffi::{CStr, c_char};

use crate::httpd::bytes;
use crate::sys;

/// How mod_ssl tells what it knows of a connection.
type LookUp = unsafe extern "C" fn(
    *mut sys::apr_pool_t,
    *mut sys::server_rec,
    *mut sys::conn_rec,
    *mut sys::request_rec,
    *const c_char,
) -> *const c_char;

/// Whether the client of a request has shown a certificate that was accepted.
///
/// # Safety
/// `r` is being processed.
pub(crate) unsafe fn is_verified(r: *mut sys::request_rec) -> bool {
    // SAFETY: the caller's promise.
    let verified = unsafe { variable(r, c"SSL_CLIENT_VERIFY") };
    verified.is_some_and(|verified| !verified.is_empty() && verified != b"NONE")
}

/// Whose certificate it is, and which, if one was accepted.
///
/// # Safety
/// As for [`is_verified`].
pub(crate) unsafe fn name(r: *mut sys::request_rec) -> Option<String> {
    // SAFETY: the caller's promise.
    let (subject, serial) = unsafe {
        if !is_verified(r) {
            return None;
        }
        (
            variable(r, c"SSL_CLIENT_S_DN").unwrap_or_default(),
            variable(r, c"SSL_CLIENT_M_SERIAL").unwrap_or_default(),
        )
    };
    let (subject, serial) = (subject.escape_ascii(), serial.escape_ascii());
    Some(format!("certificate {serial} of {subject}"))
}

/// The value of a variable of mod_ssl; none where it is not loaded.
///
/// # Safety
/// `r` is being processed.
unsafe fn variable<'r>(r: *mut sys::request_rec, name: &CStr) -> Option<&'r [u8]> {
    // SAFETY: APR gives what mod_ssl registered under this name, a function of this type, or nothing where it is not
    // loaded. The text lives as long as the request.
    unsafe {
        let function = sys::apr_dynamic_fn_retrieve(c"ssl_var_lookup".as_ptr())?;
        let look_up = std::mem::transmute::<unsafe extern "C" fn(), LookUp>(function);
        let (pool, server, connection) = ((*r).pool, (*r).server, (*r).connection);
        bytes(look_up(pool, server, connection, r, name.as_ptr()))
    }
}
