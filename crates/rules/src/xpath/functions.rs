//! The functions of XPath 1.0, 4.

use super::evaluation::{Context, Evaluation, Exhausted};
use super::expression::{Expression, Function};
use super::node::{Node, NodeKind};
use super::value::{Value, parse_number};

impl<'a, 'input> Evaluation<'a, 'input> {
    pub(super) fn call(
        &self,
        function: Function,
        arguments: &[Expression],
        context: Context<'a, 'input>,
    ) -> Result<Value<'a, 'input>, Exhausted> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let value = self.value(argument, context)?;
            self.read(&value)?;
            values.push(value);
        }
        // Several functions take the context node where no argument is given.
        if values.is_empty() {
            values.push(Value::Nodes(vec![context.node]));
        }
        let text = |index: usize| values.get(index).map(Value::text).unwrap_or_default();
        let number = |index: usize| values.get(index).map_or(f64::NAN, Value::number);
        Ok(match function {
            Function::Last => Value::Number(context.size as f64),
            Function::Position => Value::Number(context.position as f64),
            Function::True => Value::Boolean(true),
            Function::False => Value::Boolean(false),
            Function::Boolean => Value::Boolean(values[0].boolean()),
            Function::Not => Value::Boolean(!values[0].boolean()),
            Function::Number => Value::Number(number(0)),
            Function::Floor => Value::Number(number(0).floor()),
            Function::Ceiling => Value::Number(number(0).ceil()),
            Function::Round => Value::Number(round(number(0))),
            Function::String => Value::Text(text(0)),
            Function::StringLength => Value::Number(text(0).chars().count() as f64),
            Function::NormalizeSpace => Value::Text(normalize_space(&text(0))),
            Function::Concat => Value::Text(values.iter().map(Value::text).collect()),
            Function::Contains => Value::Boolean(text(0).contains(&text(1))),
            Function::StartsWith => Value::Boolean(text(0).starts_with(&text(1))),
            Function::SubstringBefore => Value::Text(before(&text(0), &text(1))),
            Function::SubstringAfter => Value::Text(after(&text(0), &text(1))),
            Function::Substring => {
                let length = (values.len() > 2).then(|| number(2));
                Value::Text(substring(&text(0), number(1), length))
            }
            Function::Translate => Value::Text(translate(&text(0), &text(1), &text(2))),
            Function::Lang => Value::Boolean(speaks(context.node, &text(0))),
            Function::Count => Value::Number(values.remove(0).nodes().len() as f64),
            Function::Sum => Value::Number(sum(&values.remove(0).nodes())),
            Function::Id => Value::Nodes(self.by_id(&values[0])?),
            Function::LocalName => Value::Text(first(values).map_or("", local_name).into()),
            Function::Name => Value::Text(first(values).map_or("", qualified_name).into()),
            Function::NamespaceUri => {
                let uri = first(values).and_then(|node| node.namespace());
                Value::Text(uri.unwrap_or_default().into())
            }
        })
    }

    /// Only `xml:id` is known to be an identifier: there is no document type that could name others.
    fn by_id(&self, value: &Value) -> Result<Vec<Node<'a, 'input>>, Exhausted> {
        let texts: Vec<String> = match value {
            Value::Nodes(nodes) => nodes.iter().map(Node::text).collect(),
            other => vec![other.text()],
        };
        let wanted: Vec<&str> = texts
            .iter()
            .flat_map(|text| text.split([' ', '\t', '\r', '\n']))
            .filter(|id| !id.is_empty())
            .collect();
        let mut found: Vec<Node> = Vec::new();
        for element in self.document().descendants().filter(|n| n.is_element()) {
            self.visit(1)?;
            let id = element.attribute((XML, "id"));
            if id.is_some_and(|id| wanted.contains(&id.trim())) {
                found.push(Node::new(element));
            }
        }
        Ok(found)
    }
}

fn first<'a, 'input>(values: Vec<Value<'a, 'input>>) -> Option<Node<'a, 'input>> {
    values.into_iter().next()?.nodes().first().copied()
}

fn local_name<'a>(node: Node<'a, '_>) -> &'a str {
    node.local_name()
}

fn qualified_name<'a>(node: Node<'a, '_>) -> &'a str {
    node.qualified_name()
}

fn sum(nodes: &[Node]) -> f64 {
    nodes.iter().map(|node| parse_number(&node.text())).sum()
}

/// Halves go up, also below zero.
fn round(number: f64) -> f64 {
    match number.is_finite() {
        true => (number + 0.5).floor(),
        false => number,
    }
}

fn normalize_space(text: &str) -> String {
    let words: Vec<&str> = text
        .split([' ', '\t', '\r', '\n'])
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn before(text: &str, mark: &str) -> String {
    text.split_once(mark)
        .map_or("", |(before, _)| before)
        .to_owned()
}

fn after(text: &str, mark: &str) -> String {
    text.split_once(mark)
        .map_or("", |(_, after)| after)
        .to_owned()
}

fn substring(text: &str, begin: f64, length: Option<f64>) -> String {
    let begin = round(begin);
    let end = length.map_or(f64::INFINITY, |length| begin + round(length));
    text.chars()
        .enumerate()
        .filter(|(index, _)| {
            let position = *index as f64 + 1.0;
            position >= begin && position < end
        })
        .map(|(_, c)| c)
        .collect()
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    text.chars()
        .filter_map(|c| match from.chars().position(|other| other == c) {
            Some(index) => to.get(index).copied(),
            None => Some(c),
        })
        .collect()
}

fn speaks(node: Node, language: &str) -> bool {
    let begin = match node.kind() {
        NodeKind::Root => return false,
        _ => node.element(),
    };
    let mut elements = begin.into_iter().flat_map(|element| element.ancestors());
    let Some(found) = elements.find_map(|element| element.attribute((XML, "lang"))) else {
        return false;
    };
    let (found, language) = (found.to_lowercase(), language.to_lowercase());
    match found.strip_prefix(&language) {
        Some(rest) => rest.is_empty() || rest.starts_with('-'),
        None => false,
    }
}

const XML: &str = "http://www.w3.org/XML/1998/namespace";
