//! Recognition of text in images: pages are drawn by pdftoppm and read by tesseract, one after the other.

pub(crate) mod languages;

use std::ffi::OsString;
use std::fs::File;
use std::io;

use super::engine::Engine;
use super::work::{Call, Input, Work, arguments, cut_short, said};
use super::{Extracted, Outcome, clean, dispatch, postscript, substance};
use process::{End, Output};

/// Recognises the text of a document's first pages, or of all.
pub(super) fn recognise(
    work: &Work<'_>,
    path: &std::path::Path,
    media_type: &str,
    pages: Option<u32>,
) -> Extracted {
    let (input, media_type) = match dispatch::pages_of(work, path, media_type) {
        Ok(input) => input,
        Err(extracted) => return extracted,
    };
    match media_type.as_str() {
        "application/pdf" => pages_of(work, &input, pages),
        "application/postscript" => match postscript::to_pdf(work, &input) {
            Ok((input, _directory)) => pages_of(work, &input, pages),
            Err(extracted) => extracted,
        },
        other => Extracted::without_text(
            Outcome::Unsupported,
            format!("{other} has no pages that can be drawn"),
        ),
    }
}

fn pages_of(work: &Work<'_>, input: &Input, pages: Option<u32>) -> Extracted {
    let most = work.options().ocr.pages;
    let wanted = pages.unwrap_or(most).min(most);
    let mut text = String::new();
    let mut recognised = 0;
    let mut end = None;
    let mut languages = work.options().ocr.languages.clone();
    for number in 1..=wanted {
        match page(work, input, number, &mut languages) {
            Ok(Some(page)) => text.push_str(&page),
            Ok(None) => break,
            Err(extracted) => {
                end = Some(extracted);
                break;
            }
        }
        recognised = number;
        text.push('\x0C');
        if text.len() > work.options().text_bytes {
            break;
        }
    }
    let truncated = clean::cut(&mut text, work.options().text_bytes);
    let mut extracted = end.unwrap_or_else(|| match substance::is_thin(&text, 0) {
        _ if recognised == 0 => Extracted::without_text(Outcome::Damaged, "no page can be drawn"),
        true => Extracted::without_text(Outcome::ImageOnly, ""),
        false => Extracted::without_text(Outcome::Text, ""),
    });
    extracted.text = text;
    extracted.truncated = truncated;
    extracted.pages = Some(recognised);
    extracted.engine = (recognised > 0).then(|| {
        format!(
            "{} + {}",
            work.version(Engine::Pdftoppm),
            work.version(Engine::Tesseract)
        )
    });
    extracted
}

/// The text of one page; `None` behind the last. `languages` are filled by its script if there are none.
fn page(
    work: &Work<'_>,
    input: &Input,
    number: u32,
    languages: &mut Vec<String>,
) -> Result<Option<String>, Extracted> {
    let unreadable = |error: io::Error| dispatch::unreadable(&error);
    // The image goes from one program to the other in a file without a name.
    let image = tempfile::tempfile_in(&work.options().temporary).map_err(unreadable)?;
    draw(work, input, number, image.try_clone().map_err(unreadable)?)?;
    let image = Input::of(image).map_err(unreadable)?;
    if image.length == 0 {
        return Ok(None);
    }
    // A page with little text, such as a title, leaves the choice to the next one.
    if languages.is_empty() {
        *languages = languages::of_page(work, &image)?.unwrap_or_default();
    }
    read(work, &image, languages).map(Some)
}

fn draw(work: &Work<'_>, input: &Input, number: u32, image: File) -> Result<(), Extracted> {
    let number = number.to_string();
    let call = Call {
        // The longer side of A4 at 300 dots per inch, whatever the page claims to measure.
        arguments: arguments([
            "-gray",
            "-scale-to",
            "3508",
            "-f",
            &number,
            "-l",
            &number,
            "-",
        ]),
        input: Some(
            input
                .bytes()
                .map_err(|error| dispatch::unreadable(&error))?,
        ),
        output: Output::File(image),
        directory: None,
    };
    let ended = work.run_for(Engine::Pdftoppm, call, work.options().ocr.page_wall)?;
    match cut_short(Engine::Pdftoppm, &ended) {
        Some(extracted) => Err(extracted),
        None => Ok(()),
    }
}

fn read(work: &Work<'_>, image: &Input, languages: &[String]) -> Result<String, Extracted> {
    let languages = joined(languages)?;
    let call = Call {
        arguments: vec![
            "stdin".into(),
            "stdout".into(),
            "-l".into(),
            OsString::from(languages),
        ],
        input: Some(
            image
                .bytes()
                .map_err(|error| dispatch::unreadable(&error))?,
        ),
        output: Output::Kept(work.options().text_bytes),
        directory: None,
    };
    let ended = work.run_for(Engine::Tesseract, call, work.options().ocr.page_wall)?;
    if let Some(extracted) = cut_short(Engine::Tesseract, &ended) {
        return Err(extracted);
    }
    // Where it has one of several languages it goes on without the others, which is not what was asked for.
    if let Some(language) = lacking(&ended.complaints) {
        let package = languages::package(language);
        let note =
            format!("tesseract has no language `{language}`; if there is such a one, {package}");
        return Err(Extracted::without_text(Outcome::EngineMissing, note));
    }
    if ended.end != End::Code(0) {
        return Err(Extracted::without_text(
            Outcome::Failed,
            said(Engine::Tesseract, &ended),
        ));
    }
    let text = clean::text(&String::from_utf8_lossy(&ended.printed));
    // It ends each page with a form feed of its own.
    Ok(text.replace('\x0C', ""))
}

/// The first language that tesseract complains it does not have.
fn lacking(complaints: &str) -> Option<&str> {
    let (_, rest) = complaints.split_once("Failed loading language '")?;
    let (language, _) = rest.split_once('\'')?;
    Some(language)
}

/// Languages as tesseract takes them.
fn joined(languages: &[String]) -> Result<String, Extracted> {
    let is_name = |name: &String| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match languages.iter().find(|name| !is_name(name)) {
        Some(name) => {
            let note =
                format!("`{name}` is not a language of tesseract; they have names such as eng");
            Err(Extracted::without_text(Outcome::Failed, note))
        }
        None if languages.is_empty() => Ok(languages::ENGLISH.to_owned()),
        None => Ok(languages.join("+")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_that_is_not_installed_is_named() {
        let complaints = "Error opening data file /usr/share/tesseract-ocr/5/tessdata/zzz.traineddata\n\
                          Failed loading language 'zzz'\nTesseract couldn't load any languages!\n";
        assert_eq!(lacking(complaints), Some("zzz"));
        assert_eq!(lacking("Estimating resolution as 300\n"), None);
    }
}
