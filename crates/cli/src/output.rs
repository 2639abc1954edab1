//! Stdout, buffered: for data that may be long, in lines of text or JSON.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::process::ExitCode;
use std::time::Duration;

use defence::harmful::{is_harmful, may_begin};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::config::{LogConfig, LogFormat};
use crate::json_lines::JsonLines;
use crate::log_lines::{Lines, ToldOnce};
use crate::text::plain;

/// Where data goes.
pub(crate) type Out = BufWriter<StdoutLock<'static>>;

/// Writes to stdout. A reader that has gone away, such as `head`, ends it quietly.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut Out) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let written = write(&mut out);
    // Output before a failure is data as well, and precedes the message.
    let flushed = out.flush();
    let result = written.and_then(|code| Ok(flushed.map(|()| code)?));
    match result {
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        result => result,
    }
}

/// The rows of a list without `--limit`: a screenful or two for people, all for programs.
pub(crate) fn default_limit(json: bool) -> u64 {
    match json || !io::stdout().is_terminal() {
        true => u64::MAX >> 2,
        false => 100,
    }
}

/// Tells a program that asked for JSON why its command failed, in one object on stdout.
pub(crate) fn failed(code: &str, message: &str) {
    let mut arguments = std::env::args_os().take_while(|argument| argument != "--");
    if !arguments.any(|argument| argument == "--json") {
        return;
    }
    let failure = serde_json::json!({
        "state": "failed",
        "error": { "code": code, "message": message },
    });
    // A reader that has gone away does not want to know.
    let _ = write_json(&mut io::stdout().lock(), &failure);
}

/// Begins the log: lines for people, with colours on a terminal, or JSON objects. `RUST_LOG` says which lines.
pub(crate) fn log(config: &LogConfig) -> anyhow::Result<()> {
    catalog::set_slow_limit(Duration::from_millis(config.slow_ms));
    let colours = io::stderr().is_terminal() && config.format == LogFormat::Text;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(config.filter()?)
        .with_writer(move || Lines {
            out: io::stderr(),
            colours,
        })
        .with_ansi(colours)
        .with_target(false);
    match config.format {
        LogFormat::Text => lines.map_event_format(ToldOnce::new).init(),
        LogFormat::Json => lines.map_event_format(|_| ToldOnce::json(JsonLines)).init(),
    }
    Ok(())
}

/// Writes a line about one thing, for people; nothing if there is nothing to say.
pub(crate) fn field(out: &mut impl Write, name: &str, value: &str) -> io::Result<()> {
    match value.is_empty() {
        true => Ok(()),
        false => writeln!(out, "{name:<12}  {}", plain(value)),
    }
}

/// Writes a value as one line of JSON.
pub(crate) fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(&mut *out, Harmless);
    value.serialize(&mut serializer)?;
    out.write_all(b"\n")
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// JSON has to escape the control characters of ASCII; here those that a terminal obeys beside them, and format characters, are escaped too.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if !fragment.bytes().any(may_begin) {
            return CompactFormatter.write_string_fragment(writer, fragment);
        }
        for part in fragment.split_inclusive(is_harmful) {
            let end = part.chars().next_back().filter(|c| is_harmful(*c));
            let length = part.len() - end.map_or(0, char::len_utf8);
            writer.write_all(&part.as_bytes()[..length])?;
            if let Some(harmful) = end {
                for unit in harmful.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_no_control_characters_and_means_the_same() {
        let text = "a\u{9b}2J\x7f\x1b\"é\u{a0}\n\u{202e}\u{e0041}";
        let mut line = Vec::new();

        write_json(&mut line, &text).unwrap();

        let line = String::from_utf8(line).unwrap();
        assert_eq!(
            line,
            "\"a\\u009b2J\\u007f\\u001b\\\"é\u{a0}\\n\\u202e\\udb40\\udc41\"\n"
        );
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }
}
