//! Whether the pages of a PDF document show something: where there is no text, that tells scans from blank pages.

use super::engine::Engine;
use super::work::{Call, Input, Work, arguments};
use crate::confine::Output;

/// Whether something can be seen on the first pages. Where they cannot be drawn, something is taken to be there.
pub(super) fn shows_something(work: &Work<'_>, input: &Input) -> bool {
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

const MOST_BYTES: usize = 1024 * 1024;
/// Compression leaves traces that nobody sees.
const NOISE: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

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
