//! Sources in a store that speaks S3: an object, or all below a prefix. They are fetched as those on other machines are.

use std::fs::FileTimes;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use harvester::Stop;
use store::Objects;
use tempfile::NamedTempFile;

use super::fetched::FetchedSource;
use crate::holdings::plain_name;
use crate::import::events::{FetchProgress, ImportEvent};
use crate::import::{Location, objects};
use crate::{Failure, is_store_away};

/// The objects that a place in a store names.
#[derive(Debug)]
pub struct StoredSource {
    objects: Box<dyn Objects>,
    /// The location of the objects, for people.
    shown: String,
    /// Whether the place is a prefix and no object.
    is_directory: bool,
    /// The objects, with their sizes.
    pub files: Vec<StoredFile>,
    /// The names that no file can have, and why.
    refused: Vec<(String, String)>,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Its name below the place.
    pub name: String,
    /// How many bytes it has.
    pub size: u64,
}

impl StoredSource {
    /// Whether a path is none, but a place in a store.
    pub fn is_meant(path: &Path) -> bool {
        path.to_str().is_some_and(Location::is_meant)
    }

    /// Looks for the objects of a place: `s3://BUCKET/NAME`, or `s3://BUCKET/PREFIX/` for all below.
    pub fn look(place: &Path) -> anyhow::Result<Self> {
        let text = place.to_str().unwrap_or_default();
        let location = Location::given(text)?;
        let (above, name) = location.clone().split();
        if let Some(name) = name.filter(|_| !is_directory(text)) {
            let objects = objects(&above.whole())?.context("it is no place in a store")?;
            if let Some(size) = objects.size(&name)? {
                let shown = objects.location().to_owned();
                return Ok(Self {
                    objects,
                    shown,
                    is_directory: false,
                    files: vec![StoredFile { name, size }],
                    refused: Vec::new(),
                });
            }
        }
        let objects = objects(text)?.context("it is no place in a store")?;
        let mut source = Self {
            shown: objects.location().to_owned(),
            objects,
            is_directory: true,
            files: Vec::new(),
            refused: Vec::new(),
        };
        source.walk()?;
        if source.files.is_empty() && source.refused.is_empty() {
            let message = format!("there is nothing at `{}`", location.shown());
            bail!(Failure::new(Failure::NOT_FOUND, message));
        }
        Ok(source)
    }

    /// Finds all objects, in the order of their names.
    fn walk(&mut self) -> anyhow::Result<()> {
        let mut directories = vec![String::new()];
        while let Some(directory) = directories.pop() {
            let mut names = Vec::new();
            (self.objects).names(&directory, &mut |name, size| {
                names.push((name.to_owned(), size));
            })?;
            for (name, size) in names {
                let path = match directory.as_str() {
                    "" => name.clone(),
                    directory => format!("{directory}/{name}"),
                };
                match (objection(&name), size) {
                    (Some(why), _) => self.refused.push((path, why.to_owned())),
                    (None, None) => directories.push(path),
                    (None, Some(size)) => self.files.push(StoredFile { name: path, size }),
                }
            }
            if self.files.len() > MOST_FILES {
                bail!(
                    "there are more than {MOST_FILES} objects below `{}`; name a longer prefix",
                    self.shown
                );
            }
        }
        self.files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(())
    }

    /// The name of an object for people.
    pub fn shown(&self, file: &StoredFile) -> String {
        format!("{}/{}", self.shown, file.name)
    }

    /// Fetches an object to a path, where it comes when it is whole. One that is there as it is in the store stays; whether
    /// it came.
    pub fn fetch(
        &self,
        file: &StoredFile,
        to: &Path,
        stop: &Stop,
        tell: &(dyn Fn(ImportEvent<'_>) + Sync),
    ) -> anyhow::Result<bool> {
        let unwritten = || format!("`{}` cannot be written", to.display());
        let modified = self.objects.modified(&file.name)?;
        if let Ok(there) = to.symlink_metadata()
            && there.is_file()
            && there.len() == file.size
            && modified.is_some_and(|modified| there.modified().is_ok_and(|it| it == modified))
        {
            return Ok(false);
        }
        let directory = to.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory).with_context(unwritten)?;
        let mut new = NamedTempFile::new_in(directory).with_context(unwritten)?;
        let mut bytes = self.objects.get(&file.name)?;
        let total = bytes.length();
        let mut buffer = vec![0; 1 << 20];
        let mut done = 0;
        loop {
            if stop.is_set() {
                bail!("stopped; what was fetched so far is kept");
            }
            let length = match bytes.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.with_context(|| self.shown(file))?,
            };
            if length == 0 {
                break;
            }
            new.write_all(&buffer[..length]).with_context(unwritten)?;
            done += length as u64;
            tell(ImportEvent::Fetching(FetchProgress {
                file: &file.name,
                done,
                total,
            }));
        }
        if let Some(modified) = modified {
            let times = FileTimes::new().set_modified(modified);
            new.as_file().set_times(times).with_context(unwritten)?;
        }
        new.persist(to).with_context(unwritten)?;
        Ok(true)
    }
}

impl StoredSource {
    /// Fetches one object after the other, each to be taken and removed, until somebody wants it to stop.
    pub fn each(
        &self,
        stop: &Stop,
        tell: &(dyn Fn(ImportEvent<'_>) + Sync),
        take: &mut dyn FnMut(&StoredFile, anyhow::Result<&Path>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let folder = tempfile::tempdir().context("no temporary directory can be made")?;
        for file in &self.files {
            if stop.is_set() {
                break;
            }
            let last = file.name.rsplit('/').next().unwrap_or_default();
            let here = folder.path().join(last);
            let fetched = self.fetch(file, &here, stop, tell);
            take(file, fetched.map(|_| &*here))?;
            let _ = std::fs::remove_file(&here);
        }
        for (name, why) in &self.refused {
            let file = StoredFile {
                name: name.clone(),
                size: 0,
            };
            take(&file, Err(anyhow::anyhow!("{why}")))?;
        }
        Ok(())
    }
}

/// Fetches the objects of a place below `base`.
pub(super) fn fetch(
    place: &Path,
    base: &Path,
    stop: &Stop,
    tell: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> anyhow::Result<FetchedSource> {
    let source = StoredSource::look(place)?;
    let location = Location::given(place.to_str().unwrap_or_default())?;
    // Two places are two directories: the same names are other objects on another server.
    let directory = base.join("s3").join(directory_of(&location.whole()));
    let mut refused: Vec<_> = source.refused.clone();
    let mut came = 0;
    for file in &source.files {
        let fetched = source.fetch(file, &directory.join(&file.name), stop, tell);
        match fetched {
            Ok(is_new) => came += u64::from(is_new),
            Err(error) if is_missing(&error) && !is_store_away(&error) => {
                refused.push((file.name.clone(), "it is gone".to_owned()));
            }
            Err(error) => return Err(error),
        }
    }
    let all = source.files.len();
    let note = match came {
        0 => format!("nothing new in {}: {all} objects are here", source.shown),
        came => format!("{came} of {all} objects came from {}", source.shown),
    };
    tell(ImportEvent::Note(&note));
    let path = match source.is_directory {
        true => directory,
        false => directory.join(&source.files[0].name),
    };
    let mut base_url = location.shown();
    if source.is_directory {
        base_url.push('/');
    }
    let refused = refused.into_iter();
    let name = |name: String| PathBuf::from(format!("{}/{name}", source.shown));
    Ok(FetchedSource {
        path,
        base_url,
        refused: refused.map(|(path, why)| (name(path), why)).collect(),
    })
}

fn is_missing(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == ErrorKind::NotFound)
    })
}

/// Whether a place is meant as a prefix.
fn is_directory(text: &str) -> bool {
    text.split('?')
        .next()
        .is_some_and(|path| path.ends_with('/'))
}

/// Why no file can have a name.
fn objection(name: &str) -> Option<&'static str> {
    match name {
        "" | "." | ".." => Some("no file can have this name"),
        name if name.len() > 255 => Some("the name is too long for a file"),
        name if name.contains(['/', '\0']) => Some("no file can have this name"),
        _ => None,
    }
}

/// A directory for a place: legible, and another for each.
fn directory_of(place: &str) -> String {
    let digest = crate::harvest::digest::of_bytes(place.as_bytes());
    let name = plain_name(place.trim_start_matches("s3://"));
    format!("{name}-{}", &digest[..8])
}

/// A person who names the bucket instead of a prefix should hear of it before all of it is fetched.
const MOST_FILES: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_directories_of_their_own_and_names_cannot_lead_out() {
        let one = directory_of("s3://papers/crawl");
        assert!(one.starts_with("papers_crawl-"), "{one}");
        assert_ne!(one, directory_of("s3://papers/crawl?region=eu"));
        for name in ["", ".", "..", "a/b", "a\0"] {
            assert!(objection(name).is_some(), "{name:?}");
        }
        assert_eq!(objection("a.warc.gz"), None);
        assert!(is_directory("s3://papers/crawl/?region=eu"));
        assert!(!is_directory("s3://papers/crawl?region=eu/"));
    }
}
