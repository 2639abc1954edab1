//! Requests: as URLs, or as forms where a URL would be too long.

use std::borrow::Cow;

use oai::Verb;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};

use crate::Error;

/// The arguments of a request, in order.
pub(crate) type Arguments<'a> = [(&'a str, &'a str)];

/// Reads a base URL.
pub(super) fn base_url(text: &str) -> Result<Url, Error> {
    let wrong = |reason: &str| Error::usage(format!("`{text}` is not a base URL: {reason}"));
    let mut url = Url::parse(text.trim()).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it must begin with http:// or https://"));
    }
    if url.host_str().is_none() {
        return Err(wrong("it names no host"));
    }
    url.set_fragment(None);
    match without_request(&url) {
        Some(base) => Err(wrong(&format!("it is a request; try {}", shown(&base)))),
        None => Ok(url),
    }
}

/// A URL that asks something, as people copy it from a browser, without what it asks.
fn without_request(url: &Url) -> Option<Url> {
    let is_verb = |(name, value): &(_, Cow<'_, str>)| {
        let mut verbs = Verb::ALL.iter();
        *name == "verb" && verbs.any(|verb| value.eq_ignore_ascii_case(verb.as_str()))
    };
    url.query_pairs().find(is_verb)?;
    let mut base = url.clone();
    let kept = url
        .query_pairs()
        .filter(|(name, _)| !ARGUMENTS.contains(&name.as_ref()));
    base.query_pairs_mut().clear().extend_pairs(kept);
    if base.query() == Some("") {
        base.set_query(None);
    }
    Some(base)
}

/// The base URL of a request, as people copy it from a browser; none if the text is no request.
pub fn base_url_of(request: &str) -> Option<String> {
    let url = Url::parse(request.trim()).ok()?;
    without_request(&url).map(|base| shown(&base))
}

/// A base URL in the one form that stands for it everywhere: without credentials, fragment and blanks around it.
pub fn canonical_base_url(text: &str) -> Result<String, Error> {
    Ok(shown(&base_url(text)?))
}

/// How often a request is repeated that brings no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Patience {
    /// As often as the client's options say.
    #[default]
    Usual,
    /// Once, unless the server says that it is busy: for what a harvest can do without.
    BriefUnlessBusy,
    /// Once: for the parts of a list that is known to be broken.
    Brief,
}

/// One request, not sent yet.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    url: Url,
    patience: Patience,
    /// The base URL and the arguments, for a POST. There is none for what is not a repository.
    post: Option<(Url, String)>,
    /// Whether a form is sent whatever its length, and the answer is wanted as the server keeps it.
    verbatim: Option<Sending>,
    /// Whether the server need not send what is known already.
    conditions: Validators,
    /// Whether the answer may come compressed.
    may_compress: bool,
    /// Whether redirects are followed.
    follows: bool,
}

/// The marks of one state of a resource. A server that is given them sends the resource only if its state is another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// The header ETag.
    pub etag: Option<String>,
    /// The header Last-Modified.
    pub last_modified: Option<String>,
}

impl Validators {
    /// The headers of a conditional request.
    pub(super) fn fields(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> + use<> {
        let fields = [
            (IF_NONE_MATCH, self.etag.as_deref()),
            (IF_MODIFIED_SINCE, self.last_modified.as_deref()),
        ];
        let fields = fields.map(|(name, value)| {
            let value = value.and_then(|value| HeaderValue::from_str(value).ok());
            value.map(|value| (name, value))
        });
        fields.into_iter().flatten()
    }
}

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    Get,
    Post,
}

impl Request {
    pub(super) fn new(base: &Url, arguments: &Arguments<'_>) -> Self {
        let form = encode(arguments);
        // A query that the base URL has already is kept.
        let query = match base.query() {
            Some(own) if !own.is_empty() => format!("{}&{form}", own.trim_end_matches('&')),
            _ => form.clone(),
        };
        let mut url = base.clone();
        url.set_query(Some(&query));
        Self {
            url,
            patience: Patience::Usual,
            post: Some((base.clone(), form)),
            verbatim: None,
            conditions: Validators::default(),
            may_compress: true,
            follows: true,
        }
    }

    pub(super) fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// The same, sent in one way only and answered without compression.
    pub(super) fn verbatim(self, is_form: bool) -> Self {
        let sending = if is_form { Sending::Post } else { Sending::Get };
        Self {
            verbatim: Some(sending),
            ..self
        }
    }

    /// The same, answered without compression if the server can.
    pub(super) fn uncompressed(self) -> Self {
        Self {
            may_compress: false,
            ..self
        }
    }

    /// Whether the answer may come compressed.
    pub(super) fn may_compress(&self) -> bool {
        self.may_compress && self.is_for_a_verb()
    }

    /// Whether a further attempt may be made after `attempts` that failed.
    pub(super) fn may_repeat(&self, attempts: u32, busy: bool) -> bool {
        match self.patience {
            Patience::Usual => true,
            Patience::BriefUnlessBusy => busy || attempts < BRIEF_ATTEMPTS,
            Patience::Brief => attempts < BRIEF_ATTEMPTS,
        }
    }

    /// A request for a resource that is wanted as its server keeps it.
    pub(super) fn resource(url: &Url) -> Self {
        Self {
            url: url.clone(),
            patience: Patience::Usual,
            post: None,
            verbatim: None,
            conditions: Validators::default(),
            may_compress: true,
            follows: true,
        }
    }

    /// The same; a redirect is the answer.
    pub(super) fn without_redirects(self) -> Self {
        Self {
            follows: false,
            ..self
        }
    }

    /// Whether redirects are followed.
    pub(super) fn follows(&self) -> bool {
        self.follows
    }

    /// The same request, for a resource that is sent only if it has changed.
    pub(super) fn with_conditions(self, conditions: Validators) -> Self {
        Self { conditions, ..self }
    }

    /// The state of the resource that is known.
    pub(super) fn conditions(&self) -> &Validators {
        &self.conditions
    }

    /// Whether it asks a repository, and not for a resource.
    pub(super) fn is_for_a_verb(&self) -> bool {
        self.post.is_some() && self.verbatim.is_none()
    }

    /// GET, unless the URL is longer than what servers and proxies between are sure to take.
    pub(super) fn sending(&self) -> Sending {
        if let Some(sending) = self.verbatim {
            return sending;
        }
        match self.url.as_str().len() > LONGEST_URL && self.post.is_some() {
            true => Sending::Post,
            false => Sending::Get,
        }
    }

    /// How else it can be sent if it was refused with a status.
    pub(super) fn other_way(&self, sending: Sending, status: u16) -> Option<Sending> {
        match (sending, status) {
            _ if self.verbatim.is_some() => None,
            (Sending::Get, 414) if self.post.is_some() => Some(Sending::Post),
            (Sending::Post, 405 | 501) => Some(Sending::Get),
            _ => None,
        }
    }

    /// Where it is sent to, and the body of a POST.
    pub(super) fn target(&self, sending: Sending) -> (&Url, Option<&str>) {
        match (sending, &self.post) {
            (Sending::Post, Some((base, form))) => (base, Some(form)),
            _ => (&self.url, None),
        }
    }

    /// The request for messages.
    pub(crate) fn shown(&self) -> String {
        let mut text = shown(&self.url);
        if text.len() > LONGEST_URL {
            // A URL is ASCII.
            text.truncate(LONGEST_SHOWN);
            text.push('…');
        }
        text
    }
}

fn encode(arguments: &Arguments<'_>) -> String {
    let pairs = arguments
        .iter()
        .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, RESERVED)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A URL for messages: without a password.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.into()
}

/// Everything but unreserved characters is encoded: tokens may hold anything.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
/// The parts of a request.
const ARGUMENTS: [&str; 7] = [
    "verb",
    "identifier",
    "metadataPrefix",
    "from",
    "until",
    "set",
    "resumptionToken",
];
/// Attempts at a request that is not repeated for long.
const BRIEF_ATTEMPTS: u32 = 2;
/// Of the limits in use, 2 kB is about the lowest.
const LONGEST_URL: usize = 2000;
const LONGEST_SHOWN: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_survive_whatever_they_hold() {
        let base = base_url("http://a.example/oai?page=oai&").unwrap();
        let request = Request::new(
            &base,
            &[("verb", "ListRecords"), ("resumptionToken", "a/b+c=%20&é")],
        );
        assert_eq!(request.sending(), Sending::Get);
        assert_eq!(
            request.target(Sending::Get).0.as_str(),
            "http://a.example/oai?page=oai&verb=ListRecords&resumptionToken=a%2Fb%2Bc%3D%2520%26%C3%A9"
        );
    }

    #[test]
    fn long_arguments_are_sent_as_a_form() {
        let base = base_url("http://a.example/oai?page=oai").unwrap();
        let request = Request::new(&base, &[("resumptionToken", &"+".repeat(700))]);
        assert_eq!(request.sending(), Sending::Post);
        let (url, form) = request.target(Sending::Post);
        assert_eq!(url, &base);
        assert_eq!(form.unwrap().len(), "resumptionToken=".len() + 3 * 700);
        assert!(request.shown().len() < 400);
    }

    #[test]
    fn refuses_what_is_no_base_url() {
        for text in ["", "oai", "ftp://a/", "file:///etc/passwd"] {
            assert!(base_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_request_is_no_base_url_and_leads_to_one() {
        for (text, base) in [
            ("http://a.example/oai?verb=Identify", "http://a.example/oai"),
            (
                "http://a.example/?page=oai&verb=listrecords&metadataPrefix=oai_dc",
                "http://a.example/?page=oai",
            ),
        ] {
            let told = base_url(text).unwrap_err().to_string();
            assert!(told.ends_with(&format!("try {base}")), "{told}");
        }
        assert!(base_url("http://a.example/oai?verb=x").is_ok());
    }
}
