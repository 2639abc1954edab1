//! A reader of PDF that is garner's own, for where pdftotext is not installed or fails: what it runs in is a confined
//! process that becomes no other program.
//!
//! It takes text in the order in which pages draw it. That is the order of reading in nearly all that is typeset, but
//! tables and columns come out better with pdftotext, which is asked first.

mod lines;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, RenderContent, interpret_page,
};

use process::BuiltIn;

use lines::Lines;

/// The reader as a program that a confining process has in itself, so that it needs no file.
pub const PDF_READER: BuiltIn = BuiltIn {
    name: "garner-pdf",
    main,
};

/// Prints the text of the PDF document that is standard input, with a form feed behind each page. The argument, if there
/// is one, says how many pages at most.
fn main(arguments: &[OsString]) -> ExitCode {
    let most = arguments.first().and_then(|most| most.to_str());
    let most = most.and_then(|most| most.parse().ok());
    match print(most.unwrap_or(usize::MAX)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn print(most: usize) -> Result<(), String> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    let pdf = Pdf::new(bytes).map_err(said)?;
    let settings = InterpreterSettings {
        // Annotations that readers have put on a page are not its text.
        render_content: RenderContent::PAGE,
        ..InterpreterSettings::default()
    };
    let cache = InterpreterCache::new();
    let mut out = io::stdout().lock();
    for page in pdf.pages().iter().take(most) {
        let (width, height) = page.render_dimensions();
        let whole = Rect::new(0.0, 0.0, width.into(), height.into());
        // Which side of a page is up does not matter: lines are followed wherever they lead.
        let place = Affine::IDENTITY;
        let mut context = Context::new(place, whole, &cache, pdf.xref(), settings.clone());
        let mut lines = Lines::default();
        interpret_page(page, &mut context, &mut lines);
        // A page at a time, so that there is something if a limit ends it.
        let printed = write!(out, "{}\n\x0C", lines.text()).and_then(|()| out.flush());
        printed.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// In the words of poppler, so that one side needs to know no other.
fn said(error: LoadPdfError) -> String {
    match error {
        LoadPdfError::Decryption(why) => format!("encryption: {why:?}"),
        LoadPdfError::Invalid => "it is not a PDF document, or too damaged to be read".to_owned(),
    }
}
