//! Requests as URLs.

use reqwest::Url;

use crate::Error;

/// The arguments of a request, in order.
pub(crate) type Arguments<'a> = [(&'a str, &'a str)];

/// Reads a base URL.
pub(super) fn base_url(text: &str) -> Result<Url, Error> {
    let wrong = |reason: &str| Error::usage(format!("`{text}` is not a base URL: {reason}"));
    let mut url = Url::parse(text.trim()).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it must begin with http:// or https://"));
    }
    if url.host_str().is_none() {
        return Err(wrong("it names no host"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// A base URL in the one form that stands for it everywhere: without credentials, fragment and blanks around it.
pub fn canonical_base_url(text: &str) -> Result<String, Error> {
    Ok(shown(&base_url(text)?))
}

/// The URL of a request. A query that the base URL has already is kept.
pub(super) fn request_url(base: &Url, arguments: &Arguments<'_>) -> Url {
    let query = encode(arguments);
    let query = match base.query() {
        Some(own) if !own.is_empty() => format!("{}&{query}", own.trim_end_matches('&')),
        _ => query,
    };
    let mut url = base.clone();
    url.set_query(Some(&query));
    url
}

pub(super) fn encode(arguments: &Arguments<'_>) -> String {
    let pairs = arguments
        .iter()
        .map(|(name, value)| format!("{name}={}", percent_encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Everything but unreserved characters is encoded: tokens may hold anything.
fn percent_encoded(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// A URL for messages: without a password.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_survive_whatever_they_hold() {
        let base = base_url("http://a.example/oai?page=oai&").unwrap();
        let url = request_url(
            &base,
            &[("verb", "ListRecords"), ("resumptionToken", "a/b+c=%20&é")],
        );
        assert_eq!(
            url.as_str(),
            "http://a.example/oai?page=oai&verb=ListRecords&resumptionToken=a%2Fb%2Bc%3D%2520%26%C3%A9"
        );
    }

    #[test]
    fn refuses_what_is_no_base_url() {
        for text in ["", "oai", "ftp://a/", "file:///etc/passwd"] {
            assert!(base_url(text).is_err(), "{text}");
        }
    }
}
