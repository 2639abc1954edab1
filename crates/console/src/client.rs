//! Which address a request comes from, behind trusted proxies too.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use connection::client_address;

use crate::problem::Problem;
use crate::state::ConsoleState;

/// The address of who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client(pub(crate) IpAddr);

impl FromRequestParts<ConsoleState> for Client {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ConsoleState) -> Result<Self, Problem> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(NOBODY, |ConnectInfo(peer)| peer.ip());
        let trusted = &state.config().trusted_proxies;
        let is_proxy = |address| trusted.contains(&address);
        Ok(Self(client_address(peer, &parts.headers, is_proxy)))
    }
}

/// Stands for an address that cannot be told.
const NOBODY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
