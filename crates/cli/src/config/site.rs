//! `[[site]]`: a site that is exposed beside the console.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use serde::Deserialize;
use server::config::complaint;

/// A site: a directory and where it answers, with the tables of a site's configuration or a file that has them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SiteConfig {
    /// A configuration file as `garner serve` reads it.
    config: Option<PathBuf>,
    /// The directory of the site.
    root: Option<PathBuf>,
    /// Where its index is kept.
    data: Option<PathBuf>,
    /// Where it answers.
    listen: Option<SocketAddr>,
    /// Where the repository answers, as harvesters see it.
    base_url: Option<String>,
    /// All the rest: tables such as `[site.repository]`.
    #[serde(flatten)]
    tables: toml::Table,
    /// The directory of the file that this was read from.
    #[serde(skip)]
    pub(super) relative_to: PathBuf,
}

impl SiteConfig {
    /// As the server has it.
    pub(crate) fn server(&self) -> anyhow::Result<server::Config> {
        let place = |path: &Path| self.relative_to.join(path);
        let mut config = match &self.config {
            Some(_) if !self.tables.is_empty() => {
                let key = self.tables.keys().next().map_or("", String::as_str);
                return Err(anyhow!(
                    "[[site]] names a file with config and has `{key}` beside it; write that into the file"
                ));
            }
            Some(file) => server::Config::read(&place(file))?,
            None => {
                let mut config: server::Config = toml::Value::Table(self.tables.clone())
                    .try_into()
                    .map_err(|error| anyhow!(complaint("", &error)))
                    .context("in [[site]]")?;
                config.relative_to.clone_from(&self.relative_to);
                config
            }
        };
        let target = &mut config.server;
        if let Some(root) = &self.root {
            target.root = Some(place(root));
        }
        if let Some(data) = &self.data {
            target.data = Some(place(data));
        }
        if let Some(listen) = self.listen {
            target.listen = listen;
        }
        if self.base_url.is_some() {
            target.base_url.clone_from(&self.base_url);
        }
        config.check().context("in [[site]]")?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> anyhow::Result<server::Config> {
        let site: SiteConfig = toml::from_str(text).unwrap();
        site.server()
    }

    #[test]
    fn a_site_has_its_tables_or_a_file_that_has_them() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().display();
        let inline = format!(
            "root = '{root}'\nlisten = '127.0.0.1:1'\n[repository]\nname = 'a'\n[fixity]\nalgorithms = ['md5']\n"
        );
        let config = site(&inline).unwrap();
        assert_eq!(config.repository.name.as_deref(), Some("a"));
        assert_eq!(config.server.listen.port(), 1);

        let error = site("config = 'site.toml'\n[repository]\nname = 'a'\n").unwrap_err();
        assert!(error.to_string().contains("`repository`"), "{error}");
    }

    #[test]
    fn an_unknown_key_of_a_site_names_the_nearest_one() {
        let error = site("root = '/'\n[repository]\nadmin_email = []\n").unwrap_err();
        let error = flows::message(&error);
        assert!(error.contains("did you mean `admin_emails`?"), "{error}");
        let error = flows::message(&site("rot = '/'\n").unwrap_err());
        assert!(error.contains("unknown field `rot`"), "{error}");
    }
}
