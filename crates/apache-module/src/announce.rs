//! `OaiAnnounce`: the places at the root of a site at which crawlers look. Files of the site go before it: this answers
//! only where httpd found nothing, and no other module wants to.

use std::ffi::c_int;
use std::io::Write;

use provider::resource_sync::SyncDocument;
use provider::robots;

use crate::answer::{self, Question};
use crate::httpd::{DECLINED, OK, bytes};
use crate::output::Output;
use crate::request::Request;
use crate::sys;

/// Answers a request that is for one of these places; declines all others.
pub(crate) fn answer(request: Request<'_>) -> c_int {
    let Some(base_path) = &request.server_config().announce else {
        return DECLINED;
    };
    if request.method() != sys::M_GET || !is_unclaimed(request) {
        return DECLINED;
    }
    let path = request.url_path();
    if path == "/robots.txt" {
        return answer_robots(request, base_path);
    }
    let document = path.strip_prefix('/').and_then(SyncDocument::below_site);
    match document {
        Some(document) => {
            let at_root = true;
            answer::answer(
                request,
                base_path,
                &Question::Document { document, at_root },
            )
        }
        None => DECLINED,
    }
}

/// Whether there is no file, and nobody else is to answer.
fn is_unclaimed(request: Request<'_>) -> bool {
    let r = request.raw();
    // SAFETY: the request is being handled.
    unsafe {
        (*r).finfo.filetype == sys::apr_filetype_e_APR_NOFILE
            && (*r).proxyreq == 0
            && bytes((*r).handler).is_none_or(is_default)
    }
}

/// Whether a handler is that of files: httpd takes the media type for its name where nobody has set one, or nothing.
fn is_default(handler: &[u8]) -> bool {
    handler.is_empty() || handler == b"default-handler" || handler.contains(&b'/')
}

fn answer_robots(request: Request<'_>, base_path: &str) -> c_int {
    let addresses = request.addresses(base_path);
    request.set_content_type("text/plain; charset=utf-8");
    let mut output = Output::new(request);
    let text = robots::file(&addresses.base_url, false);
    // A client that is gone needs no answer.
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    OK
}
