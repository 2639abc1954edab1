//! Repositories introduce themselves: all that the catalog keeps of one comes from its own answers.

use std::path::Path;

use catalog::{Identity, MetadataFormat, Repository};
use harvester::{ErrorKind, Quirk, Quirks};

use crate::{Holdings, base_directory};

/// The description of a repository by itself.
#[derive(Debug)]
pub struct SelfDescription {
    base_url: String,
    identity: Identity,
    /// `None` if it cannot tell.
    formats: Option<Vec<MetadataFormat>>,
    sets: Option<Vec<(String, Option<String>)>>,
    quirks: Quirks,
}

/// Asks a repository about itself.
///
/// One that gets these verbs wrong may still give records: nothing here is needed for a harvest. What gets Identify,
/// ListMetadataFormats and lists wrong is no repository: a web page, or a URL that was mistyped.
pub fn introduce(repository: &harvester::Repository) -> anyhow::Result<SelfDescription> {
    ask(repository, false)
}

/// Asks a repository about itself for somebody who waits. If its client is stopped while it lists its sets, they are
/// left for the next harvest.
pub fn introduce_briefly(repository: &harvester::Repository) -> anyhow::Result<SelfDescription> {
    ask(repository, true)
}

fn ask(repository: &harvester::Repository, without_sets: bool) -> anyhow::Result<SelfDescription> {
    let identity = repository.brief_unless_busy().identify();
    let brief = repository.brief();
    let formats = brief.list_metadata_formats(None);
    if let (Err(error), Err(_)) = (&identity, &formats)
        && !brief.has_lists()
    {
        return Err(error.clone().into());
    }
    let mut quirks = Quirks::default();
    if let Err(error) = &identity
        && matches!(error.kind(), ErrorKind::AskedToWait { .. })
    {
        return Err(error.clone().into());
    }
    let identity = tolerated(identity, Quirk::IdentifyUnusable, &mut quirks)?;
    let formats = tolerated(formats, Quirk::FormatsUnusable, &mut quirks)?;
    let sets = brief.list_sets().take(MOST_SETS);
    let sets = match sets.collect::<Result<Vec<_>, _>>() {
        Err(error) if without_sets && *error.kind() == ErrorKind::Stopped => None,
        sets => tolerated(sets, Quirk::SetsUnusable, &mut quirks)?,
    };
    Ok(SelfDescription {
        base_url: repository.base_url(),
        identity: identity.map(told).unwrap_or_default(),
        formats: formats.map(|formats| formats.into_iter().map(format).collect()),
        sets: sets.map(|sets| sets.into_iter().map(set).collect()),
        quirks,
    })
}

impl SelfDescription {
    /// The description of a site that has lists and no words for itself.
    pub(crate) fn of_site(base_url: &str, name: String) -> Self {
        let didl = oai::format::didl::format();
        Self {
            base_url: base_url.to_owned(),
            identity: Identity {
                name: said(name),
                ..Identity::default()
            },
            formats: Some(vec![MetadataFormat {
                metadata_prefix: didl.prefix,
                schema: didl.schema,
                namespace: didl.namespace,
            }]),
            sets: Some(Vec::new()),
            quirks: Quirks::default(),
        }
    }

    /// Where it answers.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The answer to Identify.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The formats that it offers, if it can tell.
    pub fn formats(&self) -> Option<&[MetadataFormat]> {
        self.formats.as_deref()
    }

    /// Its sets, pairs of `setSpec` and `setName`, if it can tell.
    pub fn sets(&self) -> Option<&[(String, Option<String>)]> {
        self.sets.as_deref()
    }

    /// Which of these verbs it did not answer.
    pub fn quirks(&self) -> &Quirks {
        &self.quirks
    }

    /// Adds the repository to the catalog, or brings up to date what is known of it. The base directory is for a new
    /// one; it is made of the base URL if none is given.
    pub fn keep(
        &self,
        holdings: &Holdings,
        base_directory: Option<&Path>,
    ) -> anyhow::Result<Repository> {
        let directory = match base_directory {
            Some(directory) => base_directory::wanted(holdings, &self.base_url, directory)?,
            None => base_directory::usual(holdings, &self.base_url)?,
        };
        let catalog = holdings.catalog();
        let known = holdings.wait(catalog.repository_at(&self.base_url))?;
        // An Identify that fails for once says nothing against what was known.
        let is_kept = known.is_some() && self.quirks.count(Quirk::IdentifyUnusable) > 0;
        let known = match known.filter(|_| is_kept) {
            Some(known) => known,
            None => {
                let added = catalog.add_repository(&self.base_url, &directory, &self.identity);
                holdings.wait(added)?
            }
        };
        if let Some(formats) = &self.formats {
            holdings.wait(catalog.replace_formats(known.id, formats))?;
        }
        if let Some(sets) = &self.sets {
            holdings.wait(catalog.replace_sets(known.id, sets))?;
        }
        Ok(known)
    }
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

/// A repository that answers one of these verbs wrongly, or not at all, may still give records.
fn tolerated<T>(
    answer: Result<T, harvester::Error>,
    quirk: Quirk,
    quirks: &mut Quirks,
) -> Result<Option<T>, harvester::Error> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if matches!(error.kind(), ErrorKind::Stopped | ErrorKind::Usage(_)) => {
            Err(error)
        }
        Err(_) => {
            quirks.add(quirk);
            Ok(None)
        }
    }
}

fn format(format: harvester::MetadataFormat) -> MetadataFormat {
    MetadataFormat {
        metadata_prefix: format.metadata_prefix,
        schema: format.schema,
        namespace: format.metadata_namespace,
    }
}

fn set(set: harvester::Set) -> (String, Option<String>) {
    (set.set_spec, said(set.set_name))
}

fn said(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Repositories that make a set of every author have less.
const MOST_SETS: usize = 1_000_000;
