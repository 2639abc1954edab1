//! Texts of documents that are gone: the catalog says that a document has one, and no file has it. They are read from the
//! document again.

use anyhow::Context;
use catalog::ContentEntry;
use store::Collection;
use text::Extractor;

use super::repair::Verifying;
use super::{NO_TEXT, Repair};
use crate::judgement::{extract_options, has_text};

impl Verifying<'_> {
    /// Tells of a text that is missing, and reads it again if something is repaired.
    pub(super) fn missing_text(&mut self, content: &ContentEntry) -> anyhow::Result<()> {
        self.result.without_text += 1;
        let repair = match self.repairing {
            Some(_) => self.read_text(content)?,
            None => Repair::None,
        };
        let path = Collection::text_path(content.number);
        self.result.note(path, NO_TEXT, repair);
        Ok(())
    }

    fn read_text(&self, content: &ContentEntry) -> anyhow::Result<Repair> {
        let Some(confiner) = self.confiner.clone() else {
            return Ok(Repair::None);
        };
        let path = Collection::relative_path(content.number, &content.extension);
        let mut document = tempfile::tempfile()?;
        let mut bytes = self.collection.read(&path)?;
        std::io::copy(&mut bytes, &mut document)
            .with_context(|| format!("`{path}` cannot be read"))?;
        let extractor = Extractor::new(extract_options(confiner, 1, &[]));
        let extracted = extractor.extract_from(document, &content.media_type);
        if !has_text(&extracted) {
            let outcome = extracted.outcome;
            return Ok(Repair::Partly(format!("it cannot be read now: {outcome}")));
        }
        self.repairing()?.check()?;
        let text = extracted.text.as_bytes();
        self.collection.write_text(content.number, text)?;
        self.collection.sync()?;
        let catalog = self.holdings.catalog();
        self.holdings.wait(catalog.queue_text(&content.sha1))?;
        Ok(Repair::Done("read from the document again".to_owned()))
    }
}
