//! The error log: lines about the server and about requests, and what the other crates have to say.

use std::ffi::c_int;
use std::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use defence::Repeats;
use defence::harmful::is_harmful;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::httpd::c_string;
use crate::{module_index, servers, sys};

pub(crate) const CRIT: c_int = sys::APLOG_CRIT as c_int;
pub(crate) const ERROR: c_int = sys::APLOG_ERR as c_int;
pub(crate) const WARNING: c_int = sys::APLOG_WARNING as c_int;
pub(crate) const NOTICE: c_int = sys::APLOG_NOTICE as c_int;
pub(crate) const INFO: c_int = sys::APLOG_INFO as c_int;
pub(crate) const DEBUG: c_int = sys::APLOG_DEBUG as c_int;

/// Sends what the other crates say to the log. Called in a child, where it lasts as long as the process.
pub(crate) fn install() {
    // It fails only if it was done before.
    let _ = tracing::subscriber::set_global_default(ToErrorLog);
}

/// Writes a line about the server.
pub(crate) fn server(level: c_int, message: &str) {
    about_server(servers::main(), level, message);
}

/// Writes a line about one virtual host.
pub(crate) fn about_server(server: *const sys::server_rec, level: c_int, message: &str) {
    let message = one_line(message);
    // SAFETY: httpd keeps its servers as long as its configuration, and takes null for "not known yet". The
    // format is a literal and takes one string.
    unsafe {
        sys::ap_log_error_(
            c"mod_oai".as_ptr(),
            0,
            module_index(),
            level,
            0,
            server,
            c"%s".as_ptr(),
            message.as_ptr(),
        );
    }
}

/// Writes a line about a request.
///
/// # Safety
/// The request is being handled.
pub(crate) unsafe fn about_request(r: *const sys::request_rec, level: c_int, message: &str) {
    let message = one_line(message);
    // SAFETY: the caller's promise; the format takes one string.
    unsafe {
        sys::ap_log_rerror_(
            c"mod_oai".as_ptr(),
            0,
            module_index(),
            level,
            0,
            r,
            c"%s".as_ptr(),
            message.as_ptr(),
        );
    }
}

fn one_line(message: &str) -> std::ffi::CString {
    let line: String = message
        .chars()
        .map(|c| if is_harmful(c) { ' ' } else { c })
        .collect();
    c_string(line)
}

/// Takes the events of the other crates; it keeps no spans.
struct ToErrorLog;

impl Subscriber for ToErrorLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // httpd decides by its own LogLevel, but what it would hardly ever want need not be formatted.
        *metadata.level() <= Level::DEBUG && metadata.is_event()
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let level = match *event.metadata().level() {
            Level::ERROR => ERROR,
            Level::WARN => WARNING,
            Level::INFO => INFO,
            _ => DEBUG,
        };
        let mut line = Line::default();
        event.record(&mut line);
        let Line { message, fields } = line;
        match repeated(level, &message, &fields) {
            None => {}
            Some(1) => server(level, &format!("{message}{fields}")),
            Some(count) => server(level, &format!("({count} times by now) {message}")),
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// How often a message has come in this process, if it is to be told. Fields say what it is about, and that is another
/// thing each time.
fn repeated(level: c_int, message: &str, fields: &str) -> Option<u64> {
    static WARNINGS: Mutex<Option<Repeats>> = Mutex::new(None);
    if level != WARNING || !fields.is_empty() {
        return Some(1);
    }
    let mut warnings = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let warnings = warnings.get_or_insert_default();
    warnings.count(message, Instant::now())
}

/// An event as one line: the message, then its fields.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
