//! A query as people type it: words, `"a phrase"`, `begin*`, `-not`, and fields such as `title:coasts`.
//!
//! Unlike the search for records, which takes whatever it is given, a query that cannot be understood is refused, with the
//! place of the mistake: nobody is told that there is nothing where something was asked for wrongly.

use std::fmt;

use crate::records::words::words;

/// A query for documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words and phrases, which all have to be there.
    pub(super) terms: Vec<SearchTerm>,
    /// The fields that are no words of the text, in the order of the query: its name, the value, and where it
    /// stands in the query.
    pub fields: Vec<(&'static str, String, usize)>,
}

/// Words that stand one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SearchTerm {
    pub(super) words: Vec<String>,
    /// Whether the last word only begins so.
    pub(super) is_prefix: bool,
    /// Whether they have to be in the title.
    pub(super) is_title: bool,
    /// Whether they may not be there.
    pub(super) is_excluded: bool,
}

/// Why a query cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The character at which the mistake is, counted from 1.
    pub at: usize,
    /// The mistake, and the remedy.
    pub reason: String,
}

/// The query for PostgreSQL: every condition that is set has to hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) words: Option<String>,
    pub(super) title: Option<String>,
    pub(super) excluded: Option<String>,
    pub(super) title_excluded: Option<String>,
}

/// The fields of a query.
const FIELDS: [&str; 9] = [
    "title", "host", "url", "kind", "language", "type", "state", "decision", "year",
];

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.at, self.reason)
    }
}

impl SearchQuery {
    /// Reads a query.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Parser {
            characters: text.chars().collect(),
            at: 0,
        }
        .query()
    }

    /// Whether it asks for words, so that results have a rank.
    pub fn has_words(&self) -> bool {
        !self.terms.is_empty()
    }

    /// The query as FTS5 reads it. All is in quotation marks, so nothing is an operator.
    pub(super) fn for_sqlite(&self) -> String {
        let term = |term: &&SearchTerm| {
            let field = if term.is_title { "title : " } else { "" };
            let star = if term.is_prefix { " *" } else { "" };
            format!("{field}\"{}\"{star}", term.words.join(" "))
        };
        let (excluded, wanted): (Vec<_>, Vec<_>) =
            self.terms.iter().partition(|term| term.is_excluded);
        let wanted: Vec<_> = wanted.iter().map(term).collect();
        let mut query = wanted.join(" AND ");
        for excluded in &excluded {
            query = format!("({query}) NOT ({})", term(excluded));
        }
        query
    }

    /// The conditions for PostgreSQL.
    pub(super) fn for_postgres(&self) -> Asked {
        let some = |is_title, is_excluded| {
            let terms = self.terms.iter();
            let terms =
                terms.filter(|term| term.is_title == is_title && term.is_excluded == is_excluded);
            let terms: Vec<_> = terms.map(SearchTerm::for_postgres).collect();
            let operator = if is_excluded { " | " } else { " & " };
            (!terms.is_empty()).then(|| terms.join(operator))
        };
        Asked {
            words: some(false, false),
            title: some(true, false),
            excluded: some(false, true),
            title_excluded: some(true, true),
        }
    }

    /// The words that are wanted, wherever they are, for PostgreSQL to rank by.
    pub(super) fn for_ranking(&self) -> String {
        let wanted = self.terms.iter().filter(|term| !term.is_excluded);
        let wanted: Vec<_> = wanted.map(SearchTerm::for_postgres).collect();
        wanted.join(" & ")
    }
}

impl SearchTerm {
    fn for_postgres(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|word| format!("'{word}'")).collect();
        let star = if self.is_prefix { ":*" } else { "" };
        format!("({}{star})", words.join(" <-> "))
    }
}

struct Parser {
    characters: Vec<char>,
    at: usize,
}

/// A part of a query as it stands there.
struct Part {
    text: String,
    is_phrase: bool,
    is_prefix: bool,
}

impl Parser {
    fn query(mut self) -> Result<SearchQuery, QueryError> {
        let mut query = SearchQuery::default();
        loop {
            while self.peek().is_some_and(char::is_whitespace) {
                self.at += 1;
            }
            if self.peek().is_none() {
                break;
            }
            let begin = self.at;
            let is_excluded = self.take('-');
            let field = self.field()?;
            let value_at = self.at;
            let part = match field {
                Some("type") => self.media_type(),
                _ => self.part()?,
            };
            match field {
                None | Some("title") => {
                    let is_title = field.is_some();
                    query
                        .terms
                        .extend(term(part, is_title, is_excluded, value_at)?);
                }
                Some(field) => {
                    if is_excluded {
                        let reason =
                            format!("`-{field}:` is not understood; only words can be excluded");
                        return Err(error(begin, reason));
                    }
                    if query.fields.iter().any(|(known, ..)| *known == field) {
                        return Err(error(begin, format!("`{field}:` is given twice")));
                    }
                    if part.text.trim().is_empty() || part.is_prefix {
                        return Err(error(
                            value_at,
                            format!("`{field}:` needs a value, such as {}", example(field)),
                        ));
                    }
                    query
                        .fields
                        .push((field, part.text.trim().to_owned(), value_at + 1));
                }
            }
            if query.terms.len() + query.fields.len() > MOST_TERMS {
                return Err(error(
                    begin,
                    format!("a query has at most {MOST_TERMS} words, phrases and fields"),
                ));
            }
        }
        let is_wanted = |term: &SearchTerm| !term.is_excluded;
        if query.terms.is_empty() && query.fields.is_empty() {
            let reason = "there is no word in it; write a word, \"a phrase\", begin* or a field such as title:coasts";
            return Err(error(0, reason));
        }
        if !query.terms.is_empty() && !query.terms.iter().any(is_wanted) {
            return Err(error(
                0,
                "only excluded words; add a word that has to be there",
            ));
        }
        Ok(query)
    }

    /// `title:` and so on; `None` if no field begins here.
    fn field(&mut self) -> Result<Option<&'static str>, QueryError> {
        let rest = &self.characters[self.at..];
        let length = rest
            .iter()
            .take_while(|letter| letter.is_ascii_alphabetic() || **letter == '_')
            .count();
        if length == 0 || rest.get(length) != Some(&':') {
            return Ok(None);
        }
        let name: String = rest[..length].iter().collect::<String>().to_lowercase();
        let known = FIELDS.into_iter().find(|field| *field == name);
        let Some(field) = known else {
            let reason = match name.as_str() {
                "http" | "https" | "ftp" => "write url:\"…\" to find a part of a URL".to_owned(),
                _ => format!(
                    "there is no field `{name}`; the fields are {}",
                    FIELDS.join(", ")
                ),
            };
            return Err(error(self.at, reason));
        };
        self.at += length + 1;
        Ok(Some(field))
    }

    /// A media type, or a family of them such as `image/*`.
    fn media_type(&mut self) -> Part {
        let rest = &self.characters[self.at..];
        let name = rest.iter().take_while(|letter| !letter.is_whitespace());
        let text: String = name.collect();
        self.at += text.chars().count();
        Part {
            text: text.trim_matches('"').to_owned(),
            is_phrase: false,
            is_prefix: false,
        }
    }

    /// A phrase, or all up to the next space.
    fn part(&mut self) -> Result<Part, QueryError> {
        let begin = self.at;
        if self.take('"') {
            let rest = &self.characters[self.at..];
            let Some(length) = rest.iter().position(|letter| *letter == '"') else {
                return Err(error(begin, "the quotation mark is not closed"));
            };
            let text = rest[..length].iter().collect();
            self.at += length + 1;
            return Ok(Part {
                text,
                is_phrase: true,
                is_prefix: self.take('*'),
            });
        }
        let rest = &self.characters[self.at..];
        let length = rest
            .iter()
            .take_while(|letter| !letter.is_whitespace() && **letter != '"')
            .count();
        let mut text: String = rest[..length].iter().collect();
        self.at += length;
        let is_prefix = text.ends_with('*');
        if is_prefix {
            text.pop();
        }
        if let Some(star) = text.find('*') {
            let star = begin + text[..star].chars().count();
            return Err(error(
                star,
                "`*` stands only at the end of a word, as in coast*",
            ));
        }
        Ok(Part {
            text,
            is_phrase: false,
            is_prefix,
        })
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }
}

/// The words of a part. Those of one that is no phrase, such as `open-access`, stand together all the same.
fn term(
    part: Part,
    is_title: bool,
    is_excluded: bool,
    at: usize,
) -> Result<Option<SearchTerm>, QueryError> {
    let words = words(&part.text);
    let Some(last) = words.last() else {
        // A dash or a full stop between words is no mistake.
        return match part.is_phrase || part.is_prefix || is_title {
            true => Err(error(at, "there is no word here")),
            false => Ok(None),
        };
    };
    if part.is_prefix && last.chars().count() < SHORTEST_PREFIX {
        let reason = format!("write at least {SHORTEST_PREFIX} letters before `*`");
        return Err(error(at, reason));
    }
    Ok(Some(SearchTerm {
        words,
        is_prefix: part.is_prefix,
        is_title,
        is_excluded,
    }))
}

fn example(field: &str) -> &'static str {
    match field {
        "host" => "host:example.org",
        "url" => "url:papers/2011",
        "kind" => "kind:paper",
        "language" => "language:en",
        "type" => "type:application/pdf",
        "state" => "state:ingested",
        "decision" => "decision:unsure",
        "year" => "year:2011",
        _ => "title:coasts",
    }
}

fn error(at: usize, reason: impl Into<String>) -> QueryError {
    QueryError {
        at: at + 1,
        reason: reason.into(),
    }
}

/// How many letters of a beginning have to be there.
const SHORTEST_PREFIX: usize = 2;
/// How many words, phrases and fields a query has at most.
const MOST_TERMS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn sqlite(query: &str) -> String {
        SearchQuery::parse(query).unwrap().for_sqlite()
    }

    #[test]
    fn words_phrases_beginnings_and_fields_are_read() {
        assert_eq!(
            sqlite(r#"Open-access "grey literature" harv* title:"Of Coasts" -title:tide* -draft"#),
            r#"(("open access" AND "grey literature" AND "harv" * AND title : "of coasts") NOT (title : "tide" *)) NOT ("draft")"#
        );
        let query = SearchQuery::parse("coast host:Example.org kind:paper url:\"a b\"").unwrap();
        assert_eq!(
            query.fields,
            [
                ("host", "Example.org".to_owned(), 12),
                ("kind", "paper".to_owned(), 29),
                ("url", "a b".to_owned(), 39)
            ]
        );
        let asked = SearchQuery::parse("a bb* title:c -d")
            .unwrap()
            .for_postgres();
        let expected = Asked {
            words: Some("('a') & ('bb':*)".to_owned()),
            title: Some("('c')".to_owned()),
            excluded: Some("('d')".to_owned()),
            title_excluded: None,
        };
        assert_eq!(asked, expected);
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        for (query, at, part) in [
            ("lens \"open", 6, "not closed"),
            ("lens foo:bar", 6, "no field `foo`"),
            ("http://a.example/", 1, "url:"),
            ("title:", 7, "no word"),
            ("host:", 6, "needs a value"),
            ("a*b", 2, "end of a word"),
            ("x*", 1, "at least 2 letters"),
            ("  ?! ", 1, "no word"),
            ("", 1, "no word"),
            ("-a", 1, "only excluded"),
            ("a -host:b", 3, "only words"),
            ("host:a host:b", 8, "twice"),
        ] {
            let error = SearchQuery::parse(query).unwrap_err();
            assert_eq!(error.at, at, "{query}: {error}");
            assert!(error.reason.contains(part), "{query}: {error}");
        }
        assert!(SearchQuery::parse(&"word ".repeat(40)).is_err());
    }

    #[test]
    fn nothing_that_is_typed_in_is_an_operator() {
        for hostile in [
            "a' | 'b",
            "a) OR (b",
            "NEAR(a b)",
            "a\\",
            "'; DROP TABLE content",
            "a & !b",
            "^a",
            "{a}:b",
        ] {
            let Ok(query) = SearchQuery::parse(hostile) else {
                continue;
            };
            for term in &query.terms {
                for word in &term.words {
                    assert!(word.chars().all(char::is_alphanumeric), "{hostile}: {word}");
                }
            }
        }
    }
}
