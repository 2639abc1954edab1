//! Asks httpd, inside of the process, what a GET would return.
//!
//! A sub-request is not the same as a request: it skips rules on the URL, some rewrites, and most headers. So a
//! connection of our own is made from the client's, with a [`Sink`] at its end, and on it main requests are
//! processed as mod_http2 does for each of its streams. Nothing is logged as an access, and nothing is sent.

use std::ffi::{c_char, c_int};
use std::marker::PhantomData;
use std::net::IpAddr;

use site::Requester;

use crate::border::guarded;
use crate::config::DirectoryConfig;
use crate::httpd::{DECLINED, OK, Pool, UNAUTHORIZED, bytes, c_string, text};
use crate::passwords::{Passwords, Verdict};
use crate::sink::Sink;
use crate::{module, module_of, sys};

/// A connection of our own, as which one requester asks.
pub(crate) struct Connection<'r> {
    original: *mut sys::request_rec,
    pool: Pool,
    conn: *mut sys::conn_rec,
    headers: *mut sys::apr_table_t,
    sink: *mut Sink,
    /// The client's own, for rules and headers may speak of it.
    protocol: String,
    passwords: *const Passwords,
    /// Whether there is a password at all that can be remembered.
    has_password: bool,
    life: PhantomData<&'r sys::request_rec>,
}

/// A request that was made up, and how far it got. It ends when dropped.
pub(crate) struct VirtualRequest<'c> {
    pub(crate) r: *mut sys::request_rec,
    /// What httpd says without having run anything; `OK` if it would run the handler.
    pub(crate) status: c_int,
    life: PhantomData<&'c Connection<'c>>,
}

/// What a made-up request carries, so that our hooks know it.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    /// A log that takes nothing: who is not allowed to see a file has not asked for it.
    quiet: sys::ap_logconf,
    /// The file that the URL was mapped to, and the settings of its directory, before anybody was let in.
    pub(crate) mapped: *const c_char,
    pub(crate) directory: *const DirectoryConfig,
    /// The verdicts on the requester's password, if there is one that can be remembered.
    passwords: *const Passwords,
    /// Whether the password was right, by whoever checked it.
    authenticated: bool,
}

impl<'r> Connection<'r> {
    /// A connection on which a requester asks, made from the request that is being handled.
    ///
    /// # Safety
    /// `original` is being handled and outlives the connection.
    pub(crate) unsafe fn new(original: *mut sys::request_rec, requester: &Requester) -> Self {
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
            let connection = Self {
                original,
                pool,
                conn,
                headers: sys::apr_table_copy(pool.raw(), (*original).headers_in),
                sink,
                protocol: text((*original).protocol)
                    .filter(|protocol| protocol != "HTTP/0.9")
                    .unwrap_or_else(|| "HTTP/1.0".to_owned()),
                passwords: pool.keep(Passwords::default()),
                has_password: requester.authorization.as_deref().is_some_and(is_basic),
                life: PhantomData,
            };
            connection.dress_as(requester);
            connection
        }
    }

    /// Asks as somebody: with these credentials and from this address, and without what made the original a
    /// conditional or partial request or speaks of its connection.
    fn dress_as(&self, requester: &Requester) {
        for name in NOT_PASSED_ON {
            // SAFETY: the table is our own copy.
            unsafe { sys::apr_table_unset(self.headers, name.as_ptr()) }
        }
        self.set_header(
            c"Authorization".as_ptr(),
            requester.authorization.as_deref(),
        );
        self.set_header(c"Cookie".as_ptr(), requester.cookie.as_deref());
        self.set_address(requester.address);
    }

    fn set_header(&self, name: *const c_char, value: Option<&str>) {
        // SAFETY: the table is our own copy, and it copies what is set.
        unsafe {
            match value {
                Some(value) => sys::apr_table_set(self.headers, name, c_string(value).as_ptr()),
                None => sys::apr_table_unset(self.headers, name),
            }
        }
    }

    /// Another address than the client's own, unless it is the same.
    fn set_address(&self, address: IpAddr) {
        let text = address.to_string();
        // SAFETY: the original lives; strings and addresses are put into our own pool.
        unsafe {
            if bytes((*self.original).useragent_ip) == Some(text.as_bytes()) {
                return;
            }
            let ip = self.pool.string(&text);
            let mut sockaddr = std::ptr::null_mut();
            let family = match address {
                IpAddr::V4(_) => sys::APR_INET,
                IpAddr::V6(_) => sys::APR_INET6,
            };
            let made = sys::apr_sockaddr_info_get(
                &raw mut sockaddr,
                ip,
                family as c_int,
                0,
                0,
                self.pool.raw(),
            );
            if made == 0 {
                (*self.conn).client_addr = sockaddr;
                (*self.conn).client_ip = ip;
                (*self.conn).remote_host = std::ptr::null_mut();
            }
            // A proxy's word on who asks would undo it.
            sys::apr_table_unset(self.headers, c"X-Forwarded-For".as_ptr());
        }
    }

    /// Asks for a URL path, and goes no further than to know who would handle it.
    pub(crate) fn look_up(&self, url_path: &str) -> VirtualRequest<'_> {
        // SAFETY: the connection is our own, and this follows the way of mod_http2 with a request that it has read.
        unsafe {
            (*self.conn).aborted = 0;
            (*self.conn).keepalive = sys::ap_conn_keepalive_e_AP_CONN_UNKNOWN;
            let r = sys::ap_create_request(self.conn);
            let pool = Pool::new((*r).pool);
            let mark = pool.place(Mark::new(self));
            sys::ap_set_module_config((*r).request_config, module(), mark.cast());
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
            let mark = &*mark;
            if request.status == UNAUTHORIZED
                && !mark.authenticated
                && let Some((passwords, file)) = mark.password_file()
            {
                passwords.remember(file, Verdict::Wrong);
            }
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
    /// What our hooks have seen of it.
    pub(crate) fn mark(&self) -> &Mark {
        // SAFETY: `look_up` put it there, in the request's pool.
        unsafe { &*module_of((*self.r).request_config).cast() }
    }

    /// The names of the filters that would change the content, after all modules have added theirs.
    pub(crate) fn content_filters(&self) -> Vec<Vec<u8>> {
        let mut names = Vec::new();
        // SAFETY: the request lives; httpd inserts filters once a request, and this one is not run.
        unsafe {
            sys::ap_run_insert_filter(self.r);
            let mut filter = (*self.r).output_filters;
            while let Some(here) = filter.as_ref() {
                if (*here.frec).ftype < sys::ap_filter_type_AP_FTYPE_PROTOCOL {
                    names.extend(bytes((*here.frec).name).map(<[u8]>::to_ascii_lowercase));
                }
                filter = here.next;
            }
        }
        names
    }
}

impl Drop for VirtualRequest<'_> {
    fn drop(&mut self) {
        // SAFETY: httpd made the pool for this request, and what was read of it is copied by now.
        unsafe { sys::apr_pool_destroy((*self.r).pool) }
    }
}

impl Mark {
    fn new(connection: &Connection<'_>) -> Self {
        Self {
            quiet: sys::ap_logconf {
                module_levels: std::ptr::null_mut(),
                level: sys::APLOG_EMERG as c_int,
            },
            mapped: std::ptr::null(),
            directory: std::ptr::null(),
            passwords: match connection.has_password {
                true => connection.passwords,
                false => std::ptr::null(),
            },
            authenticated: false,
        }
    }

    /// The verdicts, and the file that alone decides on the requester's password here.
    ///
    /// # Safety
    /// The request that carries the mark is being processed, and its directory's settings are known.
    unsafe fn password_file(&self) -> Option<(&Passwords, &[u8])> {
        // SAFETY: the connection keeps the verdicts, and the request its settings.
        unsafe {
            let file = self.directory.as_ref()?.password_file()?;
            Some((self.passwords.as_ref()?, file))
        }
    }

    /// The mark of a request, if it is a made-up one.
    ///
    /// # Safety
    /// `r` is being processed.
    unsafe fn of<'a>(r: *mut sys::request_rec) -> Option<&'a mut Self> {
        // SAFETY: the slot is null or what `look_up` put there.
        unsafe { module_of((*r).request_config).cast::<Self>().as_mut() }
    }
}

/// Whether a request is made up, or comes from one that is: a page that includes the repository must not begin
/// anew.
///
/// # Safety
/// `r` is being processed.
pub(crate) unsafe fn is_virtual(r: *mut sys::request_rec) -> bool {
    let mut r = r;
    // SAFETY: the requests that this one comes from live longer than it does.
    unsafe {
        while !r.is_null() {
            if Mark::of(r).is_some() {
                return true;
            }
            r = match (*r).main.is_null() {
                true => (*r).prev,
                false => (*r).main,
            };
        }
    }
    false
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
            mark.mapped = (*r).filename;
            mark.directory = DirectoryConfig::of(r);
        }
    }
    DECLINED
}

/// Before a password is checked: where the file that decides has been asked before, its answer is known.
pub(crate) unsafe extern "C" fn on_check_password(r: *mut sys::request_rec) -> c_int {
    guarded(DECLINED, || {
        // SAFETY: httpd is processing the request.
        unsafe {
            let basic =
                bytes(sys::ap_auth_type(r)).is_some_and(|kind| kind.eq_ignore_ascii_case(b"Basic"));
            let Some(mark) = Mark::of(r).filter(|_| basic) else {
                return DECLINED;
            };
            let known = mark.password_file();
            match known.and_then(|(passwords, file)| passwords.verdict(file)) {
                Some(Verdict::Right(user)) => {
                    let pool = Pool::new((*r).pool);
                    (*r).user = pool.string(user);
                    (*r).ap_auth_type = pool.string("Basic");
                    OK
                }
                Some(Verdict::Wrong) => UNAUTHORIZED,
                None => DECLINED,
            }
        }
    })
}

/// Before it is decided what somebody may see whose password was right.
pub(crate) unsafe extern "C" fn on_password_right(r: *mut sys::request_rec) -> c_int {
    guarded(DECLINED, || {
        // SAFETY: httpd is processing the request.
        unsafe {
            let basic = bytes((*r).ap_auth_type) == Some(b"Basic");
            if let Some(mark) = Mark::of(r) {
                mark.authenticated = true;
                if let (true, Some((passwords, file)), Some(user)) =
                    (basic, mark.password_file(), bytes((*r).user))
                {
                    passwords.remember(file, Verdict::Right(user.to_vec()));
                }
            }
        }
        DECLINED
    })
}

fn is_basic(authorization: &str) -> bool {
    let scheme = authorization.split(' ').next();
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("Basic"))
}

/// What makes the answer conditional, partial or coded, speaks of a body that is not there, or concerns one
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
