//! A file or directory as the server describes it.

/// One name in a directory of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its bytes as they came.
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) size: Option<u64>,
    /// When it was changed, in seconds since 1970.
    pub(crate) modified: Option<i64>,
    /// The server's unique name of a directory, if it has one.
    pub(crate) unique: Option<Vec<u8>>,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    /// A device, a pipe, or something that the server has no word for.
    Other,
}

/// A path on a server with something below it.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = directory.to_vec();
    if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
