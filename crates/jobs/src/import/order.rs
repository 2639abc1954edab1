//! What is to be imported, and how.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use crawl::LogFormat;
use document::classify::CDI_2012;
use document::confine::Confiner;
use document::container::Containers;
use harvester::AddressPolicy;
use remote::{Access, Address};
use serde::{Deserialize, Serialize};
use store::Durability;

use super::fetched::{FetchedSource, address};
use super::judging::TextOrder;
use super::sources::is_file;
use crate::harvest::digest;

/// An import: which crawl, which of its documents, and where they go. As JSON, these are the parameters of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImportCrawl {
    /// Archives, directories of archives, or the directory of a mirror; here, or at an address such as
    /// `sftp://user@host/crawl/`.
    pub paths: Vec<PathBuf>,
    /// The crawler's log: what the archives lack, or the list of what is in a mirror.
    pub log: Option<PathBuf>,
    /// The format of the log: the name of one that is built in, or a TOML file that describes it.
    pub log_format: Option<String>,
    /// The directory that the files of the log lie in.
    pub root: Option<PathBuf>,
    /// What the URLs begin with, where a list only has paths.
    pub base_url: Option<String>,
    /// The media types that are taken.
    pub types: Vec<String>,
    /// Containers that are opened.
    #[serde(with = "opened")]
    pub open: Containers,
    /// A file of hosts and URLs that are not wanted.
    pub blacklist: Option<PathBuf>,
    /// Longer URLs are refused.
    pub max_url_length: usize,
    /// Whether the older content of a changed document is kept.
    pub keep_versions: bool,
    /// The name of the crawler, for the `.met` files.
    pub crawler: Option<String>,
    /// How many threads read.
    pub threads: usize,
    /// The directory that documents go into, if not DIR/documents. The catalog keeps to that of its first import.
    pub collection: Option<String>,
    /// How documents are read for their text, and which are wanted by it.
    pub texts: TextOrder,
    /// How this program executes itself so that those which read documents do no harm; nothing is read for its text without.
    #[serde(skip)]
    pub confiner: Option<Confiner>,
    /// Directories that all that is read has to lie in, wherever links lead; anywhere if there are none.
    pub within: Vec<PathBuf>,
    /// When files must have reached the disk.
    #[serde(rename = "no_sync", with = "unsynced")]
    pub durability: Durability,
    /// What opens the servers that sources are fetched from. It is never a part of a job.
    #[serde(skip, default = "Access::of_environment")]
    pub access: Access,
    /// Which servers may be connected to.
    #[serde(skip)]
    pub allow: AddressPolicy,
    /// What was fetched.
    #[serde(skip)]
    pub fetched: Vec<FetchedSource>,
}

/// What an import was begun with, as the catalog keeps it: one that was interrupted is gone on with only if all of it is
/// the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parameters {
    types: Vec<String>,
    #[serde(with = "opened")]
    open: Containers,
    log: Option<PathBuf>,
    /// The name of the format, or the digest of the file that describes it.
    log_format: Option<String>,
    root: Option<PathBuf>,
    base_url: Option<String>,
    /// The digest of what the blacklist said.
    blacklist: Option<String>,
    max_url_length: usize,
    keep_versions: bool,
    crawler: Option<String>,
    collection: Option<String>,
    /// How texts are read and judged, with the version of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    texts: Option<String>,
}

impl Default for ImportCrawl {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            log: None,
            log_format: None,
            root: None,
            base_url: None,
            types: TYPES.map(str::to_owned).to_vec(),
            open: Containers::default(),
            blacklist: None,
            max_url_length: LONGEST_URL,
            keep_versions: false,
            crawler: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            collection: None,
            texts: TextOrder::default(),
            confiner: None,
            within: Vec::new(),
            durability: Durability::default(),
            access: Access::of_environment(),
            allow: AddressPolicy::default(),
            fetched: Vec::new(),
        }
    }
}

impl ImportCrawl {
    /// Reads the parameters of a job.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        serde_json::from_str(json).context("the parameters of the import cannot be read")
    }

    /// The parameters of a job that any process can do which sees the files under the same names.
    pub fn text(&self) -> anyhow::Result<String> {
        let place = |path: &Path| match Address::is_meant(path) {
            true => Ok(path.to_owned()),
            false => std::path::absolute(path),
        };
        let mut order = self.clone();
        for path in order.paths.iter_mut().chain(&mut order.within) {
            *path = place(path)?;
        }
        for path in [&mut order.log, &mut order.root, &mut order.blacklist] {
            *path = path.as_deref().map(place).transpose()?;
        }
        if let Some(format) = &mut order.log_format
            && is_file(format)
        {
            *format = place(Path::new(format))?.to_string_lossy().into_owned();
        }
        order.texts.absolute()?;
        Ok(serde_json::to_string(&order)?)
    }

    /// Finds what no import could be made with. What is said begins with the name of the field.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.paths.is_empty() && self.log.is_none() {
            bail!("paths: nothing to import; name archives, directories, or a log");
        }
        for (field, path) in self.files() {
            let can_be_fetched = ["paths", "log", "root"].contains(&field);
            if can_be_fetched && address(path).context(field)?.is_some() {
                continue;
            }
            let path = path.to_string_lossy();
            if path.contains("://") {
                bail!(
                    "{field}: `{path}` is a URL where a file or directory is due; ftp://, ftps:// and sftp:// can be fetched"
                );
            }
            if path.is_empty() || path.len() > LONGEST_PATH || path.contains('\0') {
                bail!("{field}: this cannot be the path of a file");
            }
        }
        if self.types.is_empty() || self.types.len() > MOST_TYPES {
            bail!("types: name one media type, and {MOST_TYPES} at most");
        }
        for name in &self.types {
            if !is_media_type(name) {
                bail!("types: `{name}` is not a media type; write one such as application/pdf");
            }
        }
        if !LENGTHS.contains(&self.max_url_length) {
            let (least, most) = (LENGTHS.start(), LENGTHS.end());
            bail!("max_url_length: write a number from {least} to {most}");
        }
        if !(1..=MOST_THREADS).contains(&self.threads) {
            bail!("threads: write a number from 1 to {MOST_THREADS}");
        }
        let texts = [("base_url", &self.base_url), ("crawler", &self.crawler)];
        for (field, text) in texts {
            if text.as_ref().is_some_and(|text| text.len() > LONGEST_PATH) {
                bail!("{field}: this is longer than {LONGEST_PATH} bytes");
            }
        }
        Ok(())
    }

    /// All files and directories that are named, each with the field that names it. A log format or a model that
    /// is not built in is a file.
    pub fn files(&self) -> Vec<(&'static str, &Path)> {
        let format = self.log_format.as_deref();
        let format = format.filter(|format| !LogFormat::NAMES.contains(format));
        let model = self.texts.model.as_deref();
        let model = model.filter(|model| *model != CDI_2012);
        let mut files: Vec<_> = self
            .paths
            .iter()
            .map(|path| ("paths", path.as_path()))
            .collect();
        let others = [
            ("log", self.log.as_deref()),
            ("log_format", format.map(Path::new)),
            ("root", self.root.as_deref()),
            ("blacklist", self.blacklist.as_deref()),
            ("model", model.map(Path::new)),
        ];
        files.extend(
            others
                .into_iter()
                .filter_map(|(field, path)| Some((field, path?))),
        );
        files
    }

    /// Refuses files that do not lie where they have to, wherever links lead. It is the same whether one is elsewhere or
    /// nowhere, so that nobody finds out what else there is.
    pub fn check_places(&self) -> anyhow::Result<()> {
        if self.within.is_empty() {
            return Ok(());
        }
        let real = |path: &Path| path.canonicalize().ok();
        let within: Vec<_> = self.within.iter().filter_map(|root| real(root)).collect();
        for (field, path) in self.files() {
            let lies = |real: &PathBuf| within.iter().any(|root| real.starts_with(root));
            if !path.is_absolute() || !real(path).as_ref().is_some_and(lies) {
                let roots = self.within.iter().map(|root| root.display().to_string());
                let roots: Vec<_> = roots.collect();
                bail!(
                    "{field}: `{}` is nothing that lies in {}; write the whole path of something that does",
                    path.display(),
                    roots.join(" or ")
                );
            }
        }
        Ok(())
    }

    pub(super) fn parameters(&self) -> anyhow::Result<Parameters> {
        let log_format = match &self.log_format {
            Some(format) if is_file(format) => Some(said(Path::new(format))?),
            format => format.clone(),
        };
        let mut types = self.types.clone();
        types.sort();
        Ok(Parameters {
            types,
            open: self.open,
            log: absolute(self.log.as_deref())?,
            log_format,
            root: absolute(self.root.as_deref())?,
            base_url: self.base_url.clone(),
            blacklist: self.blacklist.as_deref().map(said).transpose()?,
            max_url_length: self.max_url_length,
            keep_versions: self.keep_versions,
            crawler: self.crawler.clone(),
            collection: self.collection.clone(),
            texts: self.texts.said()?,
        })
    }
}

fn absolute(path: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    Ok(path.map(std::path::absolute).transpose()?)
}

/// Containers as a list of their names.
mod opened {
    use document::container::Containers;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(open: &Containers, to: S) -> Result<S::Ok, S::Error> {
        let all = [(open.gzip, "gzip"), (open.tar, "tar"), (open.zip, "zip")];
        let names: Vec<_> = all
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, name)| *name)
            .collect();
        names.serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Containers, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        super::containers(&names).map_err(serde::de::Error::custom)
    }
}

/// Whether files may reach the disk later.
mod unsynced {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use store::Durability;

    pub(super) fn serialize<S: Serializer>(from: &Durability, to: S) -> Result<S::Ok, S::Error> {
        (*from == Durability::None).serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Durability, D::Error> {
        Ok(match bool::deserialize(from)? {
            true => Durability::None,
            false => Durability::Page,
        })
    }
}

/// The containers that are named; `none` is none.
pub fn containers(names: &[String]) -> anyhow::Result<Containers> {
    let mut open = Containers {
        gzip: false,
        tar: false,
        zip: false,
    };
    for name in names {
        match name.trim() {
            "gzip" => open.gzip = true,
            "tar" => open.tar = true,
            "zip" => open.zip = true,
            "none" if names.len() == 1 => {}
            name => {
                bail!("`{name}` is no container that can be opened; write gzip, tar, zip or none")
            }
        }
    }
    Ok(open)
}

/// Whether a name is that of a media type, without parameters.
fn is_media_type(name: &str) -> bool {
    let plain = |part: &str| {
        let odd = |c: char| !(c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c));
        !part.is_empty() && !part.contains(odd)
    };
    let parts = name.split_once('/');
    parts.is_some_and(|(kind, subtype)| plain(kind) && plain(subtype)) && name.len() <= LONGEST_TYPE
}

/// The digest of what a file says.
fn said(file: &Path) -> anyhow::Result<String> {
    let bytes =
        std::fs::read(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    Ok(digest::of_bytes(&bytes))
}

/// What CiteSeerX takes.
const TYPES: [&str; 2] = ["application/pdf", "application/postscript"];
/// Longer ones are hardly ever links to documents, and browsers do not follow them.
const LONGEST_URL: usize = 2048;
/// What the longest URL may be set to.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=1_000_000;
const LONGEST_PATH: usize = 4096;
const LONGEST_TYPE: usize = 255;
const MOST_TYPES: usize = 1000;
const MOST_THREADS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_job_say_all_that_an_order_says() {
        let order = ImportCrawl {
            paths: vec![PathBuf::from("/crawls/a.warc.gz")],
            types: vec!["text/html".to_owned()],
            open: Containers::ALL,
            keep_versions: true,
            max_url_length: 99,
            crawler: Some("mine".to_owned()),
            within: vec![PathBuf::from("/crawls")],
            durability: Durability::None,
            ..ImportCrawl::default()
        };

        let read = ImportCrawl::parse(&order.text().unwrap()).unwrap();

        assert_eq!(format!("{read:?}"), format!("{order:?}"));
        assert!(ImportCrawl::parse("{\"pathes\":[]}").is_err());
        assert!(ImportCrawl::parse(r#"{"open":["rar"]}"#).is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_named() {
        let long = format!("[\"/{}\"]", "x".repeat(5000));
        for (json, said) in [
            ("{}", "paths: nothing to import"),
            (r#"{"paths":["gopher://a/b"]}"#, "paths: `gopher://a/b` is"),
            (
                r#"{"paths":["a"],"blacklist":"ftp://a/b"}"#,
                "blacklist: `ftp",
            ),
            (r#"{"paths":["a\u0000b"]}"#, "paths: this cannot be"),
            (&format!("{{\"paths\":{long}}}"), "paths: this cannot be"),
            (r#"{"paths":["a"],"types":["pdf"]}"#, "types: `pdf` is not"),
            (r#"{"paths":["a"],"types":[]}"#, "types: name one"),
            (r#"{"paths":["a"],"max_url_length":3}"#, "max_url_length:"),
            (r#"{"paths":["a"],"threads":0}"#, "threads:"),
            (r#"{"log":"a","root":"http://x"}"#, "root: `http://x`"),
        ] {
            let error = ImportCrawl::parse(json).unwrap().check().unwrap_err();
            assert!(error.to_string().starts_with(said), "{json}: {error}");
        }
        for json in [r#"{"paths":["a"]}"#, r#"{"paths":["ftp://a/b"]}"#] {
            ImportCrawl::parse(json).unwrap().check().unwrap();
        }
    }

    #[test]
    fn files_lie_where_they_have_to_wherever_links_lead() {
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("root"), place.path().join("root-2"));
        for directory in [&root, &outside] {
            std::fs::create_dir(directory).unwrap();
            std::fs::write(directory.join("a.warc"), "").unwrap();
        }
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let order = |path: &Path| ImportCrawl {
            paths: vec![path.to_owned()],
            within: vec![root.clone()],
            ..ImportCrawl::default()
        };

        order(&root).check_places().unwrap();
        order(&root.join("a.warc")).check_places().unwrap();
        for path in [
            outside.join("a.warc"),
            root.join("../root-2/a.warc"),
            root.join("link/a.warc"),
            root.join("nothing"),
            PathBuf::from("/etc/passwd"),
            PathBuf::from("a.warc"),
            PathBuf::from("ftp://a/b"),
        ] {
            let error = order(&path).check_places().unwrap_err().to_string();
            assert!(error.contains("is nothing that lies in"), "{error}");
        }
        let mut by_format = order(&root);
        by_format.log_format = Some("/etc/passwd".to_owned());
        assert!(by_format.check_places().is_err());
        by_format.log_format = Some("list".to_owned());
        by_format.check_places().unwrap();
        by_format.within.clear();
        by_format.paths = vec![outside];
        by_format.check_places().unwrap();
    }
}
