//! Requests that the console makes to other servers for its users.

use std::time::Duration;

use harvester::{AddressPolicy, ClientOptions, Stop};

/// How repositories are asked that somebody types in, and where known ones are listed.
#[derive(Debug, Clone)]
pub struct Outside {
    /// How a repository is asked. People type in addresses, so `allow` is best kept to what is public.
    pub client: ClientOptions,
    /// A list of known repositories: a file or a URL.
    pub friends: Option<String>,
}

impl Default for Outside {
    /// Only what is public is asked.
    fn default() -> Self {
        let allow = AddressPolicy::Public {
            allowed: Vec::new(),
        };
        Self {
            client: ClientOptions {
                allow,
                ..ClientOptions::default()
            },
            friends: None,
        }
    }
}

impl Outside {
    /// Options for one question, which somebody waits for: it is asked twice at most, and stopped by itself alone.
    pub(crate) fn question(&self) -> ClientOptions {
        ClientOptions {
            attempts: self.client.attempts.min(2),
            longest_wait: self.client.longest_wait.min(LONGEST_WAIT),
            longest_total_wait: self.client.longest_total_wait.min(LONGEST_WAIT),
            read_timeout: self.client.read_timeout.min(LONGEST_SILENCE),
            stop: Stop::default(),
            ..self.client.clone()
        }
    }
}

const LONGEST_WAIT: Duration = Duration::from_secs(10);
const LONGEST_SILENCE: Duration = Duration::from_secs(45);
