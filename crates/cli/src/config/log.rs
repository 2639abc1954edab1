//! `[log]`: how lines of the log look, and which are written.

use anyhow::Context;
use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::EnvFilter;

/// The log on stderr.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LogConfig {
    /// Lines for people, or JSON objects.
    pub(crate) format: LogFormat,
    /// Which lines: `warn`, or levels per area such as `info,site=debug`. `RUST_LOG` wins.
    pub(crate) level: Option<String>,
    /// Statements of the catalog and pages of the console that take at least as long get a line.
    pub(crate) slow_ms: u64,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            format: LogFormat::default(),
            level: None,
            slow_ms: 1000,
        }
    }
}

/// The form of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

impl LogConfig {
    /// Which lines are written.
    pub(crate) fn filter(&self) -> anyhow::Result<EnvFilter> {
        if let Ok(filter) = EnvFilter::try_from_default_env() {
            return Ok(filter);
        }
        let level = self.level.as_deref().unwrap_or("info");
        EnvFilter::try_new(level).with_context(|| {
            format!("log.level: `{level}` is not a level such as warn, or info,site=debug")
        })
    }
}
