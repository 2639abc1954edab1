//! Two harvests side by side: counts, parameters, quirks.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Harvest, show};
use crate::{Context, Refusal};

/// Two harvests side by side.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparison {
    /// One harvest.
    pub one: Harvest,
    /// The other.
    pub other: Harvest,
    /// All counts, and the seconds that each took.
    pub counts: Vec<ComparisonLine>,
    /// The parameters that differ.
    pub parameters: Vec<ComparisonLine>,
    /// The quirks that either met.
    pub quirks: Vec<ComparisonLine>,
}

/// A value of both harvests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ComparisonLine {
    /// The name of the value.
    pub name: String,
    /// The value of one harvest.
    pub one: String,
    /// The value of the other.
    pub other: String,
    /// For numbers, the other minus one.
    pub change: Option<i64>,
}

/// Compares two harvests.
pub async fn compare(context: &Context, one: i64, other: i64) -> Result<Comparison, Refusal> {
    Ok(Comparison::new(
        show(context, one).await?,
        show(context, other).await?,
    ))
}

impl Comparison {
    fn new(one: Harvest, other: Harvest) -> Self {
        let pairs = one.counts.named().into_iter().zip(other.counts.named());
        let seconds = |harvest: &Harvest| harvest.seconds().unwrap_or(0).max(0).cast_unsigned();
        let mut counts: Vec<_> = pairs
            .map(|((name, one), (_, other))| ComparisonLine::numbers(name, one, other))
            .collect();
        counts.push(ComparisonLine::numbers(
            "seconds",
            seconds(&one),
            seconds(&other),
        ));
        Self {
            counts,
            parameters: differing(words(&one), words(&other)),
            quirks: quirks(&one, &other),
            one,
            other,
        }
    }
}

impl ComparisonLine {
    fn numbers(name: &str, one: u64, other: u64) -> Self {
        let change =
            other.saturating_sub(one).cast_signed() - one.saturating_sub(other).cast_signed();
        Self {
            name: name.to_owned(),
            one: one.to_string(),
            other: other.to_string(),
            change: Some(change),
        }
    }
}

fn words(harvest: &Harvest) -> BTreeMap<String, String> {
    let set = harvest.set.clone().unwrap_or_else(|| "all".to_owned());
    let mut words: BTreeMap<_, _> = harvest.parameters_in_words().into_iter().collect();
    words.insert("repository".to_owned(), harvest.base_url.clone());
    words.insert("format".to_owned(), harvest.metadata_prefix.clone());
    words.insert("set".to_owned(), set);
    words
}

fn differing(
    mut one: BTreeMap<String, String>,
    other: BTreeMap<String, String>,
) -> Vec<ComparisonLine> {
    let absent = || "–".to_owned();
    let mut pairs: Vec<_> = other
        .into_iter()
        .map(|(name, other)| (one.remove(&name).unwrap_or_else(absent), other, name))
        .collect();
    pairs.extend(one.into_iter().map(|(name, one)| (one, absent(), name)));
    pairs.retain(|(one, other, _)| one != other);
    let line = |(one, other, name)| ComparisonLine {
        name,
        one,
        other,
        change: None,
    };
    pairs.into_iter().map(line).collect()
}

fn quirks(one: &Harvest, other: &Harvest) -> Vec<ComparisonLine> {
    let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for quirk in &one.quirks {
        all.entry(quirk.sentence).or_default().0 = quirk.count;
    }
    for quirk in &other.quirks {
        all.entry(quirk.sentence).or_default().1 = quirk.count;
    }
    all.into_iter()
        .map(|(sentence, (one, other))| ComparisonLine::numbers(sentence, one, other))
        .collect()
}

#[cfg(test)]
mod tests {
    use catalog::{Counts, HistoryEntry, State};

    use super::*;

    fn harvest(parameters: &str, new: u64, quirks: Option<&str>) -> Harvest {
        Harvest::from(HistoryEntry {
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
        })
    }

    #[test]
    fn only_parameters_that_differ_are_listed() {
        let one = harvest(r#"{"full":false,"from":"2024-01-01","slices":1}"#, 10, None);
        let other = harvest(
            r#"{"full":true,"slices":1}"#,
            4,
            Some(r#"{"pageBroken":2}"#),
        );

        let comparison = Comparison::new(one, other);

        let names: Vec<_> = comparison
            .parameters
            .iter()
            .map(|line| line.name.as_str())
            .collect();
        assert_eq!(names, ["full", "from"]);
        assert_eq!(comparison.parameters[1].other, "–");
        assert_eq!(comparison.counts[0], ComparisonLine::numbers("new", 10, 4));
        assert_eq!(comparison.counts[0].change, Some(-6));
        assert_eq!(comparison.quirks[0].change, Some(2));
    }
}
