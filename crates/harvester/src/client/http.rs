//! The HTTP library underneath, with what it is told about ourselves, proxies and certificates.

use std::sync::{Arc, OnceLock};

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, FROM, HeaderMap, HeaderValue};
use reqwest::{Certificate, Client, ClientBuilder, Proxy, Url, redirect};

use super::guard::Guard;
use super::{ClientOptions, chain};
use crate::Error;

/// Two clients of the library, for plain and for encrypted connections.
///
/// The second is made when it is first needed: it loads the certificates of the system, which takes
/// longer than many a harvest.
#[derive(Debug)]
pub(super) struct Http {
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
            plain: plain.build().map_err(|error| unusable(&error))?,
            encrypted: OnceLock::new(),
            proxy,
            guard,
        };
        // What is wrong with the file should be known now.
        if options.ca_file.is_some() {
            http.encrypted(options)?;
        }
        Ok(http)
    }

    /// The client for a URL.
    pub(super) fn client(&self, url: &Url, options: &ClientOptions) -> Result<&Client, Error> {
        let through = self.proxy.as_ref().map(Url::scheme);
        if url.scheme() == "http" && through != Some("https") {
            return Ok(&self.plain);
        }
        self.encrypted(options)
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
        .user_agent(&options.user_agent)
        .default_headers(headers(options)?)
        .redirect(redirect::Policy::none())
        .dns_resolver(Arc::new(guard.clone()))
        .connect_timeout(options.connect_timeout)
        .read_timeout(options.read_timeout)
        .pool_max_idle_per_host(options.connections.max(1))
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
    if let Some(from) = &options.from {
        let from = HeaderValue::from_str(from)
            .map_err(|_| Error::usage(format!("`{from}` cannot be sent as From")))?;
        headers.insert(FROM, from);
    }
    Ok(headers)
}

fn certificates(options: &ClientOptions) -> Result<Vec<Certificate>, Error> {
    let Some(path) = &options.ca_file else {
        return Ok(Vec::new());
    };
    let unusable = |reason: String| {
        let path = path.display();
        Error::usage(format!("the CA file {path} cannot be used: {reason}"))
    };
    let pem = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let certificates =
        Certificate::from_pem_bundle(&pem).map_err(|error| unusable(chain(&error)))?;
    match certificates.is_empty() {
        true => Err(unusable("it holds no certificate".to_owned())),
        false => Ok(certificates),
    }
}

fn unusable(error: &reqwest::Error) -> Error {
    Error::usage(format!("no client: {}", chain(error)))
}
