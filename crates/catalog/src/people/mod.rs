//! People and programs that use the console: accounts, roles, sessions, tokens, and the audit trail.

pub(crate) mod accounts;
pub(crate) mod audit;
pub(crate) mod roles;
pub(crate) mod saved;
pub(crate) mod sessions;
pub(crate) mod tokens;
