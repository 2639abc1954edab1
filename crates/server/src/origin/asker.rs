//! One question to the other server, and what its answer says of a file.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, LAST_MODIFIED,
    LOCATION, RANGE,
};
use http::{HeaderMap, Method, StatusCode};
use reqwest::{Client, Response};
use site::{Body, Candidate, Facts, Fetched, Look, Requester, Served, SitePath};

/// Asks one question at a time; cloned into each request.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) client: Client,
    pub(super) url: String,
    /// The name the site goes by, if it is not that of the URL.
    pub(super) host: Option<String>,
    /// Whether it was told that the server leads elsewhere.
    pub(super) told: Arc<AtomicBool>,
}

/// Why a question got no answer.
pub(super) enum Unanswered {
    /// The server is not there, or asks to come back later.
    Server(String),
    /// This one answer was broken.
    Resource(String),
    /// The answer has this status instead of 200.
    Status(u16),
}

impl Unanswered {
    pub(super) fn reason(self) -> String {
        match self {
            Self::Server(reason) | Self::Resource(reason) => reason,
            Self::Status(status) => format!("the server answers {status}"),
        }
    }
}

impl Asker {
    /// Whether a GET returns the candidate itself; `part` is the beginning of the local file.
    pub(super) async fn look(
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
        Ok(confirmed(
            look,
            legal && begins_with(response, &part).await?,
        ))
    }

    /// The result of a GET, up to a number of bytes.
    pub(super) async fn fetch(
        &self,
        requester: &Requester,
        path: &SitePath,
        limit: u64,
    ) -> Result<Fetched, Unanswered> {
        let response = self.ask(Method::GET, requester, path, None).await?;
        if response.status() != StatusCode::OK {
            return Err(Unanswered::Status(response.status().as_u16()));
        }
        let headers = shown(response.headers());
        let body = read(response, limit).await?;
        Ok(Fetched {
            headers,
            body: Body::Bytes(body),
        })
    }

    /// The answer where the server cannot be asked at all.
    pub(super) fn unreachable(&self, reason: &str) -> String {
        format!(
            "the origin {} cannot be asked: {reason}; is it running?",
            self.url
        )
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
            Err(Unanswered::Resource(_) | Unanswered::Status(_)) => false,
            Err(error) => return Err(error),
        };
        Ok(confirmed(look, same))
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
            .header(ACCEPT_ENCODING, "identity")
            .header("X-Forwarded-For", requester.address.to_string());
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
        if TRY_LATER.contains(&response.status()) {
            return Err(Unanswered::Server(format!(
                "it answers {}",
                response.status()
            )));
        }
        self.notice_redirect(&response);
        Ok(response)
    }

    /// Asks for the front page, to find out at once if the server leads everybody elsewhere.
    pub(super) async fn try_front_page(&self) {
        let nobody = Requester::anonymous(IpAddr::V4(Ipv4Addr::LOCALHOST));
        // A server that is away is told of when it is asked for files.
        let _ = self
            .ask(Method::HEAD, &nobody, &SitePath::root(), None)
            .await;
    }

    /// Tells once if the server leads to another scheme or host, as for HTTPS: then nothing is confirmed, and harvesters
    /// see an empty repository.
    fn notice_redirect(&self, response: &Response) {
        let location = response.headers().get(LOCATION);
        let target = location.and_then(|value| reqwest::Url::parse(value.to_str().ok()?).ok());
        let Some(target) = target.filter(|_| response.status().is_redirection()) else {
            return;
        };
        let asked = response.url();
        let is_elsewhere = target.origin() != asked.origin()
            && self.host.as_deref() != target.host_str()
            || target.scheme() != asked.scheme();
        if is_elsewhere && !self.told.swap(true, Ordering::Relaxed) {
            let place = target.origin().ascii_serialization();
            tracing::warn!(
                "the origin {} redirects to {place}/: files behind a redirect are not offered; write --origin {place}/ (origin.url), or let the web server answer garner without redirecting",
                self.url
            );
        }
    }
}

/// The judgement of a status.
fn judge(response: &Response) -> Look {
    match response.status() {
        StatusCode::OK => Look::Served(served(response.headers())),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Look::Refused,
        status => Look::NotServed(format!("the server answers {status}")),
    }
}

fn served(headers: &HeaderMap) -> Served {
    let media_type = headers.get(CONTENT_TYPE);
    Served {
        headers: Some(shown(headers)),
        media_type: media_type.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
        dynamic: None,
    }
}

/// The judgement by the status, unless the bytes differ.
fn confirmed(look: Look, same_bytes: bool) -> Look {
    match same_bytes {
        true => look,
        false => Look::NotServed("the server sends other bytes".to_owned()),
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
        .filter(|(name, _)| !site::headers::is_hop_by_hop(name.as_str()));
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

/// As much of a file is compared byte for byte.
pub(super) const COMPARED: u64 = 64 * 1024;

/// Statuses that speak of the server, not of the resource.
const TRY_LATER: [StatusCode; 5] = [
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_headers_are_spelled_as_people_do() {
        assert_eq!(title_case("content-type"), "Content-Type");
        assert_eq!(title_case("x--y"), "X--Y");
    }
}
