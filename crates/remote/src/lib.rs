#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "ftp", feature = "sftp")),
    allow(unused, unreachable_code, reason = "the other protocol uses the rest")
)]

mod access;
mod address;
mod connect;
mod entry;
mod error;
mod fetch;
#[cfg(feature = "ftp")]
mod ftp;
mod known_hosts;
mod limits;
mod link;
mod name;
mod netrc;
mod secret;
mod session;
#[cfg(feature = "sftp")]
mod sftp;
mod tree;
mod waiting;
mod walk;

pub use access::Access;
pub use address::{Address, Scheme};
pub use error::Error;
pub use fetch::{FetchEvent, Fetched, Options, fetch};
pub use limits::Limits;
