//! PDF: pdftotext reads it; where that finds it damaged or crashes, Ghostscript, which repairs more, has a try.

use std::ffi::OsString;

use super::engine::Engine;
use super::work::{Call, Input, Work, arguments, cut_short, first_line};
use super::{Extracted, Outcome, clean, dispatch, picture, substance};
use crate::confine::{End, Ended, Output};

/// Takes the text out of a PDF document.
pub(super) fn extract(work: &Work<'_>, input: &Input) -> Extracted {
    let extracted = pdftotext(work, input);
    let is_last_word = !matches!(
        extracted.outcome,
        Outcome::Damaged | Outcome::Failed | Outcome::EngineMissing
    );
    if is_last_word || !work.has(Engine::Ghostscript) {
        return extracted;
    }
    let second = ghostscript(work, input);
    match second.outcome {
        Outcome::Text | Outcome::Limit(_) if !second.text.is_empty() => second,
        _ => extracted,
    }
}

/// What pdftotext makes of it.
pub(super) fn pdftotext(work: &Work<'_>, input: &Input) -> Extracted {
    let ended = match run(work, input) {
        Ok(ended) => ended,
        Err(extracted) => return extracted,
    };
    let engine = Some(work.version(Engine::Pdftotext));
    let (text, pages) = text_of(&ended.printed);
    let mut extracted = judge(&ended, text, pages);
    extracted.engine = engine;
    let is_all = extracted.outcome == Outcome::Text && !extracted.truncated;
    if is_all && substance::is_thin(&extracted.text, pages) {
        extracted.outcome = match picture::shows_something(work, input) {
            true => Outcome::ImageOnly,
            false if extracted.text.trim().is_empty() => Outcome::Empty,
            false => Outcome::Text,
        };
    }
    extracted
}

fn run(work: &Work<'_>, input: &Input) -> Result<Ended, Extracted> {
    let mut arguments = arguments(["-enc", "UTF-8"]);
    if let Some(pages) = work.options().pages {
        arguments.extend([OsString::from("-l"), pages.to_string().into()]);
    }
    // The document is its standard input: it needs no name for it, and no right to open it.
    arguments.extend(["-".into(), "-".into()]);
    let input = input
        .bytes()
        .map_err(|error| dispatch::unreadable(&error))?;
    work.run(
        Engine::Pdftotext,
        Call {
            arguments,
            input: Some(input),
            output: Output::Kept(work.options().text_bytes),
            directory: None,
        },
    )
}

fn judge(ended: &Ended, text: String, pages: u32) -> Extracted {
    let note = first_line(&ended.complaints);
    let mut extracted = match ended.end {
        End::Code(0) if pages > 0 => Extracted::without_text(Outcome::Text, note),
        // Also one that says it has no pages: nobody makes such documents on purpose.
        End::Code(_) if is_encrypted(&ended.complaints) => {
            Extracted::without_text(Outcome::Encrypted, note)
        }
        End::TooMuchPrinted => {
            let mut extracted = Extracted::without_text(Outcome::Text, note);
            extracted.truncated = true;
            extracted
        }
        _ => cut_short(Engine::Pdftotext, ended)
            .unwrap_or_else(|| Extracted::without_text(Outcome::Damaged, note)),
    };
    extracted.pages = Some(pages);
    extracted.text = text;
    extracted
}

/// As poppler says it.
fn is_encrypted(complaints: &str) -> bool {
    let complaints = complaints.to_ascii_lowercase();
    [
        "incorrect password",
        "security handler",
        "unsupported version/revision",
        "encryption",
    ]
    .iter()
    .any(|words| complaints.contains(words))
}

/// The text that was printed, and the pages it was taken from: each ends with a form feed.
fn text_of(printed: &[u8]) -> (String, u32) {
    let text = clean::text(&String::from_utf8_lossy(printed));
    let ended = text.bytes().filter(|byte| *byte == b'\x0C').count();
    let begun = usize::from(!text.is_empty() && !text.ends_with('\x0C'));
    (text, u32::try_from(ended + begun).unwrap_or(u32::MAX))
}

/// What Ghostscript makes of it.
fn ghostscript(work: &Work<'_>, input: &Input) -> Extracted {
    super::postscript::txtwrite(work, input)
}
