//! Results that are worth keeping: the outcomes of plug-ins and the digests.

use std::fs::File;
use std::io::{self, Read};

use super::Record;
use super::reading::{FromStart, is_unchanged};
use super::resource::{Content, Resource};
use crate::ground::media_types::essence;
use crate::ground::root::Sighting;
use crate::index::findings::Finding;
use crate::index::{ANY_MARK, OWN_SETS, RETRY};
use crate::plugin::{Plugin, PluginOutcome};
use crate::record::fixity::{Algorithm, Digester, digests_of};
use crate::{Error, Facts, Origin};
use oai::SetSpec;
use process::Stop;

impl<'a> Record<'a> {
    /// The plug-ins that are for this item.
    pub(super) fn plugins(&self) -> impl Iterator<Item = &'a Plugin> {
        let path = format!("/{}", self.item.row.path.to_url_path());
        let media_type = self.indexed_media_type();
        let dynamic = self.item.dynamic.is_some();
        let plugins = self.view.site.plugins.iter();
        plugins.filter(move |plugin| !dynamic && plugin.applies_to(essence(&media_type), &path))
    }

    /// The outcomes of the plug-ins, from the index where they were run before. They are about the file that the index
    /// knows, so there are none where the resource is another one or nothing is told of it.
    pub(super) fn plugin_outcomes(&self, resource: &Resource) -> Vec<(&'a Plugin, PluginOutcome)> {
        if resource.mark != Some(self.item.row.mark) {
            return Vec::new();
        }
        self.plugins()
            .filter_map(|plugin| Some((plugin, self.plugin_outcome(plugin)?)))
            .collect()
    }

    /// The sets of the webmaster's own that plug-ins put the item into; for a tombstone those that it ever was in.
    pub(crate) fn sets_by_plugins(&self) -> Result<Vec<SetSpec>, Error> {
        let row = &self.item.row;
        let own = &self.view.site.own_sets;
        let before = self.view.reader.plugin_result(row.id, OWN_SETS, ANY_MARK)?;
        let before: Vec<String> = before
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        if self.item.header.deleted {
            let specs = before.iter().filter(|spec| own.is_own(spec));
            return Ok(specs.filter_map(|spec| SetSpec::parse(spec)).collect());
        }
        let mut sets = Vec::new();
        for plugin in self.plugins().filter(|plugin| own.ask(plugin.name())) {
            // An outcome is kept for the version that the index knows, which is the one that a header is about.
            let kept = self.kept::<PluginOutcome>(&outcome_key(plugin));
            if let Some(outcome) = kept.or_else(|| self.plugin_outcome(plugin)) {
                sets.extend(own.given_by(plugin.name(), &outcome.sets()).cloned());
            }
        }
        let is_known = |set: &SetSpec| before.iter().any(|spec| spec == set.as_str());
        if !sets.iter().all(is_known) {
            let mut all = before;
            all.extend(sets.iter().map(|set| set.as_str().to_owned()));
            all.sort_unstable();
            all.dedup();
            self.view.findings.add(Finding {
                item: row.id,
                key: OWN_SETS.to_owned(),
                mark: ANY_MARK,
                outcome: serde_json::to_string(&all).unwrap_or_default(),
            });
            // Kept before it is told, so that the deletion is told in the same sets.
            self.view.keep_findings();
        }
        Ok(sets)
    }

    /// Nothing is said of a file that is not the one that the index knows, or not for this requester: the
    /// program opens it by its path, so the file is looked at before and after.
    fn plugin_outcome(&self, plugin: &Plugin) -> Option<PluginOutcome> {
        let site = self.view.site;
        let key = outcome_key(plugin);
        if !self.is_as_indexed() {
            return None;
        }
        if let Some(outcome) = self.kept(&key) {
            return Some(outcome);
        }
        let outcome = plugin.run(
            &site.ground.place_of(&self.item.row.path),
            // The outcome is kept for requesters of every name that the site goes by.
            &site.url_of(&self.item.row.path),
            site.config.confiner.as_ref().ok(),
        );
        if !self.is_as_indexed() {
            return None;
        }
        if let PluginOutcome::Failed { reason, .. } = &outcome {
            tracing::warn!(
                "plug-in {}: {}: {reason}",
                plugin.name(),
                self.item.header.identifier
            );
        }
        let mended = matches!(outcome, PluginOutcome::Output(_)) && self.is_to_be_retried(&key);
        // Kept last: what is not stamped, because it cannot be written now, is mended again another time.
        if mended && let Err(error) = site.index.touch(&self.item.row.path) {
            tracing::warn!("{error}");
            return Some(outcome);
        }
        self.keep(&key, &outcome);
        // It may have taken long.
        self.view.keep_findings();
        Some(outcome)
    }

    /// Whether this plug-in failed on this file in an earlier run of the server: the record is then another one
    /// from now on.
    fn is_to_be_retried(&self, key: &str) -> bool {
        let row = &self.item.row;
        let stored = self.view.reader.plugin_result(row.id, key, row.mark);
        stored.is_ok_and(|stored| stored.as_deref() == Some(RETRY))
    }

    /// The digests of the bytes that are given or referred to.
    pub(super) fn digests(&self, resource: &Resource) -> Digests {
        let algorithms = &self.view.site.config.fixity.algorithms;
        if algorithms.is_empty() || resource.size.is_none() {
            return Vec::new();
        }
        let key = digests_key(algorithms);
        // The answer of a server for a file may change although the file does not.
        let lasting = resource.mark == Some(self.item.row.mark);
        let made = resource.digests.clone();
        if made.is_none()
            && lasting
            && let Some(digests) = self.kept(&key)
        {
            return digests;
        }
        let compute = || digests_of_content(&resource.content, algorithms, &Stop::default());
        let Some(digests) = made.or_else(compute) else {
            return Vec::new();
        };
        if lasting {
            self.keep(&key, &digests);
        }
        digests
    }

    /// The digests of the file that were kept.
    pub(super) fn kept_digests(&self) -> Digests {
        let algorithms = &self.view.site.config.fixity.algorithms;
        match algorithms.is_empty() {
            true => Vec::new(),
            false => self.kept(&digests_key(algorithms)).unwrap_or_default(),
        }
    }

    /// Whether the digests of the file as the index knows it are still to be made.
    pub(super) fn lacks_digests(&self) -> bool {
        let algorithms = &self.view.site.config.fixity.algorithms;
        !algorithms.is_empty() && self.kept::<Digests>(&digests_key(algorithms)).is_none()
    }

    /// Whether the file is for this requester and still the one that the index knows, so that a result may be
    /// kept under its mark. An origin that gives the files has decided for the requester already.
    fn is_as_indexed(&self) -> bool {
        let row = &self.item.row;
        let mark = match self.view.origin.is_some_and(Origin::fetches_files) {
            true => match self.view.site.ground.look(&row.path) {
                Sighting::File { facts, .. } => Some(facts.mark),
                _ => None,
            },
            false => self.open().map(|opened| opened.facts.mark),
        };
        mark == Some(row.mark)
    }

    /// A result that was kept for the file as the index knows it.
    fn kept<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        let row = &self.item.row;
        let text = self
            .view
            .reader
            .plugin_result(row.id, key, row.mark)
            .ok()??;
        serde_json::from_str(&text).ok()
    }

    /// Keeps a result for the file as the index knows it, at the latest when the answer ends.
    fn keep<T: serde::Serialize>(&self, key: &str, value: &T) {
        let row = &self.item.row;
        let Ok(text) = serde_json::to_string(value) else {
            return;
        };
        let enough = self.view.findings.add(Finding {
            item: row.id,
            key: key.to_owned(),
            mark: row.mark,
            outcome: text,
        });
        if enough {
            self.view.keep_findings();
        }
    }
}

/// The digests of a resource's bytes, by algorithm.
pub(super) type Digests = Vec<(Algorithm, String)>;

/// The key of the outcomes of a plug-in.
fn outcome_key(plugin: &Plugin) -> String {
    format!("{} {}", plugin.name(), plugin.fingerprint())
}

/// The key of digests.
fn digests_key(algorithms: &[Algorithm]) -> String {
    let names: Vec<_> = algorithms
        .iter()
        .map(|algorithm| algorithm.name())
        .collect();
    format!("fixity {}", names.join(" "))
}

/// The digests of what is given or referred to. A file that changed under the digest has none that is right. One that is
/// referred to and very large is not read for the sake of its digests.
pub(super) fn digests_of_content(
    content: &Content,
    algorithms: &[Algorithm],
    stop: &Stop,
) -> Option<Digests> {
    match content {
        Content::Bytes(bytes) => {
            let mut digester = Digester::new(algorithms);
            digester.update(bytes);
            Some(digester.finish())
        }
        Content::Reference {
            file: Some((_, facts)),
            ..
        } if facts.size > LARGEST_DIGESTED => None,
        Content::File(file, facts)
        | Content::Reference {
            file: Some((file, facts)),
            ..
        } => digests_of_version(file, facts, algorithms, stop).ok()?,
        Content::Reference { file: None, .. } | Content::Encoded(_) | Content::Coming(_) => None,
    }
}

/// The digests of a file, unless it changes meanwhile.
fn digests_of_version(
    file: &File,
    facts: &Facts,
    algorithms: &[Algorithm],
    stop: &Stop,
) -> io::Result<Option<Digests>> {
    let mut reader = StoppableReader {
        file: FromStart::new(file),
        stop,
    };
    let digests = digests_of(&mut reader, algorithms)?;
    Ok(is_unchanged(file, facts).then_some(digests))
}

/// A file that is read until nobody wants it any more.
struct StoppableReader<'a> {
    file: FromStart<'a>,
    stop: &'a Stop,
}

impl Read for StoppableReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop.is_set() {
            true => Err(io::Error::other("nobody wants it any more")),
            false => self.file.read(buffer),
        }
    }
}

/// The largest file that is read for its digests where its bytes are not given: it takes some seconds, in which a worker
/// answers nobody else and the harvester waits.
const LARGEST_DIGESTED: u64 = 1024 * 1024 * 1024;
