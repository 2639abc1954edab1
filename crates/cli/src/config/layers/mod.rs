//! The places that the configuration comes from, lowest first: the system's file, the user's file, the file of
//! `--config`, systemd credentials, the environment.

mod deprecated;
mod environment;
mod paths;
mod shown;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use server::config::complaint;
use toml::{Table, Value};

use super::Config;

/// All layers, one on top of the other.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// The merged settings. Paths in it are no longer relative to a file.
    pub(crate) settings: Table,
    /// Where each setting comes from, by its dotted key.
    pub(crate) origins: BTreeMap<String, String>,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
    /// Deprecated keys and files that may not be read.
    pub(crate) warnings: Vec<String>,
    /// The directory of the file that names the sites.
    pub(super) sites_in: PathBuf,
    /// The directory of the file that has `[aggregator]`.
    pub(super) aggregator_in: PathBuf,
    /// Whether `data` was set by the environment.
    pub(crate) is_data_of_environment: bool,
    /// Whether `catalog` was set by the environment or by a file that was named.
    pub(crate) is_catalog_named: bool,
}

impl Layers {
    /// Reads all layers. `named` is the file of `--config`; without it the one that `GARNER_CONFIG` names is read.
    pub(crate) fn read(named: Option<&Path>) -> anyhow::Result<Self> {
        let mut layers = Self {
            sites_in: PathBuf::from("."),
            aggregator_in: PathBuf::from("."),
            ..Self::default()
        };
        for path in [Some(PathBuf::from(SYSTEM)), user_file()]
            .into_iter()
            .flatten()
        {
            layers.add_implicit(&path)?;
        }
        if let Some(path) = named.map(Path::to_owned).or_else(named_by_environment) {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read `{}`", path.display()))?;
            layers.add_file(&path, &text)?;
            layers.is_catalog_named = layers.origin("catalog") == Some(path.display().to_string());
        }
        layers.add_credentials_and_environment()?;
        Ok(layers)
    }

    /// Only what the environment says.
    pub(crate) fn of_environment() -> anyhow::Result<Self> {
        let mut layers = Self {
            sites_in: PathBuf::from("."),
            aggregator_in: PathBuf::from("."),
            ..Self::default()
        };
        layers.add_credentials_and_environment()?;
        Ok(layers)
    }

    /// The settings as the program uses them.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let mut config: Config = Value::Table(self.settings.clone())
            .try_into()
            .map_err(|error| anyhow::anyhow!(complaint("", &error)))
            .context("in the configuration")?;
        config
            .aggregator
            .relative_to
            .clone_from(&self.aggregator_in);
        config.sites_in.clone_from(&self.sites_in);
        for site in &mut config.site {
            site.relative_to.clone_from(&self.sites_in);
        }
        config.effective = self.effective();
        config.has_site_tables = has_site_tables(&self.settings);
        config.is_catalog_named = self.is_catalog_named;
        Ok(config)
    }

    fn origin(&self, key: &str) -> Option<String> {
        self.origins.get(key).cloned()
    }

    /// Adds a file that need not be there.
    fn add_implicit(&mut self, path: &Path) -> anyhow::Result<()> {
        match std::fs::read_to_string(path) {
            Ok(text) => self.add_file(path, &text),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                let path = path.display();
                self.warnings.push(format!(
                    "`{path}` is not read: permission denied for this user"
                ));
                Ok(())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        }
    }

    fn add_file(&mut self, path: &Path, text: &str) -> anyhow::Result<()> {
        let directory = path
            .parent()
            .filter(|directory| !directory.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let (mut table, warnings) =
            checked(text).with_context(|| format!("in `{}`", path.display()))?;
        let told = |warning| format!("`{}`: {warning}", path.display());
        self.warnings.extend(warnings.into_iter().map(told));
        paths::make_absolute(&mut table, directory);
        self.files.push(path.to_owned());
        self.merge(table, &path.display().to_string(), directory);
        Ok(())
    }

    fn add_credentials_and_environment(&mut self) -> anyhow::Result<()> {
        for (key, file) in environment::credentials()? {
            let text = std::fs::read_to_string(&file)
                .with_context(|| format!("cannot read the credential `{}`", file.display()))?;
            let value = Value::String(text.trim_end().to_owned());
            let origin = format!("the credential {}", file.display());
            self.add_setting(&key, value, &origin)?;
        }
        for variable in environment::variables() {
            let origin = format!("${}", variable.name);
            self.add_setting(&variable.key, variable.value, &origin)?;
            self.is_data_of_environment |= variable.key == "data";
            self.is_catalog_named |= variable.key == "catalog" || variable.key == "catalog_file";
        }
        Ok(())
    }

    fn add_setting(&mut self, key: &str, value: Value, origin: &str) -> anyhow::Result<()> {
        let mut table = environment::nested(key, value);
        for warning in deprecated::rename(&mut table) {
            self.warnings.push(format!("{origin}: {warning}"));
        }
        Config::deserialize(Value::Table(table.clone()))
            .map_err(|error| anyhow::anyhow!(complaint("", &error)))
            .with_context(|| format!("in {origin}"))?;
        self.merge(table, origin, Path::new("."));
        Ok(())
    }

    /// Puts a layer on top. The tables of sites belong together: the last file that has any names them all.
    fn merge(&mut self, layer: Table, origin: &str, directory: &Path) {
        let is_file = !origin.starts_with(['$']) && !origin.starts_with("the credential");
        let has_sites = has_site_tables(&layer) || layer.contains_key("site");
        if is_file && has_sites {
            for key in SITE_TABLES.iter().chain(&["site"]) {
                self.settings.remove(*key);
                self.forget(key);
            }
            self.sites_in = directory.to_owned();
        }
        if is_file && layer.contains_key("aggregator") {
            self.aggregator_in = directory.to_owned();
        }
        // A value and the file that holds it are one setting.
        for key in ["catalog", "catalog_file"] {
            if layer.contains_key(key) {
                for older in ["catalog", "catalog_file"] {
                    self.settings.remove(older);
                    self.forget(older);
                }
            }
        }
        let mut leaves = Vec::new();
        leaves_of(&layer, "", &mut leaves);
        for key in leaves {
            self.forget(&key);
            self.origins.insert(key, origin.to_owned());
        }
        merge_tables(&mut self.settings, layer);
    }

    fn forget(&mut self, key: &str) {
        let below = format!("{key}.");
        self.origins
            .retain(|name, _| name != key && !name.starts_with(&below));
    }
}

/// The settings of a text, with names of today, and warnings for names of yesterday.
pub(super) fn checked(text: &str) -> anyhow::Result<(Table, Vec<String>)> {
    let said = |error: toml::de::Error| anyhow::anyhow!(complaint(text, &error));
    let mut table: Table = toml::from_str(text).map_err(said)?;
    let warnings = deprecated::rename(&mut table);
    // Without deprecated keys the text itself is checked: its errors name the line.
    match warnings.is_empty() {
        true => drop(toml::from_str::<Config>(text).map_err(said)?),
        false => drop(Config::deserialize(Value::Table(table.clone())).map_err(said)?),
    }
    Ok((table, warnings))
}

/// The dotted keys of all values. Arrays are values.
fn leaves_of(table: &Table, prefix: &str, leaves: &mut Vec<String>) {
    for (key, value) in table {
        let key = format!("{prefix}{key}");
        match value {
            Value::Table(inner) => leaves_of(inner, &format!("{key}."), leaves),
            _ => leaves.push(key),
        }
    }
}

fn merge_tables(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge_tables(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

fn has_site_tables(settings: &Table) -> bool {
    SITE_TABLES.iter().any(|key| settings.contains_key(*key))
}

/// The configuration file of the user who runs garner.
pub(crate) fn user_file() -> Option<PathBuf> {
    let directory = of_user("XDG_CONFIG_HOME", ".config")?;
    Some(directory.join("garner/garner.toml"))
}

/// A directory of the user, by a variable of the XDG base directories or else below the home directory.
pub(crate) fn of_user(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    let home = || Some(set("HOME").filter(absolute)?.join(below_home));
    set(variable).filter(absolute).or_else(home)
}

/// The file that the environment names.
pub(crate) fn named_by_environment() -> Option<PathBuf> {
    let path = std::env::var_os("GARNER_CONFIG").map(PathBuf::from);
    path.filter(|path| !path.as_os_str().is_empty())
}

pub(crate) use self::environment::unknown as unknown_variables;
pub(crate) use self::shown::{set_by_option, without_password};

/// The tables that describe one site at the top level of a file. `[admin]` is not among them: workers have it too.
pub(super) const SITE_TABLES: [&str; 16] = [
    "server",
    "repository",
    "pages",
    "flow_control",
    "origin",
    "offer",
    "media_types",
    "area",
    "by_value",
    "fixity",
    "plugin",
    "set",
    "rights",
    "index",
    "records",
    "robots",
];

/// The configuration file of the machine.
pub(crate) const SYSTEM: &str = "/etc/garner/garner.toml";

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(layers: &[(&str, &str)]) -> Layers {
        let mut all = Layers::default();
        for (path, text) in layers {
            all.add_file(Path::new(path), text).unwrap();
        }
        all
    }

    #[test]
    fn later_files_win_key_by_key_and_paths_stay_relative_to_their_file() {
        let layers = merged(&[
            (
                "/etc/garner/garner.toml",
                "data = 'd'\n[jobs]\nworkers = 2\nattempts = 9\n[network]\nca_file = 'ca.pem'\n",
            ),
            ("/home/a/garner.toml", "[jobs]\nworkers = 8\n"),
        ]);

        let config = layers.config().unwrap();

        assert_eq!(config.data.as_deref(), Some(Path::new("/etc/garner/d")));
        let ca = config.network.ca_file.as_deref();
        assert_eq!(ca, Some(Path::new("/etc/garner/ca.pem")));
        assert_eq!((config.jobs.workers, config.jobs.attempts), (8, 9));
        assert_eq!(layers.origins["jobs.workers"], "/home/a/garner.toml");
        assert_eq!(layers.origins["jobs.attempts"], "/etc/garner/garner.toml");
    }

    #[test]
    fn the_last_file_with_sites_names_them_all() {
        let layers = merged(&[
            (
                "/etc/garner/garner.toml",
                "[[site]]\nroot = 'a'\n[[site]]\nroot = 'b'\n",
            ),
            (
                "/srv/site.toml",
                "[server]\nroot = 'c'\n[repository]\nname = 'C'\n",
            ),
        ]);

        let config = layers.config().unwrap();

        assert!(config.site.is_empty() && config.has_site_tables);
        assert_eq!(config.server.root.as_deref(), Some(Path::new("/srv/c")));
        assert!(!layers.origins.contains_key("site"));
    }

    #[test]
    fn deprecated_keys_work_and_warn() {
        let layers = merged(&[("/a/garner.toml", "[network]\nca = 'ca.pem'\n")]);

        let config = layers.config().unwrap();

        assert_eq!(config.network.ca_file, Some(PathBuf::from("/a/ca.pem")));
        let warning = layers.warnings.join("\n");
        assert!(warning.contains("network.ca_file"), "{warning}");
        assert!(warning.contains("/a/garner.toml"), "{warning}");
    }
}
