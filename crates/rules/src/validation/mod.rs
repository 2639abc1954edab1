//! Validation of records, as strict as is asked for.
//!
//! Strict: a record is well-formed. Very strict: it follows the XML Schemas that are known. Loose: what is not well-formed
//! is repaired where that is safe, and each repair is told.

#[cfg(feature = "xsd")]
mod schemas;
#[cfg(not(feature = "xsd"))]
#[path = "no_schemas.rs"]
mod schemas;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::schemas::{SchemaError, Schemas};
use crate::repair::{Repair, repair};
use crate::xml::{self, Limits, Malformed};

/// How strictly records are looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Well-formed: UTF-8, legal characters, namespaces bound. The default.
    #[default]
    Strict,
    /// Well-formed and valid by XML Schema.
    VeryStrict,
    /// Repaired if it is not well-formed.
    Loose,
}

/// The treatment of metadata in a namespace for which there is no schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WithoutSchema {
    /// Accept it, with a warning.
    #[default]
    Warn,
    /// Refuse the record.
    Refuse,
}

/// Checks records. One can be used from several threads at once.
///
/// ```
/// use rules::validation::{Level, Schemas, Validator};
///
/// let validator = Validator::new(Level::Loose, Schemas::embedded()?);
/// let checked = validator.check(b"<title>Fish & Chips</title>")?;
/// assert_eq!(&*checked.xml, b"<title>Fish &amp; Chips</title>");
/// assert_eq!(checked.repairs[0].to_string(), "1 bare ampersand escaped");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Validator {
    level: Level,
    schemas: Schemas,
    without_schema: WithoutSchema,
    limits: Limits,
}

/// A record that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked<'a> {
    /// The record; the very bytes given, if nothing was repaired.
    pub xml: Cow<'a, [u8]>,
    /// The repairs.
    pub repairs: Vec<Repair>,
    /// The parts that could not be checked.
    pub warnings: Vec<Warning>,
}

/// Something that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The metadata is in a namespace without a schema.
    #[error("there is no schema for the namespace `{0}`; a schema file for it can be added")]
    NoSchema(String),
}

/// Why a record may not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalid {
    /// It is not well-formed, or beyond the limits; with the loose level, beyond repair.
    Malformed(Malformed),
    /// It does not follow a schema. The first faults.
    Faults(Vec<Fault>),
    /// There is no schema for its metadata, and there must be one.
    NoSchema(String),
}

/// A fault by a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where, as `/record/header/datestamp`.
    pub path: String,
    /// The fault, with the code of the XML Schema specification.
    pub reason: String,
}

impl Validator {
    /// A validator that warns of metadata without a schema.
    pub fn new(level: Level, schemas: Schemas) -> Self {
        Self {
            level,
            schemas,
            without_schema: WithoutSchema::default(),
            limits: Limits::default(),
        }
    }

    /// Decides on metadata without a schema.
    pub fn without_schema(self, without_schema: WithoutSchema) -> Self {
        Self {
            without_schema,
            ..self
        }
    }

    /// Reads records within other limits than the usual ones.
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Checks a record.
    pub fn check<'a>(&self, record: &'a [u8]) -> Result<Checked<'a>, Invalid> {
        match (xml::parse(record, &self.limits), self.level) {
            (Ok(_), Level::Strict | Level::Loose) => Ok(untouched(record)),
            (Ok(document), Level::VeryStrict) => self.validate(record, &document),
            (Err(_), Level::Loose) => self.repair(record),
            (Err(malformed), _) => Err(Invalid::Malformed(malformed)),
        }
    }

    fn repair<'a>(&self, record: &[u8]) -> Result<Checked<'a>, Invalid> {
        let repaired = repair(record, &self.limits).map_err(Invalid::Malformed)?;
        Ok(Checked {
            xml: Cow::Owned(repaired.xml.into_bytes()),
            repairs: repaired.repairs,
            warnings: Vec::new(),
        })
    }

    fn validate<'a>(
        &self,
        record: &'a [u8],
        document: &roxmltree::Document,
    ) -> Result<Checked<'a>, Invalid> {
        let faults = self.schemas.faults(record, document, &self.limits);
        if !faults.is_empty() {
            return Err(Invalid::Faults(faults));
        }
        let mut checked = untouched(record);
        for namespace in self.schemas.missing(document) {
            if self.without_schema == WithoutSchema::Refuse {
                return Err(Invalid::NoSchema(namespace));
            }
            checked.warnings.push(Warning::NoSchema(namespace));
        }
        Ok(checked)
    }
}

fn untouched(record: &[u8]) -> Checked<'_> {
    Checked {
        xml: Cow::Borrowed(record),
        repairs: Vec::new(),
        warnings: Vec::new(),
    }
}

impl std::error::Error for Invalid {}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::NoSchema(namespace) => {
                write!(f, "there is no schema for the namespace `{namespace}`")
            }
            Self::Faults(faults) => {
                let texts: Vec<String> = faults.iter().map(Fault::to_string).collect();
                f.write_str(&texts.join("; "))
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}
