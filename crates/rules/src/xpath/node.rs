//! A node in the sense of XPath 1.0, 5: attributes and namespaces are nodes too.

use roxmltree::{Document, NodeType};

/// A node of a document, with the order of nodes in the document.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a, 'input> {
    tree: roxmltree::Node<'a, 'input>,
    kind: Kind,
}

/// In document order the namespaces of an element come before its attributes, and both before its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Tree,
    Namespace(usize),
    Attribute(usize),
}

/// Whether a node is an element and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// The document itself.
    Root,
    /// An element.
    Element,
    /// An attribute.
    Attribute,
    /// A namespace that is in scope at an element.
    Namespace,
    /// Text, CDATA sections included.
    Text,
    /// A comment.
    Comment,
    /// A processing instruction.
    ProcessingInstruction,
}

impl<'a, 'input> Node<'a, 'input> {
    pub(super) fn new(tree: roxmltree::Node<'a, 'input>) -> Self {
        Self {
            tree,
            kind: Kind::Tree,
        }
    }

    /// The kind of the node.
    pub fn kind(&self) -> NodeKind {
        match (self.kind, self.tree.node_type()) {
            (Kind::Attribute(_), _) => NodeKind::Attribute,
            (Kind::Namespace(_), _) => NodeKind::Namespace,
            (_, NodeType::Root) => NodeKind::Root,
            (_, NodeType::Element) => NodeKind::Element,
            (_, NodeType::Text) => NodeKind::Text,
            (_, NodeType::Comment) => NodeKind::Comment,
            (_, NodeType::PI) => NodeKind::ProcessingInstruction,
        }
    }

    /// The element that the node is, or that bears it: the owner of an attribute, the parent of a text.
    pub fn element(&self) -> Option<roxmltree::Node<'a, 'input>> {
        if self.tree.is_element() {
            return Some(self.tree);
        }
        self.tree.parent_element()
    }

    /// Where the node is, in words like `/record/metadata/oai_dc:dc/dc:subject[2]/@scheme`.
    pub fn path(&self) -> String {
        let mut parts = vec![self.last_part()];
        let mut above = self.parent();
        while let Some(node) = above {
            if node.tree.is_root() {
                break;
            }
            parts.push(node.last_part());
            above = node.parent();
        }
        parts.reverse();
        format!("/{}", parts.join("/"))
    }

    fn last_part(&self) -> String {
        match self.kind() {
            NodeKind::Root => String::new(),
            NodeKind::Element => self.numbered_name(),
            NodeKind::Attribute => format!("@{}", self.qualified_name()),
            NodeKind::Namespace => format!("namespace::{}", self.local_name()),
            NodeKind::Text => "text()".into(),
            NodeKind::Comment => "comment()".into(),
            NodeKind::ProcessingInstruction => "processing-instruction()".into(),
        }
    }

    fn numbered_name(&self) -> String {
        let same = |other: &roxmltree::Node| {
            other.is_element() && other.tag_name() == self.tree.tag_name()
        };
        let before = self.tree.prev_siblings().skip(1).filter(same).count();
        let only = before == 0 && !self.tree.next_siblings().skip(1).any(|other| same(&other));
        if only {
            return self.qualified_name().to_owned();
        }
        format!("{}[{}]", self.qualified_name(), before + 1)
    }

    /// The string-value (XPath 1.0, 5).
    pub fn text(&self) -> String {
        match self.kind {
            Kind::Attribute(index) => self.attribute(index).map_or("", |a| a.value()).to_owned(),
            Kind::Namespace(index) => self.namespace_at(index).1.to_owned(),
            Kind::Tree if self.tree.is_pi() => {
                let value = self.tree.pi().and_then(|pi| pi.value);
                value.unwrap_or_default().to_owned()
            }
            Kind::Tree if self.tree.is_element() || self.tree.is_root() => self
                .tree
                .descendants()
                .filter(|node| node.is_text())
                .filter_map(|node| node.text())
                .collect(),
            Kind::Tree => self.tree.text().unwrap_or_default().to_owned(),
        }
    }

    pub(super) fn tree(&self) -> roxmltree::Node<'a, 'input> {
        self.tree
    }

    pub(super) fn is_tree(&self) -> bool {
        self.kind == Kind::Tree
    }

    pub(super) fn local_name(&self) -> &'a str {
        match self.kind {
            Kind::Attribute(index) => self.attribute(index).map_or("", |a| a.name()),
            Kind::Namespace(index) => self.namespace_at(index).0,
            Kind::Tree if self.tree.is_pi() => self.tree.pi().map_or("", |pi| pi.target),
            Kind::Tree => self.tree.tag_name().name(),
        }
    }

    pub(super) fn namespace(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Attribute(index) => self.attribute(index).and_then(|a| a.namespace()),
            Kind::Namespace(_) => None,
            Kind::Tree => self
                .tree
                .tag_name()
                .namespace()
                .filter(|uri| !uri.is_empty()),
        }
    }

    /// The name as it is written, with its prefix. The tree does not keep the prefix, the source does.
    pub(super) fn qualified_name(&self) -> &'a str {
        let source = self.tree.document().input_text();
        let written = match self.kind {
            Kind::Attribute(index) => self
                .attribute(index)
                .and_then(|attribute| source.get(attribute.range_qname())),
            Kind::Tree if self.tree.is_element() => source
                .get(self.tree.range().start + 1..)
                .and_then(|tag| tag.split([' ', '\t', '\r', '\n', '/', '>']).next()),
            _ => None,
        };
        written.unwrap_or_else(|| self.local_name())
    }

    pub(super) fn parent(&self) -> Option<Self> {
        match self.kind {
            Kind::Tree => self.tree.parent().map(Self::new),
            _ => Some(Self::new(self.tree)),
        }
    }

    pub(super) fn attributes(&self) -> impl Iterator<Item = Self> + use<'a, 'input> {
        let tree = self.tree;
        let count = match self.is_tree() {
            true => tree.attributes().len(),
            false => 0,
        };
        (0..count).map(move |index| Self {
            tree,
            kind: Kind::Attribute(index),
        })
    }

    pub(super) fn namespaces(&self) -> impl Iterator<Item = Self> + use<'a, 'input> {
        let tree = self.tree;
        let count = match self.is_tree() && tree.is_element() {
            true => tree.namespaces().len() + 1,
            false => 0,
        };
        // The tree knows `xmlns=""` as a namespace, and `xml` not always; in XPath it is the other way round.
        (0..count)
            .map(move |index| Self {
                tree,
                kind: Kind::Namespace(index),
            })
            .filter(|node| match node.kind {
                Kind::Namespace(0) => true,
                _ => node.local_name() != "xml" && !node.text().is_empty(),
            })
    }

    pub(super) fn order(&self) -> (u32, (u8, usize)) {
        let place = match self.kind {
            Kind::Tree => (0, 0),
            Kind::Namespace(index) => (1, index),
            Kind::Attribute(index) => (2, index),
        };
        (self.tree.id().get(), place)
    }

    fn attribute(&self, index: usize) -> Option<roxmltree::Attribute<'a, 'input>> {
        self.tree.attributes().nth(index)
    }

    fn namespace_at(&self, index: usize) -> (&'a str, &'a str) {
        let Some(index) = index.checked_sub(1) else {
            return ("xml", "http://www.w3.org/XML/1998/namespace");
        };
        let found = self.tree.namespaces().nth(index);
        found.map_or(("", ""), |namespace| {
            (namespace.name().unwrap_or_default(), namespace.uri())
        })
    }
}

/// The node that expressions begin from: the document.
pub(super) fn root<'a, 'input>(document: &'a Document<'input>) -> Node<'a, 'input> {
    Node::new(document.root())
}
