//! The greatest number of a collection, without a walk over all of it.
//!
//! Numbers are given out in order, so that the greatest directory of each level leads to the last of them.

use std::path::PathBuf;

use super::files::{CollectionFiles, FileKind};
use super::name::{is_group, parse};
use crate::Error;
use crate::directory::Directory;

/// The greatest number that has a file.
pub(super) fn number(directory: &Directory) -> Result<Option<i64>, Error> {
    let mut first = groups(directory, &[])?;
    // Longer numbers begin with small groups again; who has so many has time to look at all.
    if first.last().is_some_and(|group| group == "999") {
        return of_all(directory);
    }
    while let Some(group) = first.pop() {
        if let Some(number) = below(directory, &[group])? {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

fn below(directory: &Directory, above: &[String]) -> Result<Option<i64>, Error> {
    let mut groups = groups(directory, above)?;
    while let Some(group) = groups.pop() {
        let mut path = above.to_vec();
        path.push(group);
        if let Some(number) = below(directory, &path)? {
            return Ok(Some(number));
        }
    }
    let mut number = None;
    directory.names(&above.iter().collect::<PathBuf>(), |name, is_directory| {
        if !is_directory && let Ok(name) = std::str::from_utf8(name) {
            number = number.max(parse(above, name).map(|(number, _)| number));
        }
    })?;
    Ok(number)
}

/// The directories of numbers in another, the greatest last.
fn groups(directory: &Directory, above: &[String]) -> Result<Vec<String>, Error> {
    let mut groups = Vec::new();
    if above.len() >= MOST_GROUPS {
        return Ok(groups);
    }
    directory.names(&above.iter().collect::<PathBuf>(), |name, is_directory| {
        let name = String::from_utf8_lossy(name);
        if is_directory && is_group(&name) {
            groups.push(name.into_owned());
        }
    })?;
    groups.sort_unstable();
    Ok(groups)
}

fn of_all(directory: &Directory) -> Result<Option<i64>, Error> {
    let mut greatest = None;
    for file in CollectionFiles::new(directory) {
        greatest = greatest.max(match file?.kind {
            FileKind::Document { number, .. }
            | FileKind::Metadata { number, .. }
            | FileKind::Text { number } => Some(number),
            FileKind::Other => None,
        });
    }
    Ok(greatest)
}

/// No number has more.
const MOST_GROUPS: usize = 7;
