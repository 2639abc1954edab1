//! The reasons of the content filter for its decision on a document.

use flows::Explanation;

use super::entry;
use crate::{Context, Refusal};

/// The weightiest reasons for and against a document, at most `limit` of each; `None` if its text is not stored.
pub async fn explain(
    context: &Context,
    id: i64,
    limit: usize,
) -> Result<Option<Explanation>, Refusal> {
    let entry = entry(context, id).await?;
    if entry.judgement.is_none() {
        return Ok(None);
    }
    let opened = context.clone();
    let explain = move |_: &flows::Holdings| {
        let files = opened.document_files()?;
        flows::explain(&files, &entry, limit)
    };
    context.blocking(explain).await
}
