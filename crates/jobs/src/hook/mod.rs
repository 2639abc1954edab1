//! Hooks after a harvest: a command is run or a web server told, so that indexers and the like know of it.
//!
//! Hooks are named by the configuration alone, so nobody who merely steers harvests can have anything run.

mod command;
mod signature;
mod webhook;

pub(crate) use webhook::tell as tell_server;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use harvester::{ClientOptions, canonical_base_url};
use process::{Confiner, Stop};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A hook, as the configuration has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Settings")]
pub struct Hook {
    /// Its name.
    pub name: String,
    /// After which ends of a harvest.
    pub on: Vec<HookEvent>,
    /// Of which repository, by base URL or number, if not of all.
    pub repository: Option<String>,
    /// The action.
    pub what: Action,
    /// How long that may take.
    pub timeout: Duration,
}

/// An end of a harvest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookEvent {
    /// All came.
    Finished,
    /// Something had to be left out.
    Incomplete,
    /// It was given up.
    Failed,
}

/// The action of a hook.
#[derive(Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a program with arguments.
    Command(Vec<String>),
    /// Tells a web server.
    Webhook {
        /// Where it is told.
        url: String,
        /// The secret that messages are signed with.
        secret: Option<String>,
    },
}

/// A hook as the configuration has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    name: String,
    on: Option<Vec<HookEvent>>,
    repository: Option<String>,
    command: Option<Vec<String>>,
    webhook: Option<String>,
    secret: Option<String>,
    /// A file that holds the secret, so that it is not in the configuration.
    secret_file: Option<PathBuf>,
    timeout_seconds: Option<u64>,
}

impl Hook {
    /// Whether it is for this end of a harvest of this repository.
    pub fn wants(&self, event: HookEvent, repository: i64, base_url: &str) -> bool {
        let named = self.repository.as_deref().is_none_or(|named| {
            named == repository.to_string()
                || canonical_base_url(named).is_ok_and(|named| named == base_url)
        });
        named && self.on.contains(&event)
    }
}

/// Does what a hook is for and returns what came of it, shortened.
///
/// The facts are a JSON object. A command gets them on its standard input, and those that [`VARIABLES`] names in its
/// environment; a web server gets them as the body of a POST, with the `id` of the message, which stays the same when it is
/// told again. With a confiner, a command ends when this process does.
pub fn run(
    hook: &Hook,
    id: &str,
    facts: &Value,
    options: &ClientOptions,
    confiner: Option<&Confiner>,
    stop: &Stop,
) -> anyhow::Result<String> {
    let done = match &hook.what {
        Action::Command(command) => command::run(command, facts, hook.timeout, confiner, stop),
        Action::Webhook { url, secret } => webhook::tell(
            url,
            secret.as_deref(),
            id,
            facts,
            hook.timeout,
            options,
            stop,
        ),
    };
    done.with_context(|| format!("the hook `{}`", hook.name))
}

/// The facts that commands find in their environment, and under which names.
pub const VARIABLES: [(&str, &str); 11] = [
    ("job", "GARNER_JOB"),
    ("repository", "GARNER_REPOSITORY"),
    ("base_url", "GARNER_BASE_URL"),
    ("metadata_prefix", "GARNER_METADATA_PREFIX"),
    ("set", "GARNER_SET"),
    ("state", "GARNER_STATE"),
    ("harvest", "GARNER_HARVEST"),
    ("data", "GARNER_DATA"),
    ("new", "GARNER_NEW"),
    ("updated", "GARNER_UPDATED"),
    ("deleted", "GARNER_DELETED"),
];

impl TryFrom<Settings> for Hook {
    type Error = anyhow::Error;

    fn try_from(settings: Settings) -> anyhow::Result<Self> {
        let name = settings.name;
        let secret = match (settings.secret, &settings.secret_file) {
            (Some(_), Some(_)) => {
                bail!("the hook `{name}` has secret and secret_file; leave one out")
            }
            (None, Some(file)) => {
                let read = std::fs::read_to_string(file);
                let text = read.with_context(|| {
                    format!(
                        "the hook `{name}`: cannot read secret_file `{}`",
                        file.display()
                    )
                })?;
                Some(text.trim_end().to_owned())
            }
            (secret, None) => secret,
        };
        let what = match (settings.command, settings.webhook, secret) {
            (Some(command), None, None) => match command.first() {
                Some(program) if !program.is_empty() => Action::Command(command),
                _ => bail!("the hook `{name}`: the command names no program"),
            },
            (None, Some(url), secret) => {
                canonical_base_url(&url).map_err(|error| anyhow!("the hook `{name}`: {error}"))?;
                if let Some(secret) = &secret {
                    signature::key(secret).with_context(|| format!("the hook `{name}`"))?;
                }
                Action::Webhook { url, secret }
            }
            (Some(_), None, Some(_)) => {
                bail!("the hook `{name}`: a secret is for a webhook, and this is a command")
            }
            _ => bail!("the hook `{name}`: write either a command or a webhook"),
        };
        let seconds = settings.timeout_seconds.unwrap_or(USUAL_SECONDS);
        if !(1..=MOST_SECONDS).contains(&seconds) {
            bail!("the hook `{name}`: timeout_seconds is a number from 1 to {MOST_SECONDS}");
        }
        let usual = || vec![HookEvent::Finished, HookEvent::Incomplete];
        Ok(Self {
            on: settings.on.unwrap_or_else(usual),
            repository: settings.repository,
            what,
            timeout: Duration::from_secs(seconds),
            name,
        })
    }
}

impl std::fmt::Debug for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Command(command) => f.debug_tuple("Command").field(command).finish(),
            Self::Webhook { url, .. } => f
                .debug_struct("Webhook")
                .field("url", url)
                .finish_non_exhaustive(),
        }
    }
}

/// The end of what somebody said, where errors are, without control characters but line ends.
fn shortened(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let plain = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    let text: String = text.trim().chars().map(plain).collect();
    match text.char_indices().rev().nth(MOST_TOLD) {
        Some((at, _)) => format!("…{}", &text[at..]),
        None => text,
    }
}

const USUAL_SECONDS: u64 = 600;
const MOST_SECONDS: u64 = 86_400;
/// As many characters fit into a log that people read.
const MOST_TOLD: usize = 2000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hook(settings: Value) -> Result<Hook, String> {
        serde_json::from_value(settings).map_err(|error| error.to_string())
    }

    #[test]
    fn hooks_are_for_some_ends_and_some_repositories() {
        let any = hook(json!({"name": "a", "command": ["true"]})).unwrap();
        assert!(any.wants(HookEvent::Finished, 1, "http://a.example/oai"));
        assert!(any.wants(HookEvent::Incomplete, 1, "http://a.example/oai"));
        assert!(!any.wants(HookEvent::Failed, 1, "http://a.example/oai"));
        for named in ["7", " http://a.example/oai#x "] {
            let one = hook(
                json!({"name": "a", "command": ["true"], "repository": named, "on": ["failed"]}),
            );
            let one = one.unwrap();
            assert!(one.wants(HookEvent::Failed, 7, "http://a.example/oai"));
            assert!(!one.wants(HookEvent::Failed, 8, "http://b.example/oai"));
            assert!(!one.wants(HookEvent::Finished, 7, "http://a.example/oai"));
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_and_named() {
        for (settings, part) in [
            (json!({"name": "a"}), "either a command or a webhook"),
            (json!({"name": "a", "command": []}), "names no program"),
            (
                json!({"name": "a", "command": ["x"], "webhook": "http://a/"}),
                "either",
            ),
            (json!({"name": "a", "webhook": "ftp://a/"}), "http"),
            (
                json!({"name": "a", "command": ["x"], "secret": "s"}),
                "a secret is for",
            ),
            (
                json!({"name": "a", "command": ["x"], "timeout_seconds": 0}),
                "timeout_seconds",
            ),
            (
                json!({"name": "a", "command": ["x"], "comand": []}),
                "comand",
            ),
            (
                json!({"name": "a", "command": ["x"], "on": ["never"]}),
                "never",
            ),
        ] {
            let error = hook(settings).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let hook = hook(json!({"name": "a", "webhook": "http://a/", "secret": "hush"}));
        assert!(!format!("{hook:?}").contains("hush"));
    }

    #[test]
    fn of_much_that_is_said_the_end_is_told() {
        let said = format!("{}\nerror: \u{1b}[31mdisk full\n", "x".repeat(5000));
        let told = shortened(said.as_bytes());
        assert!(
            told.starts_with('…') && told.ends_with("error: \u{fffd}[31mdisk full"),
            "{told}"
        );
        assert_eq!(shortened(b" ok \n"), "ok");
    }
}
