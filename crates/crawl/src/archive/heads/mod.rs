//! The heads of records: of WARC and ARC, and of the HTTP messages in them.

pub(super) mod arc;
pub(super) mod date;
pub(super) mod fields;
pub(super) mod http;
pub(super) mod warc;
