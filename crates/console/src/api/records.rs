//! `/api/v1/records`: the records that are held.

use axum::extract::State;
use axum::response::Response;
use catalog::{Order, RecordEntry, RecordQuery, Repository, Validation};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Listed, Reply, Time, limited};
use crate::extract::{Path, Query};
use crate::pages;
use crate::problem::Problem;
use crate::records::{RecordFile, record};
use crate::state::ConsoleState;
use crate::who::Viewer;

/// Which records are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Those with these words: all of them, `"a phrase"`, `begin*`.
    text: Option<String>,
    /// Those of one repository.
    repository: Option<i64>,
    /// Those in one format.
    metadata_prefix: Option<String>,
    /// Those of a set or of one below it.
    set: Option<String>,
    /// Those with this datestamp or a later one.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// Those with this datestamp or an earlier one.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Time>,
    /// Those that are deleted, or those that are not.
    deleted: Option<bool>,
    /// Those that this harvest found to be new or changed.
    harvest: Option<i64>,
    /// Those with a smaller number, for the next page.
    before: Option<i64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// What validation made of a record.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ValidationOutcome {
    /// It is as it was sent.
    Ok,
    /// It was mended.
    Repaired,
    /// It was left out.
    Skipped,
    /// The filter does not accept it any more; what was held before stays.
    Filtered,
}

/// A record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordJson {
    id: i64,
    repository: i64,
    metadata_prefix: String,
    identifier: String,
    /// What it is called, if its words were read.
    title: Option<String>,
    /// `null` if it cannot be read.
    datestamp: Option<Time>,
    deleted: bool,
    set_specs: Vec<String>,
    /// The file below the directory of its repository and format.
    file: Option<String>,
    /// Where the file is on the machine of the console; only for a single record.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    sha256: Option<String>,
    harvested: Time,
    validation: ValidationOutcome,
    /// The harvest that found it to be new or changed.
    changed_by: i64,
    /// The harvest that saw it last.
    seen_by: i64,
}

/// Records, those first that came to be known last
#[utoipa::path(get, path = "/api/v1/records", tag = "records", operation_id = "list_records",
    params(Wanted), responses((status = 200, body = Listed<RecordJson>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Reply<Listed<RecordJson>> {
    let limit = limited(wanted.limit);
    let records = state.catalog().records(&wanted.query(limit + 1)).await?;
    Ok(axum::Json(Listed::page(records, limit, |record| record.id)))
}

/// A record, and where its file is
#[utoipa::path(get, path = "/api/v1/records/{id}", tag = "records", operation_id = "show_record",
    params(("id" = i64, Path)), responses((status = 200, body = RecordJson)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<RecordJson> {
    let (record, repository): (RecordEntry, Repository) = record(&state, id).await?;
    let file = RecordFile::of(state.holdings(), &repository, &record);
    let mut json = RecordJson::from(record);
    json.path = file.map(|file| file.path().display().to_string());
    Ok(axum::Json(json))
}

/// The file of a record
#[utoipa::path(get, path = "/api/v1/records/{id}/xml", tag = "records", operation_id = "download_record",
    params(("id" = i64, Path)), responses((status = 200, content_type = "application/xml", body = String)))]
pub(crate) async fn xml(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    pages::records::xml::attachment(&state, id).await
}

impl Wanted {
    fn query(self, limit: u64) -> RecordQuery {
        RecordQuery {
            repository: self.repository,
            metadata_prefix: self.metadata_prefix,
            set: self.set,
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            text: self.text,
            changed_by: self.harvest,
            deleted: self.deleted,
            before: self.before,
            order: Order::Newest,
            limit,
            ..RecordQuery::default()
        }
    }
}

impl From<RecordEntry> for RecordJson {
    fn from(record: RecordEntry) -> Self {
        Self {
            id: record.id,
            repository: record.repository,
            metadata_prefix: record.metadata_prefix,
            identifier: record.identifier,
            title: record.title,
            datestamp: record.datestamp.map(Time),
            deleted: record.deleted,
            set_specs: record.set_specs,
            file: record.file,
            path: None,
            sha256: record.sha256,
            harvested: Time(record.harvested),
            validation: match record.validation {
                Validation::Ok => ValidationOutcome::Ok,
                Validation::Repaired => ValidationOutcome::Repaired,
                Validation::Skipped => ValidationOutcome::Skipped,
                Validation::Filtered => ValidationOutcome::Filtered,
            },
            changed_by: record.changed_by,
            seen_by: record.seen_by,
        }
    }
}
