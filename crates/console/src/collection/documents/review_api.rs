//! `/api/v1/reviews`: documents that the content filter rejected or was not sure of.

use axum::extract::State;
use operations::reviews::{self, Review, ReviewDecision, ReviewFilter, Reviewed};

use crate::api::{Listed, Reply};
use crate::extract::{Json, Path, Query};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// Documents of the review queue, in the order of their numbers; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/reviews", tag = "documents", operation_id = "list_reviews",
    params(ReviewFilter), responses((status = 200, body = Listed<Review>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<ReviewFilter>,
) -> Reply<Listed<Review>> {
    Ok(axum::Json(reviews::list(state.context(), &filter).await?))
}

/// A document of the review queue
#[utoipa::path(get, path = "/api/v1/reviews/{id}", tag = "documents", operation_id = "show_review",
    params(("id" = i64, Path)), responses((status = 200, body = Review)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Review> {
    Ok(axum::Json(reviews::show(state.context(), id).await?))
}

/// Accepts or rejects documents of the review queue
///
/// Accepted documents come into the collection as an import would bring them.
#[utoipa::path(post, path = "/api/v1/reviews", tag = "documents", operation_id = "decide_reviews",
    request_body = ReviewDecision, responses((status = 200, body = Reviewed)))]
pub(crate) async fn decide(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(order): Json<ReviewDecision>,
) -> Reply<Reviewed> {
    let reviewed = reviews::decide(state.context(), &who.actor(), &order).await?;
    Ok(axum::Json(reviewed))
}
