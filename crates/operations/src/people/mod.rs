//! People: accounts, passwords, sessions and tokens.

pub mod accounts;
mod mailed;
pub mod password;
pub mod secret;
pub mod sessions;
pub mod tokens;
