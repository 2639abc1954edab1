//! One spelling for each URL: what crawlers write in many ways is looked up in one.
//!
//! The `url` crate does most of what the paper asks for: scheme and host in lower case, international names as ASCII,
//! default ports taken off, dot segments collapsed, spaces and non-ASCII characters percent-encoded as UTF-8. It follows
//! the browsers, which leave existing escapes as they are. So what RFC 3986 (6.2.2) adds is done here: escapes in upper
//! case, no escape where none is needed (`%7E` is `~`), and one wherever RFC 3986 allows no bare character (`|`, `[`, a
//! `%` that begins no escape).

use md5::{Digest, Md5};
use url::{Position, Url};

use crate::digest::hex;

/// A normalised URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Normal {
    /// The URL in its one spelling, ASCII only.
    pub url: String,
    /// The host without its port, in lower case; empty for `file:`.
    pub host: String,
    /// The MD5 of the URL as 32 lower-case digits, as the catalog has it.
    pub md5: String,
}

/// A URL that cannot be normalised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It cannot be read as a URL.
    #[error("`{url}` is not a URL: {reason}")]
    NotAUrl {
        /// The given text, cut off where it is long.
        url: String,
        /// Why not.
        reason: url::ParseError,
    },
    /// It names nothing on a host: `dns:`, `urn:`, `mailto:`, `data:`.
    #[error("`{url}` names no document on a host")]
    NoHost {
        /// The given text, cut off where it is long.
        url: String,
    },
}

/// Normalises a URL. Doing it again changes nothing.
///
/// ```
/// use document::url::normalise;
///
/// let normal = normalise("HTTP://www.Example.EDU:80/~tom/./pub/../Pápers/a b.pdf#page=2")?;
/// assert_eq!(normal.url, "http://www.example.edu/~tom/P%C3%A1pers/a%20b.pdf");
/// assert_eq!(normal.host, "www.example.edu");
/// # Ok::<(), document::url::Error>(())
/// ```
pub fn normalise(url: &str) -> Result<Normal, Error> {
    let parse = |text: &str| {
        Url::parse(text).map_err(|reason| Error::NotAUrl {
            url: short(url),
            reason,
        })
    };
    let mut parsed = parse(url)?;
    if parsed.scheme() == "file" {
        // Quirk of `url`: a host before a drive letter goes only when the URL is read again.
        parsed = parse(parsed.as_str())?;
    }
    let host = parsed.host_str().unwrap_or_default().to_ascii_lowercase();
    if parsed.cannot_be_a_base() || host.is_empty() && parsed.scheme() != "file" {
        return Err(Error::NoHost { url: short(url) });
    }
    parsed.set_fragment(None);

    let mut text = String::with_capacity(parsed.as_str().len());
    text.push_str(&parsed[..Position::BeforeHost]);
    text.push_str(&host);
    text.push_str(&parsed[Position::AfterHost..Position::BeforePath]);
    escape(parsed.path(), "/", &mut text);
    if let Some(query) = parsed.query() {
        text.push('?');
        escape(query, "/?", &mut text);
    }
    let md5 = hex(&Md5::digest(text.as_bytes()));
    Ok(Normal {
        url: text,
        host,
        md5,
    })
}

/// Writes a path or a query with every escape that is needed and no other. `also` is what may stand bare here besides
/// what may everywhere.
fn escape(part: &str, also: &str, text: &mut String) {
    let bytes = part.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = match byte {
            b'%' => escaped_byte(&bytes[at + 1..]),
            _ => None,
        };
        match escaped {
            Some(inner) if is_unreserved(inner) => text.push(char::from(inner)),
            Some(inner) => push_escape(inner, text),
            None if is_allowed(byte) || also.as_bytes().contains(&byte) => {
                text.push(char::from(byte));
            }
            None => push_escape(byte, text),
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
}

fn escaped_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let value = digit(digits.first()?)? << 4 | digit(digits.get(1)?)?;
    u8::try_from(value).ok()
}

fn push_escape(byte: u8, text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(char::from(DIGITS[usize::from(byte >> 4)]));
    text.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// RFC 3986, 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// `pchar` of RFC 3986, 3.3.
fn is_allowed(byte: u8) -> bool {
    is_unreserved(byte) || b"!$&'()*+,;=:@".contains(&byte)
}

/// The part that can be shown of something that may be megabytes long.
fn short(url: &str) -> String {
    let mut characters = url.chars();
    let mut short: String = characters.by_ref().take(SHOWN).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

const SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(url: &str) -> String {
        normalise(url).unwrap().url
    }

    #[test]
    fn spellings_of_one_url_become_one() {
        for (written, expected) in [
            ("HTTP://Example.ORG", "http://example.org/"),
            ("http://example.org:80/", "http://example.org/"),
            ("https://example.org:443/", "https://example.org/"),
            ("ftp://example.org:21/a", "ftp://example.org/a"),
            ("http://example.org:8080/", "http://example.org:8080/"),
            ("http://h/a/./b/../c", "http://h/a/c"),
            ("http://h/../../x", "http://h/x"),
            ("http://h/a/%2e%2E/b", "http://h/b"),
            ("http://h/a b", "http://h/a%20b"),
            ("  http://h/a\n", "http://h/a"),
            ("http://h/%7euser/%41", "http://h/~user/A"),
            ("http://h/a%2fb", "http://h/a%2Fb"),
            ("http://h/caf\u{e9}", "http://h/caf%C3%A9"),
            ("http://h/?q=caf\u{e9} x", "http://h/?q=caf%C3%A9%20x"),
            ("http://h/latin%e9", "http://h/latin%E9"),
            ("http://h/100%", "http://h/100%25"),
            ("http://h/%%32e", "http://h/%252e"),
            ("http://h/a|b[c]^d", "http://h/a%7Cb%5Bc%5D%5Ed"),
            ("http://h/x?a=[1]|2#top", "http://h/x?a=%5B1%5D%7C2"),
            ("http://h/a\\b", "http://h/a/b"),
            (
                "http://b\u{fc}cher.example/",
                "http://xn--bcher-kva.example/",
            ),
            ("SFTP://Example.ORG/A", "sftp://example.org/A"),
            ("http://u:p@Example.org/", "http://u:p@example.org/"),
            ("http://[2001:DB8::1]/", "http://[2001:db8::1]/"),
            ("file:///srv/crawl/a b", "file:///srv/crawl/a%20b"),
        ] {
            assert_eq!(normal(written), expected, "{written}");
        }
    }

    #[test]
    fn different_urls_stay_different() {
        for (one, other) in [
            ("http://h/a%2Fb", "http://h/a/b"),
            ("http://h/A", "http://h/a"),
            ("http://h/a/", "http://h/a"),
            ("http://h/a?", "http://h/a"),
            ("http://h/?a=1&b=2", "http://h/?b=2&a=1"),
            ("http://h/?a%26b", "http://h/?a&b"),
            ("http://h/", "https://h/"),
        ] {
            assert_ne!(normal(one), normal(other));
        }
    }

    #[test]
    fn host_and_md5_are_those_of_the_normalised_url() {
        let normal = normalise("http://WWW.Example.org:8080/a").unwrap();

        assert_eq!(normal.host, "www.example.org");
        assert_eq!(
            normal.md5,
            hex(&Md5::digest(b"http://www.example.org:8080/a"))
        );
    }

    #[test]
    fn what_names_no_document_is_refused_by_name() {
        for url in [
            "dns:www.kb.dk",
            "urn:x:y",
            "mailto:a@b",
            "data:text/plain,x",
        ] {
            let error = normalise(url).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`{url}` names no document on a host")
            );
        }
        let error = normalise("000nourl000").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`000nourl000` is not a URL: relative URL without a base"
        );
        let long = normalise(&"x".repeat(1_000_000)).unwrap_err().to_string();
        assert!(long.len() < 300, "{long}");
    }
}
