//! A harvest as JSON.

use harvester::{Quirk, Quirks};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::Time;
use crate::mirrored::mirrored;

/// A harvest: one pass over a repository.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Harvest {
    /// Its number.
    pub id: i64,
    /// The number of the repository.
    pub repository: i64,
    /// The base URL of the repository.
    pub base_url: String,
    /// The format that was harvested.
    pub metadata_prefix: String,
    /// The set that was harvested; `null` means all records.
    pub set: Option<String>,
    /// Its state.
    pub state: HarvestState,
    /// When it began.
    pub started: Time,
    /// When it ended.
    pub ended: Option<Time>,
    /// How often it was started: more than once if it was resumed.
    pub attempts: i64,
    /// The process that runs it, or ran it last.
    pub worker: String,
    /// The job that it belongs to.
    pub job: Option<i64>,
    /// The schedule that it belongs to.
    pub schedule: Option<i64>,
    /// Records, requests and bytes.
    pub counts: HarvestCounts,
    /// The `from` of the next harvest.
    pub next_from: Option<String>,
    /// Why it failed, or which records are missing.
    pub failure_reason: Option<String>,
    /// Its parameters.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// The quirks of the repository that were tolerated.
    pub quirks: Vec<QuirkCount>,
}

mirrored! {
    /// The state of a harvest.
    HarvestState = State {
        /// It has begun and not ended, or its process was killed.
        Running = "running",
        /// Everything was harvested.
        Ok = "ok",
        /// It reached its end, but records were skipped or failed.
        Incomplete = "incomplete",
        /// It did not reach its end.
        Failed = "failed",
        /// Somebody cancelled it.
        Cancelled = "cancelled",
    }
}

/// The counts of a harvest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct HarvestCounts {
    /// Records that were not known.
    pub new: u64,
    /// Records that were known and are different now.
    pub updated: u64,
    /// Records that are as they were.
    pub unchanged: u64,
    /// Records that are deleted now and were not known to be.
    pub deleted: u64,
    /// Records that the filter rejected.
    pub filtered: u64,
    /// Records that were repaired.
    pub repaired: u64,
    /// Records that could not be repaired.
    pub skipped: u64,
    /// Records that could not be obtained.
    pub failed: u64,
    /// HTTP requests.
    pub requests: u64,
    /// Bytes of the answers.
    pub bytes: u64,
}

/// A quirk of a repository, and how often a harvest met it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct QuirkCount {
    /// Its name, such as `leadingWhitespace`.
    #[schema(value_type = String)]
    pub name: Quirk,
    /// The quirk in a sentence.
    pub sentence: &'static str,
    /// How often it was met.
    pub count: u64,
}

impl Harvest {
    /// How long it took, in seconds.
    pub fn seconds(&self) -> Option<i64> {
        self.ended.map(|ended| ended.0 - self.started.0)
    }

    /// The parameters that were set, as pairs of name and value for people.
    pub fn parameters_in_words(&self) -> Vec<(String, String)> {
        parameters_in_words(&self.parameters)
    }
}

impl HarvestCounts {
    /// All counts by their names in JSON.
    pub fn named(&self) -> [(&'static str, u64); 10] {
        [
            ("new", self.new),
            ("updated", self.updated),
            ("unchanged", self.unchanged),
            ("deleted", self.deleted),
            ("filtered", self.filtered),
            ("repaired", self.repaired),
            ("skipped", self.skipped),
            ("failed", self.failed),
            ("requests", self.requests),
            ("bytes", self.bytes),
        ]
    }
}

impl From<catalog::HistoryEntry> for Harvest {
    fn from(entry: catalog::HistoryEntry) -> Self {
        let quirks: Option<Quirks> = entry
            .quirks
            .and_then(|quirks| serde_json::from_str(&quirks).ok());
        Self {
            id: entry.id,
            repository: entry.repository,
            base_url: entry.base_url,
            metadata_prefix: entry.metadata_prefix,
            set: entry.set,
            state: entry.state.into(),
            started: Time(entry.started),
            ended: entry.ended.map(Time),
            attempts: entry.attempts,
            worker: entry.worker,
            job: entry.job,
            schedule: entry.schedule,
            counts: entry.counts.into(),
            next_from: entry.next_from,
            failure_reason: entry.failure_reason,
            parameters: parameters(&entry.parameters),
            quirks: quirks.iter().flat_map(quirk_counts).collect(),
        }
    }
}

impl From<catalog::Counts> for HarvestCounts {
    fn from(counts: catalog::Counts) -> Self {
        Self {
            new: counts.new,
            updated: counts.updated,
            unchanged: counts.unchanged,
            deleted: counts.deleted,
            filtered: counts.filtered,
            repaired: counts.repaired,
            skipped: counts.skipped,
            failed: counts.failed,
            requests: counts.requests,
            bytes: counts.bytes,
        }
    }
}

/// Parameters that the catalog keeps as text; an empty object if there are none.
pub(crate) fn parameters(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::Object(serde_json::Map::new()))
}

/// The parameters that were set, sorted by name.
fn parameters_in_words(parameters: &Value) -> Vec<(String, String)> {
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Array(values) => !values.is_empty(),
        _ => true,
    };
    let all = parameters.as_object().into_iter().flatten();
    let mut set: Vec<_> = all
        .filter(|(_, value)| is_set(value))
        .map(|(name, value)| (name.replace('_', " "), in_words(value)))
        .collect();
    set.sort();
    set
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

fn quirk_counts(quirks: &Quirks) -> impl Iterator<Item = QuirkCount> {
    quirks.iter().map(|(name, count)| QuirkCount {
        name,
        sentence: name.sentence(),
        count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_were_not_set_are_omitted() {
        let json = r#"{"method":"ListRecords","from":null,"full":true,"schemas":[],"filter":["a.xml","b1"]}"#;
        let words = parameters_in_words(&parameters(json));
        let expected = [
            ("filter", "a.xml, b1"),
            ("full", "yes"),
            ("method", "ListRecords"),
        ];
        let expected = expected.map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(words, expected);
        assert!(parameters_in_words(&parameters("not JSON")).is_empty());
    }
}
