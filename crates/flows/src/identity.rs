//! The identity of a data directory: a catalog on another machine knows by it whose files it speaks of.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};

use crate::Holdings;

impl Holdings {
    /// Checks that the files of the catalog lie in this data directory. The first directory that a process runs jobs with
    /// becomes that of the catalog.
    ///
    /// Without this, two machines with directories of their own would each write a part of the records, and neither could
    /// read them all.
    pub fn check_directory(&self) -> anyhow::Result<()> {
        let file = self.directory().join(FILE);
        let known = self.wait(self.catalog().directory_identity())?;
        let own = match (read(&file)?, &known) {
            (Some(own), _) => Some(own),
            // A catalog that lies in the directory itself belongs to it.
            (None, Some(known)) if self.is_catalog_inside() => {
                write(&file, known)?;
                Some(known.clone())
            }
            (None, Some(_)) => None,
            (None, None) => {
                write(&file, &new_identity()?)?;
                read(&file)?
            }
        };
        let settled = match (known, &own) {
            (Some(known), _) => known,
            (None, Some(own)) => self.wait(self.catalog().settle_directory(own))?,
            (None, None) => bail!("`{}` cannot be read after it was written", file.display()),
        };
        if own.as_deref() == Some(settled.as_str()) {
            return Ok(());
        }
        let has = own.map_or("has none".to_owned(), |own| format!("has {own}"));
        bail!(
            "the data directory `{}` is not that of the catalog {}: the catalog's has the identity {settled}, and this one {has}; \
             mount the directory that the other machines use, or name it with --data. If its files were moved here, write {settled} into `{}`. \
             A worker that only imports into a store needs no common directory: garner worker --imports-only",
            self.directory().display(),
            self.catalog().location(),
            file.display()
        )
    }

    /// Checks a catalog that lies elsewhere before files are written into this data directory. A catalog in the directory
    /// belongs to it.
    pub(crate) fn check_place(&self) -> anyhow::Result<()> {
        if self.is_catalog_inside() {
            return Ok(());
        }
        let beside = self.catalog().file().and_then(|file| {
            let beside = file.parent()?;
            let is_held = ["records", "documents"].map(|name| beside.join(name).exists());
            (file.ends_with(CATALOG) && is_held.contains(&true)).then(|| beside.canonicalize())
        });
        match beside {
            // Catalogs of directories get an identity when jobs run there; before that, their place tells.
            Some(Ok(beside)) if beside != self.directory().canonicalize()? => bail!(
                "the catalog {} belongs to the data directory `{}`, and this one is `{}`; leave --catalog or --data out",
                self.catalog().location(),
                beside.display(),
                self.directory().display()
            ),
            Some(Ok(_)) => Ok(()),
            _ => self.check_directory(),
        }
    }
}

fn read(file: &Path) -> anyhow::Result<Option<String>> {
    let mut text = String::new();
    let read =
        std::fs::File::open(file).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    match read {
        Ok(_) if text.trim().is_empty() => bail!("`{}` is empty; remove it", file.display()),
        Ok(_) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("`{}` cannot be read", file.display())),
    }
}

/// Writes the file whole or not at all. If another process was quicker, its file stays.
fn write(file: &Path, identity: &str) -> anyhow::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let written = || {
        let mut new = tempfile::NamedTempFile::new_in(directory)?;
        writeln!(new, "{identity}")?;
        new.as_file().sync_all()?;
        match new.persist_noclobber(file) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error.error),
        }
    };
    written().with_context(|| format!("`{}` cannot be written", file.display()))
}

fn new_identity() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

const FILE: &str = ".garner-id";
const CATALOG: &str = "catalog.sqlite";
const LONGEST: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 18: machines with directories of their own each held a part of the records.
    #[test]
    fn a_directory_that_is_not_the_catalogs_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = folder.path().join("elsewhere.sqlite");
        let open = |name: &str| {
            let directory = folder.path().join(name);
            Holdings::create(&directory, Some(catalog.to_str().unwrap())).unwrap()
        };
        open("one").check_directory().unwrap();
        open("one").check_directory().unwrap();

        let error = open("two").check_directory().unwrap_err().to_string();
        assert!(error.contains("is not that of the catalog"), "{error}");
        assert!(error.contains("this one has none"), "{error}");
        assert!(!folder.path().join("two").join(FILE).exists());

        // It is another catalog's as well.
        let other = folder.path().join("other.sqlite");
        let other = Holdings::create(&folder.path().join("two"), other.to_str()).unwrap();
        other.check_directory().unwrap();
        let error = open("two").check_directory().unwrap_err().to_string();
        assert!(error.contains("this one has "), "{error}");

        // Moved with its files.
        std::fs::rename(folder.path().join("one"), folder.path().join("moved")).unwrap();
        open("moved").check_directory().unwrap();
    }

    #[test]
    fn commands_write_no_files_beside_a_catalog_of_another_directory() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = folder.path().join("elsewhere.sqlite");
        let open = |name: &str| {
            let directory = folder.path().join(name);
            Holdings::create(&directory, catalog.to_str()).unwrap()
        };
        open("one").check_place().unwrap();

        let error = open("two").check_place().unwrap_err().to_string();

        assert!(error.contains("is not that of the catalog"), "{error}");
        let three = folder.path().join("three");
        let alone = Holdings::create(&three, None).unwrap();
        alone.check_place().unwrap();
        std::fs::create_dir(three.join("records")).unwrap();
        let inside = three.join(CATALOG);
        let four = Holdings::create(&folder.path().join("four"), inside.to_str()).unwrap();
        let error = four.check_place().unwrap_err().to_string();
        assert!(error.contains("belongs to the data directory"), "{error}");
        let same = Holdings::create(&three.join("../three"), inside.to_str()).unwrap();
        same.check_place().unwrap();
    }

    #[test]
    fn a_catalog_that_lies_in_the_directory_belongs_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let holdings = Holdings::create(folder.path(), None).unwrap();
        holdings.check_directory().unwrap();
        let file = folder.path().join(FILE);
        let before = std::fs::read(&file).unwrap();

        std::fs::remove_file(&file).unwrap();
        holdings.check_directory().unwrap();

        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}
