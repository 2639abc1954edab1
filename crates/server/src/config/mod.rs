//! The configuration file: one TOML file, one struct per concern. Unknown keys are errors that name the nearest.

mod admin;
mod complaint;
mod flow_control;
mod origin;
mod pages;
mod repository;
mod robots;
mod server;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use process::Confiner;
use provider::Description;
use serde::Deserialize;
use site::config::{
    ByValueConfig, FixityConfig, IndexConfig, MediaTypesConfig, OwnSetConfig, RightsConfig,
};
use site::network::is_network;
use site::plugin::PluginRule;
use site::records::{Formats, RecordsConfig};
use site::{AreaConfig, OfferConfig, SiteConfig, SitePath};

pub use self::admin::AdminConfig;
pub use self::complaint::complaint;
pub use self::flow_control::FlowControlConfig;
pub use self::origin::OriginConfig;
pub use self::pages::PagesConfig;
pub use self::repository::RepositoryConfig;
pub use self::robots::RobotsConfig;
pub use self::server::ServerConfig;

/// Everything that can be configured.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where to listen and what to serve.
    pub server: ServerConfig,
    /// The repository's description of itself.
    pub repository: RepositoryConfig,
    /// How long pages may get.
    pub pages: PagesConfig,
    /// How much may be asked at once.
    pub flow_control: FlowControlConfig,
    /// The web server to stand beside.
    pub origin: OriginConfig,
    /// The offer.
    pub offer: OfferConfig,
    /// Media types beyond the built-in table.
    pub media_types: MediaTypesConfig,
    /// Protected areas.
    pub area: Vec<AreaConfig>,
    /// Resources by value.
    pub by_value: ByValueConfig,
    /// Digests.
    pub fixity: FixityConfig,
    /// Plug-ins.
    pub plugin: Vec<PluginRule>,
    /// Sets of the webmaster's own.
    pub set: Vec<OwnSetConfig>,
    /// The rights on records.
    pub rights: Vec<RightsConfig>,
    /// How the index follows the site.
    pub index: IndexConfig,
    /// Files that are records.
    pub records: RecordsConfig,
    /// The robots.txt.
    pub robots: RobotsConfig,
    /// The address for operators.
    pub admin: AdminConfig,
    /// How plug-ins are confined, if the program can do that.
    #[serde(skip)]
    pub confiner: Option<Confiner>,
    /// Files named in the configuration are relative to this directory: that of the file itself.
    #[serde(skip)]
    pub relative_to: PathBuf,
}

impl Config {
    /// Reads a configuration file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let mut config = Self::parse(&text).with_context(|| format!("in `{}`", path.display()))?;
        let directory = path
            .parent()
            .filter(|directory| !directory.as_os_str().is_empty());
        config.relative_to = directory.unwrap_or(Path::new(".")).to_owned();
        for place in [&mut config.server.root, &mut config.server.data]
            .into_iter()
            .flatten()
        {
            *place = config.relative_to.join(&*place);
        }
        Ok(config)
    }

    /// Parses the text of a configuration file.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        toml::from_str(text).map_err(|error| anyhow::anyhow!(complaint(text, &error)))
    }

    /// The root of the site.
    pub fn root(&self) -> anyhow::Result<&Path> {
        let root = self.server.root.as_deref();
        root.context(
            "no site is named; give its directory, or server.root in the configuration file",
        )
    }

    /// Where the index is kept, unless told: `SITE.garner` beside the site, or among the user's data where that cannot be
    /// written.
    pub fn data(&self) -> anyhow::Result<PathBuf> {
        if let Some(data) = &self.server.data {
            return Ok(data.clone());
        }
        let beside = self.beside()?;
        let above = beside.parent().unwrap_or(Path::new("/"));
        let place = if beside.exists() { &beside } else { above };
        if !above.exists() || is_writable(place) {
            return Ok(beside);
        }
        let own = user_data().with_context(|| {
            format!(
                "the index cannot be kept in `{}`, because `{}` cannot be written, and there is no data directory of the user (HOME, XDG_DATA_HOME) that can; name a directory with --data",
                beside.display(),
                place.display()
            )
        })?;
        Ok(own.join("garner/sites").join(name_of(&beside)))
    }

    /// Whether the index is not where it would be expected, beside the site.
    pub fn is_data_elsewhere(&self) -> bool {
        self.server.data.is_none() && self.data().ok() != self.beside().ok()
    }

    fn beside(&self) -> anyhow::Result<PathBuf> {
        let root = self.root()?;
        // As it was given: a link that is switched to another release keeps its index.
        let root = std::path::absolute(root)
            .with_context(|| format!("cannot find the site `{}`", root.display()))?;
        let root = root.components().collect::<PathBuf>();
        let mut name = root.into_os_string();
        name.push(".garner");
        Ok(name.into())
    }

    /// The beginning of the URLs of the files.
    pub fn site_url(&self, listening: SocketAddr) -> anyhow::Result<String> {
        if let Some(base_url) = &self.server.base_url {
            check_url(base_url)?;
        }
        let url = match (&self.server.site_url, &self.origin.url, &self.server.base_url) {
            (Some(url), _, _) | (None, Some(url), _) => url.clone(),
            (None, None, Some(base_url)) => base_url
                .strip_suffix(&self.server.base_path)
                .map(str::to_owned)
                .with_context(|| {
                    let path = &self.server.base_path;
                    format!("the base URL `{base_url}` does not end in `{path}`; set server.site_url too")
                })?,
            (None, None, None) => format!("http://{listening}/"),
        };
        check_url(&url)?;
        Ok(format!("{}/", url.trim_end_matches('/')))
    }

    /// Where the repository answers.
    pub fn base_url(&self, listening: SocketAddr) -> anyhow::Result<String> {
        let url = self
            .server
            .base_url
            .clone()
            .unwrap_or_else(|| format!("http://{listening}{}", self.server.base_path));
        check_url(&url)?;
        Ok(url)
    }

    /// Whom to write to. Some address must be told; one that cannot be reached is better than a lie.
    pub fn admin_emails(&self) -> Vec<String> {
        match self.repository.admin_emails.is_empty() {
            true => vec!["webmaster@example.org".to_owned()],
            false => self.repository.admin_emails.clone(),
        }
    }

    /// The site's own part.
    pub fn site(&self, listening: SocketAddr) -> anyhow::Result<SiteConfig> {
        let (site_url, base_url) = (self.site_url(listening)?, self.base_url(listening)?);
        let mut offer = self.offer.clone();
        if self.origin.url.is_none() {
            offer.covered.push(self.server.base_path.clone());
        }
        let records = match self.records.enabled {
            true => Some(Arc::new(Formats::compile(&self.records, host(&base_url))?)),
            false => None,
        };
        Ok(SiteConfig {
            records,
            relative_to: self.relative_to.clone(),
            offer,
            media_types: self.media_types.clone(),
            areas: self.area.clone(),
            by_value: self.by_value.clone(),
            fixity: self.fixity.clone(),
            plugins: self.plugin.clone(),
            sets: self.set.clone(),
            rights: self.rights.clone(),
            index: self.index.clone(),
            confiner: (self.confiner.clone())
                .ok_or_else(|| "this program cannot confine others".to_owned()),
            ..SiteConfig::new(self.root()?, &self.data()?, &site_url, &base_url)
        })
    }

    /// Checks what can be checked before anything starts.
    pub fn check(&self) -> anyhow::Result<()> {
        self.check_base_path()?;
        self.check_urls()?;
        self.check_admin_emails()?;
        self.check_descriptions()?;
        for network in &self.server.trusted_proxies {
            if !is_network(network) {
                bail!("server.trusted_proxies: `{network}` is not an address or network");
            }
        }
        let control = &self.flow_control;
        for (key, value) in [
            ("connections", control.connections as u64),
            (
                "connections_per_client",
                control.connections_per_client as u64,
            ),
            ("stall_seconds", control.stall_seconds),
        ] {
            if value == 0 {
                bail!("flow_control.{key} has to be at least 1");
            }
        }
        self.check_directories()?;
        if self.records.enabled && !self.set.is_empty() {
            bail!("files that are records have the sets of their folders: remove [[set]]");
        }
        if self.records.enabled && self.origin.url.is_some() {
            bail!("files that are records are served by garner alone: leave out --origin");
        }
        if self.origin.url.is_some() && !self.area.is_empty() {
            bail!(
                "areas are for the stand-alone server; beside an origin its own access rules hold: remove [[area]]"
            );
        }
        Ok(())
    }

    fn check_base_path(&self) -> anyhow::Result<()> {
        let path = &self.server.base_path;
        let unreserved = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
        if let Some(strange) = path.chars().find(|c| !unreserved(*c)) {
            bail!(
                "server.base_path `{path}` holds `{strange}`; only letters, digits, slashes and `-._~` can stand there"
            );
        }
        let segments = path.strip_prefix('/').unwrap_or_default();
        if segments.is_empty() || SitePath::from_url_path(segments).is_none() || path.ends_with('/')
        {
            bail!(
                "server.base_path `{path}` must begin with a slash, name something and not end in a slash"
            );
        }
        Ok(())
    }

    fn check_urls(&self) -> anyhow::Result<()> {
        for (key, url) in [
            ("server.base_url", &self.server.base_url),
            ("server.site_url", &self.server.site_url),
            ("origin.url", &self.origin.url),
        ] {
            if let Some(url) = url {
                check_url(url).with_context(|| format!("in {key}"))?;
            }
        }
        Ok(())
    }

    fn check_admin_emails(&self) -> anyhow::Result<()> {
        for email in &self.repository.admin_emails {
            let (user, host) = email.split_once('@').unwrap_or_default();
            if user.is_empty() || !host.contains('.') || email.contains(char::is_whitespace) {
                bail!("`{email}` is not an e-mail address that harvesters could write to");
            }
        }
        Ok(())
    }

    fn check_descriptions(&self) -> anyhow::Result<()> {
        let mut descriptions = self.repository.descriptions.iter();
        match descriptions.find_map(Description::mistake) {
            Some(mistake) => bail!("repository.descriptions: {mistake}"),
            None => Ok(()),
        }
    }

    fn check_directories(&self) -> anyhow::Result<()> {
        let root = self.root()?;
        if !root.is_dir() {
            bail!("the site `{}` is not a directory", root.display());
        }
        let data = self.data()?;
        if resolved(&data)?.starts_with(resolved(root)?) {
            bail!(
                "the data directory `{}` lies within the site, which would offer it; give a place outside with --data",
                data.display()
            );
        }
        Ok(())
    }
}

/// A path with its links resolved, as far as it exists.
fn resolved(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let existing = path.ancestors().find_map(|ancestor| {
        let real = ancestor.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(ancestor).ok()?))
    });
    Ok(existing.unwrap_or(path))
}

/// The host of a URL, without a port.
fn host(url: &str) -> &str {
    let authority = authority(url);
    match authority.strip_prefix('[') {
        Some(_) => authority,
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// The authority of a URL.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

fn check_url(url: &str) -> anyhow::Result<()> {
    // URLs stand in records, messages and logs, where a password must not be; and the origin is asked with the
    // requester's own credentials. For the same reason the URL is not repeated here.
    if authority(url).contains('@') {
        bail!("the URL holds a user name or a password; leave out what stands before the `@`");
    }
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let legal = rest.is_some_and(|rest| {
        !rest.is_empty() && !rest.starts_with('/') && !rest.contains(['?', '#', ' ', '"', '<', '>'])
    });
    if !legal {
        bail!("`{url}` is not an http or https URL without query");
    }
    Ok(())
}

fn is_writable(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Where programs keep data of the user who runs them, if they can.
fn user_data() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    let home = || Some(set("HOME").filter(absolute)?.join(".local/share"));
    let own = set("XDG_DATA_HOME").filter(absolute).or_else(home)?;
    let existing = own.ancestors().find(|ancestor| ancestor.exists())?;
    is_writable(existing).then_some(own)
}

/// A name for the index of a site, another for each path.
fn name_of(beside: &Path) -> String {
    let path = beside.to_string_lossy();
    let path = path.replace('%', "%25").replace('-', "%2D");
    path.trim_start_matches('/').replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_names_the_nearest_one() {
        let error = Config::parse("[repository]\nadmin_email = []\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("did you mean `admin_emails`?"), "{error}");
        assert!(error.contains("line 2"), "{error}");

        let error = Config::parse("[repostory]\n").unwrap_err().to_string();
        assert!(error.contains("did you mean `repository`?"), "{error}");
    }

    #[test]
    fn urls_follow_from_the_address_unless_told() {
        let listening: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        let mut config = Config::default();
        assert_eq!(
            config.base_url(listening).unwrap(),
            "http://127.0.0.1:8080/modoai"
        );
        assert_eq!(
            config.site_url(listening).unwrap(),
            "http://127.0.0.1:8080/"
        );

        config.server.base_url = Some("https://www.example.org/modoai".to_owned());
        assert_eq!(
            config.site_url(listening).unwrap(),
            "https://www.example.org/"
        );

        config.server.base_url = Some("https://www.example.org/oai".to_owned());
        assert!(config.site_url(listening).is_err());
        config.origin.url = Some("http://127.0.0.1:8000".to_owned());
        assert_eq!(
            config.site_url(listening).unwrap(),
            "http://127.0.0.1:8000/"
        );
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets() {
        let listening: SocketAddr = "[::1]:8080".parse().unwrap();
        let config = Config::default();

        let base_url = config.base_url(listening).unwrap();
        let site_url = config.site_url(listening).unwrap();

        assert_eq!(base_url, "http://[::1]:8080/modoai");
        assert_eq!(site_url, "http://[::1]:8080/");
    }

    #[test]
    fn the_documented_example_parses() {
        let text = include_str!("../../../../examples/site.toml");
        Config::parse(text).unwrap();
    }

    #[test]
    fn each_site_has_an_index_of_its_own_among_the_users_data() {
        let names = [
            "/var/www/html.garner",
            "/var/www-html.garner",
            "/var%2Dwww/html.garner",
        ];
        let names = names.map(|path| name_of(Path::new(path)));
        assert_eq!(names[0], "var-www-html.garner");
        assert_eq!(names[1], "var-www%2Dhtml.garner");
        assert_eq!(names[2], "var%252Dwww-html.garner");
    }
}
