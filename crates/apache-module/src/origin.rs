//! httpd as the origin: says what of the index a requester may see, and gives headers and bytes as a GET does.

use std::cell::{OnceCell, RefCell};
use std::ffi::{c_char, c_int};
use std::fmt;
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::Access;
use site::media_types::essence;
use site::{
    Body, Candidate, DynamicPolicy, Fetched, Ground, Look, NotFetched, Origin, Requester, Served,
    SitePath, headers,
};

use crate::certificate;
use crate::config::DirectoryConfig;
use crate::directories::Directories;
use crate::httpd::{FORBIDDEN, OK, UNAUTHORIZED, bytes, text};
use crate::sink::Sink;
use crate::sys;
use crate::virtual_request::{Asking, Connection, Overrides, VirtualRequest};

/// What is asked while one request is answered.
pub(crate) struct ApacheOrigin<'r> {
    original: *mut sys::request_rec,
    ground: Arc<Ground>,
    requester: Requester,
    own: OnceCell<Connection<'r>>,
    /// As somebody without credentials asks, to see what is public.
    nobody: OnceCell<Connection<'r>>,
    directories: RefCell<Directories>,
}

impl<'r> ApacheOrigin<'r> {
    /// # Safety
    /// `original` is being handled and outlives the origin.
    pub(crate) unsafe fn new(
        original: *mut sys::request_rec,
        ground: Arc<Ground>,
        requester: Requester,
    ) -> Self {
        Self {
            original,
            ground,
            requester,
            own: OnceCell::new(),
            nobody: OnceCell::new(),
            directories: RefCell::default(),
        }
    }

    /// The connection on which somebody asks.
    fn connection(&self, requester: &Requester) -> &Connection<'r> {
        let same = requester.authorization == self.requester.authorization
            && requester.cookie == self.requester.cookie
            && requester.address == self.requester.address;
        // SAFETY: `new` was promised that the original outlives this.
        let connect = |asking| unsafe { Connection::new(self.original, asking) };
        match (same, requester.address) {
            (false, IpAddr::V4(address)) => {
                let nobody = Asking::AsNobody(address);
                self.nobody.get_or_init(|| connect(nobody))
            }
            _ => self.own.get_or_init(|| connect(Asking::AsClient)),
        }
    }

    fn look_at(&self, connection: &Connection<'_>, path: &SitePath) -> Look {
        let mut directories = self.directories.borrow_mut();
        let directory = directories.directory(connection, &self.ground, &path.parent());
        if directory.hides(path) {
            return Look::NotServed("it is left out by IndexIgnore or OaiSkip".to_owned());
        }
        let Some(file) = self.ground.file_path(path) else {
            return Look::NotServed("no directory is configured for it".to_owned());
        };
        let request = connection.look_up(&url_path(path), directory.overrides);
        judge(&request, &file, Filters::LookedAt)
    }
}

impl Origin for ApacheOrigin<'_> {
    fn look(&self, requester: &Requester, candidates: &[Candidate]) -> Result<Vec<Look>, String> {
        let connection = self.connection(requester);
        let looks = candidates
            .iter()
            .map(|candidate| self.look_at(connection, &candidate.path));
        Ok(looks.collect())
    }

    /// A certificate of the client's would speak for nobody too.
    fn can_ask_as_nobody(&self) -> bool {
        // SAFETY: `new` was promised that the original is being handled.
        !unsafe { certificate::is_verified(self.original) }
    }

    fn fetches_files(&self) -> bool {
        true
    }

    fn fetch(
        &self,
        requester: &Requester,
        path: &SitePath,
        limit: u64,
    ) -> Result<Fetched, NotFetched> {
        let connection = self.connection(requester);
        let file = self.ground.file_path(path).ok_or(NotFetched::Refused)?;
        // What it was a moment ago, when it was looked at, it need not be now, nor need its rules.
        let request = connection.look_up(&url_path(path), Overrides::UNKNOWN);
        // Its filters are not looked at once more: that would add them twice.
        let Look::Served(served) = judge(&request, &file, Filters::LeftAlone) else {
            return Err(NotFetched::Refused);
        };
        let limit = match served.dynamic {
            None => limit.min(LARGEST_REWRITTEN),
            Some(DynamicPolicy::Processed) => limit,
            Some(_) => return Err(NotFetched::Refused),
        };
        let (sink, status) = connection.run(&request, limit);
        response(sink, status, limit).map_err(NotFetched::Failed)
    }
}

/// What httpd says of a file's URL.
fn judge(request: &VirtualRequest<'_>, file: &Path, filters: Filters) -> Look {
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

/// What came down the connection, as a response.
fn response(sink: Sink, status: c_int, limit: u64) -> Result<Fetched, String> {
    let too_long = || Err(format!("the answer is longer than {limit} bytes"));
    if sink.overflowed {
        return too_long();
    }
    if status != OK {
        return Err(format!("the server answers {status}"));
    }
    if sink.broken || !sink.ended {
        return Err("the answer was not complete".to_owned());
    }
    let head = Head::parse(&sink.head).ok_or("the answer has no head")?;
    if head.status != 200 {
        return Err(format!("the server answers {}", head.status));
    }
    let body = match sink.is_file() {
        true => {
            let (file, length) = sink.into_file().ok_or("the answer has no body")?;
            let size = file.metadata().map_or(u64::MAX, |metadata| metadata.len());
            match size == length {
                true => Body::File(file),
                false => return Err("the file changed while it was opened".to_owned()),
            }
        }
        false if head.chunked => {
            Body::Bytes(unchunked(&sink.body).ok_or("the answer was not complete")?)
        }
        false => Body::Bytes(sink.body),
    };
    if matches!(&body, Body::Bytes(bytes) if bytes.len() as u64 > limit) {
        return too_long();
    }
    let complete = match (&body, head.content_length) {
        (Body::Bytes(bytes), Some(length)) => bytes.len() as u64 == length,
        _ => true,
    };
    match complete {
        true => Ok(Fetched {
            headers: head.headers,
            body,
        }),
        false => Err("the answer was not complete".to_owned()),
    }
}

/// The beginning of a response.
struct Head {
    status: u16,
    /// Without those that concern one connection only.
    headers: Vec<(String, String)>,
    chunked: bool,
    content_length: Option<u64>,
}

impl Head {
    fn parse(head: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let pairs: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim_start().to_owned()))
            .collect();
        let value = |wanted: &str| {
            let pair = pairs
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            pair.map(|(_, value)| value.as_str())
        };
        Some(Self {
            status,
            chunked: value("Transfer-Encoding")
                .is_some_and(|value| value.eq_ignore_ascii_case("chunked")),
            content_length: value("Content-Length").and_then(|value| value.parse().ok()),
            headers: pairs
                .iter()
                .filter(|(name, _)| !headers::is_hop_by_hop(name))
                .cloned()
                .collect(),
        })
    }
}

/// The body that was sent in chunks (RFC 9112, 7.1).
fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&body[..end]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        body = &body[end + 2..];
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(body.get(..size)?);
        body = body.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

fn url_path(path: &SitePath) -> String {
    format!("/{}", path.to_url_path())
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

/// Whether the filters of a request are looked at. That adds them, so a request that is to be run is spared.
#[derive(Clone, Copy)]
enum Filters {
    LookedAt,
    LeftAlone,
}

/// What the filters on its way make of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Filtering {
    /// It is sent as it is, but for codings that are not asked for.
    None,
    /// It is sent with changes, by nothing that the file itself says.
    Rewritten,
    /// Something in it may be run, or nobody knows.
    Run,
}

impl Filtering {
    fn of(request: &VirtualRequest<'_>) -> Self {
        let filters = request.content_filters();
        let worst = filters.iter().map(|name| Self::by(name)).max();
        worst.unwrap_or(Self::None)
    }

    fn by(filter: &[u8]) -> Self {
        match filter.strip_prefix(b"bytype:").unwrap_or(filter) {
            b"deflate" | b"brotli_compress" | b"mod_expires" | b"fixup_headers_out"
            | b"fixup_headers_err" | b"buffer" | b"old_write" | b"cache_save"
            | b"cache_save_subreq" | b"mod_session_out" | b"rate_limit" => Self::None,
            b"substitute" | b"sed" | b"xlateout" | b"proxy-html" | b"data" => Self::Rewritten,
            _ => Self::Run,
        }
    }
}

/// How much is taken of a file that filters change.
const LARGEST_REWRITTEN: u64 = 1024 * 1024;

impl fmt::Debug for ApacheOrigin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApacheOrigin").finish_non_exhaustive()
    }
}
