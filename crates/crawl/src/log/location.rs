//! The parts of a URL, as bytes and as they are written.

/// The parts of a URL that make a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Location<'u> {
    /// Without what stands before `@`, and without the port.
    pub(super) host: &'u [u8],
    pub(super) port: Option<&'u [u8]>,
    /// With its slash; empty if there is none.
    pub(super) path: &'u [u8],
    pub(super) query: Option<&'u [u8]>,
    /// The URL up to its last slash.
    pub(super) directory: &'u [u8],
}

impl<'u> Location<'u> {
    /// Takes a URL apart; `None` if it has no host.
    pub(super) fn of(url: &'u [u8]) -> Option<Self> {
        let start = find(url, b"://")? + 3;
        let end = url.iter().position(|byte| *byte == b'#');
        let url = &url[..end.unwrap_or(url.len()).max(start)];
        let authority_end = start + position(&url[start..], b"/?");
        let path_end = authority_end + position(&url[authority_end..], b"?");

        let authority = &url[start..authority_end];
        let behind_user = authority
            .rsplit(|byte| *byte == b'@')
            .next()
            .unwrap_or(authority);
        let (host, port) = split_port(behind_user);
        let path = &url[authority_end..path_end];
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let directory = slash.map_or(&url[..path_end], |slash| &url[..=authority_end + slash]);
        (!host.is_empty()).then_some(Self {
            host,
            port,
            path,
            query: url.get(path_end + 1..),
            directory,
        })
    }

    /// Returns the part of the path behind its last slash.
    pub(super) fn name(&self) -> &'u [u8] {
        self.path
            .rsplit(|byte| *byte == b'/')
            .next()
            .unwrap_or_default()
    }
}

fn split_port(authority: &[u8]) -> (&[u8], Option<&[u8]>) {
    let colon = authority.iter().rposition(|byte| *byte == b':');
    match colon {
        Some(colon) if authority[colon + 1..].iter().all(u8::is_ascii_digit) => {
            (&authority[..colon], Some(&authority[colon + 1..]))
        }
        _ => (authority, None),
    }
}

/// Returns the position of the first of `any`, or the end.
fn position(bytes: &[u8], any: &[u8]) -> usize {
    let at = bytes.iter().position(|byte| any.contains(byte));
    at.unwrap_or(bytes.len())
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes
        .windows(needle.len())
        .position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_as_they_are_written() {
        let location = |url: &'static str| Location::of(url.as_bytes()).unwrap();

        let full = location("http://u:p@h.example:8080/a/b?c/d?e#f");
        assert_eq!(full.host, b"h.example");
        assert_eq!(full.port, Some(&b"8080"[..]));
        assert_eq!(full.path, b"/a/b");
        assert_eq!(full.query, Some(&b"c/d?e"[..]));
        assert_eq!(full.directory, b"http://u:p@h.example:8080/a/");
        assert_eq!(full.name(), b"b");

        let bare = location("http://h");
        assert_eq!(
            (bare.path, bare.query, bare.directory),
            (&b""[..], None, &b"http://h"[..])
        );
        assert_eq!(location("http://[::1]:80/x").host, b"[::1]");
        for url in [
            "",
            "h/p",
            "dns:h",
            "http://",
            "http:///p",
            "http://#x",
            "#://",
        ] {
            assert_eq!(Location::of(url.as_bytes()), None, "{url}");
        }
    }
}
