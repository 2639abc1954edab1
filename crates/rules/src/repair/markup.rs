//! The markup of a text: tags that fit, comments, sections.

use std::collections::HashSet;

use super::entities::{write_raw, write_text};
use super::tag::{Attribute, Tag, end_tag};
use super::{Kind, Tally};
use crate::xml::{Limits, Malformed};

pub(super) fn mend(text: &str, limits: &Limits, tally: &mut Tally) -> Result<String, Malformed> {
    let mut mending = Mending {
        text,
        at: 0,
        out: String::with_capacity(text.len() + 64),
        open: Vec::new(),
        root_end: None,
        declared: HashSet::new(),
        used: HashSet::new(),
        depth: limits.depth,
        last_close: text.rfind('>'),
        tally,
    };
    while mending.at < text.len() {
        mending.next()?;
    }
    mending.finish()
}

struct Mending<'a, 't> {
    text: &'a str,
    at: usize,
    out: String,
    open: Vec<&'a str>,
    /// Where in the outcome declarations can be added to the root element.
    root_end: Option<usize>,
    declared: HashSet<&'a str>,
    used: HashSet<&'a str>,
    depth: usize,
    /// The last `>` of the text.
    last_close: Option<usize>,
    tally: &'t mut Tally,
}

impl<'a> Mending<'a, '_> {
    fn next(&mut self) -> Result<(), Malformed> {
        let rest = &self.text[self.at..];
        if !rest.starts_with('<') {
            let end = rest.find('<').unwrap_or(rest.len());
            return self.characters(&rest[..end]);
        }
        if rest.starts_with("<!--") {
            return self.comment(rest);
        }
        if rest.starts_with("<![CDATA[") {
            return self.section(rest);
        }
        if rest.starts_with("<!DOCTYPE") {
            return self.document_type(rest);
        }
        if rest.starts_with("<?") {
            return self.instruction(rest);
        }
        if let Some((name, length)) = end_tag(rest) {
            self.at += length;
            self.close(name);
            return Ok(());
        }
        match Tag::read(rest) {
            Some(tag) => self.start(&tag),
            None => self.bracket(rest),
        }
    }

    /// A text up to the next `<`; outside of the root element there may be nothing but white space.
    fn characters(&mut self, text: &str) -> Result<(), Malformed> {
        if self.open.is_empty() && !text.trim().is_empty() {
            return Err(self.malformed("text outside of the root element"));
        }
        if !self.out.is_empty() {
            write_text(text, &mut self.out, self.tally);
        }
        self.at += text.len();
        Ok(())
    }

    /// A `<` that begins nothing. If the text ends within a tag, something is missing.
    fn bracket(&mut self, rest: &str) -> Result<(), Malformed> {
        let looks_like_tag = rest[1..].starts_with(|c: char| c.is_alphabetic() || c == '/');
        if self.open.is_empty() || (looks_like_tag && self.last_close < Some(self.at)) {
            return Err(self.malformed("a tag that does not end"));
        }
        write_text("<", &mut self.out, self.tally);
        self.at += 1;
        Ok(())
    }

    fn start(&mut self, tag: &Tag<'a>) -> Result<(), Malformed> {
        if self.open.is_empty() && self.root_end.is_some() {
            return Err(self.malformed("a second root element"));
        }
        if self.open.len() >= self.depth {
            return Err(self.malformed("elements are nested too deep"));
        }
        self.at += tag.length;
        self.out.push('<');
        self.out.push_str(tag.name);
        self.root_end.get_or_insert(self.out.len());
        self.use_prefix(tag.name);
        let mut names = HashSet::new();
        for attribute in &tag.attributes {
            match names.insert(attribute.name) {
                true => self.attribute(attribute),
                false => self.tally.add(Kind::RepeatedAttribute),
            }
        }
        if tag.empty {
            self.out.push_str("/>");
        } else {
            self.out.push('>');
            self.open.push(tag.name);
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute<'a>) {
        match attribute.name.strip_prefix("xmlns:") {
            Some(prefix) => {
                self.declared.insert(prefix);
            }
            None => self.use_prefix(attribute.name),
        }
        if attribute.quote.is_none() {
            self.tally.add(Kind::UnquotedAttribute);
        }
        let quote = attribute.quote.unwrap_or('"');
        self.out.push(' ');
        self.out.push_str(attribute.name);
        self.out.push('=');
        self.out.push(quote);
        let value = match attribute.quote {
            Some(_) => attribute.value.to_owned(),
            None => attribute.value.replace('"', "&quot;"),
        };
        write_text(&value, &mut self.out, self.tally);
        self.out.push(quote);
    }

    /// Closes an element, and those in it that were left open. An end tag that fits nothing is left out.
    fn close(&mut self, name: &str) {
        let Some(index) = self.open.iter().rposition(|open| *open == name) else {
            self.tally.add(Kind::StrayEndTag);
            return;
        };
        while self.open.len() > index {
            if self.open.len() > index + 1 {
                self.tally.add(Kind::UnclosedElement);
            }
            if let Some(open) = self.open.pop() {
                self.out.push_str("</");
                self.out.push_str(open);
                self.out.push('>');
            }
        }
    }

    fn comment(&mut self, rest: &str) -> Result<(), Malformed> {
        let Some(end) = rest.find("-->") else {
            return Err(self.malformed("a comment that does not end"));
        };
        let body = rest.get(4..end).unwrap_or("-");
        if body.contains("--") || body.ends_with('-') {
            self.tally.add(Kind::BrokenComment);
        } else {
            self.out.push_str("<!--");
            write_raw(body, &mut self.out, self.tally);
            self.out.push_str("-->");
        }
        self.at += end + 3;
        Ok(())
    }

    fn section(&mut self, rest: &str) -> Result<(), Malformed> {
        let Some(end) = rest.find("]]>") else {
            return Err(self.malformed("a CDATA section that does not end"));
        };
        write_raw(&rest[..end + 3], &mut self.out, self.tally);
        self.at += end + 3;
        Ok(())
    }

    fn instruction(&mut self, rest: &str) -> Result<(), Malformed> {
        let Some(end) = rest.find("?>") else {
            return Err(self.malformed("a processing instruction that does not end"));
        };
        let mut written = String::new();
        write_raw(&rest[..end + 2], &mut written, self.tally);
        let body = written.get(2..written.len() - 2).unwrap_or_default();
        // A declaration names the old encoding, and otherwise repeats the default.
        let is_declaration = body.split(char::is_whitespace).next() == Some("xml");
        if !is_declaration || !self.out.is_empty() {
            self.out.push_str(&written);
        }
        self.at += end + 2;
        Ok(())
    }

    /// Only one that declares nothing: what an entity stands for would be lost.
    fn document_type(&mut self, rest: &str) -> Result<(), Malformed> {
        let end = rest
            .find(['>', '['])
            .filter(|end| rest[*end..].starts_with('>'));
        let Some(end) = end else {
            return Err(self.malformed("a document type that declares something"));
        };
        self.tally.add(Kind::DocumentType);
        self.at += end + 1;
        Ok(())
    }

    fn use_prefix(&mut self, name: &'a str) {
        if let Some((prefix, _)) = name.split_once(':') {
            self.used.insert(prefix);
        }
    }

    fn finish(mut self) -> Result<String, Malformed> {
        if let Some(open) = self.open.last() {
            return Err(self.malformed(format!("the text ends inside of <{open}>")));
        }
        let Some(root_end) = self.root_end else {
            return Err(self.malformed("there is no element"));
        };
        let mut missing: Vec<_> = WELL_KNOWN
            .iter()
            .filter(|(prefix, _)| self.used.contains(prefix) && !self.declared.contains(prefix))
            .collect();
        missing.sort();
        for (prefix, uri) in missing {
            self.tally.add(Kind::UndeclaredPrefix);
            let declaration = format!(" xmlns:{prefix}=\"{uri}\"");
            self.out.insert_str(root_end, &declaration);
        }
        Ok(self.out)
    }

    fn malformed(&self, reason: impl Into<String>) -> Malformed {
        Malformed::at(self.text, self.at, reason)
    }
}

/// Prefixes that mean one thing wherever records are exchanged.
const WELL_KNOWN: [(&str, &str); 7] = [
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("didl", "urn:mpeg:mpeg21:2002:02-DIDL-NS"),
    ("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc/"),
    ("xlink", "http://www.w3.org/1999/xlink"),
    ("xsd", "http://www.w3.org/2001/XMLSchema"),
    ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
];
