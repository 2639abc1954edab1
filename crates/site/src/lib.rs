#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod addresses;
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
mod notes;
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
pub use addresses::Addresses;
pub use config::{DynamicPolicy, OfferConfig, Symlinks};
pub use error::Error;
pub use facts::Facts;
pub use ground::Ground;
pub use opening::Refusal;
pub use origin::{Body, Candidate, Fetched, Look, NotFetched, Origin, Served, SharedOrigin};
pub use path::SitePath;
pub use root::{OpenError, Opened, Root, Sighting};
pub use rules::{Decision, Reason, Rules};
pub use site::{Followers, Site, SiteConfig};
pub use view::{SiteItem, SiteView};
