//! The form of a schedule, for one that is added and one that is changed: typed texts stay, whatever they are.

use askama::Template;
use catalog::Rules;
use operations::schedules::{Preview, Schedule, SchedulePatch};
use operations::{HarvestPatch, ImportPatch, Mistake, Setting, Time, read_fields};

use super::Choices;
use crate::filters;
use crate::parts::{Errors, SECRETS, Typed, shown};
use crate::repositories::choices::called;
use crate::who::Who;

/// The fields of a schedule's form.
pub(crate) type ScheduleForm = Typed;

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
    /// The repositories to choose from, for a schedule that is added.
    pub(super) repositories: Vec<(String, String)>,
    /// Whether an import may be scheduled instead.
    pub(super) may_import: bool,
    pub(super) form: ScheduleForm,
    /// The version that is changed; `None` if it is added.
    pub(super) version: Option<i64>,
    pub(super) paused: bool,
    pub(super) runs: Runs,
    /// The version that somebody else saved meanwhile.
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

/// The version that somebody else saved, beside the one typed in here.
pub(super) struct Conflict {
    pub(super) fields: Vec<(String, String, String)>,
}

impl askama::filters::HtmlSafe for Runs {}

impl Runs {
    /// The runs of a preview.
    pub(super) fn of(preview: &Preview, now: i64) -> Self {
        Self {
            frequency: preview.described.clone(),
            times: preview.times.iter().map(|time| time.0).collect(),
            now,
            errors: Vec::new(),
        }
    }
}

/// The form of a schedule that is not there yet.
pub(super) fn new_form() -> ScheduleForm {
    let mut form = ScheduleForm::default();
    show_frequency(&mut form, "every day");
    if let Ok(serde_json::Value::Object(order)) =
        serde_json::to_value(flows::HarvestOrder::default())
    {
        form.show(&order);
    }
    form
}

/// The form of a schedule.
pub(super) fn form_of(schedule: &Schedule) -> ScheduleForm {
    let mut form = new_form();
    form.set("name", &schedule.name);
    form.set("metadata_prefix", &schedule.metadata_prefix);
    form.set("set", schedule.set.clone().unwrap_or_default());
    form.set(
        "starts",
        schedule
            .starts
            .map(|time| shown(time.0))
            .unwrap_or_default(),
    );
    form.set(
        "ends",
        schedule.ends.map(|time| shown(time.0)).unwrap_or_default(),
    );
    show_frequency(&mut form, &schedule.frequency);
    for order in [&schedule.parameters, &schedule.import]
        .into_iter()
        .flatten()
    {
        form.show(order);
    }
    form
}

fn show_frequency(form: &mut ScheduleForm, text: &str) {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    form.set("frequency", kind);
    form.set("number", "1");
    form.set("unit", "day");
    match kind {
        "every" => {
            let (number, unit) = rest.split_once(' ').unwrap_or(("1", rest));
            form.set("number", number);
            form.set("unit", unit.trim_end_matches('s'));
        }
        "cron" => form.set("cron", rest),
        _ => {}
    }
}

/// Name and times of a form.
pub(super) fn times(form: &ScheduleForm) -> (SchedulePatch, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    let mut time = |field: &'static str| -> Option<Setting<Time>> {
        let read = form.get(field).parse();
        read.map_err(|reason: String| mistakes.push(Mistake::new(field, reason)))
            .ok()
    };
    let (starts, ends) = (time("starts"), time("ends"));
    let frequency = match form.get("frequency") {
        "every" => format!(
            "every {} {}s",
            form.get("number").trim(),
            form.get("unit").trim()
        ),
        "cron" => format!("cron {}", form.get("cron").trim()),
        other => other.to_owned(),
    };
    let patch = SchedulePatch {
        name: Some(form.get("name").to_owned()),
        frequency: Some(frequency),
        starts,
        ends,
        ..SchedulePatch::default()
    };
    (patch, mistakes)
}

/// The patch of a form of harvests.
pub(super) fn harvest_patch(form: &ScheduleForm) -> (SchedulePatch, Vec<Mistake>) {
    let (times, mut mistakes) = times(form);
    let mut fields = form.fields::<HarvestPatch>();
    if form.get("forget_access") == "true" {
        fields.extend(SECRETS.map(|name| (name.to_owned(), "".into())));
    }
    let (harvest, unread) = read_fields::<HarvestPatch>(fields);
    mistakes.extend(unread);
    let patch = SchedulePatch {
        metadata_prefix: Some(form.get("metadata_prefix").to_owned()),
        set: Some(form.get("set").to_owned()),
        harvest: Some(harvest),
        ..times
    };
    (patch, mistakes)
}

/// The patch of a form of imports.
pub(super) fn import_patch(form: &ScheduleForm) -> (SchedulePatch, Vec<Mistake>) {
    let (times, mut mistakes) = times(form);
    let (import, unread) = read_fields::<ImportPatch>(form.fields::<ImportPatch>());
    mistakes.extend(unread);
    let patch = SchedulePatch {
        import: Some(import),
        ..times
    };
    (patch, mistakes)
}

/// Mistakes at the fields that the form has for them.
pub(super) fn errors(form: &ScheduleForm, mistakes: Vec<Mistake>) -> Errors {
    let mut errors = Errors::default();
    for mistake in mistakes {
        let field = match (mistake.field, form.get("frequency")) {
            (Some("frequency"), "every") => "number",
            (Some("frequency"), "cron") => "cron",
            (field, _) => field.unwrap_or_default(),
        };
        errors.add(field, mistake.reason);
    }
    errors
}

impl FormPage {
    fn repository(&self) -> String {
        let repository = self.choices.repository.as_ref();
        repository.map(called).unwrap_or_default()
    }

    /// The formats, with the one that is typed in even if the repository does not have it.
    fn formats(&self) -> Vec<(String, String)> {
        let mut formats = self.choices.formats.clone();
        let chosen = self.form.get("metadata_prefix").to_owned();
        if !chosen.is_empty() && !formats.contains(&chosen) {
            formats.push(chosen);
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

    /// Whether one of the rare settings has a value or an error.
    fn has_more(&self) -> bool {
        RARE.iter().any(|field| self.errors.of(field).is_some())
            || self.form.differs(&new_form(), &RARE)
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

/// Settings that are folded away.
const RARE: [&str; 23] = [
    "via",
    "other_hosts",
    "method",
    "from",
    "until",
    "slices",
    "prune",
    "parse_id",
    "files_per_directory",
    "no_sync",
    "unpack",
    "warc",
    "access",
    "contact",
    "user_agent",
    "headers",
    "interval_ms",
    "connections",
    "timeout_ms",
    "attempts",
    "longest_wait_ms",
    "first_page_parts",
    "credentials",
];

pub(crate) const WAYS: [(&str, &str); 4] = [
    ("oai", "OAI-PMH"),
    (
        "resourcesync",
        "ResourceSync: resource lists and change lists",
    ),
    ("sitemap", "sitemaps, as robots.txt allows"),
    ("static", "static repository: one XML file with all records"),
];
pub(crate) const METHODS: [(&str, &str); 2] = [
    ("ListRecords", "ListRecords: pages of records"),
    (
        "ListIdentifiers",
        "ListIdentifiers: headers first, then each record; slow, gets around broken pages",
    ),
];
pub(crate) const EXTENTS: [(&str, &str); 2] = [
    (
        "false",
        "incremental: what has changed since the last harvest",
    ),
    ("true", "full: everything again each time"),
];
pub(crate) const LEVELS: [(&str, &str); 3] = [
    ("strict", "strict: records have to be well-formed"),
    ("very-strict", "very strict: valid by XML Schema as well"),
    ("loose", "loose: repaired if they are not well-formed"),
];
pub(crate) const DELETED: [(&str, &str); 2] = [
    ("remove", "remove their files"),
    (
        "keep",
        "keep their files, with .deleted at the end of the name",
    ),
];
pub(crate) const PRUNE: [(&str, &str); 2] =
    [("false", "stay and are marked"), ("true", "are removed")];
pub(crate) const YES_NO: [(&str, &str); 2] = [("false", "no"), ("true", "yes")];
pub(crate) const FREQUENCIES: [(&str, &str); 3] = [
    ("every", "Repeat at an interval"),
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

#[cfg(test)]
mod tests {
    use operations::Frequency;

    use super::*;

    #[test]
    fn a_form_that_is_not_touched_changes_nothing() {
        let mut order = flows::HarvestOrder::parse(
            r#"{"validation":"very-strict","filter":3,"parse_id":false,"headers":["A: b","C: d"],"slices":4}"#,
        )
        .unwrap();
        let before = order.clone();
        let mut form = new_form();
        let Ok(serde_json::Value::Object(shown)) = serde_json::to_value(&order) else {
            panic!("an order is an object");
        };
        form.show(&shown);

        let (patch, mistakes) = harvest_patch(&form);
        patch.harvest.unwrap().apply(&mut order);

        assert!(mistakes.is_empty(), "{mistakes:?}");
        assert_eq!(order, before);
    }

    #[test]
    fn frequencies_are_shown_as_they_are_read() {
        for text in [
            "once",
            "every day",
            "every 15 minutes",
            "every 3 months",
            "cron 0 3 * * *",
        ] {
            let mut form = new_form();
            show_frequency(&mut form, text);
            let frequency = times(&form).0.frequency.unwrap();
            let frequency: Frequency = frequency.parse().unwrap();
            assert_eq!(frequency.to_string(), text);
        }
    }

    #[test]
    fn mistakes_stand_at_the_fields_of_the_form() {
        let mut form = new_form();
        for (name, value) in [
            ("frequency", "cron"),
            ("starts", "soon"),
            ("slices", "many"),
            ("validation", "lenient"),
        ] {
            form.set(name, value);
        }
        let (_, mut mistakes) = harvest_patch(&form);
        mistakes.push(Mistake::new("frequency", "never comes true"));

        let errors = errors(&form, mistakes);

        for (field, reason) in [
            ("cron", "never comes true"),
            ("starts", "is not a date"),
            ("slices", "write a whole number"),
            ("validation", "write strict"),
        ] {
            let error = errors.of(field).unwrap_or_default();
            assert!(error.contains(reason), "{field}: {error}");
        }
    }
}
