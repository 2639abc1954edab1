//! How a client is known: passwords, its certificate, and headers that not everybody sends.

pub(super) mod certificate;
pub(super) mod keys;
pub(super) mod passwords;
