//! The treatment of each record before it is stored: validate, filter, normalise.

use std::borrow::Cow;

use anyhow::Context;
use harvester::Record;
use harvester::unpack::SpooledValue;
use rules::filter::Filters;
use rules::normalise::Mappings;
use rules::validation::{Level, Schemas, Validator};

use super::HarvestOrder;
use crate::rules::RuleSource;

/// The rules of a harvest, read and found to be usable before it begins.
pub(super) struct Treatment {
    /// Only where more than well-formed XML is asked for: that is seen to when records are read.
    validator: Option<Validator>,
    filters: Option<Filters>,
    mappings: Option<Mappings>,
}

/// The result for a record.
pub(super) enum Treated<T> {
    /// It is to be kept, as it is now.
    Kept {
        content: T,
        /// The repairs.
        repairs: Vec<String>,
        /// The parts that could not be checked.
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
    /// It is held as it is now.
    Unchanged,
}

impl Treatment {
    pub(super) fn load(
        order: &HarvestOrder,
        (filter, normalise): (Option<&RuleSource>, Option<&RuleSource>),
    ) -> anyhow::Result<Self> {
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
            filters: filter.map(RuleSource::filters).transpose()?,
            mappings: normalise.map(RuleSource::mappings).transpose()?,
        })
    }

    /// Validates, filters and normalises a record; gives its XML, with the values that were taken out of that.
    pub(super) fn apply(&self, record: Record) -> Treated<(Vec<u8>, Vec<SpooledValue>)> {
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
        let (mut xml, mut values) = (record.xml, record.values);
        if let Some(mappings) = &self.mappings {
            let normalised = match mappings.apply(&xml) {
                Ok(normalised) => normalised,
                Err(error) => return Treated::Invalid(format!("it cannot be normalised: {error}")),
            };
            for value in &mut values {
                value.move_to(normalised.moved(value.at()));
            }
            if let Cow::Owned(normalised) = normalised.xml {
                xml = normalised;
            }
        }
        Treated::Kept {
            content: (xml, values),
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
            Self::Unchanged => Treated::Unchanged,
        }
    }
}
