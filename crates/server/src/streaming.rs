//! Answers that a blocking thread writes while they are sent: those to the verbs, and lists of resources.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use connection::accepts_gzip;
use defence::harmful::replaced;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT, VARY,
};
use http::{HeaderMap, Response, StatusCode};
use oai::{Arguments, Verb};
use provider::resource_sync::SyncDocument;
use provider::{Form, Outcome, html};
use site::Requester;
use site::traffic::{Answered, FAILED, TURNED_AWAY};
use tokio::sync::oneshot;

use crate::body::{Body, BodyWriter};
use crate::config::FlowControlConfig;
use crate::flow_control::{FlowControl, Permit};
use crate::gzip::Unflushed;
use crate::router::text;

/// A question to a repository.
#[derive(Debug, Clone)]
pub enum Question {
    /// A request of OAI-PMH, and the form of its answer.
    Verb(Arguments, Form),
    /// A document of ResourceSync, or a sitemap.
    Document {
        /// The document.
        document: SyncDocument,
        /// Whether it was asked for below the root of the site, and not below the repository.
        at_root: bool,
    },
}

/// A repository that answers at an address of this server.
pub(crate) trait Answering: Send + Sync + 'static {
    /// Writes the answer for a requester; this blocks.
    fn write(
        &self,
        requester: &Requester,
        question: &Question,
        out: &mut dyn Write,
    ) -> Result<Outcome, provider::Error>;

    /// Counts a request.
    fn note(&self, _answered: &Answered<'_>) {}

    /// Whether answers to a verb may take so long that only some run at once.
    fn takes_long(&self, verb: Verb) -> bool;

    /// How much may be asked at once.
    fn control(&self) -> &FlowControlConfig;

    /// The lists that run now.
    fn flow_control(&self) -> &Arc<FlowControl>;
}

/// Answers a question.
pub(crate) async fn answer<A: Answering>(
    state: &Arc<A>,
    headers: &HeaderMap,
    requester: Requester,
    question: Question,
) -> Response<Body> {
    let gzip = accepts_gzip(headers);
    let asked = question.clone();
    let agent = headers.get(USER_AGENT);
    let agent = agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned());
    let permit = match admit(state.as_ref(), &question, &requester) {
        Ok(permit) => permit,
        Err(refusal) => {
            let (verb, request) = described(&question);
            state.note(&Answered {
                address: requester.address,
                agent: agent.as_deref(),
                verb,
                request: &request,
                error: Some(TURNED_AWAY),
                records: 0,
                bytes: 0,
            });
            return *refusal;
        }
    };
    let (begin, begun) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let stall = Duration::from_secs(state.control().stall_seconds);
    let body = BodyWriter::new(begin, stall, runtime);
    let writing = Writing {
        state: Arc::clone(state),
        question,
        requester,
        agent,
        gzip,
        permit,
    };
    tokio::task::spawn_blocking(move || writing.run(body));
    match begun.await {
        Ok(body) => answered(body, &asked, gzip),
        // Why is for the log: it may speak of files and servers that are nobody else's business.
        Err(_) => unavailable(
            state.control(),
            "this repository cannot answer at the moment; try again later",
        ),
    }
}

/// One answer, made by a blocking thread.
struct Writing<A> {
    state: Arc<A>,
    question: Question,
    requester: Requester,
    agent: Option<String>,
    gzip: bool,
    permit: Option<Permit>,
}

impl<A: Answering> Writing<A> {
    fn run(mut self, mut body: BodyWriter) {
        let began = Instant::now();
        let result = self.write(&mut body);
        // Before the client has its answer: who asks one thing after the other never has two running.
        drop(self.permit.take());
        let unsent = body.is_unsent();
        let result = match result {
            Ok(outcome) => body
                .finish()
                .map(|bytes| (outcome, bytes))
                .map_err(provider::Error::from),
            Err(error) => {
                match unsent {
                    true => drop(body),
                    false => body.abort(&error),
                }
                Err(error)
            }
        };
        self.report(result, began.elapsed());
    }

    fn write(&self, body: &mut BodyWriter) -> Result<Outcome, provider::Error> {
        let (requester, question) = (&self.requester, &self.question);
        if !self.gzip {
            return self.state.write(requester, question, body);
        }
        // The fastest level: the answers are long and the text is plain.
        let mut encoder = GzEncoder::new(body, Compression::fast());
        let mut out = Unflushed(&mut encoder);
        let outcome = self.state.write(requester, question, &mut out)?;
        encoder.try_finish()?;
        Ok(outcome)
    }

    /// One line a request.
    fn report(&self, result: Result<(Outcome, u64), provider::Error>, elapsed: Duration) {
        let (verb, arguments) = described(&self.question);
        let client = self.requester.address;
        let (error, records, bytes) = match &result {
            Ok((outcome, bytes)) => (
                outcome.error.map(|code| code.as_str()),
                outcome.records,
                *bytes,
            ),
            Err(_) => (Some(FAILED), 0, 0),
        };
        self.state.note(&Answered {
            address: client,
            agent: self.agent.as_deref(),
            verb,
            request: &arguments,
            error,
            records,
            bytes,
        });
        let elapsed_ms = elapsed.as_millis() as u64;
        metrics::histogram!("garner_oai_request_seconds", "verb" => verb).record(elapsed);
        match result {
            Ok((outcome, bytes)) => {
                let error = outcome.error.map_or("-", |code| code.as_str());
                metrics::counter!("garner_oai_requests_total", "verb" => verb, "error" => error)
                    .increment(1);
                metrics::counter!("garner_oai_records_total").increment(outcome.records);
                metrics::counter!("garner_oai_bytes_total").increment(bytes);
                let records = outcome.records;
                tracing::info!(%client, verb, arguments, records, bytes, elapsed_ms, error, "answered");
            }
            Err(error) => {
                metrics::counter!("garner_oai_requests_total", "verb" => verb, "error" => "failed")
                    .increment(1);
                tracing::warn!(%client, verb, arguments, elapsed_ms, "not answered: {error}");
            }
        }
    }
}

/// The verb or the kind of document, and the arguments.
fn described(question: &Question) -> (&'static str, String) {
    match question {
        Question::Verb(arguments, _) => {
            let verb = Verb::of(arguments);
            // The text that was given for a verb is worth knowing.
            let asked = match (verb.is_ok(), arguments.get("verb")) {
                (false, Some(asked)) => format!("verb={} ", replaced(asked)),
                _ => String::new(),
            };
            let asked: String = asked.chars().take(LONGEST_SHOWN).collect();
            let shown = format!("{asked}{}", shown(arguments));
            (verb.map_or("-", Verb::as_str), shown.trim_end().to_owned())
        }
        Question::Document { document, .. } => (document.kind.name(), String::new()),
    }
}

/// The arguments for the log: on one line, and no longer than a line should be.
fn shown(arguments: &Arguments) -> String {
    let mut shown = String::new();
    for (name, value) in arguments.iter().filter(|(name, _)| *name != "verb") {
        shown.push_str(&format!("{}={} ", replaced(name), replaced(value)));
        if shown.len() > LONGEST_SHOWN {
            shown = shown.chars().take(LONGEST_SHOWN).collect();
            shown.push('…');
            break;
        }
    }
    shown.trim_end().to_owned()
}

/// Lists, and records that may be long, run only so many at once.
fn admit<A: Answering>(
    state: &A,
    question: &Question,
    requester: &Requester,
) -> Result<Option<Permit>, Box<Response<Body>>> {
    let takes_long = match question {
        Question::Verb(arguments, _) => {
            Verb::of(arguments).is_ok_and(|verb| state.takes_long(verb))
        }
        Question::Document { document, .. } => document.kind.is_list(),
    };
    if !takes_long {
        return Ok(None);
    }
    match state.flow_control().admit(requester.address) {
        Some(permit) => Ok(Some(permit)),
        None => {
            metrics::counter!("garner_oai_turned_away_total").increment(1);
            Err(Box::new(unavailable(
                state.control(),
                "too many lists are being answered at the moment; try again later",
            )))
        }
    }
}

/// 503 with Retry-After in seconds, the form that every harvester understands.
fn unavailable(control: &FlowControlConfig, reason: &str) -> Response<Body> {
    let mut response = text(StatusCode::SERVICE_UNAVAILABLE, reason);
    let seconds = HeaderValue::from(control.retry_after_seconds);
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}

fn answered(body: Body, question: &Question, gzip: bool) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let (media_type, vary) = match question {
        Question::Verb(_, Form::Xml) => ("text/xml; charset=utf-8", VARY_OF_FORMS),
        Question::Verb(_, Form::Html) => (html::MEDIA_TYPE, VARY_OF_FORMS),
        Question::Document { .. } => ("application/xml; charset=utf-8", "Accept-Encoding"),
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(VARY, HeaderValue::from_static(vary));
    if let Question::Verb(_, Form::Html) = question {
        for (name, value) in html::HEADERS {
            if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                headers.insert(name, HeaderValue::from_static(value));
            }
        }
    }
    if gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// The headers that an answer to a verb depends on.
const VARY_OF_FORMS: &str = "Accept, Accept-Encoding, Sec-Fetch-Dest";

/// The longest list of arguments in a line of the log, in bytes or a little more.
const LONGEST_SHOWN: usize = 500;
