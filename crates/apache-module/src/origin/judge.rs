//! What httpd says of a file's URL: served, refused, or something else than the file.

use std::ffi::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::Access;
use site::media_types::essence;
use site::{DynamicPolicy, Look, Served};

use super::filtering::Filtering;
use crate::config::DirectoryConfig;
use crate::httpd::{FORBIDDEN, OK, UNAUTHORIZED, bytes, text};
use crate::sys;
use crate::virtual_request::VirtualRequest;

/// Whether the filters of a request are looked at. That adds them, so a request that is to be run is spared.
#[derive(Clone, Copy)]
pub(super) enum Filters {
    LookedAt,
    LeftAlone,
}

/// What httpd says of a file's URL.
pub(super) fn judge(request: &VirtualRequest<'_>, file: &Path, filters: Filters) -> Look {
    let not_served = |reason: &str| Look::NotServed(reason.to_owned());
    match request.status {
        OK => {}
        UNAUTHORIZED | FORBIDDEN => return Look::Refused,
        status => return Look::NotServed(format!("the server answers {status}")),
    }
    // SAFETY: the request lives, and httpd has processed it up to its handler.
    let (mapped, path_info, handler, kind, settings) = unsafe {
        let r = &*request.r;
        (
            bytes(r.filename).unwrap_or_default(),
            bytes(r.path_info).unwrap_or_default(),
            bytes(r.handler),
            r.finfo.filetype,
            DirectoryConfig::of(r),
        )
    };
    let policy = settings.dynamic();
    let file_bytes = file.as_os_str().as_bytes();
    let proxied = mapped.starts_with(b"proxy:fcgi:") && mapped.ends_with(file_bytes);
    if mapped != file_bytes && !proxied {
        return not_served("its URL leads elsewhere");
    }
    if !proxied && (kind != sys::apr_filetype_e_APR_REG || !path_info.is_empty()) {
        return not_served("it is not a file");
    }
    let media_type = content_type(request);
    // Without a handler httpd takes the media type for one.
    let named = media_type
        .as_deref()
        .map(|name| essence(name).to_ascii_lowercase());
    let by_type = named.as_deref().unwrap_or_default().as_bytes();
    let dynamic = match handler {
        _ if proxied => true,
        Some(b"default-handler") => false,
        Some(handler) if runs_files(handler) || settings.has_action(handler) => true,
        Some(_) => return not_served("something else answers at its URL"),
        None if runs_files(by_type) || settings.has_action(by_type) => true,
        None if answers_by_type(by_type) => {
            return not_served("something else answers for its media type");
        }
        None => false,
    };
    let filtering = match filters {
        Filters::LookedAt => Filtering::of(request),
        Filters::LeftAlone => Filtering::None,
    };
    let dynamic = dynamic || filtering == Filtering::Run;
    if dynamic && policy == DynamicPolicy::Off {
        return not_served("it is run by the server, and OaiDynamic is off");
    }
    let policy = match filtering {
        // Nothing is run by it, so that what a GET returns can be given.
        Filtering::Rewritten if !dynamic => Some(DynamicPolicy::Processed),
        _ => dynamic.then_some(policy),
    };
    if !dynamic && rustix::fs::access(file, Access::READ_OK).is_err() {
        return Look::Refused;
    }
    Look::Served(Served {
        headers: None,
        // What a program says its output is comes with the output, and its handler is nobody's business.
        media_type: match runs_files(by_type) {
            true => Some("application/octet-stream".to_owned()),
            false => media_type.clone(),
        },
        dynamic: policy,
    })
}

/// The Content-Type that httpd would send for a file.
fn content_type(request: &VirtualRequest<'_>) -> Option<String> {
    // SAFETY: the request lives; the text is copied.
    unsafe {
        let r = request.r;
        let own: *const c_char = (*r).content_type;
        match own.is_null() {
            true => None,
            false => text(sys::ap_make_content_type(r, own)),
        }
    }
}

/// Handlers that run or read the very file; any other answers in its place.
fn runs_files(handler: &[u8]) -> bool {
    let named = [
        b"cgi-script".as_slice(),
        b"fcgid-script",
        b"fastcgi-script",
        b"lua-script",
        b"perl-script",
        b"wsgi-script",
        b"server-parsed",
        b"send-as-is",
        b"imap-file",
        b"php-script",
    ];
    named.contains(&handler)
        || handler.starts_with(b"application/x-httpd-")
        || handler.starts_with(b"proxy:fcgi:")
        || handler.starts_with(b"proxy:unix:")
        || handler.starts_with(b"php")
        || handler.starts_with(b"x-httpd-")
        || handler.starts_with(b"text/x-server-parsed-html")
        || handler == b"httpd/send-as-is"
}

/// Media types for which modules of httpd's own answer with something else than the file.
fn answers_by_type(media_type: &[u8]) -> bool {
    media_type == b"application/x-type-map" || media_type.starts_with(b"httpd/")
}
