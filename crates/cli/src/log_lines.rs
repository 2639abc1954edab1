//! Lines of the log: nothing in them steers a terminal, and warnings that repeat are told once and counted.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use defence::Repeats;
use defence::harmful::escaped_line;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes whole lines, with what could change how they are displayed escaped.
pub(crate) struct Lines<W> {
    pub(crate) out: W,
    /// Whether the lines have colours.
    pub(crate) colours: bool,
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let escaped = escaped_line(&String::from_utf8_lossy(line), self.colours);
        self.out.write_all(escaped.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Formats events; a warning that repeats is told the first time, the tenth, the hundredth and so on, with its number.
pub(crate) struct ToldOnce<F> {
    format: F,
    /// Whether lines are JSON objects, so that the number becomes a field.
    is_json: bool,
    warnings: Mutex<Repeats>,
}

impl<F> ToldOnce<F> {
    pub(crate) fn new(format: F) -> Self {
        Self {
            format,
            is_json: false,
            warnings: Mutex::default(),
        }
    }

    /// For a format that writes JSON objects.
    pub(crate) fn json(format: F) -> Self {
        Self {
            is_json: true,
            ..Self::new(format)
        }
    }

    /// How often an event has come, if it is to be told.
    fn count(&self, event: &Event<'_>) -> Option<u64> {
        let mut bare = Bare::default();
        event.record(&mut bare);
        // Fields say which request or which job it is about, and that is another one each time.
        if *event.metadata().level() != Level::WARN || bare.has_fields {
            return Some(1);
        }
        let warnings = self.warnings.lock();
        let mut warnings = warnings.unwrap_or_else(PoisonError::into_inner);
        warnings.count(&bare.message, Instant::now())
    }
}

impl<F, S, N> FormatEvent<S, N> for ToldOnce<F>
where
    F: FormatEvent<S, N>,
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        match self.count(event) {
            None => Ok(()),
            Some(1) => self.format.format_event(context, writer, event),
            Some(count) if self.is_json => {
                let mut line = String::new();
                self.format
                    .format_event(context, Writer::new(&mut line), event)?;
                let fields = line.strip_prefix('{').unwrap_or(&line);
                write!(writer, "{{\"count\":{count},{fields}")
            }
            Some(count) => {
                write!(writer, "({count} times by now) ")?;
                self.format.format_event(context, writer, event)
            }
        }
    }
}

/// The message of an event, and whether that is all there is.
#[derive(Default)]
struct Bare {
    message: String,
    has_fields: bool,
}

impl Visit for Bare {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            _ => self.has_fields = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Log {
        type Writer = Lines<Self>;

        fn make_writer(&'a self) -> Self::Writer {
            Lines {
                out: self.clone(),
                colours: false,
            }
        }
    }

    fn logged(work: impl FnOnce()) -> String {
        let log = Log::default();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(log.clone())
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .map_event_format(ToldOnce::new)
            .finish();
        tracing::subscriber::with_default(subscriber, work);
        let bytes = log.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn warnings_that_repeat_are_told_once_and_counted() {
        let log = logged(|| {
            for number in 0..25 {
                tracing::warn!("`/loop` is skipped: it contains itself");
                tracing::warn!(number, "about one request");
                tracing::info!("index updated");
            }
        });

        let told = log.matches("contains itself").count();
        assert_eq!(told, 2, "{log}");
        assert!(log.contains("(10 times by now)"), "{log}");
        assert_eq!(log.matches("about one request").count(), 25);
        assert_eq!(log.matches("index updated").count(), 25);
    }

    #[test]
    fn nothing_in_a_line_changes_how_it_is_displayed() {
        let log = logged(|| {
            let name = "a\u{202e}b\nINFO forged\u{9b}2J\x1b[2J";
            tracing::info!(name, "`{name}` was asked for");
            tracing::info!(%name, "by name");
        });

        assert_eq!(log.lines().count(), 2, "{log}");
        let line_feeds_aside = log.replace('\n', "");
        assert!(
            !line_feeds_aside.chars().any(defence::harmful::is_harmful),
            "{log:?}"
        );
    }
}
