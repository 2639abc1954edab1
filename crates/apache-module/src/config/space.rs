//! The URL space of a virtual host: which directories its URLs may come from. It may be too much, for httpd is asked
//! about each file, but must not be too little: what is not in it is never found.

use std::path::PathBuf;

use site::{Mount, SitePath};

use super::ServerConfig;
use super::aliases::Alias;
use super::user_dirs;

/// The directories that a virtual host's URLs come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Space {
    /// What is at `/`.
    pub(crate) root: PathBuf,
    /// What is elsewhere; none lies within another one before it.
    pub(crate) mounts: Vec<Mount>,
}

impl Space {
    /// The space of a server with a document root.
    pub(crate) fn of(config: &ServerConfig, document_root: PathBuf) -> Self {
        let aliases = [&config.location_aliases, &config.aliases, &config.roots];
        let aliases = aliases.into_iter().flatten().filter_map(Alias::mount);
        let user_dirs = config.user_dirs.as_deref().unwrap_or_default();
        let user_dirs = user_dirs::mounts(user_dirs, config.users.as_deref());
        let mut space = Self {
            root: document_root,
            mounts: Vec::new(),
        };
        let mut root_taken = false;
        for mount in aliases.chain(user_dirs) {
            if mount.at == SitePath::root() {
                // An alias of everything leaves nothing to those behind it.
                if !root_taken {
                    space.root = mount.path;
                    root_taken = true;
                }
            } else if !root_taken && space.is_free(&mount.at) {
                space.mounts.push(mount);
            }
        }
        space
    }

    fn is_free(&self, at: &SitePath) -> bool {
        !self.mounts.iter().any(|mount| at.is_within(&mount.at))
    }
}
