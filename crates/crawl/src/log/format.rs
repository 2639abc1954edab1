//! What the lines of a log mean.

use crate::Error;

/// How a log is read.
#[derive(Debug, Clone)]
pub struct LogFormat {}

impl LogFormat {
    /// The names of the formats that are built in.
    pub const NAMES: [&str; 4] = ["heritrix", "list", "ftp-list", "pmc"];

    /// The `crawl.log` of Heritrix 1 and 3, and the mirror tree that its MirrorWriter made.
    pub fn heritrix() -> Self {
        todo!()
    }

    /// A format that is built in.
    pub fn named(_name: &str) -> Result<Self, Error> {
        todo!()
    }

    /// A format that is described in TOML.
    pub fn parse(_toml: &str) -> Result<Self, Error> {
        todo!()
    }
}
