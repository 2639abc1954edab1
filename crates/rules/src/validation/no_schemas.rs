//! Stands for the schemas where XML Schema is not built in.

use std::path::PathBuf;

use roxmltree::Document;

use super::Fault;
use crate::xml::Limits;

/// A catalog of schemas, of which there is none.
#[derive(Debug)]
pub enum Schemas {}

/// XML Schema is not built in.
#[derive(Debug, thiserror::Error)]
#[error(
    "XML Schema is not built into this garner (feature `xsd`); validate by strict or loose, or use another build"
)]
pub struct SchemaError;

impl Schemas {
    /// Refused: there are no schemas.
    pub fn embedded() -> Result<Self, SchemaError> {
        Err(SchemaError)
    }

    /// Refused: there are no schemas.
    pub fn with_files(_: &[PathBuf]) -> Result<Self, SchemaError> {
        Err(SchemaError)
    }

    pub(super) fn faults(&self, _: &[u8], _: &Document, _: &Limits) -> Vec<Fault> {
        match *self {}
    }

    pub(super) fn missing(&self, _: &Document) -> Vec<String> {
        match *self {}
    }
}
