//! A site that is being served, for those who run it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use site::Site;

use crate::robots;
use crate::router::State;

/// A site that is being served; cheap to clone.
#[derive(Clone)]
pub struct ServedSite {
    pub(crate) state: Arc<State>,
    pub(crate) listening: SocketAddr,
}

impl ServedSite {
    /// The address at which it answers.
    pub fn listening(&self) -> SocketAddr {
        self.listening
    }

    /// The site.
    pub fn site(&self) -> &Site {
        &self.state.site
    }

    /// The name of its repository.
    pub fn name(&self) -> &str {
        &self.state.provider.repository_name
    }

    /// Where its repository answers.
    pub fn base_url(&self) -> &str {
        &self.state.provider.base_url
    }

    /// The lines of a robots.txt that advertise its repository.
    pub fn robots(&self) -> String {
        robots::file(self.base_url(), &self.state.config.robots)
    }

    /// Whether the server answers with these lines where the site has no robots.txt.
    pub fn answers_robots(&self) -> bool {
        self.state.config.robots.advertise && self.state.config.origin.url.is_none()
    }
}

impl fmt::Debug for ServedSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServedSite").field(&self.base_url()).finish()
    }
}
