//! The path of a URL in a mirror: the one that `wget -r -nH` gives it on Linux.
//!
//! The names on disk are the names in the URL, decoded. Where wget 1.21 makes two names of one or loses one, we
//! do not follow: it decodes twice, so `%2525` becomes `%`, and cuts names at 236 bytes.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::temporary;

/// Finds the path of a URL below the directory of the mirror; `None` if it is no http or https URL. What another
/// host than `home` has lies in a directory of that host's name.
pub(super) fn of(url: &str, home: Option<&str>) -> Option<PathBuf> {
    let (authority, rest) = split(url)?;
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };

    let mut names: Vec<Vec<u8>> = Vec::new();
    if home.is_some_and(|home| !home.eq_ignore_ascii_case(authority)) {
        names.push(name(authority.to_ascii_lowercase().as_bytes()));
    }
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let decoded = directories.split('/').map(decode);
    names.extend(
        decoded
            .filter(|d| !matches!(&**d, b"" | b"."))
            .map(|d| name(&d)),
    );

    let mut last = match file {
        "" => INDEX.to_vec(),
        file => decode(file),
    };
    if let Some(query) = query {
        last.push(b'?');
        last.extend(decode(query));
    }
    names.push(name(&last));
    Some(join(names, url))
}

/// The host, with its port, and all behind it.
pub(super) fn split(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    // Who is asked is the same host, whoever asks.
    let host = authority.rsplit('@').next().unwrap_or(authority);
    (!host.is_empty()).then_some((host, rest))
}

fn join(mut names: Vec<Vec<u8>>, url: &str) -> PathBuf {
    if names[0] == temporary::NAME.as_bytes() {
        names[0].splice(..1, *b"%2E");
    }
    let length: usize = names.iter().map(|name| name.len() + 1).sum();
    if length > LONGEST_PATH {
        names = vec![b"~long".to_vec(), digest(url.as_bytes()).into_bytes()];
    }
    let names = names.into_iter().map(OsString::from_vec);
    names.collect()
}

/// Escapes what cannot stand in a name, and the names that lead elsewhere.
fn name(decoded: &[u8]) -> Vec<u8> {
    match decoded {
        b"." => return b"%2E".to_vec(),
        b".." => return b"%2E%2E".to_vec(),
        _ => {}
    }
    let mut name = Vec::with_capacity(decoded.len());
    for &byte in decoded {
        match byte {
            b'/' | 0..=0x1F | 0x7F => name.extend(format!("%{byte:02X}").into_bytes()),
            _ => name.push(byte),
        }
    }
    if name.len() > LONGEST_NAME {
        let digest = digest(&name);
        name.truncate(LONGEST_NAME - 1 - digest.len());
        name.push(b'~');
        name.extend(digest.into_bytes());
    }
    name
}

fn decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = match (byte, bytes.get(at + 1), bytes.get(at + 2)) {
            (b'%', Some(&high), Some(&low)) => hex(high).zip(hex(low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => decoded.push(high << 4 | low),
            None => decoded.push(byte),
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest[..20]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

const INDEX: &[u8] = b"index.html";
const LONGEST_NAME: usize = 255;
/// Longer ones cannot be opened by their whole path on Linux; they are kept by their digest.
const LONGEST_PATH: usize = 3500;

#[cfg(test)]
mod tests {
    use super::*;

    fn path(url: &str) -> String {
        let path = of(url, None).unwrap();
        String::from_utf8_lossy(path.as_os_str().as_encoded_bytes()).into_owned()
    }

    #[test]
    fn names_are_those_of_wget() {
        // Taken from GNU Wget 1.21.3 run against a server that has all of them.
        for (url, expected) in [
            ("/%2e%2e/up.txt", "%2E%2E/up.txt"),
            ("/.hidden", ".hidden"),
            ("/a%20b.html", "a b.html"),
            ("/bs%5C.txt", "bs\\.txt"),
            ("/caf%C3%A9.txt", "caf\u{e9}.txt"),
            ("/%C4%80.txt", "\u{100}.txt"),
            ("/colon:x.txt", "colon:x.txt"),
            ("/ctl%01.txt", "ctl%01.txt"),
            ("/d//e.txt", "d/e.txt"),
            ("/d/", "d/index.html"),
            ("/d2/%2e/x.txt", "d2/x.txt"),
            ("/del%7F.txt", "del%7F.txt"),
            ("/hash%23.txt", "hash#.txt"),
            ("", "index.html"),
            ("/", "index.html"),
            ("/lt%3Cgt%3E.txt", "lt<gt>.txt"),
            ("/nl%0Ax.txt", "nl%0Ax.txt"),
            ("/pct%25.txt", "pct%.txt"),
            ("/plus+plus.txt", "plus+plus.txt"),
            ("/q.html?x=1&y=a%2Fb", "q.html?x=1&y=a%2Fb"),
            ("/q2.html?", "q2.html?"),
            ("/q%3Fm.txt", "q?m.txt"),
            ("/quote%22%27.txt", "quote\"'.txt"),
            ("/semi;colon.txt", "semi;colon.txt"),
            ("/sl%2Fash.txt", "sl%2Fash.txt"),
            ("/trail%20", "trail "),
            ("/x#fragment", "x"),
        ] {
            assert_eq!(path(&format!("http://a.example{url}")), expected, "{url}");
        }
        let latin = of("http://a.example/latin%E9.txt", None).unwrap();
        assert_eq!(latin.as_os_str().as_encoded_bytes(), b"latin\xe9.txt");
    }

    #[test]
    fn hostile_urls_stay_inside() {
        for (url, expected) in [
            ("http://h/../../etc/passwd", "%2E%2E/%2E%2E/etc/passwd"),
            ("http://h/a/..", "a/%2E%2E"),
            ("http://h/a/.", "a/%2E"),
            ("http://h/%00", "%00"),
            ("http://h/..%2F..%2Fx", "..%2F..%2Fx"),
            ("http://h//etc/passwd", "etc/passwd"),
            ("http://h/.garner-tmp/x", "%2Egarner-tmp/x"),
            ("http://h/.garner-tmp", "%2Egarner-tmp"),
            ("http://h?../x", "index.html?..%2Fx"),
        ] {
            assert_eq!(path(url), expected, "{url}");
        }
        assert!(path(&format!("http://h{}", "/a".repeat(4000))).starts_with("~long/"));
        assert_eq!(path(&format!("http://h/{}", "a".repeat(4000))).len(), 255);
        for url in [
            "",
            "/etc/passwd",
            "file:///etc/passwd",
            "urn:x",
            "http://",
            "http:///x",
        ] {
            assert_eq!(of(url, None), None, "{url}");
        }
    }

    #[test]
    fn other_hosts_have_their_own_directories() {
        let place = |url| of(url, Some("A.example:8080")).unwrap();
        assert_eq!(place("http://a.example:8080/x"), PathBuf::from("x"));
        assert_eq!(place("https://b.example/x"), PathBuf::from("b.example/x"));
        assert_eq!(place("http://../x"), PathBuf::from("%2E%2E/x"));
    }
}
