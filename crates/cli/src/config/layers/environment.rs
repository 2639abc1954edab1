//! Settings of the environment: `GARNER_JOBS_WORKERS=8` is `workers` of `[jobs]`. Secrets may come as systemd credentials.

use std::path::PathBuf;

use anyhow::Context;
use toml::{Table, Value};

use super::SITE_TABLES;

/// A variable that sets a key.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) key: String,
    pub(super) value: Value,
}

/// All variables that set a key, by name.
pub(super) fn variables() -> Vec<Variable> {
    let mut variables: Vec<_> = all()
        .filter_map(|(name, text)| {
            let key = key_of(&name)?;
            let value = value_of(&text);
            // Hooks get `GARNER_REPOSITORY` and the like: a number is no table.
            let is_section = !key.contains('.') && !TOP.contains(&key.as_str());
            let is_structure = value.is_table() || value.is_array();
            (!is_section || is_structure).then_some(Variable { name, key, value })
        })
        .collect();
    variables.sort_by(|a, b| a.name.cmp(&b.name));
    variables
}

/// The variables that begin with `GARNER_` and mean nothing.
pub(crate) fn unknown() -> Vec<String> {
    let known = |name: &str| {
        let hook = jobs::hook::VARIABLES
            .iter()
            .any(|(_, known)| *known == name);
        hook || OTHERS.contains(&name) || key_of(name).is_some()
    };
    let mut unknown: Vec<_> = all()
        .map(|(name, _)| name)
        .filter(|name| !known(name))
        .collect();
    unknown.sort();
    unknown
}

/// Credentials that systemd passes, `LoadCredential=garner.catalog:FILE`, as keys and files.
pub(super) fn credentials() -> anyhow::Result<Vec<(String, PathBuf)>> {
    let Some(directory) = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from) else {
        return Ok(Vec::new());
    };
    let entries = match std::fs::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot read `{}`", directory.display()))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if let Some(key) = name.to_str().and_then(|name| name.strip_prefix("garner.")) {
            found.push((key.to_owned(), entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// A table that holds one value under a dotted key.
pub(super) fn nested(key: &str, value: Value) -> Table {
    let mut names = key.rsplit('.');
    let mut table = Table::new();
    table.insert(names.next().unwrap_or(key).to_owned(), value);
    for name in names {
        let mut outer = Table::new();
        outer.insert(name.to_owned(), Value::Table(table));
        table = outer;
    }
    table
}

fn all() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        name.starts_with(PREFIX).then_some(())?;
        Some((name, value.into_string().ok()?))
    })
}

/// The dotted key of a variable. One underscore stands between a section and its key, two between levels below.
fn key_of(name: &str) -> Option<String> {
    let rest = name.strip_prefix(PREFIX)?.to_ascii_lowercase();
    if TOP.contains(&rest.as_str()) {
        return Some(rest);
    }
    let sections = || SECTIONS.iter().chain(&SITE_TABLES);
    if let Some(section) = sections().find(|section| **section == rest) {
        return Some((*section).to_owned());
    }
    let section = sections().find(|section| {
        let below = rest.strip_prefix(**section);
        below.is_some_and(|below| below.len() > 1 && below.starts_with('_'))
    })?;
    let below = rest.get(section.len() + 1..)?;
    let below = below.strip_prefix('_').unwrap_or(below);
    Some(format!("{section}.{}", below.replace("__", ".")))
}

/// A value as TOML writes it; what is none is a text.
fn value_of(text: &str) -> Value {
    let table: Result<Table, _> = toml::from_str(&format!("value = {text}"));
    let value = table.ok().and_then(|mut table| {
        let value = table.remove("value");
        value.filter(|_| table.is_empty())
    });
    match value {
        None | Some(Value::Datetime(_)) => Value::String(text.to_owned()),
        Some(value) => value,
    }
}

/// Variables that set no key.
const OTHERS: [&str; 2] = ["GARNER_CONFIG", "GARNER_REMOTE_PASSWORD"];
const PREFIX: &str = "GARNER_";
const TOP: [&str; 3] = ["data", "catalog", "catalog_file"];
const SECTIONS: [&str; 11] = [
    "console",
    "jobs",
    "network",
    "history",
    "friends",
    "import",
    "hook",
    "site",
    "aggregator",
    "admin",
    "log",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_name_keys() {
        for (name, key) in [
            ("GARNER_DATA", Some("data")),
            ("GARNER_CATALOG_FILE", Some("catalog_file")),
            ("GARNER_JOBS_LEASE_SECONDS", Some("jobs.lease_seconds")),
            ("GARNER_JOBS__WORKERS", Some("jobs.workers")),
            ("GARNER_FLOW_CONTROL_LISTS", Some("flow_control.lists")),
            (
                "GARNER_AGGREGATOR_PAGES__BYTES",
                Some("aggregator.pages.bytes"),
            ),
            ("GARNER_HARVEST", None),
            ("GARNER_JOB", None),
            ("GARNER_STATE", None),
        ] {
            assert_eq!(key_of(name).as_deref(), key, "{name}");
        }
    }

    #[test]
    fn values_are_toml_or_texts() {
        assert_eq!(value_of("8"), Value::Integer(8));
        assert_eq!(value_of("true"), Value::Boolean(true));
        let list = Value::Array(vec![Value::String("10.0.0.0/8".to_owned())]);
        assert_eq!(value_of("[\"10.0.0.0/8\"]"), list);
        for text in [
            "/var/lib/garner",
            "postgres://a@b/c",
            "2020-01-01",
            "1\nb = 2",
            "",
        ] {
            assert_eq!(value_of(text), Value::String(text.to_owned()));
        }
    }
}
