//! Writes text: white space is one space, lines begin where blocks do, and references become characters.

#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
    /// The blank that is to stand before the next character.
    gap: Gap,
    is_preformatted: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

impl Writer {
    pub(super) fn line(&mut self) {
        self.gap = self.gap.max(Gap::Line);
    }

    pub(super) fn paragraph(&mut self) {
        self.gap = self.gap.max(Gap::Paragraph);
    }

    pub(super) fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    pub(super) fn preformatted(&mut self, is_preformatted: bool) {
        self.is_preformatted = is_preformatted;
    }

    pub(super) fn text(&mut self, text: &str) {
        // The end of a section that is text as it stands.
        for part in text.split("]]>") {
            for character in htmlize::unescape(part).chars() {
                self.character(character);
            }
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn character(&mut self, character: char) {
        match character {
            '\n' if self.is_preformatted => {
                self.fill_gap();
                self.text.push('\n');
            }
            ' ' | '\t' if self.is_preformatted => {
                self.fill_gap();
                self.text.push(character);
            }
            ' ' | '\t' | '\n' | '\r' | '\x0C' => self.space(),
            character => {
                self.fill_gap();
                self.text.push(character);
            }
        }
    }

    fn fill_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if self.text.is_empty() {
            return;
        }
        self.text.push_str(match gap {
            Gap::None => "",
            Gap::Space => " ",
            Gap::Line => "\n",
            Gap::Paragraph => "\n\n",
        });
    }
}
