//! The update endpoint of a Solr core or collection: documents added and removed, as JSON.
//!
//! Solr knows a document by its `id`, so that everything may be sent twice. It refuses a whole request for one document
//! that it cannot take; such a request is halved until the document is alone.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use data_encoding::BASE64;
use harvester::{Client, ClientOptions, Credentials, ErrorKind, Stop};
use serde_json::{Value, json};

/// A core or collection of Solr.
#[derive(Debug)]
pub struct Solr {
    client: Client,
    update: String,
    authorization: Option<String>,
    stop: Stop,
}

/// A document that Solr refused, by its place among those that were sent, and why.
pub type RefusedDocument = (usize, String);

/// Solr's answer to a request.
enum Said {
    Done,
    Refused(String),
}

impl Solr {
    /// The core or collection at a URL such as `http://solr.example:8983/solr/papers`.
    pub fn new(url: &str, options: &ClientOptions, stop: &Stop) -> anyhow::Result<Self> {
        let authorization = options
            .credentials
            .as_ref()
            .map(|credentials| match credentials {
                Credentials::Basic { user, password } => {
                    let text = format!("{user}:{password}");
                    format!("Basic {}", BASE64.encode(text.as_bytes()))
                }
                Credentials::Bearer(token) => format!("Bearer {token}"),
            });
        let client = Client::new(ClientOptions {
            credentials: None,
            stop: stop.clone(),
            ..options.clone()
        })?;
        Ok(Self {
            client,
            update: format!("{}/update", url.trim_end_matches('/')),
            authorization,
            stop: stop.clone(),
        })
    }

    /// Adds documents, or replaces those with the same `id`. Returns those that Solr refuses.
    pub fn add(&self, documents: &[Value]) -> anyhow::Result<Vec<RefusedDocument>> {
        let mut refused = Vec::new();
        let mut waiting = vec![(0, documents)];
        while let Some((first, part)) = waiting.pop() {
            if part.is_empty() {
                continue;
            }
            match (self.send(&json!(part), "")?, part.len()) {
                (Said::Done, _) => {}
                (Said::Refused(reason), 1) => refused.push((first, reason)),
                (Said::Refused(_), length) => {
                    let (one, other) = part.split_at(length / 2);
                    waiting.push((first + one.len(), other));
                    waiting.push((first, one));
                }
            }
        }
        Ok(refused)
    }

    /// Removes documents.
    pub fn delete(&self, ids: &[String]) -> anyhow::Result<()> {
        match ids {
            [] => Ok(()),
            ids => self.must(&json!({ "delete": ids }), ""),
        }
    }

    /// Makes all that was sent visible to those who search.
    pub fn commit(&self) -> anyhow::Result<()> {
        self.must(&json!({ "commit": {} }), "")
    }

    fn must(&self, body: &Value, query: &str) -> anyhow::Result<()> {
        match self.send(body, query)? {
            Said::Done => Ok(()),
            Said::Refused(reason) => bail!("{} refuses: {reason}", self.update),
        }
    }

    /// Sends a request, again as long as Solr is busy or away.
    fn send(&self, body: &Value, query: &str) -> anyhow::Result<Said> {
        let body = serde_json::to_vec(body)?;
        let (url, options) = (format!("{}{query}", self.update), self.client.options());
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend(
            self.authorization
                .as_deref()
                .map(|value| ("Authorization", value)),
        );
        let mut wait = options.first_wait;
        for attempt in 1.. {
            let posted = self
                .client
                .post(&url, &headers, body.clone(), options.read_timeout);
            let reason = match posted {
                Ok(posted) => match posted.status {
                    200..300 => return understood(&posted.beginning),
                    400 | 413 => return Ok(Said::Refused(said(&posted.beginning))),
                    401 | 403 => bail!(
                        "{url} answers {}: give credentials with --credentials",
                        posted.status
                    ),
                    404 => bail!(
                        "{url} answers 404: name a core or collection, such as http://HOST:8983/solr/NAME"
                    ),
                    429 | 500.. => format!(
                        "{url} answers {}: {}",
                        posted.status,
                        said(&posted.beginning)
                    ),
                    status => bail!("{url} answers {status}: {}", said(&posted.beginning)),
                },
                Err(error) => match error.kind() {
                    ErrorKind::Transport(reason) => format!("{url} cannot be reached: {reason}"),
                    ErrorKind::Stopped => return Err(error.into()),
                    // The client speaks of repositories.
                    kind => bail!(
                        "{url}: {}",
                        kind.to_string().replace("repository", "server")
                    ),
                },
            };
            if attempt >= options.attempts {
                bail!("{reason} ({attempt} attempts)");
            }
            tracing::warn!("{reason}; trying again in {} s", wait.as_secs_f32());
            self.pause(wait)?;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        bail!("{url} was never asked");
    }

    fn pause(&self, wait: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + wait;
        while Instant::now() < until {
            if self.stop.is_set() {
                return Err(harvester::Error::new(ErrorKind::Stopped).into());
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}

/// An answer with success, which may still say that there was none.
fn understood(answer: &[u8]) -> anyhow::Result<Said> {
    let answer: Value = serde_json::from_slice(answer).context(
        "the server answers, but not as Solr does; name the URL of a core or collection",
    )?;
    match answer["responseHeader"]["status"].as_i64() {
        Some(0) => Ok(Said::Done),
        Some(_) => Ok(Said::Refused(message(&answer))),
        None => {
            bail!("the server answers, but not as Solr does; name the URL of a core or collection")
        }
    }
}

fn said(answer: &[u8]) -> String {
    match serde_json::from_slice(answer) {
        Ok(answer) => message(&answer),
        Err(_) => String::from_utf8_lossy(answer)
            .chars()
            .take(MOST_QUOTED)
            .collect(),
    }
}

fn message(answer: &Value) -> String {
    let message = answer["error"]["msg"].as_str();
    message
        .unwrap_or("it gives no reason")
        .chars()
        .take(MOST_QUOTED)
        .collect()
}

const LONGEST_WAIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
const MOST_QUOTED: usize = 300;
