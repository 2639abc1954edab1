//! Characters that are drawn one by one, put together to words and lines.

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Vec2};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
};

/// The lines of a page.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    /// Where the last character ended, and how large it was.
    last: Option<(Point, f64)>,
    /// Whether a word of which the first half stood in the line before is being completed; its end is that of the line.
    in_halves: bool,
}

impl Lines {
    pub(super) fn text(&self) -> &str {
        self.text.trim_end()
    }

    /// Adds what a character stands for. `place` is where an em of its font lies on the page, `advance` how many
    /// thousandths of it the next one is away.
    fn add(&mut self, said: &str, place: Affine, advance: f64) {
        let start = place * Point::ZERO;
        let along = place * Point::new(EM, 0.0) - start;
        let size = (place * Point::new(0.0, EM) - start).hypot();
        if !(start.is_finite() && along.is_finite() && size.is_finite()) {
            return;
        }
        if let Some((end, before)) = self.last {
            let goes_on = said.starts_with(char::is_lowercase);
            self.separate(start - end, along, size.max(before), goes_on);
        }
        match said.trim().is_empty() {
            true => self.end_word(),
            false => self.text.push_str(said),
        }
        self.last = Some((start + along * (advance / EM), size));
    }

    /// Sets apart what does not follow at once. Raised and lowered characters stay in their line.
    fn separate(&mut self, gap: Vec2, along: Vec2, size: f64, goes_on: bool) {
        let length = along.hypot();
        if length == 0.0 || size == 0.0 {
            return;
        }
        let forward = gap.dot(along) / length;
        let aside = gap.cross(along).abs() / length;
        let is_other_line = aside > LINE * size || forward < -BACK * size;
        match () {
            () if is_other_line => self.end_line(goes_on, aside > PARAGRAPH * size),
            () if forward > SPACE * size => self.end_word(),
            () => {}
        }
    }

    fn end_word(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            let is_end_of_line = std::mem::take(&mut self.in_halves);
            self.text.push(if is_end_of_line { '\n' } else { ' ' });
        }
    }

    fn end_line(&mut self, goes_on: bool, is_paragraph: bool) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        let half = self.text.strip_suffix('-');
        let half = half.filter(|half| half.ends_with(char::is_lowercase));
        if let Some(half) = half.filter(|_| goes_on) {
            self.text.truncate(half.len());
            self.in_halves = true;
            return;
        }
        self.in_halves = false;
        let end = if is_paragraph { "\n\n" } else { "\n" };
        if !self.text.is_empty() && !self.text.ends_with(end) {
            self.text.push_str(end);
        }
    }
}

impl Device<'_> for Lines {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            let advance = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let place = props.transform * glyph.transform();
            let advance = f64::from(advance.unwrap_or(USUAL));
            let mut single = [0; 4];
            match glyph.as_unicode() {
                Some(BfString::Char(said)) => {
                    self.add(said.encode_utf8(&mut single), place, advance);
                }
                Some(BfString::String(said)) => self.add(&said, place, advance),
                None => self.add("\u{FFFD}", place, advance),
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// Fonts are measured in thousandths of their size.
const EM: f64 = 1000.0;
/// Half an em, where a font does not say.
const USUAL: f32 = 500.0;
/// Parts of the size of a character: what is further away is another word, another line, another paragraph.
const SPACE: f64 = 0.15;
const LINE: f64 = 0.6;
const PARAGRAPH: f64 = 1.8;
/// Kerning goes back a little, a new column or line much.
const BACK: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of characters that are half as wide as high, ten units high.
    fn write(lines: &mut Lines, text: &str, x: f64, y: f64) {
        for (at, character) in text.chars().enumerate() {
            let place = Affine::translate((x + 5.0 * at as f64, y)) * Affine::scale(0.01);
            lines.add(&character.to_string(), place, 500.0);
        }
    }

    #[test]
    fn words_lines_and_paragraphs_are_told_by_their_distance() {
        let mut lines = Lines::default();
        write(&mut lines, "Two", 50.0, 700.0);
        write(&mut lines, "words", 70.0, 700.0);
        write(&mut lines, "2", 95.0, 704.0);
        write(&mut lines, "below", 50.0, 688.0);
        write(&mut lines, "and  far", 50.0, 600.0);

        assert_eq!(lines.text(), "Two words2\nbelow\n\nand far");
    }

    #[test]
    fn words_in_halves_are_made_whole() {
        let mut lines = Lines::default();
        write(&mut lines, "a line with half an exam-", 50.0, 700.0);
        write(&mut lines, "ple of it, by Levi-", 50.0, 688.0);
        write(&mut lines, "Civita", 50.0, 676.0);

        assert_eq!(
            lines.text(),
            "a line with half an example\nof it, by Levi-\nCivita"
        );
    }

    #[test]
    fn what_has_no_place_or_size_is_survived() {
        let mut lines = Lines::default();
        for scale in [0.0, f64::NAN, f64::INFINITY, 1e300] {
            lines.add("a", Affine::scale(scale), f64::NAN);
            lines.add("b", Affine::translate((scale, scale)), 500.0);
        }
        assert!(lines.text().contains('b'));
    }
}
