//! What is done to each record before it is stored: validate, filter, normalise.

use std::borrow::Cow;

use anyhow::Context;
use harvester::Record;
use harvester::filter::Filters;
use harvester::normalise::Mappings;
use harvester::validation::{Level, Schemas, Validator};

use super::HarvestRepository;
use crate::rules::RuleSource;

/// The rules of a harvest, read and found to be usable before it begins.
pub(super) struct Treatment {
    /// Only where more than well-formed XML is asked for: that is seen to when records are read.
    validator: Option<Validator>,
    filters: Option<Filters>,
    mappings: Option<Mappings>,
}

/// What came of a record.
pub(super) enum Treated<T> {
    /// It is to be kept, as it is now.
    Kept {
        content: T,
        /// What was mended.
        repairs: Vec<String>,
        /// What could not be checked.
        unchecked: Vec<String>,
    },
    /// It is a tombstone.
    Deleted,
    /// The filters leave it out.
    Filtered,
    /// It may not be kept.
    Invalid(String),
    /// The repository does not have it any more.
    Gone,
}

impl Treatment {
    pub(super) fn load(order: &HarvestRepository) -> anyhow::Result<Self> {
        let validator = match order.validation {
            Level::Strict | Level::Loose => None,
            Level::VeryStrict => {
                let schemas =
                    Schemas::with_files(&order.schemas).context("the schemas cannot be used")?;
                Some(Validator::new(Level::VeryStrict, schemas))
            }
        };
        Ok(Self {
            validator,
            filters: order.filter.as_ref().map(RuleSource::filters).transpose()?,
            mappings: order
                .normalise
                .as_ref()
                .map(RuleSource::mappings)
                .transpose()?,
        })
    }

    /// Validates, filters and normalises a record.
    pub(super) fn apply(&self, record: Record) -> Treated<Vec<u8>> {
        let repairs = record.repairs.iter().map(ToString::to_string).collect();
        let mut unchecked = Vec::new();
        if let Some(validator) = &self.validator {
            match validator.check(&record.xml) {
                Ok(checked) => unchecked.extend(checked.warnings.iter().map(ToString::to_string)),
                Err(invalid) => return Treated::Invalid(invalid.to_string()),
            }
        }
        if let Some(filters) = &self.filters {
            match filters.accepts(&record.xml) {
                Ok(true) => {}
                Ok(false) => return Treated::Filtered,
                Err(error) => return Treated::Invalid(format!("it cannot be filtered: {error}")),
            }
        }
        let mut xml = record.xml;
        if let Some(mappings) = &self.mappings {
            let normalised = match mappings.apply(&xml) {
                Ok(normalised) => normalised.xml,
                Err(error) => return Treated::Invalid(format!("it cannot be normalised: {error}")),
            };
            if let Cow::Owned(normalised) = normalised {
                xml = normalised;
            }
        }
        Treated::Kept {
            content: xml,
            repairs,
            unchecked,
        }
    }
}

impl<T> Treated<T> {
    /// The same with something made of the content.
    pub(super) fn map<U>(self, make: impl FnOnce(T) -> U) -> Treated<U> {
        match self {
            Self::Kept {
                content,
                repairs,
                unchecked,
            } => Treated::Kept {
                content: make(content),
                repairs,
                unchecked,
            },
            Self::Deleted => Treated::Deleted,
            Self::Filtered => Treated::Filtered,
            Self::Invalid(reason) => Treated::Invalid(reason),
            Self::Gone => Treated::Gone,
        }
    }
}
