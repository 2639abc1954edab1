//! The holdings on this machine: a data directory with the files, and the catalog that knows them.

use std::fs::DirBuilder;
use std::future::Future;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};

use anyhow::{Context, bail};
use catalog::{Catalog, DocumentEntry, Repository};
use store::Collection;
use tokio::runtime::Runtime;

use crate::Failure;
use crate::records::OpenPacks;

/// A data directory and its catalog, for code that blocks.
#[derive(Debug)]
pub struct Holdings {
    directory: PathBuf,
    catalog: Catalog,
    packs: OpenPacks,
    runtime: Runtime,
}

impl Holdings {
    /// Opens a data directory, and makes it if need be. The catalog is a file in it, or the database that is named:
    /// `postgres://…`, or the path of a SQLite file.
    pub fn create(directory: &Path, catalog: Option<&str>) -> anyhow::Result<Self> {
        // The catalog has what passwords can be guessed from, and secrets lie beside it.
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory);
        made.with_context(|| format!("the data directory {} cannot be made", directory.display()))?;
        refuse_closed(directory)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .context("the runtime cannot be started")?;
        let location = match catalog {
            Some(location) => location.to_owned(),
            None => in_directory(directory).to_string_lossy().into_owned(),
        };
        let catalog = runtime.block_on(Catalog::open(&location))?;
        let packs = OpenPacks::default();
        packs.know(&runtime.block_on(catalog.default_record_store())?.store);
        Ok(Self {
            directory: directory.to_owned(),
            catalog,
            packs,
            runtime,
        })
    }

    /// Opens a data directory that is there.
    pub fn open(directory: &Path, catalog: Option<&str>) -> anyhow::Result<Self> {
        refuse_closed(directory)?;
        if catalog.is_none() && !in_directory(directory).exists() {
            let message = format!(
                "there is no catalog in {}; harvest something first, or name another directory with --data",
                directory.display()
            );
            bail!(Failure::new(Failure::NO_CATALOG, message));
        }
        Self::create(directory, catalog)
    }

    /// The data directory, as it was given.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether the catalog is a file in the data directory.
    pub(crate) fn is_catalog_inside(&self) -> bool {
        Path::new(self.catalog.location()) == in_directory(&self.directory)
    }

    /// The paths that others on this machine may look into, with the remedy, a line each.
    pub fn exposed(&self) -> Vec<String> {
        let mode_of = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.mode() & 0o777);
        let is_open = |path: &Path| mode_of(path) & 0o077 != 0;
        let mut exposed = Vec::new();
        if is_open(&self.directory) {
            let (path, mode) = (self.directory.display(), mode_of(&self.directory));
            exposed.push(format!(
                "the data directory {path} is open to others (mode {mode:04o}); run: chmod 700 {path}"
            ));
        }
        let Some(file) = self.catalog.file() else {
            return exposed;
        };
        // Nobody gets to a file in a directory that is closed.
        let folder = file.parent().filter(|folder| *folder != Path::new(""));
        let is_reached = is_open(folder.unwrap_or(Path::new(".")));
        let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", file.display()));
        let parts = ["", "-wal", "-shm"].map(beside);
        if let Some(part) = parts.iter().find(|part| is_reached && is_open(part)) {
            let (path, mode) = (part.display(), mode_of(part));
            exposed.push(format!(
                "the catalog {path}, which has the hashes of passwords, is open to others (mode {mode:04o}); run: chmod 600 {}*",
                file.display()
            ));
        }
        exposed
    }

    /// The catalog.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The packs of records that were opened last.
    pub(crate) fn packs(&self) -> &OpenPacks {
        &self.packs
    }

    /// Waits for an answer of the catalog.
    pub fn wait<F: Future>(&self, answer: F) -> F::Output {
        // Not as the future that it is: the runtime would be compiled for each of the thousand that are waited for.
        let answer: Pin<&mut dyn Future<Output = F::Output>> = pin!(answer);
        self.runtime.block_on(answer)
    }

    /// Lets something go on beside, such as waiting for a signal.
    pub fn spawn(&self, beside: impl Future<Output = ()> + Send + 'static) {
        drop(self.runtime.spawn(beside));
    }

    /// Where the files of a repository lie.
    pub fn base_directory(&self, repository: &Repository) -> PathBuf {
        self.directory.join(&repository.base_directory)
    }

    /// Where the records of a repository in one format lie.
    pub fn record_directory(&self, repository: &Repository, metadata_prefix: &str) -> PathBuf {
        let base = self.base_directory(repository);
        base.join(plain_name(metadata_prefix))
    }

    /// The repository that somebody names by its base URL or by its number in the catalog.
    pub fn repository(&self, name: &str) -> anyhow::Result<Repository> {
        let found = match name.parse() {
            Ok(id) => self.wait(self.catalog.repository(id))?,
            Err(_) => self.wait(self.catalog.repository_at(&canonical(name)))?,
        };
        found.with_context(|| {
            format!(
                "the repository `{name}` is not known; garner repository list shows those that are"
            )
        })
    }
}

/// The file of a document, as the collection names it.
pub fn document_file(document: &DocumentEntry) -> String {
    content_file(document.content, &document.extension)
}

/// The file of a content, as the collection names it.
pub fn content_file(content: i64, extension: &str) -> String {
    Collection::relative_path(content, extension)
}

/// A base URL as the catalog has it, if it is one.
fn canonical(name: &str) -> String {
    harvester::canonical_base_url(name).unwrap_or_else(|_| name.to_owned())
}

/// Refuses a directory that this user cannot enter. The database would only say that it cannot open its file.
fn refuse_closed(directory: &Path) -> anyhow::Result<()> {
    match std::fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error).with_context(|| {
            format!(
                "the data directory {} belongs to another user; run garner as that user, such as `sudo -u garner garner …`, or name another directory with --data",
                directory.display()
            )
        }),
        _ => Ok(()),
    }
}

fn in_directory(directory: &Path) -> PathBuf {
    directory.join("catalog.sqlite")
}

/// The name of a file or directory made of a text from outside: nothing in it but letters, digits, `-`, `_` and dots
/// that do not stand first.
pub(crate) fn plain_name(text: &str) -> String {
    let plain = text.chars().map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
        _ => '_',
    });
    let name: String = plain.take(LONGEST_NAME).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if name.is_empty() => "_".to_owned(),
        None => name,
    }
}

const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Issue 18: everybody could read the hashes of passwords.
    #[test]
    fn what_is_made_is_closed_to_others_and_what_is_open_is_told() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path().join("data");
        let holdings = Holdings::create(&data, None).unwrap();
        let mode = |name: &str| data.join(name).metadata().unwrap().mode() & 0o777;

        assert_eq!(mode(""), 0o700);
        for name in ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"] {
            assert_eq!(mode(name), 0o600, "{name}");
        }
        assert_eq!(holdings.exposed(), [""; 0]);

        let open = |name: &str, mode| {
            std::fs::set_permissions(data.join(name), Permissions::from_mode(mode)).unwrap();
        };
        // Nobody gets to it.
        open("catalog.sqlite-wal", 0o644);
        assert_eq!(holdings.exposed(), [""; 0]);
        open("", 0o755);
        let told = holdings.exposed().join("\n");
        for words in [
            "chmod 700",
            "0755",
            "catalog.sqlite-wal",
            "0644",
            "catalog.sqlite*",
        ] {
            assert!(told.contains(words), "{told}");
        }
        // A directory that somebody opened on purpose stays as it is.
        drop(holdings);
        Holdings::create(&data, None).unwrap();
        assert_eq!(mode(""), 0o755);
    }

    #[test]
    fn names_from_outside_stay_in_their_directory() {
        let names = ["oai_dc", "..", "", ".hidden", "a/b\0c", "ä"].map(plain_name);
        assert_eq!(names, ["oai_dc", "_.", "_", "_hidden", "a_b_c", "_"]);
    }
}
