//! Heads of requests that no handler is asked about: too long ones, and those that do not name their host.

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Request, StatusCode, Version};

/// Why a request is refused by its head alone, of which `longest` bytes are read.
pub(crate) fn refuse<B>(
    request: &Request<B>,
    longest: usize,
) -> Option<(StatusCode, &'static str)> {
    if length(request) > longest {
        let message = "the head of the request is too long\n";
        return Some((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, message));
    }
    let message = refuse_host(request.version(), request.headers())?;
    Some((StatusCode::BAD_REQUEST, message))
}

/// hyper stops to read at the limit, but takes what one read brings beyond it.
fn length<B>(request: &Request<B>) -> usize {
    let target = request
        .uri()
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    let fields = request.headers().iter();
    let fields: usize = fields
        .map(|(name, value)| name.as_str().len() + ": \r\n".len() + value.len())
        .sum();
    request.method().as_str().len() + target + "  HTTP/1.1\r\n\r\n".len() + fields
}

/// Why a request does not name its host as it should (RFC 9112, section 3.2).
fn refuse_host(version: Version, headers: &HeaderMap) -> Option<&'static str> {
    let mut hosts = headers.get_all(HOST).iter();
    let Some(host) = hosts.next() else {
        let message = "the request has no Host header; HTTP/1.1 demands one\n";
        return (version >= Version::HTTP_11).then_some(message);
    };
    if hosts.next().is_some() {
        return Some("the request has more than one Host header; send one\n");
    }
    let is_valid = host.is_empty()
        || Authority::try_from(host.as_bytes())
            .is_ok_and(|authority| !authority.as_str().contains('@'));
    (!is_valid).then_some("the Host header is neither a name nor an address\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(version: Version, hosts: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, host.parse().unwrap());
        }
        refuse_host(version, &headers).is_some()
    }

    #[test]
    fn one_host_is_named() {
        for good in ["a.example", "a.example:80", "[::1]:80", "127.0.0.1", ""] {
            assert!(!is_refused(Version::HTTP_11, &[good]), "{good}");
        }
        for bad in ["a b", "a@b", "a/b", "a,b c", "[::1"] {
            assert!(is_refused(Version::HTTP_11, &[bad]), "{bad}");
        }
        assert!(is_refused(Version::HTTP_11, &[]));
        assert!(!is_refused(Version::HTTP_10, &[]));
        for version in [Version::HTTP_10, Version::HTTP_11] {
            assert!(is_refused(version, &["a", "a"]));
        }
    }
}
