//! Where the module joins in.

use std::ffi::{c_char, c_int};

use crate::border::{guarded, report_panics};
use crate::client::passwords;
use crate::config::{check, state_dirs};
use crate::handler;
use crate::httpd::OK;
use crate::origin::handlers;
use crate::virtual_request::sink;
use crate::{flow_control, log, mark, repository, servers, sys};

const FIRST: c_int = sys::APR_HOOK_REALLY_FIRST;
/// As all of httpd's own: what is said of one request holds for those that come from it under the same settings.
const PER_CONF: c_int = sys::AP_AUTH_INTERNAL_PER_CONF as c_int;
const MIDDLE: c_int = sys::APR_HOOK_MIDDLE as c_int;

/// The modules that come before an address is set; the others, which read it, come later.
static AFTER_REMOTEIP: Names = Names([c"mod_remoteip.c".as_ptr(), std::ptr::null()]);

/// Names of modules as httpd wants them.
struct Names([*const c_char; 2]);

// SAFETY: what the pointers point to are literals, and nobody writes the list.
unsafe impl Sync for Names {}

/// Registers everything; called whenever the configuration is read.
pub(crate) unsafe extern "C" fn register(_: *mut sys::apr_pool_t) {
    guarded((), || {
        servers::forget();
        report_panics();
        let none = std::ptr::null();
        // SAFETY: httpd is registering hooks; the functions live as long as the module, which is never unloaded.
        unsafe {
            sys::ap_hook_pre_config(Some(passwords::wrap_provider), none, none, MIDDLE);
            sys::ap_hook_check_config(Some(check::check), none, none, MIDDLE);
            sys::ap_hook_post_config(Some(after_config), none, none, MIDDLE);
            sys::ap_hook_child_status(Some(flow_control::on_child_status), none, none, MIDDLE);
            sys::ap_hook_child_init(Some(in_child), none, none, MIDDLE);
            sys::ap_hook_post_read_request(Some(mark::on_read), none, none, FIRST);
            sys::ap_hook_post_read_request(
                Some(mark::on_address),
                AFTER_REMOTEIP.0.as_ptr(),
                none,
                sys::APR_HOOK_FIRST as c_int,
            );
            sys::ap_hook_translate_name(Some(mark::on_translate_name), none, none, FIRST);
            sys::ap_hook_post_perdir_config(Some(mark::on_directory_config), none, none, FIRST);
            sys::ap_hook_check_access(Some(mark::on_access), none, none, FIRST, PER_CONF);
            sys::ap_hook_fixups(Some(handler::claim), none, none, FIRST);
            sys::ap_hook_handler(Some(handler::handle), none, none, MIDDLE);
            sys::ap_register_output_filter(
                c"OAI_SINK".as_ptr(),
                Some(sink::take_response),
                None,
                sys::ap_filter_type_AP_FTYPE_NETWORK,
            );
            sys::ap_register_input_filter(
                c"OAI_NOTHING".as_ptr(),
                Some(sink::give_nothing),
                None,
                sys::ap_filter_type_AP_FTYPE_NETWORK,
            );
        }
    });
}

/// In the parent, as the user who started httpd: the state directories are made for the workers.
unsafe extern "C" fn after_config(
    _: *mut sys::apr_pool_t,
    _: *mut sys::apr_pool_t,
    _: *mut sys::apr_pool_t,
    first: *mut sys::server_rec,
) -> c_int {
    guarded(OK, || {
        servers::set(first);
        servers::take_fingerprint();
        repository::begin_generation();
        flow_control::prepare(first);
        state_dirs::prepare_all();
        OK
    })
}

/// In each worker process, after it has given up its privileges.
unsafe extern "C" fn in_child(_: *mut sys::apr_pool_t, server: *mut sys::server_rec) {
    guarded((), || {
        servers::set(server);
        log::install();
        repository::forget_all();
        handlers::forget();
    });
}
