//! The HTTP library underneath, with what it is told about ourselves, proxies and certificates.

use std::sync::{Arc, OnceLock};

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, FROM, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use reqwest::{
    Certificate, Client, ClientBuilder, Method, Proxy, RequestBuilder, Response, Url, redirect,
};

use super::direct::{Direct, Unsent};
use super::guard::Guard;
use super::{ClientOptions, chain};
use crate::Error;

/// Three ways to a server: straight, through a proxy, and encrypted.
///
/// The last is made when it is first needed: it loads the certificates of the system, which takes
/// longer than many a harvest.
#[derive(Debug)]
pub(super) struct Http {
    direct: Direct,
    plain: Client,
    encrypted: OnceLock<Client>,
    proxy: Option<Url>,
    guard: Guard,
}

impl Http {
    pub(super) fn new(
        options: &ClientOptions,
        proxy: Option<Url>,
        guard: Guard,
    ) -> Result<Self, Error> {
        let plain = builder(options, proxy.as_ref(), &guard)?.tls_certs_only([]);
        let http = Self {
            direct: Direct::new(options, headers(options)?, &guard),
            plain: plain.build().map_err(|error| unusable(&error))?,
            encrypted: OnceLock::new(),
            proxy,
            guard,
        };
        // A fault of the file should be known now.
        if options.ca_file.is_some() {
            http.encrypted(options)?;
        }
        Ok(http)
    }

    /// A request to be filled in and sent.
    pub(super) fn request(&self, method: Method, url: &Url) -> RequestBuilder {
        self.plain.request(method, url.clone())
    }

    /// Sends a request, by the way that leads to its URL.
    pub(super) async fn send(
        &self,
        request: RequestBuilder,
        options: &ClientOptions,
    ) -> Result<Response, Unsent> {
        let request = request.build().map_err(Unsent::Request)?;
        let sent = async {
            match self.client(request.url(), options) {
                None => self.direct.send(request).await,
                Some(client) => client?.execute(request).await.map_err(Unsent::Other),
            }
        };
        let longest = options.connect_timeout + options.read_timeout;
        let sent = tokio::time::timeout(longest, sent).await;
        sent.unwrap_or(Err(Unsent::Silent(longest)))
    }

    /// The client for a URL, unless the way is straight.
    fn client(&self, url: &Url, options: &ClientOptions) -> Option<Result<&Client, Unsent>> {
        let through = self.proxy.as_ref().map(Url::scheme);
        match (url.scheme(), through) {
            ("http", None) => None,
            ("http", Some("http")) => Some(Ok(&self.plain)),
            _ => Some(self.encrypted(options).map_err(Unsent::Unusable)),
        }
    }

    fn encrypted(&self, options: &ClientOptions) -> Result<&Client, Error> {
        if let Some(client) = self.encrypted.get() {
            return Ok(client);
        }
        let mut builder = builder(options, self.proxy.as_ref(), &self.guard)?;
        if options.ca_file.is_some() {
            builder = builder.tls_certs_merge(certificates(options)?);
        }
        let client = builder.build().map_err(|error| unusable(&error))?;
        Ok(self.encrypted.get_or_init(|| client))
    }
}

fn builder(
    options: &ClientOptions,
    proxy: Option<&Url>,
    guard: &Guard,
) -> Result<ClientBuilder, Error> {
    let builder = Client::builder()
        .default_headers(headers(options)?)
        .redirect(redirect::Policy::none())
        .dns_resolver(Arc::new(guard.clone()))
        .connect_timeout(options.connect_timeout)
        .pool_max_idle_per_host(options.connections.max(options.resource_connections).max(1))
        .tcp_nodelay(true);
    Ok(match proxy {
        Some(proxy) => builder.proxy(Proxy::all(proxy.clone()).map_err(|error| unusable(&error))?),
        None => builder.no_proxy(),
    })
}

fn headers(options: &ClientOptions) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("text/xml, application/xml, */*;q=0.5"),
    );
    // Decoded here and not by the library, because some compress without saying so.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, zstd"));
    let user_agent = HeaderValue::from_str(&options.user_agent).map_err(|_| {
        Error::usage(format!(
            "`{}` cannot be sent as User-Agent",
            options.user_agent
        ))
    })?;
    headers.insert(USER_AGENT, user_agent);
    if let Some(from) = &options.from {
        let from = HeaderValue::from_str(from)
            .map_err(|_| Error::usage(format!("`{from}` cannot be sent as From")))?;
        headers.insert(FROM, from);
    }
    for header in &options.headers {
        let wrong = || {
            Error::usage(format!(
                "`{header}` is not a header; write it as Name: value"
            ))
        };
        let (name, value) = header.split_once(':').ok_or_else(wrong)?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let value = HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
        headers.append(name, value);
    }
    Ok(headers)
}

fn certificates(options: &ClientOptions) -> Result<Vec<Certificate>, Error> {
    let mut certificates = Vec::new();
    if let Some(path) = &options.ca_file {
        let name = format!("the CA file {}", path.display());
        let pem = std::fs::read(path)
            .map_err(|error| Error::usage(format!("{name} cannot be used: {error}")))?;
        certificates.extend(bundle(&name, &pem)?);
    }
    if let Some(pem) = &options.certificates {
        certificates.extend(bundle("the certificates", pem.as_bytes())?);
    }
    Ok(certificates)
}

/// The certificates of a bundle in PEM, which `name` names in errors.
fn bundle(name: &str, pem: &[u8]) -> Result<Vec<Certificate>, Error> {
    let unusable = |reason: String| Error::usage(format!("{name} cannot be used: {reason}"));
    let certificates =
        Certificate::from_pem_bundle(pem).map_err(|error| unusable(chain(&error)))?;
    match certificates.is_empty() {
        true => Err(unusable("it holds no certificate".to_owned())),
        false => Ok(certificates),
    }
}

fn unusable(error: &reqwest::Error) -> Error {
    Error::usage(format!("no client: {}", chain(error)))
}
