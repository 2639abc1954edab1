//! Which address a request comes from, behind trusted proxies too.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use connection::client_address;

use crate::state::ConsoleState;

/// The address of who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client(pub(crate) IpAddr);

impl Client {
    /// The address of a request with these extensions and headers.
    pub(crate) fn of(extensions: &Extensions, headers: &HeaderMap, state: &ConsoleState) -> Self {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(NOBODY, |ConnectInfo(peer)| peer.ip());
        let trusted = &state.config().trusted_proxies;
        let is_proxy = |address| trusted.contains(&address);
        Self(client_address(peer, headers, is_proxy))
    }
}

impl FromRequestParts<ConsoleState> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &ConsoleState,
    ) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions, &parts.headers, state))
    }
}

/// Stands for an address that cannot be told.
const NOBODY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
