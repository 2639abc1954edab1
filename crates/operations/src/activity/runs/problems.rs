//! The problems of a run: what was skipped, repaired or lost.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::row;
use crate::{Context, Listed, Refusal, page_limit};

/// Something that a run skipped, repaired or lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = RunProblem)]
pub struct Problem {
    /// Its number.
    pub id: i64,
    /// The record or the URL, if it is known.
    pub subject: Option<String>,
    /// The file of a crawl.
    pub file: Option<String>,
    /// The position in that file, in bytes.
    pub offset: Option<u64>,
    /// The event, in words.
    pub reason: String,
    /// Whether the record could not be obtained; the next harvest asks for it again.
    pub lost: bool,
    /// The count of the run that it belongs to, by its code; imports know it.
    pub kind: Option<String>,
}

/// Which problems of a run are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProblemFilter {
    /// Problems of one count of an import, by its code, such as `content`. Captures of other types and statuses are listed
    /// only so: the first 1,000 of `other_types` and of `status` are kept.
    pub kind: Option<String>,
    /// Problems with a larger number, for the next page: the `next` of this one.
    pub after: Option<i64>,
    /// Problems on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// The problems of a run, in the order of their numbers.
pub async fn problems(
    context: &Context,
    id: i64,
    filter: &ProblemFilter,
) -> Result<Listed<Problem>, Refusal> {
    let run = row(context, id).await?;
    let (after, limit) = (filter.after.unwrap_or(0), page_limit(filter.limit));
    let catalog = context.catalog();
    let kind = filter.kind.as_deref().filter(|kind| !kind.is_empty());
    let total = match (&run.harvest, &run.import) {
        (Some(harvest), _) => catalog.count_warnings(harvest.id).await?,
        (None, Some(import)) => catalog.count_import_warnings(import.id, kind).await?,
        (None, None) => 0,
    };
    let problems: Vec<Problem> = match (&run.harvest, &run.import) {
        (Some(harvest), _) => {
            let rows = catalog.warnings_after(harvest.id, after, limit + 1).await?;
            let rows = rows.into_iter().map(|(id, warning)| Problem {
                id,
                subject: warning.identifier,
                file: None,
                offset: None,
                reason: warning.reason,
                lost: warning.lost,
                kind: None,
            });
            rows.collect()
        }
        (None, Some(import)) => {
            let rows = catalog
                .import_warnings_of(import.id, kind, after, limit + 1)
                .await?;
            let rows = rows.into_iter().map(|(id, warning)| {
                let (subject, reason) = match warning.reason.split_once(": ") {
                    Some((subject, reason)) if subject.contains("://") => {
                        (Some(subject.to_owned()), reason.to_owned())
                    }
                    _ => (None, warning.reason),
                };
                Problem {
                    id,
                    subject,
                    file: Some(warning.file),
                    offset: warning.offset,
                    reason,
                    lost: false,
                    kind: Some(warning.kind).filter(|kind| !kind.is_empty()),
                }
            });
            rows.collect()
        }
        (None, None) => Vec::new(),
    };
    Ok(Listed {
        total: Some(total),
        ..Listed::page(problems, limit, |problem| problem.id)
    })
}
