//! Requests: the six verbs with their arguments, parsed once at the edge (OAI-PMH 2.0, section 3.1 and 4).

use std::fmt;

use crate::{Arguments, Datestamp, Error, ErrorCode, Granularity, MetadataPrefix, SetSpec};

/// The six verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the protocol's own")]
pub enum Verb {
    GetRecord,
    Identify,
    ListIdentifiers,
    ListMetadataFormats,
    ListRecords,
    ListSets,
}

/// A request that is right as far as syntax goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the protocol's own")]
pub enum Request {
    GetRecord {
        identifier: String,
        metadata_prefix: MetadataPrefix,
    },
    Identify,
    ListIdentifiers(ListRequest),
    ListMetadataFormats {
        identifier: Option<String>,
    },
    ListRecords(ListRequest),
    ListSets {
        resumption_token: Option<String>,
    },
}

/// The beginning of a list, or its continuation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListRequest {
    /// The arguments of a new list.
    First(Selection),
    /// A resumptionToken as it came in.
    Resumed(String),
}

/// Which records a list asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// In which format.
    pub metadata_prefix: MetadataPrefix,
    /// In which set, with all below it.
    pub set: Option<SetSpec>,
    /// Not older than this.
    pub from: Option<Datestamp>,
    /// Not newer than this.
    pub until: Option<Datestamp>,
}

impl Verb {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::GetRecord,
        Self::Identify,
        Self::ListIdentifiers,
        Self::ListMetadataFormats,
        Self::ListRecords,
        Self::ListSets,
    ];

    /// The verb as the protocol spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GetRecord => "GetRecord",
            Self::Identify => "Identify",
            Self::ListIdentifiers => "ListIdentifiers",
            Self::ListMetadataFormats => "ListMetadataFormats",
            Self::ListRecords => "ListRecords",
            Self::ListSets => "ListSets",
        }
    }

    /// The verb of a request, if it has exactly one and that is one of the six.
    pub fn of(arguments: &Arguments) -> Result<Self, Error> {
        let mut verbs = arguments.values("verb");
        let message = match (verbs.next(), verbs.next()) {
            (None, _) => "the verb is missing".to_owned(),
            (_, Some(_)) => "the verb is given more than once".to_owned(),
            (Some(name), None) => match Self::ALL.into_iter().find(|verb| verb.as_str() == name) {
                Some(verb) => return Ok(verb),
                None => format!("`{name}` is not a verb of OAI-PMH"),
            },
        };
        let remedy = "use one of Identify, ListMetadataFormats, ListSets, ListIdentifiers, ListRecords, GetRecord";
        Err(Error::new(
            ErrorCode::BadVerb,
            format!("{message}; {remedy}"),
        ))
    }

    /// The arguments this verb knows, each with whether it is required.
    fn arguments(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::GetRecord => &[("identifier", true), ("metadataPrefix", true)],
            Self::Identify => &[],
            Self::ListMetadataFormats => &[("identifier", false)],
            Self::ListSets => &[("resumptionToken", false)],
            Self::ListIdentifiers | Self::ListRecords => &[
                ("metadataPrefix", true),
                ("from", false),
                ("until", false),
                ("set", false),
                ("resumptionToken", false),
            ],
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Request {
    /// Parses the arguments of a request to a repository with a granularity of seconds.
    pub fn parse(arguments: &Arguments) -> Result<Self, Vec<Error>> {
        let verb = Verb::of(arguments).map_err(|error| vec![error])?;
        let mut parser = Parser {
            arguments,
            errors: Vec::new(),
        };
        parser.check_names(verb);
        let request = parser.request(verb);
        match request {
            Some(request) if parser.errors.is_empty() => Ok(request),
            _ => Err(parser.errors),
        }
    }
}

/// More errors than a person mends at once are not told: a request of a megabyte has room for half a million.
const MOST_ERRORS: usize = 20;

/// Collects every error of a request, so that a person mends all of them at once.
struct Parser<'a> {
    arguments: &'a Arguments,
    errors: Vec<Error>,
}

impl Parser<'_> {
    fn check_names(&mut self, verb: Verb) {
        if self.arguments.unspeakable() {
            self.bad(
                "an argument holds bytes that are not UTF-8 or characters that XML cannot carry",
            );
        }
        let known = verb.arguments();
        let mut seen: Vec<&str> = Vec::new();
        let mut others = false;
        for (name, _) in self.arguments.iter().filter(|(name, _)| *name != "verb") {
            others |= name != "resumptionToken";
            if !known.iter().any(|(known, _)| *known == name) {
                self.bad(format!("{verb} has no argument `{name}`"));
            } else if seen.contains(&name) {
                self.bad(format!("the argument `{name}` is given more than once"));
            } else {
                seen.push(name);
            }
        }
        if seen.contains(&"resumptionToken") {
            if others {
                self.bad("resumptionToken is exclusive: send it with the verb alone");
            }
            return;
        }
        for (name, _) in known
            .iter()
            .filter(|(name, required)| *required && !seen.contains(name))
        {
            self.bad(format!("{verb} needs the argument `{name}`"));
        }
    }

    fn request(&mut self, verb: Verb) -> Option<Request> {
        let token = self.arguments.get("resumptionToken").map(str::to_owned);
        Some(match verb {
            Verb::Identify => Request::Identify,
            Verb::ListSets => Request::ListSets {
                resumption_token: token,
            },
            Verb::ListMetadataFormats => Request::ListMetadataFormats {
                identifier: self.identifier(),
            },
            Verb::GetRecord => {
                let (identifier, metadata_prefix) = (self.identifier(), self.metadata_prefix());
                Request::GetRecord {
                    identifier: identifier?,
                    metadata_prefix: metadata_prefix?,
                }
            }
            Verb::ListIdentifiers => Request::ListIdentifiers(self.list(token)?),
            Verb::ListRecords => Request::ListRecords(self.list(token)?),
        })
    }

    fn list(&mut self, token: Option<String>) -> Option<ListRequest> {
        if let Some(token) = token {
            return Some(ListRequest::Resumed(token));
        }
        let metadata_prefix = self.metadata_prefix();
        let set = self.set();
        let (from, until) = self.dates();
        Some(ListRequest::First(Selection {
            metadata_prefix: metadata_prefix?,
            set,
            from,
            until,
        }))
    }

    fn identifier(&mut self) -> Option<String> {
        let identifier = self.arguments.get("identifier")?;
        if !is_uri_like(identifier) {
            self.bad("the identifier is not a URI");
            return None;
        }
        Some(identifier.to_owned())
    }

    fn metadata_prefix(&mut self) -> Option<MetadataPrefix> {
        let text = self.arguments.get("metadataPrefix")?;
        let prefix = MetadataPrefix::parse(text);
        if prefix.is_none() {
            self.bad("the metadataPrefix holds characters that are not allowed in one");
        }
        prefix
    }

    fn set(&mut self) -> Option<SetSpec> {
        let text = self.arguments.get("set")?;
        let set = SetSpec::parse(text);
        if set.is_none() {
            self.bad("the set holds characters that are not allowed in a setSpec");
        }
        set
    }

    /// Both bounds are inclusive; a day covers all its seconds.
    fn dates(&mut self) -> (Option<Datestamp>, Option<Datestamp>) {
        let (from, until) = (self.date("from"), self.date("until"));
        if let (Some((_, of_from)), Some((_, of_until))) = (from, until)
            && of_from != of_until
        {
            self.bad("from and until differ in granularity: give both as days or both as seconds");
        }
        let from = from.map(|(datestamp, _)| datestamp);
        let until = until.map(|(datestamp, granularity)| match granularity {
            Granularity::Day => datestamp.end_of_day(),
            Granularity::Second => datestamp,
        });
        if let (Some(from), Some(until)) = (from, until)
            && from > until
        {
            self.bad("from is later than until");
        }
        (from, until)
    }

    fn date(&mut self, name: &str) -> Option<(Datestamp, Granularity)> {
        let text = self.arguments.get(name)?;
        let date = Datestamp::parse(text);
        if date.is_none() {
            self.bad(format!(
                "`{name}` is not a date in UTC of the form YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ"
            ));
        }
        date
    }

    fn bad(&mut self, message: impl Into<String>) {
        if self.errors.len() < MOST_ERRORS {
            self.errors
                .push(Error::new(ErrorCode::BadArgument, message));
        }
    }
}

/// Whether a text can stand where XML Schema wants a URI: enough to echo it in a valid answer.
fn is_uri_like(text: &str) -> bool {
    let bytes = text.as_bytes();
    let hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    !text.is_empty()
        && text.matches('#').count() <= 1
        && !text.starts_with(':')
        && !text
            .chars()
            .any(|c| c.is_control() || c.is_whitespace() || "\"<>\\^`{|}".contains(c))
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| *byte != b'%' || (hex(at + 1) && hex(at + 2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(query: &str) -> Vec<ErrorCode> {
        match Request::parse(&Arguments::parse(query)) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(|error| error.code).collect(),
        }
    }

    #[test]
    fn missing_unknown_and_repeated_verbs_are_bad_verbs() {
        for query in [
            "",
            "junk",
            "verb=junk",
            "verb=identify",
            "verb=Identify&verb=Identify",
            "verb=",
        ] {
            assert_eq!(codes(query), [ErrorCode::BadVerb], "{query}");
        }
    }

    #[test]
    fn a_flood_of_wrong_arguments_is_told_in_a_few_errors() {
        let query = format!("verb=Identify{}", "&a".repeat(100_000));

        assert_eq!(codes(&query), [ErrorCode::BadArgument; MOST_ERRORS]);
    }

    #[test]
    fn wrong_arguments_are_bad_arguments() {
        for query in [
            "verb=Identify&set=a",
            "verb=GetRecord&metadataPrefix=oai_dc",
            "verb=GetRecord&identifier=a:b",
            "verb=GetRecord&identifier=invalid%22id&metadataPrefix=oai_dc",
            "verb=ListRecords",
            "verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc",
            "verb=ListRecords&metadataPrefix=oai_dc&from=junk",
            "verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-05&until=2002-02-06T05:35:00Z",
            "verb=ListRecords&metadataPrefix=oai_dc&from=2003-01-01&until=2002-01-01",
            "verb=ListRecords&metadataPrefix=oai_dc&set=a%2Fb",
            "verb=ListRecords&metadataPrefix=oai%20dc",
            "verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=x",
            "verb=ListSets&resumptionToken=x&set=a",
            "verb=Identify&x=%00",
        ] {
            let codes = codes(query);
            assert!(!codes.is_empty(), "{query}");
            assert!(
                codes.iter().all(|code| *code == ErrorCode::BadArgument),
                "{query}"
            );
        }
    }

    #[test]
    fn days_cover_all_their_seconds() {
        let arguments = Arguments::parse(
            "verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-05&until=2002-02-05",
        );
        let Ok(Request::ListRecords(ListRequest::First(selection))) = Request::parse(&arguments)
        else {
            panic!("a list of one day is legal");
        };

        assert_eq!(selection.from.unwrap().to_string(), "2002-02-05T00:00:00Z");
        assert_eq!(selection.until.unwrap().to_string(), "2002-02-05T23:59:59Z");
    }

    #[test]
    fn every_error_of_a_request_is_told() {
        let codes = codes("verb=ListRecords&from=junk&until=junk&colour=red");
        assert_eq!(codes.len(), 4);
    }
}
