//! The listing made where an import was ordered: a worker on another machine compares it with what it sees.

use serde::{Deserialize, Serialize};

use super::ImportOrder;
use crate::Failure;
use crate::import::sources::Sources;

/// The sources of an import, as the one who ordered it saw them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// How many there are.
    sources: usize,
    /// Some of them, at even distances; all if they are not too many.
    some: Vec<Listed>,
    /// Whether one of them is enough: schedules import what comes later, and old files may be gone by then.
    any: bool,
}

/// A source of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Listed {
    name: String,
    /// A digest of how it begins; empty if that changes whenever a file comes.
    beginning: String,
    length: u64,
}

impl ImportOrder {
    /// Notes what is to be imported, as this machine sees it. Addresses of other machines look the same from everywhere.
    ///
    /// Anything that keeps the import from being begun here is an error.
    pub fn list_sources(&mut self) -> anyhow::Result<()> {
        for path in &self.paths {
            if crate::import::is_remote(path)? {
                return Ok(());
            }
        }
        let sources = Sources::open(self, &self.limits())?;
        self.listing = Some(Listing::of(&sources)?);
        Ok(())
    }

    /// The same for a schedule, whose later runs may meet other files.
    pub fn list_some_sources(&mut self) -> anyhow::Result<()> {
        self.list_sources()?;
        if let Some(listing) = &mut self.listing {
            listing.any = true;
        }
        Ok(())
    }

    /// Refuses to import on a machine that does not see what was ordered.
    pub(in crate::import) fn compare(&self, sources: &Sources) -> anyhow::Result<()> {
        match self.listing.as_ref() {
            Some(listing) => listing.compare(&Listing::every(sources)?),
            None => Ok(()),
        }
    }
}

impl Listing {
    /// Sources that the last import of a schedule read, by their names, or those that were there when it was made.
    pub fn of_last(names: Vec<String>, first: Option<Self>) -> Self {
        let listed = |name| Listed {
            name,
            beginning: String::new(),
            length: 0,
        };
        let first = first.into_iter().flat_map(|listing| listing.some);
        let some: Vec<_> = names.into_iter().map(listed).chain(first).collect();
        Self {
            sources: some.len(),
            some,
            any: true,
        }
    }

    fn of(sources: &Sources) -> anyhow::Result<Self> {
        let all = Self::every(sources)?;
        let step = all.len().div_ceil(MOST).max(1);
        Ok(Self {
            sources: all.len(),
            some: all.into_iter().step_by(step).collect(),
            any: false,
        })
    }

    fn every(sources: &Sources) -> anyhow::Result<Vec<Listed>> {
        let named = sources.named()?;
        let lengths = sources.all.iter().map(crawl::Source::length);
        let listed = named
            .into_iter()
            .zip(lengths)
            .map(|(source, length)| Listed {
                beginning: match source.is_appended_to {
                    true => source.beginning,
                    false => String::new(),
                },
                name: source.name,
                length,
            });
        Ok(listed.collect())
    }

    fn compare(&self, seen: &[Listed]) -> anyhow::Result<()> {
        let is_seen = |listed: &&Listed| {
            seen.iter().any(|source| {
                source.name == listed.name
                    && (listed.beginning.is_empty() || source.beginning == listed.beginning)
                    && source.length >= listed.length
            })
        };
        if self.any {
            return match self.some.is_empty() || self.some.iter().any(|listed| is_seen(&listed)) {
                true => Ok(()),
                false => self.refuse(&self.some[0].name),
            };
        }
        match self.some.iter().find(|listed| !is_seen(listed)) {
            Some(missing) => self.refuse(&missing.name),
            None if seen.len() < self.sources => self.refuse(&format!(
                "{} of {} sources",
                self.sources - seen.len(),
                self.sources
            )),
            None => Ok(()),
        }
    }

    fn refuse(&self, missing: &str) -> anyhow::Result<()> {
        let message = format!(
            "`{missing}` is not here as it was where the import was ordered; the import is left to a worker that sees the same files"
        );
        Err(Failure::new(Failure::OTHER_FILES, message).into())
    }
}

/// Maximum number of sources that are compared one by one: the listing is a part of the job.
const MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, beginning: &str, length: u64) -> Listed {
        Listed {
            name: name.to_owned(),
            beginning: beginning.to_owned(),
            length,
        }
    }

    #[test]
    fn the_same_files_and_those_that_grew_or_came_since_are_taken() {
        let ordered = Listing {
            sources: 2,
            some: vec![listed("/a", "x", 5), listed("/b", "y", 5)],
            any: false,
        };
        let (a, b) = (listed("/a", "x", 9), listed("/b", "y", 5));
        ordered.compare(&[a.clone(), b.clone()]).unwrap();
        ordered
            .compare(&[a.clone(), b.clone(), listed("/c", "z", 1)])
            .unwrap();
        for seen in [
            vec![a.clone()],
            vec![a.clone(), listed("/b", "other", 5)],
            vec![a.clone(), listed("/b", "y", 4)],
        ] {
            let error = ordered.compare(&seen).unwrap_err();
            assert!(crate::failure::is_failure(&error, Failure::OTHER_FILES));
        }

        let scheduled = Listing {
            any: true,
            ..ordered
        };
        scheduled.compare(&[a]).unwrap();
        scheduled.compare(&[listed("/c", "z", 1)]).unwrap_err();
    }
}
