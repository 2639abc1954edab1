//! Repositories introduce themselves: all that the catalog keeps of one comes from its own answers.

use std::path::Path;

use catalog::{Identity, MetadataFormat, Repository};
use harvester::ErrorKind;

use crate::{Holdings, base_directory};

/// Adds a repository to the catalog, or brings up to date what is known of it. The base directory is for a new one; it
/// is made of the base URL if none is given.
pub fn introduce(
    holdings: &Holdings,
    repository: &harvester::Repository,
    base_directory: Option<&Path>,
) -> anyhow::Result<Repository> {
    let identity = repository.identify();
    let formats = repository.list_metadata_formats(None);
    // One that gets one of these verbs wrong may still give records. What gets both wrong is none: a web page, or a
    // URL that was mistyped.
    if formats.is_err() {
        identity.as_ref().map_err(Clone::clone)?;
    }
    let identity = tolerated(identity)?.map(told).unwrap_or_default();

    let base_url = repository.base_url();
    let directory = match base_directory {
        Some(directory) => base_directory::wanted(holdings, &base_url, directory)?,
        None => base_directory::usual(holdings, &base_url)?,
    };
    let catalog = holdings.catalog();
    let known = holdings.wait(catalog.add_repository(&base_url, &directory, &identity))?;
    if let Some(formats) = tolerated(formats)? {
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

fn told(identity: harvester::Identity) -> Identity {
    Identity {
        name: said(identity.repository_name),
        protocol_version: said(identity.protocol_version),
        admin_emails: identity.admin_emails,
        earliest_datestamp: identity.earliest_datestamp.map(|date| date.to_string()),
        deleted_record: said(identity.deleted_record),
        granularity: Some(identity.granularity.to_string()),
        repository_identifier: None,
    }
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

/// Repositories that make a set of every author have less.
const MOST_SETS: usize = 1_000_000;
