//! The key by which indexes of web archives sort URLs: the host turned round, and all that does not tell pages apart
//! left out (Sort-friendly URI Reordering Transform).

use std::borrow::Cow;
use std::net::Ipv4Addr;

/// The sort key of a URL, as CDX indexes have it: `http://www.Example.org/A?b=1&a=2` is `org,example)/a?a=2&b=1`.
///
/// A URL without an authority, such as `dns:example.org`, is its own key.
pub fn surt(url: &str) -> String {
    let url: Cow<'_, str> = match url.contains(['\t', '\r', '\n']) {
        true => url.replace(['\t', '\r', '\n'], "").into(),
        false => url.trim().into(),
    };
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
        _ if url
            .split_once(':')
            .is_some_and(|(scheme, rest)| is_scheme(scheme) && !is_port(rest)) =>
        {
            return url.into_owned();
        }
        _ => ("http".to_owned(), &*url),
    };
    if scheme == "filedesc" || scheme == "warcinfo" {
        return url.into_owned();
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let rest = rest.trim_start_matches('/');
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    let mut key = host(authority, &scheme);
    key.push(')');
    key.push_str(&self::path(path));
    if let Some(query) = query.map(self::query).filter(|query| !query.is_empty()) {
        key.push('?');
        key.push_str(&query);
    }
    key
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Whether what stands behind the colon of `example.org:80/a` is a port.
fn is_port(rest: &str) -> bool {
    rest.split('/')
        .next()
        .is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The host with its parts in reverse, and the port unless it is that of the scheme.
fn host(authority: &str, scheme: &str) -> String {
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (authority, ""),
    };
    let name = name.trim_matches(['[', ']']);
    let plain = unescaped(name.as_bytes());
    let name = String::from_utf8_lossy(&plain).to_lowercase();
    let name = match name.is_ascii() {
        true => name,
        // Names of other scripts have the spelling of the domain name system.
        false => match url::Host::parse(&name) {
            Ok(host) => host.to_string(),
            Err(_) => name,
        },
    };
    let name = match name.parse::<u32>() {
        Ok(number) => Ipv4Addr::from(number).to_string(),
        Err(_) => name,
    };
    let name = without_www(&name);
    let parts = name.split('.').filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.map(|part| escaped(part.as_bytes())).collect();
    let mut turned = parts.into_iter().rev().collect::<Vec<_>>().join(",");
    let usual = match scheme {
        "http" => "80",
        "https" => "443",
        _ => "",
    };
    if !port.is_empty() && port != usual {
        turned.push(':');
        turned.push_str(port);
    }
    turned
}

/// A host without `www.` or `www7.` before it.
fn without_www(host: &str) -> &str {
    let Some(rest) = host.strip_prefix("www") else {
        return host;
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix('.') {
        Some(rest) if !rest.is_empty() => rest,
        _ => host,
    }
}

/// The path in small letters, without `.`, `..`, empty parts, session identifiers and its last slash.
fn path(path: &str) -> String {
    let plain = unescaped(path.as_bytes());
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in plain.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    // ASP.NET puts the session into the path: /(S(24 letters))/page.aspx
    let is_page = parts
        .last()
        .is_some_and(|last| memchr_aspx(&last.to_ascii_lowercase()));
    if is_page && parts.len() > 1 && is_session_part(parts[parts.len() - 2]) {
        parts.remove(parts.len() - 2);
    }
    let mut out = String::new();
    for part in parts {
        out.push('/');
        out.push_str(&escaped(part).to_lowercase());
    }
    match out.is_empty() {
        true => "/".to_owned(),
        false => out,
    }
}

fn memchr_aspx(name: &[u8]) -> bool {
    name.windows(5).any(|window| window == b".aspx")
}

fn is_session_part(part: &[u8]) -> bool {
    let letters = |part: &[u8]| part.len() == 24 && part.iter().all(u8::is_ascii_alphanumeric);
    let inner = part
        .strip_prefix(b"(")
        .and_then(|part| part.strip_suffix(b")"));
    let Some(inner) = inner else { return false };
    let named = || match inner {
        [name, b'(', id @ .., b')'] => name.is_ascii_alphabetic() && letters(id),
        _ => false,
    };
    letters(inner) || named()
}

/// The parameters in small letters and in order, without session identifiers.
fn query(query: &str) -> String {
    let plain = unescaped(query.as_bytes());
    let text = escaped(&plain).to_lowercase();
    let mut parameters: Vec<&str> = text.split('&').collect();
    if let Some(at) = parameters
        .iter()
        .position(|parameter| parameter.starts_with("cfid="))
        && parameters
            .get(at + 1)
            .is_some_and(|next| next.starts_with("cftoken="))
    {
        parameters.drain(at..=at + 1);
    }
    if let Some(at) = parameters.iter().position(|one| is_session(one)) {
        parameters.remove(at);
        // Quirk: the canonicalizer of the Internet Archive leaves the `&` before a last one.
        if at > 0 && at == parameters.len() {
            parameters.push("");
        }
    }
    parameters.sort_unstable();
    parameters.join("&")
}

fn is_session(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let named = matches!(name, "jsessionid" | "phpsessid" | "sid") && value.len() == 32;
    let asp = name.strip_prefix("aspsessionid");
    let asp = asp.is_some_and(|rest| rest.len() == 8) && value.len() == 24;
    is_plain && (named || asp)
}

/// Undoes percent-encoding until there is none.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut now = bytes.to_vec();
    for _ in 0..DEPTH {
        let mut next = Vec::with_capacity(now.len());
        let mut at = 0;
        while at < now.len() {
            let digits = now.get(at + 1..at + 3).filter(|_| now[at] == b'%');
            let byte = digits.and_then(|digits| {
                let digits = std::str::from_utf8(digits).ok()?;
                let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)
            });
            match byte {
                Some(byte) => {
                    next.push(byte);
                    at += 3;
                }
                None => {
                    next.push(now[at]);
                    at += 1;
                }
            }
        }
        if next == now {
            break;
        }
        now = next;
    }
    now
}

/// Encodes what cannot stand in a key.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            0..=0x20 | 0x7f..=0xff | b'#' | b'%' => out.push_str(&format!("%{byte:02x}")),
            byte => out.push(char::from(*byte)),
        }
    }
    out
}

/// Nobody encodes a URL more often.
const DEPTH: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_other_indexers() {
        for (url, key) in [
            (
                "http://www.example.com/a/b/../c//d?B=1&a=2#frag",
                "com,example)/a/c/d?a=2&b=1",
            ),
            ("https://www2.Example.COM:443/Foo/", "com,example)/foo"),
            ("http://example.com:8080/", "com,example:8080)/"),
            ("http://example.com/?", "com,example)/"),
            (
                "http://example.com/p?PHPSESSID=9682993c8daa2c5497996114facdc805&a=b",
                "com,example)/p?a=b",
            ),
            ("http://user:pw@example.com/", "com,example)/"),
            ("http://192.168.0.1/x", "1,0,168,192)/x"),
            ("dns:example.com", "dns:example.com"),
            (
                "http://example.com/%7Efoo/%41%2525/é",
                "com,example)/~foo/a%25/%c3%a9",
            ),
            (
                "http://bücher.example/ä ö",
                "example,xn--bcher-kva)/%c3%a4%20%c3%b6",
            ),
            ("http://example.com?a=b", "com,example)/?a=b"),
            ("http://example.com/a?&b=c&&d=", "com,example)/a?&&b=c&d="),
            (
                "http://example.com/a/(S(0123456789abcdefghijklmn))/b.aspx",
                "com,example)/a/b.aspx",
            ),
            ("http://1234567/", "135,214,18,0)/"),
            (
                "http://example.com/x?cfid=1169580&cftoken=48630702",
                "com,example)/x",
            ),
            ("http://www.com/", "com)/"),
            ("http://wwww.example.com/", "com,example,wwww)/"),
            ("http://example.com/a/../../b", "com,example)/../b"),
            ("http://example.com/a%23b", "com,example)/a%23b"),
            ("http://www1.www.example.com/", "com,example,www)/"),
            ("http://example.com/%zz", "com,example)/%25zz"),
            (
                "http://example.com/?x=1&jsessionid=0123456789abcdef0123456789abcdef",
                "com,example)/?&x=1",
            ),
            ("example.com/a", "com,example)/a"),
            ("filedesc://a.arc", "filedesc://a.arc"),
        ] {
            assert_eq!(surt(url), key, "{url}");
        }
    }
}
