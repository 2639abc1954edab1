//! Keys of a client beside credentials, which may open something: a certificate, and headers that not everybody sends.
//!
//! Any header can be a key: `Require expr "%{HTTP:X-Api-Key} == '…'"`. Which one is, only the rules know, so all count
//! but those that clients and proxies send by themselves, some of them with another value each time.

use crate::client::certificate;
use crate::httpd::bytes;
use crate::mark::headers_as_sent;
use crate::sys;

/// The keys of a client's request, in order.
///
/// # Safety
/// `r` is being processed.
pub(crate) unsafe fn shown(r: *mut sys::request_rec) -> Vec<String> {
    // SAFETY: the caller's promise.
    let (headers, certificate) = unsafe { (headers(r), certificate::name(r)) };
    let headers = headers.into_iter().filter(|(name, _)| !is_usual(name));
    let mut keys: Vec<_> = headers
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    keys.extend(certificate);
    keys.sort_unstable();
    keys
}

/// The headers as they were sent, names in lower case: what modules took out or put in since is asked for by nobody.
///
/// # Safety
/// `r` is being processed.
unsafe fn headers(r: *mut sys::request_rec) -> Vec<(String, String)> {
    // SAFETY: the caller's promise; a table is an array of as many entries as it says, each with two C strings.
    unsafe {
        let table = sys::apr_table_elts(headers_as_sent(r));
        let (first, count) = (
            (*table).elts.cast::<sys::apr_table_entry_t>(),
            (*table).nelts,
        );
        let count = usize::try_from(count).unwrap_or(0);
        let text = |text| bytes(text).unwrap_or_default().escape_ascii().to_string();
        (0..count)
            .map(|number| &*first.add(number))
            .map(|entry| (text(entry.key).to_ascii_lowercase(), text(entry.val)))
            .collect()
    }
}

/// Whether a header is one that clients and proxies send without being told to. Its name is in lower case.
fn is_usual(name: &str) -> bool {
    USUAL.contains(&name) || USUAL_BEGINNINGS.iter().any(|usual| name.starts_with(usual))
}

/// Headers that open nothing, or that a requester is known by already.
const USUAL: [&str; 45] = [
    "authorization",
    "b3",
    "cache-control",
    "cdn-loop",
    "cf-connecting-ip",
    "cf-ipcountry",
    "cf-ray",
    "cf-visitor",
    "connection",
    "cookie",
    "date",
    "dnt",
    "expect",
    "forwarded",
    "from",
    "host",
    "http2-settings",
    "keep-alive",
    "max-forwards",
    "origin",
    "pragma",
    "priority",
    "proxy-connection",
    "range",
    "referer",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "true-client-ip",
    "user-agent",
    "via",
    "x-amz-cf-id",
    "x-amzn-trace-id",
    "x-cloud-trace-context",
    "x-correlation-id",
    // Not all that begin like these: `X-Forwarded-User` says who it is.
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-real-ip",
    "x-request-id",
    "x-varnish",
];

/// How other such headers begin.
const USUAL_BEGINNINGS: [&str; 6] = ["accept", "content-", "if-", "sec-", "upgrade", "x-b3-"];
