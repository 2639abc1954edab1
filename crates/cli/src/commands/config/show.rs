//! `garner config show`: every setting that differs from the defaults, and where it comes from.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use toml::{Table, Value};

use crate::config::Layers;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Show every setting that was made, and which file or variable made it
///
/// Secrets are not shown. The data directory is the one that commands use here if they are not told another.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// A configuration file in TOML, on top of the others [default: $GARNER_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The settings, as JSON has them.
#[derive(Serialize)]
struct Report {
    data: PathBuf,
    catalog: Option<String>,
    files: Vec<PathBuf>,
    settings: Vec<Setting>,
}

/// One setting.
#[derive(Serialize)]
struct Setting {
    key: String,
    value: Value,
    origin: String,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let layers = Layers::read(self.config.as_deref())?;
        let place = layers.config()?.place(None, None)?;
        let mut settings = Vec::new();
        for (key, origin) in &layers.origins {
            if let Some(value) = value_at(&layers.settings, key) {
                let (key, origin) = (key.clone(), origin.clone());
                let value = hidden(&key, value.clone());
                settings.push(Setting { key, value, origin });
            }
        }
        let report = Report {
            data: place.data,
            catalog: place.catalog.map(|catalog| without_password(&catalog)),
            files: layers.files,
            settings,
        };
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &report)?,
                false => tell(out, &report)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn tell(out: &mut impl Write, report: &Report) -> anyhow::Result<()> {
    let data = report.data.display().to_string();
    writeln!(out, "# the data directory is {}", plain(&data))?;
    for Setting { key, value, origin } in &report.settings {
        writeln!(
            out,
            "{} = {}  # {}",
            plain(key),
            plain(&value.to_string()),
            plain(origin)
        )?;
    }
    Ok(())
}

fn value_at<'a>(settings: &'a Table, key: &str) -> Option<&'a Value> {
    let mut names = key.split('.');
    let first = settings.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

/// A value without what must not be on a screen.
fn hidden(key: &str, value: Value) -> Value {
    match value {
        Value::Table(table) => Value::Table(
            table
                .into_iter()
                .map(|(name, value)| {
                    let value = hidden(&name, value);
                    (name, value)
                })
                .collect(),
        ),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| hidden(key, value)).collect())
        }
        Value::String(_) if key.ends_with("secret") || key.ends_with("token") => {
            Value::String("(hidden)".to_owned())
        }
        Value::String(text) if text.contains("://") => Value::String(without_password(&text)),
        value => value,
    }
}

/// A URL without the password that it may hold.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let secret = authority
        .rsplit_once('@')
        .and_then(|(user, host)| Some((user.split_once(':')?.0, host)));
    let shown = match secret {
        Some((user, host)) => format!(
            "{scheme}://{user}:(hidden)@{host}{}",
            &rest[authority.len()..]
        ),
        None => url.to_owned(),
    };
    match shown.split_once("password=") {
        Some((before, _)) => format!("{before}password=(hidden)"),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://a:b@c/d", "postgres://a:(hidden)@c/d"),
            ("postgres://a@c/d", "postgres://a@c/d"),
            (
                "postgres://c/d?password=x",
                "postgres://c/d?password=(hidden)",
            ),
            ("http://u:p@h", "http://u:(hidden)@h"),
        ] {
            assert_eq!(without_password(url), shown);
        }
        let hook: Value = toml::from_str("name = 'a'\nsecret = 'whsec_x'\n").unwrap();
        assert!(!hidden("hook", hook).to_string().contains("whsec_x"));
    }
}
