//! Whether the pages of a PDF document show something: where there is no text, that tells scans from blank pages.
//!
//! Most scans tell by the list of their images, which is made without decoding any. Only if that leaves doubts, pages are
//! drawn.

use super::engine::Engine;
use super::work::{Call, Input, Work, arguments};
use process::{End, Output};

/// Whether something can be seen on the first pages. Where they cannot be drawn, something is taken to be there.
pub(super) fn shows_something(work: &Work<'_>, input: &Input) -> bool {
    has_an_image(work, input) || is_drawn(work, input)
}

/// Whether the first page has an image that is not blank.
fn has_an_image(work: &Work<'_>, input: &Input) -> bool {
    if !work.has(Engine::Pdfimages) {
        return false;
    }
    let Ok(bytes) = input.bytes() else {
        return false;
    };
    let call = Call {
        arguments: arguments(["-list", "-f", "1", "-l", "1", "-"]),
        input: Some(bytes),
        output: Output::Kept(MOST_LISTED),
        directory: None,
    };
    match work.run(Engine::Pdfimages, call) {
        // A page of so many images, each a letter perhaps, is not blank.
        Ok(ended) if ended.end == End::TooMuchPrinted => true,
        Ok(ended) => lists_an_image(&String::from_utf8_lossy(&ended.printed)),
        Err(_) => false,
    }
}

/// Whether an image of a list has more data than a blank one of its size would have.
fn lists_an_image(list: &str) -> bool {
    list.lines().skip(LIST_HEAD).any(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let (Some(&kind), Some(&encoding)) = (columns.get(2), columns.get(8)) else {
            return false;
        };
        let ratio = columns.last().and_then(|last| last.strip_suffix('%'));
        let Some(ratio) = ratio.and_then(|ratio| ratio.parse::<f32>().ok()) else {
            return false;
        };
        let pixels = |at: usize| columns.get(at).and_then(|count| count.parse::<u64>().ok());
        let pixels = pixels(3).unwrap_or_default() * pixels(4).unwrap_or_default();
        let blank = match encoding {
            "ccitt" | "jbig2" => BLANK_SCAN,
            _ => BLANK,
        };
        // The image before it says which parts are transparent. A hardly compressed one tells nothing.
        let is_image = !matches!(kind, "smask" | "mask") && pixels >= LARGE;
        is_image && (blank..NOT_COMPRESSED).contains(&ratio)
    })
}

/// Whether something can be seen when the first pages are drawn.
fn is_drawn(work: &Work<'_>, input: &Input) -> bool {
    let Ok(bytes) = input.bytes() else {
        return true;
    };
    // As thumbnails: whatever size a page claims to have, these are small.
    let call = Call {
        arguments: arguments(["-gray", "-scale-to", "200", "-f", "1", "-l", "3", "-"]),
        input: Some(bytes),
        output: Output::Kept(MOST_BYTES),
        directory: None,
    };
    match work.run(Engine::Pdftoppm, call) {
        Ok(ended) => !is_blank(&ended.printed),
        Err(_) => true,
    }
}

/// Whether images in the format PGM, one behind the other, have one shade of grey each.
fn is_blank(mut printed: &[u8]) -> bool {
    let mut images = 0;
    while let Some((pixels, rest)) = next_image(printed) {
        let (least, most) = pixels.iter().fold((u8::MAX, 0), |(least, most), pixel| {
            (least.min(*pixel), most.max(*pixel))
        });
        if most.saturating_sub(least) > NOISE {
            return false;
        }
        images += 1;
        printed = rest;
    }
    images > 0
}

/// The pixels of the first image, and what follows it.
fn next_image(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = bytes.strip_prefix(b"P5")?;
    let mut number = || -> Option<usize> {
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let length = rest[start..]
            .iter()
            .position(|byte| !byte.is_ascii_digit())?;
        let digits = std::str::from_utf8(&rest[start..start + length]).ok()?;
        rest = &rest[start + length..];
        digits.parse().ok()
    };
    let (width, height, _depth) = (number()?, number()?, number()?);
    let pixels = rest.get(1..)?;
    pixels.split_at_checked(width.checked_mul(height)?)
}

/// A line for each of about 170 images.
const MOST_LISTED: usize = 16 * 1024;
/// Titles and a rule.
const LIST_HEAD: usize = 2;
/// As many pixels a page has that can be read: of small images, what is left is mostly their head.
const LARGE: u64 = 250_000;
/// The size of a blank image, in percent of its pixels: of JPEG the end of each block, of a run its length.
const BLANK: f32 = 2.0;
/// Formats for scans leave hardly anything.
const BLANK_SCAN: f32 = 0.3;
const NOT_COMPRESSED: f32 = 90.0;
const MOST_BYTES: usize = 1024 * 1024;
/// Compression leaves traces that nobody sees.
const NOISE: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_told_from_blank_ones_by_what_is_left_of_them() {
        let lists = |lines: &str| {
            let head = "page   num  type   width height color comp bpc  enc interp  object ID x-ppi y-ppi size ratio\n----\n";
            lists_an_image(&format!("{head}{lines}"))
        };
        let scan = "   1     0 image    2560  3300  gray    1   1  jbig2  no         4  0   300   300 11.1K 1.1%\n";
        let photograph = "   1     0 image    1280  1632  gray    1   8  jpeg   no         1  0   151   148  142K 6.9%\n";
        assert!(lists(scan) && lists(photograph));

        let blank = "   1     0 image    2560  3300  gray    1   1  ccitt  no         4  0   300   300  420B 0.0%\n";
        let white = "   1     0 image    1280  1632  gray    1   8  jpeg   no         1  0   151   148 25.1K 1.2%\n";
        let mask = "   1     1 smask    2550  3300  gray    1   8  image  yes        7  0   300   300 35.9K 0.4%\n";
        let letter = "   1     0 stencil    81    77  -       1   1  ccitt  no   [inline]     720   720    0B 0.0%\n";
        let dot = "   1     0 image       1     1  gray    1   8  image  no         4  0     1     1    9B 900%\n";
        for doubtful in [blank, white, mask, letter, dot, "", "Syntax Error\n"] {
            assert!(!lists(doubtful), "{doubtful}");
        }
        assert!(lists(&format!("{blank}{white}{scan}")));
    }

    #[test]
    fn blank_pages_are_told_from_others() {
        let blank = b"P5\n2 2\n255\n\xFF\xFF\xFF\xFE".to_vec();
        let drawn = b"P5\n2 2\n255\n\xFF\xFF\x00\xFF".to_vec();
        assert!(is_blank(&blank));
        assert!(!is_blank(&[blank.clone(), drawn].concat()));
        assert!(is_blank(&[blank.clone(), blank].concat()));
    }

    #[test]
    fn what_is_no_image_is_not_blank() {
        for bytes in [
            &b""[..],
            b"P5",
            b"P5\n2 2\n255",
            b"P5\n99999999999999999999 2\n255\n",
            b"P5\n18446744073709551615 2\n255\n....",
        ] {
            assert!(!is_blank(bytes));
        }
    }
}
