//! Lines of the log as JSON objects, one a line.

use std::fmt;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::output::write_json;

/// Formats an event as an object of its time, level, area, message and fields.
pub(crate) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let mut line = Map::new();
        line.insert("time".to_owned(), json!(format!("{:.3}", Timestamp::now())));
        line.insert("level".to_owned(), json!(metadata.level().as_str()));
        line.insert("target".to_owned(), json!(metadata.target()));
        line.insert("message".to_owned(), json!(fields.message));
        line.extend(fields.others);
        let mut bytes = Vec::new();
        write_json(&mut bytes, &line).map_err(|_| fmt::Error)?;
        writer.write_str(&String::from_utf8_lossy(&bytes))
    }
}

/// The fields of an event.
#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        // A field may not take the place of one that every line has.
        let name = match field.name() {
            name @ ("time" | "level" | "target") => format!("field_{name}"),
            name => name.to_owned(),
        };
        self.others.insert(name, value);
    }
}

impl Visit for Fields {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, json!(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            _ => self.add(field, json!(value)),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            _ => self.add(field, json!(format!("{value:?}"))),
        }
    }
}
