//! XPath 1.0 with namespaces, complete but for variables.
//!
//! The engines to be had were not right in ways that matter to a filter: a name without a prefix matched elements of
//! any namespace, text in CDATA sections was not seen, attributes had no parent, and some errors gave no nodes instead
//! of an error. `docs/reference/filters.md` has the comparison; `tests/xpath.rs` holds this one to libxml2.

mod evaluation;
mod expression;
mod functions;
mod lexer;
mod namespaces;
mod node;
mod parser;
mod value;

use roxmltree::Document;

use self::evaluation::Evaluation;
use self::expression::{Expression, Type};
pub(crate) use self::lexer::{is_name_char, is_name_start};
pub use self::namespaces::Namespaces;
pub use self::node::{Node, NodeKind};

/// A compiled expression, for use on many documents and from several threads.
///
/// ```
/// use rules::xpath::{Namespaces, XPath};
///
/// let namespaces = Namespaces::parse("xmlns:dc='http://purl.org/dc/elements/1.1/'")?;
/// let first = XPath::compile("(//dc:subject)[1]", &namespaces)?;
///
/// let xml = "<r xmlns:d='http://purl.org/dc/elements/1.1/'><d:subject>a</d:subject><d:subject>b</d:subject></r>";
/// let document = rules::xml::parse(xml.as_bytes(), &Default::default())?;
/// let nodes = first.select(&document)?;
/// assert_eq!(nodes[0].text(), "a");
/// assert_eq!(nodes.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct XPath {
    text: String,
    expression: Expression,
}

impl XPath {
    /// Reads an expression. An expression that this engine could not evaluate is an error here, never later.
    pub fn compile(text: &str, namespaces: &Namespaces) -> Result<Self, Error> {
        Ok(Self {
            text: text.to_owned(),
            expression: parser::parse(text, namespaces)?,
        })
    }

    /// Reads an expression that must select nodes, and not compute a number, a text or a truth value.
    pub fn compile_selection(text: &str, namespaces: &Namespaces) -> Result<Self, Error> {
        let xpath = Self::compile(text, namespaces)?;
        match xpath.expression.gives() {
            Type::Nodes => Ok(xpath),
            _ => Err(Error::new(0, "the expression must select nodes")),
        }
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The nodes that the expression selects from the document, in document order; none if it selects no nodes.
    pub fn select<'a, 'input>(
        &self,
        document: &'a Document<'input>,
    ) -> Result<Vec<Node<'a, 'input>>, TooMuchWork> {
        let value = Evaluation::new(document, MAXIMUM_VISITS).run(&self.expression);
        Ok(value.map_err(|_| TooMuchWork)?.nodes())
    }

    /// The value of the expression as text, as `string(…)` gives it.
    pub fn text(&self, document: &Document) -> Result<String, TooMuchWork> {
        let value = Evaluation::new(document, MAXIMUM_VISITS).run(&self.expression);
        Ok(value.map_err(|_| TooMuchWork)?.text())
    }
}

/// The fault of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Error {
    /// How many bytes of the expression come before the place.
    pub at: usize,
    /// The fault there.
    pub reason: String,
}

impl Error {
    pub(crate) fn new(at: usize, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { at, reason }
    }
}

/// A document makes an expression visit more nodes than can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the document makes the XPath expression visit too many nodes")]
pub struct TooMuchWork;

/// About a second of work; the largest records there are take some thousands.
const MAXIMUM_VISITS: u64 = 20_000_000;
