//! Files fetched from real servers, and from one that means harm. One line per file on what belongs there.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

/// Shared by the tests.
mod common;
/// A real FTP server, encrypted or not, poor or fickle.
mod ftp;
/// A server that does what no honest one does.
mod hostile;
/// A real SSH server.
mod sftp;
