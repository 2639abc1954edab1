//! The usual record, read at one go: it lies whole in memory, and nothing in it has to be mended.
//!
//! Everything else is left to `record`, which begins with the record anew: what does not lie whole in
//! memory, comments, sections of CDATA, and all that is wrong. What is given here would be given
//! there as well, byte for byte; only later, because there the pieces come one by one.

use std::ops::Range;

use memchr::memmem;

use super::attributes::Attributes;
use super::draft::{Draft, Field};
use super::namespaces::{declared_prefix, prefix};
use super::page::{Begun, Declaration, PageReader};
use super::references::{mend_value, resolve};
use crate::Error;

impl PageReader {
    /// Takes what is between the tags of the record or bare header that was just entered. `false` if
    /// that is not so easy; then nothing has happened.
    pub(super) fn plain_body(&mut self, bare: bool) -> Result<bool, Error> {
        if self.draft.fault.is_some() || self.piece_by_piece {
            return Ok(false);
        }
        let depth = self.open.len();
        let end = loop {
            match self.scan(bare, depth) {
                Some(end) => break end,
                None if self.gather()? => {}
                None => return Ok(false),
            }
        };
        let block = self.xml.get_ref().buffered();
        if !bare {
            self.draft.whole = Some(self.assemble(&block[..end]));
        }
        self.skipped += end as u64;
        self.xml.get_mut().skip(end);
        Ok(true)
    }

    /// Where the end tag begins of the record that was just entered.
    fn scan(&mut self, bare: bool, depth: usize) -> Option<usize> {
        self.draft.open.clear();
        let end = Scan {
            block: self.xml.get_ref().buffered(),
            at: 0,
            depth,
            room: self.rules.depth_limit.saturating_sub(depth),
            fields: bare.then_some(0),
            draft: &mut self.draft,
            outer: &self.outer,
        }
        .run(self.open.top().as_bytes());
        let end = end.filter(|end| *end <= self.rules.record_limit);
        if end.is_none() {
            self.draft.forget(depth);
        }
        end
    }

    /// Gets more of a record into memory whose end is not there yet; whether there is more now.
    fn gather(&mut self) -> Result<bool, Error> {
        let block = self.xml.get_ref().buffered();
        let tag = format!("</{}>", self.open.top());
        if block.len() >= MOST_GATHERED || memmem::find(block, tag.as_bytes()).is_some() {
            return Ok(false);
        }
        let extended = self.xml.get_mut().extend();
        extended.map_err(|error| self.unreadable(&error))
    }

    /// Where the start tag of the next record lies in memory, if it is the same as that of the record whose end tag comes
    /// next, and nothing but blank space is between them.
    pub(super) fn next_tag(&self) -> Option<Range<usize>> {
        let Draft {
            name, attributes, ..
        } = &self.draft;
        let block = self.xml.get_ref().buffered();
        let ended = block.strip_prefix(b"</")?.strip_prefix(name.as_bytes())?;
        let tag = ended.strip_prefix(b">")?.trim_ascii_start();
        let rest = tag.strip_prefix(b"<")?.strip_prefix(name.as_bytes())?;
        let rest = rest
            .strip_prefix(attributes.as_bytes())?
            .strip_prefix(b">")?;
        Some(block.len() - tag.len()..block.len() - rest.len())
    }

    /// Goes on behind the start tag of the next record. For the parser it is still the same element.
    pub(super) fn pass_on(&mut self, tag: Range<usize>, bare: bool) {
        self.begun = Some(Begun {
            start: self.position() + tag.start as u64,
            bare,
        });
        self.skipped += tag.end as u64;
        let text = self.xml.get_mut();
        text.skip(tag.end);
        text.next_event();
    }
}

/// A look at what lies in memory behind the start tag of a record. All of it is UTF-8.
struct Scan<'a> {
    block: &'a [u8],
    at: usize,
    /// How many elements are open, with the record itself.
    depth: usize,
    /// How many more may be.
    room: usize,
    /// How many elements are open within the record where the fields of its header stand.
    fields: Option<usize>,
    draft: &'a mut Draft,
    outer: &'a [Declaration],
}

impl Scan<'_> {
    /// Where the end tag of the record begins; `None` if it is not to be read at one go.
    fn run(mut self, record: &[u8]) -> Option<usize> {
        loop {
            self.text()?;
            if self.usual_field() {
                continue;
            }
            let tag = self.at;
            match self.block.get(tag + 1)? {
                b'/' => {
                    let open = self.draft.open.pop();
                    let name = open.clone().map_or(record, |name| &self.block[name]);
                    let rest = self.block[tag + 2..].strip_prefix(name)?;
                    if rest.first() != Some(&b'>') {
                        return None;
                    }
                    self.at = tag + name.len() + 3;
                    if open.is_none() {
                        return Some(tag);
                    }
                    self.leave();
                }
                b'!' | b'?' => return None,
                _ => self.start_tag()?,
            }
        }
    }

    /// Takes a field of the header as it nearly always is: without attributes, and nothing in its text to resolve. `false`
    /// if it is not so, or none.
    fn usual_field(&mut self) -> bool {
        let level = self.draft.open.len();
        if self.fields != Some(level) || level >= self.room {
            return false;
        }
        let rest = &self.block[self.at..];
        let found = FIELDS.iter().find_map(|(start, end, field)| {
            let text = rest.strip_prefix(*start)?;
            let length = memchr::memchr3(b'<', b'&', b']', text)?;
            let whole = start.len() + length + end.len();
            text[length..]
                .starts_with(end)
                .then_some((&text[..length], *field, whole))
        });
        let Some((text, field, length)) = found else {
            return false;
        };
        let Ok(text) = str::from_utf8(text) else {
            return false;
        };
        self.draft.set_field(field, text);
        self.at += length;
        true
    }

    /// Goes over text, up to the next `<`.
    fn text(&mut self) -> Option<()> {
        let mut start = self.at;
        if self.block.get(start) == Some(&b'<') {
            return Some(());
        }
        loop {
            let found = self.at + memchr::memchr3(b'<', b'&', b']', &self.block[self.at..])?;
            self.at = found;
            match self.block[found] {
                b'<' => return self.field_text(start..found),
                b'&' => {
                    let rest = &self.block[found + 1..];
                    let length = rest.iter().take(LONGEST).position(|byte| *byte == b';')?;
                    let character = resolve(str::from_utf8(&rest[..length]).ok()?)?;
                    self.field_text(start..found)?;
                    self.draft.field_text(character.encode_utf8(&mut [0; 4]));
                    self.at = found + length + 2;
                    start = self.at;
                }
                _ if self.block[found..].starts_with(b"]]>") => return None,
                _ => self.at += 1,
            }
        }
    }

    fn field_text(&mut self, range: Range<usize>) -> Option<()> {
        if self.draft.field.is_some() {
            let text = str::from_utf8(&self.block[range]).ok()?;
            self.draft.field_text(text);
        }
        Some(())
    }

    /// Notes that an element within the record has ended.
    fn leave(&mut self) {
        let level = self.draft.open.len();
        self.draft.namespaces.leave(self.depth + level);
        match self.fields {
            Some(fields) if fields == level => self.draft.end_field(),
            // A second header would be of another record.
            Some(1) if level == 0 => self.fields = Some(usize::MAX),
            _ => {}
        }
    }

    fn start_tag(&mut self) -> Option<()> {
        let (name, colon) = self.name(self.at + 1)?;
        let level = self.draft.open.len();
        let (end, empty) = match self.block[name.end] {
            b'>' => (name.end, false),
            _ => self.attributes(name.end, level)?,
        };
        let local = match colon {
            Some(colon) => {
                self.check_prefix(&self.block[name.start..colon])?;
                &self.block[colon + 1..name.end]
            }
            None => &self.block[name.clone()],
        };
        self.at = end + if empty { 2 } else { 1 };
        let is_header = level == 0 && self.fields.is_none() && local == b"header";
        if empty {
            self.draft.namespaces.leave(self.depth + level);
            return (!is_header).then_some(());
        }
        if self.fields == Some(level) {
            self.draft.begin_field(local);
        } else if is_header {
            self.fields = Some(1);
            let attributes = str::from_utf8(&self.block[name.end..end]).ok()?;
            self.draft.status(attributes);
        }
        self.draft.open.push(name);
        (level < self.room).then_some(())
    }

    /// The name that begins at an offset, and where its colon is.
    fn name(&self, start: usize) -> Option<(Range<usize>, Option<usize>)> {
        let bytes = self.block.get(start..)?;
        let mut colon = None;
        let mut length = 0;
        for byte in bytes {
            match KINDS[usize::from(*byte)] {
                OTHER => break,
                COLON if colon.is_some() => return None,
                COLON => colon = Some(start + length),
                _ => {}
            }
            length += 1;
        }
        let end = start + length;
        let legal = KINDS[usize::from(*bytes.first()?)] == START
            && colon != Some(end - 1)
            && length < bytes.len();
        legal.then_some((start..end, colon))
    }

    /// Checks what stands in a tag behind its name. Gives where that ends, and whether the element is
    /// an empty one.
    fn attributes(&mut self, start: usize, level: usize) -> Option<(usize, bool)> {
        let close = self.close_of_tag(start)?;
        let empty = self.block[close - 1] == b'/';
        let end = if empty { close - 1 } else { close };
        let raw = &self.block[start..end];
        if raw.is_empty() {
            return Some((end, empty));
        }
        let Draft {
            usual, namespaces, ..
        } = &mut *self.draft;
        usual.check(raw)?;
        for prefix in usual.declared() {
            namespaces.declare(self.depth + level + 1, prefix);
        }
        for prefix in self.draft.usual.used() {
            self.check_prefix(prefix.as_bytes())?;
        }
        Some((end, empty))
    }

    /// Where the `>` of a tag is.
    fn close_of_tag(&self, start: usize) -> Option<usize> {
        let mut at = start;
        loop {
            let found = at + memchr::memchr3(b'>', b'"', b'\'', &self.block[at..])?;
            let mark = self.block[found];
            if mark == b'>' {
                return Some(found);
            }
            at = found + 2 + memchr::memchr(mark, &self.block[found + 1..])?;
        }
    }

    fn check_prefix(&self, prefix: &[u8]) -> Option<()> {
        let declared = self.draft.namespaces.contains(prefix)
            || self.outer.iter().any(|o| o.prefix.as_bytes() == prefix)
            || prefix == b"xml";
        declared.then_some(())
    }
}

/// The attributes of a tag as it stands in one record after the other.
#[derive(Debug, Default)]
pub(super) struct Usual {
    raw: String,
    attributes: Attributes,
}

impl Usual {
    /// Finds the attributes; `None` if something has to be mended. What was found the last time is
    /// found again without a look.
    fn check(&mut self, raw: &[u8]) -> Option<()> {
        if self.raw.as_bytes() == raw {
            return Some(());
        }
        self.raw.clear();
        let raw = str::from_utf8(raw).ok()?;
        self.attributes.parse(raw).ok()?;
        for (_, value) in self.attributes.iter(raw) {
            if memchr::memchr2(b'&', b'<', value.as_bytes()).is_some()
                && mend_value(value).is_some()
            {
                return None;
            }
        }
        self.raw.push_str(raw);
        Some(())
    }

    /// The prefixes that the tag declares.
    fn declared(&self) -> impl Iterator<Item = &str> {
        let attributes = self.attributes.iter(&self.raw);
        attributes.filter_map(|(name, _)| declared_prefix(name))
    }

    /// The prefixes of other attributes.
    fn used(&self) -> impl Iterator<Item = &str> {
        let attributes = self.attributes.iter(&self.raw);
        attributes
            .filter(|(name, _)| declared_prefix(name).is_none())
            .filter_map(|(name, _)| prefix(name))
    }
}

/// The fields of a header: start tag, end tag, which.
const FIELDS: [(&[u8], &[u8], Field); 3] = [
    (b"<identifier>", b"</identifier>", Field::Identifier),
    (b"<datestamp>", b"</datestamp>", Field::Datestamp),
    (b"<setSpec>", b"</setSpec>", Field::SetSpec),
];

/// What a byte can be in a name.
const KINDS: [u8; 256] = {
    let mut kinds = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => START,
            b'0'..=b'9' | b'-' | b'.' => INNER,
            b':' => COLON,
            _ => OTHER,
        };
        byte += 1;
    }
    kinds
};
const START: u8 = 0;
const INNER: u8 = 1;
const COLON: u8 = 2;
const OTHER: u8 = 3;

/// No reference that XML knows is longer.
const LONGEST: usize = 16;
/// A record that is longer is read piece by piece.
const MOST_GATHERED: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::super::{PageReader, ReadRules};
    use crate::read::Found;

    /// Gives a few bytes at a time, so that no record lies whole in memory at first.
    struct Drip(std::io::Cursor<Vec<u8>>);

    impl std::io::Read for Drip {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let length = out.len().min(7);
            self.0.read(&mut out[..length])
        }
    }

    fn read(body: Box<dyn std::io::Read + Send>, piece_by_piece: bool) -> String {
        let mut reader = PageReader::open(body, false, None, ReadRules::default()).unwrap();
        reader.piece_by_piece = piece_by_piece;
        let mut seen = String::new();
        loop {
            match reader.next() {
                Ok(Some(Found::Record(record))) => {
                    seen.push_str(&format!("{:?}\n", record.header));
                    seen.push_str(std::str::from_utf8(&record.xml).unwrap());
                }
                Ok(Some(found)) => seen.push_str(&format!("{found:?}")),
                Ok(None) => break,
                Err(error) => {
                    seen.push_str(&error.to_string());
                    break;
                }
            }
            seen.push('\n');
        }
        let report = reader.report();
        format!(
            "{seen}{} bytes, {:?}, {:?}",
            report.bytes, report.quirks, report.token
        )
    }

    const HEADER: &str = "<header><identifier>a:1</identifier><datestamp>2020-01-01</datestamp>\
        <setSpec>x</setSpec><setSpec>y</setSpec></header>";

    #[test]
    fn what_is_read_at_one_go_is_what_is_read_piece_by_piece() {
        let contents = [
            "<m:a><m:b>é</m:b><m:b/></m:a>",
            "<m:a m:b=\"&amp;c\" d='e>\"'>&lt;&#233;&#xe9;]]]</m:a >",
            "<q:a xmlns:q=\"u\" q:b='1'><q:c/></q:a><q:d/>",
            "<a><header status=\"deleted\"><identifier>b:2</identifier></header></a>",
            "<a xmlns=''/><!-- b --><![CDATA[<c>]]><?d e?>",
            "<a b='1' b='2'/>",
            "<a b=1/>",
            "<a b='<'/>",
            "<a b='&c;'/>",
            "<a>&nbsp;</a>",
            "<a>R&D; & more</a>",
            "<a>]]></a>",
            "<a><b></a></b>",
            "<1a/>",
            "<a:b:c/>",
            "<a:/>",
            "<:a/>",
            "<a/b>",
            "<a",
            "<a b='",
            "</metadata><header><identifier>c:3</identifier></header><metadata>",
            "\u{1}",
        ];
        for content in contents {
            for record in [
                format!("<record>{HEADER}<metadata>{content}</metadata></record>"),
                format!("<record m:x='1'>{content}{HEADER}</record>"),
                format!("<record><header status='deleted'/>{HEADER}{content}</record>"),
                format!("<o:record xmlns:o='u'>{HEADER}{content}</o:record>"),
                format!(
                    "<header status='deleted'><identifier>&amp;{content}</identifier></header>"
                ),
                format!("<record>{HEADER}{}", content.repeat(3)),
            ] {
                let page = format!(
                    "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\" xmlns:m=\"v\">\
                     <ListRecords>{record}\n{record}{record}<record>{HEADER}</record>{record}\
                     <resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>"
                );
                let whole = std::io::Cursor::new(page.into_bytes());
                let drip = || Box::new(Drip(whole.clone()));
                let pieces = read(drip(), true);
                assert_eq!(read(Box::new(whole.clone()), false), pieces, "{record}");
                assert_eq!(read(drip(), false), pieces, "{record}");
            }
        }
    }
}
