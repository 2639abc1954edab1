//! `/api/v1/rules`: filters and mappings, and their effect on a record.

use axum::Json as Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::RulesKind;
use operations::Refusal;
use operations::rules::{self, ChangedRules, NewRules, Rules, RulesQuery, RulesTrial};
use serde::Deserialize;
use utoipa::ToSchema;

use super::trial::{Sample, try_on};
use crate::api::{Listed, Reply, nothing};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// Rules, and a record to try them on: one of `xml`, `record` and `repository`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialOrder {
    /// A filter or a mapping.
    #[schema(value_type = String, pattern = "^(filter|mapping)$")]
    kind: RulesKind,
    content: String,
    /// The XML of a record.
    xml: Option<String>,
    /// The number of a record that was harvested.
    record: Option<i64>,
    /// The number of a repository that is asked for a record now.
    repository: Option<i64>,
    /// The format of that record; `oai_dc` by default.
    metadata_prefix: Option<String>,
    /// The identifier of that record; by default the first of the list is taken.
    identifier: Option<String>,
}

impl TrialOrder {
    fn sample(self) -> Result<(RulesKind, String, Sample), Refusal> {
        let sample = match (self.xml, self.record, self.repository) {
            (Some(xml), None, None) => Sample::Pasted(xml),
            (None, Some(id), None) => Sample::Held(id),
            (None, None, Some(repository)) => Sample::Live {
                repository,
                metadata_prefix: self.metadata_prefix.unwrap_or_else(|| "oai_dc".to_owned()),
                identifier: self.identifier,
            },
            _ => {
                let reason = "give one of xml, record and repository";
                return Err(Refusal::new(operations::Code::Invalid, reason));
            }
        };
        Ok((self.kind, self.content, sample))
    }
}

/// Filters and mappings
#[utoipa::path(get, path = "/api/v1/rules", tag = "rules", operation_id = "list_rules",
    params(RulesQuery), responses((status = 200, body = Listed<Rules>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(query): Query<RulesQuery>,
) -> Reply<Listed<Rules>> {
    let rules = rules::list(state.context(), query).await?;
    Ok(Body(Listed::all(rules)))
}

/// A filter or a mapping
#[utoipa::path(get, path = "/api/v1/rules/{id}", tag = "rules", operation_id = "show_rules",
    params(("id" = i64, Path)), responses((status = 200, body = Rules)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Rules> {
    Ok(Body(rules::show(state.context(), id).await?))
}

/// Adds a filter or a mapping
#[utoipa::path(post, path = "/api/v1/rules", tag = "rules", operation_id = "add_rules",
    request_body = NewRules, responses((status = 201, body = Rules)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(new): Json<NewRules>,
) -> Result<(StatusCode, Body<Rules>), Problem> {
    let added = rules::add(state.context(), &who.actor(), &new).await?;
    Ok((StatusCode::CREATED, Body(added)))
}

/// Changes a filter or a mapping
#[utoipa::path(put, path = "/api/v1/rules/{id}", tag = "rules", operation_id = "change_rules",
    params(("id" = i64, Path)), request_body = ChangedRules, responses((status = 200, body = Rules)))]
pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(changed): Json<ChangedRules>,
) -> Reply<Rules> {
    let changed = rules::change(state.context(), &who.actor(), id, &changed).await?;
    Ok(Body(changed))
}

/// Removes a filter or a mapping; refused while a schedule uses it
#[utoipa::path(delete, path = "/api/v1/rules/{id}", tag = "rules", operation_id = "remove_rules",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    rules::remove(state.context(), &who.actor(), id).await?;
    Ok(nothing())
}

/// Tries rules on a record; nothing is saved
#[utoipa::path(post, path = "/api/v1/rules/try", tag = "rules", operation_id = "try_rules",
    request_body = TrialOrder, responses((status = 200, body = RulesTrial)))]
pub(crate) async fn try_out(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Json(order): Json<TrialOrder>,
) -> Reply<RulesTrial> {
    let (kind, content, sample) = order.sample()?;
    let tried = try_on(&state, kind, &content, sample).await?;
    Ok(Body(RulesTrial::new(tried.what, tried.trial)))
}
