//! Documents whose texts say nearly the same: versions of one paper under several URLs and in several formats. They are
//! shown, and never merged.

use flows::Sketch;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Document, document, entry};
use crate::{Context, Listed, Refusal};

/// A document whose text says nearly the same as another's.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct NearDuplicate {
    /// The document.
    #[serde(flatten)]
    pub document: Document,
    /// The part of their text that the two share, from 0 to 1, estimated to a sixteenth.
    pub similarity: f64,
}

/// The documents whose texts say nearly the same as that of a document, the most similar first; at most 100.
///
/// One that is similar only to another of them is listed too, with its own similarity.
pub async fn near_duplicates(context: &Context, id: i64) -> Result<Listed<NearDuplicate>, Refusal> {
    let own = entry(context, id).await?;
    let sketch = |hex: &Option<String>| hex.as_deref().and_then(Sketch::parse);
    let known = context.catalog().known_content(&own.content_sha1).await?;
    let own_sketch = known.and_then(|known| sketch(&known.judgement.sketch));
    let directory = context.blocking(flows::documents_directory).await?;
    let mut near = Vec::new();
    for other in context.catalog().near_documents(own.content, MOST).await? {
        let similarity = match (&own_sketch, sketch(&other.sketch)) {
            (Some(own), Some(other)) => own.similarity(&other),
            _ => 0.0,
        };
        if let Some(entry) = context.catalog().document(other.document).await? {
            near.push(NearDuplicate {
                document: document(&directory, entry),
                similarity,
            });
        }
    }
    near.sort_by(|one, other| other.similarity.total_cmp(&one.similarity));
    Ok(Listed::all(near))
}

const MOST: u64 = 100;
