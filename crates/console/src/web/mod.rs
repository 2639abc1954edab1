//! The parts of every page and of every operation of the API: routes with roles, the request, the answer.

pub(super) mod assets;
pub(super) mod client;
pub(super) mod clock;
pub(super) mod cookies;
pub(super) mod dress;
pub(super) mod extract;
pub(super) mod headers;
pub(super) mod host;
pub(super) mod outside;
pub(super) mod problem;
pub(super) mod routes;
pub(super) mod slow;
pub(super) mod stream;
pub(crate) mod watch;
pub(super) mod who;
pub(super) mod whole;
