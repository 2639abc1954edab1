#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod addresses;
pub mod config;
mod error;
mod follow;
mod ground;
mod index;
pub mod plugin;
mod record;
pub mod records;
mod site;
mod status;
mod view;

pub use access::opening::Refusal;
pub use access::origin::{
    Body, Candidate, Fetched, Look, NotFetched, Origin, Served, SharedOrigin,
};
pub use access::{Access, AreaConfig, Requester, Require, Try, Verdict, htpasswd, network};
pub use addresses::Addresses;
pub use config::{DynamicPolicy, OfferConfig, Symlinks};
pub use error::Error;
pub use ground::facts::Facts;
pub use ground::mounts::Mount;
pub use ground::path::SitePath;
pub use ground::root::{OpenError, Opened, Root, Sighting};
pub use ground::rules::{Decision, Reason, Rules};
pub use ground::{Ground, media_types};
pub use index::Sharing;
pub use record::helpers::{StartThread, Work};
pub use record::{fixity, headers};
pub use site::{Followers, Site, SiteConfig, check_set_plugins, check_sets};
pub use status::explain::{Explainer, Explanation};
pub use status::hidden::{Hidden, HiddenReason};
pub use status::traffic;
pub use status::traffic::Traffic;
pub use status::{DAYS, DayChanges, SiteFacts};
pub use view::{SiteItem, SiteView};
