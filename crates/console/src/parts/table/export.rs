//! The whole result of a list as CSV (RFC 4180) or JSON, sent while it is read.

use std::fmt::Write as _;
use std::future::Future;

use axum::body::Bytes;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use operations::{Listed, MAX_LIMIT, Refusal, csv_cell};
use serde::Serialize;
use serde_json::Value;

use super::View;
use crate::stream;

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Csv,
    Json,
}

impl Form {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    fn begin(self, fields: &[&str]) -> String {
        match self {
            Self::Csv => format!("{}\r\n", fields.join(",")),
            Self::Json => "[".to_owned(),
        }
    }

    fn write(self, text: &mut String, is_first: bool, fields: &[&str], row: &Value) {
        match self {
            Self::Csv => {
                let cells = fields.iter().map(|field| csv_cell(&plain(at(row, field))));
                text.push_str(&cells.collect::<Vec<_>>().join(","));
                text.push_str("\r\n");
            }
            Self::Json => {
                let separator = if is_first { "\n" } else { ",\n" };
                let _ = write!(text, "{separator}{row}");
            }
        }
    }

    fn end(self) -> &'static str {
        match self {
            Self::Csv => "",
            Self::Json => "\n]\n",
        }
    }
}

/// All rows that `read` gives, page by page, as a file of the name of the list.
pub(super) fn answer<R, F, L>(
    form: Form,
    path: String,
    fields: &'static [&'static str],
    by_row: bool,
    view: View,
    read: F,
) -> Response
where
    R: Serialize + Send + 'static,
    F: Fn(View) -> L + Send + 'static,
    L: Future<Output = Result<Listed<R>, Refusal>> + Send,
{
    let name = path.trim_start_matches('/').replace('/', "-");
    let (sender, body) = stream::body();
    tokio::spawn(async move {
        let mut view = View {
            limit: Some(MAX_LIMIT),
            offset: Some(0),
            ..view
        };
        let (mut text, mut rows) = (form.begin(fields), 0_u64);
        loop {
            let page = match read(view.clone()).await {
                Ok(page) => page,
                Err(refusal) => {
                    tracing::error!("the export of {path} breaks off: {refusal}");
                    let error = std::io::Error::other("the catalog does not answer");
                    let _ = sender.send(Err(error)).await;
                    return;
                }
            };
            let count = page.items.len() as u64;
            for row in page.items {
                match serde_json::to_value(row) {
                    Ok(row) => form.write(&mut text, rows == 0, fields, &row),
                    Err(error) => {
                        let _ = sender.send(Err(std::io::Error::other(error))).await;
                        return;
                    }
                }
                rows += 1;
            }
            let is_last = page.next.is_none() || count == 0;
            (view.offset, view.page) = match by_row {
                true => (None, page.next),
                false => (Some(rows), None),
            };
            if is_last {
                text.push_str(form.end());
            }
            let part = Bytes::from(std::mem::take(&mut text));
            if sender.send(Ok(part)).await.is_err() || is_last {
                return;
            }
        }
    });
    let (kind, extension) = match form {
        Form::Csv => ("text/csv; charset=utf-8", "csv"),
        Form::Json => ("application/json", "json"),
    };
    let disposition = format!("attachment; filename=\"garner-{name}.{extension}\"");
    let headers = [
        (CONTENT_TYPE, kind.to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ];
    (headers, body).into_response()
}

/// The field of a row; a dot leads into an object.
fn at<'a>(row: &'a Value, field: &str) -> &'a Value {
    field.split('.').fold(row, |value, name| &value[name])
}

/// A value as a cell has it: a list with commas, an object as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let values = values.iter().map(plain);
            values.collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_of_csv_has_the_fields_asked_for_and_no_formulas() {
        let row = json!({"id": 7, "url": "=cmd()", "sets": ["a", "b"], "last": {"state": "ok"}, "size": -1});
        let mut text = String::new();

        let fields = ["id", "url", "sets", "last.state", "gone.far", "size"];
        Form::Csv.write(&mut text, true, &fields, &row);

        assert_eq!(text, "7,\"'=cmd()\",\"a, b\",ok,,-1\r\n");
    }

    #[test]
    fn rows_of_json_make_one_array() {
        let mut text = Form::Json.begin(&[]);
        Form::Json.write(&mut text, true, &[], &json!({"a": 1}));
        Form::Json.write(&mut text, false, &[], &json!({"a": 2}));
        text.push_str(Form::Json.end());

        let rows: Value = serde_json::from_str(&text).unwrap();

        assert_eq!(rows, json!([{"a": 1}, {"a": 2}]));
    }
}
