#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
use bolero as _;

mod buffers;
pub mod check;
mod client;
mod error;
#[cfg(test)]
mod fuzz;
mod harvest;
mod keys;
pub mod lists;
mod quirk;
mod read;
mod record;
mod robots;
pub mod unpack;

pub use client::{
    AddressPolicy, Client, ClientEvent, ClientOptions, Credentials, Download, Exchange, Headers,
    Listener, Narrowing, Network, NotANetwork, Pace, Posted, ProbeMethod, Probed, RealPace,
    Records, Repository, Revisited, Stop, Traffic, Unreached, Validators, Waiting, base_url_of,
    canonical_base_url,
};
pub use error::{Error, ErrorKind, Incompatibility, Misbehaviour};
pub use harvest::{Harvest, Method, Outcome, PageEnd, Plan, ResumeState, Step};
pub use quirk::{Quirk, Quirks};
pub use read::{Leniency, ReadRules};
pub use record::{Header, Identity, LeftOut, MetadataFormat, Record, Set, Token};
pub use robots::Robots;
