#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod address;
mod connect;
mod entry;
mod error;
mod fetch;
mod ftp;
mod known_hosts;
mod limits;
mod link;
mod name;
mod netrc;
mod secret;
mod session;
mod sftp;
mod tree;
mod waiting;
mod walk;

pub use access::Access;
pub use address::{Address, Scheme};
pub use error::Error;
pub use fetch::{Fetched, News, Options, fetch};
pub use limits::Limits;
