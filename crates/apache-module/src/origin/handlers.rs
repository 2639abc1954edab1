//! Handlers by their names: which run or read the very file, and whether a loaded module answers to them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::httpd::bytes;
use crate::sys;

/// Whether a module answers to a handler, as far as this process has tried it.
static TRIED: Mutex<Option<HashMap<Vec<u8>, bool>>> = Mutex::new(None);

/// Forgets what was tried, for another configuration.
pub(crate) fn forget() {
    *TRIED.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Whether anybody answers to a handler that is not known to run files; none if nobody has tried.
pub(super) fn is_answered(handler: &[u8]) -> Option<bool> {
    let tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    tried.as_ref()?.get(handler).copied()
}

/// Remembers whether anybody answers to a handler.
pub(super) fn learn(handler: Vec<u8>, answered: bool) {
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    tried.get_or_insert_default().insert(handler, answered);
}

/// Whether a handler runs or reads the very file, and a module for it is loaded; any other answers in its place.
pub(super) fn runs_files(handler: &[u8]) -> bool {
    owner(handler).is_some_and(is_loaded)
}

/// Whether a handler would run or read the very file if a module for it were loaded.
pub(super) fn is_known_to_run(handler: &[u8]) -> bool {
    owner(handler).is_some()
}

/// Whether the process that runs such a file is httpd itself, which must be able to read it.
pub(super) fn reads_file(handler: &[u8]) -> bool {
    let others = [
        b"cgi-script".as_slice(),
        b"fcgid-script",
        b"fastcgi-script",
        b"wsgi-script",
    ];
    !others.contains(&handler) && !handler.starts_with(b"proxy:")
}

/// Whether a handler hands files to a proxy that does not speak its protocol.
pub(super) fn lacks_protocol(handler: &[u8]) -> bool {
    handler.starts_with(b"proxy:") && !is_loaded(b"mod_proxy_fcgi")
}

/// A part of the name of the module that runs the files of a handler.
fn owner(handler: &[u8]) -> Option<&'static [u8]> {
    Some(match handler {
        b"cgi-script" => b"mod_cgi",
        b"fcgid-script" => b"mod_fcgid",
        b"fastcgi-script" => b"mod_fastcgi",
        b"lua-script" => b"mod_lua",
        b"perl-script" => b"mod_perl",
        b"wsgi-script" => b"mod_wsgi",
        b"send-as-is" | b"httpd/send-as-is" => b"mod_asis",
        b"imap-file" => b"mod_imagemap",
        b"server-parsed" => b"mod_include",
        _ if handler.starts_with(b"text/x-server-parsed-html") => b"mod_include",
        _ if handler.starts_with(b"proxy:fcgi:") || handler.starts_with(b"proxy:unix:") => {
            b"mod_proxy"
        }
        _ if handler.starts_with(b"php")
            || handler.starts_with(b"x-httpd-")
            || handler.starts_with(b"application/x-httpd-") =>
        {
            b"php"
        }
        _ => return None,
    })
}

/// Whether a module is loaded whose name has a part.
fn is_loaded(part: &[u8]) -> bool {
    // SAFETY: httpd changes its list of modules only while it reads its configuration, and the last one has none behind
    // it. The names are literals of the modules.
    unsafe {
        let mut module = sys::ap_top_module.cast_const();
        while let Some(this) = module.as_ref() {
            let name = bytes(this.name).unwrap_or_default();
            if name.windows(part.len()).any(|window| window == part) {
                return true;
            }
            module = this.next;
        }
    }
    false
}
