//! Checks the XML a program printed and writes it anew, so that it can be put into another document.
//!
//! The parser is lenient in places; what it lets pass and the standards forbid is checked here. The new text has
//! no declaration, comments or processing instructions, and means the same whatever surrounds it.

use std::collections::HashSet;
use std::sync::LazyLock;

use oai::xml::is_legal;
use quick_xml::XmlVersion;
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesDecl, BytesPI, BytesRef, BytesStart, Event};
use quick_xml::name::{PrefixDeclaration, QName, ResolveResult};
use quick_xml::reader::NsReader;
use regex::Regex;
use thiserror::Error;

use super::output::without_byte_order_mark;

/// Writes a document anew as one element.
pub(super) fn rewrite(document: &str) -> Result<String, XmlProblem> {
    let document = without_byte_order_mark(document);
    if let Some(forbidden) = document.chars().find(|c| !is_legal(*c)) {
        return Err(XmlProblem::Character(forbidden.into()));
    }
    let mut reader = NsReader::from_str(document);
    reader.config_mut().check_comments = true;
    let mut rewriter = Rewriter::default();
    loop {
        let at_start = reader.buffer_position() == 0;
        match reader.read_event()? {
            Event::Start(start) => rewriter.start(&start, &reader, true)?,
            Event::Empty(start) => rewriter.start(&start, &reader, false)?,
            Event::End(end) => rewriter.end(end.name()),
            Event::Text(text) => rewriter.text(&text.xml10_content())?,
            Event::CData(text) => rewriter.cdata(&text.xml10_content())?,
            Event::GeneralRef(reference) => rewriter.reference(&reference)?,
            Event::Comment(_) => {}
            Event::PI(instruction) => check_instruction(&instruction)?,
            Event::Decl(declaration) => check_declaration(&declaration, at_start)?,
            Event::DocType(_) => return Err(XmlProblem::DocType),
            Event::Eof => return rewriter.finish(),
        }
    }
}

/// A document as one element that means the same wherever it stands; else why there is none.
pub(crate) fn standalone_element(document: &str) -> Result<String, String> {
    rewrite(document).map_err(|problem| problem.to_string())
}

/// Says why XML cannot be used.
#[derive(Debug, Error)]
pub(super) enum XmlProblem {
    #[error("{0}")]
    Parser(#[from] quick_xml::Error),
    #[error("the character U+{0:04X} is not allowed in XML")]
    Character(u32),
    #[error("it has a DOCTYPE; print the element alone")]
    DocType,
    #[error("an XML declaration may only stand at the very beginning")]
    LateDeclaration,
    #[error("the XML declaration is not well-formed")]
    Declaration,
    #[error("`{0}` is not a name")]
    Name(String),
    #[error("the prefix of `{0}` is not declared")]
    Prefix(String),
    #[error("`{0}` cannot be bound to this namespace")]
    Binding(String),
    #[error("the attributes of `{0}` are not well-formed")]
    Attributes(String),
    #[error("`{element}` has the attribute `{attribute}` twice")]
    RepeatedAttribute { element: String, attribute: String },
    #[error("the entity `&{0};` is not declared")]
    Entity(String),
    #[error("`]]>` may not stand in text")]
    EndOfCData,
    #[error("there is text outside of the root element")]
    TextOutside,
    #[error("there is more than one root element")]
    SecondRoot,
    #[error("there is no element")]
    NoRoot,
    #[error("the root element is not closed")]
    Unclosed,
    #[error("elements are nested more than {MOST_DEPTH} deep")]
    TooDeep,
}

#[derive(Default)]
struct Rewriter {
    written: String,
    depth: usize,
    /// Where the root's start tag takes one more attribute, unless it declares the default namespace itself.
    default_declaration: Option<usize>,
    /// Whether some element is in no namespace.
    has_unbound: bool,
}

impl Rewriter {
    fn start(
        &mut self,
        start: &BytesStart,
        reader: &NsReader<&[u8]>,
        is_open: bool,
    ) -> Result<(), XmlProblem> {
        if self.depth == 0 && !self.written.is_empty() {
            return Err(XmlProblem::SecondRoot);
        }
        if self.depth == MOST_DEPTH {
            return Err(XmlProblem::TooDeep);
        }
        self.element_name(start, reader)?;
        let is_root = self.depth == 0;
        let declares_default = self.attributes(start, reader)?;
        if is_root && !declares_default {
            self.default_declaration = Some(self.written.len());
        }
        self.depth += usize::from(is_open);
        self.written.push_str(if is_open { ">" } else { "/>" });
        Ok(())
    }

    fn element_name(
        &mut self,
        start: &BytesStart,
        reader: &NsReader<&[u8]>,
    ) -> Result<(), XmlProblem> {
        let name = start.name();
        check_name(name)?;
        match reader.resolver().resolve_element(name).0 {
            _ if name.prefix().is_some_and(|prefix| prefix.is_xmlns()) => {
                return Err(XmlProblem::Name(name.0.to_owned()));
            }
            ResolveResult::Unknown(_) => return Err(XmlProblem::Prefix(name.0.to_owned())),
            ResolveResult::Unbound => self.has_unbound = true,
            ResolveResult::Bound(_) => {}
        }
        self.written.push('<');
        self.written.push_str(name.0);
        Ok(())
    }

    /// Writes the attributes and tells whether the default namespace is declared among them.
    fn attributes(
        &mut self,
        start: &BytesStart,
        reader: &NsReader<&[u8]>,
    ) -> Result<bool, XmlProblem> {
        let element = start.name().0;
        let malformed = || XmlProblem::Attributes(element.to_owned());
        if !has_space_between(start.attributes_raw()) {
            return Err(malformed());
        }
        let mut declares_default = false;
        let mut seen = HashSet::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|_| malformed())?;
            let value = attribute_value(&attribute)?;
            let name = attribute.key;
            check_name(name)?;
            if let Some(declared) = name.as_namespace_binding() {
                check_binding(name, declared, &value)?;
                declares_default |= declared == PrefixDeclaration::Default;
            } else if !seen.insert(expanded_name(name, reader)?) {
                return Err(XmlProblem::RepeatedAttribute {
                    element: element.to_owned(),
                    attribute: name.0.to_owned(),
                });
            }
            self.written.push(' ');
            self.written.push_str(name.0);
            self.written.push_str("=\"");
            escape_into(&mut self.written, &value, Place::Attribute);
            self.written.push('"');
        }
        Ok(declares_default)
    }

    fn end(&mut self, name: QName) {
        self.depth = self.depth.saturating_sub(1);
        self.written.push_str("</");
        self.written.push_str(name.0);
        self.written.push('>');
    }

    fn text(&mut self, text: &str) -> Result<(), XmlProblem> {
        if text.contains("]]>") {
            return Err(XmlProblem::EndOfCData);
        }
        let is_space = |c| matches!(c, ' ' | '\t' | '\n' | '\r');
        if self.depth == 0 {
            let blank = text.chars().all(is_space);
            return blank.then_some(()).ok_or(XmlProblem::TextOutside);
        }
        escape_into(&mut self.written, text, Place::Text);
        Ok(())
    }

    fn cdata(&mut self, text: &str) -> Result<(), XmlProblem> {
        if self.depth == 0 {
            return Err(XmlProblem::TextOutside);
        }
        escape_into(&mut self.written, text, Place::Text);
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef) -> Result<(), XmlProblem> {
        let unknown = || XmlProblem::Entity(String::from(&**reference));
        match reference.resolve_char_ref()? {
            Some(c) if !is_legal(c) => Err(XmlProblem::Character(c.into())),
            Some(c) => self.cdata(c.encode_utf8(&mut [0; 4])),
            None => self.cdata(resolve_xml_entity(reference).ok_or_else(unknown)?),
        }
    }

    fn finish(mut self) -> Result<String, XmlProblem> {
        if self.depth > 0 {
            return Err(XmlProblem::Unclosed);
        }
        if self.written.is_empty() {
            return Err(XmlProblem::NoRoot);
        }
        // Elements in no namespace would fall into the default namespace of what surrounds them.
        if let Some(place) = self.default_declaration.filter(|_| self.has_unbound) {
            self.written.insert_str(place, " xmlns=\"\"");
        }
        Ok(self.written)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Text,
    Attribute,
}

/// Escapes also the white space that a parser would otherwise turn into something else.
fn escape_into(written: &mut String, text: &str, place: Place) {
    for c in text.chars() {
        match c {
            '&' => written.push_str("&amp;"),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '\r' => written.push_str("&#13;"),
            '"' if place == Place::Attribute => written.push_str("&quot;"),
            '\t' if place == Place::Attribute => written.push_str("&#9;"),
            '\n' if place == Place::Attribute => written.push_str("&#10;"),
            _ => written.push(c),
        }
    }
}

fn attribute_value(attribute: &Attribute) -> Result<String, XmlProblem> {
    if attribute.value.contains('<') {
        return Err(XmlProblem::Attributes(attribute.key.0.to_owned()));
    }
    let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
    match value.chars().find(|c| !is_legal(*c)) {
        Some(forbidden) => Err(XmlProblem::Character(forbidden.into())),
        None => Ok(value.into_owned()),
    }
}

/// Tells whether each value is followed by white space or the end, which the parser does not ask for.
fn has_space_between(attributes: &str) -> bool {
    let mut quote = None;
    let mut after_value = false;
    for c in attributes.chars() {
        match quote {
            Some(open) if c == open => (quote, after_value) = (None, true),
            Some(_) => {}
            None if after_value && !c.is_ascii_whitespace() => return false,
            None => {
                after_value = false;
                quote = Some(c).filter(|c| matches!(c, '"' | '\''));
            }
        }
    }
    true
}

/// Two attributes are the same when namespace and local name are, whatever their prefixes.
fn expanded_name(
    name: QName,
    reader: &NsReader<&[u8]>,
) -> Result<(Option<String>, String), XmlProblem> {
    let (resolved, local) = reader.resolver().resolve_attribute(name);
    let namespace = match resolved {
        ResolveResult::Unknown(_) => return Err(XmlProblem::Prefix(name.0.to_owned())),
        ResolveResult::Unbound => None,
        ResolveResult::Bound(namespace) => {
            let unescaped = unescape(namespace.into_inner()).map_err(quick_xml::Error::from)?;
            Some(unescaped.into_owned())
        }
    };
    Ok((namespace, local.into_inner().to_owned()))
}

/// Namespaces in XML 1.0, 3 and 5: no prefix is taken back, and the reserved names are left alone.
fn check_binding(
    name: QName,
    declared: PrefixDeclaration,
    namespace: &str,
) -> Result<(), XmlProblem> {
    let is_allowed = match declared {
        PrefixDeclaration::Default => !RESERVED_NAMESPACES.contains(&namespace),
        PrefixDeclaration::Named("xml") => namespace == RESERVED_NAMESPACES[0],
        PrefixDeclaration::Named(prefix) => {
            prefix != "xmlns" && !namespace.is_empty() && !RESERVED_NAMESPACES.contains(&namespace)
        }
    };
    let refused = || XmlProblem::Binding(name.0.to_owned());
    is_allowed.then_some(()).ok_or_else(refused)
}

/// XML 1.0, 2.8: `XMLDecl`.
fn check_declaration(declaration: &BytesDecl, at_start: bool) -> Result<(), XmlProblem> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"(?x-u) ^xml
            [\x20\t\r\n]+ version    [\x20\t\r\n]*=[\x20\t\r\n]* ("1\.[0-9]+"|'1\.[0-9]+')
          ( [\x20\t\r\n]+ encoding   [\x20\t\r\n]*=[\x20\t\r\n]* ("[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*') )?
          ( [\x20\t\r\n]+ standalone [\x20\t\r\n]*=[\x20\t\r\n]* ("(yes|no)"|'(yes|no)') )?
            [\x20\t\r\n]* $"#;
        Regex::new(pattern).expect("the pattern is constant and has been compiled by a test")
    });
    if !at_start {
        return Err(XmlProblem::LateDeclaration);
    }
    let is_valid = FORM.is_match(declaration);
    is_valid.then_some(()).ok_or(XmlProblem::Declaration)
}

fn check_instruction(instruction: &BytesPI) -> Result<(), XmlProblem> {
    let target = instruction.target();
    if !is_ncname(target) || target.eq_ignore_ascii_case("xml") {
        return Err(XmlProblem::Name(target.to_owned()));
    }
    Ok(())
}

fn check_name(name: QName) -> Result<(), XmlProblem> {
    let (local, prefix) = name.decompose();
    let is_valid =
        is_ncname(local.into_inner()) && prefix.is_none_or(|prefix| is_ncname(prefix.into_inner()));
    let refused = || XmlProblem::Name(name.0.to_owned());
    is_valid.then_some(()).ok_or_else(refused)
}

/// Namespaces in XML 1.0, 3: `NCName`.
fn is_ncname(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
}

fn is_name_start(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c,
            '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

const MOST_DEPTH: usize = 100;

const RESERVED_NAMESPACES: [&str; 2] = [
    "http://www.w3.org/XML/1998/namespace",
    "http://www.w3.org/2000/xmlns/",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(document: &str) -> String {
        rewrite(document).unwrap()
    }

    fn problem(document: &str) -> String {
        rewrite(document).expect_err(document).to_string()
    }

    #[test]
    fn declaration_comments_and_instructions_are_left_out() {
        let document = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a --><?b c?>\n\
                        <m xmlns='urn:m'><!-- d --><n/><?e?></m>\n<!-- f -->\n";

        assert_eq!(rewritten(document), "<m xmlns=\"urn:m\"><n/></m>");
    }

    #[test]
    fn text_and_attributes_are_escaped_anew() {
        let document = "<m xmlns='urn:m' a='\"&#10;&lt;' b=\"x\n'\"><![CDATA[<&]]>]]&gt; &quot;&#x41;&#13;\r\n</m>";

        assert_eq!(
            rewritten(document),
            "<m xmlns=\"urn:m\" a=\"&quot;&#10;&lt;\" b=\"x '\">&lt;&amp;]]&gt; \"A&#13;\n</m>"
        );
        assert_eq!(rewritten(&rewritten(document)), rewritten(document));
    }

    #[test]
    fn elements_without_a_namespace_stay_without_one() {
        assert_eq!(rewritten("<m><n/></m>"), "<m xmlns=\"\"><n/></m>");
        assert_eq!(rewritten("<m a='1'/>"), "<m a=\"1\" xmlns=\"\"/>");
        assert_eq!(
            rewritten("<p:m xmlns:p='urn:m'><n/></p:m>"),
            "<p:m xmlns:p=\"urn:m\" xmlns=\"\"><n/></p:m>"
        );
        assert_eq!(
            rewritten("<p:m xmlns:p='urn:m'><p:n/></p:m>"),
            "<p:m xmlns:p=\"urn:m\"><p:n/></p:m>"
        );
        assert_eq!(
            rewritten("<m xmlns='urn:m'><n xmlns=''/></m>"),
            "<m xmlns=\"urn:m\"><n xmlns=\"\"/></m>"
        );
    }

    #[test]
    fn the_xml_prefix_needs_no_declaration() {
        assert_eq!(
            rewritten("<m xmlns='urn:m' xml:lang='de'/>"),
            "<m xmlns=\"urn:m\" xml:lang=\"de\"/>"
        );
    }

    #[test]
    fn rejects_what_is_not_well_formed() {
        for document in [
            "<m>",
            "<m",
            "</m>",
            "<m></n>",
            "<m><n></m></n>",
            "<m>&</m>",
            "<m>a & b</m>",
            "<m a=1/>",
            "<m a/>",
            "<m a='1'b='2'/>",
            "<m a='<'/>",
            "<m a='&'/>",
            "<m>]]></m>",
            "<m><!-- a -- b --></m>",
            "<m><![CDATA[a</m>",
            "<m><?xml version='1.0'?></m>",
            " <?xml version='1.0'?><m/>",
            "<?xml?><m/>",
            "<?xml version='2.0'?><m/>",
            "<?xml version='1.0'encoding='UTF-8'?><m/>",
            "<?xml encoding='UTF-8'?><m/>",
            "<m><? x?></m>",
            "<1/>",
            "<m 1='x'/>",
            "<:m/>",
            "<m:/>",
            "<a:b:c xmlns:a='urn:m'/>",
            "< m/>",
            "plain text",
        ] {
            problem(document);
        }
    }

    #[test]
    fn rejects_a_doctype() {
        let bomb = "<!DOCTYPE m [<!ENTITY a 'b'>]><m>&a;</m>";

        assert_eq!(problem(bomb), "it has a DOCTYPE; print the element alone");
        problem("<!doctype html><html/>");
    }

    #[test]
    fn rejects_undeclared_prefixes() {
        assert_eq!(problem("<p:m/>"), "the prefix of `p:m` is not declared");
        assert_eq!(
            problem("<m p:a='1'/>"),
            "the prefix of `p:a` is not declared"
        );
        problem("<m><n xmlns:p='urn:p'/><p:n/></m>");
    }

    #[test]
    fn rejects_undeclared_entities() {
        assert_eq!(
            problem("<m>&nbsp;</m>"),
            "the entity `&nbsp;` is not declared"
        );
        problem("<m a='&nbsp;'/>");
    }

    #[test]
    fn rejects_declarations_that_namespaces_forbid() {
        for document in [
            "<m xmlns:p=''/>",
            "<m xmlns:xml='urn:x'/>",
            "<m xmlns:xmlns='urn:x'/>",
            "<m xmlns:p='http://www.w3.org/2000/xmlns/'/>",
            "<m xmlns='http://www.w3.org/XML/1998/namespace'/>",
            "<m xmlns='http://www.w3.org/XML/1998/namesp&#97;ce'/>",
            "<xmlns:m/>",
        ] {
            problem(document);
        }
    }

    #[test]
    fn rejects_repeated_attributes() {
        problem("<m a='1' a='2'/>");
        problem("<m xmlns='a' xmlns='b'/>");
        assert_eq!(
            problem("<m xmlns:p='urn:&amp;' xmlns:q='urn:&#38;' p:a='1' q:a='2'/>"),
            "`m` has the attribute `q:a` twice"
        );
        rewritten("<m xmlns='urn:m' xmlns:p='urn:m' a='1' p:a='2'/>");
    }

    #[test]
    fn rejects_all_but_one_root() {
        assert_eq!(problem("<m/><n/>"), "there is more than one root element");
        assert_eq!(
            problem("<m/>text"),
            "there is text outside of the root element"
        );
        assert_eq!(
            problem("&amp;<m/>"),
            "there is text outside of the root element"
        );
        problem("<m/><![CDATA[x]]>");
        assert_eq!(problem(""), "there is no element");
        assert_eq!(problem("<!-- nothing -->\n"), "there is no element");
        assert_eq!(problem("<m><n/>"), "the root element is not closed");
    }

    #[test]
    fn rejects_forbidden_characters_however_written() {
        assert_eq!(
            problem("<m>\u{1}</m>"),
            "the character U+0001 is not allowed in XML"
        );
        for document in [
            "<m>&#1;</m>",
            "<m>&#0;</m>",
            "<m a='&#xFFFE;'/>",
            "<m>&#xD800;</m>",
        ] {
            problem(document);
        }
    }

    #[test]
    fn elements_nest_a_hundred_deep_and_no_deeper() {
        let nested = |depth: usize| format!("{}{}", "<m>".repeat(depth), "</m>".repeat(depth));

        rewritten(&nested(100));
        assert_eq!(
            problem(&nested(101)),
            "elements are nested more than 100 deep"
        );
        assert_eq!(
            problem(&format!("{}<m/>{}", "<m>".repeat(100), "</m>".repeat(100))),
            "elements are nested more than 100 deep"
        );
    }
}
