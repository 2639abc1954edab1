//! The XML Schemas that records are checked against: ours, and those that the user adds. Nothing is ever fetched.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use roxmltree::Document;
use xsd_schema::parser::resolver::SchemaLoader;
use xsd_schema::validation::{
    CollectingValidationSink, SchemaValidator, ValidationFlags, ValidationRoot, drive_quick_xml,
};
use xsd_schema::xml::ParseLimits;
use xsd_schema::{SchemaSet, SchemaSetBuilder};

use super::Fault;
use crate::xml::{self, Limits};

/// A catalog of schemas, compiled.
///
/// The engine keeps the names that it meets in the schemas' own table, without locks. So each thread works with a copy
/// of its own, which is compiled when it is first needed, and given up when foreign names have made it large.
pub struct Schemas {
    sources: Vec<Source>,
    /// The elements that a document may begin with, by namespace.
    elements: HashMap<String, HashSet<String>>,
    idle: Mutex<Vec<Compiled>>,
}

/// A schema document.
#[derive(Debug, Clone)]
struct Source {
    location: String,
    text: String,
}

struct Compiled {
    set: SchemaSet,
    own_bytes: usize,
}

impl Schemas {
    /// The schemas that are part of the program: the record itself, oai_dc, DIDL and http_header.
    pub fn embedded() -> Result<Self, SchemaError> {
        Self::with_files(&[])
    }

    /// The embedded schemas and those of the user. What a schema includes or imports must be among the files too; a
    /// namespace of an embedded schema is taken over by a file for it.
    pub fn with_files(files: &[PathBuf]) -> Result<Self, SchemaError> {
        let mut sources = Vec::new();
        let mut taken = HashSet::new();
        for path in files {
            let source = read(path)?;
            taken.insert(target_namespace(&source)?);
            sources.push(source);
        }
        for (name, text) in EMBEDDED {
            let source = Source {
                location: format!("{BASE}{name}"),
                text: text.to_owned(),
            };
            if !taken.contains(&target_namespace(&source)?) {
                sources.push(source);
            }
        }
        Self::compile(sources)
    }

    fn compile(sources: Vec<Source>) -> Result<Self, SchemaError> {
        let mut elements: HashMap<String, HashSet<String>> = HashMap::new();
        for source in &sources {
            refuse_subtraction(source)?;
            let (namespace, names) = declared_elements(source)?;
            elements.entry(namespace).or_default().extend(names);
        }
        let schemas = Self {
            idle: Mutex::new(vec![compiled(&sources)?]),
            sources,
            elements,
        };
        Ok(schemas)
    }

    /// The faults of a record by the schemas; the first ones only.
    pub(super) fn faults(&self, record: &[u8], document: &Document, limits: &Limits) -> Vec<Fault> {
        if let Some(fault) = self.undeclared(document) {
            return vec![fault];
        }
        let compiled = match self.take() {
            Ok(compiled) => compiled,
            Err(error) => return vec![fault("/", error.to_string())],
        };
        let faults = compiled.faults(record, limits);
        self.give_back(compiled);
        faults
    }

    /// The namespaces of metadata for which there is no schema.
    pub(super) fn missing(&self, document: &Document) -> Vec<String> {
        let mut missing = Vec::new();
        for payload in payloads(document) {
            let namespace = payload.tag_name().namespace().unwrap_or_default();
            let known = self.elements.contains_key(namespace);
            if !known && !missing.iter().any(|other| other == namespace) {
                missing.push(namespace.to_owned());
            }
        }
        missing
    }

    /// Metadata in a namespace that has a schema must be an element of that schema. The engine does not say so, for it
    /// is told to let pass what it does not know.
    fn undeclared(&self, document: &Document) -> Option<Fault> {
        let root = document.root_element();
        let mut heads = payloads(document).chain(std::iter::once(root));
        heads.find_map(|head| {
            let name = head.tag_name();
            let namespace = name.namespace().unwrap_or_default();
            let elements = self.elements.get(namespace)?;
            let declared = elements.contains(name.name());
            let reason = || {
                format!(
                    "[cvc-elt.1] the schema of `{namespace}` declares no element `{}`",
                    name.name()
                )
            };
            (!declared).then(|| fault(name.name(), reason()))
        })
    }

    fn take(&self) -> Result<Compiled, SchemaError> {
        let idle = self.idle().pop();
        match idle {
            Some(compiled) => Ok(compiled),
            None => compiled(&self.sources),
        }
    }

    fn give_back(&self, compiled: Compiled) {
        let bytes = compiled.set.name_table.heap_bytes();
        if bytes < compiled.own_bytes + MAXIMUM_GROWTH {
            self.idle().push(compiled);
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Compiled>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Compiled {
    fn faults(&self, record: &[u8], limits: &Limits) -> Vec<Fault> {
        let validator = SchemaValidator::new(
            &self.set,
            ValidationFlags::default() & !ValidationFlags::BUILD_PSVI_TYPED_VALUES,
        );
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        let mut run = validator.start_run(CollectingValidationSink {
            errors: &mut errors,
            warnings: &mut warnings,
        });
        run.set_validation_root(ValidationRoot::Lax);
        run.set_parse_limits(
            ParseLimits::none()
                .with_max_depth(limits.depth)
                .with_max_name_bytes(MAXIMUM_NAME),
        );
        let driven = drive_quick_xml(record, &mut run, &self.set);
        drop(run);
        let mut faults: Vec<Fault> = errors
            .iter()
            .filter(|error| error.constraint != LATE_HINT)
            .take(MAXIMUM_FAULTS)
            .map(told)
            .collect();
        if let Err(error) = driven {
            faults.push(fault("/", error.to_string()));
        }
        faults
    }
}

fn told(error: &xsd_schema::validation::ValidationError) -> Fault {
    let message = error.to_string();
    let path = error.element_path().unwrap_or("/");
    // The message repeats the path in parentheses at its end.
    let reason = message.strip_suffix(&format!(" ({path})"));
    fault(path, reason.unwrap_or(&message))
}

fn fault(path: &str, reason: impl Into<String>) -> Fault {
    Fault {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// The elements that carry a format: the children of `metadata` and `about`, or the root of what is no record.
fn payloads<'a, 'input: 'a>(
    document: &'a Document<'input>,
) -> impl Iterator<Item = roxmltree::Node<'a, 'input>> {
    let root = document.root_element();
    let is_record = root.has_tag_name((OAI, "record"));
    let inside = root
        .children()
        .filter(move |part| {
            is_record && (part.has_tag_name((OAI, "metadata")) || part.has_tag_name((OAI, "about")))
        })
        .flat_map(|part| part.children())
        .filter(|node| node.is_element());
    let outside = (!is_record).then_some(root);
    inside.chain(outside)
}

fn compiled(sources: &[Source]) -> Result<Compiled, SchemaError> {
    let loader = Catalog(sources.to_vec());
    let mut builder = SchemaSetBuilder::with_loader(Box::new(loader));
    for source in sources {
        builder = builder
            .add_bytes(source.text.as_bytes(), &source.location)
            .map_err(|error| SchemaError::broken(source, error.to_string()))?;
    }
    let compiled = builder
        .compile()
        .map_err(|error| SchemaError::Incomplete(error.to_string()))?;
    // The engine goes on without what it does not find, and would let pass what that should have checked.
    let missing = compiled
        .directive_failures()
        .iter()
        .find(|failure| !failure.namespace_supplied());
    if let Some(failure) = missing {
        let location = failure
            .schema_location()
            .unwrap_or("an import without a location");
        let reason = format!("{location} is not among the schema files; add it");
        return Err(SchemaError::Incomplete(reason));
    }
    let set = compiled.into_schema_set();
    let own_bytes = set.name_table.heap_bytes();
    Ok(Compiled { set, own_bytes })
}

/// Finds what a schema includes or imports among the schemas that are there, by the last part of its location.
#[derive(Debug)]
struct Catalog(Vec<Source>);

impl Catalog {
    fn find(&self, location: &str) -> Option<&Source> {
        let name = |location: &str| location.rsplit('/').next().map(str::to_owned);
        let exact = self.0.iter().find(|source| source.location == location);
        exact.or_else(|| {
            self.0
                .iter()
                .find(|source| name(&source.location) == name(location))
        })
    }
}

impl SchemaLoader for Catalog {
    fn load(&self, location: &str) -> xsd_schema::SchemaResult<String> {
        match self.find(location) {
            Some(source) => Ok(source.text.clone()),
            None => {
                let reason = format!("{location} is not among the schema files");
                Err(std::io::Error::new(std::io::ErrorKind::NotFound, reason).into())
            }
        }
    }

    fn can_load(&self, _location: &str) -> bool {
        true
    }
}

fn read(path: &Path) -> Result<Source, SchemaError> {
    let unreadable = |source| SchemaError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let location = std::path::absolute(path).map_err(unreadable)?;
    Ok(Source {
        location: location.to_string_lossy().into_owned(),
        text: text.trim_start_matches('\u{FEFF}').to_owned(),
    })
}

fn parsed(source: &Source) -> Result<Document<'_>, SchemaError> {
    let document = xml::parse(source.text.as_bytes(), &Limits::default())
        .map_err(|malformed| SchemaError::broken(source, malformed.to_string()))?;
    if document.root_element().has_tag_name((XSD, "schema")) {
        return Ok(document);
    }
    Err(SchemaError::broken(
        source,
        "the root element is not a schema",
    ))
}

fn target_namespace(source: &Source) -> Result<String, SchemaError> {
    let document = parsed(source)?;
    let namespace = document.root_element().attribute("targetNamespace");
    Ok(namespace.unwrap_or_default().to_owned())
}

fn declared_elements(source: &Source) -> Result<(String, Vec<String>), SchemaError> {
    let document = parsed(source)?;
    let names = document
        .root_element()
        .children()
        .filter(|node| node.has_tag_name((XSD, "element")))
        .filter_map(|node| node.attribute("name"))
        .map(str::to_owned)
        .collect();
    Ok((target_namespace(source)?, names))
}

/// The engine's patterns know no subtraction of character classes, `[a-z-[aeiou]]`, and would accept too much.
fn refuse_subtraction(source: &Source) -> Result<(), SchemaError> {
    let document = parsed(source)?;
    let pattern = document
        .descendants()
        .filter(|node| node.has_tag_name((XSD, "pattern")))
        .find(|node| {
            node.attribute("value")
                .is_some_and(|value| value.contains("-["))
        });
    let Some(pattern) = pattern else {
        return Ok(());
    };
    let place = document.text_pos_at(pattern.range().start);
    let reason = format!(
        "line {}, column {}: patterns with a subtraction like [a-z-[aeiou]] cannot be checked; write the class out",
        place.row, place.col
    );
    Err(SchemaError::broken(source, reason))
}

impl std::fmt::Debug for Schemas {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let locations: Vec<&str> = self.sources.iter().map(|s| s.location.as_str()).collect();
        f.debug_tuple("Schemas").field(&locations).finish()
    }
}

/// A schema could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The file could not be read.
    #[error("cannot read the schema {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The schema is broken.
    #[error("the schema {location} cannot be used: {reason}")]
    Broken {
        /// Which one.
        location: String,
        /// Why.
        reason: String,
    },
    /// The schemas do not fit together; often a file is missing that another one imports.
    #[error("the schemas do not fit together: {0}")]
    Incomplete(String),
}

impl SchemaError {
    fn broken(source: &Source, reason: impl Into<String>) -> Self {
        Self::Broken {
            location: source.location.clone(),
            reason: reason.into(),
        }
    }
}

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
const XSD: &str = "http://www.w3.org/2001/XMLSchema";
const BASE: &str = "garner:/schemas/";
const EMBEDDED: [(&str, &str); 6] = [
    (
        "record.xsd",
        include_str!("../../assets/schemas/record.xsd"),
    ),
    (
        "oai_dc.xsd",
        include_str!("../../assets/schemas/oai_dc.xsd"),
    ),
    (
        "simpledc20021212.xsd",
        include_str!("../../assets/schemas/simpledc20021212.xsd"),
    ),
    ("xml.xsd", include_str!("../../assets/schemas/xml.xsd")),
    ("didl.xsd", include_str!("../../assets/schemas/didl.xsd")),
    (
        "http_header.xsd",
        include_str!("../../../provider/src/assets/http_header.xsd"),
    ),
];

/// Quirk: `xsi:schemaLocation` on the metadata names the schema of OAI-PMH as well, which comes too late to be used
/// (doaj.org, 2017). Hints are never followed here, so it does not matter when they come.
const LATE_HINT: &str = "sch-late-component";

const MAXIMUM_FAULTS: usize = 20;
const MAXIMUM_NAME: usize = 4096;
/// Foreign names are kept by the engine for as long as the compiled schemas are.
const MAXIMUM_GROWTH: usize = 4 << 20;
