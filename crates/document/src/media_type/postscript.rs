//! PostScript: bare, behind what printers and mail put in front of it, or inside of a DOS EPS file.

use super::sniff::Sniffed;
use super::{pdf, text};

/// Looks for PostScript; `in_page` says that the bytes begin like HTML or XML.
pub(super) fn sniff(head: &[u8], in_page: bool) -> Option<Sniffed> {
    if head.starts_with(&[0xC5, 0xD0, 0xD3, 0xC6]) {
        return Some(POSTSCRIPT);
    }
    let bare = unwrapped(head);
    if bare.starts_with(LANGUAGE_SWITCH) {
        return Some(printer_job(bare));
    }
    if bare.starts_with(b"%!PS-AdobeFont") || bare.starts_with(b"%!FontType1") {
        return Some(Sniffed::certain("application/x-font-type1"));
    }
    if is_postscript(bare) {
        return Some(POSTSCRIPT);
    }
    let within = &head[..head.len().min(FIRST)];
    let behind_junk = text::find_all(within, b"%!PS-Adobe-").any(|at| {
        let begins_line = at > 0 && matches!(head[at - 1], b'\r' | b'\n' | 0x04);
        begins_line && has_comments(&head[at..])
    });
    (behind_junk && !in_page).then_some(POSTSCRIPT)
}

/// Without a byte order mark, blanks, and the Ctrl-D by which drivers for Windows end the job before.
fn unwrapped(head: &[u8]) -> &[u8] {
    let bare = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let is_wrapping = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x04;
    let start = bare.iter().position(|byte| !is_wrapping(byte));
    &bare[start.unwrap_or(bare.len())..]
}

fn is_postscript(bare: &[u8]) -> bool {
    let Some(behind) = bare.strip_prefix(b"%!") else {
        return false;
    };
    match behind.strip_prefix(b"PS") {
        Some([b'-' | b'\r' | b'\n', ..]) => true,
        // dvips writes "%!PS (but not EPSF; comments have been disabled)"; so could a text about it.
        Some(rest) => has_comments(rest) || has_definitions(rest),
        None => {
            let is_bare = matches!(behind.first(), Some(b'\r' | b'\n' | b' '));
            is_bare && (has_comments(behind) || has_definitions(behind))
        }
    }
}

/// A job in HP's printer job language, which says in which language it goes on.
fn printer_job(bare: &[u8]) -> Sniffed {
    let starts = |mark| text::find_all(bare, mark);
    if starts(b"%!PS")
        .chain(starts(b"%!\n"))
        .chain(starts(b"%!\r"))
        .next()
        .is_some()
    {
        return POSTSCRIPT;
    }
    let mut documents = starts(b"%PDF-").filter_map(|at| pdf::sniff(&bare[at..], false));
    documents
        .next()
        .unwrap_or(Sniffed::certain("application/vnd.hp-pcl"))
}

fn has_comments(bytes: &[u8]) -> bool {
    text::lines(bytes)
        .skip(1)
        .any(|line| line.starts_with(b"%%"))
}

fn has_definitions(bytes: &[u8]) -> bool {
    let mut words = bytes.split(|byte| byte.is_ascii_whitespace());
    words.any(|word| word == b"def" || word == b"bind")
}

const POSTSCRIPT: Sniffed = Sniffed::certain("application/postscript");
/// The "universal exit language" that begins every job.
const LANGUAGE_SWITCH: &[u8] = b"\x1B%-12345X";
const FIRST: usize = 1024;
