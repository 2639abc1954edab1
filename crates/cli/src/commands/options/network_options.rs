//! Options that say how repositories are asked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use harvester::{ClientOptions, Credentials};

/// How a repository is asked.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Network options")]
pub(crate) struct NetworkOptions {
    /// A file with what opens the repository, in one line: USER:PASSWORD or bearer TOKEN
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// A proxy for all requests, such as http://HOST:3128
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// A file of certificates (PEM) to trust beside those of the system
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Whom the repository may write to about the requests: sent in the header From
    #[arg(long, value_name = "E-MAIL")]
    contact: Option<String>,
    /// The value of the header User-Agent [default: garner and its version]
    #[arg(long, value_name = "TEXT")]
    user_agent: Option<String>,
    /// A further request header, as 'Name: value'; can be given several times
    #[arg(long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// The time between the beginnings of two requests [default: 0]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    interval: Option<Duration>,
    /// How many requests may be open at once [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    connections: Option<u16>,
    /// How long the server may be silent, and may take for 16 KiB [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = some_seconds)]
    timeout: Option<Duration>,
    /// How often a request is made before it is given up [default: 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    attempts: Option<u32>,
    /// The longest wait that the server may ask for with Retry-After; if it asks for more, the harvest ends, and that of
    /// a schedule is put off until then [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    longest_wait: Option<Duration>,
}

impl NetworkOptions {
    /// Whether one of them was given.
    pub(crate) fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// The time between two requests, if it was given.
    pub(crate) fn interval(&self) -> Option<Duration> {
        self.interval
    }

    /// The options for the client; what is not given is as the client has it.
    pub(crate) fn client_options(&self) -> anyhow::Result<ClientOptions> {
        let usual = ClientOptions::default();
        let read_timeout = self.timeout.unwrap_or(usual.read_timeout);
        Ok(ClientOptions {
            from: self.contact.clone(),
            user_agent: self.user_agent.clone().unwrap_or(usual.user_agent.clone()),
            headers: self.headers.clone(),
            credentials: self.credentials.as_deref().map(credentials).transpose()?,
            proxy: self.proxy.clone(),
            ca_file: self.ca.clone(),
            connect_timeout: usual.connect_timeout.min(read_timeout),
            read_timeout,
            attempts: self.attempts.unwrap_or(usual.attempts),
            interval: self.interval.unwrap_or(usual.interval),
            connections: self.connections.map_or(usual.connections, usize::from),
            resource_connections: (self.connections)
                .map_or(usual.resource_connections, usize::from),
            longest_wait: self.longest_wait.unwrap_or(usual.longest_wait),
            ..usual
        })
    }
}

/// Credentials are in a file because other users of the machine can see command lines.
fn credentials(file: &Path) -> anyhow::Result<Credentials> {
    let place = file.display();
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the credentials cannot be read from `{place}`"))?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (Some(line), None) = (lines.next(), lines.next()) else {
        bail!("`{place}` must hold one line: USER:PASSWORD or bearer TOKEN");
    };
    if let Some((word, token)) = line.trim().split_once(' ')
        && word.eq_ignore_ascii_case("bearer")
    {
        return Ok(Credentials::Bearer(token.trim().to_owned()));
    }
    let Some((user, password)) = line.split_once(':') else {
        bail!("`{place}` holds neither USER:PASSWORD nor bearer TOKEN");
    };
    Ok(Credentials::Basic {
        user: user.to_owned(),
        password: password.to_owned(),
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| NOT_SECONDS)?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        _ => Err(NOT_SECONDS.to_owned()),
    }
}

fn some_seconds(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("it must be more than 0".to_owned()),
        duration => Ok(duration),
    }
}

const LONGEST: Duration = Duration::from_secs(86_400);
const NOT_SECONDS: &str = "write seconds, such as 30 or 0.5, up to a day (86400)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_a_name_and_a_password_or_a_token() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            credentials(file.path()).ok()
        };
        let basic = |user: &str, password: &str| {
            let (user, password) = (user.to_owned(), password.to_owned());
            Some(Credentials::Basic { user, password })
        };

        assert_eq!(read("me:a:b c \n"), basic("me", "a:b c "));
        assert_eq!(read("\nme:\r\n"), basic("me", ""));
        assert_eq!(
            read("Bearer abc\n"),
            Some(Credentials::Bearer("abc".to_owned()))
        );
        for wrong in ["", "\n", "me", "me:a\nyou:b\n"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn seconds_are_a_number_within_reason() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["", "-1", "NaN", "inf", "1e9", "2 s"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
        assert!(some_seconds("0").is_err());
    }
}
