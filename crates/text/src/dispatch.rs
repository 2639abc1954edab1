//! Which way a document goes, by its media type.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;

use super::work::{Input, Work};
use super::{Extracted, Limit, Outcome, html, office, pdf, plain, postscript};
use document::container::{self, Containers};
use document::media_type;

/// Takes the text out of a document.
pub(super) fn extract(work: &Work<'_>, path: &Path, media_type: &str) -> Extracted {
    match Input::open(path) {
        Ok(input) => by_type(work, &input, media_type, true),
        Err(error) => unreadable(&error),
    }
}

/// Takes the text out of a document that is open.
pub(super) fn extract_from(work: &Work<'_>, file: File, media_type: &str) -> Extracted {
    match Input::of(file) {
        Ok(input) => by_type(work, &input, media_type, true),
        Err(error) => unreadable(&error),
    }
}

fn by_type(work: &Work<'_>, input: &Input, media_type: &str, may_unpack: bool) -> Extracted {
    if input.length == 0 {
        return Extracted::without_text(Outcome::Empty, "it has no bytes");
    }
    match media_type {
        "application/pdf" => pdf::extract(work, input),
        "application/postscript" => postscript::extract(work, input),
        "application/gzip" if may_unpack => match unpack(work, input) {
            Ok(unpacked) => {
                let mut extracted = by_type(work, &unpacked.input, &unpacked.media_type, false);
                // A document with pages may have broken off before the first of them.
                if unpacked.damage.is_some() && extracted.outcome == Outcome::Empty {
                    extracted.outcome = Outcome::Damaged;
                }
                extracted.note = unpacked.damage.or(extracted.note);
                extracted
            }
            Err(extracted) => extracted,
        },
        "text/html" | "application/xhtml+xml" | "application/xml" => html::extract(work, input),
        _ if office::reads(media_type) && work.options().office => {
            office::extract(work, input, media_type)
        }
        "application/x-tex" | "application/x-latex" => plain::extract(work, input),
        _ if media_type.starts_with("text/") => plain::extract(work, input),
        _ => Extracted::without_text(Outcome::Unsupported, format!("{media_type} is not read")),
    }
}

/// The input as a PDF or PostScript file, for those who look at its pages.
pub(super) fn pages_of(
    work: &Work<'_>,
    path: &Path,
    media_type: &str,
) -> Result<(Input, String), Extracted> {
    let input = Input::open(path).map_err(|error| unreadable(&error))?;
    match media_type {
        "application/gzip" => {
            let unpacked = unpack(work, &input)?;
            Ok((unpacked.input, unpacked.media_type))
        }
        media_type => Ok((input, media_type.to_owned())),
    }
}

/// The document that lay in a layer of gzip.
struct Unpacked {
    input: Input,
    media_type: String,
    /// Why it is not all of it.
    damage: Option<String>,
}

/// Takes the one layer of gzip off; what lies in it is looked at anew.
fn unpack(work: &Work<'_>, input: &Input) -> Result<Unpacked, Extracted> {
    let packed = input.bytes().map_err(|error| unreadable(&error))?;
    let mut unpacked =
        tempfile::tempfile_in(&work.options().temporary).map_err(|error| unreadable(&error))?;
    let limits = container::Limits {
        size: work.options().unpacked_bytes,
        ..container::Limits::default()
    };
    let mut copied = Ok(0);
    let mut take = |_: &str, bytes: &mut dyn Read| {
        copied = io::copy(bytes, &mut unpacked);
        ControlFlow::Break(())
    };
    let opened = container::open(
        &[],
        &mut { packed },
        Containers::default(),
        &limits,
        &mut take,
    );
    let came = unpacked.metadata().map_or(0, |metadata| metadata.len());
    // The bytes before damage are read as they are.
    let damage = match (opened, copied) {
        (Err(error), _) if error.is_bomb() || came == 0 => return Err(not_unpacked(&error)),
        (Err(error), _) => Some(error.to_string()),
        (Ok(_), Err(error)) if came == 0 => {
            return Err(Extracted::without_text(Outcome::Damaged, error.to_string()));
        }
        (Ok(_), copied) => copied.err().map(|error| error.to_string()),
    };
    unpacked.flush().map_err(|error| unreadable(&error))?;
    let input = Input::of(unpacked).map_err(|error| unreadable(&error))?;
    let head = head_of(&input).map_err(|error| unreadable(&error))?;
    Ok(Unpacked {
        input,
        media_type: media_type::decide(None, &head).decided,
        damage,
    })
}

fn not_unpacked(error: &container::Error) -> Extracted {
    let outcome = match error {
        container::Error::NoContainer | container::Error::Damaged(_) => Outcome::Damaged,
        _ => Outcome::Limit(Limit::Size),
    };
    Extracted::without_text(outcome, error.to_string())
}

fn head_of(input: &Input) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let file: File = input.bytes()?;
    file.take(media_type::HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

pub(super) fn unreadable(error: &io::Error) -> Extracted {
    Extracted::without_text(Outcome::Failed, format!("it cannot be read: {error}"))
}
