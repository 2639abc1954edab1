//! `garner text`: the text of a document, and what is known about it.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use document::media_type;
use serde::Serialize;
use text::{ExtractOptions, Extracted, Extractor, Outcome};

use crate::commands::confine::confiner;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Print the text of a document: PDF, PostScript, HTML, plain text, Office
///
/// The bytes decide on the media type, never the name. The text goes to stdout, with form feeds between pages; the
/// outcome goes to stderr. PDF is read by pdftotext or else by garner itself, PostScript by Ghostscript, scans by
/// tesseract, each within limits and without a network.
///
/// Exits with 0 if there is text and with 1 if there is none; the outcome says why.
#[derive(Debug, Args)]
pub(crate) struct Text {
    /// The document
    #[arg(required_unless_present = "languages")]
    file: Option<PathBuf>,
    /// List the languages in which text in images can be recognised, by the names of tesseract
    #[arg(long, conflicts_with_all = ["file", "ocr", "pages"])]
    languages: bool,
    /// Print one JSON object with the outcome, the engine, pages, words and text; with --languages a list
    #[arg(long)]
    json: bool,
    /// Recognise the text of documents that consist of images
    #[arg(long)]
    ocr: bool,
    /// A language to recognise, by the names of tesseract; can be given several times [default: those of the script of the
    /// first page that are installed]
    #[arg(long, value_name = "LANGUAGE", requires = "ocr")]
    language: Vec<String>,
    /// Read at most this number of pages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pages: Option<u32>,
}

/// The JSON output.
#[derive(Serialize)]
struct Facts<'a> {
    file: String,
    media_type: &'a str,
    outcome: &'a str,
    engine: Option<&'a str>,
    pages: Option<u32>,
    words: usize,
    truncated: bool,
    note: Option<&'a str>,
    text: &'a str,
}

impl Text {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let extractor = Extractor::new(self.options());
        let Some(file) = &self.file else {
            return self.list(&extractor);
        };
        let media_type = media_type_of(file)?;
        let mut extracted = extractor.extract(file, &media_type);
        if self.ocr && extracted.outcome == Outcome::ImageOnly {
            extracted = extractor.recognise(file, &media_type, self.pages);
        }
        for lack in extractor.lacks() {
            eprintln!("warning: programs are confined less than they should be: {lack}");
        }
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &facts(file, &media_type, &extracted))?,
                false => out.write_all(extracted.text.as_bytes())?,
            }
            out.flush()?;
            if !self.json {
                tell(&media_type, &extracted);
            }
            Ok(match extracted.outcome {
                Outcome::Text => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            })
        })
    }

    fn list(&self, extractor: &Extractor) -> anyhow::Result<ExitCode> {
        let languages = extractor.languages().map_err(anyhow::Error::msg)?;
        to_stdout(|out| {
            if self.json {
                write_json(out, &languages)?;
            } else {
                for language in &languages {
                    writeln!(out, "{}", plain(language))?;
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    fn options(&self) -> ExtractOptions {
        let mut options = ExtractOptions::new(confiner());
        options.office = true;
        options.pages = self.pages;
        if !self.language.is_empty() {
            options.ocr.languages.clone_from(&self.language);
        }
        options
    }
}

fn media_type_of(path: &Path) -> anyhow::Result<String> {
    let unreadable = || format!("cannot read `{}`", path.display());
    let is_file = path.metadata().with_context(unreadable)?.is_file();
    anyhow::ensure!(is_file, "`{}` is not a file", path.display());
    let file = File::open(path).with_context(unreadable)?;
    let mut head = Vec::new();
    file.take(media_type::HEAD as u64)
        .read_to_end(&mut head)
        .with_context(unreadable)?;
    Ok(media_type::decide_named(&head))
}

fn facts<'a>(file: &Path, media_type: &'a str, extracted: &'a Extracted) -> Facts<'a> {
    Facts {
        file: file.display().to_string(),
        media_type,
        outcome: extracted.outcome.name(),
        engine: extracted.engine.as_deref(),
        pages: extracted.pages,
        words: extracted.words(),
        truncated: extracted.truncated,
        note: extracted.note.as_deref(),
        text: &extracted.text,
    }
}

/// Says on stderr what is known about a text.
fn tell(media_type: &str, extracted: &Extracted) {
    let pages = extracted.pages.map(|pages| format!(", {pages} pages"));
    let engine = extracted
        .engine
        .as_deref()
        .map(|engine| format!(", by {engine}"));
    let cut = if extracted.truncated { ", cut off" } else { "" };
    let note = extracted.note.as_deref().map(|note| format!(": {note}"));
    eprintln!(
        "{}: {}{}, {} words{cut}{}{}",
        plain(media_type),
        extracted.outcome,
        pages.unwrap_or_default(),
        extracted.words(),
        plain(&engine.unwrap_or_default()),
        plain(&note.unwrap_or_default()),
    );
}
