//! The verdict of httpd on a file's URL: served, refused, or something else than the file.

use std::ffi::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Access, access};
use site::media_types::essence;
use site::{DynamicPolicy, Look, Served};

use super::filtering::Filtering;
use super::handlers;
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

/// The name of a handler of which nobody knows whether a module answers to it.
pub(super) struct UnknownHandler(pub(super) Vec<u8>);

/// The verdict of httpd on a file's URL. `client` is the user who asked for the repository.
pub(super) fn judge(
    request: &VirtualRequest<'_>,
    file: &Path,
    filters: Filters,
    client: Option<&[u8]>,
) -> Result<Look, UnknownHandler> {
    let not_served = |reason: &str| Ok(Look::NotServed(reason.to_owned()));
    match request.status {
        OK => {}
        UNAUTHORIZED | FORBIDDEN => return Ok(Look::Refused),
        status => return Ok(Look::NotServed(format!("the server answers {status}"))),
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
    let policy = settings.dynamic([request.user(), client].into_iter().flatten());
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
    let runner = match handler {
        _ if proxied => Some(b"proxy:fcgi:".as_slice()),
        Some(b"default-handler") => None,
        Some(handler) if settings.has_action(handler) || handlers::runs_files(handler) => {
            Some(handler)
        }
        // httpd sends the file where a handler is named that no module answers to.
        Some(handler) if handlers::is_known_to_run(handler) => None,
        Some(handler) => match handlers::is_answered(handler) {
            Some(true) => return not_served("something else answers at its URL"),
            Some(false) => None,
            None => return Err(UnknownHandler(handler.to_vec())),
        },
        None if settings.has_action(by_type) || handlers::runs_files(by_type) => Some(by_type),
        None if answers_by_type(by_type) => {
            return not_served("something else answers for its media type");
        }
        None => None,
    };
    if let Some(reason) = runner.and_then(|runner| refusal(request, runner, file)) {
        return not_served(reason);
    }
    let filtering = match filters {
        Filters::LookedAt => Filtering::of(request),
        Filters::LeftAlone => Filtering::None,
    };
    let dynamic = runner.is_some() || filtering == Filtering::Run;
    if dynamic && policy == DynamicPolicy::Off {
        return not_served("it is run by the server, and OaiDynamic is off");
    }
    let policy = match filtering {
        // Nothing is run by it, so that what a GET returns can be given.
        Filtering::Rewritten if !dynamic => Some(DynamicPolicy::Processed),
        _ => dynamic.then_some(policy),
    };
    if runner.is_none_or(handlers::reads_file) && access(file, Access::READ_OK).is_err() {
        return Ok(Look::Refused);
    }
    Ok(Look::Served(Served {
        headers: None,
        // Only a program itself can say what its output is.
        media_type: match runner {
            Some(_) => Some(String::new()),
            None => media_type.clone(),
        },
        dynamic: policy,
    }))
}

/// Why a GET of a program always fails, if it does.
fn refusal(request: &VirtualRequest<'_>, runner: &[u8], file: &Path) -> Option<&'static str> {
    if handlers::lacks_protocol(runner) {
        return Some("the server has no module for the protocol of its handler");
    }
    if ![b"cgi-script".as_slice(), b"fcgid-script"].contains(&runner) {
        return None;
    }
    // SAFETY: the request lives, and httpd has processed it up to its handler. The setting is written at the start.
    let (options, by_alias, other_user) = unsafe {
        let by_alias = sys::apr_table_get((*request.r).notes, c"alias-forced-type".as_ptr());
        (
            sys::ap_allow_options(request.r).unsigned_abs(),
            bytes(by_alias) == Some(b"cgi-script"),
            sys::ap_unixd_config.suexec_enabled != 0,
        )
    };
    if options & sys::OPT_EXECCGI == 0 && !by_alias {
        return Some("the server refuses to run it: `Options ExecCGI` is not set there");
    }
    let unable = runner == b"cgi-script" && !other_user && access(file, Access::EXEC_OK).is_err();
    unable.then_some("the server cannot run it: it is not executable")
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

/// Media types for which modules of httpd's own answer with something else than the file.
fn answers_by_type(media_type: &[u8]) -> bool {
    media_type == b"application/x-type-map" || media_type.starts_with(b"httpd/")
}
