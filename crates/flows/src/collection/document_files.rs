//! The files of documents, for those who read the collection and leave it as it is.

use std::io::Read;
use std::sync::Arc;

use catalog::DocumentEntry;
use rustix::io::Errno;
use store::{Collection, Reader};

use crate::Holdings;
use crate::import::place;

/// The files of the collection, wherever it lies.
#[derive(Debug)]
pub struct DocumentFiles {
    /// None if its directory is not there.
    collection: Option<Collection>,
    /// Where it is, as the catalog keeps it.
    place: String,
}

/// A file that belongs to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentPart {
    /// The document itself.
    Document,
    /// Its text, if that was taken out of it. That of a document which is text is the document.
    Text,
}

impl DocumentFiles {
    /// Opens the collection. If it lies in a store, what was opened `before` is used again as long as it lies there: each
    /// has connections of its own.
    pub fn open(holdings: &Holdings, before: Option<Arc<Self>>) -> anyhow::Result<Arc<Self>> {
        let place = holdings.wait(holdings.catalog().collection_place())?;
        let place = place.unwrap_or_default();
        let same = before.filter(|before| before.place == place && place::is_store(&place));
        if let Some(same) = same {
            return Ok(same);
        }
        let collection = match place::is_store(&place) {
            true => Some(place::of_holdings(holdings)?),
            false => known(Collection::existing(&place::documents_directory(holdings)?).map(Some))?,
        };
        Ok(Arc::new(Self { collection, place }))
    }

    /// Opens a file of a document; `None` if it is not there.
    pub fn read(
        &self,
        document: &DocumentEntry,
        part: DocumentPart,
    ) -> anyhow::Result<Option<Reader>> {
        let Some(collection) = &self.collection else {
            return Ok(None);
        };
        known(collection.read(&part.path(document)).map(Some))
    }

    /// The beginning of the text of a document; `None` if none is stored.
    pub fn beginning(&self, document: &DocumentEntry, most: u64) -> anyhow::Result<Option<String>> {
        let Some(text) = self.read(document, DocumentPart::Text)? else {
            return Ok(None);
        };
        Ok(Some(decoded(text, most)?))
    }

    /// The text that is stored of a content, by its number: its first 20 MiB.
    pub fn text(&self, content: i64) -> anyhow::Result<Option<String>> {
        let Some(collection) = &self.collection else {
            return Ok(None);
        };
        let text = collection.read(&Collection::text_path(content)).map(Some);
        let Some(text) = known(text)? else {
            return Ok(None);
        };
        Ok(Some(decoded(text, LONGEST_TEXT)?))
    }

    /// How many bytes a file of a document has; `None` if it is not there.
    pub fn size(
        &self,
        document: &DocumentEntry,
        part: DocumentPart,
    ) -> anyhow::Result<Option<u64>> {
        let Some(collection) = &self.collection else {
            return Ok(None);
        };
        known(collection.size(&part.path(document)))
    }
}

impl DocumentPart {
    /// The name of the file, without its directories: `001.234.567.pdf`.
    pub fn name(self, document: &DocumentEntry) -> String {
        let path = self.path(document);
        path.rsplit('/').next().unwrap_or_default().to_owned()
    }

    fn path(self, document: &DocumentEntry) -> String {
        match self {
            Self::Document => Collection::relative_path(document.content, &document.extension),
            Self::Text => Collection::text_path(document.content),
        }
    }
}

/// Reads the beginning of a text. Extracted texts are UTF-8; a document that is text is in whatever encoding it came in, and
/// may have control characters.
pub(crate) fn decoded(text: impl Read, most: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    text.take(most).read_to_end(&mut bytes)?;
    Ok(::text::decoded(&bytes))
}

/// A file that is certainly absent is nothing that went wrong. A link is no file of a collection.
fn known<T>(found: Result<Option<T>, store::Error>) -> anyhow::Result<Option<T>> {
    let is_link = |error: &std::io::Error| error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    match found {
        Err(store::Error::InTheWay { .. }) => Ok(None),
        Err(store::Error::Io { source, .. }) if is_link(&source) => Ok(None),
        Err(error) if error.is_missing() => Ok(None),
        found => Ok(found?),
    }
}

/// Texts are cut off there when they are stored.
const LONGEST_TEXT: u64 = 20 << 20;
