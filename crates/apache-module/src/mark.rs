//! The notes that our hooks keep with requests: with a client's own the headers as they were sent, and with made-up ones a mark,
//! by which they are known and in which the hooks note what they see.

use std::ffi::{c_char, c_int};

use crate::client::certificate;
use crate::client::passwords::Passwords;
use crate::config::DirectoryConfig;
use crate::httpd::{DECLINED, FORBIDDEN, Pool};
use crate::{module, module_of, sys};

/// An address in httpd's two forms.
pub(crate) type Address = (*mut sys::apr_sockaddr_t, *mut c_char);

/// The note that is kept with a request: one or the other.
#[derive(Clone, Copy)]
struct Kept {
    headers: *mut sys::apr_table_t,
    mark: *mut Mark,
}

/// The mark of a made-up request.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    /// A log that takes nothing: who is not allowed to see a file has not asked for it.
    quiet: sys::ap_logconf,
    /// The settings of the directory that the URL was mapped to, before anybody was let in.
    pub(crate) directory: *const DirectoryConfig,
    /// The answers of password files.
    pub(crate) passwords: *const Passwords,
    /// Where somebody else than the client asks from.
    address: Option<Address>,
    depth: Depth,
}

/// How far a made-up request goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Until the settings of its directory are known. Going on would have mod_dir look for each of its index files.
    Directory,
    /// Until its handler is known.
    Handler,
}

impl Mark {
    /// Marks a request that is being made up.
    ///
    /// # Safety
    /// `r` was just created; passwords and address outlive it.
    pub(crate) unsafe fn put_on(
        r: *mut sys::request_rec,
        passwords: *const Passwords,
        address: Option<Address>,
        depth: Depth,
    ) -> *mut Self {
        let mark = Self {
            quiet: sys::ap_logconf {
                module_levels: std::ptr::null_mut(),
                level: sys::APLOG_EMERG as c_int,
            },
            directory: std::ptr::null(),
            passwords,
            address,
            depth,
        };
        // SAFETY: the caller's promise; what is kept is in the request's own pool.
        unsafe {
            let mark = Pool::new((*r).pool).place(mark);
            keep(r, std::ptr::null_mut(), mark);
            mark
        }
    }

    /// The mark of a request, if it is a made-up one.
    ///
    /// # Safety
    /// `r` is being processed, by this thread alone.
    pub(crate) unsafe fn of<'a>(r: *mut sys::request_rec) -> Option<&'a mut Self> {
        // SAFETY: the slot is null or what `keep` put there, in the request's pool.
        unsafe { kept(r)?.mark.as_mut() }
    }
}

/// The headers of a client's request as they came. Modules may have taken some out by now, or put their own in: those are
/// for this request and no other.
///
/// # Safety
/// `r` is being processed.
pub(crate) unsafe fn headers_as_sent(r: *mut sys::request_rec) -> *mut sys::apr_table_t {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sent = chain(r).filter_map(|r| kept(r)).map(|kept| kept.headers);
        let sent = sent.find(|headers| !headers.is_null());
        sent.unwrap_or((*r).headers_in)
    }
}

/// Whether a request is made up, or comes from one that is: a page that includes the repository must not begin
/// anew.
///
/// # Safety
/// `r` is being processed.
pub(crate) unsafe fn is_virtual(r: *mut sys::request_rec) -> bool {
    // SAFETY: the caller's promise.
    chain(r).any(|r| unsafe { Mark::of(r) }.is_some())
}

/// A request and those that it comes from.
fn chain(r: *mut sys::request_rec) -> impl Iterator<Item = *mut sys::request_rec> {
    let there = |r: *mut sys::request_rec| (!r.is_null()).then_some(r);
    // SAFETY: the requests that one comes from live longer than it does.
    std::iter::successors(there(r), move |r| unsafe {
        there((**r).main).or_else(|| there((**r).prev))
    })
}

/// # Safety
/// `r` is being processed.
unsafe fn kept<'a>(r: *mut sys::request_rec) -> Option<&'a Kept> {
    // SAFETY: the slot is null or what `keep` put there.
    unsafe { module_of((*r).request_config).cast::<Kept>().as_ref() }
}

/// # Safety
/// `r` is being processed; what is kept lives as long.
unsafe fn keep(r: *mut sys::request_rec, headers: *mut sys::apr_table_t, mark: *mut Mark) {
    // SAFETY: the caller's promise.
    unsafe {
        let place = Pool::new((*r).pool).place(Kept { headers, mark });
        sys::ap_set_module_config((*r).request_config, module(), place.cast());
    }
}

/// When a request was read, before anybody else has seen it.
pub(crate) unsafe extern "C" fn on_read(r: *mut sys::request_rec) -> c_int {
    // SAFETY: httpd is processing the request.
    unsafe {
        if kept(r).is_none() {
            let headers = sys::apr_table_copy((*r).pool, (*r).headers_in);
            keep(r, headers, std::ptr::null_mut());
        }
    }
    DECLINED
}

/// When mod_remoteip, if it is there, has said who asks: on a made-up request that is for us to say.
pub(crate) unsafe extern "C" fn on_address(r: *mut sys::request_rec) -> c_int {
    // SAFETY: httpd is processing the request, and the address is in the pool of its connection.
    unsafe {
        if let Some((sockaddr, ip)) = Mark::of(r).and_then(|mark| mark.address) {
            (*r).useragent_addr = sockaddr;
            (*r).useragent_ip = ip;
            (*r).useragent_host = std::ptr::null_mut();
        }
    }
    DECLINED
}

/// Before the name is translated: whatever is refused from here on is no news for the log.
pub(crate) unsafe extern "C" fn on_translate_name(r: *mut sys::request_rec) -> c_int {
    // SAFETY: httpd is processing the request.
    if let Some(mark) = unsafe { Mark::of(r) } {
        // SAFETY: the mark is in the request's own pool.
        unsafe { (*r).log = &raw const mark.quiet };
    }
    DECLINED
}

/// When the directory's settings are known and nobody has been asked yet who may enter: httpd has just put its own
/// log back.
pub(crate) unsafe extern "C" fn on_directory_config(r: *mut sys::request_rec) -> c_int {
    // SAFETY: httpd is processing the request, and its settings live as long as it does.
    unsafe {
        if let Some(mark) = Mark::of(r) {
            (*r).log = &raw const mark.quiet;
            mark.directory = DirectoryConfig::of(r);
            if mark.depth == Depth::Directory {
                return FORBIDDEN;
            }
        }
    }
    DECLINED
}

/// Before anybody is let in: a made-up request never leads to a new handshake of the client's real connection, which
/// another thread may be using, and which the client has not asked for.
pub(crate) unsafe extern "C" fn on_access(r: *mut sys::request_rec) -> c_int {
    // SAFETY: httpd is processing the request.
    unsafe {
        let Some(mark) = Mark::of(r) else {
            return DECLINED;
        };
        let settings = DirectoryConfig::of(r);
        let has_certificate = mark.address.is_none() && certificate::is_verified(r);
        let satisfied = !settings.wants_certificate() || has_certificate;
        match satisfied && !settings.wants_other_tls() {
            true => DECLINED,
            false => FORBIDDEN,
        }
    }
}
