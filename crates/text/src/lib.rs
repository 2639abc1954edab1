#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod charset;
mod clean;
mod dispatch;
mod engine;
mod extracted;
mod facts;
mod html;
mod ocr;
mod office;
mod options;
mod pdf;
mod picture;
mod plain;
mod postscript;
#[cfg(feature = "pdf-reader")]
mod reader;
#[cfg(not(feature = "pdf-reader"))]
#[path = "no_reader.rs"]
mod reader;
mod scratch;
mod slots;
mod substance;
mod work;

use self::ocr::languages;
use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, Once};

pub use engine::{Missing, Program};
pub use extracted::{Extracted, Limit, Outcome};
pub use facts::{Facts, LANGUAGES, Sketch, decoded, file_title, language, language_code, title};
pub use options::{ExtractOptions, OcrOptions};
pub use reader::PDF_READER;
pub use repair::join_hyphenated;

use engine::{Engine, Engines};
use slots::Slots;
use work::Work;

/// Takes the text out of documents.
#[derive(Debug)]
pub struct Extractor {
    options: ExtractOptions,
    engines: Engines,
    slots: Slots,
    /// Recognition takes a hundred times as long as anything else, so it has places of its own.
    ocr_slots: Slots,
    lacks: Mutex<Option<Vec<String>>>,
    /// Whether it was cleaned up after those who were killed.
    swept: Once,
}

impl Extractor {
    /// An extractor; nothing is started and nothing looked for before it is asked.
    pub fn new(options: ExtractOptions) -> Self {
        Self {
            engines: Engines::new(&options.path),
            slots: Slots::new(options.parallel),
            ocr_slots: Slots::new(options.ocr.parallel),
            lacks: Mutex::new(None),
            swept: Once::new(),
            options,
        }
    }

    /// Takes the text out of a document of which the media type has been decided. Waits for a free place first.
    pub fn extract(&self, file: &Path, media_type: &str) -> Extracted {
        let _slot = self.slots.take();
        self.tell_lacks();
        let work = Work::begin(self, self.options.wall);
        dispatch::extract(&work, file, media_type)
    }

    /// The same for a document that is open, from its beginning. It needs no name, and may be in memory alone.
    pub fn extract_from(&self, file: File, media_type: &str) -> Extracted {
        let _slot = self.slots.take();
        self.tell_lacks();
        let work = Work::begin(self, self.options.wall);
        dispatch::extract_from(&work, file, media_type)
    }

    /// Recognises the text of a document that consists of images, for those who ask for it: the first so many pages, or
    /// all. Waits for a free place among those that are set apart for it.
    pub fn recognise(&self, file: &Path, media_type: &str, pages: Option<u32>) -> Extracted {
        let _slot = self.ocr_slots.take();
        self.tell_lacks();
        let work = Work::begin(self, self.options.ocr.wall);
        ocr::recognise(&work, file, media_type, pages)
    }

    /// Which programs are not installed, and the packages that have them.
    pub fn missing(&self) -> Vec<Missing> {
        self.engines.missing()
    }

    /// All programs that read documents, installed or not, with their versions.
    pub fn programs(&self) -> Vec<Program> {
        let work = Work::begin(self, self.options.wall);
        let programs = Engine::ALL.map(|engine| work.program(engine));
        programs.into()
    }

    /// The languages in which text in images can be recognised, by the names of tesseract; the error says why none are known.
    pub fn languages(&self) -> Result<Vec<String>, String> {
        let work = Work::begin(self, self.options.wall);
        let installed = languages::installed(&work);
        let mut languages = installed.map_err(|extracted| extracted.note.unwrap_or_default())?;
        languages.retain(|name| name != languages::ORIENTATION);
        Ok(languages)
    }

    /// Whether tesseract can tell the script of a page, by which languages are chosen.
    pub fn tells_scripts(&self) -> bool {
        let work = Work::begin(self, self.options.wall);
        let installed = languages::installed(&work).unwrap_or_default();
        installed.iter().any(|name| name == languages::ORIENTATION)
    }

    /// The protections that this system lacks for programs, in words.
    pub fn lacks(&self) -> Vec<String> {
        self.tell_lacks()
    }

    /// Asks once what programs cannot be kept from, and tells it in the log.
    fn tell_lacks(&self) -> Vec<String> {
        let mut known = self.lacks.lock().unwrap_or_else(|error| error.into_inner());
        known
            .get_or_insert_with(|| {
                let lacks = self.options.confiner.lacks();
                let lacks = lacks.unwrap_or_else(|error| vec![error.to_string()]);
                for lack in &lacks {
                    tracing::warn!(
                        "programs that read documents are confined less than they should be: {lack}"
                    );
                }
                lacks
            })
            .clone()
    }
}
