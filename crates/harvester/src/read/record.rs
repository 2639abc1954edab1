//! One record inside of an answer: copied as it is written, checked on the way.
//!
//! A fault that leaves the structure whole (a wrong character, an unknown entity, an attribute twice)
//! costs this record only. Tags that do not fit end the page, unless records may be mended: then the
//! record is mended as a whole or given up, and reading goes on behind it.

use memchr::memmem;
use quick_xml::events::{BytesStart, Event};
use rules::repair::repair;
use rules::xml::Limits;

use super::attributes::is_name;
use super::entities::escaped;
use super::namespaces::{OAI, WELL_KNOWN, declared_prefix, local, prefix};
use super::page::{PageItem, PageReader, doctype, mismatch};
use super::references::{mend_value, mended, resolve};
use super::text::FaultKind;
use super::values::{find_places, note_places};
use super::{Leniency, ReadRules};
use crate::Quirk;
use crate::buffers::Buffer;
use crate::error::Error;
use crate::record::{LeftOut, Record};
use crate::unpack::SpooledValue;

impl PageReader {
    /// Reads the record, or bare header, whose start tag was just entered.
    pub(super) fn record(
        &mut self,
        start: u64,
        empty: bool,
        bare: bool,
        buffer: &mut Vec<u8>,
    ) -> Result<PageItem, Error> {
        drop(self.xml.get_mut().faults_before(start));
        let depth = self.open.len();
        if !self.draft.is_plain {
            self.check_own_tag(depth);
        }
        let plain = match empty {
            true => {
                self.open.pop();
                false
            }
            false => self.plain_body(bare)?,
        };
        if bare {
            let attributes = std::mem::take(&mut self.draft.attributes);
            self.draft.status(&attributes);
            self.draft.attributes = attributes;
        }
        if let Some(next) = plain.then(|| self.next_tag()).flatten() {
            let found = self.finish(start, bare);
            self.pass_on(next, bare);
            self.note(&found);
            return Ok(found);
        }
        let raw = match plain || bare || empty {
            true => None,
            false => self.raw_body(),
        };
        let mut in_header = bare.then_some(depth);
        while self.open.len() >= depth {
            self.record_event(depth, &mut in_header, buffer)?;
        }
        let found = self.finish(start, bare);
        let repaired = match (&found, raw) {
            (PageItem::LeftOut(_), Some(raw)) => self.repaired(&raw),
            _ => None,
        };
        let found = repaired.unwrap_or(found);
        self.note(&found);
        Ok(found)
    }

    /// Checks the tag of the record itself.
    fn check_own_tag(&mut self, depth: usize) {
        let attributes = std::mem::take(&mut self.draft.attributes);
        let name = std::mem::take(&mut self.draft.name);
        let mended = self.check_tag(&name, &attributes, depth);
        self.draft.attributes = mended.unwrap_or(attributes);
        self.draft.name = name;
    }

    /// Counts a record that has to be left out as an oddity.
    fn note(&mut self, found: &PageItem) {
        if matches!(found, PageItem::LeftOut(_)) {
            self.report.quirks.add(Quirk::RecordLeftOut);
        }
    }

    /// The bytes up to the end tag of a record that may be mended as a whole, if they lie in memory.
    fn raw_body(&self) -> Option<Vec<u8>> {
        let block = self.xml.get_ref().buffered().as_bytes();
        let tag = format!("</{}>", self.draft.name);
        let may_be = self.rules.leniency == Leniency::Repair && self.draft.fault.is_none();
        let end = may_be
            .then(|| memmem::find(block, tag.as_bytes()))
            .flatten();
        let places: Vec<_> = self.draft.values.iter().map(SpooledValue::at).collect();
        note_places(&block[..end?], &places)
    }

    /// A record that could not be mended piece by piece, mended as a whole.
    fn repaired(&mut self, raw: &[u8]) -> Option<PageItem> {
        let (xml, _) = self.assemble(raw);
        let repaired = repair(&xml, &Limits::default()).ok()?;
        let page = format!(
            "<OAI-PMH xmlns=\"{OAI}\"><ListRecords>{}</ListRecords></OAI-PMH>",
            repaired.xml
        );
        let rules = ReadRules {
            leniency: Leniency::Strict,
            ..self.rules
        };
        let page = Box::new(std::io::Cursor::new(page.into_bytes()));
        let mut reader = PageReader::open(page, false, None, rules, Buffer::default()).ok()?;
        let Ok(Some(PageItem::Record(mut record))) = reader.next() else {
            return None;
        };
        record.values = std::mem::take(&mut self.draft.values);
        find_places(&mut record.xml, &mut record.values)?;
        self.report.quirks.add(Quirk::MarkupMended);
        record.repairs.push(Quirk::MarkupMended);
        self.last = Some(record.header.identifier.clone());
        Some(PageItem::Record(record))
    }

    fn record_event(
        &mut self,
        depth: usize,
        in_header: &mut Option<usize>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let limit = self.rules.record_limit;
        match self.pull(buffer)? {
            Event::Text(text) => self.record_text(&text),
            Event::Start(tag) => {
                self.start_tag(&tag, false);
                let level = self.open.len();
                let name = tag.name();
                let name = local(name.as_ref());
                if *in_header == Some(level) {
                    self.draft.begin_field(name.as_bytes());
                } else if level == depth && name == "header" && in_header.is_none() {
                    *in_header = Some(level + 1);
                    self.draft.status(tag.attributes_raw());
                }
                self.push(tag.name().as_ref())?;
            }
            Event::End(tag) => {
                let name = tag.name();
                let name: &str = name.as_ref();
                if self.open.top() != name {
                    return self.misfit(name);
                }
                self.open.pop();
                let level = self.open.len();
                if *in_header == Some(level) {
                    self.draft.end_field();
                }
                self.draft.namespaces.leave(level.max(depth));
                if level >= depth {
                    self.draft.write(&["</", name, ">"], limit);
                    // A second header would be of another record.
                    if level == depth && *in_header == Some(depth + 1) {
                        *in_header = Some(usize::MAX);
                    }
                }
            }
            Event::Empty(tag) => {
                self.start_tag(&tag, true);
                let level = self.open.len();
                let is_header = local(tag.name().as_ref()) == "header";
                if level == depth && is_header && in_header.is_none() {
                    self.draft.status(tag.attributes_raw());
                }
                self.draft.namespaces.leave(level);
            }
            Event::GeneralRef(name) => self.reference(&name),
            Event::CData(text) => {
                self.draft.write(&["<![CDATA[", &text, "]]>"], limit);
                self.draft.field_text(&text);
            }
            Event::Comment(text) => match text.contains("--") || text.ends_with('-') {
                true => self.draft.fail("a comment holds two hyphens"),
                false => self.draft.write(&["<!--", &text, "-->"], limit),
            },
            Event::PI(text) => self.draft.write(&["<?", &text, "?>"], limit),
            Event::Decl(_) => self.draft.fail("it holds an XML declaration"),
            Event::DocType(text) => return Err(doctype(&text).into()),
            Event::Eof => return Err(self.truncated()),
        }
        Ok(())
    }

    fn start_tag(&mut self, tag: &BytesStart<'_>, empty: bool) {
        let name = tag.name();
        let name: &str = name.as_ref();
        let raw = tag.attributes_raw();
        let level = self.open.len() + 1;
        let end = if empty { "/>" } else { ">" };
        let limit = self.rules.record_limit;
        match self.check_tag(name, raw, level) {
            None => self.draft.write(&["<", name, raw, end], limit),
            Some(mended) => self.draft.write(&["<", name, &mended, end], limit),
        }
    }

    /// Checks a tag; gives its attributes anew if they had to be mended.
    fn check_tag(&mut self, name: &str, raw: &str, level: usize) -> Option<String> {
        if !is_name(name.as_bytes()) {
            self.draft.fail("an element has an illegal name");
            return None;
        }
        let draft = &mut self.draft;
        let mut wrong = false;
        let mut prefixed = false;
        if !raw.is_empty() {
            if let Err(reason) = draft.tag.parse(raw) {
                draft.fail(reason);
                return None;
            }
            for (attribute, value) in draft.tag.iter(raw) {
                match declared_prefix(attribute) {
                    Some(prefix) => draft.namespaces.declare(level, prefix),
                    None => prefixed |= attribute.contains(':'),
                }
                wrong |= memchr::memchr2(b'&', b'<', value.as_bytes()).is_some()
                    && mend_value(value).is_some();
            }
        }
        if let Some(prefix) = prefix(name) {
            self.check_prefix(prefix);
        }
        if prefixed {
            self.check_prefixes(raw);
        }
        wrong.then(|| self.mend_attributes(raw)).flatten()
    }

    fn check_prefixes(&mut self, raw: &str) {
        let attributes = std::mem::take(&mut self.draft.tag);
        for (attribute, _) in attributes.iter(raw) {
            if declared_prefix(attribute).is_none()
                && let Some(prefix) = prefix(attribute)
            {
                self.check_prefix(prefix);
            }
        }
        self.draft.tag = attributes;
    }

    fn check_prefix(&mut self, prefix: &str) {
        let declared = self.draft.namespaces.contains(prefix.as_bytes())
            || self.outer.iter().any(|outer| outer.prefix == prefix)
            || prefix == "xml";
        if declared
            || self
                .draft
                .undeclared
                .iter()
                .any(|(known, _)| *known == prefix)
        {
            return;
        }
        let known = WELL_KNOWN.iter().find(|(known, _)| *known == prefix);
        match known {
            Some(known) if self.rules.leniency == Leniency::Repair => {
                self.draft.undeclared.push(*known);
                self.draft.repaired(Quirk::NamespaceDeclared);
            }
            _ => {
                let reason = format!("the namespace prefix `{prefix}` is not declared");
                self.draft.fail(reason);
            }
        }
    }

    fn mend_attributes(&mut self, raw: &str) -> Option<String> {
        let mut expanded = String::new();
        let mut is_right = true;
        for (attribute, value) in self.draft.tag.iter(raw) {
            let value = self
                .entities
                .expand(value)
                .unwrap_or_else(|| value.to_owned());
            is_right &= mend_value(&value).is_none();
            let value = value.replace('"', "&quot;");
            expanded.push_str(&format!(" {attribute}=\"{value}\""));
        }
        if is_right {
            return Some(expanded);
        }
        if self.rules.leniency == Leniency::Strict {
            self.draft
                .fail("an attribute holds a bare ampersand, an unknown entity or `<`");
            return None;
        }
        self.draft.repaired(Quirk::BareAmpersandEscaped);
        let mut mended = String::new();
        for (attribute, value) in self.draft.tag.iter(raw) {
            let value = mend_value(value).unwrap_or_else(|| value.to_owned());
            let value = value.replace('"', "&quot;");
            mended.push_str(&format!(" {attribute}=\"{value}\""));
        }
        Some(mended)
    }

    fn record_text(&mut self, text: &str) {
        let limit = self.rules.record_limit;
        self.draft.field_text(text);
        let bare = text.starts_with('&');
        let bracket = text.contains("]]>");
        if !bare && !bracket {
            self.draft.write(&[text], limit);
            return;
        }
        if self.rules.leniency == Leniency::Strict {
            self.draft.fail(match bare {
                true => "it holds a bare ampersand",
                false => "it holds `]]>` in text",
            });
            return;
        }
        self.draft.repaired(Quirk::BareAmpersandEscaped);
        let text = text.replace('&', "&amp;").replace("]]>", "]]&gt;");
        self.draft.write(&[&text], limit);
    }

    fn reference(&mut self, name: &str) {
        let limit = self.rules.record_limit;
        if let Some(c) = resolve(name) {
            self.draft.write(&["&", name, ";"], limit);
            self.draft.field_text(c.encode_utf8(&mut [0; 4]));
            return;
        }
        if let Some(text) = self.entities.text(name) {
            self.draft.write(&[&escaped(text)], limit);
            self.draft.field_text(text);
            return;
        }
        if self.rules.leniency == Leniency::Strict {
            let reason = format!("it holds `&{name};`, which XML does not know");
            self.draft.fail(reason);
            return;
        }
        self.draft.repaired(Quirk::EntityReplaced);
        let text = mended(name);
        self.draft.write(&[&text], limit);
        self.draft.field_text(&text);
    }

    /// An end tag that does not fit the innermost element.
    fn misfit(&mut self, name: &str) -> Result<(), Error> {
        let reason = mismatch(name);
        if self.rules.leniency == Leniency::Strict {
            let reason = match self.draft.header.identifier.as_str() {
                "" => reason,
                identifier => format!("{reason} in the record `{identifier}`"),
            };
            return Err(self.broken(&reason));
        }
        self.draft.fail(reason);
        // If an element around the records ends, so does this record.
        if let Some(outside) = self.open.depth_of(name) {
            self.open.truncate(outside);
            self.left_by_force();
        }
        Ok(())
    }

    fn finish(&mut self, start: u64, bare: bool) -> PageItem {
        let end = self.position();
        for fault in self.xml.get_mut().faults_before(end) {
            let (quirk, what) = match fault.kind {
                FaultKind::InvalidBytes => (
                    Quirk::InvalidBytesRepaired,
                    "bytes that do not belong to the encoding",
                ),
                FaultKind::IllegalCharacter => (
                    Quirk::IllegalCharactersReplaced,
                    "a character that XML forbids",
                ),
            };
            if self.rules.leniency == Leniency::Strict {
                self.draft
                    .fail(format!("it holds {what} at byte {}", fault.offset - start));
            } else {
                self.draft.repaired(quirk);
            }
        }
        if self.draft.header.identifier.is_empty() {
            self.draft.fail("it has no identifier");
        }
        let header = std::mem::take(&mut self.draft.header);
        if let Some(reason) = self.draft.fault.take() {
            let known = !header.identifier.is_empty();
            return PageItem::LeftOut(LeftOut {
                identifier: known.then_some(header.identifier),
                dates: None,
                reason,
            });
        }
        match &mut self.last {
            Some(last) => last.clone_from(&header.identifier),
            None => self.last = Some(header.identifier.clone()),
        }
        for repair in &self.draft.repairs {
            self.report.quirks.add(*repair);
        }
        if bare {
            return PageItem::Header(header);
        }
        let (xml, body) = match self.draft.whole.take() {
            Some(whole) => whole,
            None => self.assemble(&self.draft.body),
        };
        let mut values = std::mem::take(&mut self.draft.values);
        for value in &mut values {
            value.move_to(body + value.at());
        }
        PageItem::Record(Box::new(Record {
            header,
            xml,
            repairs: self.draft.repairs.clone(),
            values,
        }))
    }

    /// The record element around a body, with the declarations it needs to stand alone, and the offset of the body.
    pub(super) fn assemble(&self, body: &[u8]) -> (Vec<u8>, usize) {
        let draft = &self.draft;
        let name = draft.name.as_str();
        let mut xml = Vec::with_capacity(body.len() + 2 * name.len() + 256);
        let mut write = |parts: &[&str]| {
            for part in parts {
                xml.extend_from_slice(part.as_bytes());
            }
        };
        write(&["<", name]);
        let own = |prefix: &str| draft.namespaces.contains(prefix.as_bytes());
        if prefix(name).is_none() && !own("") {
            write(&[" xmlns=\"", OAI, "\""]);
        }
        for outer in &self.outer {
            let needed = match outer.prefix.as_str() {
                "" => prefix(name).is_some(),
                used => {
                    prefix(name) == Some(used)
                        || outer.uses.find(body).is_some()
                        || memmem::find(draft.attributes.as_bytes(), outer.uses.needle()).is_some()
                }
            };
            if needed && !own(&outer.prefix) {
                let colon = if outer.prefix.is_empty() { "" } else { ":" };
                write(&[
                    " xmlns",
                    colon,
                    &outer.prefix,
                    "=\"",
                    &outer.namespace,
                    "\"",
                ]);
            }
        }
        for (known, namespace) in &draft.undeclared {
            write(&[" xmlns:", known, "=\"", namespace, "\""]);
        }
        write(&[draft.attributes.trim_end(), ">"]);
        let begin = xml.len();
        xml.extend_from_slice(body);
        xml.extend_from_slice(b"</");
        xml.extend_from_slice(name.as_bytes());
        xml.push(b'>');
        (xml, begin)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Leniency, PageReader, ReadRules};
    use crate::buffers::Buffer;
    use crate::read::PageItem;

    #[test]
    fn what_is_wrong_in_the_tag_of_a_record_is_mended_there() {
        let page = "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><ListRecords>\
            <record note=\"R&D\"><header><identifier>a:1</identifier></header></record>\
            </ListRecords></OAI-PMH>";
        let rules = ReadRules {
            leniency: Leniency::Repair,
            ..ReadRules::default()
        };
        let body = Box::new(page.as_bytes());
        let mut reader = PageReader::open(body, false, None, rules, Buffer::default()).unwrap();

        let Some(PageItem::Record(record)) = reader.next().unwrap() else {
            panic!("there is a record");
        };

        let xml = String::from_utf8(record.xml).unwrap();
        assert!(xml.contains(" note=\"R&amp;D\">"), "{xml}");
        roxmltree::Document::parse(&xml).unwrap();
    }
}
