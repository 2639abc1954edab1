//! The files that may be imported, directory by directory, for those who pick one instead of typing it.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use crawl::Roots;

/// Something in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowsedFile {
    /// Its name.
    pub name: String,
    /// The whole path.
    pub path: PathBuf,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Its size in bytes, if it is a file.
    pub size: Option<u64>,
}

/// The entries of a directory below one of `roots`, directories first, at most `most`; and whether there is more. Links that
/// lead out of the roots are not there, nor are hidden files and names that are no text.
pub fn browse_sources(
    roots: &[PathBuf],
    directory: &Path,
    most: usize,
) -> std::io::Result<(Vec<BrowsedFile>, bool)> {
    if roots.is_empty() {
        return Err(Error::new(
            ErrorKind::PermissionDenied,
            "there is no import.roots",
        ));
    }
    let roots = Roots::new(roots);
    let mut names: Vec<_> = roots
        .names(directory)?
        .into_iter()
        .filter_map(|name| name.into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_unstable();
    let is_more = names.len() > most;
    names.truncate(most);
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let path = directory.join(&name);
        let Ok(metadata) = roots.open(&path).and_then(|file| file.metadata()) else {
            continue;
        };
        if metadata.is_dir() || metadata.is_file() {
            found.push(BrowsedFile {
                name,
                path,
                is_directory: metadata.is_dir(),
                size: metadata.is_file().then_some(metadata.len()),
            });
        }
    }
    found.sort_by_key(|file| !file.is_directory);
    Ok((found, is_more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_below_the_roots_is_shown() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        for name in ["crawls/2011", "crawls/.hidden", "secret"] {
            std::fs::create_dir_all(place(name)).unwrap();
        }
        std::fs::write(place("crawls/a.warc"), "WARC").unwrap();
        std::os::unix::fs::symlink(place("secret"), place("crawls/link")).unwrap();
        let roots = [place("crawls")];

        let (found, is_more) = browse_sources(&roots, &place("crawls"), 10).unwrap();

        let names: Vec<_> = found.iter().map(|file| file.name.as_str()).collect();
        assert_eq!((names, is_more), (vec!["2011", "a.warc"], false));
        assert_eq!(found[1].size, Some(4));
        assert!(browse_sources(&roots, &place("crawls"), 1).unwrap().1);
        for outside in ["secret", "crawls/link", "crawls/../secret", ""] {
            assert!(
                browse_sources(&roots, &place(outside), 10).is_err(),
                "{outside}"
            );
        }
        assert!(browse_sources(&[], &place("crawls"), 10).is_err());
    }
}
