//! Finds results that can be loaded: one for each source, from any place.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::ImportState;

use super::super::ending::Imported;
use super::super::extraction::entry::{Entry, ResultName};
use super::super::extraction::place::{ResultPlace, SOURCES};
use crate::message;

/// Results that were found.
pub(super) struct Results {
    pub(super) sources: Vec<SourceResult>,
    pub(super) refused: Vec<Refused>,
}

/// A result of a source.
pub(super) struct SourceResult {
    /// By which the source counts once.
    pub(super) key: String,
    /// The digest of the options.
    pub(super) options: String,
    pub(super) entry: Entry,
    pub(super) name: ResultName,
    pub(super) place: Arc<ResultPlace>,
}

/// A result that cannot be loaded.
pub(super) struct Refused {
    pub(super) reason: String,
}

impl Results {
    /// Looks through places. `model` is the version of the model that an import would judge with.
    pub(super) fn find(places: &[String], model: &str) -> anyhow::Result<Self> {
        let mut found: BTreeMap<String, SourceResult> = BTreeMap::new();
        let mut refused = Vec::new();
        for text in places {
            let place = Arc::new(ResultPlace::existing(text)?);
            for file in place.names(SOURCES)? {
                let Some(name) = ResultName::of_entry(&file) else {
                    continue;
                };
                let result = match SourceResult::read(&place, name, model) {
                    Ok(Some(result)) => result,
                    Ok(None) => continue,
                    Err(error) => {
                        refused.push(Refused {
                            reason: message(&error),
                        });
                        continue;
                    }
                };
                match found.get(&result.key) {
                    // One that has the bytes needs nothing else.
                    Some(other) if other.entry.facts.bytes.is_some() => {}
                    _ => {
                        found.insert(result.key.clone(), result);
                    }
                }
            }
        }
        let mut sources: Vec<_> = found.into_values().collect();
        // The order of an import of the directory that they lie in.
        sources.sort_by(|one, other| one.entry.path.cmp(&other.entry.path));
        Ok(Self { sources, refused })
    }
}

impl SourceResult {
    /// Whether something of its archive could not be extracted.
    pub(super) fn is_incomplete(&self) -> bool {
        Imported::state_of(&self.entry.facts.counters).0 != ImportState::Ok
    }

    fn read(
        place: &Arc<ResultPlace>,
        name: ResultName,
        model: &str,
    ) -> anyhow::Result<Option<Self>> {
        let path = name.entry();
        let shown = place.shown(&path);
        let Some(bytes) = place.read(&path)? else {
            return Ok(None);
        };
        let entry = Entry::parse(&bytes, &shown)?;
        if !name.is_of(&entry.facts.source) {
            return Err(refusal(&shown, "it is the entry of another source"));
        }
        if let Some(judged) = entry
            .facts
            .model
            .as_deref()
            .filter(|judged| *judged != model)
        {
            let reason = format!(
                "its documents were judged by model {judged}, and this import judges by {model}; extract it again, or name that model with --model"
            );
            return Err(refusal(&shown, &reason));
        }
        Ok(Some(Self {
            key: entry.facts.key()?,
            options: entry.facts.options_digest()?,
            entry,
            name,
            place: Arc::clone(place),
        }))
    }
}

pub(super) fn refusal(name: &str, reason: &str) -> anyhow::Error {
    let message = format!("`{name}` cannot be loaded: {reason}");
    crate::Failure::new(crate::Failure::NOT_A_RESULT, message).into()
}
