//! The console as a whole: made from what is held, asked for its link, served.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit};
use axum::http::{Request, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use connection::{Limits, RequestBody};
use flows::Holdings;
use operations::secret;
use tokio::net::TcpListener;
use tower_http::csrf::CsrfLayer;
use tower_http::timeout::TimeoutLayer;
use tower_service::Service as _;

use crate::config::ConsoleConfig;
use crate::dress::dress;
use crate::headers::secure;
use crate::outside::Outside;
use crate::router;
use crate::routes::Route;
use crate::slow::slow;
use crate::state::ConsoleState;
use crate::watch::Watch;
use crate::whole::whole;

/// The console and the API.
#[derive(Debug)]
pub struct Console {
    state: ConsoleState,
    router: Router,
    table: Vec<Route>,
    watch: Option<Watch>,
}

impl Console {
    /// A console for what is held, which asks for people only what is public.
    pub fn new(holdings: Arc<Holdings>, config: ConsoleConfig) -> anyhow::Result<Self> {
        Self::with_outside(holdings, config, Outside::default())
    }

    /// A console for what is held, and how it asks for people.
    pub fn with_outside(
        holdings: Arc<Holdings>,
        config: ConsoleConfig,
        outside: Outside,
    ) -> anyhow::Result<Self> {
        config.check()?;
        let csrf = cross_site_protection(&config)?;
        let (router, table) = router::routes().into_parts();
        let state = ConsoleState::new(holdings, config, outside);
        // The last is the first to see a request.
        let router = router
            .layer(from_fn(slow))
            .layer(from_fn(whole))
            .layer(DefaultBodyLimit::max(LONGEST_BODY))
            .layer(csrf)
            .layer(TimeoutLayer::with_status_code(
                StatusCode::GATEWAY_TIMEOUT,
                LONGEST_REQUEST,
            ))
            .layer(from_fn_with_state(state.clone(), dress))
            .layer(from_fn(secure))
            .with_state(state.clone());
        Ok(Self {
            state,
            router,
            table,
            watch: None,
        })
    }

    /// Answers monitoring as well, on the same address.
    #[must_use]
    pub fn watched(self, watch: Watch) -> Self {
        Self {
            watch: Some(watch),
            ..self
        }
    }

    /// The one-time link that makes the first account, as long as there is none. A link that was given before is void.
    pub async fn setup_link(&self, listening: SocketAddr) -> anyhow::Result<Option<String>> {
        if !self.state.catalog().accounts().await?.is_empty() {
            return Ok(None);
        }
        let token = secret::random()?;
        self.state.set_setup(Some(secret::digest(&token)));
        let origin = self.state.config().public_origin();
        let origin = origin.unwrap_or_else(|| format!("http://{}", reachable(listening)));
        Ok(Some(format!("{origin}/setup/{token}")))
    }

    /// A warning about the address it listens on, if there is one.
    pub fn warning(&self, listening: SocketAddr) -> Option<String> {
        self.state.config().warning(listening)
    }

    /// Every route and the role that it needs.
    pub fn routes(&self) -> &[Route] {
        &self.table
    }

    /// Answers a request without a connection, for tests.
    pub fn service(&self) -> Router {
        self.router.clone()
    }

    /// Serves until `stop` is ready, then lets open requests end.
    pub async fn serve(&self, listener: TcpListener, stop: impl Future<Output = ()>) {
        // Read now, so that the first who adds a repository can choose from it.
        self.state.friends().known(self.state.outside());
        let config = self.state.config();
        let limits = Limits {
            connections: config.connections,
            per_client: config.connections_per_client,
            stall: Duration::from_secs(config.stall_seconds),
            head: LONGEST_HEAD,
            last_words: LAST_WORDS,
        };
        let is_proxy = |address: IpAddr| config.trusted_proxies.contains(&address.to_canonical());
        let (router, watch) = (self.router.clone(), self.watch.clone());
        let handler = move |request: Request<RequestBody>, peer: SocketAddr| {
            let (mut router, watch) = (router.clone(), watch.clone());
            async move {
                if let Some(watch) = &watch
                    && let Some(answer) = watch.answer(&request, peer).await
                {
                    return answer;
                }
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(ConnectInfo(peer));
                let answer = router.call(request).await;
                answer.unwrap_or_else(|never| match never {})
            }
        };
        connection::serve(listener, limits, is_proxy, handler, stop).await;
    }
}

/// Changes that another site sends are refused, by what browsers say of where a request comes from.
fn cross_site_protection(config: &ConsoleConfig) -> anyhow::Result<CsrfLayer> {
    let mut layer = CsrfLayer::new();
    if let Some(origin) = config.public_origin() {
        layer = layer.add_trusted_origin(origin)?;
    }
    Ok(layer)
}

/// An address that a browser on this machine can use.
fn reachable(listening: SocketAddr) -> SocketAddr {
    let mut address = listening;
    if address.ip().is_unspecified() {
        let loopback = match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        address.set_ip(loopback);
    }
    address
}

const LONGEST_BODY: usize = 2 * 1024 * 1024;
/// Some handlers ask a repository, which may take its time.
const LONGEST_REQUEST: Duration = Duration::from_secs(120);
/// How long open requests may take after the order to stop.
const LAST_WORDS: Duration = Duration::from_secs(5);
const LONGEST_HEAD: usize = 64 * 1024;
