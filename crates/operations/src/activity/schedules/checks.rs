//! Checks of a harvest against its repository: format, set and rules.

use catalog::{Repository, RulesKind};
use flows::HarvestOrder;
use flows::rules::RulesName;

use crate::{Actor, Channel, Context, Mistake, Refusal};

/// A repository that is to be harvested.
pub(crate) struct Target {
    pub(crate) repository: Repository,
}

impl Target {
    pub(crate) async fn find(context: &Context, id: i64) -> Result<Self, Refusal> {
        let repository = context.catalog().repository(id).await?;
        let repository = repository.ok_or(catalog::Error::UnknownRepository { id })?;
        Ok(Self { repository })
    }

    /// Finds everything that is wrong with a harvest of the repository.
    pub(crate) async fn check(
        &self,
        context: &Context,
        actor: &Actor,
        metadata_prefix: &str,
        set: Option<&str>,
        order: &HarvestOrder,
    ) -> Result<Vec<Mistake>, Refusal> {
        let mut mistakes = Vec::new();
        mistakes.extend(self.check_prefix(context, metadata_prefix).await?);
        if let Some(set) = set {
            mistakes.extend(self.check_set(context, set).await?);
        }
        mistakes.extend(check_rules(context, order).await?);
        mistakes.extend(order.check());
        let is_command_line = actor.channel == Channel::CommandLine;
        let is_file = |field| match field {
            Some("filter") => matches!(order.filter, Some(RulesName::File(_))),
            Some("normalise") => matches!(order.normalise, Some(RulesName::File(_))),
            _ => false,
        };
        // Files that the command line names are put into the catalog when the order is saved.
        let places = order.check_places().into_iter();
        mistakes.extend(places.filter(|mistake| !is_command_line || !is_file(mistake.field)));
        if !order.schemas.is_empty() && !is_command_line {
            let reason = "only the command line names files of schemas";
            mistakes.push(Mistake::new("schemas", reason));
        }
        Ok(mistakes)
    }

    async fn check_prefix(
        &self,
        context: &Context,
        prefix: &str,
    ) -> Result<Option<Mistake>, Refusal> {
        if oai::MetadataPrefix::parse(prefix).is_none() {
            let reason = format!("`{prefix}` cannot be a format; write something like oai_dc");
            return Ok(Some(Mistake::new("metadata_prefix", reason)));
        }
        let formats = context.catalog().formats(self.repository.id).await?;
        if formats.is_empty() || formats.iter().any(|known| known.metadata_prefix == prefix) {
            return Ok(None);
        }
        let offered: Vec<_> = formats
            .iter()
            .map(|it| it.metadata_prefix.as_str())
            .collect();
        let offered = offered.join(", ");
        let reason = format!("this repository has no format `{prefix}`; it offers {offered}");
        Ok(Some(Mistake::new("metadata_prefix", reason)))
    }

    async fn check_set(&self, context: &Context, set: &str) -> Result<Option<Mistake>, Refusal> {
        if oai::SetSpec::parse(set).is_none() {
            let reason = format!("`{set}` cannot be a set; write its setSpec, without spaces");
            return Ok(Some(Mistake::new("set", reason)));
        }
        let (catalog, id) = (context.catalog(), self.repository.id);
        if catalog.set(id, set).await?.is_some() {
            return Ok(None);
        }
        let known = catalog.some_sets(id, None, MOST_SETS).await?;
        if known.is_empty() {
            return Ok(None);
        }
        let near = known.iter().map(|known| known.set_spec.as_str());
        let near: Vec<_> = near.filter(|known| is_near(known, set)).take(5).collect();
        let remedy = match near.is_empty() {
            true => "choose one from the list".to_owned(),
            false => format!("it has {}", near.join(", ")),
        };
        let reason = format!("this repository has no set `{set}`; {remedy}");
        Ok(Some(Mistake::new("set", reason)))
    }
}

/// Finds rules that are not in the catalog.
async fn check_rules(context: &Context, order: &HarvestOrder) -> Result<Vec<Mistake>, Refusal> {
    let mut mistakes = Vec::new();
    for (field, kind, rules) in [
        ("filter", RulesKind::Filter, &order.filter),
        ("normalise", RulesKind::Mapping, &order.normalise),
    ] {
        let Some(RulesName::Number(number)) = rules else {
            continue;
        };
        let found = context.catalog().rules_of(*number).await?;
        if found.is_none_or(|rules| rules.kind != kind) {
            let kind = kind.name();
            let reason = format!("there is no {kind} with the number {number}; choose another");
            mistakes.push(Mistake::new(field, reason));
        }
    }
    Ok(mistakes)
}

/// Whether a set could have been meant by somebody who mistyped.
fn is_near(known: &str, typed: &str) -> bool {
    let (known, typed) = (known.to_lowercase(), typed.to_lowercase());
    known.contains(&typed) || typed.contains(&known)
}

/// More would make the answer slow.
const MOST_SETS: u64 = 2000;
