//! Where the module joins in.

use std::ffi::{c_char, c_int};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, lchown};
use std::path::{Path, PathBuf};

use crate::border::{guarded, report_panics};
use crate::config::{ServerConfig, Space};
use crate::handler;
use crate::httpd::OK;
use crate::{log, mark, passwords, repository, servers, sink, sys};

const FIRST: c_int = sys::APR_HOOK_REALLY_FIRST;
/// As all of httpd's own: what is said of one request holds for those that come from it under the same settings.
const PER_CONF: c_int = sys::AP_AUTH_INTERNAL_PER_CONF as c_int;
const MIDDLE: c_int = sys::APR_HOOK_MIDDLE as c_int;

/// Who must have had their turn before an address is set; the others, who read it, come later.
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
            sys::ap_hook_post_config(Some(after_config), none, none, MIDDLE);
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
        for server in servers::all() {
            // SAFETY: httpd has just handed over the list, each with its configuration.
            let (config, root) =
                unsafe { (ServerConfig::of(server), servers::document_root(server)) };
            if config.offers
                && let Err(reason) = prepare_state(config, root)
            {
                log::about_server(server, log::WARNING, &reason);
            }
        }
        OK
    })
}

/// In each worker process, after it has given up its privileges.
unsafe extern "C" fn in_child(_: *mut sys::apr_pool_t, server: *mut sys::server_rec) {
    guarded((), || {
        servers::set(server);
        log::install();
        repository::forget_all();
    });
}

/// Makes the state directory of a server with a document root, unless it would be served.
fn prepare_state(config: &ServerConfig, root: PathBuf) -> Result<(), String> {
    let directory = config.state_dir();
    Space::without_users(config, root).check_state_dir(&directory)?;
    prepare(&directory).map_err(|error| {
        format!(
            "the state directory {} cannot be made: {error}; make one that the worker user can write, and name it with \
             OaiStateDir",
            directory.display()
        )
    })
}

/// Makes a state directory that is missing; one that is there is left as it is.
fn prepare(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    DirBuilder::new().mode(0o700).create(directory)?;
    if rustix::process::geteuid().is_root() {
        // SAFETY: httpd has read `User` and `Group` and does not write them any more.
        let (user, group) =
            unsafe { (sys::ap_unixd_config.user_id, sys::ap_unixd_config.group_id) };
        // Should somebody have put a link in its place, only the link is given away.
        lchown(directory, Some(user), Some(group))?;
    }
    Ok(())
}
