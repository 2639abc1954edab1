//! The greatest number of a collection, without a walk over all of it.
//!
//! Numbers are given out in order, so that the greatest directory of each level leads to the last of them.

use super::files::{CollectionFiles, FileKind};
use super::name::{is_group, parse};
use crate::Error;
use crate::place::Place;

/// The greatest number that has a file.
pub(super) fn number(place: &Place) -> Result<Option<i64>, Error> {
    let mut first = groups(place, &[])?;
    // Longer numbers begin with small groups again, so for a collection of that size all folders are looked at.
    if first.last().is_some_and(|group| group == "999") {
        return of_all(place);
    }
    while let Some(group) = first.pop() {
        if let Some(number) = below(place, &[group])? {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

fn below(place: &Place, above: &[String]) -> Result<Option<i64>, Error> {
    let mut groups = groups(place, above)?;
    while let Some(group) = groups.pop() {
        let mut path = above.to_vec();
        path.push(group);
        if let Some(number) = below(place, &path)? {
            return Ok(Some(number));
        }
    }
    let mut number = None;
    place.names(&above.join("/"), |name| {
        if !name.is_directory {
            number = number.max(parse(above, name.name).map(|(number, _)| number));
        }
    })?;
    Ok(number)
}

/// The directories of numbers in another, the greatest last.
fn groups(place: &Place, above: &[String]) -> Result<Vec<String>, Error> {
    let mut groups = Vec::new();
    if above.len() >= MOST_GROUPS {
        return Ok(groups);
    }
    place.names(&above.join("/"), |name| {
        if name.is_directory && is_group(name.name) {
            groups.push(name.name.to_owned());
        }
    })?;
    groups.sort_unstable();
    Ok(groups)
}

fn of_all(place: &Place) -> Result<Option<i64>, Error> {
    let mut greatest = None;
    for file in CollectionFiles::new(place) {
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
