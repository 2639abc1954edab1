//! Answers of a repository, read as XML.

use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use crate::{Response, fetch, from_base64};

/// An answer as text, with what tests ask of it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The XML.
    pub xml: String,
    /// The HTTP response it came in.
    pub response: Response,
}

/// The header of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Header {
    /// Its identifier.
    pub identifier: String,
    /// Its datestamp.
    pub datestamp: String,
    /// Its sets.
    pub sets: Vec<String>,
    /// Whether it is deleted.
    pub deleted: bool,
}

impl Answer {
    /// Asks a repository by GET; the query is sent as it is.
    pub fn ask(base_url: &str, query: &str) -> Self {
        Self::ask_as(base_url, query, &[])
    }

    /// Asks with headers.
    pub fn ask_as(base_url: &str, query: &str, headers: &[(&str, &str)]) -> Self {
        Self::of(fetch("GET", &format!("{base_url}?{query}"), headers, b""))
    }

    /// Reads a response, which must be a complete XML document with status 200.
    pub fn of(response: Response) -> Self {
        assert_eq!(response.status, 200, "{}", response.text());
        assert!(response.complete, "the answer broke off");
        let xml = String::from_utf8(response.body.clone()).unwrap();
        if let Err(error) = Document::parse(&xml) {
            panic!("not well-formed: {error}\n{xml}");
        }
        Self { xml, response }
    }

    /// Asks for a whole list, page by page.
    pub fn pages(
        base_url: &str,
        verb: &str,
        arguments: &str,
        headers: &[(&str, &str)],
    ) -> Vec<Self> {
        let mut pages = vec![Self::ask_as(
            base_url,
            &format!("verb={verb}&{arguments}"),
            headers,
        )];
        while let Some(token) = pages[pages.len() - 1].token() {
            assert!(pages.len() < 10_000, "the list does not end");
            let query = format!("verb={verb}&resumptionToken={token}");
            pages.push(Self::ask_as(base_url, &query, headers));
        }
        pages
    }

    /// The headers of a whole list; none for noRecordsMatch.
    pub fn list(
        base_url: &str,
        verb: &str,
        arguments: &str,
        headers: &[(&str, &str)],
    ) -> Vec<Header> {
        let pages = Self::pages(base_url, verb, arguments, headers);
        if pages[0].error().as_deref() == Some("noRecordsMatch") {
            return Vec::new();
        }
        for page in &pages {
            assert_eq!(page.error(), None, "{}", page.xml);
        }
        pages.iter().flat_map(Self::headers).collect()
    }

    /// The codes of all errors.
    pub fn errors(&self) -> Vec<String> {
        self.all("error", |node| {
            node.attribute("code").unwrap_or_default().to_owned()
        })
    }

    /// The code of the first error.
    pub fn error(&self) -> Option<String> {
        self.errors().into_iter().next()
    }

    /// The text of the first element of a name.
    pub fn text(&self, name: &str) -> Option<String> {
        self.texts(name).into_iter().next()
    }

    /// The texts of all elements of a name, whatever their namespace.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.all(name, |node| node.text().unwrap_or_default().to_owned())
    }

    /// An attribute of the first element of a name.
    pub fn attribute(&self, element: &str, attribute: &str) -> Option<String> {
        let all = self.all(element, |node| node.attribute(attribute).map(str::to_owned));
        all.into_iter().next().flatten()
    }

    /// A non-empty resumptionToken.
    pub fn token(&self) -> Option<String> {
        self.text("resumptionToken")
            .filter(|token| !token.is_empty())
    }

    /// All headers.
    pub fn headers(&self) -> Vec<Header> {
        let text = |node: Node<'_, '_>, name: &str| {
            let child = node
                .children()
                .find(|child| child.tag_name().name() == name);
            child
                .and_then(|child| child.text().map(str::to_owned))
                .unwrap_or_default()
        };
        let document = Document::parse(&self.xml).unwrap();
        let headers = document
            .descendants()
            .filter(|node| node.has_tag_name(("http://www.openarchives.org/OAI/2.0/", "header")));
        headers
            .map(|node| Header {
                identifier: text(node, "identifier"),
                datestamp: text(node, "datestamp"),
                sets: node
                    .children()
                    .filter(|child| child.tag_name().name() == "setSpec")
                    .map(|child| child.text().unwrap_or_default().to_owned())
                    .collect(),
                deleted: node.attribute("status") == Some("deleted"),
            })
            .collect()
    }

    /// The identifiers of all headers that are not deleted.
    pub fn identifiers(&self) -> BTreeSet<String> {
        let live = self.headers().into_iter().filter(|header| !header.deleted);
        live.map(|header| header.identifier).collect()
    }

    /// The bytes that an `oai_didl` record gives by value.
    pub fn by_value(&self) -> Option<Vec<u8>> {
        let document = Document::parse(&self.xml).unwrap();
        let resource = document.descendants().find(|node| {
            node.tag_name().name() == "Resource" && node.attribute("encoding") == Some("base64")
        })?;
        Some(from_base64(resource.text().unwrap_or_default()))
    }

    fn all<T>(&self, name: &str, take: impl Fn(Node<'_, '_>) -> T) -> Vec<T> {
        let document = Document::parse(&self.xml).unwrap();
        let nodes = document
            .descendants()
            .filter(|node| node.tag_name().name() == name);
        nodes.map(take).collect()
    }
}
