//! Repositories introduce themselves: all that the catalog keeps of one comes from its own answers.

use catalog::{Identity, MetadataFormat, Repository};
use harvester::ErrorKind;

use crate::Holdings;
use crate::holdings::plain_name;

/// Adds a repository to the catalog, or brings up to date what is known of it. The base directory is for a new one; it
/// is made of the base URL if none is given.
pub fn introduce(
    holdings: &Holdings,
    repository: &harvester::Repository,
    base_directory: Option<&str>,
) -> anyhow::Result<Repository> {
    let identity = identity(repository)?;
    let base_url = repository.base_url();
    let directory = match base_directory {
        Some(directory) => directory.to_owned(),
        None => free_directory(holdings, &base_url)?,
    };
    let catalog = holdings.catalog();
    let known = holdings.wait(catalog.add_repository(&base_url, &directory, &identity))?;
    if let Some(formats) = tolerated(repository.list_metadata_formats(None))? {
        let formats: Vec<_> = formats.into_iter().map(format).collect();
        holdings.wait(catalog.replace_formats(known.id, &formats))?;
    }
    let sets = repository.list_sets().take(MOST_SETS);
    if let Some(sets) = tolerated(sets.collect::<Result<Vec<_>, _>>())? {
        let sets: Vec<_> = sets
            .into_iter()
            .map(|set| (set.set_spec, said(set.set_name)))
            .collect();
        holdings.wait(catalog.replace_sets(known.id, &sets))?;
    }
    Ok(known)
}

fn identity(repository: &harvester::Repository) -> anyhow::Result<Identity> {
    let Some(told) = tolerated(repository.identify())? else {
        return Ok(Identity::default());
    };
    Ok(Identity {
        name: said(told.repository_name),
        protocol_version: said(told.protocol_version),
        admin_emails: told.admin_emails,
        earliest_datestamp: told.earliest_datestamp.map(|date| date.to_string()),
        deleted_record: said(told.deleted_record),
        granularity: Some(told.granularity.to_string()),
        repository_identifier: None,
    })
}

/// A repository that answers one of these verbs wrongly may still give records.
fn tolerated<T>(answer: Result<T, harvester::Error>) -> Result<Option<T>, harvester::Error> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) => match error.kind() {
            ErrorKind::RepositoryMisbehaved(_) | ErrorKind::RepositoryIncompatible(_) => Ok(None),
            _ => Err(error),
        },
    }
}

fn format(format: harvester::MetadataFormat) -> MetadataFormat {
    MetadataFormat {
        metadata_prefix: format.metadata_prefix,
        schema: format.schema,
        namespace: format.metadata_namespace,
    }
}

fn said(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// A directory for a new repository, named after its URL, that no other repository has.
fn free_directory(holdings: &Holdings, base_url: &str) -> anyhow::Result<String> {
    let others = holdings.wait(holdings.catalog().repositories())?;
    let place = base_url
        .split_once("://")
        .map_or(base_url, |(_, place)| place);
    let name = plain_name(place.trim_end_matches('/'));
    let taken = |directory: &String| {
        let same = |other: &&Repository| other.base_directory.eq_ignore_ascii_case(directory);
        others
            .iter()
            .any(|other| same(&other) && other.base_url != base_url)
    };
    let first = format!("records/{name}");
    let further = (2..).map(|number| format!("records/{name}-{number}"));
    let free = std::iter::once(first)
        .chain(further)
        .find(|directory| !taken(directory));
    Ok(free.unwrap_or(name))
}

/// Repositories that make a set of every author have less.
const MOST_SETS: usize = 1_000_000;
