//! Cuts an XPath expression into tokens, by the rules of XPath 1.0, 3.7.

use super::Error;

/// A token and where it begins in the expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// `(`, `)`, `[`, `]`, `.`, `..`, `@`, `,`, `::`
    Sign(&'static str),
    /// `/`, `//`, `|`, `+`, `-`, `=`, `!=`, `<`, `<=`, `>`, `>=`, `*` between operands, `and`, `or`, `mod`, `div`
    Operator(&'static str),
    /// `*`, `prefix:*`, `name` or `prefix:name`
    Name {
        prefix: Option<String>,
        local: String,
    },
    Literal(String),
    Number(f64),
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let mut lexer = Lexer {
        text,
        at: 0,
        tokens: Vec::new(),
    };
    while lexer.skip_space() {
        let at = lexer.at;
        let kind = lexer.next()?;
        lexer.tokens.push(Token { kind, at });
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Kind, Error> {
        let rest = self.rest();
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            let number = *sign == "." && rest[1..].starts_with(|c: char| c.is_ascii_digit());
            if !number {
                self.at += sign.len();
                return Ok(Kind::Sign(sign));
            }
        }
        if let Some(operator) = OPERATORS.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += operator.len();
            return Ok(Kind::Operator(operator));
        }
        match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => self.literal(quote),
            Some('.' | '0'..='9') => self.number(),
            Some('$') => Err(Error::new(self.at, "there are no variables here")),
            Some('*') => {
                self.at += 1;
                if self.after_operand() {
                    return Ok(Kind::Operator("*"));
                }
                Ok(Kind::Name {
                    prefix: None,
                    local: "*".into(),
                })
            }
            Some(c) if is_name_start(c) => self.name(),
            Some(c) => Err(Error::new(self.at, format!("unexpected character `{c}`"))),
            None => Err(Error::new(self.at, "the expression ends too early")),
        }
    }

    fn literal(&mut self, quote: char) -> Result<Kind, Error> {
        let inner = &self.rest()[1..];
        let Some(end) = inner.find(quote) else {
            return Err(Error::new(self.at, "a quotation mark is not closed"));
        };
        let text = inner[..end].to_owned();
        self.at += end + 2;
        Ok(Kind::Literal(text))
    }

    fn number(&mut self) -> Result<Kind, Error> {
        let rest = self.rest();
        let whole = digits(rest);
        let length = match rest[whole..].strip_prefix('.') {
            Some(fraction) => whole + 1 + digits(fraction),
            None => whole,
        };
        let number = rest[..length]
            .parse()
            .map_err(|_| Error::new(self.at, "not a number"))?;
        self.at += length;
        Ok(Kind::Number(number))
    }

    fn name(&mut self) -> Result<Kind, Error> {
        let first = self.ncname();
        if self.after_operand() {
            return match WORD_OPERATORS.iter().find(|word| **word == first) {
                Some(word) => Ok(Kind::Operator(word)),
                None => Err(Error::new(
                    self.at - first.len(),
                    format!("an operator is expected before `{first}`"),
                )),
            };
        }
        let rest = self.rest();
        let qualified = rest.starts_with(':') && !rest.starts_with("::");
        if !qualified {
            return Ok(Kind::Name {
                prefix: None,
                local: first,
            });
        }
        self.at += 1;
        let local = match self.rest().chars().next() {
            Some('*') => {
                self.at += 1;
                "*".into()
            }
            Some(c) if is_name_start(c) => self.ncname(),
            _ => return Err(Error::new(self.at, "a name is expected after the colon")),
        };
        Ok(Kind::Name {
            prefix: Some(first),
            local,
        })
    }

    fn ncname(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        self.at += end;
        name
    }

    /// Whether what comes next is an operator if it can be one: the rule that tells `*` from `*` and `div` from `div`.
    fn after_operand(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            None | Some(Kind::Operator(_)) => false,
            Some(Kind::Sign(sign)) => !matches!(*sign, "@" | "::" | "(" | "[" | ","),
            Some(_) => true,
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) -> bool {
        let spaces = [' ', '\t', '\r', '\n'];
        self.at = self.text.len() - self.rest().trim_start_matches(spaces).len();
        self.at < self.text.len()
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// XML 1.0, 2.3, without the colon, which separates the prefix.
pub(crate) fn is_name_start(c: char) -> bool {
    matches!(c, 'A'..='Z' | 'a'..='z' | '_' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
        | '\u{10000}'..='\u{EFFFF}')
}

pub(crate) fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The longer ones first.
const SIGNS: [&str; 9] = ["::", "..", "(", ")", "[", "]", ".", "@", ","];
const OPERATORS: [&str; 11] = ["//", "/", "|", "+", "-", "!=", "=", "<=", "<", ">=", ">"];
const WORD_OPERATORS: [&str; 4] = ["and", "or", "mod", "div"];
