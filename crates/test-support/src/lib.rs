#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod answer;
mod fixture;
mod http;
mod nginx;
mod program;
mod schema;

pub use answer::{Answer, Header};
pub use fixture::Fixture;
pub use http::{Connection, Response, base64, basic, fetch, get};
pub use nginx::Nginx;
pub use program::{Garner, Server, free_port, wait_until};
pub use schema::Schemas;
