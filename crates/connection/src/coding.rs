//! The coding of answers that a client takes.

use http::header::{ACCEPT_ENCODING, HeaderMap};

/// Whether the client takes gzip (RFC 9110, 12.5.3).
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers
        .get_all(ACCEPT_ENCODING)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    let mut quality = None;
    for coding in values.flat_map(|value| value.split(',')) {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let q = match parameters.trim().split_once('=') {
            Some((name, q)) if name.trim().eq_ignore_ascii_case("q") => {
                q.trim().parse().unwrap_or(0.0)
            }
            _ => 1.0,
        };
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => {
                quality = Some(q);
            }
            "*" if quality.is_none() => quality = Some(q),
            _ => {}
        }
    }
    quality.is_some_and(|quality: f32| quality > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_only_when_asked_for() {
        for (value, expected) in [
            ("gzip", true),
            ("deflate, gzip;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip;Q=0", false),
            ("GZIP; Q=0.5", true),
            ("*", true),
            ("*, gzip;q=0", false),
            ("identity", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            assert_eq!(accepts_gzip(&headers), expected, "{value}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
