//! Identifiers: those of records as their repositories gave them, and the aggregator's own.

/// An identifier that somebody asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Identifier<'a> {
    /// `oai:HOST:document:N`
    Document(i64),
    /// `oai:HOST:repository:N:IDENTIFIER`: another repository had the same identifier first.
    Qualified {
        repository: i64,
        identifier: &'a str,
    },
    /// As the repository gave it.
    Plain(&'a str),
}

impl<'a> Identifier<'a> {
    /// Reads an identifier of the aggregator of a host.
    pub(crate) fn parse(text: &'a str, host: &str) -> Self {
        let Some(own) = own(text, host) else {
            return Self::Plain(text);
        };
        if let Some(number) = own.strip_prefix("document:").and_then(number) {
            return Self::Document(number);
        }
        let qualified = own.strip_prefix("repository:");
        match qualified.and_then(|rest| rest.split_once(':')) {
            Some((repository, identifier)) => match number(repository) {
                Some(repository) => Self::Qualified {
                    repository,
                    identifier,
                },
                None => Self::Plain(text),
            },
            None => Self::Plain(text),
        }
    }
}

/// The identifier of a document.
pub(crate) fn of_document(host: &str, number: i64) -> String {
    format!("oai:{host}:document:{number}")
}

/// The identifier of a record. If another repository had the same first, or if it looks like one of the aggregator's own,
/// it is qualified by the number of its repository.
pub(crate) fn of_record(host: &str, repository: i64, identifier: &str, is_taken: bool) -> String {
    let is_own = !matches!(Identifier::parse(identifier, host), Identifier::Plain(_));
    match is_taken || is_own {
        true => format!("oai:{host}:repository:{repository}:{identifier}"),
        false => identifier.to_owned(),
    }
}

fn own<'a>(text: &'a str, host: &str) -> Option<&'a str> {
    let rest = text.strip_prefix("oai:")?.strip_prefix(host)?;
    rest.strip_prefix(':')
}

/// A number as it is written, without a sign or zeros before it.
fn number(digits: &str) -> Option<i64> {
    let is_written = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    is_written.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "a.example";

    #[test]
    fn every_identifier_comes_back_as_what_it_was() {
        for (text, expected) in [
            ("oai:a.example:document:7", Identifier::Document(7)),
            (
                "oai:b.example:document:7",
                Identifier::Plain("oai:b.example:document:7"),
            ),
            (
                "oai:a.example:document:07",
                Identifier::Plain("oai:a.example:document:07"),
            ),
            (
                "http://b.example/1",
                Identifier::Plain("http://b.example/1"),
            ),
            (
                "oai:a.example:repository:3:oai:b:1",
                Identifier::Qualified {
                    repository: 3,
                    identifier: "oai:b:1",
                },
            ),
        ] {
            assert_eq!(Identifier::parse(text, HOST), expected);
        }
    }

    #[test]
    fn identifiers_of_records_are_never_taken_for_the_aggregators_own() {
        assert_eq!(of_record(HOST, 2, "oai:b:1", false), "oai:b:1");
        for (given, is_taken) in [("oai:b:1", true), ("oai:a.example:document:7", false)] {
            let told = of_record(HOST, 2, given, is_taken);
            let expected = Identifier::Qualified {
                repository: 2,
                identifier: given,
            };
            assert_eq!(Identifier::parse(&told, HOST), expected);
        }
    }
}
