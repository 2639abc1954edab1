//! The web server that garner stands beside: each candidate is confirmed by asking it.
//!
//! A candidate counts only if a GET with the requester's own credentials returns that very file: small files
//! are compared byte for byte, larger ones by size, date and their first part. So aliases, rewrites and
//! cover-ups of the other server hold here too.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, COOKIE, HOST, LAST_MODIFIED, RANGE,
};
use http::{HeaderMap, Method, StatusCode};
use reqwest::{Client, Response};
use site::{Candidate, Facts, Fetched, Look, Origin, Requester, Root, SitePath, Symlinks};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::config::OriginConfig;

/// As much of a file is compared byte for byte.
const COMPARED: u64 = 64 * 1024;
/// The most answers that are remembered.
const MOST_REMEMBERED: usize = 50_000;
/// What concerns one connection only is no property of the resource (RFC 9110, 7.6.1).
const HOP_BY_HOP: [&str; 6] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// A web server reached over HTTP.
#[derive(Debug)]
pub struct HttpOrigin {
    asker: Asker,
    root: Root,
    runtime: Handle,
    connections: usize,
    remember: Duration,
    remembered: Mutex<HashMap<Key, (Instant, Look)>>,
    hasher: RandomState,
}

/// What is cloned into each request.
#[derive(Debug, Clone)]
struct Asker {
    client: Client,
    url: String,
    /// The name the site goes by, if it is not that of the URL.
    host: Option<String>,
}

/// Who asked for what: the credentials go in as a keyed hash.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    requester: u64,
    path: SitePath,
    mark: Option<i64>,
}

/// Why a question got no answer.
enum Unanswered {
    /// The server is not there, or asks to come back later.
    Server(String),
    /// This one answer was broken.
    Resource(String),
}

impl HttpOrigin {
    /// Makes an origin; nothing is asked yet. Must be called within a runtime.
    pub fn new(
        url: &str,
        site_url: &str,
        root: Root,
        config: &OriginConfig,
    ) -> anyhow::Result<Self> {
        // Fails only if it was called before, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(config.timeout_seconds))
            .timeout(Duration::from_secs(config.timeout_seconds))
            .pool_max_idle_per_host(config.connections.max(1))
            .user_agent(site::headers::SERVER)
            .no_proxy()
            .build()
            .context("the client for the origin cannot be made")?;
        let url = format!("{}/", url.trim_end_matches('/'));
        if reqwest::Url::parse(&url).is_err() {
            bail!("the origin `{url}` is not a URL");
        }
        let host = (authority(&url) != authority(site_url)).then(|| authority(site_url).to_owned());
        Ok(Self {
            asker: Asker { client, url, host },
            root,
            runtime: Handle::current(),
            connections: config.connections.max(1),
            remember: Duration::from_secs(config.cache_seconds),
            remembered: Mutex::default(),
            hasher: RandomState::new(),
        })
    }

    fn key(&self, requester: &Requester, candidate: &Candidate) -> Key {
        let who = (
            &requester.authorization,
            &requester.cookie,
            requester.address,
        );
        Key {
            requester: self.hasher.hash_one(who),
            path: candidate.path.clone(),
            mark: candidate.facts.map(|facts| facts.mark),
        }
    }

    fn remembered(&self) -> MutexGuard<'_, HashMap<Key, (Instant, Look)>> {
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn recall(&self, key: &Key) -> Option<Look> {
        let remembered = self.remembered();
        let (at, look) = remembered.get(key)?;
        (at.elapsed() < self.remember).then(|| look.clone())
    }

    fn keep(&self, key: Key, look: &Look) {
        let mut remembered = self.remembered();
        if remembered.len() >= MOST_REMEMBERED {
            remembered.retain(|_, (at, _)| at.elapsed() < self.remember);
        }
        if remembered.len() < MOST_REMEMBERED {
            remembered.insert(key, (Instant::now(), look.clone()));
        }
    }

    /// The first part of the local file, to compare with.
    fn first_part(&self, candidate: &Candidate) -> Option<Vec<u8>> {
        let opened = self.root.open_file(&candidate.path, Symlinks::All).ok()?;
        let mut part = Vec::new();
        opened.file.take(COMPARED).read_to_end(&mut part).ok()?;
        Some(part)
    }
}

impl Origin for HttpOrigin {
    fn look(&self, requester: &Requester, candidates: &[Candidate]) -> Result<Vec<Look>, String> {
        let keys: Vec<_> = candidates
            .iter()
            .map(|candidate| self.key(requester, candidate))
            .collect();
        let mut looks: Vec<_> = keys.iter().map(|key| self.recall(key)).collect();
        let open: Vec<usize> = (0..looks.len()).filter(|at| looks[*at].is_none()).collect();
        self.runtime.block_on(async {
            let mut asking = JoinSet::new();
            let mut open = open.into_iter();
            loop {
                while asking.len() < self.connections
                    && let Some(at) = open.next()
                {
                    let (asker, requester, candidate) = (
                        self.asker.clone(),
                        requester.clone(),
                        candidates[at].clone(),
                    );
                    let part = candidate.facts.and_then(|_| self.first_part(&candidate));
                    asking
                        .spawn(async move { (at, asker.look(&requester, &candidate, part).await) });
                }
                let Some(answered) = asking.join_next().await else {
                    return Ok(());
                };
                let (at, answer) = answered.map_err(|error| error.to_string())?;
                let look = match answer {
                    Ok(look) => look,
                    Err(Unanswered::Resource(reason)) => Look::NotServed(reason),
                    Err(Unanswered::Server(reason)) => return Err(self.asker.unreachable(&reason)),
                };
                self.keep(keys[at].clone(), &look);
                looks[at] = Some(look);
            }
        })?;
        Ok(looks.into_iter().flatten().collect())
    }

    fn fetch(&self, requester: &Requester, path: &SitePath, limit: u64) -> Result<Fetched, String> {
        self.runtime.block_on(async {
            let answered = self.asker.ask(Method::GET, requester, path, None).await;
            let response = match answered {
                Ok(response) => response,
                Err(Unanswered::Server(reason) | Unanswered::Resource(reason)) => {
                    return Err(reason);
                }
            };
            if response.status() != StatusCode::OK {
                return Err(format!("the server answers {}", response.status()));
            }
            let headers = shown(response.headers());
            let body = match read(response, limit).await {
                Ok(body) => body,
                Err(Unanswered::Server(reason) | Unanswered::Resource(reason)) => {
                    return Err(reason);
                }
            };
            Ok(Fetched { headers, body })
        })
    }
}

impl Asker {
    async fn look(
        &self,
        requester: &Requester,
        candidate: &Candidate,
        part: Option<Vec<u8>>,
    ) -> Result<Look, Unanswered> {
        let Some(facts) = &candidate.facts else {
            let response = self
                .ask(Method::HEAD, requester, &candidate.path, None)
                .await?;
            return Ok(judge(&response));
        };
        let Some(part) = part else {
            return Ok(Look::NotServed("the file cannot be read here".to_owned()));
        };
        if facts.size <= COMPARED {
            return self.look_at_whole(requester, candidate, &part).await;
        }
        let response = self
            .ask(Method::HEAD, requester, &candidate.path, None)
            .await?;
        let look = judge(&response);
        if !matches!(look, Look::Served(_)) {
            return Ok(look);
        }
        if let Some(difference) = difference(response.headers(), facts) {
            return Ok(Look::NotServed(difference));
        }
        let range = format!("bytes=0-{}", COMPARED - 1);
        let response = self
            .ask(Method::GET, requester, &candidate.path, Some(&range))
            .await?;
        let legal = [StatusCode::OK, StatusCode::PARTIAL_CONTENT].contains(&response.status());
        let same = legal && begins_with(response, &part).await?;
        Ok(if same {
            look
        } else {
            Look::NotServed("the server sends other bytes".to_owned())
        })
    }

    async fn look_at_whole(
        &self,
        requester: &Requester,
        candidate: &Candidate,
        bytes: &[u8],
    ) -> Result<Look, Unanswered> {
        let response = self
            .ask(Method::GET, requester, &candidate.path, None)
            .await?;
        let look = judge(&response);
        if !matches!(look, Look::Served(_)) {
            return Ok(look);
        }
        let same = match read(response, COMPARED).await {
            Ok(body) => body == bytes,
            Err(Unanswered::Resource(_)) => false,
            Err(error) => return Err(error),
        };
        Ok(if same {
            look
        } else {
            Look::NotServed("the server sends other bytes".to_owned())
        })
    }

    async fn ask(
        &self,
        method: Method,
        requester: &Requester,
        path: &SitePath,
        range: Option<&str>,
    ) -> Result<Response, Unanswered> {
        let url = format!("{}{}", self.url, path.to_url_path());
        let mut request = self
            .client
            .request(method, url)
            .header(ACCEPT_ENCODING, "identity");
        request = request.header("X-Forwarded-For", requester.address.to_string());
        let own = [
            (HOST, self.host.as_deref()),
            (AUTHORIZATION, requester.authorization.as_deref()),
            (COOKIE, requester.cookie.as_deref()),
            (RANGE, range),
        ];
        for (name, value) in own {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let response = request
            .send()
            .await
            .map_err(|error| Unanswered::Server(chain(&error)))?;
        let later = [
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
            StatusCode::GATEWAY_TIMEOUT,
        ];
        if later.contains(&response.status()) {
            return Err(Unanswered::Server(format!(
                "it answers {}",
                response.status()
            )));
        }
        Ok(response)
    }

    fn unreachable(&self, reason: &str) -> String {
        format!(
            "the origin {} cannot be asked: {reason}; is it running?",
            self.url
        )
    }
}

/// What a status says.
fn judge(response: &Response) -> Look {
    match response.status() {
        StatusCode::OK => Look::Served(shown(response.headers())),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Look::Refused,
        status => Look::NotServed(format!("the server answers {status}")),
    }
}

/// How the headers of a response tell that it is another file.
fn difference(headers: &HeaderMap, facts: &Facts) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match text(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if length == facts.size => {}
        Some(length) => {
            return Some(format!(
                "the server sends {length} bytes, the file has {}",
                facts.size
            ));
        }
        None => return Some("the server does not say how long it is".to_owned()),
    }
    let modified = httpdate::parse_http_date(text(LAST_MODIFIED)?).ok()?;
    let since = modified
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?
        .as_secs();
    let same = i64::try_from(since) == Ok(facts.mtime);
    (!same).then(|| "the server sends a file of another date".to_owned())
}

async fn begins_with(mut response: Response, part: &[u8]) -> Result<bool, Unanswered> {
    let mut compared = 0;
    while compared < part.len() {
        let block = response
            .chunk()
            .await
            .map_err(|error| Unanswered::Resource(chain(&error)))?;
        let Some(block) = block else {
            return Ok(false);
        };
        let length = block.len().min(part.len() - compared);
        if block[..length] != part[compared..compared + length] {
            return Ok(false);
        }
        compared += length;
    }
    Ok(true)
}

async fn read(mut response: Response, limit: u64) -> Result<Vec<u8>, Unanswered> {
    let mut body = Vec::new();
    loop {
        let block = response
            .chunk()
            .await
            .map_err(|error| Unanswered::Resource(chain(&error)))?;
        let Some(block) = block else {
            return Ok(body);
        };
        if (body.len() + block.len()) as u64 > limit {
            return Err(Unanswered::Resource(format!(
                "the answer is longer than {limit} bytes"
            )));
        }
        body.extend_from_slice(&block);
    }
}

/// The headers of a response as they are told to harvesters.
fn shown(headers: &HeaderMap) -> Vec<(String, String)> {
    let own = headers
        .iter()
        .filter(|(name, _)| !HOP_BY_HOP.contains(&name.as_str()));
    own.map(|(name, value)| {
        (
            title_case(name.as_str()),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    })
    .collect()
}

fn title_case(name: &str) -> String {
    let parts = name.split('-').map(|part| {
        let mut characters = part.chars();
        let first = characters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(characters).collect::<String>()
    });
    parts.collect::<Vec<_>>().join("-")
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

/// An error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_headers_are_spelled_as_people_do() {
        assert_eq!(title_case("content-type"), "Content-Type");
        assert_eq!(title_case("x--y"), "X--Y");
    }

    #[test]
    fn the_authority_of_a_url_is_its_host_and_port() {
        assert_eq!(authority("http://a.example:81/x/y"), "a.example:81");
        assert_eq!(authority("https://b/"), "b");
    }
}
