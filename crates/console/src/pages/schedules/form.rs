//! The form of a schedule, for one that is added and one that is changed: what was typed in stays, whatever it was.

use askama::Template;
use catalog::{Rules, ScheduleSettings, Scheduled};
use jobs::HarvestParameters;

use super::list::in_words;
use crate::filters;
use crate::parts::Errors;
use crate::problem::Problem;
use crate::repository_choices::called;
use crate::schedules::{Choices, ScheduleForm, Timing, check};
use crate::state::ConsoleState;
use crate::who::Who;

/// The form.
#[derive(Template)]
#[template(path = "schedule_form.html")]
pub(super) struct FormPage {
    pub(super) who: Who,
    pub(super) heading: String,
    /// Where it is sent.
    pub(super) action: String,
    pub(super) back: String,
    pub(super) choices: Choices,
    pub(super) form: ScheduleForm,
    /// The version that is changed; `None` if it is added.
    pub(super) version: Option<i64>,
    pub(super) paused: bool,
    pub(super) runs: Runs,
    /// What somebody else saved meanwhile.
    pub(super) conflict: Option<Conflict>,
    pub(super) errors: Errors,
}

/// When a schedule would run.
#[derive(Template, Debug, Default)]
#[template(path = "schedule_runs.html")]
pub(super) struct Runs {
    /// How often, in words; `None` as long as it cannot be read.
    pub(super) frequency: Option<String>,
    pub(super) times: Vec<i64>,
    pub(super) now: i64,
    pub(super) errors: Vec<String>,
}

/// What somebody else saved, beside what was typed in here.
pub(super) struct Conflict {
    pub(super) fields: Vec<(&'static str, String, String)>,
}

impl askama::filters::HtmlSafe for Runs {}

impl FormPage {
    /// Reads and checks the form; what is wrong with it is in `errors` then.
    pub(super) async fn read(
        &mut self,
        state: &ConsoleState,
        before: HarvestParameters,
        (added, is_new): (Option<i64>, bool),
    ) -> Result<ScheduleSettings, Problem> {
        let now = state.catalog().now().await?;
        let Self {
            form,
            choices,
            errors,
            ..
        } = self;
        let frequency = form.frequency(errors);
        let (starts, ends) = form.times(errors);
        let parameters = form.parameters(before, errors);
        let settings = ScheduleSettings {
            what: Scheduled::Harvest {
                repository: choices.repository.id,
                metadata_prefix: form.metadata_prefix.trim().to_owned(),
                set: Some(form.set.trim().to_owned()).filter(|set| !set.is_empty()),
            },
            name: form.name.trim().to_owned(),
            parameters: parameters.text()?,
            frequency: frequency
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            starts,
            ends,
        };
        let timing = frequency.map(|frequency| Timing {
            frequency,
            starts,
            ends,
            added: added.unwrap_or(now),
            is_new,
            skipped: None,
        });
        check(
            &settings,
            &parameters,
            timing.as_ref(),
            choices,
            now,
            errors,
        );
        self.runs = Runs {
            frequency: timing.as_ref().map(|_| in_words(&settings.frequency)),
            times: timing
                .map(|timing| timing.next(now, RUNS))
                .unwrap_or_default(),
            now,
            errors: Vec::new(),
        };
        Ok(settings)
    }

    fn repository(&self) -> String {
        called(&self.choices.repository)
    }

    /// The formats, with the one that is typed in even if the repository does not have it.
    fn formats(&self) -> Vec<(String, String)> {
        let mut formats = self.choices.formats.clone();
        let chosen = &self.form.metadata_prefix;
        if !chosen.is_empty() && !formats.contains(chosen) {
            formats.push(chosen.clone());
        }
        formats
            .into_iter()
            .map(|format| (format.clone(), format))
            .collect()
    }

    /// The sets that the browser proposes; any other can be typed in.
    fn sets(&self) -> Vec<(&str, &str)> {
        let sets = self.choices.sets.iter();
        sets.map(|set| {
            (
                set.set_spec.as_str(),
                set.name.as_deref().unwrap_or_default(),
            )
        })
        .collect()
    }

    /// Whether there is something among the rare settings that has to be seen.
    fn has_more(&self) -> bool {
        let (form, usual) = (&self.form, ScheduleForm::new());
        let fields = [
            "method",
            "from",
            "until",
            "slices",
            "unpack",
            "warc",
            "resource_limit",
        ];
        fields.iter().any(|field| self.errors.of(field).is_some())
            || form.method != usual.method
            || form.slices != usual.slices
            || form.resource_limit != usual.resource_limit
            || [&form.from, &form.until, &form.unpack, &form.warc]
                .iter()
                .any(|text| !text.is_empty())
    }

    fn filters(&self) -> Vec<(String, String)> {
        rules("none: keep all records", &self.choices.filters)
    }

    fn mappings(&self) -> Vec<(String, String)> {
        rules("none: leave records as they are", &self.choices.mappings)
    }
}

fn rules(none: &str, rules: &[Rules]) -> Vec<(String, String)> {
    let rules = rules
        .iter()
        .map(|rules| (rules.id.to_string(), rules.name.clone()));
    std::iter::once((String::new(), none.to_owned()))
        .chain(rules)
        .collect()
}

pub(super) const RUNS: usize = 5;

pub(crate) const METHODS: [(&str, &str); 2] = [
    ("ListRecords", "ListRecords: pages of records"),
    (
        "ListIdentifiers",
        "ListIdentifiers: headers first, then each record; slow, gets around broken pages",
    ),
];
pub(crate) const EXTENTS: [(&str, &str); 2] = [
    (
        "incremental",
        "incremental: what has changed since the last harvest",
    ),
    ("full", "full: everything again each time"),
];
pub(crate) const LEVELS: [(&str, &str); 3] = [
    ("strict", "strict: records have to be well-formed"),
    ("very-strict", "very strict: valid by XML Schema as well"),
    ("loose", "loose: mended if they are not well-formed"),
];
pub(crate) const DELETED: [(&str, &str); 2] = [
    ("remove", "remove their files"),
    (
        "keep",
        "keep their files, with .deleted at the end of the name",
    ),
];
pub(crate) const FREQUENCIES: [(&str, &str); 3] = [
    ("every", "again and again, at an interval"),
    ("cron", "by a cron expression"),
    ("once", "once"),
];
pub(crate) const UNITS: [(&str, &str); 5] = [
    ("minute", "minutes"),
    ("hour", "hours"),
    ("day", "days"),
    ("week", "weeks"),
    ("month", "months"),
];
