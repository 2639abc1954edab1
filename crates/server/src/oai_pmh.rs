//! The repository's address: takes the arguments of GET and POST, and streams the provider's answer.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use connection::{RequestBody, accepts_gzip};
use defence::harmful::replaced;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, VARY,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use oai::{Arguments, Verb};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use provider::{Form, Outcome, html};
use site::Requester;
use tokio::sync::oneshot;

use crate::body::{Body, BodyWriter};
use crate::config::FlowControlConfig;
use crate::flow_control::{FlowControl, Permit};
use crate::gzip::Unflushed;
use crate::router::{State, refuse_method, text};

/// A repository that answers at an address of this server.
pub(crate) trait Answering: Send + Sync + 'static {
    /// Writes the answer for a requester; this blocks.
    fn write(
        &self,
        requester: &Requester,
        arguments: &Arguments,
        form: Form,
        out: &mut dyn Write,
    ) -> Result<Outcome, provider::Error>;

    /// Whether answers to a verb may take so long that only some run at once.
    fn takes_long(&self, verb: Verb) -> bool;

    /// How much may be asked at once.
    fn control(&self) -> &FlowControlConfig;

    /// What runs now.
    fn flow_control(&self) -> &Arc<FlowControl>;
}

impl Answering for State {
    fn write(
        &self,
        requester: &Requester,
        arguments: &Arguments,
        form: Form,
        out: &mut dyn Write,
    ) -> Result<Outcome, provider::Error> {
        let view = self.site.view(requester.clone())?;
        self.provider.answer_as(form, &view, arguments, out)
    }

    fn takes_long(&self, verb: Verb) -> bool {
        match verb {
            Verb::ListIdentifiers | Verb::ListRecords | Verb::GetRecord => true,
            // Which sets a requester may see is asked of the origin, type by type.
            Verb::ListSets => self.config.origin.url.is_some(),
            Verb::Identify | Verb::ListMetadataFormats => false,
        }
    }

    fn control(&self) -> &FlowControlConfig {
        &self.config.flow_control
    }

    fn flow_control(&self) -> &Arc<FlowControl> {
        &self.flow_control
    }
}

/// Answers one OAI-PMH request.
pub(crate) async fn answer<A: Answering>(
    state: &Arc<A>,
    request: Request<RequestBody>,
    requester: Requester,
) -> Response<Body> {
    if let Some(refusal) =
        refuse_method(request.method(), &[Method::GET, Method::HEAD, Method::POST])
    {
        return refusal;
    }
    let gzip = accepts_gzip(request.headers());
    let form = form(request.headers());
    let stall = Duration::from_secs(state.control().stall_seconds);
    let arguments = match arguments(request, stall).await {
        Ok(arguments) => arguments,
        Err(refusal) => return refusal,
    };
    let permit = match admit(state.as_ref(), &arguments, &requester) {
        Ok(permit) => permit,
        Err(refusal) => return *refusal,
    };

    let (begin, begun) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let body = BodyWriter::new(begin, stall, runtime);
    let writing = Writing {
        state: Arc::clone(state),
        arguments,
        requester,
        form,
        gzip,
        permit,
    };
    tokio::task::spawn_blocking(move || writing.run(body));
    match begun.await {
        Ok(body) => answered(body, form, gzip),
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
    arguments: Arguments,
    requester: Requester,
    form: Form,
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
        let (requester, arguments) = (&self.requester, &self.arguments);
        if !self.gzip {
            return self.state.write(requester, arguments, self.form, body);
        }
        // The fastest level: the answers are long and the text is plain.
        let mut encoder = GzEncoder::new(body, Compression::fast());
        let mut out = Unflushed(&mut encoder);
        let outcome = self
            .state
            .write(requester, arguments, self.form, &mut out)?;
        encoder.try_finish()?;
        Ok(outcome)
    }

    /// One line a request.
    fn report(&self, result: Result<(Outcome, u64), provider::Error>, elapsed: Duration) {
        let verb = Verb::of(&self.arguments).map_or("-", Verb::as_str);
        let arguments = self.shown_arguments();
        let client = self.requester.address;
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

    /// The arguments for the log: on one line, and no longer than a line should be.
    fn shown_arguments(&self) -> String {
        let mut shown = String::new();
        for (name, value) in self.arguments.iter().filter(|(name, _)| *name != "verb") {
            shown.push_str(&format!("{}={} ", replaced(name), replaced(value)));
            if shown.len() > LONGEST_SHOWN {
                shown = shown.chars().take(LONGEST_SHOWN).collect();
                shown.push('…');
                break;
            }
        }
        shown.trim_end().to_owned()
    }
}

/// The arguments of the query and, for a POST, of the form.
async fn arguments(
    request: Request<RequestBody>,
    patience: Duration,
) -> Result<Arguments, Response<Body>> {
    let mut arguments = Arguments::parse(request.uri().query().unwrap_or_default());
    if request.method() != Method::POST {
        return Ok(arguments);
    }
    let form = request.headers().get(CONTENT_TYPE).is_none_or(|value| {
        let value = value.to_str().unwrap_or_default().to_ascii_lowercase();
        value.starts_with("application/x-www-form-urlencoded")
    });
    if !form {
        let message = "send the arguments as application/x-www-form-urlencoded";
        return Err(text(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let body = Limited::new(request.into_body(), LONGEST_FORM).collect();
    let body = tokio::time::timeout(patience, body)
        .await
        .map_err(|_| text(StatusCode::REQUEST_TIMEOUT, "the form did not come"))?;
    let bytes = body
        .map_err(|_| {
            text(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the form is longer than any OAI-PMH request",
            )
        })?
        .to_bytes();
    // Raw bytes beyond ASCII are not legal in a form; escaped again they decode to themselves.
    let form = percent_encode(&bytes, ILLEGAL);
    arguments.extend(Arguments::parse(&form.to_string()));
    Ok(arguments)
}

/// Lists, and records that may be long, run only so many at once.
fn admit<A: Answering>(
    state: &A,
    arguments: &Arguments,
    requester: &Requester,
) -> Result<Option<Permit>, Box<Response<Body>>> {
    if !Verb::of(arguments).is_ok_and(|verb| state.takes_long(verb)) {
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

fn form(headers: &HeaderMap) -> Form {
    let value = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    Form::asked(value(ACCEPT), value(SEC_FETCH_DEST))
}

fn answered(body: Body, form: Form, gzip: bool) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let media_type = match form {
        Form::Xml => "text/xml; charset=utf-8",
        Form::Html => html::MEDIA_TYPE,
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(
        VARY,
        HeaderValue::from_static("Accept, Accept-Encoding, Sec-Fetch-Dest"),
    );
    if form == Form::Html {
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

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The characters of ASCII that a form may not hold.
const ILLEGAL: &AsciiSet = &CONTROLS.add(b' ');

/// The longest form that is taken.
const LONGEST_FORM: usize = 1024 * 1024;

/// The longest list of arguments in a line of the log, in bytes or a little more.
const LONGEST_SHOWN: usize = 500;
