//! The keys to a store: from the environment, from the file that Amazon's own tools read, or from the machine that a
//! container runs on. Those of the last two may be temporary, and are looked for again.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Client;
use serde::Deserialize;
use url::{Host, Url};

use crate::location::invalid;

/// A key, its secret, and for temporary ones the token and the end of their time, as far as it is known.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) key: String,
    pub(crate) secret: String,
    pub(crate) token: Option<String>,
    pub(crate) expires: Option<Timestamp>,
}

/// Where keys are looked for.
#[derive(Clone)]
pub(crate) struct KeySource {
    variable: Arc<Variable>,
}

/// Gives the value of an environment variable.
type Variable = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The answer of a container's credentials endpoint.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct EndpointAnswer {
    access_key_id: String,
    secret_access_key: String,
    token: Option<String>,
    expiration: Option<String>,
}

impl KeySource {
    pub(crate) fn environment() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    pub(crate) fn new(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            variable: Arc::new(variable),
        }
    }

    /// The keys as they are now.
    pub(crate) async fn find(&self, client: &Client) -> io::Result<Credentials> {
        if let (Some(key), Some(secret)) = (
            self.set("AWS_ACCESS_KEY_ID"),
            self.set("AWS_SECRET_ACCESS_KEY"),
        ) {
            return Ok(Credentials {
                key,
                secret,
                token: self.set("AWS_SESSION_TOKEN"),
                expires: None,
            });
        }
        if let Some(found) = self.in_file() {
            return Ok(found);
        }
        match self.container()? {
            Some(url) => self.ask(client, url).await,
            None => Err(invalid(
                "there are no keys to the store; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into \
                 ~/.aws/credentials"
                    .to_owned(),
            )),
        }
    }

    fn set(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    fn in_file(&self) -> Option<Credentials> {
        let home = self.set("HOME");
        let home = home.map(|home| PathBuf::from(home).join(".aws/credentials"));
        let named = self.set("AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from);
        let profile = self.set("AWS_PROFILE");
        let text = std::fs::read_to_string(named.or(home)?).ok()?;
        Credentials::of_profile(&text, profile.as_deref().unwrap_or("default"))
    }

    /// Where a container asks for keys, as the variables of Amazon's services say it.
    fn container(&self) -> io::Result<Option<Url>> {
        let relative = self.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        let relative = relative.map(|path| format!("http://169.254.170.2{path}"));
        let Some(text) = relative.or_else(|| self.set("AWS_CONTAINER_CREDENTIALS_FULL_URI")) else {
            return Ok(None);
        };
        let url = Url::parse(&text).ok().filter(is_near);
        let wrong = || {
            invalid(format!(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI is `{text}`; keys are asked for by https, or of this machine"
            ))
        };
        url.map(Some).ok_or_else(wrong)
    }

    async fn ask(&self, client: &Client, url: Url) -> io::Result<Credentials> {
        let file = self.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        let token = match file {
            Some(file) => Some(std::fs::read_to_string(file)?.trim().to_owned()),
            None => self.set("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
        };
        let mut request = client.get(url).timeout(PATIENCE);
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        let answered = async { request.send().await?.error_for_status()?.bytes().await };
        let answer = answered.await.map_err(|error| {
            let error = error.without_url();
            io::Error::other(format!("the keys to the store are not told: {error}"))
        })?;
        let told: EndpointAnswer = serde_json::from_slice(&answer)?;
        Ok(Credentials {
            key: told.access_key_id,
            secret: told.secret_access_key,
            token: told.token,
            expires: told.expiration.and_then(|end| end.parse().ok()),
        })
    }
}

/// Whether nobody in between can read what comes from there.
fn is_near(url: &Url) -> bool {
    let is_local = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_link_local(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address == EKS,
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_local)
}

impl Credentials {
    /// Whether others should be asked for by now.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.expires
            .is_some_and(|end| end.duration_since(now) < EARLY)
    }

    fn of_profile(text: &str, profile: &str) -> Option<Self> {
        let mut is_ours = false;
        let (mut key, mut secret, mut token) = (None, None, None);
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                is_ours = name.trim_end_matches(']').trim() == profile;
                continue;
            }
            let Some((name, value)) = line.split_once('=').filter(|_| is_ours) else {
                continue;
            };
            let value = Some(value.trim().to_owned());
            match name.trim() {
                "aws_access_key_id" => key = value,
                "aws_secret_access_key" => secret = value,
                "aws_session_token" => token = value,
                _ => {}
            }
        }
        Some(Self {
            key: key?,
            secret: secret?,
            token,
            expires: None,
        })
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySource(…)")
    }
}

/// A request may take as long, and clocks differ.
const EARLY: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);
const PATIENCE: Duration = Duration::from_secs(10);
/// Where the agent of a cluster answers.
const EKS: std::net::Ipv6Addr = std::net::Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_in_its_file() {
        let text = "[default]\naws_access_key_id = A\n# no\naws_secret_access_key=B\n[other]\naws_access_key_id = C\n\
            aws_secret_access_key = geheim\naws_session_token = D\n";
        let default = Credentials::of_profile(text, "default").unwrap();
        assert_eq!(
            (default.key.as_str(), default.secret.as_str(), default.token),
            ("A", "B", None)
        );
        let other = Credentials::of_profile(text, "other").unwrap();
        assert_eq!(other.token.as_deref(), Some("D"));
        assert!(!format!("{other:?}").contains("geheim"));
        assert_eq!(Credentials::of_profile(text, "none"), None);
    }

    #[test]
    fn keys_are_asked_for_where_nobody_listens() {
        for (url, near) in [
            ("http://169.254.170.2/v2/x", true),
            ("http://[fd00:ec2::23]/v1/credentials", true),
            ("http://localhost:8080/", true),
            ("https://keys.example/", true),
            ("http://keys.example/", false),
            ("http://10.0.0.1/", false),
            ("ftp://127.0.0.1/", false),
        ] {
            assert_eq!(is_near(&Url::parse(url).unwrap()), near, "{url}");
        }
    }
}
