//! Filters and mappings that are kept in the catalog, for schedules and harvests: adding, changing, removing and trying
//! them.

use ::rules::filter::{Match, Step};
use catalog::{Error, Role, RulesKind};
use flows::rules::{ReadRules, Trial, try_rules};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Actor, Context, Mistake, Orders, Refusal, Time, schema};

/// A filter or a mapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rules {
    /// Their number.
    pub id: i64,
    /// A filter decides which records are kept, a mapping adds elements to records.
    #[schema(schema_with = schema::rules_kind)]
    pub kind: RulesKind,
    /// Their name, which no others of their kind have.
    pub name: String,
    /// The text of the file.
    pub content: String,
    /// Counts the changes; a change names the version that it is based on.
    pub version: i64,
    /// When they were last changed.
    pub changed: Time,
    /// The author of the last change.
    pub changed_by: Option<String>,
}

/// Rules to add.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRules {
    /// A filter or a mapping.
    #[schema(schema_with = schema::rules_kind)]
    pub kind: RulesKind,
    /// Their name.
    pub name: String,
    /// The text of the file.
    pub content: String,
}

/// Rules to change.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangedRules {
    /// Their name.
    pub name: String,
    /// The text of the file.
    pub content: String,
    /// The version that the change is based on; refused with `changed` if there is another by now.
    pub version: i64,
}

/// A selection of rules.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RulesQuery {
    /// Those of one kind.
    #[param(schema_with = schema::rules_kind, required = false)]
    pub kind: Option<RulesKind>,
}

/// The effect of rules on one record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RulesTrial {
    /// The record, in words.
    #[serde(rename = "what")]
    pub record: String,
    /// Whether the record would be kept.
    pub accepted: bool,
    /// Whether the record is marked as deleted; such records are not filtered.
    pub deleted: bool,
    /// For a filter: `any` or `all` of its conditions are needed.
    #[serde(rename = "match")]
    pub matching: Option<&'static str>,
    /// The result of each condition of a filter.
    pub filters: Vec<FilterStep>,
    /// The elements that a mapping adds.
    pub added: Vec<AddedElement>,
    /// For a mapping: the record as it would be stored.
    pub stored: Option<String>,
}

/// The result of one condition of a filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FilterStep {
    /// The nodes that are looked at.
    pub xpath: String,
    /// The expression that their texts are compared with.
    pub regexp: String,
    /// Whether letter case is ignored.
    pub ignore_case: bool,
    /// Whether the result is inverted.
    pub invert: bool,
    /// Whether the condition holds.
    pub holds: bool,
    /// The nodes of the record.
    pub nodes: Vec<FilterNode>,
}

/// A node that a filter looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FilterNode {
    /// Its path in the record.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Whether the text matches.
    pub matches: bool,
}

/// An element that a mapping adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AddedElement {
    /// Its name.
    pub name: String,
    /// Its text.
    pub value: String,
    /// The text that caused it.
    pub because_of: String,
}

/// Rules by kind and name.
pub async fn list(context: &Context, query: RulesQuery) -> Result<Vec<Rules>, Refusal> {
    let rules = context.catalog().rules(query.kind).await?;
    Ok(rules.into_iter().map(Into::into).collect())
}

/// The orders of the list.
pub const ORDERS: Orders<'_, Rules> = &[
    ("name", |rules| rules.name.as_str().into()),
    ("kind", |rules| rules.kind.name().into()),
    ("version", |rules| rules.version.into()),
    ("changed", |rules| rules.changed.into()),
];

/// The rules with the number `id`.
pub async fn show(context: &Context, id: i64) -> Result<Rules, Refusal> {
    let rules = context.catalog().rules_of(id).await?;
    Ok(rules.ok_or(Error::UnknownRules { id })?.into())
}

/// Adds rules.
pub async fn add(context: &Context, actor: &Actor, new: &NewRules) -> Result<Rules, Refusal> {
    actor.require(Role::Operator)?;
    let name = new.name.trim();
    check(new.kind, name, &new.content)?;
    let catalog = context.catalog();
    let added = catalog.add_rules(new.kind, name, &new.content, Some(&actor.name));
    let rules: Rules = added.await.map_err(at_name)?.into();
    let subject = rules.subject();
    context.audit(actor, "rules.add", subject, None).await;
    Ok(rules)
}

/// Changes rules. Refused if somebody else changed them since `changed.version`.
pub async fn change(
    context: &Context,
    actor: &Actor,
    id: i64,
    changed: &ChangedRules,
) -> Result<Rules, Refusal> {
    actor.require(Role::Operator)?;
    let name = changed.name.trim();
    check(show(context, id).await?.kind, name, &changed.content)?;
    let catalog = context.catalog();
    let (version, content) = (changed.version, &changed.content);
    let written = catalog.change_rules(id, version, name, content, Some(&actor.name));
    let rules: Rules = written.await.map_err(at_name)?.into();
    let details = Some(format!("version {}", rules.version));
    let subject = rules.subject();
    context.audit(actor, "rules.change", subject, details).await;
    Ok(rules)
}

/// Removes rules. Refused while a schedule uses them.
pub async fn remove(context: &Context, actor: &Actor, id: i64) -> Result<Rules, Refusal> {
    actor.require(Role::Operator)?;
    let rules = show(context, id).await?;
    if !context.catalog().remove_rules(id).await? {
        return Err(Error::UnknownRules { id }.into());
    }
    let subject = rules.subject();
    context.audit(actor, "rules.remove", subject, None).await;
    Ok(rules)
}

/// Tries rules on a record; nothing is kept, and this blocks. Without a kind, the root element of the rules tells it.
/// A mistake in the record is one of the field `sample`.
pub fn try_on(kind: Option<RulesKind>, content: &[u8], record: &[u8]) -> Result<Trial, Refusal> {
    let rules = read(kind, content)?;
    let trial = match &rules {
        ReadRules::Filter(filters) => try_rules(Some(filters), None, record),
        ReadRules::Mapping(mappings) => try_rules(None, Some(mappings), record),
    };
    trial.map_err(|error| Refusal::invalid("sample", flows::message(&error)))
}

/// The kind of rules, by their root element.
pub fn kind_of(content: &[u8]) -> Result<RulesKind, Refusal> {
    Ok(read(None, content)?.kind())
}

/// Refuses rules with a wrong name or text.
fn check(kind: RulesKind, name: &str, content: &str) -> Result<(), Refusal> {
    let mut mistakes = Vec::new();
    let is_long = name.chars().count() > MAX_NAME;
    if name.is_empty() || is_long || name.chars().any(char::is_control) {
        let reason = format!("a name has 1 to {MAX_NAME} characters, all in one line");
        mistakes.push(Mistake::new("name", reason));
    }
    if let Err(refusal) = read(Some(kind), content.as_bytes()) {
        mistakes.extend(refusal.mistakes);
    }
    Refusal::unless_empty(mistakes)
}

fn read(kind: Option<RulesKind>, content: &[u8]) -> Result<ReadRules, Refusal> {
    if content.trim_ascii().is_empty() {
        let reason = "there is nothing in it; begin with the example of a new one";
        return Err(Refusal::invalid("content", reason));
    }
    let read = ReadRules::parse(content, kind);
    read.map_err(|error| Refusal::invalid("content", flows::message(&error)))
}

fn at_name(error: Error) -> Refusal {
    match error {
        error @ Error::NameTaken { .. } => Refusal::from(error).at("name"),
        error => error.into(),
    }
}

impl Rules {
    /// Their name in the audit trail.
    fn subject(&self) -> String {
        format!("{} {} ({})", self.kind.name(), self.id, self.name)
    }
}

impl From<catalog::Rules> for Rules {
    fn from(rules: catalog::Rules) -> Self {
        Self {
            id: rules.id,
            kind: rules.kind,
            name: rules.name,
            content: rules.content,
            version: rules.version,
            changed: Time(rules.changed),
            changed_by: rules.changed_by,
        }
    }
}

impl RulesTrial {
    /// A trial on the record that `record` names.
    pub fn new(record: impl Into<String>, trial: Trial) -> Self {
        let matching = trial.filter.as_ref().map(|filter| match filter.matching {
            Match::Any => "any",
            Match::All => "all",
        });
        let steps = trial.filter.into_iter().flat_map(|filter| filter.steps);
        let (added, stored) = match trial.mapping {
            Some(mapped) => (mapped.added, Some(mapped.record)),
            None => (Vec::new(), None),
        };
        Self {
            record: record.into(),
            accepted: trial.accepted,
            deleted: trial.deleted,
            matching,
            filters: steps.map(FilterStep::new).collect(),
            added: added
                .into_iter()
                .map(|added| AddedElement {
                    name: added.name,
                    value: added.value,
                    because_of: added.because_of,
                })
                .collect(),
            stored,
        }
    }
}

impl FilterStep {
    fn new(step: Step) -> Self {
        let nodes = step.found.into_iter().map(|node| FilterNode {
            path: node.path,
            text: node.text,
            matches: node.matches,
        });
        Self {
            nodes: nodes.collect(),
            xpath: step.xpath,
            regexp: step.regexp,
            ignore_case: step.ignore_case,
            invert: step.invert,
            holds: step.holds,
        }
    }
}

const MAX_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_rules_come_with_their_line() {
        for (content, reason) in [
            ("", "nothing in it"),
            ("no XML", "line 1"),
            (
                "<filters match=\"any\">\n<filter xpath=\"//[\" regexp=\"\"/></filters>",
                "line 2",
            ),
            (
                "<filters match=\"any\">\n\n<filter xpath=\"//a\" regexp=\"(\"/></filters>",
                "line 3",
            ),
            ("<normalize/>", "must be <filters>"),
        ] {
            let refusal = check(RulesKind::Filter, "n", content).unwrap_err();
            assert_eq!(refusal.mistakes[0].field, Some("content"));
            assert!(refusal.message().contains(reason), "{content}: {refusal}");
        }
    }

    #[test]
    fn names_are_one_line() {
        let content = "<filters match=\"any\"><filter xpath=\"//a\" regexp=\"b\"/></filters>";
        for (name, is_good) in [("coasts", true), ("", false), ("a\nb", false)] {
            let checked = check(RulesKind::Filter, name, content);
            assert_eq!(checked.is_ok(), is_good, "{name:?}");
        }
        assert!(check(RulesKind::Filter, &"x".repeat(101), content).is_err());
    }
}
