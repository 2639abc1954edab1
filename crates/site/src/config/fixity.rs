//! Which digests are told.

use serde::Deserialize;

use crate::record::fixity::Algorithm;

/// Which digests are told.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FixityConfig {
    /// Any of md5, sha1 and sha256.
    pub algorithms: Vec<Algorithm>,
}

impl Default for FixityConfig {
    fn default() -> Self {
        Self {
            algorithms: vec![Algorithm::Sha256],
        }
    }
}
