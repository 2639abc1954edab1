//! The sources of an import: the archives, or the log and the files that it names.

pub(crate) mod browse;
pub(super) mod downloads;
pub(super) mod fetched;
pub(super) mod harvested;
pub(super) mod stored;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail};
use catalog::NewSource;
use crawl::{Limits, LogFormat, LogIndex, LogSource, Roots, Source};
use tempfile::NamedTempFile;

use self::harvested::Harvested;
use super::order::ImportOrder;
use crate::Failure;
use crate::harvest::digest;

/// All sources, in order.
pub(super) struct Sources {
    pub(super) all: Vec<Source>,
    /// A log beside archives, for what they lack.
    pub(super) log: Option<LogIndex>,
    /// Files that are no crawl, and why.
    pub(super) refused: Vec<(PathBuf, String)>,
    /// Lists of the files below directories, as they were made for this import.
    lists: Vec<(NamedTempFile, PathBuf)>,
    /// Where files may be opened.
    roots: Roots,
}

impl Sources {
    /// Opens everything that an order names. What is not there at all is an error; what is there and no crawl is
    /// refused, and costs nothing of the rest.
    pub(super) fn open(order: &ImportOrder, limits: &Limits) -> anyhow::Result<Self> {
        if order.paths.is_empty() && order.log.is_none() {
            bail!("nothing to import; name archives, directories, or a log with --log");
        }
        order.check_places()?;
        let mut all = Vec::new();
        let fetched = order.fetched.iter();
        let mut refused: Vec<_> = fetched.flat_map(|source| source.refused.clone()).collect();
        let mut directories = Vec::new();
        let mut harvests = Vec::new();
        for path in &order.paths {
            let metadata = std::fs::metadata(path)
                .with_context(|| format!("`{}` cannot be read", path.display()))?;
            if order.log.is_none() && order.base_url.is_none() && harvested::is_data_directory(path)
            {
                harvests.push(path.clone());
                continue;
            }
            match crawl::open(path, limits) {
                Ok(sources)
                    if metadata.is_dir()
                        && !sources.iter().any(Source::is_readable)
                        && (is_mirror(order, path)
                            || sources.iter().all(|source| source.loss().is_none())) =>
                {
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
            lists: Vec::new(),
            roots: limits.roots.clone(),
        };
        for data in &harvests {
            sources.add_harvested(data, limits)?;
        }
        match (&order.log, &order.base_url) {
            (Some(log), _) => sources.add_log(order, log, directories, limits)?,
            (None, Some(base)) => sources.add_downloads(base, &directories, limits)?,
            (None, None) => sources.add_fetched(order, directories, limits)?,
        }
        if sources.all.is_empty() {
            let reasons = sources.refused.iter().map(|(_, reason)| reason.as_str());
            let reasons: Vec<_> = reasons.collect();
            let message = format!("nothing to import: {}", reasons.join("; "));
            bail!(Failure::new(Failure::NOT_AN_ARCHIVE, message));
        }
        Ok(sources)
    }

    /// Directories without archives that were fetched: their files have the URLs that they were fetched from.
    fn add_fetched(
        &mut self,
        order: &ImportOrder,
        directories: Vec<PathBuf>,
        limits: &Limits,
    ) -> anyhow::Result<()> {
        for directory in directories {
            let fetched = order.fetched.iter();
            let Some(source) = fetched.clone().find(|source| source.path == directory) else {
                let reason = format!(
                    "there are no archives in `{}`; if it is a mirror, name the crawler's log with --log, and if its paths are those of URLs, name their beginning with --base-url",
                    directory.display()
                );
                return Err(Failure::new(Failure::NOT_AN_ARCHIVE, reason).into());
            };
            self.add_downloads(&source.base_url, &[directory], limits)?;
        }
        Ok(())
    }

    /// All resources that harvests unpacked, with the URLs that their records say.
    fn add_harvested(&mut self, data: &Path, limits: &Limits) -> anyhow::Result<()> {
        let found = Harvested::look(data, &limits.roots).with_context(|| {
            format!(
                "what was harvested into `{}` cannot be found",
                data.display()
            )
        })?;
        if found.mirrors.is_empty() && found.warcs.is_empty() {
            bail!(
                "no harvest has unpacked anything into `{}`; harvest with --unpack or --warc, or name the files in it",
                data.display()
            );
        }
        for (mirror, list) in found.mirrors {
            let limits = with_list(limits, &list);
            let source = LogSource::open(list.path(), &mirror, harvested::format()?, &limits)?;
            self.all.push(Source::Log(source));
            self.lists.push((list, mirror));
        }
        for warcs in found.warcs {
            self.all.extend(crawl::open(&warcs, limits)?);
        }
        Ok(())
    }

    /// All files below a directory.
    fn add_downloads(
        &mut self,
        base_url: &str,
        directories: &[PathBuf],
        limits: &Limits,
    ) -> anyhow::Result<()> {
        let [directory] = directories else {
            bail!(
                "--base-url goes with one directory of files, and there are {}",
                directories.len()
            );
        };
        let list = downloads::list(directory, &limits.roots, &mut self.refused)?;
        let format = downloads::format(base_url, true)?;
        let limits = with_list(limits, &list);
        let source = LogSource::open(list.path(), directory, format, &limits)?;
        self.all.push(Source::Log(source));
        self.lists.push((list, std::path::absolute(directory)?));
        Ok(())
    }

    fn add_log(
        &mut self,
        order: &ImportOrder,
        log: &Path,
        mut directories: Vec<PathBuf>,
        limits: &Limits,
    ) -> anyhow::Result<()> {
        let format = log_format(order)?;
        directories.extend(order.root.clone());
        match directories.as_slice() {
            [] => {
                let index = LogIndex::build(log, &format, limits)?;
                self.log = Some(index);
                if !self.all.is_empty() {
                    let source = LogSource::beside(log, format, limits)?;
                    self.all.push(Source::Log(source));
                }
            }
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

    /// All of them as the catalog knows them: the same when the same is imported again.
    pub(super) fn named(&self) -> anyhow::Result<Vec<NewSource>> {
        let named = |source: &Source| {
            let name = source.name();
            Ok(NewSource {
                beginning: self.beginning(source, &name)?,
                // A list may be written anew, and a file that it names may have come since.
                is_appended_to: source.is_appended_to(),
                name: self.absolute(name),
            })
        };
        self.all.iter().map(named).collect()
    }

    fn absolute(&self, name: String) -> String {
        let place = self.real_place(Path::new(&name)).map(Path::to_owned);
        let place = place.map_or_else(|| std::path::absolute(&name), Ok);
        place.map_or(name, |place| place.to_string_lossy().into_owned())
    }

    /// A digest of how a source begins; of all that a list says which was made for this import. That of a log which only
    /// tells is its first line: so soon after a crawl has begun there is not much more.
    fn beginning(&self, source: &Source, name: &str) -> anyhow::Result<String> {
        // A member of a WACZ is as old as its file.
        let file = name.split_once('!').map_or(name, |(file, _)| file);
        let most = match self.real_place(Path::new(file)) {
            Some(_) => u64::MAX,
            None => BEGINNING,
        };
        let mut beginning = Vec::new();
        let file = match self
            .lists
            .iter()
            .find(|(list, _)| list.path() == Path::new(file))
        {
            Some((list, _)) => list.reopen().ok(),
            None => [name, file]
                .into_iter()
                .find_map(|path| self.roots.open(Path::new(path)).ok()),
        };
        // One that is refused may be a directory: a link to one.
        if let Some(file) = file.filter(|file| file.metadata().is_ok_and(|it| it.is_file())) {
            file.take(most).read_to_end(&mut beginning)?;
        }
        if source.only_tells()
            && let Some(end) = beginning.iter().position(|byte| *byte == b'\n')
        {
            beginning.truncate(end);
        }
        Ok(digest::of_bytes(&beginning))
    }

    /// The source meant by the file of a place, where that is a list which was made for this import.
    pub(super) fn real_place(&self, file: &Path) -> Option<&Path> {
        let mut lists = self.lists.iter();
        let (_, directory) = lists.find(|(list, _)| list.path() == file)?;
        Some(directory)
    }
}

/// The same, for a list that was made for this import and lies elsewhere.
fn with_list(limits: &Limits, list: &NamedTempFile) -> Limits {
    Limits {
        roots: limits.roots.clone().with(list.path()),
        ..limits.clone()
    }
}

/// Whether the files of a directory without archives are what is imported.
fn is_mirror(order: &ImportOrder, directory: &Path) -> bool {
    let mut fetched = order.fetched.iter();
    order.log.is_some()
        || order.base_url.is_some()
        || fetched.any(|source| source.path == directory)
}

/// The format that is named, or that of Heritrix.
fn log_format(order: &ImportOrder) -> anyhow::Result<LogFormat> {
    if let Some(base) = &order.base_url {
        if order
            .log_format
            .as_deref()
            .is_some_and(|name| name != "ftp-list")
        {
            bail!("--base-url goes with lists of paths alone: --log-format ftp-list");
        }
        return downloads::format(base, false);
    }
    let Some(name) = &order.log_format else {
        return Ok(LogFormat::heritrix());
    };
    let path = Path::new(name);
    if !is_file(name) {
        return Ok(LogFormat::named(name)?);
    }
    let text = order.read(path)?;
    LogFormat::parse(&text).with_context(|| format!("in `{}`", path.display()))
}

/// Whether a log format is described in a file. A file that is called as one that is built in is not meant.
pub(super) fn is_file(log_format: &str) -> bool {
    !LogFormat::NAMES.contains(&log_format) && Path::new(log_format).is_file()
}

/// So much of a source tells it from others; records have dates and numbers of their own.
const BEGINNING: u64 = 512;

/// When a source was written, in seconds since 1970: the date of captures that have none.
pub(super) fn written(path: &Path) -> i64 {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    let since = modified
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0))
}
