//! `GET /documents/review`: the review queue, one document at a time, with keys; `POST` decides.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use operations::documents::{Decision, Explanation};
use operations::reviews::{self, Review, ReviewDecision, ReviewFilter};
use serde::Deserialize;

use super::correct::kinds;
use crate::dress::{done, page};
use crate::extract::{Form, Query};
use crate::filters;
use crate::parts::filter::given;
use crate::parts::{Errors, Link};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

#[derive(Template)]
#[template(path = "review.html")]
struct ReviewPage {
    who: Who,
    filter: ReviewForm,
    /// The document that is looked at; none if the queue is empty.
    waiting: Option<Review>,
    text: Option<String>,
    explanation: Option<Explanation>,
    /// The document before and the one behind.
    before: Option<Link>,
    next: Option<Link>,
    count: u64,
    errors: Errors,
}

/// Which documents are looked at, and from where.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReviewForm {
    pub(crate) host: String,
    pub(crate) text: String,
    pub(crate) decision: String,
    pub(crate) order: String,
    pub(crate) after: String,
    /// The places of the documents before, so that one can go back.
    pub(crate) before: String,
}

/// The decisions of the content filter, to choose from.
pub(crate) const DECISIONS: [(&str, &str); 3] =
    [("", "all"), ("unsure", "unsure"), ("reject", "rejected")];

/// The orders of the queue, to choose from.
pub(crate) const ORDERS: [(&str, &str); 2] =
    [("", "oldest first"), ("uncertain", "least sure first")];

impl ReviewForm {
    fn link(&self) -> Link {
        Link::to("/documents/review")
            .with("host", &self.host)
            .with("text", &self.text)
            .with("decision", &self.decision)
            .with("order", &self.order)
    }

    fn filter(&self) -> ReviewFilter {
        ReviewFilter {
            host: given(&self.host),
            text: given(&self.text),
            decision: given(&self.decision),
            uncertain: self.order == "uncertain",
            after: self.after.parse().ok(),
            limit: Some(1),
            ..ReviewFilter::default()
        }
    }
}

impl ReviewPage {
    /// Whether there are more documents than were counted.
    fn is_more(&self) -> bool {
        self.count >= MOST_COUNTED
    }

    fn kinds(&self) -> Vec<(String, String)> {
        kinds("automatic")
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<ReviewForm>,
) -> Answer {
    let context = state.context();
    let listed = reviews::list(context, &filter.filter()).await?;
    let waiting = listed.items.into_iter().next();
    let (mut text, mut explanation) = (None, None);
    if let Some(waiting) = &waiting {
        // A store that is away keeps nobody from seeing the catalog's part.
        let reasons = reviews::reasons(context, waiting.id, REASONS).await;
        (text, explanation) = reasons.unwrap_or_else(|refusal| {
            tracing::warn!(
                "the text of review {} cannot be read: {refusal}",
                waiting.id
            );
            (None, None)
        });
    }
    let text = text.map(|text| text.chars().take(MOST_TEXT).collect());
    let next = listed.next.map(|next| {
        filter
            .link()
            .with("after", next)
            .with("before", &filter.after)
    });
    let before = (!filter.after.is_empty()).then(|| filter.link().with("after", &filter.before));
    page(&ReviewPage {
        who,
        count: reviews::count(context).await?,
        filter,
        waiting,
        text,
        explanation,
        before,
        next,
        errors: Errors::default(),
    })
}

#[derive(Debug, Deserialize)]
pub(crate) struct DecisionForm {
    /// The document; without one, all of the host.
    #[serde(default)]
    document: Option<i64>,
    #[serde(default)]
    host: String,
    decision: Decision,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    after: String,
    #[serde(default)]
    filter_host: String,
    #[serde(default)]
    filter_text: String,
    #[serde(default)]
    filter_decision: String,
    #[serde(default)]
    filter_order: String,
}

pub(crate) async fn decide(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<DecisionForm>,
) -> Result<Response, Problem> {
    let order = ReviewDecision {
        documents: form.document.into_iter().collect(),
        host: given(&form.host).filter(|_| form.document.is_none()),
        text: None,
        decision: Some(form.decision),
        kind: given(&form.kind),
    };
    let reviewed = reviews::decide(state.context(), &who.actor(), &order).await?;
    let decided = match form.decision {
        Decision::Accept => "accepted",
        Decision::Reject => "rejected",
    };
    let mut message = match reviewed.decided {
        1 => format!("1 document is {decided}."),
        number => format!("{number} documents are {decided}."),
    };
    for failure in reviewed.failed.iter().take(3) {
        message.push_str(&format!(" Document {}: {}.", failure.id, failure.reason));
    }
    let filter = ReviewForm {
        host: form.filter_host,
        text: form.filter_text,
        decision: form.filter_decision,
        order: form.filter_order,
        ..ReviewForm::default()
    };
    let back = filter.link().with("after", &form.after);
    Ok(done(&back.to_string(), message))
}

/// Documents of the queue are counted up to here.
const MOST_COUNTED: u64 = 10_000;
/// Reasons of each side at most.
const REASONS: usize = 6;
/// Characters of the text that are shown.
const MOST_TEXT: usize = 6_000;
