//! How documents are read for their text, and which are wanted by it.

use std::path::Path;

use classifier::{CDI_2012, Policy};
use crawl::Roots;
use serde::{Deserialize, Serialize};

use crate::model::load_model_in;

/// How documents are read for their text, and which are wanted by it. As JSON, a part of the parameters of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextOrder {
    /// Whether documents are judged by what they say.
    pub content_filter: bool,
    /// Whether texts are stored although nobody judges by them; who judges stores them in any case.
    pub store: bool,
    /// The model: a file, or `cdi-2012`; none is the one that is built in.
    pub model: Option<String>,
    /// Which documents are wanted.
    pub policy: Policy,
    /// The treatment of documents that the model is not sure of.
    pub unsure: Unsure,
    /// Whether the first pages of documents that consist of images are recognised.
    pub ocr: bool,
    /// The languages in which they are, by the names of tesseract; without any, those of the script of the page.
    pub languages: Vec<String>,
}

/// The treatment of documents that the model is not sure of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unsure {
    /// They are imported like others.
    #[default]
    Import,
    /// They are kept for a librarian to look at, and not for search engines.
    SetAside,
}

impl TextOrder {
    /// Whether anything is read at all.
    pub fn is_wanted(&self) -> bool {
        self.content_filter || self.store
    }

    /// Lets the model be found from anywhere.
    pub(in crate::import) fn absolute(&mut self) -> std::io::Result<()> {
        if let Some(model) = self.model.as_mut().filter(|model| *model != CDI_2012) {
            let path = std::path::absolute(Path::new(&*model))?;
            *model = path.to_string_lossy().into_owned();
        }
        Ok(())
    }

    /// All of it that makes another import, with the model by its version; nothing if texts are not read.
    pub(in crate::import) fn said(&self, roots: &Roots) -> anyhow::Result<Option<String>> {
        if !self.is_wanted() {
            return Ok(None);
        }
        let mut order = self.clone();
        order.model = match self.content_filter {
            true => Some(
                load_model_in(self.model.as_deref(), roots)?
                    .version()
                    .to_owned(),
            ),
            false => None,
        };
        Ok(Some(serde_json::to_string(&order)?))
    }
}
