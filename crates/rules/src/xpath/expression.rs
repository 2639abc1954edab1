//! The parts of an expression, once it is read: the tree that is evaluated.

/// An expression, with all prefixes resolved.
#[derive(Debug, Clone)]
pub(super) enum Expression {
    Or(Box<Expression>, Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    Calculate(Calculation, Box<Expression>, Box<Expression>),
    Negate(Box<Expression>),
    Union(Box<Expression>, Box<Expression>),
    Path(Path),
    Literal(String),
    Number(f64),
    Call(Function, Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Calculation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

#[derive(Debug, Clone)]
pub(super) struct Path {
    pub(super) start: Start,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(super) enum Start {
    Root,
    Context,
    /// `(…)[predicates]`, a call, or the like.
    Filtered(Box<Expression>, Vec<Expression>),
}

#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    /// `*`
    AnyName,
    /// `prefix:*`
    Namespace(String),
    /// `name`, in no namespace, or `prefix:name`
    Name {
        namespace: Option<String>,
        local: String,
    },
    Node,
    Text,
    Comment,
    ProcessingInstruction(Option<String>),
}

/// The four types of XPath 1.0. Without variables the type of every expression is known before it is evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Type {
    Nodes,
    Boolean,
    Number,
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Id,
    Lang,
    Last,
    LocalName,
    Name,
    NamespaceUri,
    NormalizeSpace,
    Not,
    Number,
    Position,
    Round,
    StartsWith,
    String,
    StringLength,
    Substring,
    SubstringAfter,
    SubstringBefore,
    Sum,
    Translate,
    True,
}

impl Function {
    /// The function of a name, with the least and the largest number of arguments.
    pub(super) fn find(name: &str) -> Option<(Self, usize, usize)> {
        Some(match name {
            "boolean" => (Self::Boolean, 1, 1),
            "ceiling" => (Self::Ceiling, 1, 1),
            "concat" => (Self::Concat, 2, usize::MAX),
            "contains" => (Self::Contains, 2, 2),
            "count" => (Self::Count, 1, 1),
            "false" => (Self::False, 0, 0),
            "floor" => (Self::Floor, 1, 1),
            "id" => (Self::Id, 1, 1),
            "lang" => (Self::Lang, 1, 1),
            "last" => (Self::Last, 0, 0),
            "local-name" => (Self::LocalName, 0, 1),
            "name" => (Self::Name, 0, 1),
            "namespace-uri" => (Self::NamespaceUri, 0, 1),
            "normalize-space" => (Self::NormalizeSpace, 0, 1),
            "not" => (Self::Not, 1, 1),
            "number" => (Self::Number, 0, 1),
            "position" => (Self::Position, 0, 0),
            "round" => (Self::Round, 1, 1),
            "starts-with" => (Self::StartsWith, 2, 2),
            "string" => (Self::String, 0, 1),
            "string-length" => (Self::StringLength, 0, 1),
            "substring" => (Self::Substring, 2, 3),
            "substring-after" => (Self::SubstringAfter, 2, 2),
            "substring-before" => (Self::SubstringBefore, 2, 2),
            "sum" => (Self::Sum, 1, 1),
            "translate" => (Self::Translate, 3, 3),
            "true" => (Self::True, 0, 0),
            _ => return None,
        })
    }

    /// Whether an argument must be nodes; everything else is converted.
    pub(super) fn wants_nodes(self) -> bool {
        matches!(
            self,
            Self::Count | Self::Sum | Self::LocalName | Self::Name | Self::NamespaceUri
        )
    }

    fn gives(self) -> Type {
        match self {
            Self::Id => Type::Nodes,
            Self::Boolean
            | Self::Contains
            | Self::False
            | Self::Lang
            | Self::Not
            | Self::StartsWith
            | Self::True => Type::Boolean,
            Self::Ceiling
            | Self::Count
            | Self::Floor
            | Self::Last
            | Self::Number
            | Self::Position
            | Self::Round
            | Self::StringLength
            | Self::Sum => Type::Number,
            _ => Type::Text,
        }
    }
}

impl Expression {
    pub(super) fn gives(&self) -> Type {
        match self {
            Self::Or(..) | Self::And(..) | Self::Compare(..) => Type::Boolean,
            Self::Calculate(..) | Self::Negate(_) | Self::Number(_) => Type::Number,
            Self::Union(..) | Self::Path(_) => Type::Nodes,
            Self::Literal(_) => Type::Text,
            Self::Call(function, _) => function.gives(),
        }
    }

    /// Whether the outcome, as a predicate, may depend on the position among the nodes that are filtered.
    /// A call of `position()` deep inside of another predicate counts as well: that is only slower.
    pub(super) fn is_positional(&self) -> bool {
        self.gives() == Type::Number || self.mentions_position()
    }

    fn mentions_position(&self) -> bool {
        match self {
            Self::Or(a, b)
            | Self::And(a, b)
            | Self::Compare(_, a, b)
            | Self::Calculate(_, a, b)
            | Self::Union(a, b) => a.mentions_position() || b.mentions_position(),
            Self::Negate(a) => a.mentions_position(),
            Self::Call(Function::Position | Function::Last, _) => true,
            Self::Call(_, arguments) => arguments.iter().any(Self::mentions_position),
            Self::Path(path) => path.mentions_position(),
            Self::Literal(_) | Self::Number(_) => false,
        }
    }
}

impl Path {
    fn mentions_position(&self) -> bool {
        let start = match &self.start {
            Start::Filtered(inner, predicates) => {
                inner.mentions_position() || predicates.iter().any(Expression::mentions_position)
            }
            Start::Root | Start::Context => false,
        };
        start
            || self
                .steps
                .iter()
                .any(|step| step.predicates.iter().any(Expression::mentions_position))
    }
}
