//! Asks httpd, inside of the process, what a GET would return.
//!
//! A sub-request is not the same as a request: it skips rules on the URL, some rewrites, and most headers. So a
//! connection of our own is made from the client's, with a [`Sink`] at its end, and on it main requests are
//! processed as mod_http2 does for each of its streams. Nothing is logged as an access, and nothing is sent.

pub(super) mod sink;

use std::ffi::c_int;
use std::marker::PhantomData;
use std::net::Ipv4Addr;

use crate::client::passwords::Passwords;
use crate::config::DirectoryConfig;
use crate::httpd::{DECLINED, OK, Pool, bytes, text};
use crate::mark::{self, Address, Depth, Mark};
use crate::sys;
use crate::virtual_request::sink::Sink;

/// A connection of our own, as which one requester asks.
pub(crate) struct Connection<'r> {
    original: *mut sys::request_rec,
    pool: Pool,
    conn: *mut sys::conn_rec,
    headers: *mut sys::apr_table_t,
    /// Where somebody else than the client asks from.
    address: Option<Address>,
    sink: *mut Sink,
    /// The client's own, for rules and headers may speak of it.
    protocol: String,
    passwords: *const Passwords,
    life: PhantomData<&'r sys::request_rec>,
}

/// As whom a question is asked.
#[derive(Clone, Copy)]
pub(crate) enum Asking {
    /// As the client itself, with all that it sent.
    AsClient,
    /// As somebody without credentials at this address.
    AsNobody(Ipv4Addr),
}

/// The settings of the `.htaccess` files on the way to a place, as httpd keeps it with a request: a list that it searches before
/// it reads one.
#[derive(Clone, Copy)]
pub(crate) struct Overrides(*const sys::htaccess_result);

impl Overrides {
    /// Nothing was read yet.
    pub(crate) const UNKNOWN: Self = Self(std::ptr::null());
}

/// A request that was made up, and how far it got. It ends when dropped.
pub(crate) struct VirtualRequest<'c> {
    pub(crate) r: *mut sys::request_rec,
    /// The status of httpd without having run anything; `OK` if it would run the handler.
    pub(crate) status: c_int,
    life: PhantomData<&'c Connection<'c>>,
}

impl<'r> Connection<'r> {
    /// A connection on which a requester asks, made from the request that is being handled.
    ///
    /// # Safety
    /// `original` is being handled and outlives the connection.
    pub(crate) unsafe fn new(original: *mut sys::request_rec, asking: Asking) -> Self {
        // SAFETY: httpd keeps the request and its connection while the handler runs. What is copied is shared
        // with the copy only where it is read: the address, the configuration of the connection, the log.
        unsafe {
            let pool = Pool::new((*original).pool).child();
            let client = (*original).connection;
            let real = match (*client).master.is_null() {
                true => client,
                // A stream of HTTP/2 has hooks of its own that would act on the stream.
                false => (*client).master,
            };
            let conn = pool.place(*real);
            (*conn).pool = pool.raw();
            (*conn).bucket_alloc = sys::apr_bucket_alloc_create(pool.raw());
            (*conn).notes = sys::apr_table_copy(pool.raw(), (*real).notes);
            if !(*real).cs.is_null() {
                (*conn).cs = pool.place(*(*real).cs);
            }
            (*conn).master = std::ptr::null_mut();
            (*conn).sbh = std::ptr::null_mut();
            (*conn).input_filters = std::ptr::null_mut();
            (*conn).output_filters = std::ptr::null_mut();
            (*conn).keepalives = 0;
            let sink = pool.keep(Sink::default());
            let (output, input) = (c"OAI_SINK".as_ptr(), c"OAI_NOTHING".as_ptr());
            let nobody = std::ptr::null_mut();
            sys::ap_add_output_filter(output, sink.cast(), nobody, conn);
            sys::ap_add_input_filter(input, std::ptr::null_mut(), nobody, conn);
            let mut connection = Self {
                original,
                pool,
                conn,
                headers: sys::apr_table_copy(pool.raw(), mark::headers_as_sent(original)),
                address: None,
                sink,
                protocol: text((*original).protocol)
                    .filter(|protocol| protocol != "HTTP/0.9")
                    .unwrap_or_else(|| "HTTP/1.0".to_owned()),
                passwords: pool.keep(Passwords::default()),
                life: PhantomData,
            };
            connection.strip();
            if let Asking::AsNobody(address) = asking {
                connection.disguise(address);
            }
            connection
        }
    }

    /// The user whom httpd let in to the repository, where the client itself asks.
    pub(crate) fn client_user(&self) -> Option<&[u8]> {
        match self.address {
            // SAFETY: the original outlives the connection.
            None => unsafe { user(self.original) },
            Some(_) => None,
        }
    }

    /// Leaves out what made the original a conditional or partial request or speaks of its connection.
    fn strip(&self) {
        for name in NOT_PASSED_ON {
            // SAFETY: the table is our own copy.
            unsafe { sys::apr_table_unset(self.headers, name.as_ptr()) }
        }
    }

    /// Asks as somebody without credentials at another address.
    fn disguise(&mut self, address: Ipv4Addr) {
        let ip = self.pool.string(address.to_string());
        let mut sockaddr = std::ptr::null_mut();
        // SAFETY: table, pool and connection are our own.
        unsafe {
            // Any header may be somebody's key. What tells where the site is reached is nobody's.
            let sent = self.headers;
            self.headers = sys::apr_table_make(self.pool.raw(), 4);
            for name in WHERE {
                let value = sys::apr_table_get(sent, name.as_ptr());
                if !value.is_null() {
                    sys::apr_table_set(self.headers, name.as_ptr(), value);
                }
            }
            let pool = self.pool.raw();
            let family = sys::APR_INET as c_int;
            sys::apr_sockaddr_info_get(&raw mut sockaddr, ip, family, 0, 0, pool);
            (*self.conn).client_addr = sockaddr;
            (*self.conn).client_ip = ip;
            (*self.conn).remote_host = std::ptr::null_mut();
        }
        self.address = Some((sockaddr, ip));
    }

    /// Asks for a URL path, and goes no further than to know who would handle it. What is known of the `.htaccess`
    /// files on the way is not read again.
    pub(crate) fn look_up(&self, url_path: &str, known: Overrides) -> VirtualRequest<'_> {
        self.look_up_to(url_path, Depth::Handler, known)
    }

    /// Asks for the URL path of a directory, and goes no further than to know its settings.
    pub(crate) fn look_up_directory(&self, url_path: &str, known: Overrides) -> VirtualRequest<'_> {
        self.look_up_to(url_path, Depth::Directory, known)
    }

    fn look_up_to(&self, url_path: &str, depth: Depth, known: Overrides) -> VirtualRequest<'_> {
        // SAFETY: the connection is our own, and this follows the way of mod_http2 with a request that it has read.
        unsafe {
            (*self.conn).aborted = 0;
            (*self.conn).keepalive = sys::ap_conn_keepalive_e_AP_CONN_UNKNOWN;
            let r = sys::ap_create_request(self.conn);
            let pool = Pool::new((*r).pool);
            Mark::put_on(r, self.passwords, self.address, depth);
            // The knowledge lives as long as the connections of this answer do, see `keep_overrides`.
            (*r).htaccess = known.0;
            (*r).request_time = sys::apr_time_now();
            (*r).the_request = pool.string(format!("GET {url_path} {}", self.protocol));
            (*r).headers_in = sys::apr_table_copy((*r).pool, self.headers);
            sys::ap_run_pre_read_request(r, self.conn);
            let mut request = VirtualRequest {
                r,
                status: sys::HTTP_BAD_REQUEST as c_int,
                life: PhantomData,
            };
            if sys::ap_parse_request_line(r) == 0 || sys::ap_check_request_header(r) == 0 {
                return request;
            }
            // Another name in `Host` may have led to another virtual host than the connection's own.
            (*r).per_dir_config = (*(*r).server).lookup_defaults;
            sys::ap_add_input_filter(c"HTTP_IN".as_ptr(), std::ptr::null_mut(), r, self.conn);
            request.status = match sys::ap_run_post_read_request(r) {
                OK | DECLINED => sys::ap_process_request_internal(r),
                refused => refused,
            };
            request
        }
    }

    /// Runs the handler of a request that httpd would run, and takes its response, at most `limit` bytes of it
    /// unless it is a file. The second value is what the handler returned.
    pub(crate) fn run(&self, request: &VirtualRequest<'_>, limit: u64) -> (Sink, c_int) {
        // SAFETY: the request is one of this connection, and its sink is only used by the filter while it runs.
        unsafe {
            *self.sink = Sink::new(limit);
            let r = request.r;
            // From here on it is as if the client had asked, so what goes wrong belongs into the log.
            (*r).log = (*self.original).log;
            for name in SLOWED_BY {
                sys::apr_table_unset((*r).subprocess_env, name.as_ptr());
            }
            let status = sys::ap_invoke_handler(r);
            if status == OK {
                sys::ap_finalize_request_protocol(r);
            }
            (std::mem::take(&mut *self.sink), status)
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        // SAFETY: requests borrow the connection, so there are none left.
        unsafe { self.pool.destroy() }
    }
}

impl VirtualRequest<'_> {
    /// The settings of the directory that its URL was mapped to, known before anybody was let in.
    pub(crate) fn directory(&self) -> Option<&DirectoryConfig> {
        // SAFETY: the request lives, and its mark and its settings with it.
        unsafe { Mark::of(self.r).and_then(|mark| mark.directory.as_ref()) }
    }

    /// The settings that hold for it as far as it got.
    pub(crate) fn settings(&self) -> &DirectoryConfig {
        // SAFETY: the request lives, and its settings with it.
        unsafe { DirectoryConfig::of(self.r) }
    }

    /// The user whom httpd let in to it, where it asks for one.
    pub(crate) fn user(&self) -> Option<&[u8]> {
        // SAFETY: the request lives.
        unsafe { user(self.r) }
    }

    /// Whether its URL was mapped to a directory, or to where it would be. What follows the part that is there is as far
    /// as httpd gets where there is only the way to an alias.
    pub(crate) fn leads_to_directory(&self, place: &[u8]) -> bool {
        // SAFETY: the request lives.
        let (mapped, rest) = unsafe {
            let r = &*self.r;
            (bytes(r.filename), bytes(r.path_info))
        };
        let (mapped, rest) = (mapped.unwrap_or_default(), rest.unwrap_or_default());
        let mapped = [mapped, rest].concat();
        without_slash(&mapped) == without_slash(place)
    }

    /// Whether it has read `.htaccess` files that were not known before, or found that there are none.
    pub(crate) fn has_read_overrides(&self, known: Overrides) -> bool {
        // SAFETY: the request lives.
        unsafe { (*self.r).htaccess != known.0 }
    }

    /// The `.htaccess` files that it knows. They stay in memory for as long as its connection does.
    pub(crate) fn keep_overrides(self) -> Overrides {
        // SAFETY: the request lives.
        let known = unsafe { (*self.r).htaccess };
        // Its pool is one of the connection's.
        std::mem::forget(self);
        Overrides(known)
    }

    /// The names of the filters that would change the content, after all modules have added theirs.
    pub(crate) fn content_filters(&self) -> Vec<Vec<u8>> {
        // SAFETY: the request lives; httpd inserts filters once a request, and this one is not run.
        unsafe {
            sys::ap_run_insert_filter(self.r);
            content_filters(self.r)
        }
    }
}

/// The user of a request, if a module has checked a password or the like: a name without a kind of authentication may
/// be what anybody claims.
///
/// # Safety
/// `r` is being processed as long as the name is used, and httpd has decided to let it in.
unsafe fn user<'r>(r: *const sys::request_rec) -> Option<&'r [u8]> {
    // SAFETY: the caller's promise; the strings live as long as the request.
    unsafe {
        let is_checked = !(*r).ap_auth_type.is_null();
        let name = bytes((*r).user).filter(|name| !name.is_empty());
        name.filter(|_| is_checked)
    }
}

/// The names of the filters of a request that change the content.
///
/// # Safety
/// `r` is being processed, and its filters are inserted.
pub(crate) unsafe fn content_filters(r: *const sys::request_rec) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    // SAFETY: the caller's promise; httpd keeps the filters with the request.
    unsafe {
        let mut filter = (*r).output_filters;
        while let Some(here) = filter.as_ref() {
            if (*here.frec).ftype < sys::ap_filter_type_AP_FTYPE_PROTOCOL {
                names.extend(bytes((*here.frec).name).map(<[u8]>::to_ascii_lowercase));
            }
            filter = here.next;
        }
    }
    names
}

impl Drop for VirtualRequest<'_> {
    fn drop(&mut self) {
        // SAFETY: httpd made the pool for this request, and what was read of it is copied by now.
        unsafe { sys::apr_pool_destroy((*self.r).pool) }
    }
}

fn without_slash(path: &[u8]) -> &[u8] {
    path.strip_suffix(b"/").unwrap_or(path)
}

/// How mod_ratelimit is told to send slowly. Nothing is sent, so nothing needs to be slow.
const SLOWED_BY: [&std::ffi::CStr; 2] = [c"rate-limit", c"rate-initial-burst"];

/// The headers that tell by which name the site was reached, also through a proxy.
const WHERE: [&std::ffi::CStr; 4] = [
    c"Host",
    c"X-Forwarded-Proto",
    c"X-Forwarded-Host",
    c"X-Forwarded-Port",
];

/// The headers that make the answer conditional, partial or coded, speak of a body that is not there, or concern one
/// connection only.
const NOT_PASSED_ON: [&std::ffi::CStr; 18] = [
    c"If-Match",
    c"If-None-Match",
    c"If-Modified-Since",
    c"If-Unmodified-Since",
    c"If-Range",
    c"Range",
    c"Accept-Encoding",
    c"Content-Length",
    c"Content-Type",
    c"Content-Encoding",
    c"Transfer-Encoding",
    c"Expect",
    c"Connection",
    c"Keep-Alive",
    c"Upgrade",
    c"HTTP2-Settings",
    c"TE",
    c"Trailer",
];
