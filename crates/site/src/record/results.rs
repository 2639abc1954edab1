//! What is worth keeping once it was found out: the outcomes of plug-ins and the digests.

use std::fs::File;
use std::io::Seek;

use super::Record;
use super::resource::{Content, Resource, is_unchanged};
use crate::fixity::{Algorithm, Digester, digests_of};
use crate::index::RETRY;
use crate::media_types::essence;
use crate::plugin::{Plugin, PluginOutcome};

impl<'a> Record<'a> {
    /// The plug-ins that are for this item.
    pub(super) fn plugins(&self) -> impl Iterator<Item = &'a Plugin> {
        let path = format!("/{}", self.item.row.path.to_url_path());
        let media_type = self.indexed_media_type();
        let dynamic = self.item.row.dynamic;
        let plugins = self.view.site.plugins.iter();
        plugins.filter(move |plugin| !dynamic && plugin.applies_to(essence(&media_type), &path))
    }

    /// What the plug-ins say, from the index where they were asked before.
    pub(super) fn plugin_outcomes(&self) -> Vec<(&'a Plugin, PluginOutcome)> {
        self.plugins()
            .filter_map(|plugin| Some((plugin, self.plugin_outcome(plugin)?)))
            .collect()
    }

    /// Nothing is said of a file that is not the one that the index knows, or not for this requester: the
    /// program opens it by its path, so the file is looked at before and after.
    fn plugin_outcome(&self, plugin: &Plugin) -> Option<PluginOutcome> {
        let site = self.view.site;
        let key = format!("{} {}", plugin.name(), plugin.fingerprint());
        if let Some(outcome) = self.kept(&key) {
            return Some(outcome);
        }
        if !self.is_as_indexed() {
            return None;
        }
        let root = site.ground.root.path();
        let outcome = plugin.run(
            &self.item.row.path.below(&root),
            &self.item.header.identifier,
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
    pub(super) fn digests(&self, resource: &Resource) -> Vec<(Algorithm, String)> {
        let algorithms = &self.view.site.config.fixity.algorithms;
        if algorithms.is_empty() || resource.size.is_none() {
            return Vec::new();
        }
        let names: Vec<_> = algorithms
            .iter()
            .map(|algorithm| algorithm.name())
            .collect();
        let key = format!("fixity {}", names.join(" "));
        // What a server makes of a file may change although the file does not.
        let lasting = !self.item.row.dynamic;
        if lasting && let Some(digests) = self.kept(&key) {
            return digests;
        }
        let Some(digests) = self.compute_digests(&resource.content) else {
            return Vec::new();
        };
        if lasting {
            self.keep(&key, &digests);
        }
        digests
    }

    /// A file that changed under the digest has none that is right.
    fn compute_digests(&self, content: &Content) -> Option<Vec<(Algorithm, String)>> {
        let algorithms = &self.view.site.config.fixity.algorithms;
        match content {
            Content::Bytes(bytes) => {
                let mut digester = Digester::new(algorithms);
                digester.update(bytes);
                Some(digester.finish())
            }
            Content::File(file, facts) => {
                let mut reader: &File = file;
                let digests = digests_of(&mut reader, algorithms).ok()?;
                reader.rewind().ok()?;
                is_unchanged(file, facts).then_some(digests)
            }
            Content::Reference(_) => {
                let mut opened = self.open()?;
                let digests = digests_of(&mut opened.file, algorithms).ok()?;
                is_unchanged(&opened.file, &opened.facts).then_some(digests)
            }
        }
    }

    /// Whether the file is for this requester and still the one that the index knows, so that a result may be kept under its mark.
    fn is_as_indexed(&self) -> bool {
        let opened = self.open();
        opened.is_some_and(|opened| opened.facts.mark == self.item.row.mark)
    }

    /// A result that was kept for the file as it is.
    fn kept<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        let row = &self.item.row;
        if !self.is_as_indexed() {
            return None;
        }
        let text = self
            .view
            .reader
            .plugin_result(row.id, key, row.mark)
            .ok()??;
        serde_json::from_str(&text).ok()
    }

    /// Keeps a result, unless the file is no longer the one it was made of.
    fn keep<T: serde::Serialize>(&self, key: &str, value: &T) {
        let row = &self.item.row;
        let Ok(text) = serde_json::to_string(value) else {
            return;
        };
        if self.is_as_indexed()
            && let Err(error) = self
                .view
                .site
                .index
                .keep_plugin_result(row.id, key, row.mark, &text)
        {
            tracing::warn!("a result could not be kept and will be made again: {error}");
        }
    }
}
