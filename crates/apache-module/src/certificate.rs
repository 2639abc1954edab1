//! The certificate by which a client is known, if it has shown one.

use std::ffi::c_char;

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
    // SAFETY: APR gives what mod_ssl registered under this name, a function of this type, or nothing where it is not
    // loaded. The text lives as long as the request.
    unsafe {
        let Some(function) = sys::apr_dynamic_fn_retrieve(c"ssl_var_lookup".as_ptr()) else {
            return false;
        };
        let look_up = std::mem::transmute::<unsafe extern "C" fn(), LookUp>(function);
        let (pool, server, connection) = ((*r).pool, (*r).server, (*r).connection);
        let verified = look_up(pool, server, connection, r, c"SSL_CLIENT_VERIFY".as_ptr());
        bytes(verified).is_some_and(|verified| !verified.is_empty() && verified != b"NONE")
    }
}
