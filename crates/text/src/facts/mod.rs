//! Facts about a text: its title, its language, and a sketch by which texts that say the same are found.

mod language;
mod pdf_title;
mod sketch;
mod title;

pub use self::language::{LANGUAGES, language, language_code};
pub(crate) use self::pdf_title::pdf_title;
pub use self::sketch::Sketch;
pub use self::title::{file_title, title};

/// The text of bytes in whatever encoding, without what is no text.
pub fn decoded(bytes: &[u8]) -> String {
    super::clean::text(&super::charset::decode(bytes, None))
}

/// The facts about one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its title, if one is plausible.
    pub title: Option<String>,
    /// Its language, as a code of ISO 639-1.
    pub language: Option<&'static str>,
    /// Its sketch, unless it is too short for one.
    pub sketch: Option<Sketch>,
}

impl Facts {
    /// The facts about a text. `declared` is the title that the document gives itself in its metadata.
    pub fn of(text: &str, declared: Option<&str>) -> Self {
        Self {
            title: title(text, declared),
            language: language(text),
            sketch: Sketch::of(text),
        }
    }
}
