//! The request that is being handled, as far as an answer needs it.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use oai::Arguments;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use provider::assets;
use provider::resource_sync::SyncDocument;
use site::{Addresses, Requester};

use crate::client::keys;
use crate::config::{DirectoryConfig, ServerConfig};
use crate::httpd::{Pool, REQUEST_ENTITY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, bytes, c_string, text};
use crate::virtual_request::content_filters;
use crate::{log, sys};

/// A request that httpd has given us to handle.
#[derive(Clone, Copy)]
pub(crate) struct Request<'r> {
    r: *mut sys::request_rec,
    life: PhantomData<&'r sys::request_rec>,
}

impl<'r> Request<'r> {
    /// # Safety
    /// `r` is being handled, on this thread, for as long as the value is used.
    pub(crate) unsafe fn new(r: *mut sys::request_rec) -> Self {
        Self {
            r,
            life: PhantomData,
        }
    }

    pub(crate) fn raw(self) -> *mut sys::request_rec {
        self.r
    }

    /// The server or virtual host that answers.
    pub(crate) fn server(self) -> *const sys::server_rec {
        // SAFETY: httpd keeps the request while it is handled (see `new`); so for all functions below.
        unsafe { (*self.r).server }
    }

    pub(crate) fn server_config(self) -> &'r ServerConfig {
        // SAFETY: the server belongs to the configuration that this request is served by.
        unsafe { ServerConfig::of(self.server()) }
    }

    pub(crate) fn pool(self) -> Pool {
        // SAFETY: see `server`.
        unsafe { Pool::new((*self.r).pool) }
    }

    /// The number of the method.
    pub(crate) fn method(self) -> u32 {
        // SAFETY: see `server`.
        u32::try_from(unsafe { (*self.r).method_number }).unwrap_or(u32::MAX)
    }

    pub(crate) fn document_root(self) -> PathBuf {
        // SAFETY: see `server`; the text is copied.
        let root = unsafe { bytes(sys::ap_document_root(self.r)) };
        PathBuf::from(OsStr::from_bytes(root.unwrap_or_default()))
    }

    pub(crate) fn header(self, name: &CStr) -> Option<String> {
        // SAFETY: see `server`; the text is copied.
        unsafe { text(sys::apr_table_get((*self.r).headers_in, name.as_ptr())) }
    }

    /// The address of the client.
    pub(crate) fn client(self) -> IpAddr {
        // SAFETY: see `server`; the text is copied.
        let address = unsafe { text((*self.r).useragent_ip) };
        let address = address.and_then(|address| address.parse().ok());
        address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }

    /// Leaves out a header that the client sent.
    pub(crate) fn drop_header(self, name: &CStr) {
        // SAFETY: see `server`.
        unsafe { sys::apr_table_unset((*self.r).headers_in, name.as_ptr()) }
    }

    /// The client that asks.
    pub(crate) fn requester(self) -> Requester {
        Requester {
            address: self.client(),
            authorization: self.header(c"Authorization"),
            cookie: self.header(c"Cookie"),
            // SAFETY: see `server`.
            keys: unsafe { keys::shown(self.r) },
        }
    }

    /// The URL path of the repository: that of the location, else the one that was asked for; and what follows it.
    pub(crate) fn base_path(self) -> (String, String) {
        // SAFETY: see `server`; the text is copied.
        let (uri, location) = unsafe {
            let settings = DirectoryConfig::of(self.r);
            let location = settings.location().map(<[u8]>::to_vec);
            (text((*self.r).uri).unwrap_or_default(), location)
        };
        let location = location.map(|path| String::from_utf8_lossy(&path).into_owned());
        let location = location.unwrap_or_default();
        let base = location.trim_end_matches('/');
        match uri.strip_prefix(base).filter(|_| location.starts_with('/')) {
            Some(rest) => (base.to_owned(), rest.trim_start_matches('/').to_owned()),
            None => match below_repository(&uri) {
                Some((base, name)) => (base.to_owned(), name.to_owned()),
                None => (uri.trim_end_matches('/').to_owned(), String::new()),
            },
        }
    }

    /// The path of the URL that was asked for.
    pub(crate) fn url_path(self) -> String {
        // SAFETY: see `server`; the text is copied.
        unsafe { text((*self.r).uri) }.unwrap_or_default()
    }

    /// Where this requester reaches the site and the repository: as configured, else as httpd itself would write it.
    pub(crate) fn addresses(self, base_path: &str) -> Addresses {
        if let Some(base_url) = &self.server_config().base_url {
            let host_ends = base_url.find("://").map_or(0, |at| at + 3);
            let path = base_url[host_ends..].find('/').map(|at| at + host_ends);
            let host = &base_url[..path.unwrap_or(base_url.len())];
            return Addresses {
                site_url: format!("{host}/"),
                base_url: base_url.clone(),
            };
        }
        let path = c_string(base_path);
        // SAFETY: see `server`; the texts are copied.
        let url = |path: *const c_char| unsafe {
            text(sys::ap_construct_url(self.pool().raw(), path, self.r))
        };
        Addresses {
            site_url: url(c"/".as_ptr()).unwrap_or_default(),
            base_url: url(path.as_ptr()).unwrap_or_default(),
        }
    }

    /// The arguments of the query.
    pub(crate) fn query(self) -> Arguments {
        // SAFETY: see `server`.
        let query = unsafe { bytes((*self.r).args) };
        Arguments::parse(&escaped(query.unwrap_or_default()))
    }

    /// The arguments of the query and, for a POST, of the form; else the status that refuses them.
    pub(crate) fn arguments(self) -> Result<Arguments, c_int> {
        let mut arguments = self.query();
        if self.method() == sys::M_POST {
            arguments.extend(Arguments::parse(&escaped(&self.form()?)));
        }
        Ok(arguments)
    }

    fn form(self) -> Result<Vec<u8>, c_int> {
        let content_type = self.header(c"Content-Type").unwrap_or_default();
        let form = "application/x-www-form-urlencoded";
        if !content_type.is_empty() && !content_type.to_ascii_lowercase().starts_with(form) {
            return Err(UNSUPPORTED_MEDIA_TYPE);
        }
        // SAFETY: see `server`; httpd writes at most as much as the block holds.
        unsafe {
            let refused = sys::ap_setup_client_block(self.r, sys::REQUEST_CHUNKED_DECHUNK as c_int);
            if refused != 0 {
                return Err(refused);
            }
            let mut form = Vec::new();
            if sys::ap_should_client_block(self.r) == 0 {
                return Ok(form);
            }
            let mut block = [0u8; 8192];
            loop {
                let read = sys::ap_get_client_block(self.r, block.as_mut_ptr().cast(), block.len());
                match usize::try_from(read) {
                    Ok(0) => return Ok(form),
                    Ok(read) => form.extend_from_slice(&block[..read]),
                    Err(_) => return Err(sys::HTTP_BAD_REQUEST as c_int),
                }
                if form.len() > LONGEST_FORM {
                    return Err(REQUEST_ENTITY_TOO_LARGE);
                }
            }
        }
    }

    /// The content codings that filters of this request make of an answer, if the client takes them.
    pub(crate) fn compressions(self) -> Vec<String> {
        // SAFETY: see `server`; the filters were inserted before the handler was called.
        let (filters, settings) = unsafe { (content_filters(self.r), DirectoryConfig::of(self.r)) };
        let inserted = |name: &[u8]| {
            let by_type = [b"bytype:", name].concat();
            filters
                .iter()
                .any(|filter| filter == name || (*filter == by_type && settings.has_filter(name)))
        };
        let codings = [(b"deflate".as_slice(), "gzip"), (b"brotli_compress", "br")];
        let made = codings.iter().filter(|(filter, _)| inserted(filter));
        made.map(|(_, coding)| (*coding).to_owned()).collect()
    }

    /// Sets a header of the response.
    pub(crate) fn set_header(self, name: &CStr, value: &str) {
        let value = c_string(value);
        // SAFETY: see `server`; the table copies.
        unsafe { sys::apr_table_set((*self.r).headers_out, name.as_ptr(), value.as_ptr()) }
    }

    pub(crate) fn set_content_type(self, media_type: &str) {
        // SAFETY: see `server`; the text is in the request's pool.
        unsafe { sys::ap_set_content_type(self.r, self.pool().string(media_type)) }
    }

    pub(crate) fn set_status(self, status: c_int) {
        // SAFETY: see `server`.
        unsafe { (*self.r).status = status }
    }

    pub(crate) fn log(self, level: c_int, message: &str) {
        // SAFETY: see `server`.
        unsafe { log::about_request(self.r, level, message) }
    }
}

/// The path of a repository and the name of something below it, if a path ends like one.
fn below_repository(path: &str) -> Option<(&str, &str)> {
    let mut slashes = path.rmatch_indices('/').take(2);
    slashes.find_map(|(at, _)| {
        let (base, name) = (&path[..at], &path[at + 1..]);
        let is_known =
            assets::find(name).is_some() || SyncDocument::below_repository(name).is_some();
        is_known.then_some((base, name))
    })
}

/// Text that may hold any byte as text that only holds what a form may: escaped again it decodes to itself.
fn escaped(bytes: &[u8]) -> String {
    percent_encode(bytes, ILLEGAL).to_string()
}

/// The characters of ASCII that a form may not hold.
const ILLEGAL: &AsciiSet = &CONTROLS.add(b' ');

/// The longest form that is taken.
const LONGEST_FORM: usize = 1024 * 1024;
