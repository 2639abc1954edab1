//! Where the files of a repository go. Each has a directory of its own, and keeps it.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use catalog::Repository;

use crate::Holdings;
use crate::holdings::plain_name;

/// The directory that somebody wants for a repository, as seen from everywhere, if it may be had.
pub(crate) fn wanted(
    holdings: &Holdings,
    base_url: &str,
    directory: &Path,
) -> anyhow::Result<String> {
    let shown = directory.display();
    let wanted = place(directory).with_context(|| format!("the base directory `{shown}`"))?;
    for other in holdings.wait(holdings.catalog().repositories())? {
        let number = other.id;
        let taken = holdings.base_directory(&other);
        let theirs = taken.display();
        let taken = place(&taken).with_context(|| format!("the base directory `{theirs}`"))?;
        if other.base_url == base_url && taken != wanted {
            bail!(
                "the files of repository {number} lie in {theirs} already; remove it first, or leave out --base-directory"
            );
        }
        if other.base_url != base_url && (taken.starts_with(&wanted) || wanted.starts_with(&taken))
        {
            bail!(
                "{shown} would be mixed with the files of repository {number} in {theirs}; give another"
            );
        }
    }
    Ok(wanted.to_string_lossy().into_owned())
}

/// A directory for a new repository, named after its URL, that no other repository has.
pub(crate) fn usual(holdings: &Holdings, base_url: &str) -> anyhow::Result<String> {
    let others = holdings.wait(holdings.catalog().repositories())?;
    let place = base_url
        .split_once("://")
        .map_or(base_url, |(_, place)| place);
    let name = plain_name(place.trim_end_matches('/'));
    let taken = |directory: &String| {
        let same = |other: &Repository| other.base_directory.eq_ignore_ascii_case(directory);
        others
            .iter()
            .any(|other| same(other) && other.base_url != base_url)
    };
    let first = format!("records/{name}");
    let further = (2..).map(|number| format!("records/{name}-{number}"));
    let mut names = std::iter::once(first).chain(further);
    Ok(names.find(|directory| !taken(directory)).unwrap_or(name))
}

/// The absolute path, without links and `..`: what is there tells where they lead, and in what is not there yet no links
/// can be.
fn place(path: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut place = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            part => place.push(part),
        }
        place = place.canonicalize().unwrap_or(place);
    }
    Ok(place)
}
