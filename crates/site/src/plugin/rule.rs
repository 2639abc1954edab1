//! The rule of a plug-in as it is configured, and the checks it must pass.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use oai::MetadataPrefix;
use oai::format::dublin_core::ELEMENTS;
use oai::format::{didl, dublin_core, http_header};
use regex::Regex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::arguments::Template;
use crate::ground::media_types::essence;
use crate::ground::rules::regex_complaint;

/// A plug-in as the configuration writes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginRule {
    /// The name by which messages speak of the plug-in.
    pub name: String,
    /// The media types it is for: `application/pdf`, `text/*`, `*/*`.
    #[serde(default = "all_media_types")]
    pub media_types: Vec<String>,
    /// A regular expression that the path of the URL must match somewhere.
    #[serde(default)]
    pub url_pattern: Option<String>,
    /// The program and its arguments; `{file}` stands for the file's absolute path, `{url}` for its URL.
    pub command: Vec<String>,
    /// The form of what the program prints.
    pub output: OutputForm,
    /// The separator of key and value, `=` unless given.
    #[serde(default)]
    pub separator: Option<String>,
    /// From the program's keys to Dublin Core elements such as `dc:title`; the key of text output is `text`.
    #[serde(default)]
    pub map: BTreeMap<String, String>,
    /// How long the program may take.
    #[serde(default = "default_timeout_seconds")]
    pub timeout_seconds: u64,
    /// How much memory each of its processes may use.
    #[serde(default = "default_memory_mb")]
    pub memory_mb: u64,
    /// How much it may print.
    #[serde(default = "default_output_kb")]
    pub output_kb: u64,
    /// Whether the program runs confined: it then changes nothing, reaches no network, and reads the file, the files of the
    /// system and [`Self::readable`].
    // Not among what a fingerprint is made of where it is the default, so that outcomes are kept by a new version.
    #[serde(default = "is_confined", skip_serializing_if = "Clone::clone")]
    pub confined: bool,
    /// Files and directories that it may read beside; relative ones as in the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<PathBuf>,
    /// The metadata format that its XML is a record of, beside those that every item has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<PluginFormat>,
}

/// A metadata format whose records a program prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginFormat {
    /// Its `metadataPrefix`.
    pub prefix: String,
    /// Its `metadataNamespace`: that of the element which the program prints.
    pub namespace: String,
    /// The URL of its XML Schema.
    pub schema: String,
}

fn is_confined() -> bool {
    true
}

/// The form of what a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputForm {
    /// One XML element, in UTF-8.
    Xml,
    /// Text that is one value.
    Text,
    /// Lines of key, separator and value.
    KeyValue,
}

/// Says which rule cannot be used and why.
#[derive(Debug, Error)]
#[error("plug-in `{rule}`: {problem}")]
pub struct PluginError {
    /// The rule's name.
    pub rule: String,
    /// The mistake in it.
    pub problem: PluginProblem,
}

/// Says what is wrong with a rule.
#[derive(Debug, Error)]
pub enum PluginProblem {
    /// The name is empty.
    #[error("the name is empty; give each plug-in a name of its own")]
    NoName,
    /// The command is empty or its first element is.
    #[error("`command` is empty; write the program and its arguments as a list")]
    NoCommand,
    /// The program would be chosen by the file.
    #[error(
        "the program `{0}` holds a placeholder; use {{file}} and {{url}} in the arguments only"
    )]
    ProgramWithPlaceholder(String),
    /// The list of media types would never match.
    #[error("`media_types` is empty; leave it out for all types")]
    NoMediaTypes,
    /// A media type is neither a type nor a pattern.
    #[error("`{0}` is not a media type; write `type/subtype`, `type/*` or `*/*`")]
    MediaType(String),
    /// The URL pattern is not a regular expression.
    #[error("`url_pattern` is not a regular expression: {}", regex_complaint(.0))]
    UrlPattern(Box<regex::Error>),
    /// The separator is empty or of no use.
    #[error("`separator` is for output `key-value` and must not be empty; leave it out for `=`")]
    Separator,
    /// XML output has no keys to map.
    #[error("`map` is not for output `xml`; leave it out, or print key-value lines")]
    MapOfXml,
    /// The format cannot be offered.
    #[error("`format`: {0}")]
    Format(String),
    /// Text output has one key only.
    #[error("the only key of text output is `text`, not `{0}`")]
    KeyOfText(String),
    /// A key is mapped to something that is not in Dublin Core.
    #[error(
        "`{key}` is mapped to `{element}`; map it to one of {}",
        known_elements()
    )]
    Element {
        /// The program's key.
        key: String,
        /// The element it is mapped to.
        element: String,
    },
    /// A limit is nought or beyond reason.
    #[error("`{name}` is {value}; choose from 1 to {most}")]
    Limit {
        /// The limit's name.
        name: &'static str,
        /// Its value.
        value: u64,
        /// The most allowed.
        most: u64,
    },
}

/// A media type, or all of a top-level type, or all; in lower case.
#[derive(Debug, Clone)]
pub(super) enum MediaTypePattern {
    All,
    TopLevel(String),
    One(String),
}

impl MediaTypePattern {
    fn parse(text: &str) -> Option<Self> {
        let (top, sub) = text.split_once('/')?;
        let named = |name: &str| !name.is_empty() && !name.contains(['*', '/', ';', ' ']);
        match (top, sub) {
            ("*", "*") => Some(Self::All),
            (top, "*") if named(top) => Some(Self::TopLevel(top.to_ascii_lowercase())),
            (top, sub) if named(top) && named(sub) => Some(Self::One(text.to_ascii_lowercase())),
            _ => None,
        }
    }

    pub(super) fn matches(&self, media_type: &str) -> bool {
        let essence = essence(media_type);
        match self {
            Self::All => true,
            Self::One(name) => essence.eq_ignore_ascii_case(name),
            Self::TopLevel(name) => {
                let top = essence.split('/').next().unwrap_or_default();
                top.eq_ignore_ascii_case(name)
            }
        }
    }
}

pub(super) fn check_limits(rule: &PluginRule) -> Result<(), PluginProblem> {
    for (name, value, most) in [
        ("timeout_seconds", rule.timeout_seconds, 3600),
        ("memory_mb", rule.memory_mb, 1024 * 1024),
        ("output_kb", rule.output_kb, 64 * 1024),
    ] {
        if !(1..=most).contains(&value) {
            return Err(PluginProblem::Limit { name, value, most });
        }
    }
    Ok(())
}

pub(super) fn check_format(rule: &PluginRule) -> Result<(), PluginProblem> {
    let Some(format) = &rule.format else {
        return Ok(());
    };
    let own = [dublin_core::PREFIX, http_header::PREFIX, didl::PREFIX];
    let prefix = &format.prefix;
    let problem = if rule.output != OutputForm::Xml {
        "only a program with output `xml` prints records".to_owned()
    } else if MetadataPrefix::parse(prefix).is_none() {
        format!(
            "the prefix `{prefix}` holds what a metadataPrefix may not: letters, digits and -_.!~*'() may stand there"
        )
    } else if own.contains(&prefix.as_str()) {
        format!("every item has a record in `{prefix}` already; choose another prefix")
    } else if !is_address(&format.schema) {
        "the schema is the http or https URL of an XML Schema".to_owned()
    } else if format.namespace.is_empty() || format.namespace.contains(char::is_whitespace) {
        "the namespace is the URI of the element that the program prints".to_owned()
    } else {
        return Ok(());
    };
    Err(PluginProblem::Format(problem))
}

fn is_address(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

pub(super) fn check_separator(rule: &PluginRule) -> Result<(), PluginProblem> {
    match rule.separator.as_deref() {
        Some("") => Err(PluginProblem::Separator),
        Some(_) if rule.output != OutputForm::KeyValue => Err(PluginProblem::Separator),
        _ => Ok(()),
    }
}

pub(super) fn parse_readable(readable: &[PathBuf], relative_to: &Path) -> Vec<PathBuf> {
    let absolute = |path: &PathBuf| absolute(relative_to, path);
    readable.iter().map(absolute).collect()
}

/// Programs run in the root directory, so no relative path may be left.
fn absolute(relative_to: &Path, path: &Path) -> PathBuf {
    let joined = relative_to.join(path);
    std::path::absolute(&joined).unwrap_or(joined)
}

pub(super) fn parse_command(
    command: &[String],
    relative_to: &Path,
) -> Result<(PathBuf, Vec<Template>), PluginProblem> {
    let (program, arguments) = command.split_first().ok_or(PluginProblem::NoCommand)?;
    if program.is_empty() {
        return Err(PluginProblem::NoCommand);
    }
    if !Template::parse(program).is_literal() {
        return Err(PluginProblem::ProgramWithPlaceholder(program.clone()));
    }
    let mut path = PathBuf::from(program);
    if program.contains('/') {
        path = absolute(relative_to, &path);
    }
    Ok((
        path,
        arguments.iter().map(|text| Template::parse(text)).collect(),
    ))
}

pub(super) fn parse_media_types(texts: &[String]) -> Result<Vec<MediaTypePattern>, PluginProblem> {
    if texts.is_empty() {
        return Err(PluginProblem::NoMediaTypes);
    }
    let parse = |text: &String| {
        MediaTypePattern::parse(text).ok_or_else(|| PluginProblem::MediaType(text.clone()))
    };
    texts.iter().map(parse).collect()
}

pub(super) fn parse_url_pattern(pattern: Option<&str>) -> Result<Option<Regex>, PluginProblem> {
    let pattern = pattern.map(Regex::new).transpose();
    pattern.map_err(|error| PluginProblem::UrlPattern(Box::new(error)))
}

pub(super) fn parse_map(
    rule: &PluginRule,
) -> Result<BTreeMap<String, &'static str>, PluginProblem> {
    if rule.output == OutputForm::Xml && !rule.map.is_empty() {
        return Err(PluginProblem::MapOfXml);
    }
    let mut elements = BTreeMap::new();
    for (key, element) in &rule.map {
        if rule.output == OutputForm::Text && key != TEXT_KEY {
            return Err(PluginProblem::KeyOfText(key.clone()));
        }
        let local = element.strip_prefix("dc:").unwrap_or_default();
        let Some(known) = ELEMENTS.into_iter().find(|known| *known == local) else {
            return Err(PluginProblem::Element {
                key: key.clone(),
                element: element.clone(),
            });
        };
        elements.insert(key.clone(), known);
    }
    Ok(elements)
}

fn known_elements() -> String {
    ELEMENTS.map(|element| format!("dc:{element}")).join(", ")
}

fn all_media_types() -> Vec<String> {
    vec!["*/*".to_owned()]
}

fn default_timeout_seconds() -> u64 {
    10
}

fn default_memory_mb() -> u64 {
    512
}

fn default_output_kb() -> u64 {
    256
}

/// The key under which text output is mapped.
pub(super) const TEXT_KEY: &str = "text";
