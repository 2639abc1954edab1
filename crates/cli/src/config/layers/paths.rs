//! Relative paths of a file become relative to its directory, before files are merged.

use std::path::Path;

use classifier::CDI_2012;
use flows::StoredSource;
use remote::Address;
use toml::{Table, Value};

/// Joins each path below `settings` to `directory`. Those of sites and of `[aggregator]` wait until they are used.
pub(super) fn make_absolute(settings: &mut Table, directory: &Path) {
    let join = |value: &mut Value| {
        if let Value::String(text) = value {
            *text = directory.join(&*text).to_string_lossy().into_owned();
        }
    };
    for (section, key) in PATHS {
        let table = match section {
            "" => Some(&mut *settings),
            section => settings.get_mut(section).and_then(Value::as_table_mut),
        };
        let Some(value) = table.and_then(|table| table.get_mut(key)) else {
            continue;
        };
        match value {
            Value::Array(values) => values
                .iter_mut()
                .filter(|value| is_path(section, key, value))
                .for_each(join),
            value if is_path(section, key, value) => join(value),
            _ => {}
        }
    }
    // A worker elsewhere goes by it as well.
    let collection = settings.get_mut("import").and_then(Value::as_table_mut);
    if let Some(Value::String(place)) = collection.and_then(|import| import.get_mut("collection"))
        && !place.contains("://")
    {
        let path = directory.join(&*place);
        let path = std::path::absolute(&path).unwrap_or(path);
        *place = path.to_string_lossy().into_owned();
    }
    for hook in settings
        .get_mut("hook")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(file) = hook
            .as_table_mut()
            .and_then(|hook| hook.get_mut("secret_file"))
        {
            join(file);
        }
    }
}

fn is_path(section: &str, key: &str, value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return false;
    };
    match (section, key) {
        ("", "catalog") => !text.contains(':'),
        ("friends", _) => !text.contains("://"),
        ("import", "log_format") => text.contains('/') || text.ends_with(".toml"),
        ("import", "model") => text != CDI_2012,
        ("import", _) => {
            !(Address::is_meant(Path::new(text)) || StoredSource::is_meant(Path::new(text)))
        }
        _ => true,
    }
}

const PATHS: [(&str, &str); 21] = [
    ("", "data"),
    ("", "catalog"),
    ("", "catalog_file"),
    ("network", "ca_file"),
    ("mail", "password_file"),
    ("friends", "source"),
    ("admin", "token_file"),
    ("server", "root"),
    ("server", "data"),
    ("import", "paths"),
    ("import", "roots"),
    ("import", "log"),
    ("import", "root"),
    ("import", "blacklist"),
    ("import", "no_database"),
    ("import", "netrc"),
    ("import", "ssh_key"),
    ("import", "known_hosts"),
    ("import", "ca_file"),
    ("import", "log_format"),
    ("import", "model"),
];
