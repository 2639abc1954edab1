//! What is read: the archives, or the log and the files that it names.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail};
use crawl::{Limits, LogFormat, LogIndex, LogSource, Source};

use super::order::ImportCrawl;

/// All that is read, in order.
pub(super) struct Sources {
    pub(super) all: Vec<Source>,
    /// A log beside archives, for what they lack.
    pub(super) log: Option<LogIndex>,
    /// Files that are no crawl, and why.
    pub(super) refused: Vec<(PathBuf, String)>,
}

impl Sources {
    /// Opens everything that an order names. What is not there at all is an error; what is there and no crawl is
    /// refused, and costs nothing of the rest.
    pub(super) fn open(order: &ImportCrawl, limits: &Limits) -> anyhow::Result<Self> {
        if order.paths.is_empty() && order.log.is_none() {
            bail!("nothing to import; name archives, directories, or a log with --log");
        }
        let mut all = Vec::new();
        let mut refused = Vec::new();
        let mut directories = Vec::new();
        for path in &order.paths {
            let metadata = std::fs::metadata(path)
                .with_context(|| format!("`{}` cannot be read", path.display()))?;
            match crawl::open(path, limits) {
                Ok(sources) if sources.is_empty() && metadata.is_dir() => {
                    directories.push(path.clone());
                }
                Ok(sources) => all.extend(sources),
                Err(error) => refused.push((path.clone(), error.to_string())),
            }
        }
        let mut sources = Self {
            all,
            log: None,
            refused,
        };
        sources.add_log(order, directories, limits)?;
        Ok(sources)
    }

    fn add_log(
        &mut self,
        order: &ImportCrawl,
        mut directories: Vec<PathBuf>,
        limits: &Limits,
    ) -> anyhow::Result<()> {
        let Some(log) = &order.log else {
            if let Some(directory) = directories.first() {
                bail!(
                    "there are no archives in `{}`; if it is a mirror, name the crawler's log with --log",
                    directory.display()
                );
            }
            return Ok(());
        };
        let format = log_format(order)?;
        directories.extend(order.root.clone());
        match directories.as_slice() {
            [] => self.log = Some(LogIndex::build(log, &format, limits)?),
            [root] => {
                let source = LogSource::open(log, root, format, limits)?;
                self.all.push(Source::Log(source));
            }
            [first, second, ..] => bail!(
                "a log goes with one directory of files, and `{}` and `{}` are two; import one after the other",
                first.display(),
                second.display()
            ),
        }
        Ok(())
    }

    /// How many bytes there are to go through.
    pub(super) fn length(&self) -> u64 {
        self.all.iter().map(Source::length).sum()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.all.iter().map(Source::name).collect()
    }
}

/// The format that is named, or that of Heritrix.
fn log_format(order: &ImportCrawl) -> anyhow::Result<LogFormat> {
    let Some(name) = &order.log_format else {
        return Ok(LogFormat::heritrix());
    };
    let path = Path::new(name);
    let format = match path.is_file() {
        true => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("`{}` cannot be read", path.display()))?;
            LogFormat::parse(&text).with_context(|| format!("in `{}`", path.display()))?
        }
        false => LogFormat::named(name)?,
    };
    Ok(format)
}

/// When a source was written, in seconds since 1970: the date of captures that have none.
pub(super) fn written(path: &Path) -> i64 {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    let since = modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0))
}
