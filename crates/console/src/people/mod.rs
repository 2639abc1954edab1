//! People: login, accounts, tokens and the audit trail.

pub(crate) mod account;
pub(crate) mod accounts;
pub(crate) mod api;
pub(crate) mod audit;
pub(crate) mod link;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod me;
mod session;
pub(crate) mod setup;
pub(crate) mod tokens;
