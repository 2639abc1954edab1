//! Evaluates an expression on a document.
//!
//! Expressions come from those who run the harvest, documents from anywhere. The work that one may cause with the
//! other is limited by counting the nodes that are visited.

use std::cell::Cell;

use roxmltree::Document;

use super::expression::{Axis, Calculation, Expression, Path, Start, Step, Test, Type};
use super::node::{Node, NodeKind, root};
use super::value::{Value, compare};

/// Too many nodes were visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exhausted;

pub(super) struct Evaluation<'a, 'input> {
    document: &'a Document<'input>,
    left: Cell<u64>,
}

#[derive(Clone, Copy)]
pub(super) struct Context<'a, 'input> {
    pub(super) node: Node<'a, 'input>,
    pub(super) position: usize,
    pub(super) size: usize,
}

type Nodes<'a, 'input> = Vec<Node<'a, 'input>>;

impl<'a, 'input> Evaluation<'a, 'input> {
    pub(super) fn new(document: &'a Document<'input>, visits: u64) -> Self {
        Self {
            document,
            left: Cell::new(visits),
        }
    }

    pub(super) fn run(&self, expression: &Expression) -> Result<Value<'a, 'input>, Exhausted> {
        let context = Context {
            node: root(self.document),
            position: 1,
            size: 1,
        };
        self.value(expression, context)
    }

    pub(super) fn document(&self) -> &'a Document<'input> {
        self.document
    }

    pub(super) fn visit(&self, nodes: usize) -> Result<(), Exhausted> {
        let left = self.left.get().checked_sub(nodes as u64);
        self.left.set(left.ok_or(Exhausted)?);
        Ok(())
    }

    /// Counts the reading of texts as visits, for the text of an element is that of all below.
    pub(super) fn read(&self, value: &Value) -> Result<(), Exhausted> {
        let Value::Nodes(nodes) = value else {
            return Ok(());
        };
        let bytes: usize = nodes.iter().map(|node| node.tree().range().len()).sum();
        self.visit(bytes / BYTES_PER_VISIT)
    }

    pub(super) fn value(
        &self,
        expression: &Expression,
        context: Context<'a, 'input>,
    ) -> Result<Value<'a, 'input>, Exhausted> {
        self.visit(1)?;
        Ok(match expression {
            Expression::Or(left, right) => Value::Boolean(
                self.value(left, context)?.boolean() || self.value(right, context)?.boolean(),
            ),
            Expression::And(left, right) => Value::Boolean(
                self.value(left, context)?.boolean() && self.value(right, context)?.boolean(),
            ),
            Expression::Compare(comparison, left, right) => {
                let (left, right) = (self.value(left, context)?, self.value(right, context)?);
                self.read(&left)?;
                self.read(&right)?;
                Value::Boolean(compare(*comparison, &left, &right))
            }
            Expression::Calculate(calculation, left, right) => {
                let left = self.value(left, context)?.number();
                let right = self.value(right, context)?.number();
                Value::Number(calculate(*calculation, left, right))
            }
            Expression::Negate(inner) => Value::Number(-self.value(inner, context)?.number()),
            Expression::Union(left, right) => {
                let mut nodes = self.value(left, context)?.nodes();
                nodes.extend(self.value(right, context)?.nodes());
                Value::Nodes(in_order(nodes))
            }
            Expression::Path(path) => Value::Nodes(self.path(path, context)?),
            Expression::Literal(text) => Value::Text(text.clone()),
            Expression::Number(number) => Value::Number(*number),
            Expression::Call(function, arguments) => self.call(*function, arguments, context)?,
        })
    }

    fn path(
        &self,
        path: &Path,
        context: Context<'a, 'input>,
    ) -> Result<Nodes<'a, 'input>, Exhausted> {
        let mut nodes = match &path.start {
            Start::Root => vec![root(self.document)],
            Start::Context => vec![context.node],
            Start::Filtered(inner, predicates) => {
                let nodes = self.value(inner, context)?.nodes();
                self.filter(nodes, predicates)?
            }
        };
        for step in &path.steps {
            nodes = self.step(step, &nodes)?;
        }
        Ok(nodes)
    }

    fn step(&self, step: &Step, from: &[Node<'a, 'input>]) -> Result<Nodes<'a, 'input>, Exhausted> {
        let mut found = Vec::new();
        for node in from {
            let mut nodes = Vec::new();
            for node in along(step.axis, *node) {
                self.visit(1)?;
                if admits(&step.test, step.axis, &node) {
                    nodes.push(node);
                }
            }
            found.extend(self.filter(nodes, &step.predicates)?);
        }
        let ordered = from.len() <= 1 && !goes_back(step.axis);
        Ok(match ordered {
            true => found,
            false => in_order(found),
        })
    }

    /// Keeps the nodes for which all predicates hold; positions count in the order given.
    fn filter(
        &self,
        mut nodes: Nodes<'a, 'input>,
        predicates: &[Expression],
    ) -> Result<Nodes<'a, 'input>, Exhausted> {
        for predicate in predicates {
            let size = nodes.len();
            let mut kept = Vec::new();
            for (index, node) in nodes.into_iter().enumerate() {
                let context = Context {
                    node,
                    position: index + 1,
                    size,
                };
                let value = self.value(predicate, context)?;
                let holds = match predicate.gives() {
                    Type::Number => value.number() == context.position as f64,
                    _ => value.boolean(),
                };
                if holds {
                    kept.push(node);
                }
            }
            nodes = kept;
        }
        Ok(nodes)
    }
}

fn calculate(calculation: Calculation, left: f64, right: f64) -> f64 {
    match calculation {
        Calculation::Add => left + right,
        Calculation::Subtract => left - right,
        Calculation::Multiply => left * right,
        Calculation::Divide => left / right,
        Calculation::Modulo => left % right,
    }
}

fn in_order<'a, 'input>(mut nodes: Nodes<'a, 'input>) -> Nodes<'a, 'input> {
    nodes.sort_by_key(Node::order);
    nodes.dedup_by_key(|node| node.order());
    nodes
}

fn goes_back(axis: Axis) -> bool {
    matches!(
        axis,
        Axis::Ancestor | Axis::AncestorOrSelf | Axis::Preceding | Axis::PrecedingSibling
    )
}

/// The nodes of an axis, in its own order: away from the node.
fn along<'a, 'input>(
    axis: Axis,
    node: Node<'a, 'input>,
) -> Box<dyn Iterator<Item = Node<'a, 'input>> + 'a>
where
    'input: 'a,
{
    let tree = node.tree();
    match axis {
        Axis::Itself => Box::new(std::iter::once(node)),
        Axis::Parent => Box::new(node.parent().into_iter()),
        Axis::Attribute => Box::new(node.attributes()),
        Axis::Namespace => Box::new(node.namespaces()),
        Axis::Ancestor => Box::new(std::iter::successors(node.parent(), Node::parent)),
        Axis::AncestorOrSelf => Box::new(std::iter::successors(Some(node), Node::parent)),
        Axis::DescendantOrSelf if !node.is_tree() => Box::new(std::iter::once(node)),
        Axis::DescendantOrSelf => Box::new(tree.descendants().map(Node::new)),
        // The axis behind an attribute begins with the content of its element.
        Axis::Following if !node.is_tree() => {
            let inside = tree.descendants().skip(1);
            Box::new(inside.chain(following(tree)).map(Node::new))
        }
        Axis::Following => Box::new(following(tree).map(Node::new)),
        Axis::Preceding => Box::new(preceding(tree).map(Node::new)),
        _ if !node.is_tree() => Box::new(std::iter::empty()),
        Axis::Child => Box::new(tree.children().map(Node::new)),
        Axis::Descendant => Box::new(tree.descendants().skip(1).map(Node::new)),
        Axis::FollowingSibling => Box::new(tree.next_siblings().skip(1).map(Node::new)),
        Axis::PrecedingSibling => Box::new(tree.prev_siblings().skip(1).map(Node::new)),
    }
}

fn following<'a, 'input>(
    tree: roxmltree::Node<'a, 'input>,
) -> impl Iterator<Item = roxmltree::Node<'a, 'input>> {
    tree.ancestors()
        .flat_map(|ancestor| ancestor.next_siblings().skip(1))
        .flat_map(|sibling| sibling.descendants())
}

fn preceding<'a, 'input>(
    tree: roxmltree::Node<'a, 'input>,
) -> impl Iterator<Item = roxmltree::Node<'a, 'input>> {
    tree.ancestors()
        .flat_map(|ancestor| ancestor.prev_siblings().skip(1))
        .flat_map(|sibling| sibling.descendants().rev())
}

fn admits(test: &Test, axis: Axis, node: &Node) -> bool {
    // The principal node type of the axis (XPath 1.0, 2.3).
    let principal = match axis {
        Axis::Attribute => NodeKind::Attribute,
        Axis::Namespace => NodeKind::Namespace,
        _ => NodeKind::Element,
    };
    match test {
        Test::Node => true,
        Test::Text => node.kind() == NodeKind::Text,
        Test::Comment => node.kind() == NodeKind::Comment,
        Test::ProcessingInstruction(target) => {
            let target_fits = || {
                target
                    .as_deref()
                    .is_none_or(|name| name == node.local_name())
            };
            node.kind() == NodeKind::ProcessingInstruction && target_fits()
        }
        Test::AnyName => node.kind() == principal,
        Test::Namespace(uri) => node.kind() == principal && node.namespace() == Some(uri),
        Test::Name { namespace, local } => {
            node.kind() == principal
                && node.local_name() == local
                && node.namespace() == namespace.as_deref()
        }
    }
}

const BYTES_PER_VISIT: usize = 64;
