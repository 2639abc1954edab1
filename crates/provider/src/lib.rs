#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
pub mod assets;
mod description;
mod error;
pub mod html;
mod limits;
pub mod resource_sync;
pub mod robots;
mod verbs;
mod view;

pub use answer::{Outcome, Provider, goes_on, takes_long};
pub use description::Description;
pub use error::Error;
pub use html::Form;
pub use limits::PageLimits;
pub use resource_sync::record_url;
pub use view::{ItemBatch, Listed, Obtained, Portion, Range, Resource, View};
