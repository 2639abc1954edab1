//! The settings that were made, as people may see them: secrets are hidden, and each tells where it comes from.

use operations::system::{Configuration, ConfiguredSetting};
use toml::{Table, Value};

use super::Layers;
use super::environment::unknown;

/// A setting that was made.
pub(crate) struct ShownSetting {
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) origin: String,
}

impl Layers {
    /// The settings of all layers, without secrets.
    pub(crate) fn shown(&self) -> Vec<ShownSetting> {
        let shown = self.origins.iter().filter_map(|(key, origin)| {
            let value = value_at(&self.settings, key)?.clone();
            Some(ShownSetting {
                key: key.clone(),
                value: hidden(key, value),
                origin: origin.clone(),
            })
        });
        shown.collect()
    }

    /// The same for the page of the installation, with all warnings.
    pub(crate) fn effective(&self) -> Configuration {
        let settings = self.shown().into_iter().map(|setting| ConfiguredSetting {
            key: setting.key,
            value: setting.value.to_string(),
            origin: setting.origin,
        });
        let unknown = unknown().into_iter();
        let unknown = unknown.map(|name| format!("the variable {name} means nothing to garner"));
        Configuration {
            files: self
                .files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            settings: settings.collect(),
            warnings: self.warnings.iter().cloned().chain(unknown).collect(),
            errors: Vec::new(),
        }
    }
}

/// Says that an option of the command line made a setting.
pub(crate) fn set_by_option(
    configuration: &mut Configuration,
    key: &str,
    value: impl Into<Value>,
    option: &str,
) {
    let settings = &mut configuration.settings;
    settings.retain(|setting| setting.key != key);
    settings.push(ConfiguredSetting {
        key: key.to_owned(),
        value: hidden(key, value.into()).to_string(),
        origin: option.to_owned(),
    });
    settings.sort_by(|a, b| a.key.cmp(&b.key));
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
pub(crate) fn without_password(url: &str) -> String {
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
