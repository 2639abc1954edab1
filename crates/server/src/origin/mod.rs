//! The web server that garner stands beside: each candidate is confirmed by asking it.
//!
//! A candidate counts only if a GET with the requester's own credentials returns that very file: small files
//! are compared byte for byte, larger ones by size, date and their first part. So aliases, rewrites and
//! cover-ups of the other server hold here too.

mod asker;
mod remembered;

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::Client;
use site::{Candidate, Fetched, Look, NotFetched, Origin, Requester, Root, SitePath, Symlinks};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::asker::{Asker, COMPARED, Unanswered};
use self::remembered::{Key, Remembered};
use crate::config::OriginConfig;

/// Questions of one list that may wait for their turn.
const MOST_WAITING: usize = 32;

/// A web server reached over HTTP.
#[derive(Debug)]
pub struct HttpOrigin {
    asker: Asker,
    root: Root,
    runtime: Handle,
    /// Requests at once, of all requesters together.
    slots: Arc<Semaphore>,
    remembered: Remembered,
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
            asker: Asker {
                client,
                url,
                host,
                told: Arc::default(),
            },
            root,
            runtime: Handle::current(),
            slots: Arc::new(Semaphore::new(config.connections.max(1))),
            remembered: Remembered::new(Duration::from_secs(config.cache_seconds)),
        })
    }

    /// Finds out whether the server leads everybody elsewhere, and says so in the log.
    pub async fn check(&self) {
        self.asker.try_front_page().await;
    }

    /// Asks for all that is still open, several at once.
    async fn ask_for_rest(
        &self,
        requester: &Requester,
        candidates: &[Candidate],
        keys: &[Key],
        looks: &mut [Option<Look>],
    ) -> Result<(), String> {
        let open: Vec<usize> = (0..looks.len()).filter(|at| looks[*at].is_none()).collect();
        let mut open = open.into_iter();
        let mut asking = JoinSet::new();
        loop {
            while asking.len() < MOST_WAITING
                && let Some(at) = open.next()
            {
                let (asker, requester, candidate) = (
                    self.asker.clone(),
                    requester.clone(),
                    candidates[at].clone(),
                );
                let part = candidate.facts.and_then(|_| self.first_part(&candidate));
                let slots = Arc::clone(&self.slots);
                asking.spawn(async move {
                    let _slot = slots.acquire().await;
                    (at, asker.look(&requester, &candidate, part).await)
                });
            }
            let Some(answered) = asking.join_next().await else {
                return Ok(());
            };
            let (at, answer) = answered.map_err(|error| error.to_string())?;
            let look = match answer {
                Ok(look) => look,
                Err(Unanswered::Server(reason)) => return Err(self.asker.unreachable(&reason)),
                Err(error) => Look::NotServed(error.reason()),
            };
            self.remembered.keep(keys[at].clone(), &look);
            looks[at] = Some(look);
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
            .map(|candidate| self.remembered.key(requester, candidate))
            .collect();
        let mut looks: Vec<_> = keys.iter().map(|key| self.remembered.recall(key)).collect();
        let asking = self.ask_for_rest(requester, candidates, &keys, &mut looks);
        self.runtime.block_on(asking)?;
        Ok(looks.into_iter().flatten().collect())
    }

    fn fetch(
        &self,
        requester: &Requester,
        path: &SitePath,
        limit: u64,
    ) -> Result<Fetched, NotFetched> {
        let fetching = self.asker.fetch(requester, path, limit);
        let fetched = self.runtime.block_on(fetching);
        fetched.map_err(|error| match error {
            Unanswered::Status(status) => NotFetched::Status(status),
            error => NotFetched::Failed {
                reason: error.reason(),
                headers: None,
            },
        })
    }
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_of_a_url_is_its_host_and_port() {
        assert_eq!(authority("http://a.example:81/x/y"), "a.example:81");
        assert_eq!(authority("https://b/"), "b");
    }
}
