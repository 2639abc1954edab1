//! Which format a file has, and which identifier its record.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oai::MetadataPrefix;
use oai::format::MetadataFormat;

use super::known::KNOWN;
use super::read::{self, Element, Unusable};
use super::{RecordFormatConfig, RecordsConfig};
use crate::{Error, Facts, Ground, OpenError, Reason, SitePath};

/// The formats of the files of a directory.
#[derive(Debug)]
pub struct Formats {
    identifier: String,
    formats: Vec<Format>,
    /// The formats of files that were read, by a hash of the path, with the mark of the file.
    typed: Mutex<HashMap<u64, (i64, usize)>>,
    refused: Mutex<BTreeMap<SitePath, Refused>>,
}

#[derive(Debug)]
struct Format {
    prefix: String,
    namespace: String,
    schema: String,
    folder: Option<SitePath>,
}

/// A file that is no record.
#[derive(Debug)]
struct Refused {
    mark: i64,
    reason: String,
}

/// The class of a file by its content.
#[derive(Debug)]
pub(crate) enum Typed {
    /// An item of this media type.
    Offered(String),
    /// None that is offered.
    Nothing,
    /// It could not be read, which says nothing about it.
    Unknown(std::io::Error),
}

impl Formats {
    /// Takes the formats of a configuration, and those that are known. `host` is that of the base URL.
    pub fn compile(config: &RecordsConfig, host: &str) -> Result<Self, Error> {
        let identifier = match &config.identifier {
            Some(identifier) => identifier.clone(),
            None => format!("oai:{host}:"),
        };
        if !is_beginning(&identifier) {
            return Err(Error::Config(format!(
                "records.identifier `{identifier}` is not the beginning of a URI; write it like oai:example.org:"
            )));
        }
        let mut formats: Vec<Format> = Vec::new();
        for format in &config.format {
            let format = Format::compile(format).map_err(Error::Config)?;
            let same = |other: &Format| other.prefix.eq_ignore_ascii_case(&format.prefix);
            if formats.iter().any(same) {
                return Err(Error::Config(format!(
                    "there are two [[records.format]] with the prefix `{}`; keep one",
                    format.prefix
                )));
            }
            formats.push(format);
        }
        for (prefix, namespace, schema) in KNOWN {
            let is_configured = |format: &Format| {
                format.prefix.eq_ignore_ascii_case(prefix)
                    || (format.namespace == *namespace && format.folder.is_none())
            };
            if !formats.iter().any(is_configured) {
                formats.push(Format {
                    prefix: (*prefix).to_owned(),
                    namespace: (*namespace).to_owned(),
                    schema: (*schema).to_owned(),
                    folder: None,
                });
            }
        }
        Ok(Self {
            identifier,
            formats,
            typed: Mutex::default(),
            refused: Mutex::default(),
        })
    }

    /// The files that are no records, at most 10,000, each with the reason.
    pub fn refused(&self) -> Vec<(SitePath, String)> {
        let refused = locked(&self.refused);
        let named = refused.iter().take(MOST_NAMED);
        named
            .map(|(path, refused)| (path.clone(), refused.reason.clone()))
            .collect()
    }

    /// Returns the class of a file. A file that is read for the first time and is no record is named in the log.
    pub(crate) fn of_file(&self, ground: &Ground, path: &SitePath, facts: &Facts) -> Typed {
        if !path.name().ends_with(ENDING) && is_called_xml(path) {
            let reason = "the ending of its name is not in lower case; rename it to .xml";
            self.refuse_once(path, facts.mark, reason);
            return Typed::Nothing;
        }
        if !path.name().ends_with(ENDING) || facts.size == 0 {
            self.forget(path);
            return Typed::Nothing;
        }
        let key = hash(path);
        if let Some((mark, format)) = locked(&self.typed).get(&key)
            && *mark == facts.mark
        {
            return Typed::Offered(media_type(&self.formats[*format].prefix));
        }
        let is_known = |refused: &Refused| refused.mark == facts.mark;
        if locked(&self.refused).get(path).is_some_and(is_known) {
            return Typed::Nothing;
        }
        let opened = match ground.open_file(path) {
            Ok(opened) => opened,
            Err(OpenError::Io(error)) => return Typed::Unknown(error),
            Err(_) => return Typed::Nothing,
        };
        let mark = opened.facts.mark;
        match read::element(opened.file).map(|element| self.format_of(path, &element)) {
            Ok(Ok(format)) => {
                locked(&self.typed).insert(key, (mark, format));
                locked(&self.refused).remove(path);
                Typed::Offered(media_type(&self.formats[format].prefix))
            }
            Ok(Err(reason)) | Err(Unusable::Refused(reason)) => {
                // A file that is being written will be looked at again.
                if !facts.is_young() {
                    self.refuse(path, mark, reason);
                }
                Typed::Nothing
            }
            Err(Unusable::Unknown(error)) => Typed::Unknown(error),
        }
    }

    /// Names an entry that is called like a record and is no file that is followed or read.
    pub(crate) fn skip(&self, path: &SitePath, reason: &Reason) {
        if is_called_xml(path) && *reason != Reason::Missing {
            self.refuse_once(path, 0, &reason.to_string());
        }
    }

    /// Forgets a file that is gone.
    pub(crate) fn forget(&self, path: &SitePath) {
        locked(&self.refused).remove(path);
    }

    /// A text that changes whenever the records of the same files do.
    pub(crate) fn fingerprint(&self) -> String {
        format!("{} {:?}", self.identifier, self.formats)
    }

    /// The formats as they are told.
    pub(super) fn told(&self) -> Vec<MetadataFormat> {
        let format = |format: &Format| MetadataFormat {
            prefix: format.prefix.clone(),
            schema: format.schema.clone(),
            namespace: format.namespace.clone(),
        };
        self.formats.iter().map(format).collect()
    }

    /// The identifier of the record of a file.
    pub(super) fn identifier_of(&self, path: &SitePath) -> String {
        let folder = self.folder_of(path);
        let folder = folder.and_then(|format| self.formats[format].folder.as_ref());
        let skipped = folder.map_or(0, |folder| folder.as_bytes().len() + 1);
        let bytes = path.as_bytes().get(skipped..).unwrap_or_default();
        let rest = bytes.strip_suffix(ENDING).unwrap_or(bytes);
        let rest = SitePath::new(rest.to_vec());
        let rest = rest.map_or_else(String::new, |rest| rest.to_url_path());
        format!("{}{rest}", self.identifier)
    }

    /// The places at which the file of an identifier may be.
    pub(super) fn paths_of(&self, identifier: &str) -> Vec<SitePath> {
        let rest = identifier.strip_prefix(&self.identifier);
        let Some(rest) = rest.and_then(SitePath::from_url_path) else {
            return Vec::new();
        };
        let folders = self.formats.iter().map(|format| format.folder.as_ref());
        let folders = folders.flatten().map(|folder| folder.as_bytes().to_vec());
        let places = std::iter::once(Vec::new()).chain(folders);
        let path = |folder: Vec<u8>| {
            let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
            SitePath::new([folder.as_slice(), slash, rest.as_bytes(), ENDING].concat())
        };
        // In its canonical form, and not by the way of a folder that is no part of it.
        let is_it = |path: &SitePath| self.identifier_of(path) == identifier;
        places.filter_map(path).filter(is_it).collect()
    }

    /// Reads the record of a file that was opened, if it is in a format.
    pub(super) fn record(
        &self,
        path: &SitePath,
        file: std::fs::File,
        prefix: &str,
    ) -> Result<Option<String>, std::io::Error> {
        match read::element(file) {
            Ok(element) => {
                let format = self.format_of(path, &element).ok();
                let is_it = format.is_some_and(|format| self.formats[format].prefix == prefix);
                Ok(is_it.then_some(element.text))
            }
            Err(Unusable::Refused(_)) => Ok(None),
            Err(Unusable::Unknown(error)) => Err(error),
        }
    }

    fn refuse_once(&self, path: &SitePath, mark: i64, reason: &str) {
        let is_known = |refused: &Refused| refused.mark == mark && refused.reason == reason;
        if !locked(&self.refused).get(path).is_some_and(is_known) {
            self.refuse(path, mark, reason.to_owned());
        }
    }

    fn refuse(&self, path: &SitePath, mark: i64, reason: String) {
        tracing::warn!("`{}` is not a record: {reason}", path.display());
        let mut refused = locked(&self.refused);
        refused.insert(path.clone(), Refused { mark, reason });
    }

    /// The format of a file, or why it has none.
    fn format_of(&self, path: &SitePath, element: &Element) -> Result<usize, String> {
        let namespace = &element.namespace;
        if let Some(number) = self.folder_of(path) {
            let format = &self.formats[number];
            return match format.namespace == *namespace {
                true => Ok(number),
                false => Err(format!(
                    "its root element is in the namespace `{namespace}`, and files of its folder are to be in `{}`",
                    format.namespace
                )),
            };
        }
        let is_it = |format: &Format| format.folder.is_none() && format.namespace == *namespace;
        self.formats.iter().position(is_it).ok_or_else(|| {
            format!(
                "its root element is in the namespace `{namespace}`, which no format has; add [[records.format]] with it"
            )
        })
    }

    /// The format whose folder holds a path, the deepest first.
    fn folder_of(&self, path: &SitePath) -> Option<usize> {
        let depth = |number: &usize| {
            let folder = self.formats[*number].folder.as_ref();
            folder.map_or(0, |folder| folder.as_bytes().len())
        };
        let holds = |number: &usize| {
            let folder = self.formats[*number].folder.as_ref();
            folder.is_some_and(|folder| path != folder && path.is_within(folder))
        };
        (0..self.formats.len()).filter(holds).max_by_key(depth)
    }
}

impl Format {
    fn compile(config: &RecordFormatConfig) -> Result<Self, String> {
        let prefix = &config.prefix;
        if MetadataPrefix::parse(prefix).is_none() {
            return Err(format!(
                "[[records.format]]: `{prefix}` is not a metadataPrefix; use letters, digits, - and _"
            ));
        }
        let known = KNOWN.iter().find(|(known, _, _)| known == prefix);
        let needed = |given: &Option<String>, known: Option<&str>, key: &str| {
            let value = given.clone().or(known.map(str::to_owned));
            value.ok_or_else(|| format!("[[records.format]] `{prefix}` needs a {key}"))
        };
        let folder = match &config.folder {
            None => None,
            Some(folder) => {
                let path = SitePath::new(folder.trim_matches('/').as_bytes().to_vec());
                let path = path.filter(|path| !path.as_bytes().is_empty());
                Some(path.ok_or_else(|| {
                    format!(
                        "[[records.format]] `{prefix}`: `{folder}` is not a folder of the directory"
                    )
                })?)
            }
        };
        Ok(Self {
            prefix: prefix.clone(),
            namespace: needed(&config.namespace, known.map(|known| known.1), "namespace")?,
            schema: needed(&config.schema, known.map(|known| known.2), "schema")?,
            folder,
        })
    }
}

/// The media type under which the index knows files of a format.
pub(super) fn media_type(prefix: &str) -> String {
    format!("{RECORD}{prefix}")
}

/// The format of a media type, if it is that of records.
pub(super) fn prefix_of(media_type: &str) -> Option<&str> {
    media_type.strip_prefix(RECORD)
}

fn is_beginning(identifier: &str) -> bool {
    let scheme = identifier.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| !scheme.is_empty())
        && identifier.bytes().all(|byte| byte.is_ascii_graphic())
        && !identifier.contains(['"', '<', '>', '#', '\\', '^', '`', '{', '|', '}'])
}

fn hash(path: &SitePath) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.as_bytes().hash(&mut hasher);
    hasher.finish()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the names of files end.
/// Whether a file is called like a record, in whatever case.
fn is_called_xml(path: &SitePath) -> bool {
    let name = path.name();
    let ending = name.get(name.len().saturating_sub(ENDING.len())..);
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
}

const ENDING: &[u8] = b".xml";

/// The beginning of their media types.
pub(crate) const RECORD: &str = "record/";

/// How many files are named.
const MOST_NAMED: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn formats() -> Formats {
        let format =
            |prefix: &str, namespace: Option<&str>, folder: Option<&str>| RecordFormatConfig {
                prefix: prefix.to_owned(),
                namespace: namespace.map(str::to_owned),
                schema: namespace.map(|_| "http://a.example/x.xsd".to_owned()),
                folder: folder.map(str::to_owned),
            };
        let config = RecordsConfig {
            format: vec![
                format("marc21", None, Some("/marc/")),
                format("own", Some("urn:own"), None),
            ],
            ..RecordsConfig::default()
        };
        Formats::compile(&config, "a.example").unwrap()
    }

    fn format_of(path: &str, namespace: &str) -> Result<String, String> {
        let formats = formats();
        let element = Element {
            text: String::new(),
            namespace: namespace.to_owned(),
        };
        let path = SitePath::new(path.as_bytes().to_vec()).unwrap();
        let found = formats.format_of(&path, &element);
        found.map(|format| formats.formats[format].prefix.clone())
    }

    #[test]
    fn a_folder_goes_before_the_namespace() {
        let marc = "http://www.loc.gov/MARC21/slim";
        assert_eq!(format_of("a.xml", "urn:own"), Ok("own".to_owned()));
        assert_eq!(format_of("marc/a.xml", marc), Ok("marc21".to_owned()));
        assert!(
            format_of("marc/a.xml", "urn:own")
                .unwrap_err()
                .contains("urn:own")
        );
        assert!(format_of("marc.xml", marc).is_err());
        assert!(
            format_of("a.xml", "urn:other")
                .unwrap_err()
                .contains("urn:other")
        );
    }

    #[test]
    fn identifiers_lead_back_to_their_files() {
        let formats = formats();
        for (path, identifier) in [
            ("a b.xml", "oai:a.example:a%20b"),
            ("marc/deep/a.xml", "oai:a.example:deep/a"),
        ] {
            let path = SitePath::new(path.as_bytes().to_vec()).unwrap();
            assert_eq!(formats.identifier_of(&path), identifier);
            assert!(formats.paths_of(identifier).contains(&path));
        }
        for identifier in ["oai:b.example:a", "oai:a.example:../a"] {
            assert!(formats.paths_of(identifier).is_empty(), "{identifier}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let compile = |identifier: Option<&str>, prefix: &str| {
            let config = RecordsConfig {
                identifier: identifier.map(str::to_owned),
                format: vec![RecordFormatConfig {
                    prefix: prefix.to_owned(),
                    ..RecordFormatConfig::default()
                }],
                ..RecordsConfig::default()
            };
            Formats::compile(&config, "h")
                .map(drop)
                .map_err(|error| error.to_string())
        };
        assert!(compile(None, "oai_dc").is_ok());
        assert!(compile(None, "a:b").unwrap_err().contains("`a:b`"));
        assert!(
            compile(None, "new")
                .unwrap_err()
                .contains("needs a namespace")
        );
        assert!(
            compile(Some("no uri"), "mods")
                .unwrap_err()
                .contains("no uri")
        );
    }
}
