//! Where a requester reaches a site and its repository. A web server may answer under several names; whoever
//! asks under one of them is told URLs under the same.

use crate::SitePath;

/// Where a requester reaches a site and its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The beginning of the URLs of the site's files, with a slash at the end.
    pub site_url: String,
    /// Where the repository answers.
    pub base_url: String,
}

impl Addresses {
    /// The URL of a file, which is also the identifier of its item.
    pub fn url_of(&self, path: &SitePath) -> String {
        format!("{}{}", self.site_url, path.to_url_path())
    }

    /// The path of an identifier, if it is written in the one canonical way.
    pub fn path_of(&self, identifier: &str) -> Option<SitePath> {
        let url_path = identifier.strip_prefix(&self.site_url)?;
        let path = SitePath::from_url_path(url_path)?;
        (path.to_url_path() == url_path).then_some(path)
    }
}
