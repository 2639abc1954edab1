//! Connections without a proxy and without encryption, made with what lies underneath the HTTP library: only there can a
//! socket be told how much it may take in, and a connection how much it is to read at once.

use std::time::Duration;

use http::HeaderMap;
use http::header::Entry;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use reqwest::{Body, Request, Response};

use super::ClientOptions;
use super::guard::{Guard, is_this_machine};

/// Asks servers straight.
#[derive(Debug)]
pub(super) struct Direct {
    far: Client<HttpConnector<Guard>, Body>,
    /// For servers on this very machine.
    near: Client<HttpConnector<Guard>, Body>,
    /// The headers of every request.
    headers: HeaderMap,
}

impl Direct {
    pub(super) fn new(options: &ClientOptions, headers: HeaderMap, guard: &Guard) -> Self {
        Self {
            far: client(options, guard, None),
            near: client(options, guard, Some(NEAR)),
            headers,
        }
    }

    /// Sends a request; the answer is here when its head is.
    pub(super) async fn send(&self, request: Request) -> Result<Response, Unsent> {
        let client = match is_this_machine(request.url()) {
            true => &self.near,
            false => &self.far,
        };
        let mut request = http::Request::<Body>::try_from(request).map_err(Unsent::Request)?;
        for (name, value) in &self.headers {
            if let Entry::Vacant(vacant) = request.headers_mut().entry(name) {
                vacant.insert(value.clone());
            }
        }
        let response = client.request(request).await.map_err(Unsent::Direct)?;
        Ok(Response::from(response.map(Body::wrap)))
    }
}

fn client(
    options: &ClientOptions,
    guard: &Guard,
    receive: Option<usize>,
) -> Client<HttpConnector<Guard>, Body> {
    let mut connector = HttpConnector::new_with_resolver(guard.clone());
    connector.set_connect_timeout(Some(options.connect_timeout));
    connector.set_nodelay(true);
    connector.set_recv_buffer_size(receive);
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(options.connections.max(options.resource_connections).max(1))
        .http1_max_buf_size(MOST_READ)
        .build(connector)
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unsent {
    #[error("the request cannot be made")]
    Request(#[source] reqwest::Error),
    #[error(transparent)]
    Direct(Error),
    #[error(transparent)]
    Other(reqwest::Error),
    #[error(transparent)]
    Unusable(crate::Error),
    #[error("the server was silent for {} s", .0.as_secs_f32())]
    Silent(Duration),
}

impl Unsent {
    /// Whether the server was not reached at all.
    pub(super) fn is_connect(&self) -> bool {
        match self {
            Self::Direct(error) => error.is_connect(),
            Self::Other(error) => error.is_connect(),
            Self::Request(_) | Self::Unusable(_) | Self::Silent(_) => false,
        }
    }
}

/// As long a connection is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(90);
/// At most so many bytes are read at once. Larger blocks would be new memory each time, which the system has to provide.
const MOST_READ: usize = 120 << 10;
/// The receive buffer of a socket that leads to this machine. There a segment is as long as what is usual at first, and a server
/// that sends whole segments only, as nginx does, would wait for an acknowledgement that is put off for 40 ms.
const NEAR: usize = 4 << 20;
