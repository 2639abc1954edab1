//! `/api/v1/rules`: filters and mappings, and what they do to a record.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::{Rules, RulesKind};
use harvester::filter::Match;
use jobs::rules::Trial;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Listed, Reply, Time, nothing};
use crate::extract::{Json, Path, Query};
use crate::parts::Errors;
use crate::problem::Problem;
use crate::rules::{self, Sample, Tried, check, try_on};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// What rules are for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RulesKindName {
    /// Which records are kept.
    Filter,
    /// What is added to records.
    Mapping,
}

/// Which rules are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Those of a kind.
    kind: Option<RulesKindName>,
}

/// A filter or a mapping.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RulesJson {
    id: i64,
    kind: RulesKindName,
    name: String,
    /// The text of the file.
    content: String,
    version: i64,
    changed: Time,
    changed_by: Option<String>,
}

/// Rules to be added.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRules {
    kind: RulesKindName,
    name: String,
    content: String,
}

/// Rules as they are to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangedRules {
    name: String,
    content: String,
    /// The version that was seen; refused with `changed` if there is another by now.
    version: i64,
}

/// Rules, and a record to try them on: one of `xml`, `record` and `repository`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialOrder {
    kind: RulesKindName,
    content: String,
    /// The XML of a record.
    xml: Option<String>,
    /// The number of a record that was harvested.
    record: Option<i64>,
    /// The number of a repository that is asked for a record now.
    repository: Option<i64>,
    /// In which format the repository is asked; `oai_dc` if that is not said.
    metadata_prefix: Option<String>,
    /// For which record the repository is asked; for the first of its list if that is not said.
    identifier: Option<String>,
}

/// What rules do to a record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrialJson {
    /// Which record it was, in words.
    what: String,
    /// Whether the record would be kept.
    accepted: bool,
    /// Whether it says that it is deleted; those are not filtered.
    deleted: bool,
    /// For a filter: `any` or `all` of them are needed.
    #[serde(rename = "match")]
    matching: Option<&'static str>,
    /// What each filter finds.
    filters: Vec<StepJson>,
    /// What a mapping adds.
    added: Vec<AddedJson>,
    /// For a mapping: the record as it would be stored.
    stored: Option<String>,
}

/// What one filter finds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FilterStep)]
pub(crate) struct StepJson {
    xpath: String,
    regexp: String,
    ignore_case: bool,
    invert: bool,
    holds: bool,
    nodes: Vec<NodeJson>,
}

/// A node that a filter looked at.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FilterNode)]
pub(crate) struct NodeJson {
    path: String,
    text: String,
    matches: bool,
}

/// An element that was added.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AddedElement)]
pub(crate) struct AddedJson {
    name: String,
    value: String,
    because_of: String,
}

/// Filters and mappings
#[utoipa::path(get, path = "/api/v1/rules", tag = "rules", operation_id = "list_rules",
    params(Wanted), responses((status = 200, body = Listed<RulesJson>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Reply<Listed<RulesJson>> {
    let kind = wanted.kind.map(Into::into);
    Ok(axum::Json(Listed::all(state.catalog().rules(kind).await?)))
}

/// A filter or a mapping
#[utoipa::path(get, path = "/api/v1/rules/{id}", tag = "rules", operation_id = "show_rules",
    params(("id" = i64, Path)), responses((status = 200, body = RulesJson)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<RulesJson> {
    Ok(axum::Json(rules::rules(&state, id).await?.into()))
}

/// Adds a filter or a mapping
#[utoipa::path(post, path = "/api/v1/rules", tag = "rules", operation_id = "add_rules",
    request_body = NewRules, responses((status = 201, body = RulesJson)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(wanted): Json<NewRules>,
) -> Result<(StatusCode, axum::Json<RulesJson>), Problem> {
    let (kind, name) = (wanted.kind.into(), wanted.name.trim());
    checked(kind, name, &wanted.content)?;
    let added = rules::add(&state, &who, kind, name, &wanted.content).await?;
    Ok((StatusCode::CREATED, axum::Json(added.into())))
}

/// Writes a filter or a mapping anew
#[utoipa::path(put, path = "/api/v1/rules/{id}", tag = "rules", operation_id = "change_rules",
    params(("id" = i64, Path)), request_body = ChangedRules, responses((status = 200, body = RulesJson)))]
pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(wanted): Json<ChangedRules>,
) -> Reply<RulesJson> {
    let known = rules::rules(&state, id).await?;
    let name = wanted.name.trim();
    checked(known.kind, name, &wanted.content)?;
    let text = (name, wanted.content.as_str());
    let changed = rules::change(&state, &who, id, wanted.version, text).await?;
    Ok(axum::Json(changed.into()))
}

/// Removes a filter or a mapping; refused while a schedule goes by it
#[utoipa::path(delete, path = "/api/v1/rules/{id}", tag = "rules", operation_id = "remove_rules",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    rules::remove(&state, &who, id).await?;
    Ok(nothing())
}

/// Tries rules on a record; nothing is saved
#[utoipa::path(post, path = "/api/v1/rules/try", tag = "rules", operation_id = "try_rules",
    request_body = TrialOrder, responses((status = 200, body = TrialJson)))]
pub(crate) async fn try_out(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Json(order): Json<TrialOrder>,
) -> Reply<TrialJson> {
    let kind = order.kind.into();
    checked(kind, "trial", &order.content)?;
    let sample = match (order.xml, order.record, order.repository) {
        (Some(xml), None, None) => Sample::Pasted(xml),
        (None, Some(id), None) => Sample::Held(id),
        (None, None, Some(repository)) => Sample::Live {
            repository,
            metadata_prefix: order.metadata_prefix.unwrap_or_else(|| "oai_dc".to_owned()),
            identifier: order.identifier,
        },
        _ => return Err(Problem::invalid("give one of xml, record and repository")),
    };
    match try_on(&state, kind, &order.content, sample).await? {
        Ok(tried) => Ok(axum::Json(tried.into())),
        Err((field, message)) => Err(Problem::invalid(format!("{field}: {message}"))),
    }
}

fn checked(kind: RulesKind, name: &str, content: &str) -> Result<(), Problem> {
    let mut errors = Errors::default();
    check(kind, name, content, &mut errors);
    errors.into_problem()
}

impl From<Tried> for TrialJson {
    fn from(tried: Tried) -> Self {
        let Trial {
            accepted,
            deleted,
            filter,
            mapping,
        } = tried.trial;
        let matching = filter.as_ref().map(|filter| match filter.matching {
            Match::Any => "any",
            Match::All => "all",
        });
        let steps = filter.into_iter().flat_map(|filter| filter.steps);
        let (added, stored) = match mapping {
            Some(mapped) => (mapped.added, Some(mapped.record)),
            None => (Vec::new(), None),
        };
        Self {
            what: tried.what,
            accepted,
            deleted,
            matching,
            filters: steps
                .map(|step| StepJson {
                    xpath: step.xpath,
                    regexp: step.regexp,
                    ignore_case: step.ignore_case,
                    invert: step.invert,
                    holds: step.holds,
                    nodes: step
                        .found
                        .into_iter()
                        .map(|node| NodeJson {
                            path: node.path,
                            text: node.text,
                            matches: node.matches,
                        })
                        .collect(),
                })
                .collect(),
            added: added
                .into_iter()
                .map(|added| AddedJson {
                    name: added.name,
                    value: added.value,
                    because_of: added.because_of,
                })
                .collect(),
            stored,
        }
    }
}

impl From<Rules> for RulesJson {
    fn from(rules: Rules) -> Self {
        Self {
            id: rules.id,
            kind: match rules.kind {
                RulesKind::Filter => RulesKindName::Filter,
                RulesKind::Mapping => RulesKindName::Mapping,
            },
            name: rules.name,
            content: rules.content,
            version: rules.version,
            changed: Time(rules.changed),
            changed_by: rules.changed_by,
        }
    }
}

impl From<RulesKindName> for RulesKind {
    fn from(kind: RulesKindName) -> Self {
        match kind {
            RulesKindName::Filter => Self::Filter,
            RulesKindName::Mapping => Self::Mapping,
        }
    }
}
