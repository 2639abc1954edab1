#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod answer;
mod axe;
mod browser;
mod encoding;
mod fixture;
mod ftp_server;
pub mod fuzz;
mod http;
mod httpd;
mod misbehaving;
mod nginx;
mod postgres;
mod program;
mod s3_server;
mod schema;
mod smtp_server;
mod ssh_server;

pub use answer::{Answer, Header};
pub use axe::flaws;
pub use browser::Browser;
pub use encoding::{base64, from_base64, percent_encoded};
pub use fixture::{Fixture, files_below};
pub use ftp_server::{FtpServer, FtpSetup};
pub use http::{Connection, Response, basic, connect_from, fetch, get};
pub use httpd::{Httpd, HttpdSetup, Mpm, mod_oai};
pub use misbehaving::{Fault, Misbehaving, Script};
pub use nginx::Nginx;
pub use postgres::Postgres;
pub use program::{Garner, Server, free_port, wait_until};
pub use s3_server::S3Server;
pub use schema::Schemas;
pub use smtp_server::{SmtpServer, SmtpSetup};
pub use ssh_server::SshServer;
