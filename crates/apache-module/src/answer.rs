//! One question in, one answer out: a request of OAI-PMH, or a list of resources. Which verbs there are is the
//! provider's business.

use std::ffi::{CString, c_int};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use oai::{Arguments, Verb};
use provider::resource_sync::SyncDocument;
use provider::{Form, Outcome, html};
use site::traffic::{Answered, FAILED, TURNED_AWAY};

use crate::flow_control::{self, Kind, Permit};
use crate::httpd::{OK, SERVICE_UNAVAILABLE};
use crate::log;
use crate::origin::ApacheOrigin;
use crate::output::Output;
use crate::repository::Repository;
use crate::request::Request;

/// A question to a repository.
pub(crate) enum Question {
    /// A request of OAI-PMH, and the form of its answer.
    Verb(Arguments, Form),
    /// A document of ResourceSync, or a sitemap.
    Document {
        document: SyncDocument,
        /// Whether it was asked for below the root of the site, and not below the repository.
        at_root: bool,
    },
}

/// Answers a request to the repository at a URL path; returns the status for httpd.
pub(crate) fn answer_verb(request: Request<'_>, base_path: &str) -> c_int {
    match request.arguments() {
        Ok(arguments) => {
            let question = Question::Verb(arguments, wanted_form(request));
            answer(request, base_path, &question)
        }
        Err(status) => status,
    }
}

/// Answers a question to the repository at a URL path; returns the status for httpd.
pub(crate) fn answer(request: Request<'_>, base_path: &str, question: &Question) -> c_int {
    let Ok(_permit) = admit(request, question) else {
        request.log(
            log::INFO,
            "turned away: as many lists run as OaiFlowLimit allows",
        );
        note(request, question, &Outcome::default(), Some(TURNED_AWAY), 0);
        unavailable(request, BUSY);
        return OK;
    };
    let mut output = Output::new(request);
    match question {
        Question::Verb(_, form) => describe(request, *form),
        Question::Document { .. } => request.set_content_type("application/xml; charset=utf-8"),
    }
    match write(request, base_path, question, &mut output) {
        Ok(outcome) => {
            report(request, question, &outcome, output.written);
            OK
        }
        Err(provider::Error::Output(error)) => {
            let level = match error.kind() {
                io::ErrorKind::BrokenPipe => log::INFO,
                // A file that changed under way: ours to tell.
                _ => log::ERROR,
            };
            request.log(level, &format!("the answer breaks off: {error}"));
            note(
                request,
                question,
                &Outcome::default(),
                Some(FAILED),
                output.written,
            );
            output.break_off();
            OK
        }
        Err(provider::Error::Unavailable(reason)) => {
            request.log(log::ERROR, &format!("not answered: {reason}"));
            note(request, question, &Outcome::default(), Some(FAILED), 0);
            match output.is_unsent() {
                true => unavailable(request, UNAVAILABLE),
                false => output.break_off(),
            }
            OK
        }
    }
}

/// The form of the answer that the client wants.
fn wanted_form(request: Request<'_>) -> Form {
    let (accept, dest) = (request.header(c"Accept"), request.header(c"Sec-Fetch-Dest"));
    Form::asked(accept.as_deref(), dest.as_deref())
}

/// Sets the headers for a form.
fn describe(request: Request<'_>, form: Form) {
    request.set_header(c"Vary", html::VARY);
    match form {
        Form::Xml => request.set_content_type("text/xml; charset=utf-8"),
        Form::Html => {
            request.set_content_type(html::MEDIA_TYPE);
            for (name, value) in html::HEADERS {
                if let Ok(name) = CString::new(name) {
                    request.set_header(&name, value);
                }
            }
        }
    }
}

/// The right to answer, where that may take long: else an error.
fn admit(request: Request<'_>, question: &Question) -> Result<Option<Permit>, ()> {
    let takes_long = match question {
        Question::Verb(arguments, _) => provider::takes_long(arguments),
        Question::Document { document, .. } => document.kind.is_list(),
    };
    if !takes_long {
        return Ok(None);
    }
    let limits = request.server_config().flow_limits();
    let client = request.client();
    let permit = flow_control::admit(Kind::List, client, limits.lists, limits.lists_per_client);
    permit.map(Some).ok_or(())
}

fn write(
    request: Request<'_>,
    base_path: &str,
    question: &Question,
    output: &mut Output<'_>,
) -> Result<Outcome, provider::Error> {
    let repository = Repository::of(request)?;
    let requester = request.requester();
    let addresses = request.addresses(base_path);
    // SAFETY: httpd keeps the request until `answer` returns, and the origin is gone before that.
    let origin = unsafe {
        ApacheOrigin::new(
            request.raw(),
            Arc::clone(repository.site.ground()),
            requester.clone(),
        )
    };
    let goes_on = match question {
        Question::Verb(arguments, _) => provider::goes_on(arguments),
        Question::Document { document, .. } => document.part.is_some(),
    };
    let freshness = match goes_on {
        // The first page looked at the files, and what changed since is not in this list.
        true => Duration::MAX,
        false => repository.freshness,
    };
    if let Err(error) = repository.refresh(freshness, request, &origin) {
        if !error.is_damage() {
            return Err(error.into());
        }
        request.log(
            log::ERROR,
            &format!("{error}; the index is rebuilt from what can be read of it"),
        );
        repository.site.rebuild_index()?;
        repository.refresh(freshness, request, &origin)?;
    }
    let provider = repository.provider(request, &addresses);
    let directory = match question {
        Question::Document { at_root: true, .. } => addresses.site_url.clone(),
        _ => format!("{}/", addresses.base_url),
    };
    let view = repository
        .site
        .view_through(requester, &origin, addresses)?;
    let outcome = match question {
        Question::Verb(arguments, form) => {
            provider.answer_as(*form, &view, arguments, &mut *output)?
        }
        Question::Document { document, .. } => {
            provider.synchronize(&view, document, &directory, &mut *output)?
        }
    };
    // Before the view is dropped, which keeps what was found out.
    output.finish()?;
    Ok(outcome)
}

/// 503, with Retry-After in seconds, the form that every harvester understands. Why is for the log: it may speak of
/// files that are nobody else's business.
fn unavailable(request: Request<'_>, reason: &[u8]) {
    request.set_status(SERVICE_UNAVAILABLE);
    request.set_content_type("text/plain; charset=utf-8");
    request.set_header(c"Retry-After", &RETRY_AFTER_SECONDS.to_string());
    let mut output = Output::new(request);
    // A client that is gone needs no answer.
    let _ = output.write_all(reason).and_then(|()| output.flush());
}

fn report(request: Request<'_>, question: &Question, outcome: &Outcome, bytes: u64) {
    let error = outcome.error.map(|code| code.as_str());
    note(request, question, outcome, error, bytes);
    let (verb, error) = (verb_of(question), error.unwrap_or("-"));
    let records = outcome.records;
    request.log(
        log::DEBUG,
        &format!("answered {verb} records={records} bytes={bytes} error={error}"),
    );
}

fn verb_of(question: &Question) -> &'static str {
    match question {
        Question::Verb(arguments, _) => Verb::of(arguments).map_or("-", Verb::as_str),
        Question::Document { document, .. } => document.kind.name(),
    }
}

/// Counts a request for the status page. A repository that is not open yet counts nothing.
fn note(
    request: Request<'_>,
    question: &Question,
    outcome: &Outcome,
    error: Option<&str>,
    bytes: u64,
) {
    let Some(repository) = Repository::opened(request) else {
        return;
    };
    // Which request it was is only kept of those that failed.
    let asked = match (question, error) {
        (Question::Verb(arguments, _), Some(_)) => {
            let named = arguments
                .iter()
                .map(|(name, value)| format!("{name}={value}"));
            named.take(MOST_ARGUMENTS).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    };
    repository.site.traffic().note(&Answered {
        address: request.client(),
        agent: request.header(c"User-Agent").as_deref(),
        verb: verb_of(question),
        request: &asked,
        error,
        records: outcome.records,
        bytes,
    });
}

/// More arguments than the protocol has are not kept.
const MOST_ARGUMENTS: usize = 10;

/// After so many a harvester should come back; as the stand-alone server has it by default.
const RETRY_AFTER_SECONDS: u32 = 10;

const BUSY: &[u8] = b"Too many lists are being answered at the moment; try again later.\n";

const UNAVAILABLE: &[u8] =
    b"This repository cannot answer at the moment; the server's error log says why. \
Try again later.\n";
