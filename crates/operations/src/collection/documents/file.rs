//! The file of a document, or its text.

use std::io::Cursor;

use catalog::DocumentEntry;
use flows::DocumentPart;
use store::Reader;

use super::entry;
use crate::{Code, Context, Refusal};

/// The file of a document, or its text.
#[derive(Debug)]
pub struct DocumentFile {
    entry: DocumentEntry,
    part: DocumentPart,
    context: Context,
}

/// Finds the file of a document, or its text.
pub async fn file(context: &Context, id: i64, part: DocumentPart) -> Result<DocumentFile, Refusal> {
    Ok(DocumentFile {
        entry: entry(context, id).await?,
        part,
        context: context.clone(),
    })
}

impl DocumentFile {
    /// Its size in bytes; this blocks.
    pub fn size(&self) -> Result<u64, Refusal> {
        let files = self.context.document_files()?;
        let size = match self.is_own_text() {
            true => files
                .text(self.entry.content)?
                .map(|text| text.len() as u64),
            false => files.size(&self.entry, self.part)?,
        };
        size.filter(|size| self.is_whole(*size))
            .ok_or_else(|| self.missing())
    }

    /// Opens it; this blocks.
    pub fn open(&self) -> Result<Reader, Refusal> {
        let files = self.context.document_files()?;
        let reader = match self.is_own_text() {
            true => files.text(self.entry.content)?.map(|text| {
                let length = text.len() as u64;
                Reader::new(Box::new(Cursor::new(text)), length)
            }),
            false => files.read(&self.entry, self.part)?,
        };
        reader
            .filter(|reader| self.is_whole(reader.length()))
            .ok_or_else(|| self.missing())
    }

    /// The name of the file, without its directories.
    pub fn name(&self) -> String {
        self.part.name(&self.entry)
    }

    /// The media type that garner decided on; plain text for a text.
    pub fn media_type(&self) -> &str {
        match self.part {
            DocumentPart::Text => "text/plain; charset=utf-8",
            DocumentPart::Document => &self.entry.media_type,
        }
    }

    /// The entity tag of a file of `length` bytes. It is weak for a text, which better programs extract anew.
    pub fn tag(&self, length: u64) -> String {
        match self.part {
            DocumentPart::Text => format!("W/\"{}-{length}\"", self.entry.content_sha1),
            DocumentPart::Document => format!("\"{}\"", self.entry.content_sha256),
        }
    }

    /// Whether it is the text of a document that is text: it is decoded, because the document may be in any encoding.
    fn is_own_text(&self) -> bool {
        self.part == DocumentPart::Text && self.entry.extension == "txt"
    }

    /// A file that was cut off is not the document. The size of a text is not known.
    fn is_whole(&self, length: u64) -> bool {
        self.part == DocumentPart::Text || length == self.entry.size
    }

    fn missing(&self) -> Refusal {
        let id = self.entry.id;
        match self.part {
            DocumentPart::Document => Refusal::new(
                Code::Gone,
                format!(
                    "the file of document {id} is missing or cut off; garner verify says more, and an import that meets it again brings it back"
                ),
            ),
            DocumentPart::Text => Refusal::not_found(format!(
                "no text of document {id} is stored; imports with the content filter or with --text store them"
            )),
        }
    }
}
