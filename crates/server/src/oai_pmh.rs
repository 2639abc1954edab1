//! The repository's address: takes the arguments of GET and POST, and streams the provider's answer.

use std::sync::Arc;
use std::time::Duration;

use connection::RequestBody;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use oai::Arguments;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use provider::Form;
use site::Requester;

use crate::body::Body;
use crate::router::{refuse_method, text};
use crate::streaming::{self, Answering, Question};

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
    let headers = request.headers().clone();
    let form = form(&headers);
    let stall = Duration::from_secs(state.control().stall_seconds);
    match arguments(request, stall).await {
        Ok(arguments) => {
            streaming::answer(state, &headers, requester, Question::Verb(arguments, form)).await
        }
        Err(refusal) => refusal,
    }
}

/// The form that the client wants.
fn form(headers: &HeaderMap) -> Form {
    let value = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    Form::asked(value(ACCEPT), value(SEC_FETCH_DEST))
}

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

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

/// The characters of ASCII that a form may not hold.
const ILLEGAL: &AsciiSet = &CONTROLS.add(b' ');

/// The longest form that is taken.
const LONGEST_FORM: usize = 1024 * 1024;
