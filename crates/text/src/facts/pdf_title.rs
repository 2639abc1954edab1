//! The title in the document information of a PDF file, as far as it can be read without unfolding anything.
//!
//! Only the beginning and the end of the file are looked at, and nothing is followed but the reference of the trailer to
//! the information dictionary. The title of an encrypted file is encrypted, and is not read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The title that a PDF file gives itself, unjudged.
pub(crate) fn pdf_title(mut file: File) -> Option<String> {
    title_of(&ends(&mut file).ok()?)
}

/// The beginning and the end of a file.
fn ends(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(PART).read_to_end(&mut bytes)?;
    if length > PART {
        file.seek(SeekFrom::Start(PART.max(length.saturating_sub(PART))))?;
        // No token goes across the gap.
        bytes.push(b'\n');
        file.take(PART).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn title_of(bytes: &[u8]) -> Option<String> {
    if find(bytes, b"/Encrypt").is_some() {
        return None;
    }
    // The last one counts: a file that was changed has one more trailer.
    let mut information = None;
    let mut rest = bytes;
    while let Some(at) = find(rest, b"/Info") {
        rest = &rest[at + 5..];
        information = reference(rest).or(information);
    }
    let (number, generation) = information?;
    let object = format!("{number} {generation} obj");
    let mut dictionary = None;
    let mut from = 0;
    while let Some(at) = find(&bytes[from..], object.as_bytes()).map(|at| from + at) {
        from = at + object.len();
        let is_whole = at == 0 || !bytes[at - 1].is_ascii_digit();
        if is_whole {
            dictionary = Some(&bytes[from..]);
        }
    }
    let dictionary = dictionary?;
    let end = find(dictionary, b"endobj").unwrap_or(dictionary.len());
    let dictionary = &dictionary[..end.min(LONGEST_DICTIONARY)];
    let title = &dictionary[find(dictionary, b"/Title")? + 6..];
    string(title.trim_ascii_start())
}

/// `12 0 R`
fn reference(bytes: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(bytes.get(..bytes.len().min(32))?.trim_ascii());
    let text = match text {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?,
    };
    let mut parts = text.split_ascii_whitespace();
    let (number, generation) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts
        .next()?
        .starts_with('R')
        .then_some((number, generation))
}

/// A string: `(…)` or `<hexadecimal>`.
fn string(bytes: &[u8]) -> Option<String> {
    let raw = match bytes.first()? {
        b'(' => literal(&bytes[1..]),
        b'<' => hexadecimal(&bytes[1..])?,
        _ => return None,
    };
    let text = match raw.as_slice() {
        [0xfe, 0xff, rest @ ..] => encoding_rs::UTF_16BE.decode(rest).0.into_owned(),
        [0xff, 0xfe, rest @ ..] => encoding_rs::UTF_16LE.decode(rest).0.into_owned(),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        rest => match std::str::from_utf8(rest) {
            Ok(text) => text.to_owned(),
            Err(_) => encoding_rs::WINDOWS_1252.decode(rest).0.into_owned(),
        },
    };
    Some(text)
}

fn literal(bytes: &[u8]) -> Vec<u8> {
    let (mut text, mut depth) = (Vec::new(), 0);
    let mut bytes = bytes.iter().copied().take(LONGEST_TITLE).peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            b'\\' => {
                let Some(escaped) = bytes.next() else { break };
                match escaped {
                    b'n' | b'r' | b't' | b'\n' | b'\r' => text.push(b' '),
                    b'0'..=b'7' => {
                        let mut value = u32::from(escaped - b'0');
                        for _ in 0..2 {
                            if let Some(digit @ b'0'..=b'7') = bytes.peek().copied() {
                                value = value * 8 + u32::from(digit - b'0');
                                bytes.next();
                            }
                        }
                        text.push((value & 0xff) as u8);
                    }
                    other => text.push(other),
                }
                continue;
            }
            _ => {}
        }
        text.push(byte);
    }
    text
}

fn hexadecimal(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = find(&bytes[..bytes.len().min(LONGEST_TITLE)], b">")?;
    let digits = bytes[..end].iter();
    let digits = digits.filter_map(|digit| char::from(*digit).to_digit(16));
    let digits: Vec<_> = digits.collect();
    let pairs = digits.chunks(2);
    let byte = |pair: &[u32]| (pair[0] * 16 + pair.get(1).unwrap_or(&0)) as u8;
    Some(pairs.map(byte).collect())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}

/// Bytes of each end of the file that are looked at.
const PART: u64 = 512 * 1024;
const LONGEST_DICTIONARY: usize = 64 * 1024;
const LONGEST_TITLE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn pdf(title: &str) -> Vec<u8> {
        format!(
            "%PDF-1.4\n1 0 obj << /Title (Chapter 1) >> endobj\n11 0 obj << /Title (Wrong) >> endobj\n\
             1 0 obj\n<< /Author (A) /Title {title} >>\nendobj\ntrailer << /Root 2 0 R /Info 1 0 R >>\n%%EOF"
        )
        .into_bytes()
    }

    #[test]
    fn titles_are_read_in_all_their_spellings() {
        for (written, title) in [
            ("(On Coasts \\(1999\\))", "On Coasts (1999)"),
            ("(Nested (pair) end)", "Nested (pair) end"),
            ("(caf\\351)", "café"),
            ("<FEFF00410042>", "AB"),
            ("<4F6E>", "On"),
        ] {
            assert_eq!(title_of(&pdf(written)).as_deref(), Some(title), "{written}");
        }
    }

    #[test]
    fn hostile_files_have_no_title_and_do_no_harm() {
        for hostile in [
            &b""[..],
            b"/Info",
            b"/Info 1 0 R",
            b"/Info 1 0 R 1 0 obj /Title",
            b"/Info 1 0 R 1 0 obj /Title (",
            b"/Info 99999999999 0 R",
            b"/Info \xff\xfe 1 R 1 0 obj /Title <",
            b"/Info 1 0 R 1 0 obj /Title (a\\",
        ] {
            assert!(
                title_of(hostile).is_none_or(|title| title.len() < 2),
                "{hostile:?}"
            );
        }
        let mut encrypted = pdf("(secret)");
        encrypted.extend_from_slice(b"/Encrypt 3 0 R");
        assert_eq!(title_of(&encrypted), None);
    }
}
