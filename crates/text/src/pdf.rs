//! PDF: pdftotext reads it. Where that is missing, finds it damaged or crashes, the reader of garner's own has a try, and
//! then Ghostscript, which repairs more.

use std::ffi::OsString;

use super::engine::Engine;
use super::work::{Call, Input, Work, arguments, cut_short, first_line};
use super::{Extracted, Limit, Outcome, clean, dispatch, facts, picture, postscript, substance};
use process::{End, Ended, Output};

/// Takes the text out of a PDF document.
pub(super) fn extract(work: &Work<'_>, input: &Input) -> Extracted {
    let mut extracted = unrepaired(work, input);
    if !is_last_word(&extracted) && work.has(Engine::Ghostscript) {
        let repaired = postscript::repaired(work, input);
        if has_text(&repaired) {
            extracted = repaired;
        }
    }
    if has_text(&extracted) {
        extracted.title = input.bytes().ok().and_then(facts::pdf_title);
    }
    extracted
}

/// The text by pdftotext, or else by the built-in reader.
pub(super) fn unrepaired(work: &Work<'_>, input: &Input) -> Extracted {
    let first = read(work, input, Engine::Pdftotext);
    if is_last_word(&first) && !is_unreadable(&first) {
        return first;
    }
    let second = read(work, input, Engine::Reader);
    // Without the one, the other's word counts whatever it is.
    let is_alone = first.outcome == Outcome::EngineMissing;
    match is_alone || has_text(&second) {
        true => second,
        false => first,
    }
}

/// Whether its letters are no letters: the other reader may know them, and OCR always does.
fn is_unreadable(extracted: &Extracted) -> bool {
    extracted.outcome == Outcome::ImageOnly && extracted.note.as_deref() == Some(UNREADABLE)
}

fn is_last_word(extracted: &Extracted) -> bool {
    !matches!(
        extracted.outcome,
        Outcome::Damaged | Outcome::Failed | Outcome::EngineMissing
    )
}

fn has_text(extracted: &Extracted) -> bool {
    let is_text = matches!(extracted.outcome, Outcome::Text | Outcome::Limit(_));
    is_text && !extracted.text.trim().is_empty()
}

/// The result of one of them.
fn read(work: &Work<'_>, input: &Input, engine: Engine) -> Extracted {
    let ended = match run(work, input, engine) {
        Ok(ended) => ended,
        Err(extracted) => return extracted,
    };
    let (text, pages) = text_of(&ended.printed);
    let mut extracted = judge(engine, &ended, text, pages);
    extracted.engine = Some(work.version(engine));
    let is_all = extracted.outcome == Outcome::Text && !extracted.truncated;
    if is_all && repair::is_rubbish(&String::from_utf8_lossy(&ended.printed)) {
        extracted.outcome = Outcome::ImageOnly;
        extracted.note = Some(UNREADABLE.to_owned());
    } else if is_all && substance::is_thin(&extracted.text, pages) {
        extracted.outcome = match picture::shows_something(work, input) {
            true => Outcome::ImageOnly,
            false if extracted.text.trim().is_empty() => Outcome::Empty,
            false => Outcome::Text,
        };
    }
    extracted
}

fn run(work: &Work<'_>, input: &Input, engine: Engine) -> Result<Ended, Extracted> {
    let pages = work.options().pages.map(|pages| pages.to_string());
    let arguments = match engine {
        Engine::Reader => pages.into_iter().map(OsString::from).collect(),
        _ => {
            let mut arguments = arguments(["-enc", "UTF-8"]);
            if let Some(pages) = pages {
                arguments.extend([OsString::from("-l"), pages.into()]);
            }
            // The document is its standard input: it needs no name for it, and no right to open it.
            arguments.extend(["-".into(), "-".into()]);
            arguments
        }
    };
    let input = input
        .bytes()
        .map_err(|error| dispatch::unreadable(&error))?;
    work.run(
        engine,
        Call {
            arguments,
            input: Some(input),
            output: Output::Kept(work.options().text_bytes),
            directory: None,
        },
    )
}

fn judge(engine: Engine, ended: &Ended, text: String, pages: u32) -> Extracted {
    let note = first_line(&ended.complaints);
    let mut extracted = match ended.end {
        End::Code(0) if pages > 0 => Extracted::without_text(Outcome::Text, note),
        // Also one that says it has no pages: nobody makes such documents on purpose.
        End::Code(_) if is_encrypted(&ended.complaints) => {
            Extracted::without_text(Outcome::Encrypted, note)
        }
        // Forms that draw each other print blanks without an end.
        End::TooMuchPrinted if substance::is_thin(&text, 1) => {
            Extracted::without_text(Outcome::Limit(Limit::Size), note)
        }
        End::TooMuchPrinted => {
            let mut extracted = Extracted::without_text(Outcome::Text, note);
            extracted.truncated = true;
            extracted
        }
        // A bug of ours, and not of the document.
        End::Code(PANIC) if engine == Engine::Reader => {
            Extracted::without_text(Outcome::Failed, note)
        }
        _ => cut_short(engine, ended)
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
    let text = clean::repaired(&String::from_utf8_lossy(printed));
    let ended = text.bytes().filter(|byte| *byte == b'\x0C').count();
    let begun = usize::from(!text.is_empty() && !text.ends_with('\x0C'));
    (text, u32::try_from(ended + begun).unwrap_or(u32::MAX))
}

const UNREADABLE: &str = "its text layer has no readable letters";
/// The code with which a process ends that panicked.
const PANIC: i32 = 101;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prints_blanks_without_an_end_has_no_text() {
        let outcome = |text: &str| {
            let ended = Ended {
                end: End::TooMuchPrinted,
                printed: Vec::new(),
                complaints: String::new(),
            };
            judge(Engine::Reader, &ended, text.to_owned(), 1).outcome
        };

        let words = "Many words of a document that has more of them than anybody reads.\n";
        assert_eq!(outcome(&" \n".repeat(1000)), Outcome::Limit(Limit::Size));
        assert_eq!(outcome(words), Outcome::Text);
    }
}
