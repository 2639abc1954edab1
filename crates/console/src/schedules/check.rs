//! What can be chosen for a schedule of a repository, and what is wrong with what was chosen.

use catalog::{Repository, Rules, RulesKind, ScheduleSettings, Set};
use jobs::HarvestParameters;

use super::Timing;
use crate::parts::Errors;
use crate::problem::Problem;
use crate::state::ConsoleState;

/// What there is to choose from.
#[derive(Debug)]
pub(crate) struct Choices {
    pub(crate) repository: Repository,
    /// The prefixes of the repository's formats; none if it did not tell them.
    pub(crate) formats: Vec<String>,
    /// The first sets of the repository, and the chosen one if there is such.
    pub(crate) sets: Vec<Set>,
    pub(crate) filters: Vec<Rules>,
    pub(crate) mappings: Vec<Rules>,
}

impl Choices {
    /// What a repository has to choose from, and the set that was chosen, which may be empty.
    pub(crate) async fn of(
        state: &ConsoleState,
        repository: i64,
        set: &str,
    ) -> Result<Self, Problem> {
        let catalog = state.catalog();
        let id = repository;
        let repository = catalog.repository(id).await?;
        let repository = repository.ok_or(catalog::Error::UnknownRepository { id })?;
        let formats = catalog.formats(id).await?;
        let mut sets = catalog.some_sets(id, None, MOST_SETS).await?;
        let set = set.trim();
        if !set.is_empty() && !sets.iter().any(|known| known.set_spec == set) {
            sets.extend(catalog.set(id, set).await?);
        }
        Ok(Self {
            repository,
            formats: formats
                .into_iter()
                .map(|format| format.metadata_prefix)
                .collect(),
            sets,
            filters: catalog.rules(Some(RulesKind::Filter)).await?,
            mappings: catalog.rules(Some(RulesKind::Mapping)).await?,
        })
    }

    fn check_prefix(&self, prefix: &str, errors: &mut Errors) {
        if prefix.is_empty() {
            errors.add("metadata_prefix", "choose a format");
        } else if oai::MetadataPrefix::parse(prefix).is_none() {
            let message = format!("`{prefix}` cannot be a format; write something like oai_dc");
            errors.add("metadata_prefix", message);
        } else if !self.formats.is_empty() && !self.formats.iter().any(|known| known == prefix) {
            let offered = self.formats.join(", ");
            let message = format!("this repository has no format `{prefix}`; it offers {offered}");
            errors.add("metadata_prefix", message);
        }
    }

    fn check_set(&self, set: &str, errors: &mut Errors) {
        if oai::SetSpec::parse(set).is_none() {
            let message = format!("`{set}` cannot be a set; write its setSpec, without spaces");
            errors.add("set", message);
            return;
        }
        if self.sets.is_empty() || self.sets.iter().any(|known| known.set_spec == set) {
            return;
        }
        let near = self.sets.iter().map(|known| known.set_spec.as_str());
        let near: Vec<_> = near.filter(|known| is_near(known, set)).take(5).collect();
        let message = match near.is_empty() {
            true => format!("this repository has no set `{set}`; choose one from the list"),
            false => format!(
                "this repository has no set `{set}`; it has {}",
                near.join(", ")
            ),
        };
        errors.add("set", message);
    }

    fn check_rules(&self, parameters: &HarvestParameters, errors: &mut Errors) {
        for (field, rules, wanted) in [
            ("filter", &self.filters, parameters.filter),
            ("normalise", &self.mappings, parameters.normalise),
        ] {
            let is_known = |id| rules.iter().any(|rules| rules.id == id);
            if wanted.is_some_and(|id| !is_known(id)) {
                errors.add(field, "these rules are gone; choose others");
            }
        }
    }
}

/// Notes what is wrong with settings of a harvest that can be read.
pub(crate) fn check(
    settings: &ScheduleSettings,
    parameters: &HarvestParameters,
    timing: Option<&Timing>,
    choices: &Choices,
    now: i64,
    errors: &mut Errors,
) {
    choices.check_prefix(settings.what.metadata_prefix(), errors);
    if let Some(set) = settings.what.set() {
        choices.check_set(set, errors);
    }
    choices.check_rules(parameters, errors);
    if let Err(error) = parameters.check() {
        let message = jobs::message(&error);
        let (field, reason) = message.split_once(": ").unwrap_or(("", &message));
        let field = FIELDS.iter().find(|known| **known == field);
        let reason = field.map_or(message.as_str(), |_| reason);
        errors.add(field.copied().unwrap_or("from"), reason);
    }
    check_times(settings, timing, now, errors);
}

/// Notes what is wrong with the name and the times, whatever is scheduled.
pub(crate) fn check_times(
    settings: &ScheduleSettings,
    timing: Option<&Timing>,
    now: i64,
    errors: &mut Errors,
) {
    if settings.name.chars().count() > LONGEST_NAME || settings.name.chars().any(char::is_control) {
        let message = format!("a name has at most {LONGEST_NAME} characters, all in one line");
        errors.add("name", message);
    }
    if let (Some(starts), Some(ends)) = (settings.starts, settings.ends)
        && ends < starts
    {
        errors.add("ends", "this is before the start; choose a later date");
        return;
    }
    let Some(timing) = timing else { return };
    if timing.ends.is_some() && timing.next(now, 1).is_empty() {
        errors.add("ends", "nothing would run until then; choose a later date");
    }
}

/// Whether a set could have been meant by somebody who mistyped.
fn is_near(known: &str, typed: &str) -> bool {
    let (known, typed) = (known.to_lowercase(), typed.to_lowercase());
    known.contains(&typed) || typed.contains(&known)
}

const LONGEST_NAME: usize = 200;
/// More would make the page slow; those who know their set type it in.
const MOST_SETS: u64 = 2000;

/// The fields that the check of parameters names.
const FIELDS: [&str; 8] = [
    "from",
    "until",
    "full",
    "slices",
    "files_per_directory",
    "resource_limit",
    "unpack",
    "warc",
];
