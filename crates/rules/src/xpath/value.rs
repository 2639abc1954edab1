//! The values of XPath 1.0, their conversions (4.2 to 4.4) and their comparison (3.4).

use std::collections::HashSet;

use super::expression::Comparison;
use super::node::Node;

#[derive(Debug, Clone)]
pub(super) enum Value<'a, 'input> {
    Nodes(Vec<Node<'a, 'input>>),
    Boolean(bool),
    Number(f64),
    Text(String),
}

impl<'a, 'input> Value<'a, 'input> {
    pub(super) fn boolean(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Boolean(value) => *value,
            Self::Number(value) => *value != 0.0 && !value.is_nan(),
            Self::Text(text) => !text.is_empty(),
        }
    }

    pub(super) fn number(&self) -> f64 {
        match self {
            Self::Nodes(_) => parse_number(&self.text()),
            Self::Boolean(value) => f64::from(u8::from(*value)),
            Self::Number(value) => *value,
            Self::Text(text) => parse_number(text),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Nodes(nodes) => nodes.first().map(Node::text).unwrap_or_default(),
            Self::Boolean(value) => value.to_string(),
            Self::Number(value) => format_number(*value),
            Self::Text(text) => text.clone(),
        }
    }

    pub(super) fn nodes(self) -> Vec<Node<'a, 'input>> {
        match self {
            Self::Nodes(nodes) => nodes,
            _ => Vec::new(),
        }
    }
}

pub(super) fn compare(comparison: Comparison, left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Boolean(_), Value::Nodes(_)) | (Value::Nodes(_), Value::Boolean(_)) => {
            compare_single(
                comparison,
                &Value::Boolean(left.boolean()),
                &Value::Boolean(right.boolean()),
            )
        }
        (Value::Nodes(left), Value::Nodes(right)) => compare_sets(comparison, left, right),
        (Value::Nodes(nodes), other) => nodes
            .iter()
            .any(|node| compare_single(comparison, &Value::Text(node.text()), other)),
        (other, Value::Nodes(nodes)) => nodes
            .iter()
            .any(|node| compare_single(comparison, other, &Value::Text(node.text()))),
        _ => compare_single(comparison, left, right),
    }
}

/// Two sets compare as true if there is a pair that does, found without looking at every pair.
fn compare_sets(comparison: Comparison, left: &[Node], right: &[Node]) -> bool {
    if matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        let left: HashSet<String> = left.iter().map(Node::text).collect();
        let right: HashSet<String> = right.iter().map(Node::text).collect();
        if comparison == Comparison::Equal {
            return !left.is_disjoint(&right);
        }
        let both_one = left.len() == 1 && left == right;
        return !left.is_empty() && !right.is_empty() && !both_one;
    }
    let (left, right) = (extremes(left), extremes(right));
    let (Some((left_least, left_most)), Some((right_least, right_most))) = (left, right) else {
        return false;
    };
    match comparison {
        Comparison::Less => left_least < right_most,
        Comparison::LessOrEqual => left_least <= right_most,
        Comparison::Greater => left_most > right_least,
        _ => left_most >= right_least,
    }
}

/// The least and the largest number among the nodes; what is no number is never less or greater.
fn extremes(nodes: &[Node]) -> Option<(f64, f64)> {
    let numbers = nodes
        .iter()
        .map(|node| parse_number(&node.text()))
        .filter(|number| !number.is_nan());
    numbers.fold(None, |found, number| match found {
        None => Some((number, number)),
        Some((least, most)) => Some((f64::min(least, number), f64::max(most, number))),
    })
}

fn compare_single(comparison: Comparison, left: &Value, right: &Value) -> bool {
    let (a, b) = (left.number(), right.number());
    match comparison {
        Comparison::Equal => equal(left, right),
        Comparison::NotEqual => !equal(left, right),
        Comparison::Less => a < b,
        Comparison::LessOrEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterOrEqual => a >= b,
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Boolean(_), _) | (_, Value::Boolean(_)) => left.boolean() == right.boolean(),
        (Value::Number(_), _) | (_, Value::Number(_)) => left.number() == right.number(),
        _ => left.text() == right.text(),
    }
}

/// A number as XPath writes it: no exponent, no plus sign.
pub(super) fn parse_number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match plain && digits.bytes().any(|b| b.is_ascii_digit()) {
        true => text.parse().unwrap_or(f64::NAN),
        false => f64::NAN,
    }
}

fn format_number(number: f64) -> String {
    if number.is_infinite() {
        return match number > 0.0 {
            true => "Infinity".into(),
            false => "-Infinity".into(),
        };
    }
    match number == 0.0 {
        true => "0".into(),
        false => number.to_string(),
    }
}
