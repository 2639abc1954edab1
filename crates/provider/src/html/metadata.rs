//! The content of a record as HTML: Dublin Core, HTTP headers, DIDL and the results of plug-ins have a form of their own,
//! any other XML is an indented tree.

use super::escape::{escaped, grouped, linked, moment, shortened};
use super::tokens::Token;

const DUBLIN_CORE: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";
const HTTP_HEADER: &str = "urn:x-garner:http_header";
const DIDL: &str = "urn:mpeg:mpeg21:2002:02-DIDL-NS";
const IDENTIFICATION: &str = "urn:mpeg:mpeg21:2002:01-DII-NS";
const TERMS: &str = "http://purl.org/dc/terms/";
const FIXITY: &str = "urn:x-garner:fixity";
const PLUGIN: &str = "urn:x-garner:plugin";
const SCHEMA_INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Elements below this depth are shown as text only.
const DEEPEST: usize = 64;
/// More of a text is only counted.
const LONGEST_TEXT: usize = 100_000;
/// The longest text of a plug-in that is shown, in characters.
const LONGEST_SHOWN: usize = 20_000;

/// The elements between the tags of `metadata` or `about`.
#[derive(Debug)]
pub(crate) struct Metadata {
    open: Vec<Element>,
    /// Prefix, namespace, and the depth of the element that declares it.
    namespaces: Vec<(String, String, usize)>,
    /// Elements that are open below the deepest one shown.
    too_deep: u64,
}

/// An open element.
#[derive(Debug)]
struct Element {
    kind: Kind,
    attributes: Vec<(String, String)>,
    text: Captured,
    /// The name of the last child, so that a label is not repeated.
    last_child: String,
    has_children: bool,
}

/// How an element is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The element of the protocol around it all.
    Outside,
    DublinCore,
    DublinCoreField,
    HttpHeader,
    HttpField,
    /// An element that shows only what is in it.
    Plain,
    Part,
    Statement,
    Resource,
    Fact,
    Plugin,
    PluginValue,
    PluginFailure,
    PluginText,
    Tree,
}

/// A text, as far as it is kept.
#[derive(Debug, Default)]
struct Captured {
    kept: String,
    /// The length of the whole text, without white space.
    length: u64,
    /// Equals signs, which fill base64 up.
    padding: u64,
    is_cut: bool,
}

impl Captured {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.length += u64::from(!byte.is_ascii_whitespace());
            self.padding += u64::from(byte == b'=');
        }
        let room = LONGEST_TEXT.saturating_sub(self.kept.len());
        match text.char_indices().map(|(at, _)| at).find(|at| *at > room) {
            None => self.kept.push_str(text),
            Some(end) => {
                self.kept.push_str(&text[..end]);
                self.is_cut = true;
            }
        }
    }

    fn is_blank(&self) -> bool {
        self.kept.trim().is_empty()
    }

    /// The text, as a link where it is an address.
    fn shown(&self) -> String {
        linked(&self.kept)
    }
}

impl Element {
    fn new(kind: Kind, attributes: Vec<(String, String)>) -> Self {
        Self {
            kind,
            attributes,
            text: Captured::default(),
            last_child: String::new(),
            has_children: false,
        }
    }

    fn attribute(&self, name: &str) -> &str {
        let attribute = self
            .attributes
            .iter()
            .find(|(candidate, _)| candidate == name);
        attribute.map_or("", |(_, value)| value)
    }
}

impl Metadata {
    pub(crate) fn new() -> Self {
        Self {
            open: vec![Element::new(Kind::Outside, Vec::new())],
            namespaces: Vec::new(),
            too_deep: 0,
        }
    }

    /// Takes a token and appends its HTML; true at the end of the element of the protocol.
    pub(crate) fn take(&mut self, token: Token, html: &mut String) -> bool {
        match token {
            Token::Start(name, attributes) => self.start(&name, attributes, html),
            Token::Text(text) => {
                if let Some(element) = self.open.last_mut() {
                    element.text.add(&text);
                }
            }
            Token::End if self.too_deep > 0 => self.too_deep -= 1,
            Token::End => {
                if let Some(element) = self.open.pop() {
                    self.end(&element, html);
                }
                let depth = self.open.len();
                self.namespaces.retain(|(_, _, declared)| *declared < depth);
            }
        }
        self.open.is_empty()
    }

    fn start(&mut self, name: &str, attributes: Vec<(String, String)>, html: &mut String) {
        let depth = self.open.len();
        if depth >= DEEPEST {
            self.too_deep += 1;
            return;
        }
        for (attribute, value) in &attributes {
            let prefix = match attribute.strip_prefix("xmlns") {
                Some("") => "",
                Some(prefix) if prefix.starts_with(':') => &prefix[1..],
                _ => continue,
            };
            self.namespaces
                .push((prefix.to_owned(), value.clone(), depth));
        }
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let namespace = self.namespace(prefix).to_owned();
        let Some(parent) = self.open.last_mut() else {
            return;
        };
        let element = Element::new(kind(parent, &namespace, local), attributes);
        begin(parent, &element, local, html);
        if element.kind == Kind::Tree {
            self.begin_tree(&element, name, &namespace, html);
        }
        self.open.push(element);
    }

    fn namespace(&self, prefix: &str) -> &str {
        let declared = self.namespaces.iter().rev();
        let mut declared = declared.filter(|(candidate, _, _)| candidate == prefix);
        declared.next().map_or("", |(_, namespace, _)| namespace)
    }

    fn begin_tree(&self, element: &Element, name: &str, namespace: &str, html: &mut String) {
        html.push_str(&format!(
            "<li><span class=\"gn-tag\">{}</span>",
            escaped(name)
        ));
        let declares = |(name, _): &(String, String)| name == "xmlns" || name.starts_with("xmlns:");
        if element.attributes.iter().any(declares) && !namespace.is_empty() {
            html.push_str(&format!(
                "<span class=\"gn-quiet\"> {}</span>",
                shortened(namespace, 200)
            ));
        }
        for (name, value) in &element.attributes {
            let (prefix, _) = name.split_once(':').unwrap_or(("", name));
            if prefix == "xmlns" || name == "xmlns" || self.namespace(prefix) == SCHEMA_INSTANCE {
                continue;
            }
            html.push_str(&format!(
                "<span class=\"gn-attribute\"> {} = {}</span>",
                escaped(name),
                linked(value)
            ));
        }
    }

    fn end(&mut self, element: &Element, html: &mut String) {
        let text = &element.text;
        match element.kind {
            Kind::Outside | Kind::Plain => push_block(text, html),
            Kind::DublinCore => html.push_str("</dl>\n"),
            Kind::DublinCoreField | Kind::PluginValue => {
                html.push_str(&format!("<dd dir=\"auto\">{}</dd>\n", text.shown()));
                if element.kind == Kind::PluginValue {
                    html.push_str("</dl>\n");
                }
            }
            Kind::HttpHeader => html.push_str("</tbody></table>\n"),
            Kind::HttpField => html.push_str(&format!(
                "<tr><th scope=\"row\">{}</th><td dir=\"auto\">{}</td></tr>\n",
                escaped(element.attribute("name")),
                text.shown()
            )),
            Kind::Part => {
                push_block(text, html);
                html.push_str("</section>\n");
            }
            Kind::Statement | Kind::Resource => end_block(element, html),
            Kind::Fact => html.push_str(&format!("<dd dir=\"auto\">{}</dd></dl>\n", fact(text))),
            Kind::Plugin => push_block(text, html),
            Kind::PluginFailure => html.push_str(&format!(
                "<p class=\"gn-note\">No result: {}</p>\n",
                shortened(&text.kept, LONGEST_SHOWN)
            )),
            Kind::PluginText => html.push_str(&format!(
                "<pre dir=\"auto\" tabindex=\"0\">{}</pre>\n",
                shortened(&text.kept, LONGEST_SHOWN)
            )),
            Kind::Tree => self.end_tree(element, html),
        }
    }

    fn end_tree(&self, element: &Element, html: &mut String) {
        let text = &element.text;
        match (element.has_children, text.is_blank()) {
            (true, true) => html.push_str("</ul>"),
            (true, false) => html.push_str(&format!(
                "<li class=\"gn-value\" dir=\"auto\">{}</li></ul>",
                text.shown()
            )),
            (false, true) => {}
            (false, false) => html.push_str(&format!(
                "<span class=\"gn-value\" dir=\"auto\"> {}</span>",
                text.shown()
            )),
        }
        html.push_str("</li>\n");
        if self
            .open
            .last()
            .is_none_or(|parent| parent.kind != Kind::Tree)
        {
            html.push_str("</ul>\n");
        }
    }
}

/// How an element is shown below its parent.
fn kind(parent: &Element, namespace: &str, local: &str) -> Kind {
    match (parent.kind, namespace, local) {
        (Kind::Tree | Kind::DublinCoreField | Kind::HttpField, ..) => Kind::Tree,
        (Kind::DublinCore, ..) => Kind::DublinCoreField,
        (Kind::HttpHeader, HTTP_HEADER, "field") => Kind::HttpField,
        (_, DUBLIN_CORE, "dc") => Kind::DublinCore,
        (_, HTTP_HEADER, "header") => Kind::HttpHeader,
        (_, DIDL, "DIDL" | "Descriptor") | (_, FIXITY, "fixity") => Kind::Plain,
        (_, DIDL, "Item" | "Component") => Kind::Part,
        (_, DIDL, "Statement") => Kind::Statement,
        (_, DIDL, "Resource") => Kind::Resource,
        (_, IDENTIFICATION, "Identifier") | (_, TERMS, _) | (_, FIXITY, "digest") => Kind::Fact,
        (_, PLUGIN, "plugin") => Kind::Plugin,
        (Kind::Plugin, PLUGIN, "value") => Kind::PluginValue,
        (Kind::Plugin, PLUGIN, "failed") => Kind::PluginFailure,
        (Kind::Plugin, PLUGIN, "text") => Kind::PluginText,
        _ => Kind::Tree,
    }
}

/// Writes the beginning of an element below its parent.
fn begin(parent: &mut Element, element: &Element, local: &str, html: &mut String) {
    let is_first = !std::mem::replace(&mut parent.has_children, true);
    let text = std::mem::take(&mut parent.text);
    match parent.kind {
        Kind::Tree => {
            if is_first {
                html.push_str("<ul>\n");
            }
            if !text.is_blank() {
                html.push_str(&format!(
                    "<li class=\"gn-value\" dir=\"auto\">{}</li>",
                    text.shown()
                ));
            }
        }
        Kind::DublinCore | Kind::HttpHeader => {}
        _ => push_block(&text, html),
    }
    if parent.kind == Kind::Statement && is_first {
        html.push_str(match element.kind {
            Kind::DublinCore => "<h4>Dublin Core</h4>",
            Kind::HttpHeader => "<h4>HTTP header</h4>",
            _ => "",
        });
    }
    let repeated = std::mem::replace(&mut parent.last_child, local.to_owned()) == local;
    match element.kind {
        Kind::DublinCore => html.push_str("<dl class=\"gn-facts\">\n"),
        Kind::DublinCoreField if !repeated => {
            html.push_str(&format!("<dt>{}</dt>", label(local)));
        }
        Kind::HttpHeader => html.push_str(&format!(
            "<table class=\"gn-pairs\"><caption>HTTP status <strong>{}</strong></caption><tbody>\n",
            escaped(element.attribute("status"))
        )),
        Kind::Part => {
            let id = match element.attribute("id") {
                "" => String::new(),
                id => format!(" <code>{}</code>", escaped(id)),
            };
            html.push_str(&format!(
                "<section class=\"gn-part\"><h3>{}{id}</h3>\n",
                escaped(local)
            ));
        }
        Kind::Statement => html.push_str("<div class=\"gn-block\">"),
        Kind::Resource => {
            let way = if element.attribute("ref").is_empty() {
                "value"
            } else {
                "reference"
            };
            let media_type = escaped(element.attribute("mimeType"));
            html.push_str(&format!(
                "<div class=\"gn-block\"><h4>Resource by {way} <code>{media_type}</code></h4>\n"
            ));
        }
        Kind::Fact => {
            let label = match element.attribute("algorithm") {
                "" => label(local),
                algorithm => escaped(algorithm),
            };
            html.push_str(&format!("<dl class=\"gn-facts\"><dt>{label}</dt>"));
        }
        Kind::Plugin => html.push_str(&format!(
            "<h4>{} <span class=\"gn-quiet\">plug-in</span></h4>\n",
            escaped(element.attribute("name"))
        )),
        Kind::PluginValue => html.push_str(&format!(
            "<dl class=\"gn-facts\"><dt>{}</dt>",
            escaped(element.attribute("name"))
        )),
        Kind::Tree if parent.kind != Kind::Tree => html.push_str("<ul class=\"gn-tree\">\n"),
        _ => {}
    }
}

fn push_block(text: &Captured, html: &mut String) {
    if !text.is_blank() {
        html.push_str(&format!(
            "<p class=\"gn-text\" dir=\"auto\">{}</p>\n",
            text.shown()
        ));
    }
}

/// The end of a statement or a resource, with its bytes or the address of them.
fn end_block(element: &Element, html: &mut String) {
    let encoding = element.attribute("contentEncoding");
    if !encoding.is_empty() {
        html.push_str(&format!(
            "<p class=\"gn-quiet\">Encoded with {}</p>",
            escaped(encoding)
        ));
    }
    match (element.attribute("ref"), element.attribute("encoding")) {
        ("", "base64") => push_base64(element, encoding.is_empty(), html),
        ("", _) => push_block(&element.text, html),
        (address, _) => html.push_str(&format!("<p>{}</p>", linked(address))),
    }
    html.push_str("</div>\n");
}

/// The size of the bytes; of a small picture the picture as well.
fn push_base64(element: &Element, is_plain: bool, html: &mut String) {
    let text = &element.text;
    let bytes = (text.length * 3 / 4).saturating_sub(text.padding);
    html.push_str(&format!(
        "<p>{} bytes, as {} base64 characters</p>",
        grouped(bytes),
        grouped(text.length)
    ));
    let media_type = element
        .attribute("mimeType")
        .split(';')
        .next()
        .unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    let is_picture = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&&*media_type);
    let data: String = text.kept.chars().filter(|c| !c.is_whitespace()).collect();
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    if is_picture && is_plain && !text.is_cut && !data.is_empty() && data.chars().all(is_base64) {
        html.push_str(&format!(
            "<img class=\"gn-picture\" alt=\"The resource itself\" src=\"data:{media_type};base64,{data}\">"
        ));
    }
}

fn fact(text: &Captured) -> String {
    let kept = text.kept.trim();
    match kept.len() == 20 && kept.ends_with('Z') && kept.is_ascii() {
        true => moment(kept),
        false => text.shown(),
    }
}

/// The name of an element as a word: `title` is `Title`.
fn label(local: &str) -> String {
    let mut characters = local.chars();
    let first = characters.next().map(|c| c.to_ascii_uppercase());
    escaped(&first.into_iter().chain(characters).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::super::tokens::Tokenizer;
    use super::*;

    fn shown(xml: &str) -> String {
        let (mut metadata, mut html) = (Metadata::new(), String::new());
        let mut is_over = false;
        let mut tokenizer = Tokenizer::new();
        let xml = format!("{xml}</metadata>");
        let take = |token| {
            is_over = metadata.take(token, &mut html);
            Ok(())
        };
        tokenizer.feed(xml.as_bytes(), take).unwrap();
        assert!(is_over);
        html
    }

    #[test]
    fn foreign_xml_is_a_tree_of_escaped_text() {
        let html = shown(
            "<m:mods xmlns:m=\"urn:m\" a=\"&quot;&gt;&lt;script&gt;\">one<m:b>&lt;script&gt;</m:b>two<m:c/></m:mods>",
        );

        assert_eq!(
            html.replace('\n', ""),
            "<ul class=\"gn-tree\"><li><span class=\"gn-tag\">m:mods</span><span class=\"gn-quiet\"> urn:m</span>\
             <span class=\"gn-attribute\"> a = &quot;&gt;&lt;script&gt;</span><ul>\
             <li class=\"gn-value\" dir=\"auto\">one</li><li><span class=\"gn-tag\">m:b</span>\
             <span class=\"gn-value\" dir=\"auto\"> &lt;script&gt;</span></li>\
             <li class=\"gn-value\" dir=\"auto\">two</li><li><span class=\"gn-tag\">m:c</span></li></ul></li></ul>"
        );
    }

    #[test]
    fn deep_nesting_ends_where_it_began() {
        let depth = 100_000;
        let html = shown(&format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth)));

        assert!(html.len() < 10_000, "{}", html.len());
        for tag in ["ul", "li", "span"] {
            let opened = html.matches(&format!("<{tag}")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn only_bytes_of_pictures_become_pictures() {
        let resource = |media_type: &str, data: &str| {
            shown(&format!(
                "<d:Resource xmlns:d=\"{DIDL}\" mimeType=\"{media_type}\" encoding=\"base64\">{data}</d:Resource>"
            ))
        };
        assert!(
            resource("image/png", "iVBO Rw0=").contains("src=\"data:image/png;base64,iVBORw0=\"")
        );
        for (media_type, data) in [
            ("image/svg+xml", "iVBO"),
            ("image/png", "&quot;&gt;&lt;script&gt;"),
            ("image/png", &"A".repeat(200_000)),
        ] {
            let html = resource(media_type, data);
            assert!(
                !html.contains("<img") && !html.contains("<script"),
                "{media_type}"
            );
        }
    }
}
