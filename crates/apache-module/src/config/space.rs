//! The URL space of a virtual host: which directories its URLs may come from. It may be too much, for httpd is asked
//! about each file, but must not be too little: what is not in it is never found.

use std::path::{Path, PathBuf};

use site::{Mount, SitePath};

use super::ServerConfig;
use super::aliases::Alias;
use super::user_dirs;

/// The directories that a virtual host's URLs come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Space {
    /// The directory at `/`.
    pub(crate) root: PathBuf,
    /// The directories elsewhere; none lies within another one before it.
    pub(crate) mounts: Vec<Mount>,
}

impl Space {
    /// The space of a server with a document root.
    pub(crate) fn of(config: &ServerConfig, document_root: PathBuf) -> Self {
        let user_dirs = config.user_dirs.as_deref().unwrap_or_default();
        Self::with(
            config,
            document_root,
            user_dirs::mounts(user_dirs, config.users.as_deref()),
        )
    }

    /// The space without the directories of users, which take their time to be found.
    pub(crate) fn without_users(config: &ServerConfig, document_root: PathBuf) -> Self {
        Self::with(config, document_root, Vec::new())
    }

    fn with(config: &ServerConfig, document_root: PathBuf, user_dirs: Vec<Mount>) -> Self {
        let aliases = [&config.location_aliases, &config.aliases, &config.roots];
        let aliases = aliases.into_iter().flatten().filter_map(Alias::mount);
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

    /// Says that a state directory lies in what is served, if it does: what is in it would be offered.
    pub(crate) fn check_state_dir(&self, state_dir: &Path) -> Result<(), String> {
        let canonical_dir = canonical(state_dir);
        let mounts = self.mounts.iter().map(|mount| &mount.path);
        let places = std::iter::once(&self.root).chain(mounts);
        let mut places = places.filter(|place| !place.as_os_str().is_empty());
        match places.find(|place| canonical_dir.starts_with(canonical(place))) {
            None => Ok(()),
            Some(place) => Err(format!(
                "the state directory `{}` lies in `{}`, which is served, so that its files would be offered; name one \
                 that is not served with OaiStateDir",
                state_dir.display(),
                place.display()
            )),
        }
    }

    fn is_free(&self, at: &SitePath) -> bool {
        !self.mounts.iter().any(|mount| at.is_within(&mount.at))
    }
}

/// A path without links, as far as it is there.
fn canonical(path: &Path) -> PathBuf {
    let found = path
        .ancestors()
        .find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
    let Some((ancestor, found)) = found else {
        return path.to_owned();
    };
    match path.strip_prefix(ancestor) {
        Ok(rest) if !rest.as_os_str().is_empty() => found.join(rest),
        _ => found,
    }
}
