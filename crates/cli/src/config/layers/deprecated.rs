//! Renamed keys: the old names still work, and a warning names the new one.

use toml::{Table, Value};

/// Renames deprecated keys, and returns a warning for each.
pub(super) fn rename(settings: &mut Table) -> Vec<String> {
    let mut warnings = Vec::new();
    for (section, old, new) in RENAMED {
        let Some(Value::Table(table)) = settings.get_mut(section) else {
            continue;
        };
        let Some(value) = table.remove(old) else {
            continue;
        };
        let value = match LISTS.contains(&new) && value.is_str() {
            true => Value::Array(vec![value]),
            false => value,
        };
        let both = table.contains_key(new);
        table.entry(new).or_insert(value);
        warnings.push(match both {
            true => format!("{section}.{old} is deprecated and ignored beside {section}.{new}"),
            false => format!("{section}.{old} is deprecated; write {section}.{new}"),
        });
    }
    warnings
}

/// Section, old key, new key. Those of `import` are the names of the Crawl Document Importer.
const RENAMED: [(&str, &str, &str); 6] = [
    ("network", "ca", "ca_file"),
    ("import", "inputdir", "paths"),
    ("import", "logfile", "log"),
    ("import", "logparser", "log_format"),
    ("import", "outputdir", "collection"),
    ("import", "allow_doc_type", "types"),
];

/// New keys that hold lists where the old ones held a single text.
const LISTS: [&str; 2] = ["paths", "types"];
