#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod areas;
pub mod config;
mod error;
mod facts;
pub mod fixity;
mod ground;
pub mod headers;
mod horizon;
pub mod htpasswd;
mod index;
mod indexer;
pub mod media_types;
pub mod network;
mod opening;
mod origin;
mod password_file;
mod path;
pub mod plugin;
mod record;
mod root;
mod rules;
mod scan;
mod site;
mod stop;
mod sweep;
mod view;
mod walk;
mod watch;

pub use access::{Access, AreaConfig, Requester, Require, Verdict};
pub use config::{DynamicPolicy, OfferConfig, Symlinks};
pub use error::Error;
pub use facts::Facts;
pub use ground::Ground;
pub use index::Sharing;
pub use opening::Refusal;
pub use origin::{Candidate, Fetched, Look, Origin};
pub use path::SitePath;
pub use root::{OpenError, Opened, Root, Sighting};
pub use rules::{Decision, Reason, Rules};
pub use site::{Followers, Site, SiteConfig};
pub use view::{SiteItem, SiteView};
