//! PostScript: Ghostscript makes a PDF document of it, which is read as others are. It does the same for PDF that nobody
//! else can read.
//!
//! Ghostscript can print the text by itself (its device `txtwrite`). That takes longer, joins words, mixes columns and
//! scrambles pages that are set sideways, so it is the way out where the other finds nothing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::engine::Engine;
use super::scratch::Scratch;
use super::work::{Call, Input, Work, arguments, cut_short, first_line, said};
use super::{Extracted, Outcome, clean, dispatch, pdf, substance};
use process::{End, Ended, Output};

/// Takes the text out of a PostScript document.
pub(super) fn extract(work: &Work<'_>, input: &Input) -> Extracted {
    let bare = match unwrapped(work, input) {
        Ok(Some(bare)) => bare,
        Ok(None) => return Extracted::without_text(Outcome::Damaged, "no PostScript is in it"),
        Err(error) => return dispatch::unreadable(&error),
    };
    repaired(work, &bare)
}

/// The text of what Ghostscript makes of a document, PostScript or PDF.
pub(super) fn repaired(work: &Work<'_>, bare: &Input) -> Extracted {
    let first = through_pdf(work, bare);
    if !matches!(
        first.outcome,
        Outcome::ImageOnly | Outcome::Empty | Outcome::Damaged
    ) {
        return first;
    }
    let second = txtwrite(work, bare);
    match second.outcome {
        Outcome::Text => second,
        _ => first,
    }
}

/// The document as PDF, for those who look at its pages. The directory is where it lies.
pub(super) fn to_pdf(work: &Work<'_>, input: &Input) -> Result<(Input, Scratch), Extracted> {
    let bare = unwrapped(work, input).map_err(|error| dispatch::unreadable(&error))?;
    let bare =
        bare.ok_or_else(|| Extracted::without_text(Outcome::Damaged, "no PostScript is in it"))?;
    let (input, directory, _) = made_pdf(work, &bare)?;
    Ok((input, directory))
}

/// The text that Ghostscript gives for the bare document, and how that ended.
fn made_pdf(work: &Work<'_>, bare: &Input) -> Result<(Input, Scratch, Ended), Extracted> {
    let (written, directory, ended) = write(work, bare, "pdfwrite")?;
    match written {
        // The fault may be at the end; the pages before it are there.
        Some(file) if cut_short(Engine::Ghostscript, &ended).is_none() => {
            let input = Input::of(file).map_err(|error| dispatch::unreadable(&error))?;
            Ok((input, directory, ended))
        }
        _ => Err(failed(&ended)),
    }
}

fn through_pdf(work: &Work<'_>, bare: &Input) -> Extracted {
    let (made, _directory, ended) = match made_pdf(work, bare) {
        Ok(made) => made,
        Err(extracted) => return extracted,
    };
    let mut extracted = pdf::unrepaired(work, &made);
    if ended.end != End::Code(0) {
        extracted.note = Some(complaint(&ended));
        // The page that it broke off at is there as a blank one.
        if extracted.outcome == Outcome::Empty {
            extracted.outcome = Outcome::Damaged;
        }
    }
    extracted.engine = extracted
        .engine
        .map(|engine| format!("{} + {engine}", work.version(Engine::Ghostscript)));
    extracted
}

/// The text as Ghostscript itself prints it, of PostScript or PDF. It does not say where pages end.
fn txtwrite(work: &Work<'_>, input: &Input) -> Extracted {
    let (written, _directory, ended) = match write(work, input, "txtwrite") {
        Ok(written) => written,
        Err(extracted) => return extracted,
    };
    let mut bytes = Vec::new();
    if let Some(file) = written {
        let most = work.options().text_bytes as u64 + 1;
        if let Err(error) = file.take(most).read_to_end(&mut bytes) {
            return dispatch::unreadable(&error);
        }
    }
    let repaired = clean::repaired(&String::from_utf8_lossy(&bytes));
    let mut text = clean::without_gaps(&repaired);
    let truncated = clean::cut(&mut text, work.options().text_bytes);
    let mut extracted = match cut_short(Engine::Ghostscript, &ended) {
        Some(extracted) => extracted,
        None if substance::is_thin(&text, 0) => failed(&ended),
        None => Extracted::without_text(Outcome::Text, first_line(&ended.complaints)),
    };
    extracted.text = text;
    extracted.truncated = truncated;
    extracted.engine = Some(work.version(Engine::Ghostscript));
    extracted
}

/// Why nothing was written.
fn failed(ended: &Ended) -> Extracted {
    cut_short(Engine::Ghostscript, ended)
        .unwrap_or_else(|| Extracted::without_text(Outcome::Damaged, complaint(ended)))
}

/// The fault as Ghostscript tells it. Output of the document may stand before it.
fn complaint(ended: &Ended) -> String {
    match ended.complaints.find("Error: /") {
        Some(start) => first_line(&ended.complaints[start..]),
        None => said(Engine::Ghostscript, ended),
    }
}

type Written = (Option<File>, Scratch, Ended);

/// Lets Ghostscript write what a device of it makes of the document. In a file, for PostScript can print what it likes.
fn write(work: &Work<'_>, input: &Input, device: &str) -> Result<Written, Extracted> {
    let unreadable = |error: io::Error| dispatch::unreadable(&error);
    let directory = work.scratch().map_err(unreadable)?;
    let device = format!("-sDEVICE={device}");
    let call = Call {
        arguments: arguments([
            "-q",
            "-dSAFER",
            "-dBATCH",
            "-dNOPAUSE",
            "-dNOPROMPT",
            // The output of the document is not mixed with anything of worth.
            "-sstdout=%stderr",
            &device,
            "-sOutputFile=written",
            "-c",
            DVIPS,
            "-f",
            "-",
        ]),
        input: Some(input.bytes().map_err(unreadable)?),
        output: Output::Ignored,
        directory: Some(directory.path()),
    };
    let ended = work.run(Engine::Ghostscript, call)?;
    let written = open_written(directory.path()).map_err(unreadable)?;
    Ok((written, directory, ended))
}

fn open_written(directory: &Path) -> io::Result<Option<File>> {
    let path = directory.join("written");
    // A link that a document might have put there instead is not followed.
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 => File::open(path).map(Some),
        _ => Ok(None),
    }
}

/// The PostScript without what printers and DOS put around it.
fn unwrapped(work: &Work<'_>, input: &Input) -> io::Result<Option<Input>> {
    let Some((start, end)) = extent(&mut input.bytes()?, input.length)? else {
        return Ok(None);
    };
    if start == 0 && end == input.length {
        return Input::of(input.bytes()?).map(Some);
    }
    let mut file = input.bytes()?;
    file.seek(SeekFrom::Start(start))?;
    let mut bare = tempfile::tempfile_in(&work.options().temporary)?;
    io::copy(&mut file.take(end - start), &mut bare)?;
    Input::of(bare).map(Some)
}

/// Where the PostScript begins and ends.
fn extent(bytes: &mut (impl Read + Seek), length: u64) -> io::Result<Option<(u64, u64)>> {
    let mut head = Vec::new();
    bytes.take(HEAD as u64).read_to_end(&mut head)?;
    if head.starts_with(&[0xC5, 0xD0, 0xD3, 0xC6]) && head.len() >= 12 {
        let number = |at: usize| {
            u64::from(u32::from_le_bytes([
                head[at],
                head[at + 1],
                head[at + 2],
                head[at + 3],
            ]))
        };
        let (start, size) = (number(4), number(8));
        let end = start.saturating_add(size).min(length);
        return Ok((start < end).then_some((start, end)));
    }
    let Some(start) = beginning(&head) else {
        return Ok(None);
    };
    let tail_at = length.saturating_sub(TAIL).max(start);
    bytes.seek(SeekFrom::Start(tail_at))?;
    let mut tail = Vec::new();
    bytes.take(TAIL).read_to_end(&mut tail)?;
    let switch = tail
        .windows(SWITCH.len())
        .position(|window| window == SWITCH);
    let end = switch.map_or(length, |at| tail_at + at as u64);
    Ok((start < end).then_some((start, end)))
}

/// Where `%!` stands, at the beginning of a line or behind Ctrl-D.
fn beginning(head: &[u8]) -> Option<u64> {
    let mut places = head
        .windows(2)
        .enumerate()
        .filter(|(_, window)| window == b"%!");
    let place = places.find(|(at, _)| match &head[..*at] {
        b"\xEF\xBB\xBF" | [.., b'\r' | b'\n' | 0x04] => true,
        before => before.iter().all(u8::is_ascii_whitespace),
    });
    place.map(|(at, _)| at as u64)
}

/// The program that is run before the document.
const DVIPS: &str = include_str!("dvips.ps");
const HEAD: usize = 64 * 1024;
const TAIL: u64 = 4 * 1024;
/// The bytes that printers take as the end of a job (and its beginning).
const SWITCH: &[u8] = b"\x1B%-12345X";

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn bare(bytes: &[u8]) -> Option<Vec<u8>> {
        let found = extent(&mut Cursor::new(bytes), bytes.len() as u64).unwrap();
        found.map(|(start, end)| bytes[start as usize..end as usize].to_vec())
    }

    #[test]
    fn wrappings_are_taken_off() {
        let document = b"%!PS-Adobe-3.0\nshowpage\n".to_vec();
        let wrap = |before: &[u8], after: &[u8]| [before, &document, after].concat();
        assert_eq!(bare(&document), Some(document.clone()));
        assert_eq!(bare(&wrap(b"\x04", b"")), Some(document.clone()));
        assert_eq!(bare(&wrap(b"\xEF\xBB\xBF", b"")), Some(document.clone()));
        let job = b"\x1B%-12345X@PJL JOB\r\n@PJL ENTER LANGUAGE=POSTSCRIPT \r\n";
        assert_eq!(
            bare(&wrap(job, b"\x1B%-12345X@PJL EOJ\r\n\x1B%-12345X")),
            Some(document.clone())
        );
        let mut dos = vec![0xC5, 0xD0, 0xD3, 0xC6];
        dos.extend(30_u32.to_le_bytes());
        dos.extend((document.len() as u32).to_le_bytes());
        dos.extend([0; 18]);
        assert_eq!(bare(&wrap(&dos, b"a preview")), Some(document.clone()));
    }

    #[test]
    fn what_has_no_postscript_has_no_beginning() {
        assert_eq!(bare(b"just a text about %!PS"), None);
        assert_eq!(bare(b""), None);
        assert_eq!(
            bare(b"\xC5\xD0\xD3\xC6\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
            None
        );
        assert_eq!(bare(b"\xC5\xD0\xD3\xC6"), None);
    }
}
