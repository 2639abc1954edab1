//! Two harvests side by side: what was counted, what they were begun with, what they met.

use std::collections::BTreeMap;

use catalog::HistoryEntry;

use super::words::{counts, parameters, quirks};

/// Two harvests side by side.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) counts: Vec<Line>,
    /// Those parameters that differ.
    pub(crate) parameters: Vec<Line>,
    pub(crate) quirks: Vec<Line>,
}

/// What one and the other have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) one: String,
    pub(crate) other: String,
    /// How much more or less the other has, for numbers.
    pub(crate) change: Option<i64>,
}

impl Comparison {
    pub(crate) fn new(one: &HistoryEntry, other: &HistoryEntry) -> Self {
        let mut lines: Vec<_> = counts(&one.counts)
            .into_iter()
            .zip(counts(&other.counts))
            .map(|((name, one), (_, other))| Line::numbers(name, one, other))
            .collect();
        let (a, b) = (one.counts.requests, other.counts.requests);
        lines.push(Line::numbers("Requests", a, b));
        let (a, b) = (one.counts.bytes, other.counts.bytes);
        lines.push(Line::numbers("Bytes", a, b));
        let (a, b) = (seconds(one), seconds(other));
        lines.push(Line::numbers("Seconds", a, b));
        Self {
            counts: lines,
            parameters: differing(told(one), told(other)),
            quirks: met(one, other),
        }
    }
}

impl Line {
    fn numbers(name: &str, one: u64, other: u64) -> Self {
        Self {
            name: name.to_owned(),
            one: one.to_string(),
            other: other.to_string(),
            change: Some(
                other.saturating_sub(one).cast_signed() - one.saturating_sub(other).cast_signed(),
            ),
        }
    }
}

fn seconds(entry: &HistoryEntry) -> u64 {
    let took = entry.ended.map_or(0, |ended| ended - entry.started);
    u64::try_from(took).unwrap_or(0)
}

fn told(entry: &HistoryEntry) -> BTreeMap<String, String> {
    let mut told: BTreeMap<_, _> = parameters(&entry.parameters).into_iter().collect();
    told.insert("repository".to_owned(), entry.base_url.clone());
    told.insert("format".to_owned(), entry.metadata_prefix.clone());
    told.insert(
        "set".to_owned(),
        entry.set.clone().unwrap_or_else(|| "all".to_owned()),
    );
    told
}

fn differing(mut one: BTreeMap<String, String>, other: BTreeMap<String, String>) -> Vec<Line> {
    let mut lines = Vec::new();
    let nothing = || "–".to_owned();
    for (name, there) in other {
        let here = one.remove(&name).unwrap_or_else(nothing);
        if here != there {
            lines.push(Line {
                name,
                one: here,
                other: there,
                change: None,
            });
        }
    }
    for (name, here) in one {
        lines.push(Line {
            name,
            one: here,
            other: nothing(),
            change: None,
        });
    }
    lines
}

fn met(one: &HistoryEntry, other: &HistoryEntry) -> Vec<Line> {
    let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (sentence, count) in quirks(one.quirks.as_deref()) {
        all.entry(sentence).or_default().0 = count;
    }
    for (sentence, count) in quirks(other.quirks.as_deref()) {
        all.entry(sentence).or_default().1 = count;
    }
    all.into_iter()
        .map(|(sentence, (one, other))| Line::numbers(sentence, one, other))
        .collect()
}

#[cfg(test)]
mod tests {
    use catalog::{Counts, State};

    use super::*;

    fn entry(parameters: &str, new: u64, quirks: Option<&str>) -> HistoryEntry {
        HistoryEntry {
            id: 1,
            repository: 1,
            base_url: "http://a.example/oai".to_owned(),
            job: None,
            schedule: None,
            worker: String::new(),
            metadata_prefix: "oai_dc".to_owned(),
            set: None,
            parameters: parameters.to_owned(),
            state: State::Ok,
            started: 100,
            ended: Some(160),
            attempts: 1,
            resume_state: None,
            next_from: None,
            counts: Counts {
                new,
                ..Counts::default()
            },
            failure_reason: None,
            quirks: quirks.map(str::to_owned),
        }
    }

    #[test]
    fn what_differs_is_told_and_what_does_not_is_left_out() {
        let one = entry(r#"{"full":false,"from":"2024-01-01","slices":1}"#, 10, None);
        let other = entry(
            r#"{"full":true,"slices":1}"#,
            4,
            Some(r#"{"pageBroken":2}"#),
        );

        let comparison = Comparison::new(&one, &other);

        let names: Vec<_> = comparison
            .parameters
            .iter()
            .map(|line| line.name.as_str())
            .collect();
        assert_eq!(names, ["full", "from"]);
        assert_eq!(comparison.parameters[1].other, "–");
        assert_eq!(comparison.counts[0], Line::numbers("New", 10, 4));
        assert_eq!(comparison.counts[0].change, Some(-6));
        assert_eq!(comparison.quirks[0].change, Some(2));
    }
}
