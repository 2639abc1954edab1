//! The headers of a GET: one function for the answer itself and for what is told about it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::Facts;

/// The name of the server.
pub const SERVER: &str = concat!("garner/", env!("CARGO_PKG_VERSION"));

/// The headers of a GET that returns a whole file, in the order and spelling they are sent.
pub fn of_file(facts: &Facts, media_type: &str) -> Vec<(String, String)> {
    let now = SystemTime::now();
    let mut headers = vec![
        ("Date", httpdate::fmt_http_date(now)),
        ("Server", SERVER.to_owned()),
        ("Content-Type", media_type.to_owned()),
        ("Content-Length", facts.size.to_string()),
    ];
    if let Some(modified) = last_modified(facts.mtime, now) {
        headers.push(("Last-Modified", httpdate::fmt_http_date(modified)));
    }
    headers.push(("Etag", etag(facts)));
    headers.push(("Accept-Ranges", "bytes".to_owned()));
    headers.push(("X-Content-Type-Options", "nosniff".to_owned()));
    let own = headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    own.collect()
}

/// Whether a header concerns one connection only, and so is no property of the resource (RFC 9110, 7.6.1).
pub fn is_hop_by_hop(name: &str) -> bool {
    HOP_BY_HOP
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// A strong validator: it changes whenever the file does.
pub fn etag(facts: &Facts) -> String {
    format!("\"{:x}-{:x}\"", facts.size, facts.mark as u64)
}

/// When the file was modified, as HTTP may say it: not before 1970, and not in the future (RFC 9110, 8.8.2.1).
pub fn last_modified(mtime: i64, now: SystemTime) -> Option<SystemTime> {
    let since = Duration::from_secs(u64::try_from(mtime).ok()?);
    Some((UNIX_EPOCH.checked_add(since)?).min(now))
}

const HOP_BY_HOP: [&str; 6] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_modification_times_make_legal_headers() {
        for mtime in [i64::MIN, -2_098_742_400, -1, 0, 4_070_908_800, i64::MAX] {
            let facts = Facts {
                size: 1,
                mtime,
                mark: -1,
                ..Facts::default()
            };
            let headers = of_file(&facts, "text/plain");
            let stated = headers.iter().any(|(name, _)| name == "Last-Modified");
            assert_eq!(stated, mtime >= 0, "{mtime}");
        }
    }
}
