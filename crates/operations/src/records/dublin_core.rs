//! The Dublin Core elements of a record in oai_dc.

use rules::xml::{self, Limits};

use serde::Serialize;
use utoipa::ToSchema;

use super::link::web_address;

/// All values of one element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Element {
    /// `title`, `creator` and so on.
    pub name: String,
    /// The values, in their order in the record.
    pub values: Vec<ElementValue>,
}

/// A value of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ElementValue {
    /// The value.
    pub text: String,
    /// The value again if it is an address of the web.
    pub address: Option<String>,
}

/// The elements of a record in oai_dc, in the order of their first values; `None` if there is no oai_dc in it.
pub fn dublin_core(record: &[u8]) -> Option<Vec<Element>> {
    let document = xml::parse(record, &Limits::default()).ok()?;
    let container = document.descendants().find(|node| {
        node.tag_name().name() == "dc" && node.tag_name().namespace() == Some(OAI_DC)
    })?;
    let mut elements: Vec<Element> = Vec::new();
    for node in container.children().filter(|node| node.is_element()) {
        let text: String = node
            .descendants()
            .filter_map(|node| match node.is_text() {
                true => node.text(),
                false => None,
            })
            .collect();
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let value = ElementValue {
            address: web_address(text).map(str::to_owned),
            text: text.to_owned(),
        };
        let name = node.tag_name().name();
        match elements.iter_mut().find(|element| element.name == name) {
            Some(element) => element.values.push(value),
            None => elements.push(Element {
                name: name.to_owned(),
                values: vec![value],
            }),
        }
    }
    Some(elements)
}

const OAI_DC: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_gathered_by_their_element() {
        let record = br#"<record><metadata><x:dc xmlns:x="http://www.openarchives.org/OAI/2.0/oai_dc/"
            xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A &lt;b&gt;</dc:title><dc:subject>sea</dc:subject>
            <dc:identifier>https://a.example/1</dc:identifier><dc:subject>coast</dc:subject><dc:date> </dc:date></x:dc>
            </metadata></record>"#;

        let elements = dublin_core(record).unwrap();

        let names: Vec<_> = elements
            .iter()
            .map(|element| element.name.as_str())
            .collect();
        assert_eq!(names, ["title", "subject", "identifier"]);
        assert_eq!(elements[0].values[0].text, "A <b>");
        assert_eq!(elements[1].values.len(), 2);
        assert_eq!(
            elements[2].values[0].address.as_deref(),
            Some("https://a.example/1")
        );
    }

    #[test]
    fn other_formats_and_what_is_no_xml_have_none() {
        assert_eq!(dublin_core(b"<record><mods/></record>"), None);
        assert_eq!(dublin_core(b"<record>"), None);
    }
}
