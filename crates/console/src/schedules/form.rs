//! A schedule as a form has it: texts that people typed, whatever they are, kept until they can be read.

use catalog::{ScheduleSettings, Scheduled};
use jobs::{Frequency, HarvestParameters};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{moment, shown};
use crate::parts::Errors;

/// The fields of the form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ScheduleForm {
    pub(crate) name: String,
    pub(crate) metadata_prefix: String,
    pub(crate) set: String,
    pub(crate) method: String,
    /// `incremental` or `full`
    pub(crate) extent: String,
    pub(crate) from: String,
    pub(crate) until: String,
    pub(crate) slices: String,
    pub(crate) validation: String,
    pub(crate) filter: String,
    pub(crate) normalise: String,
    pub(crate) deleted: String,
    pub(crate) unpack: String,
    pub(crate) warc: String,
    pub(crate) resource_limit: String,
    /// `once`, `every` or `cron`
    pub(crate) frequency: String,
    pub(crate) number: String,
    /// `minute`, `hour`, `day`, `week` or `month`
    pub(crate) unit: String,
    pub(crate) cron: String,
    pub(crate) starts: String,
    pub(crate) ends: String,
}

impl ScheduleForm {
    /// The form of a schedule that is not there yet.
    pub(crate) fn new() -> Self {
        let settings = ScheduleSettings {
            what: Scheduled::Import,
            name: String::new(),
            parameters: "{}".to_owned(),
            frequency: "every day".to_owned(),
            starts: None,
            ends: None,
        };
        Self::of(&settings)
    }

    /// The form of a schedule. Of one that imports, it has the name and the times.
    pub(crate) fn of(settings: &ScheduleSettings) -> Self {
        let parameters = HarvestParameters::parse(&settings.parameters).unwrap_or_default();
        let mut form = Self {
            name: settings.name.clone(),
            metadata_prefix: settings.what.metadata_prefix().to_owned(),
            set: settings.what.set().unwrap_or_default().to_owned(),
            starts: settings.starts.map(shown).unwrap_or_default(),
            ends: settings.ends.map(shown).unwrap_or_default(),
            ..Self::with_parameters(parameters)
        };
        form.show_frequency(&settings.frequency);
        form
    }

    fn with_parameters(parameters: HarvestParameters) -> Self {
        let number = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
        Self {
            method: name_of(&parameters.method),
            extent: if parameters.full {
                "full"
            } else {
                "incremental"
            }
            .to_owned(),
            from: parameters.from.unwrap_or_default(),
            until: parameters.until.unwrap_or_default(),
            slices: parameters.slices.to_string(),
            validation: name_of(&parameters.validation),
            filter: number(parameters.filter),
            normalise: number(parameters.normalise),
            deleted: name_of(&parameters.deleted),
            unpack: parameters.unpack.unwrap_or_default(),
            warc: parameters.warc.unwrap_or_default(),
            resource_limit: parameters.resource_limit.to_string(),
            ..Self::default()
        }
    }

    fn show_frequency(&mut self, text: &str) {
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        kind.clone_into(&mut self.frequency);
        "1".clone_into(&mut self.number);
        "day".clone_into(&mut self.unit);
        match kind {
            "every" => {
                let (number, unit) = rest.split_once(' ').unwrap_or(("1", rest));
                number.clone_into(&mut self.number);
                unit.trim_end_matches('s').clone_into(&mut self.unit);
            }
            "cron" => rest.clone_into(&mut self.cron),
            _ => {}
        }
    }

    /// How often, if that can be read.
    pub(crate) fn frequency(&self, errors: &mut Errors) -> Option<Frequency> {
        let (field, frequency) = match self.frequency.as_str() {
            "once" => ("frequency", Ok(Frequency::once())),
            "every" => {
                let (number, unit) = (self.number.trim(), self.unit.trim());
                ("number", Frequency::every(&format!("{number} {unit}s")))
            }
            "cron" => ("cron", Frequency::cron(self.cron.trim())),
            _ => {
                errors.add("frequency", "choose how often it runs");
                return None;
            }
        };
        match frequency {
            Ok(frequency) => Some(frequency),
            Err(error) => {
                errors.add(field, jobs::message(&error));
                None
            }
        }
    }

    /// Start and end, if they can be read.
    pub(crate) fn times(&self, errors: &mut Errors) -> (Option<i64>, Option<i64>) {
        let mut read = |field: &'static str, text: &str| {
            if text.trim().is_empty() {
                return None;
            }
            let time = moment(text);
            if time.is_none() {
                let message = format!("`{text}` is not a date; write it as 2026-12-31T06:00");
                errors.add(field, message);
            }
            time
        };
        (read("starts", &self.starts), read("ends", &self.ends))
    }

    /// The parameters, as far as they can be read. What the form does not show stays as it was.
    pub(crate) fn parameters(
        &self,
        before: HarvestParameters,
        errors: &mut Errors,
    ) -> HarvestParameters {
        HarvestParameters {
            method: named("method", &self.method, errors),
            from: text(&self.from),
            until: text(&self.until),
            full: self.extent == "full",
            slices: number("slices", &self.slices, 1, errors),
            validation: named("validation", &self.validation, errors),
            filter: rules("filter", &self.filter, errors),
            normalise: rules("normalise", &self.normalise, errors),
            deleted: named("deleted", &self.deleted, errors),
            unpack: text(&self.unpack),
            warc: text(&self.warc),
            resource_limit: number("resource_limit", &self.resource_limit, 1, errors),
            ..before
        }
    }

    /// Field by field what is here and what is there, in the order of the form.
    pub(crate) fn beside(&self, other: &Self) -> Vec<(&'static str, String, String)> {
        let fields = self.fields().into_iter().zip(other.fields());
        fields
            .map(|((label, here), (_, there))| (label, here, there))
            .collect()
    }

    /// What is the same for all schedules, whatever they do.
    pub(crate) fn times_fields(&self) -> Vec<(&'static str, String)> {
        let all = self.fields().into_iter();
        all.filter(|(label, _)| ["Name", "How often", "Start", "End"].contains(label))
            .collect()
    }

    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let how_often = match self.frequency.as_str() {
            "every" => format!("every {} {}", self.number, self.unit),
            "cron" => format!("cron {}", self.cron),
            other => other.to_owned(),
        };
        [
            ("Name", &self.name),
            ("Format", &self.metadata_prefix),
            ("Set", &self.set),
            ("How often", &how_often),
            ("Start", &self.starts),
            ("End", &self.ends),
            ("Asked for by", &self.method),
            ("Extent", &self.extent),
            ("From", &self.from),
            ("Until", &self.until),
            ("Slices", &self.slices),
            ("Validation", &self.validation),
            ("Filter", &self.filter),
            ("Mapping", &self.normalise),
            ("Deleted records", &self.deleted),
            ("Mirror", &self.unpack),
            ("WARC files", &self.warc),
            ("Longest resource", &self.resource_limit),
        ]
        .map(|(label, value)| {
            let value = value.trim();
            (label, if value.is_empty() { "–" } else { value }.to_owned())
        })
        .into()
    }
}

fn text(value: &str) -> Option<String> {
    Some(value.trim().to_owned()).filter(|text| !text.is_empty())
}

fn rules(field: &'static str, value: &str, errors: &mut Errors) -> Option<i64> {
    let value = value.trim();
    if value.is_empty() {
        return None;
    }
    let id = value.parse().ok();
    if id.is_none() {
        errors.add(field, "choose one from the list");
    }
    id
}

fn number<T: std::str::FromStr + From<u8>>(
    field: &'static str,
    value: &str,
    usual: u8,
    errors: &mut Errors,
) -> T {
    value.trim().parse().unwrap_or_else(|_| {
        errors.add(field, "write a whole number");
        usual.into()
    })
}

/// A choice by its name, which is that of the JSON.
fn named<T: DeserializeOwned + Default>(field: &'static str, name: &str, errors: &mut Errors) -> T {
    if name.is_empty() {
        return T::default();
    }
    let value = serde_json::Value::String(name.to_owned());
    serde_json::from_value(value).unwrap_or_else(|_| {
        errors.add(field, "choose one from the list");
        T::default()
    })
}

fn name_of(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(frequency: &str) -> ScheduleSettings {
        ScheduleSettings {
            what: Scheduled::Harvest {
                repository: 1,
                metadata_prefix: "oai_dc".to_owned(),
                set: Some("maps".to_owned()),
            },
            name: "Every night".to_owned(),
            parameters: r#"{"validation":"very-strict","filter":3,"parse_id":false}"#.to_owned(),
            frequency: frequency.to_owned(),
            starts: Some(86_400),
            ends: None,
        }
    }

    #[test]
    fn a_form_that_is_not_touched_changes_nothing() {
        for frequency in [
            "once",
            "every day",
            "every 15 minutes",
            "every 3 months",
            "cron 0 3 * * *",
        ] {
            let before = settings(frequency);
            let form = ScheduleForm::of(&before);
            let mut errors = Errors::default();

            let parameters = HarvestParameters::parse(&before.parameters).unwrap();
            assert_eq!(form.parameters(parameters.clone(), &mut errors), parameters);
            let again = form.frequency(&mut errors).unwrap().to_string();
            assert_eq!(again, frequency);
            assert_eq!(form.times(&mut errors), (before.starts, before.ends));
            assert!(errors.is_empty(), "{errors:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_field() {
        let form = ScheduleForm {
            frequency: "cron".to_owned(),
            cron: "0 0 31 2 *".to_owned(),
            starts: "soon".to_owned(),
            slices: "many".to_owned(),
            validation: "lenient".to_owned(),
            filter: "x".to_owned(),
            ..ScheduleForm::new()
        };
        let mut errors = Errors::default();

        assert!(form.frequency(&mut errors).is_none());
        form.times(&mut errors);
        form.parameters(HarvestParameters::default(), &mut errors);

        for (field, said) in [
            ("cron", "never comes true"),
            ("starts", "is not a date"),
            ("slices", "whole number"),
            ("validation", "choose"),
            ("filter", "choose"),
        ] {
            let error = errors.of(field).unwrap_or_default();
            assert!(error.contains(said), "{field}: {error}");
        }
    }

    #[test]
    fn two_versions_stand_beside_each_other() {
        let before = ScheduleForm::of(&settings("every day"));
        let after = ScheduleForm::of(&settings("cron 0 3 * * *"));
        let different: Vec<_> = before
            .beside(&after)
            .into_iter()
            .filter(|(_, a, b)| a != b)
            .collect();
        let expected = (
            "How often",
            "every 1 day".to_owned(),
            "cron 0 3 * * *".to_owned(),
        );
        assert_eq!(different, [expected]);
    }
}
