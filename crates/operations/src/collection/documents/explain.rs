//! The reasons of the content filter for its decision on a document.

use flows::Explanation;

use super::entry;
use crate::{Context, Refusal};

/// The beginning of the text of a document; `None` if none is stored.
pub async fn beginning(context: &Context, id: i64, most: u64) -> Result<Option<String>, Refusal> {
    let entry = entry(context, id).await?;
    let opened = context.clone();
    let read = move |_: &flows::Holdings| opened.document_files()?.beginning(&entry, most);
    context.blocking(read).await
}

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
