//! Paths of files below the site's root, as bytes, and the one URL each has.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// A path below the root: components joined by `/`, none empty, `.` or `..`, no NUL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SitePath(Vec<u8>);

impl SitePath {
    /// The root itself.
    pub fn root() -> Self {
        Self(Vec::new())
    }

    /// Takes bytes that have the shape of a path below the root.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let bytes = bytes.into();
        let legal =
            |part: &[u8]| !part.is_empty() && part != b"." && part != b".." && !part.contains(&0);
        let whole = bytes.is_empty() || bytes.split(|byte| *byte == b'/').all(legal);
        whole.then_some(Self(bytes))
    }

    /// Reads the path of a URL, without its leading slash; every escape is decoded, once.
    /// A trailing slash is allowed and dropped.
    pub fn from_url_path(url_path: &str) -> Option<Self> {
        let encoded = url_path.trim_start_matches('/');
        let decoded = decode(encoded)?;
        let decoded = decoded.strip_suffix(b"/").unwrap_or(&decoded);
        Self::new(decoded)
    }

    /// The path of the file's URL, without a leading slash: every byte but the unreserved ones escaped.
    pub fn to_url_path(&self) -> String {
        percent_encode(&self.0, RESERVED).to_string()
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as the operating system takes it, relative to the root.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The path below a directory of the file system.
    pub fn below(&self, root: &Path) -> PathBuf {
        root.join(self.as_path())
    }

    /// The components in order.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0
            .split(|byte| *byte == b'/')
            .filter(|part| !part.is_empty())
    }

    /// The last component; empty for the root.
    pub fn name(&self) -> &[u8] {
        self.components().next_back().unwrap_or_default()
    }

    /// The path one component shorter; the root for the root.
    pub fn parent(&self) -> Self {
        let end = self.0.iter().rposition(|byte| *byte == b'/');
        Self(self.0[..end.unwrap_or(0)].to_vec())
    }

    /// The path one component longer.
    pub fn join(&self, name: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(self.0.len() + 1 + name.len());
        bytes.extend_from_slice(&self.0);
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        Self(bytes)
    }

    /// Whether this is the other path or lies below it.
    pub fn is_within(&self, directory: &SitePath) -> bool {
        let rest = self.0.strip_prefix(directory.0.as_slice());
        directory.0.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }

    /// The paths below this one as bytes, if it is a directory, lie from the first up to the second.
    pub(crate) fn bounds_below(&self) -> (Vec<u8>, Vec<u8>) {
        if self.0.is_empty() {
            // Linux knows no path longer than 4,096 bytes.
            return (Vec::new(), vec![0xFF; 4097]);
        }
        let followed_by = |byte: u8| [self.0.as_slice(), &[byte]].concat();
        (followed_by(b'/'), followed_by(b'/' + 1))
    }

    /// The path for people to read.
    pub fn display(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl fmt::Debug for SitePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.display())
    }
}

/// Of entries that each speak of a directory, the one that decides on a path: the longest that holds it.
pub(crate) fn deciding<T>(
    entries: impl IntoIterator<Item = T>,
    directory: impl Fn(&T) -> &SitePath,
    path: &SitePath,
) -> Option<T> {
    let holding = entries
        .into_iter()
        .filter(|entry| path.is_within(directory(entry)));
    holding.max_by_key(|entry| directory(entry).as_bytes().len())
}

/// Decodes percent escapes; a broken one makes the whole undecodable.
fn decode(encoded: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(encoded.len());
    let mut bytes = encoded.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            decoded.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    Some(decoded)
}

/// The bytes of a URL's path that are escaped.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_odd_byte_survives_the_way_to_the_url_and_back() {
        let all: Vec<u8> = (1..=255).filter(|byte| *byte != b'/').collect();
        let path = SitePath::new([b"dir/".as_slice(), &all].concat()).unwrap();

        let url = path.to_url_path();

        assert!(url.is_ascii());
        assert_eq!(SitePath::from_url_path(&url), Some(path));
    }

    #[test]
    fn no_path_leaves_the_root() {
        for url in [
            "../x",
            "a/../b",
            "a//b",
            "a/./b",
            "%2e%2e/x",
            "a%2F..%2Fb",
            "a%00b",
            "..",
            "%",
            "%4",
        ] {
            assert_eq!(SitePath::from_url_path(url), None, "{url}");
        }
    }

    #[test]
    fn within_means_at_a_component() {
        let path = |text: &str| SitePath::new(text).unwrap();
        assert!(path("a/b").is_within(&path("a")));
        assert!(path("a").is_within(&path("a")));
        assert!(path("a").is_within(&SitePath::root()));
        assert!(!path("ab").is_within(&path("a")));
    }
}
