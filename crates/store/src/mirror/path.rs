//! The path of a URL in a mirror: the one that `wget -r -nH` gives it on Linux.
//!
//! The names on disk are the names in the URL, decoded. Where wget 1.21 gives two URLs one name, this does not follow:
//! wget decodes twice, so `%2525` becomes `%`, and cuts names at 236 bytes. `a%3Fb` and `a?b` do share a name, as they do
//! for wget: it is the name of a file `a?b` on the site, and what everybody expects of a query.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
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
    Some(join(names))
}

/// The host, with its port, and all behind it.
pub(super) fn split(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    // User names do not matter: the host is the same.
    let host = authority.rsplit('@').next().unwrap_or(authority);
    (!host.is_empty()).then_some((host, rest))
}

fn join(mut names: Vec<Vec<u8>>) -> PathBuf {
    for (kept, escaped) in [(temporary::NAME, "%2E"), (LONG, "%7E")] {
        if names[0] == kept.as_bytes() {
            names[0].splice(..1, escaped.bytes());
        }
    }
    let length: usize = names.iter().map(|name| name.len() + 1).sum();
    if length > LONGEST_PATH {
        names = vec![LONG.into(), digest(&names.join(&b'/')).into_bytes()];
    }
    let names = names.into_iter().map(OsString::from_vec);
    names.collect()
}

/// Escapes what cannot stand in a name, the names that lead elsewhere, and whatever could be taken for an escape.
fn name(decoded: &[u8]) -> Vec<u8> {
    if matches!(decoded, b"." | b"..") {
        return b"%2E".repeat(decoded.len());
    }
    let mut name = Vec::with_capacity(decoded.len());
    for (at, &byte) in decoded.iter().enumerate() {
        let is_written = |byte: u8| is_escaped(byte) || b"%.~".contains(&byte);
        let looks_escaped = escaped_byte(&decoded[at..]).is_some_and(is_written);
        match byte {
            _ if looks_escaped || is_escaped(byte) => {
                name.extend(format!("%{byte:02X}").into_bytes());
            }
            _ => name.push(byte),
        }
    }
    if name.len() > LONGEST_NAME || looks_cut(&name) {
        let digest = digest(&name);
        name.truncate(LONGEST_NAME - 1 - digest.len());
        name.push(b'~');
        name.extend(digest.into_bytes());
    }
    name
}

fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'/' | 0..=0x1F | 0x7F)
}

/// Whether a name could be one that was cut and got a digest.
fn looks_cut(name: &[u8]) -> bool {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let tail = name.len().checked_sub(DIGEST_DIGITS + 1);
    name.len() == LONGEST_NAME
        && tail.is_some_and(|tail| name[tail] == b'~' && name[tail + 1..].iter().all(is_digit))
}

fn decode(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

/// The byte of the escape that `bytes` begin with.
fn escaped_byte(bytes: &[u8]) -> Option<u8> {
    let digits = bytes.strip_prefix(b"%")?.get(..2)?;
    let byte = HEXLOWER_PERMISSIVE.decode(digits).ok()?;
    byte.first().copied()
}

fn digest(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes)[..DIGEST_DIGITS / 2])
}

const INDEX: &[u8] = b"index.html";
/// The directory of files whose own path would be too long.
const LONG: &str = "~long";
const DIGEST_DIGITS: usize = 40;
const LONGEST_NAME: usize = 255;
/// Longer ones cannot be opened by their whole path on Linux; they are kept by their digest.
const LONGEST_PATH: usize = 3500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{assert_is_below, seeds, two};

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

    /// The parts of a URL that decide on its file, each decoded.
    fn key(url: &str) -> Option<Vec<Vec<u8>>> {
        let (_, rest) = split(url)?;
        let rest = rest.split('#').next()?;
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
        let directories = directories.split('/').map(decode);
        let directories = directories.filter(|name| !matches!(&**name, b"" | b"."));
        let file = if file.is_empty() { "index.html" } else { file };
        let query = query.map(|query| [b"?", &*decode(query)].concat());
        let last = [decode(file), query.unwrap_or_default()].concat();
        Some(directories.chain([last]).collect())
    }

    #[test]
    fn no_two_urls_share_a_file_of_a_mirror() {
        let seeds = seeds(&[
            ("http://a.example/b/c.html", "http://a.example/b%2Fc.html"),
            ("http://a.example/..%2f../x", "http://a.example/%2e%2e/x"),
            ("http://a.example/%2E%2E", "http://a.example/%252E%252E"),
            ("http://a.example/a?b=c/d", "http://a.example/a?b=c%252Fd"),
            ("http://a.example/.garner", "http://a.example/%252Egarner"),
            ("http://a.example/a%00b", "http://a.example/a%2500b"),
            (
                &format!("http://a.example/{}", "x".repeat(300)),
                &format!("http://a.example/{}", "x/".repeat(3000)),
            ),
        ]);
        test_support::fuzz!(seeds, |bytes| {
            let urls = two(bytes);
            let paths = urls.each_ref().map(|url| of(url, None));
            paths
                .iter()
                .flatten()
                .for_each(|path| assert_is_below(path));
            if let [Some(one), Some(other)] = &paths {
                let is_same = key(&urls[0]) == key(&urls[1]);
                assert_eq!(one == other, is_same, "{urls:?}: {one:?}");
            }
        });
    }
}
