//! A schedule as the command line, the API and pages show it.

use catalog::{Schedule as Row, ScheduleSettings, ScheduleState, Scheduled};
use flows::{HarvestOrder, ImportOrder};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::describe;
use crate::{HarvestPatch, ImportPatch, Time};

/// A schedule.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Schedule {
    /// Its number.
    pub id: i64,
    /// Whether it harvests or imports.
    pub kind: ScheduleKind,
    /// The number of the repository, for a harvest.
    pub repository: Option<i64>,
    /// Where the repository answers.
    pub base_url: Option<String>,
    /// The name of the repository.
    pub repository_name: Option<String>,
    /// Its name, for people.
    pub name: String,
    /// The format; empty for an import.
    pub metadata_prefix: String,
    /// The set, or all.
    pub set: Option<String>,
    /// `once`, `every 6 hours`, or `cron 0 3 * * *`; in UTC.
    #[schema(example = "every 1 day")]
    pub frequency: String,
    /// How often, in words.
    pub described: String,
    /// Nothing runs before, and intervals are counted from it.
    pub starts: Option<Time>,
    /// Nothing runs after.
    pub ends: Option<Time>,
    /// The settings of its harvests.
    #[schema(value_type = Option<HarvestPatch>)]
    pub parameters: Option<Map<String, Value>>,
    /// The settings of its imports.
    #[schema(value_type = Option<ImportPatch>)]
    pub import: Option<Map<String, Value>>,
    /// `new`, `recurring`, `once`, `paused` or `ended`.
    #[schema(value_type = String, example = "recurring")]
    pub state: ScheduleState,
    /// When its waiting job is due.
    pub next_run: Option<Time>,
    /// The number of its job that waits or runs.
    pub job: Option<i64>,
    /// When a job of it was last begun.
    pub last_run: Option<Time>,
    /// Counts up with each change of its settings.
    pub version: i64,
    /// When it was added.
    pub added: Time,
    /// When it was last changed.
    pub changed: Time,
}

/// The kind of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScheduleKind {
    /// Harvests a repository.
    Harvest,
    /// Imports a crawl.
    Import,
}

impl From<Row> for Schedule {
    fn from(row: Row) -> Self {
        let settings = row.settings;
        let order: Map<_, _> = serde_json::from_str(&settings.parameters).unwrap_or_default();
        let (kind, parameters, import) = match settings.what {
            Scheduled::Harvest { .. } => (ScheduleKind::Harvest, Some(complete(order)), None),
            Scheduled::Import => (ScheduleKind::Import, None, Some(flat_import(order))),
        };
        Self {
            id: row.id,
            kind,
            repository: settings.what.repository(),
            base_url: row.base_url,
            repository_name: row.repository_name,
            metadata_prefix: settings.what.metadata_prefix().to_owned(),
            set: settings.what.set().map(str::to_owned),
            name: settings.name,
            described: describe(&settings.frequency),
            frequency: settings.frequency,
            starts: settings.starts.map(Time),
            ends: settings.ends.map(Time),
            parameters,
            import,
            state: row.state,
            next_run: row.next_run.map(Time),
            job: row.job,
            last_run: row.last_run.map(Time),
            version: row.version,
            added: Time(row.added),
            changed: Time(row.changed),
        }
    }
}

impl Schedule {
    /// Its name, or else its number.
    pub fn title(&self) -> String {
        match self.name.trim() {
            "" => format!("Schedule {}", self.id),
            name => name.to_owned(),
        }
    }

    /// Where its repository answers, or the sources that it imports.
    pub fn about(&self) -> String {
        match (&self.base_url, &self.import) {
            (Some(base_url), _) => base_url.clone(),
            (None, Some(import)) => sources(import),
            (None, None) => "nothing".to_owned(),
        }
    }

    /// Its subject in the audit trail.
    pub(crate) fn subject(&self) -> String {
        match self.name.trim() {
            "" => format!("schedule {}", self.id),
            name => format!("schedule {} ({name})", self.id),
        }
    }

    /// The settings that differ from those of `before`, for the audit trail.
    pub(crate) fn difference(&self, before: &Self) -> String {
        if self.kind != before.kind {
            let all = all_fields(self)
                .into_iter()
                .filter(|(_, value)| value != "–");
            let all: Vec<_> = all
                .map(|(label, value)| format!("{label}: {value}"))
                .collect();
            return format!("it does something else now; {}", all.join("; "));
        }
        let changed = beside(before, self).into_iter();
        let changed: Vec<_> = changed
            .filter(|(_, old, new)| old != new)
            .map(|(label, old, new)| format!("{label}: {old} → {new}"))
            .collect();
        match changed.is_empty() {
            true => "nothing is different".to_owned(),
            false => changed.join("; "),
        }
    }
}

/// All settings of two schedules beside each other, with a label each; `–` stands for one that is not set.
pub fn beside(one: &Schedule, other: &Schedule) -> Vec<(String, String, String)> {
    let (one, mut other) = (all_fields(one), all_fields(other));
    let mut rows = Vec::new();
    for (label, value) in one {
        let at = other.iter().position(|(own, _)| *own == label);
        let beside = at.map_or_else(|| "–".to_owned(), |at| other.remove(at).1);
        rows.push((label, value, beside));
    }
    let rest = other.into_iter();
    rows.extend(rest.map(|(label, value)| (label, "–".to_owned(), value)));
    rows
}

/// The settings of a schedule's harvests or imports that differ from the defaults, each with a label.
pub fn fields(schedule: &Schedule) -> Vec<(String, String)> {
    let (order, default) = match schedule.kind {
        ScheduleKind::Harvest => (&schedule.parameters, complete(Map::new())),
        ScheduleKind::Import => (&schedule.import, flat_import(Map::new())),
    };
    let order = order.iter().flatten();
    let unusual = order.filter(|(name, value)| default.get(*name) != Some(value));
    unusual
        .map(|(name, value)| (label(name), in_words(name, value)))
        .collect()
}

fn all_fields(schedule: &Schedule) -> Vec<(String, String)> {
    let text = |text: &str| match text.trim() {
        "" => "–".to_owned(),
        text => text.to_owned(),
    };
    let time = |time: Option<Time>| time.map_or_else(|| "–".to_owned(), |time| time.to_string());
    let mut fields = vec![
        ("Name".to_owned(), text(&schedule.name)),
        ("Format".to_owned(), text(&schedule.metadata_prefix)),
        (
            "Set".to_owned(),
            text(schedule.set.as_deref().unwrap_or_default()),
        ),
        ("Frequency".to_owned(), schedule.frequency.clone()),
        ("Start".to_owned(), time(schedule.starts)),
        ("End".to_owned(), time(schedule.ends)),
    ];
    let orders = [&schedule.parameters, &schedule.import];
    for (name, value) in orders.into_iter().flatten().flatten() {
        fields.push((label(name), in_words(name, value)));
    }
    fields
}

/// A field's name for people: `files_per_directory` is `Files per directory`.
fn label(name: &str) -> String {
    let name = name.replace('_', " ");
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => name,
    }
}

fn in_words(name: &str, value: &Value) -> String {
    match value {
        _ if name == "access" => "kept in a file of the data directory, not shown".to_owned(),
        Value::Null => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "–".to_owned(),
        Value::Array(values) => {
            let values = values.iter().map(|value| in_words("", value));
            values.collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

fn sources(import: &Map<String, Value>) -> String {
    let paths = import.get("paths").and_then(Value::as_array);
    let paths = paths.into_iter().flatten().chain(import.get("log"));
    let mut paths = paths.filter_map(Value::as_str);
    let Some(first) = paths.next() else {
        return "nothing".to_owned();
    };
    match paths.count() {
        0 => first.to_owned(),
        more => format!("{first} and {more} more"),
    }
}

/// A harvest order as an object with every setting that has a value.
fn complete(order: Map<String, Value>) -> Map<String, Value> {
    let order = serde_json::from_value::<HarvestOrder>(Value::Object(order));
    object(order.unwrap_or_default())
}

/// An import order as an object whose fields are those of its patch.
fn flat_import(order: Map<String, Value>) -> Map<String, Value> {
    let order = serde_json::from_value::<ImportOrder>(Value::Object(order));
    let mut flat = object(order.unwrap_or_default());
    for internal in ["listing", "within"] {
        flat.remove(internal);
    }
    if let Some(Value::Object(mut texts)) = flat.remove("texts") {
        if let Some(Value::Object(policy)) = texts.remove("policy") {
            flat.extend(policy);
        }
        if let Some(store) = texts.remove("store") {
            flat.insert("text".to_owned(), store);
        }
        flat.extend(texts);
    }
    flat.retain(|_, value| !value.is_null());
    flat
}

/// The settings of an import order, by the fields of its patch.
pub fn import_settings(order: &ImportOrder) -> Map<String, Value> {
    flat_import(object(order))
}

fn object(order: impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(order) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// The import order of settings, or the default if they cannot be read.
pub(super) fn import_order(settings: &ScheduleSettings) -> ImportOrder {
    ImportOrder::parse(&settings.parameters).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_orders_can_be_given_as_patches() {
        let harvest = Value::Object(complete(Map::new()));
        serde_json::from_value::<HarvestPatch>(harvest).unwrap();
        let import = Value::Object(flat_import(Map::new()));
        serde_json::from_value::<ImportPatch>(import).unwrap();
    }
}
