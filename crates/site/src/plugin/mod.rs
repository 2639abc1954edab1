//! Plug-ins: rules that run an external program on a file and take what it prints as metadata.
//!
//! This file holds the compiled rule and what comes out of it. The rule itself is in `rule`, how the program is
//! run and kept within its limits in `run`, how its output is read in `output` and `xml`.

mod arguments;
mod output;
mod rule;
mod run;
mod xml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::{Confiner, Output, Task};
use regex::Regex;
use serde::{Deserialize, Serialize};

use self::arguments::Template;
use self::rule::{MediaTypePattern, TEXT_KEY};
pub use self::rule::{OutputForm, PluginError, PluginFormat, PluginProblem, PluginRule};
pub(crate) use self::xml::standalone_element;
use crate::record::fixity::{Algorithm, Digester};

/// A rule that has been checked and can be run.
#[derive(Debug, Clone)]
pub struct Plugin {
    rule: PluginRule,
    media_types: Vec<MediaTypePattern>,
    url_pattern: Option<Regex>,
    program: PathBuf,
    readable: Vec<PathBuf>,
    arguments: Vec<Template>,
    elements: BTreeMap<String, &'static str>,
}

impl Plugin {
    /// Checks a rule; a relative program path with a slash is taken from `relative_to`.
    pub fn compile(rule: PluginRule, relative_to: &Path) -> Result<Self, PluginError> {
        Self::try_compile(&rule, relative_to).map_err(|problem| PluginError {
            rule: rule.name,
            problem,
        })
    }

    fn try_compile(rule: &PluginRule, relative_to: &Path) -> Result<Self, PluginProblem> {
        if rule.name.trim().is_empty() {
            return Err(PluginProblem::NoName);
        }
        rule::check_limits(rule)?;
        rule::check_separator(rule)?;
        rule::check_format(rule)?;
        let (program, arguments) = rule::parse_command(&rule.command, relative_to)?;
        Ok(Self {
            rule: rule.clone(),
            media_types: rule::parse_media_types(&rule.media_types)?,
            url_pattern: rule::parse_url_pattern(rule.url_pattern.as_deref())?,
            program,
            readable: rule::parse_readable(&rule.readable, relative_to),
            arguments,
            elements: rule::parse_map(rule)?,
        })
    }

    /// Returns the rule's name.
    pub fn name(&self) -> &str {
        &self.rule.name
    }

    /// The metadata format whose records the program prints.
    pub fn format(&self) -> Option<&PluginFormat> {
        self.rule.format.as_ref()
    }

    /// Tells whether the rule is for a resource of this media type at this path of the site.
    pub fn applies_to(&self, media_type: &str, url_path: &str) -> bool {
        let matches_type = |pattern: &MediaTypePattern| pattern.matches(media_type);
        let matches_url = |pattern: &Regex| pattern.is_match(url_path);
        self.media_types.iter().any(matches_type)
            && self.url_pattern.as_ref().is_none_or(matches_url)
    }

    /// Returns a string that changes when the rule changes, for the keys of caches.
    ///
    /// A new version of the program itself does not show in it.
    pub fn fingerprint(&self) -> String {
        let described = serde_json::to_vec(&(FINGERPRINT_VERSION, &self.rule))
            .expect("strings, numbers and maps with string keys can always be written as JSON");
        let mut digester = Digester::new(&[Algorithm::Sha256]);
        digester.update(&described);
        digester.update(self.program.as_os_str().as_encoded_bytes());
        let digests = digester.finish();
        digests.into_iter().map(|(_, digest)| digest).collect()
    }

    /// Whether the rule asks for confinement.
    pub fn is_confined(&self) -> bool {
        self.rule.confined
    }

    /// Runs the program on a file, by `confiner` unless there is none or the rule wants none; a failure is an outcome too.
    pub fn run(&self, file: &Path, url: &str, confiner: Option<&Confiner>) -> PluginOutcome {
        self.try_run(file, url, confiner)
            .map_or_else(|failed| failed, PluginOutcome::Output)
    }

    fn try_run(
        &self,
        file: &Path,
        url: &str,
        confiner: Option<&Confiner>,
    ) -> Result<PluginOutput, PluginOutcome> {
        let file = std::path::absolute(file)
            .map_err(|error| failed(error.to_string(), "the file could not be named"))?;
        let fill = |template: &Template| template.fill(file.as_os_str(), url);
        let timeout = Duration::from_secs(self.rule.timeout_seconds);
        let output_bytes = usize::try_from(self.rule.output_kb * 1024).unwrap_or(usize::MAX);
        let readable = [&file, &self.program].into_iter().chain(&self.readable);
        let task = Task {
            program: &self.program,
            arguments: self.arguments.iter().map(fill).collect(),
            environment: Vec::new(),
            input: None,
            output: Output::Kept(output_bytes),
            directory: None,
            readable: readable.cloned().collect(),
            wall: timeout,
            limits: run::limits(timeout, self.rule.memory_mb * 1024 * 1024),
            stop: None,
        };
        let printed = run::run(task, confiner.filter(|_| self.rule.confined))
            .map_err(|failure| failed(failure.to_string(), failure.told()))?;
        Ok(match self.rule.output {
            OutputForm::Text => PluginOutput::Text(output::text(&printed)),
            OutputForm::KeyValue => {
                PluginOutput::KeyValue(output::key_value(&printed, self.separator()))
            }
            OutputForm::Xml => PluginOutput::Xml(
                xml::rewrite(&String::from_utf8_lossy(&printed)).map_err(|problem| {
                    let told = "printed XML that cannot be used";
                    failed(format!("{told}: {problem}"), told)
                })?,
            ),
        })
    }

    fn separator(&self) -> &str {
        self.rule.separator.as_deref().unwrap_or("=")
    }
}

fn failed(reason: String, told: impl Into<String>) -> PluginOutcome {
    let told = told.into();
    PluginOutcome::Failed { reason, told }
}

/// The outcome of a plug-in on one file.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum PluginOutcome {
    /// The program printed something of use.
    Output(PluginOutput),
    /// It did not.
    Failed {
        /// Why, for the log: it may quote the program and the paths it names.
        reason: String,
        /// Why, for the world: nothing of this machine and nothing that the program said is in it.
        told: String,
    },
}

/// The output of a program, fit to be written into XML.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum PluginOutput {
    /// One well-formed element that can be put into any other.
    Xml(String),
    /// Text, not escaped.
    Text(String),
    /// Pairs in the order printed, not escaped; a key may come more than once.
    KeyValue(Vec<(String, String)>),
}

impl PluginOutcome {
    /// Returns the sets that the plug-in names: the lines of text, or the values of the key `set`.
    pub(crate) fn sets(&self) -> Vec<&str> {
        match self {
            Self::Output(PluginOutput::Text(text)) => text.lines().map(str::trim).collect(),
            Self::Output(PluginOutput::KeyValue(pairs)) => {
                let sets = pairs.iter().filter(|(key, _)| key == SET_KEY);
                sets.map(|(_, value)| value.as_str()).collect()
            }
            Self::Output(PluginOutput::Xml(_)) | Self::Failed { .. } => Vec::new(),
        }
    }

    /// Returns the Dublin Core elements (without `dc:`) that the plug-in's map makes of the outcome.
    pub fn dublin_core(&self, plugin: &Plugin) -> Vec<(&'static str, String)> {
        let element = |key: &str| plugin.elements.get(key).copied();
        match self {
            Self::Output(PluginOutput::Text(text)) if !text.is_empty() => {
                let found = element(TEXT_KEY).map(|element| (element, text.clone()));
                found.into_iter().collect()
            }
            Self::Output(PluginOutput::KeyValue(pairs)) => pairs
                .iter()
                .filter_map(|(key, value)| Some((element(key)?, value.clone())))
                .collect(),
            Self::Output(_) | Self::Failed { .. } => Vec::new(),
        }
    }
}

/// The key of a set in lines of key and value.
const SET_KEY: &str = "set";

/// Raised when the same output would be read differently, so that old cache entries are not used.
const FINGERPRINT_VERSION: u32 = 1;

#[cfg(test)]
mod tests;
