//! Notices when it changes who may see what: items that somebody can see for the first time are stamped anew,
//! and those that were public leave a tombstone.
//!
//! Access depends on the configuration, which can change between two starts, and on the password files,
//! which can change at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::access::AreaConfig;
use crate::ground::path::deciding;
use crate::{Error, Site, SitePath};

/// The areas as the index remembers them.
#[derive(Debug, Default, Deserialize, Serialize)]
struct KnownAreas {
    areas: Vec<AreaConfig>,
    /// The fingerprints of the password files, by the path of the area.
    passwords: BTreeMap<String, String>,
}

impl Site {
    /// Compares the areas with those of the last start.
    pub(crate) fn notice_areas(&self) -> Result<(), Error> {
        let passwords = self.password_fingerprints();
        let known = self.index.fact(FACT)?;
        let known: Option<KnownAreas> = known.and_then(|text| serde_json::from_str(&text).ok());
        if let Some(known) = known {
            self.notice_new_areas(&known.areas, &self.access.configs())?;
            self.notice_new_passwords(&known.passwords, &passwords)?;
        }
        self.keep_areas(&passwords)?;
        *self.noticed_passwords() = passwords;
        Ok(())
    }

    /// Compares the password files with those that were noticed last. Must come before the moment of an answer is
    /// taken, so that the answer shows what its requester can see for the first time.
    pub(crate) fn notice_passwords(&self) {
        // LockedAgreement until all is stamped: whoever asks meanwhile is to see it too.
        let mut noticed = self.noticed_passwords();
        let now = self.password_fingerprints();
        if *noticed == now {
            return;
        }
        let stamped = self
            .notice_new_passwords(&noticed, &now)
            .and_then(|()| self.keep_areas(&now));
        match stamped {
            Ok(()) => *noticed = now,
            // Later is as good: what is stamped then is behind every answer given before.
            Err(error) => tracing::error!("a new password file is not told to harvesters: {error}"),
        }
    }

    /// The fingerprints of the password files: of the areas by their paths, and of those who are given sources.
    fn password_fingerprints(&self) -> BTreeMap<String, String> {
        let mut fingerprints = self.access.fingerprints();
        let source = self.access.source_fingerprint();
        fingerprints.extend(source.map(|fingerprint| (SOURCE.to_owned(), fingerprint)));
        fingerprints
    }

    fn notice_new_areas(&self, was: &[AreaConfig], is: &[AreaConfig]) -> Result<(), Error> {
        let (was, is) = (paths_of(was), paths_of(is));
        let changed: BTreeSet<_> = was
            .iter()
            .filter(|area| !is.contains(area))
            .chain(is.iter().filter(|area| !was.contains(area)))
            .map(|(path, _)| path)
            .collect();
        // An area that was closed before is not told now, not even as deleted.
        let was_public = |path: &SitePath| {
            let (was, is) = (area_of(&was, path), area_of(&is, path));
            was != is && is.is_some() && was.is_none_or(AreaConfig::is_public)
        };
        for path in changed {
            tracing::info!("who may see `/{}` has changed", path.display());
            self.index.withdraw(path, was_public)?;
            self.index.touch(path)?;
        }
        Ok(())
    }

    /// Stamps the items of areas whose password file says something else.
    fn notice_new_passwords(
        &self,
        was: &BTreeMap<String, String>,
        is: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        for (area, fingerprint) in is {
            let changed = was.get(area).is_some_and(|known| known != fingerprint);
            if changed && area == SOURCE {
                tracing::info!("the password file of offer.source has changed");
                self.index.touch_programs()?;
            } else if changed && let Some(path) = SitePath::from_url_path(area) {
                tracing::info!("the password file of `{area}` has changed");
                self.index.touch(&path)?;
            }
        }
        Ok(())
    }

    /// Kept last, so that a start that is cut short is made good by the next one.
    fn keep_areas(&self, passwords: &BTreeMap<String, String>) -> Result<(), Error> {
        let known = KnownAreas {
            areas: self.access.configs(),
            passwords: passwords.clone(),
        };
        let text = serde_json::to_string(&known).unwrap_or_default();
        self.index.set_fact(FACT, &text)
    }

    fn noticed_passwords(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        let noticed = self.noticed_passwords.lock();
        noticed.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Areas with the paths they speak of.
fn paths_of(areas: &[AreaConfig]) -> Vec<(SitePath, &AreaConfig)> {
    let path = |area: &AreaConfig| SitePath::from_url_path(&area.path);
    areas
        .iter()
        .filter_map(|area| Some((path(area)?, area)))
        .collect()
}

fn area_of<'a>(areas: &[(SitePath, &'a AreaConfig)], path: &SitePath) -> Option<&'a AreaConfig> {
    deciding(areas, |(place, _)| place, path).map(|(_, area)| *area)
}

/// The fact of the index that holds them.
const FACT: &str = "areas";

/// The name under which the passwords of those are kept who are given sources; no path of an area is like it.
const SOURCE: &str = "offer.source";
