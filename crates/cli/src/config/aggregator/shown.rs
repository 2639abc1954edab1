//! The settings of `[aggregator]` for people to look at.

use operations::aggregator::{Aggregator, AggregatorArea, AggregatorSet};

use super::{AggregatorConfig, Removed, SetConfig};

impl AggregatorConfig {
    /// The exposure, as the console shows it.
    pub(crate) fn shown(&self) -> Aggregator {
        let base_url = self.base_url.clone();
        let areas = self.area.iter().map(|area| AggregatorArea {
            path: area.path.clone(),
            password: area.htpasswd.is_some(),
            users: area.users.clone(),
            allow: area.allow.clone(),
        });
        let sets = self.set.iter().map(|set| AggregatorSet {
            spec: format!("query:{}", set.spec),
            name: set.name.clone().unwrap_or_else(|| set.spec.clone()),
            conditions: conditions(set),
        });
        let removed = match self.removed_repositories {
            Removed::Tombstones => "tombstones",
            Removed::Gone => "gone",
        };
        Aggregator {
            enabled: self.enabled,
            base_url: base_url.unwrap_or_else(|| format!("http://{}{}", self.listen, self.path)),
            name: self.name.clone().unwrap_or_else(|| NAME.to_owned()),
            records: self.records,
            documents: self.documents,
            repositories: self.repositories.clone(),
            formats: self.formats.clone(),
            removed_repositories: removed.to_owned(),
            areas: areas.collect(),
            sets: sets.collect(),
            horizon: None,
        }
    }
}

fn conditions(set: &SetConfig) -> String {
    let conditions = [
        ("repositories", &set.repositories),
        ("sets", &set.sets),
        ("kinds", &set.kinds),
        ("media types", &set.media_types),
        ("hosts", &set.hosts),
    ];
    let given = conditions.iter().filter(|(_, values)| !values.is_empty());
    let given = given.map(|(name, values)| format!("{name}: {}", values.join(", ")));
    given.collect::<Vec<_>>().join("; ")
}

/// The name of a repository that nobody gave one.
pub(super) const NAME: &str = "an aggregation of garner";
