//! The address for operators.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde::Deserialize;

/// The address for operators.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdminConfig {
    /// Where `/metrics` and `/health` are; nowhere unless told.
    pub listen: Option<SocketAddr>,
    /// The token that `/metrics` asks for; beside it, clients on this machine need none on the console's address.
    pub token: Option<String>,
    /// A file that holds the token.
    pub token_file: Option<PathBuf>,
}

impl AdminConfig {
    /// The token, if one is set. It must be long enough not to be guessed.
    pub fn token(&self) -> anyhow::Result<Option<String>> {
        let token = match (&self.token, &self.token_file) {
            (Some(_), Some(_)) => {
                bail!("admin.token and admin.token_file are both set; leave one out")
            }
            (Some(token), None) => token.clone(),
            (None, Some(file)) => {
                let read = std::fs::read_to_string(file);
                let text = read.with_context(|| {
                    format!("cannot read admin.token_file `{}`", file.display())
                })?;
                text.trim().to_owned()
            }
            (None, None) => return Ok(None),
        };
        let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.len() < SHORTEST_TOKEN || !is_plain {
            bail!(
                "admin.token has to have at least {SHORTEST_TOKEN} visible ASCII characters; make one with: openssl rand -hex 16"
            );
        }
        Ok(Some(token))
    }
}

const SHORTEST_TOKEN: usize = 16;
