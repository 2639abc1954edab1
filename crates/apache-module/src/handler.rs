//! The content handlers `oai` and `oai-status`: declines what is not ours, else answers.

use std::ffi::c_int;

use provider::assets::{self, Asset};
use provider::resource_sync::SyncDocument;

use crate::announce;
use crate::answer::{self, Question};
use crate::border::guarded;
use crate::httpd::{
    DECLINED, FORBIDDEN, INTERNAL_SERVER_ERROR, METHOD_NOT_ALLOWED, NOT_FOUND, OK, bytes,
};
use crate::mark::is_virtual;
use crate::output::Output;
use crate::request::Request;
use crate::status;
use crate::sys;

/// Keeps mod_dir from adding a slash to the repository's URL, should there be a directory of that name.
pub(crate) unsafe extern "C" fn claim(r: *mut sys::request_rec) -> c_int {
    // SAFETY: httpd hands over a request that it is processing.
    unsafe {
        if matches!(bytes((*r).handler), Some(b"oai" | b"oai-status")) {
            (*r).finfo.filetype = sys::apr_filetype_e_APR_NOFILE;
        }
    }
    DECLINED
}

/// Handles a request if it is for this module.
pub(crate) unsafe extern "C" fn handle(r: *mut sys::request_rec) -> c_int {
    // SAFETY: httpd hands over a request that it is processing.
    let respond: fn(Request<'_>) -> c_int = match unsafe { bytes((*r).handler) } {
        Some(b"oai") => answer_request,
        Some(b"oai-status") => status::answer,
        _ => {
            // SAFETY: as above, until this function returns.
            return guarded(DECLINED, || unsafe {
                match is_virtual(r) {
                    true => DECLINED,
                    false => announce::answer(Request::new(r)),
                }
            });
        }
    };
    // SAFETY: as above, until this function returns.
    guarded(INTERNAL_SERVER_ERROR, || unsafe {
        match is_virtual(r) {
            true => FORBIDDEN,
            false => respond(Request::new(r)),
        }
    })
}

fn answer_request(request: Request<'_>) -> c_int {
    // For the test that a panic harms nobody but the one who asked.
    #[cfg(debug_assertions)]
    assert!(request.header(c"X-Oai-Panic").is_none(), "as requested");
    if ![sys::M_GET, sys::M_POST].contains(&request.method()) {
        // SAFETY: the request is being handled, and httpd has made it with a list of methods. `Allow` is written from
        // the list; modules that are older than it look at the number.
        unsafe {
            let r = request.raw();
            (*r).allowed |= ALLOWED;
            (*(*r).allowed_methods).method_mask |= ALLOWED;
        }
        return METHOD_NOT_ALLOWED;
    }
    // A part of an answer is no answer: harvesters could not read it.
    for name in [c"Range", c"If-Range", c"Request-Range"] {
        request.drop_header(name);
    }
    let (base_path, rest) = request.base_path();
    match rest.as_str() {
        "" => answer::answer_verb(request, &base_path),
        name => match (assets::find(name), SyncDocument::below_repository(name)) {
            (Some(asset), _) => send_asset(request, asset),
            (None, Some(_)) if request.method() != sys::M_GET => METHOD_NOT_ALLOWED,
            (None, Some(document)) => {
                let at_root = false;
                let question = Question::Document { document, at_root };
                answer::answer(request, &base_path, &question)
            }
            (None, None) => NOT_FOUND,
        },
    }
}

fn send_asset(request: Request<'_>, asset: Asset) -> c_int {
    use std::io::Write;
    request.set_content_type(asset.media_type);
    request.set_header(c"Cache-Control", "max-age=3600");
    let mut output = Output::new(request);
    // A client that is gone needs no answer.
    let _ = output.write_all(asset.bytes).and_then(|()| output.flush());
    OK
}

const ALLOWED: i64 = (1 << sys::M_GET) | (1 << sys::M_POST);
