#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod access;
pub mod config;
mod error;
pub mod fixity;
mod ground;
pub mod headers;
mod horizon;
pub mod htpasswd;
pub mod index;
mod indexer;
pub mod media_types;
mod origin;
mod path;
pub mod plugin;
mod record;
mod root;
mod rules;
mod site;
mod sweep;
mod view;
mod walk;
mod watch;

pub use access::{Access, AreaConfig, Requester, Verdict};
pub use error::Error;
pub use ground::Ground;
pub use horizon::Horizon;
pub use origin::{Candidate, Fetched, Look, Origin};
pub use path::SitePath;
pub use root::{Facts, OpenError, Opened, Root, Sighting};
pub use rules::{Decision, DynamicPolicy, OfferConfig, Reason, Rules, Symlinks};
pub use site::{Followers, Site, SiteConfig};
pub use view::{SiteItem, SiteView};
pub use walk::{Found, Walk};
