//! `/api/v1/feed`: changes of documents, for search engines.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use operations::feed::{self, Change, FeedQuery, SolrOrder};
use operations::jobs::Job;
use operations::{Context, MAX_LIMIT, Refusal};

use crate::extract::{Json, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::stream;
use crate::who::{Operator, Viewer};

/// Documents that are new, updated or removed, as JSON Lines in the order in which this became visible
///
/// Each document stands at the place of its last change. Whoever keeps the `seq` of the last line and gives it as `since` the next
/// time misses nothing.
#[utoipa::path(get, path = "/api/v1/feed", tag = "feed", operation_id = "feed", params(FeedQuery),
    responses((status = 200, content_type = "application/x-ndjson", body = Change)))]
pub(crate) async fn changes(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(query): Query<FeedQuery>,
) -> Result<Response, Problem> {
    let mut since = feed::begin(state.context(), query.since.as_deref()).await?;
    let mut left = query.limit.unwrap_or(u64::MAX);
    let turn = state.turn_to_download().await?;
    let (sender, body) = stream::body();
    let context: Context = state.context().clone();
    tokio::spawn(async move {
        let _turn = turn;
        while left > 0 {
            let some = Some(left.min(MAX_LIMIT / 10));
            let page = feed::changes(&context, since, some, query.text).await;
            let (changes, next) =
                match page.and_then(|(changes, next)| Ok((lines(&changes)?, next))) {
                    Ok(((text, number), next)) => {
                        left -= number.min(left);
                        (text, next)
                    }
                    Err(refusal) => {
                        tracing::error!("the feed breaks off: {refusal}");
                        let error = std::io::Error::other("the catalog does not answer");
                        let _ = sender.send(Err(error)).await;
                        return;
                    }
                };
            let Some(next) = next else { return };
            since = next;
            if sender.send(Ok(changes)).await.is_err() {
                return;
            }
        }
    });
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

/// Puts sending changes to Solr into the queue
///
/// It goes on where the last time ended for the same URL.
#[utoipa::path(post, path = "/api/v1/feed/solr", tag = "feed", operation_id = "add_solr_feed",
    request_body = SolrOrder, responses((status = 201, body = Job)))]
pub(crate) async fn solr(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(order): Json<SolrOrder>,
) -> Result<(StatusCode, axum::Json<Job>), Problem> {
    let job = feed::queue(state.context(), &who.actor(), order, None).await?;
    Ok((StatusCode::CREATED, axum::Json(job)))
}

fn lines(changes: &[Change]) -> Result<(Bytes, u64), Refusal> {
    let mut text = Vec::new();
    for change in changes {
        serde_json::to_writer(&mut text, change).map_err(anyhow::Error::from)?;
        text.push(b'\n');
    }
    Ok((text.into(), changes.len() as u64))
}
