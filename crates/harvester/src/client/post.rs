//! Tells a server something. This is no part of harvesting: nothing is repeated and no redirect is followed.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING};

use super::direct::Unsent;
use super::query::base_url;
use super::{Client, Failed, failure};
use crate::error::{Error, ErrorKind};

/// The answer of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The status.
    pub status: u16,
    /// The body, or its beginning.
    pub beginning: Vec<u8>,
}

impl Client {
    /// Sends a body by POST, once, and waits for the answer as long as it is told.
    pub fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<Posted, Error> {
        let target = base_url(url)?;
        // The rest of the URL may be a secret.
        let place = target.origin().ascii_serialization();
        let finally = |failed: Failed| match failed {
            Failed::Finally(error) => error,
            Failed::Inside(host) => Error::usage(self.shared.guard.reason(&host)),
            Failed::Later { reason, .. } => Error::transport(reason),
        };
        self.trust(&target);
        self.check_address(&target).map_err(finally)?;
        let http = &self.shared.http;
        let mut request = http
            .request(Method::POST, &target)
            .header(ACCEPT, "*/*")
            .header(ACCEPT_ENCODING, "identity")
            .body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let exchange = async {
            let mut response = http.send(request, self.options()).await?;
            let mut beginning = Vec::new();
            while beginning.len() < MOST_BYTES
                && let Some(bytes) = response.chunk().await.map_err(Unsent::Other)?
            {
                beginning.extend_from_slice(&bytes);
            }
            beginning.truncate(MOST_BYTES);
            let status = response.status().as_u16();
            Ok(Posted { status, beginning })
        };
        let limited = async { tokio::time::timeout(timeout, exchange).await };
        let Some(answered) = self.shared.driver.wait(limited) else {
            return Err(Error::new(ErrorKind::Stopped));
        };
        let answered = answered
            .map_err(|_| Error::transport(format!("no answer within {} s", timeout.as_secs_f32())));
        let answered = answered
            .and_then(|answer: Result<_, Unsent>| answer.map_err(|error| finally(failure(error))));
        answered.map_err(|error| error.at(&place))
    }
}

const MOST_BYTES: usize = 64 * 1024;
