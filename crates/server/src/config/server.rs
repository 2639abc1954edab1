//! Where to listen and what to serve.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

/// Where to listen and what to serve.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// The directory of the site.
    pub root: Option<PathBuf>,
    /// The address to answer at.
    pub listen: SocketAddr,
    /// Where the index is kept; beside the site unless told.
    pub data: Option<PathBuf>,
    /// Where the repository answers, as its users see it.
    pub base_url: Option<String>,
    /// The beginning of the URLs of the files, as users see it.
    pub site_url: Option<String>,
    /// The path of the repository on this server.
    pub base_path: String,
    /// The files that are served for a directory.
    pub index_files: Vec<String>,
    /// Whether directories without such a file are listed.
    pub directory_listing: bool,
    /// Networks of reverse proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<String>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            root: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            data: None,
            base_url: None,
            site_url: None,
            base_path: "/modoai".to_owned(),
            index_files: vec!["index.html".to_owned(), "index.htm".to_owned()],
            directory_listing: true,
            trusted_proxies: Vec::new(),
        }
    }
}
