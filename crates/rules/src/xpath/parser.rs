//! Reads an expression. Whatever could go wrong in it is found here: prefixes, functions, the number and the types of
//! their arguments. So an expression that compiles can be evaluated on any document.

use super::expression::{
    Axis, Calculation, Comparison, Expression, Function, Path, Start, Step, Test, Type,
};
use super::lexer::{self, Kind, Token};
use super::{Error, Namespaces};

pub(super) fn parse(text: &str, namespaces: &Namespaces) -> Result<Expression, Error> {
    let tokens = lexer::tokens(text)?;
    if let Some(token) = tokens.get(MAXIMUM_TOKENS) {
        return Err(Error::new(token.at, "the expression is too long"));
    }
    let mut parser = Parser {
        tokens,
        next: 0,
        end: text.len(),
        depth: 0,
        namespaces,
    };
    let expression = parser.expression()?;
    match parser.peek() {
        None => Ok(expression),
        Some(_) => Err(parser.error("the expression should end here")),
    }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    next: usize,
    end: usize,
    depth: usize,
    namespaces: &'a Namespaces,
}

impl Parser<'_> {
    fn expression(&mut self) -> Result<Expression, Error> {
        self.deeper()?;
        let mut left = self.and()?;
        while self.takes_operator("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, Error> {
        let mut left = self.equality()?;
        while self.takes_operator("and") {
            left = Expression::And(Box::new(left), Box::new(self.equality()?));
        }
        Ok(left)
    }

    fn equality(&mut self) -> Result<Expression, Error> {
        let mut left = self.relation()?;
        while let Some(comparison) =
            self.takes_one(&[("=", Comparison::Equal), ("!=", Comparison::NotEqual)])
        {
            left = Expression::Compare(comparison, Box::new(left), Box::new(self.relation()?));
        }
        Ok(left)
    }

    fn relation(&mut self) -> Result<Expression, Error> {
        let mut left = self.sum()?;
        while let Some(comparison) = self.takes_one(&[
            ("<", Comparison::Less),
            ("<=", Comparison::LessOrEqual),
            (">", Comparison::Greater),
            (">=", Comparison::GreaterOrEqual),
        ]) {
            left = Expression::Compare(comparison, Box::new(left), Box::new(self.sum()?));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, Error> {
        let mut left = self.product()?;
        while let Some(calculation) =
            self.takes_one(&[("+", Calculation::Add), ("-", Calculation::Subtract)])
        {
            left = Expression::Calculate(calculation, Box::new(left), Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Error> {
        let mut left = self.negation()?;
        while let Some(calculation) = self.takes_one(&[
            ("*", Calculation::Multiply),
            ("div", Calculation::Divide),
            ("mod", Calculation::Modulo),
        ]) {
            left = Expression::Calculate(calculation, Box::new(left), Box::new(self.negation()?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, Error> {
        if !self.takes_operator("-") {
            return self.union();
        }
        self.deeper()?;
        let inner = self.negation()?;
        self.depth -= 1;
        Ok(Expression::Negate(Box::new(inner)))
    }

    fn union(&mut self) -> Result<Expression, Error> {
        let at = self.at();
        let mut left = self.path()?;
        while self.takes_operator("|") {
            let right_at = self.at();
            let right = self.path()?;
            must_be_nodes(&left, at, "the left side of `|`")?;
            must_be_nodes(&right, right_at, "the right side of `|`")?;
            left = Expression::Union(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn path(&mut self) -> Result<Expression, Error> {
        if self.begins_primary() {
            return self.filtered_path();
        }
        let mut steps = Vec::new();
        let start = if self.takes_operator("//") {
            steps.push(any_descendant());
            self.steps(&mut steps)?;
            Start::Root
        } else if self.takes_operator("/") {
            if self.begins_step() {
                self.steps(&mut steps)?;
            }
            Start::Root
        } else {
            self.steps(&mut steps)?;
            Start::Context
        };
        Ok(finished(start, steps))
    }

    fn filtered_path(&mut self) -> Result<Expression, Error> {
        let at = self.at();
        let primary = self.primary()?;
        let predicates = self.predicates()?;
        let mut steps = Vec::new();
        if self.takes_operator("//") {
            steps.push(any_descendant());
            self.steps(&mut steps)?;
        } else if self.takes_operator("/") {
            self.steps(&mut steps)?;
        }
        if predicates.is_empty() && steps.is_empty() {
            return Ok(primary);
        }
        must_be_nodes(&primary, at, "what is filtered or stepped from")?;
        Ok(finished(
            Start::Filtered(Box::new(primary), predicates),
            steps,
        ))
    }

    fn primary(&mut self) -> Result<Expression, Error> {
        match self.take() {
            Some(Kind::Literal(text)) => Ok(Expression::Literal(text)),
            Some(Kind::Number(number)) => Ok(Expression::Number(number)),
            Some(Kind::Sign("(")) => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(Kind::Name { prefix, local }) => self.call(prefix, &local),
            _ => {
                self.next -= 1;
                Err(self.error("a value is expected"))
            }
        }
    }

    fn call(&mut self, prefix: Option<String>, name: &str) -> Result<Expression, Error> {
        let at = self.tokens[self.next - 1].at;
        let found = match prefix {
            None => Function::find(name),
            Some(_) => None,
        };
        let Some((function, least, most)) = found else {
            return Err(Error::new(
                at,
                format!("XPath 1.0 has no function `{name}`"),
            ));
        };
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.is_sign(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            let argument_at = self.at();
            let argument = self.expression()?;
            if function.wants_nodes() {
                must_be_nodes(&argument, argument_at, &format!("the argument of {name}()"))?;
            }
            arguments.push(argument);
        }
        self.expect(")")?;
        if arguments.len() < least || arguments.len() > most {
            return Err(Error::new(
                at,
                format!("wrong number of arguments for {name}()"),
            ));
        }
        Ok(Expression::Call(function, arguments))
    }

    fn steps(&mut self, steps: &mut Vec<Step>) -> Result<(), Error> {
        loop {
            let step = self.step()?;
            steps.push(step);
            if self.takes_operator("//") {
                steps.push(any_descendant());
            } else if !self.takes_operator("/") {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Result<Step, Error> {
        if self.takes_sign(".") {
            return Ok(bare(Axis::Itself));
        }
        if self.takes_sign("..") {
            return Ok(bare(Axis::Parent));
        }
        let axis = self.axis()?;
        let test = self.test()?;
        let predicates = self.predicates()?;
        Ok(Step {
            axis,
            test,
            predicates,
        })
    }

    fn axis(&mut self) -> Result<Axis, Error> {
        if self.takes_sign("@") {
            return Ok(Axis::Attribute);
        }
        let named =
            matches!(self.tokens.get(self.next + 1), Some(token) if token.kind == Kind::Sign("::"));
        if !named {
            return Ok(Axis::Child);
        }
        let Some(Kind::Name {
            prefix: None,
            local,
        }) = self.peek()
        else {
            return Err(self.error("the name of an axis is expected"));
        };
        let Some(axis) = find_axis(local) else {
            return Err(self.error(format!("there is no axis `{local}`")));
        };
        self.next += 2;
        Ok(axis)
    }

    fn test(&mut self) -> Result<Test, Error> {
        let at = self.at();
        let Some(Kind::Name { prefix, local }) = self.peek().cloned() else {
            return Err(self.error("a step of a path is expected"));
        };
        self.next += 1;
        if self.is_sign("(") {
            return self.node_test(prefix.as_deref(), &local, at);
        }
        let namespace = match prefix {
            None => None,
            Some(prefix) => match self.namespaces.get(&prefix) {
                Some(namespace) => Some(namespace.to_owned()),
                None => {
                    return Err(Error::new(
                        at,
                        format!("the prefix `{prefix}` is not declared"),
                    ));
                }
            },
        };
        Ok(match (namespace, local.as_str()) {
            (None, "*") => Test::AnyName,
            (Some(namespace), "*") => Test::Namespace(namespace),
            (namespace, _) => Test::Name { namespace, local },
        })
    }

    fn node_test(&mut self, prefix: Option<&str>, name: &str, at: usize) -> Result<Test, Error> {
        self.expect("(")?;
        let test = match (prefix, name) {
            (None, "node") => Test::Node,
            (None, "text") => Test::Text,
            (None, "comment") => Test::Comment,
            (None, "processing-instruction") => Test::ProcessingInstruction(self.target()),
            _ => {
                return Err(Error::new(
                    at,
                    format!("`{name}()` cannot be a step of a path"),
                ));
            }
        };
        self.expect(")")?;
        Ok(test)
    }

    fn target(&mut self) -> Option<String> {
        let Some(Kind::Literal(target)) = self.peek().cloned() else {
            return None;
        };
        self.next += 1;
        Some(target)
    }

    fn predicates(&mut self) -> Result<Vec<Expression>, Error> {
        let mut predicates = Vec::new();
        while self.takes_sign("[") {
            predicates.push(self.expression()?);
            self.expect("]")?;
        }
        Ok(predicates)
    }

    /// Whether a literal, a number, a parenthesis or a call comes next, and not a step.
    fn begins_primary(&self) -> bool {
        match self.peek() {
            Some(Kind::Literal(_) | Kind::Number(_) | Kind::Sign("(")) => true,
            Some(Kind::Name { prefix, local }) => {
                let call = matches!(self.tokens.get(self.next + 1), Some(token) if token.kind == Kind::Sign("("));
                let node_type = matches!(
                    local.as_str(),
                    "node" | "text" | "comment" | "processing-instruction"
                );
                call && !(prefix.is_none() && node_type)
            }
            _ => false,
        }
    }

    fn begins_step(&self) -> bool {
        matches!(
            self.peek(),
            Some(Kind::Name { .. } | Kind::Sign("." | ".." | "@"))
        )
    }

    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.next).map(|token| &token.kind)
    }

    fn take(&mut self) -> Option<Kind> {
        let kind = self.peek().cloned();
        self.next += 1;
        kind
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Kind::Sign(found)) if *found == sign)
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.next += usize::from(found);
        found
    }

    fn takes_operator(&mut self, operator: &str) -> bool {
        let found = matches!(self.peek(), Some(Kind::Operator(found)) if *found == operator);
        self.next += usize::from(found);
        found
    }

    fn takes_one<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        choices
            .iter()
            .find(|(operator, _)| self.takes_operator(operator))
            .map(|(_, meaning)| *meaning)
    }

    fn expect(&mut self, sign: &str) -> Result<(), Error> {
        if self.takes_sign(sign) {
            return Ok(());
        }
        Err(self.error(format!("`{sign}` is expected")))
    }

    fn at(&self) -> usize {
        self.tokens
            .get(self.next)
            .map_or(self.end, |token| token.at)
    }

    fn error(&self, reason: impl Into<String>) -> Error {
        Error::new(self.at(), reason)
    }

    fn deeper(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAXIMUM_DEPTH {
            return Err(self.error("the expression is nested too deeply"));
        }
        Ok(())
    }
}

fn must_be_nodes(expression: &Expression, at: usize, what: &str) -> Result<(), Error> {
    if expression.gives() == Type::Nodes {
        return Ok(());
    }
    Err(Error::new(at, format!("{what} must select nodes")))
}

fn finished(start: Start, steps: Vec<Step>) -> Expression {
    Expression::Path(Path {
        start,
        steps: shortened(steps),
    })
}

/// `//name` is `descendant-or-self::node()/child::name`, which visits everything twice. Where no predicate counts
/// positions among siblings, `descendant::name` is the same.
fn shortened(steps: Vec<Step>) -> Vec<Step> {
    let mut short: Vec<Step> = Vec::with_capacity(steps.len());
    for mut step in steps {
        let mergeable = step.axis == Axis::Child
            && !step.predicates.iter().any(Expression::is_positional)
            && short.last().is_some_and(is_any_descendant);
        if mergeable {
            short.pop();
            step.axis = Axis::Descendant;
        }
        short.push(step);
    }
    short
}

fn any_descendant() -> Step {
    bare(Axis::DescendantOrSelf)
}

fn is_any_descendant(step: &Step) -> bool {
    step.axis == Axis::DescendantOrSelf && step.test == Test::Node && step.predicates.is_empty()
}

fn bare(axis: Axis) -> Step {
    Step {
        axis,
        test: Test::Node,
        predicates: Vec::new(),
    }
}

fn find_axis(name: &str) -> Option<Axis> {
    Some(match name {
        "ancestor" => Axis::Ancestor,
        "ancestor-or-self" => Axis::AncestorOrSelf,
        "attribute" => Axis::Attribute,
        "child" => Axis::Child,
        "descendant" => Axis::Descendant,
        "descendant-or-self" => Axis::DescendantOrSelf,
        "following" => Axis::Following,
        "following-sibling" => Axis::FollowingSibling,
        "namespace" => Axis::Namespace,
        "parent" => Axis::Parent,
        "preceding" => Axis::Preceding,
        "preceding-sibling" => Axis::PrecedingSibling,
        "self" => Axis::Itself,
        _ => return None,
    })
}

/// Each level of parentheses costs about ten frames of the stack.
const MAXIMUM_DEPTH: usize = 64;
/// A chain of operators is a tree as deep as it is long.
const MAXIMUM_TOKENS: usize = 1000;
