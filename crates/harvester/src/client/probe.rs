//! Asks whether something is at a URL, once: nothing is repeated and no redirect is followed. The URL may come from
//! anybody, so that only addresses are asked which the policy admits.

use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, LOCATION, RETRY_AFTER};
use reqwest::{Method, Url};

use super::direct::Unsent;
use super::{Client, Failed, failure, retry};

/// How a URL is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeMethod {
    /// For its head.
    Head,
    /// For its body, of which so many bytes are read.
    Get(usize),
}

/// An answer to a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// The status.
    pub status: u16,
    /// Where a redirect leads; `None` if the answer is none, or leads nowhere.
    pub location: Option<String>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// The beginning of the body.
    pub beginning: Vec<u8>,
}

/// Why there was no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreached {
    /// It is no URL of the web.
    #[error("it is no URL of the web")]
    NotTheWeb,
    /// It leads to an address that may not be asked.
    #[error("{0}")]
    Inside(String),
    /// The name of the host leads to no address.
    #[error("the host `{0}` does not exist")]
    NoHost(String),
    /// Nothing listens at the address.
    #[error("the connection was refused")]
    Refused,
    /// There was no answer in time.
    #[error("no answer within {} s", .0.as_secs())]
    Late(Duration),
    /// Something else went wrong on the way.
    #[error("{0}")]
    Broken(String),
    /// The client was told to stop.
    #[error("stopped")]
    Stopped,
}

impl Client {
    /// Asks for a URL once.
    pub fn probe(
        &self,
        method: ProbeMethod,
        url: &str,
        timeout: Duration,
    ) -> Result<Probed, Unreached> {
        let target = Url::parse(url).map_err(|_| Unreached::NotTheWeb)?;
        if !matches!(target.scheme(), "http" | "https") {
            return Err(Unreached::NotTheWeb);
        }
        let reason = |host: &str| Unreached::Inside(self.shared.guard.reason(host));
        let unsent = |failed: Failed| match failed {
            Failed::Inside(host) => reason(&host),
            Failed::Finally(error) => Unreached::Broken(error.to_string()),
            Failed::Later { reason, .. } => Unreached::Broken(reason),
        };
        self.check_address(&target).map_err(unsent)?;
        self.check_name(&target)?;
        let (http, (method, most)) = (&self.shared.http, method.parts());
        let request = http
            .request(method, &target)
            .header(ACCEPT, "*/*")
            .header(ACCEPT_ENCODING, "identity");
        let exchange = async {
            let mut response = http.send(request, self.options()).await?;
            let mut beginning = Vec::new();
            while beginning.len() < most
                && let Some(bytes) = response.chunk().await.map_err(Unsent::Other)?
            {
                beginning.extend_from_slice(&bytes);
            }
            beginning.truncate(most);
            Ok((
                response.status().as_u16(),
                response.headers().clone(),
                beginning,
            ))
        };
        let limited = async { tokio::time::timeout(timeout, exchange).await };
        let answered = self.shared.driver.wait(limited).ok_or(Unreached::Stopped)?;
        let answered = answered.map_err(|_| Unreached::Late(timeout))?;
        let (status, headers, beginning) = answered.map_err(|error: Unsent| match &error {
            Unsent::Silent(longest) => Unreached::Late(*longest),
            error if is_refused(error) => Unreached::Refused,
            _ => unsent(failure(error)),
        })?;
        let location = headers
            .get(LOCATION)
            .filter(|_| (300..400).contains(&status));
        let location = location.and_then(|location| {
            let location = String::from_utf8_lossy(location.as_bytes());
            target.join(&location).ok().map(String::from)
        });
        let asked = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let now = self.options().pace.now();
        Ok(Probed {
            status,
            location,
            retry_after: asked.and_then(|value| retry::retry_after(value, now)),
            beginning,
        })
    }

    /// Whether the name of a host leads anywhere. A proxy looks it up by itself.
    fn check_name(&self, url: &Url) -> Result<(), Unreached> {
        let name = url.host_str().unwrap_or_default();
        if self.options().proxy.is_some() || name.starts_with('[') {
            return Ok(());
        }
        let look_up = tokio::net::lookup_host((name, 0));
        let found = self.shared.driver.wait(look_up).ok_or(Unreached::Stopped)?;
        match found.is_ok_and(|mut found| found.next().is_some()) {
            true => Ok(()),
            false => Err(Unreached::NoHost(name.to_owned())),
        }
    }
}

impl ProbeMethod {
    fn parts(self) -> (Method, usize) {
        match self {
            Self::Head => (Method::HEAD, 0),
            Self::Get(most) => (Method::GET, most),
        }
    }
}

fn is_refused(error: &Unsent) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        let io = cause.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        source = cause.source();
    }
    false
}
