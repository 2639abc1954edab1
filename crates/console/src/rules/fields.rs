//! The fields of the form of rules. A browser sends them in parts, for there may be a file.

use axum::body::Bytes;
use axum::extract::multipart::Multipart;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use serde::Deserialize;

use crate::extract::Form;
use crate::problem::Problem;
use crate::state::ConsoleState;

/// The fields of the form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct RulesForm {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) content: String,
    pub(crate) version: String,
    /// `try` or `save`
    #[serde(rename = "do")]
    pub(crate) action: String,
    /// The record to try them on: `live`, `held` or `pasted`.
    pub(crate) sample: String,
    pub(crate) repository: String,
    pub(crate) metadata_prefix: String,
    pub(crate) identifier: String,
    pub(crate) record: String,
    pub(crate) xml: String,
    /// Whether a file was sent that is no text.
    #[serde(skip)]
    pub(crate) is_no_text: bool,
}

impl FromRequest<ConsoleState> for RulesForm {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &ConsoleState) -> Result<Self, Problem> {
        let kind = request.headers().get(CONTENT_TYPE);
        let in_parts = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/"));
        let mut form = match in_parts {
            true => Self::from_parts(request, state).await?,
            false => Form::<Self>::from_request(request, state).await?.0,
        };
        // Browsers end lines as in mails.
        for text in [&mut form.content, &mut form.xml] {
            *text = text.replace("\r\n", "\n");
        }
        Ok(form)
    }
}

impl RulesForm {
    async fn from_parts(request: Request, state: &ConsoleState) -> Result<Self, Problem> {
        let parts = Multipart::from_request(request, state).await;
        let mut parts =
            parts.map_err(|error| Problem::new(error.status(), "unreadable", error.body_text()))?;
        let mut form = Self::default();
        loop {
            let part = parts.next_field().await;
            let part = part
                .map_err(|error| Problem::new(error.status(), "unreadable", error.body_text()))?;
            let Some(part) = part else { return Ok(form) };
            let name = part.name().unwrap_or_default().to_owned();
            let bytes = part.bytes().await;
            let bytes = bytes
                .map_err(|error| Problem::new(error.status(), "too_large", error.body_text()))?;
            form.take(&name, &bytes);
        }
    }

    fn take(&mut self, name: &str, bytes: &Bytes) {
        let text = std::str::from_utf8(bytes);
        if name == "file" {
            // Without a file its part is empty; with one it counts, and not what was there before.
            match text {
                Ok("") => {}
                Ok(text) => text
                    .trim_start_matches('\u{feff}')
                    .clone_into(&mut self.content),
                Err(_) => self.is_no_text = true,
            }
            return;
        }
        let field = match name {
            "kind" => &mut self.kind,
            "name" => &mut self.name,
            "version" => &mut self.version,
            "do" => &mut self.action,
            "sample" => &mut self.sample,
            "repository" => &mut self.repository,
            "metadata_prefix" => &mut self.metadata_prefix,
            "identifier" => &mut self.identifier,
            "record" => &mut self.record,
            "xml" => &mut self.xml,
            "content" => &mut self.content,
            _ => return,
        };
        *field = String::from_utf8_lossy(bytes).into_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(parts: &[(&str, &'static [u8])]) -> RulesForm {
        let mut form = RulesForm::default();
        for (name, bytes) in parts {
            form.take(name, &Bytes::from_static(bytes));
        }
        form
    }

    #[test]
    fn a_file_takes_the_place_of_what_was_typed() {
        let form = taken(&[("content", b"<typed/>"), ("file", b"\xEF\xBB\xBF<sent/>")]);
        assert_eq!(form.content, "<sent/>");
        let form = taken(&[("content", b"<typed/>"), ("file", b"")]);
        assert_eq!(form.content, "<typed/>");
    }

    #[test]
    fn a_file_that_is_no_text_is_noticed() {
        let form = taken(&[("content", b"<typed/>"), ("file", b"\xFF\xFE<\0")]);
        assert!(form.is_no_text);
        assert_eq!(form.content, "<typed/>");
    }
}
