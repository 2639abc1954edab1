//! Answers as pages, for people who open the repository in a browser. Programs get XML: a page is only for requests
//! that no harvester makes, see [`Form::asked`].

mod escape;
mod landing;
mod metadata;
mod page;
mod sheet;
mod tokens;

use std::io::{self, Write};

use oai::Arguments;

use self::page::Page;
pub use self::sheet::{Sheet, SheetForm, SheetTable};
use self::tokens::Tokenizer;
use crate::limits::unlimited;
use crate::{Error, Outcome, PageLimits, Provider, View};

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// XML, as the protocol has it.
    Xml,
    /// A page for people.
    Html,
}

/// The media type of a page.
pub const MEDIA_TYPE: &str = "text/html; charset=utf-8";

/// The request headers that decide on the form, for `Vary`.
pub const VARY: &str = "Accept, Sec-Fetch-Dest";

/// The headers of a page besides its media type: it loads its style sheet and nothing else.
pub const HEADERS: [(&str, &str); 3] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; \
         base-uri 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
];

impl Form {
    /// The form that a request asks for by its `Accept` and `Sec-Fetch-Dest` headers.
    ///
    /// Browsers send `Sec-Fetch-Dest: document` when a person opens a page; older ones name both media types of pages
    /// in `Accept`.
    ///
    /// Quirk: `Accept` with `text/html` alone, or with `*/*`, is no browser: Java's HttpURLConnection sends
    /// `text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2`, and harvesters written in Java must get XML.
    pub fn asked(accept: Option<&str>, sec_fetch_dest: Option<&str>) -> Self {
        let opened = sec_fetch_dest.is_some_and(|dest| dest.trim() == "document");
        let accept = accept.unwrap_or_default();
        match opened || (names(accept, "text/html") && names(accept, "application/xhtml+xml")) {
            true => Self::Html,
            false => Self::Xml,
        }
    }
}

/// Whether an `Accept` header names a media type and does not refuse it.
fn names(accept: &str, media_type: &str) -> bool {
    accept.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let named = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case(media_type));
        let refused = parts.any(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let quality = value.trim().parse::<f32>();
            name.trim().eq_ignore_ascii_case("q") && quality.is_ok_and(|quality| quality <= 0.0)
        });
        named && !refused
    })
}

impl Provider {
    /// Answers one request in a form: see [`Provider::answer`].
    pub fn answer_as<V: View, W: Write>(
        &self,
        form: Form,
        view: &V,
        arguments: &Arguments,
        out: W,
    ) -> Result<Outcome, Error> {
        match form {
            Form::Xml => self.answer(view, arguments, out),
            Form::Html if arguments.get("verb").is_none() => {
                landing::write(self, view, out)?;
                Ok(Outcome::default())
            }
            Form::Html => self.page(view, arguments, out),
        }
    }

    fn page<V: View, W: Write>(
        &self,
        view: &V,
        arguments: &Arguments,
        out: W,
    ) -> Result<Outcome, Error> {
        let provider = Self {
            limits: page_limits(self.limits),
            ..self.clone()
        };
        let formats = view.metadata_formats();
        let formats = formats.into_iter().map(|format| format.prefix).collect();
        let verb = arguments.get("verb").unwrap_or_default();
        let mut rendering = Rendering {
            tokenizer: Tokenizer::new(),
            page: Page::new(&provider, formats, verb, out),
        };
        let outcome = provider.answer(view, arguments, &mut rendering)?;
        rendering.page.finish()?;
        Ok(outcome)
    }
}

/// Fewer records than a harvester gets: a page of a thousand is of no use to a person.
fn page_limits(limits: PageLimits) -> PageLimits {
    PageLimits {
        bytes: unlimited(limits.bytes).min(512 * 1024),
        identifiers: unlimited(limits.identifiers).min(200),
        records: unlimited(limits.records).min(50),
        ..limits
    }
}

/// Takes the XML of an answer and writes the page.
struct Rendering<'a, W> {
    tokenizer: Tokenizer,
    page: Page<'a, W>,
}

impl<W: Write> Write for Rendering<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let page = &mut self.page;
        self.tokenizer.feed(bytes, |token| page.take(token))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIREFOX: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const JAVA: &str = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2";

    #[test]
    fn browsers_get_pages() {
        for (accept, dest) in [
            (Some(FIREFOX), None),
            (Some(FIREFOX), Some("document")),
            (Some("*/*"), Some("document")),
            (None, Some("document")),
            (
                Some("application/xhtml+xml, TEXT/HTML;q=0.1"),
                Some("iframe"),
            ),
        ] {
            assert_eq!(Form::asked(accept, dest), Form::Html, "{accept:?} {dest:?}");
        }
    }

    #[test]
    fn programs_get_xml() {
        for (accept, dest) in [
            (None, None),
            (Some("*/*"), None),
            (Some(JAVA), None),
            (Some("text/html"), None),
            (Some("text/xml, application/xml"), None),
            (Some("text/html, application/xhtml+xml;q=0"), None),
            (Some("*/*"), Some("empty")),
            (Some("application/xhtml+xml-not, text/html"), None),
            (Some(",;q=,=;,"), Some("")),
        ] {
            assert_eq!(Form::asked(accept, dest), Form::Xml, "{accept:?} {dest:?}");
        }
    }
}
