//! The content handler `oai-status`: what a repository holds, who asked, and why a file is offered or not. httpd's own
//! rules say who may see it, as for `server-status`.

use std::ffi::{CString, c_int};
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use oai::Arguments;
use oai::Datestamp;
use provider::html::{self, Sheet, SheetForm, SheetTable};
use site::traffic::{TURNED_AWAY, TrafficReport};
use site::{Origin, Requester, SiteFacts};

use crate::httpd::{METHOD_NOT_ALLOWED, NOT_FOUND, OK, SERVICE_UNAVAILABLE};
use crate::log;
use crate::origin::ApacheOrigin;
use crate::output::Output;
use crate::repository::Repository;
use crate::request::Request;
use crate::sys;

/// The forms of the page.
enum Form {
    Html,
    /// Lines of `name: value`, as `server-status?auto` has them.
    Text,
    /// As Prometheus reads them.
    Metrics,
}

/// Answers a request for the page.
pub(crate) fn answer(request: Request<'_>) -> c_int {
    if request.method() != sys::M_GET {
        return METHOD_NOT_ALLOWED;
    }
    if !request.server_config().offers {
        request.log(
            log::ERROR,
            "SetHandler oai-status: this virtual host has no repository, which SetHandler oai makes",
        );
        return NOT_FOUND;
    }
    let arguments = request.query();
    let form = match (arguments.get("auto"), arguments.get("metrics")) {
        (Some(_), _) => Form::Text,
        (None, Some(_)) => Form::Metrics,
        (None, None) => Form::Html,
    };
    let written = match Status::read(request, &arguments) {
        Ok(status) => match form {
            Form::Html => {
                request.set_content_type(html::MEDIA_TYPE);
                for (name, value) in html::HEADERS {
                    if let Ok(name) = CString::new(name) {
                        request.set_header(&name, value);
                    }
                }
                status.sheet().html()
            }
            Form::Text => {
                request.set_content_type("text/plain; charset=utf-8");
                status.sheet().text()
            }
            Form::Metrics => {
                request.set_content_type("text/plain; version=0.0.4; charset=utf-8");
                status.metrics()
            }
        },
        Err(error) => {
            request.log(log::ERROR, &format!("no status: {error}"));
            request.set_status(SERVICE_UNAVAILABLE);
            request.set_content_type("text/plain; charset=utf-8");
            "The index cannot be read; the error log of the server says why.\n".to_owned()
        }
    };
    request.set_header(c"Cache-Control", "no-store");
    let mut output = Output::new(request);
    // A client that is gone needs no answer.
    let _ = output
        .write_all(written.as_bytes())
        .and_then(|()| output.flush());
    OK
}

struct Status {
    name: String,
    base_url: String,
    facts: SiteFacts,
    traffic: TrafficReport,
    asked: String,
    answer: Vec<String>,
}

impl Status {
    fn read(request: Request<'_>, arguments: &Arguments) -> Result<Self, site::Error> {
        let repository = Repository::of(request)?;
        let config = request.server_config();
        let path = config.announce.as_ref().or(config.location.as_ref());
        let addresses = request.addresses(path.map_or("/modoai", String::as_str));
        let asked = arguments.get("explain").unwrap_or_default().trim();
        let answer = match asked {
            "" => Vec::new(),
            url => explain(request, &repository, url, &addresses.site_url),
        };
        Ok(Self {
            name: repository.name().to_owned(),
            base_url: addresses.base_url,
            facts: repository.site.facts()?,
            traffic: repository.site.traffic().report(),
            asked: asked.to_owned(),
            answer,
        })
    }

    fn sheet(&self) -> Sheet {
        let total = self.traffic.total();
        let mut facts = vec![
            ("Repository".to_owned(), self.name.clone()),
            ("Base URL".to_owned(), self.base_url.clone()),
            ("Items".to_owned(), self.facts.items.to_string()),
            ("Deleted items".to_owned(), self.facts.deleted.to_string()),
            (
                "Restricted items".to_owned(),
                self.facts.restricted.to_string(),
            ),
            ("Requests".to_owned(), total.requests.to_string()),
            ("Errors".to_owned(), total.errors.to_string()),
            (
                "Turned away".to_owned(),
                self.traffic.with_error(TURNED_AWAY).to_string(),
            ),
            ("Records given".to_owned(), total.records.to_string()),
            ("Bytes sent".to_owned(), total.bytes.to_string()),
        ];
        if let Some(since) = self.traffic.since {
            facts.push(("Counted since".to_owned(), moment(since)));
        }
        let verbs = self.traffic.verbs.iter().map(|verb| {
            let counts = &verb.counts;
            vec![
                verb.verb.clone(),
                verb.error.clone(),
                counts.requests.to_string(),
                counts.records.to_string(),
                counts.bytes.to_string(),
            ]
        });
        let types = self.facts.types.iter();
        let types = types.map(|(name, items)| vec![name.clone(), items.to_string()]);
        let days = self.facts.days.iter().rev();
        let days = days.filter(|day| day.changed + day.deleted > 0).map(|day| {
            let date = moment(day.day * 86_400);
            vec![
                date.split('T').next().unwrap_or_default().to_owned(),
                day.changed.to_string(),
                day.deleted.to_string(),
            ]
        });
        let harvesters = self.traffic.harvesters.iter().take(MOST_ROWS);
        let harvesters = harvesters.map(|harvester| {
            vec![
                harvester.agent.clone(),
                harvester.address.clone(),
                moment(harvester.last),
                harvester.last_verb.clone(),
                harvester.counts.requests.to_string(),
                harvester.counts.errors.to_string(),
                harvester.counts.records.to_string(),
            ]
        });
        let mistakes = self.traffic.mistakes.iter().take(MOST_ROWS);
        let mistakes = mistakes.map(|mistake| {
            vec![
                moment(mistake.at),
                mistake.error.clone(),
                mistake.request.clone(),
                mistake.address.clone(),
            ]
        });
        Sheet {
            title: format!("OAI-PMH status of {}", self.name),
            base_url: self.base_url.clone(),
            facts,
            form: Some(SheetForm {
                title: "Why is a file offered, or not?",
                name: "explain",
                label: "URL or path",
                button: "Explain",
                value: self.asked.clone(),
                answer: self.answer.clone(),
            }),
            tables: vec![
                SheetTable {
                    title: "Requests".to_owned(),
                    columns: vec!["Verb", "Error", "Requests", "Records", "Bytes"],
                    rows: verbs.collect(),
                    empty: "Nobody has asked yet.",
                },
                SheetTable {
                    title: format!("Harvesters: the last {MOST_ROWS} of 90 days"),
                    columns: vec![
                        "User agent",
                        "Address",
                        "Last request",
                        "Verb",
                        "Requests",
                        "Errors",
                        "Records",
                    ],
                    rows: harvesters.collect(),
                    empty: "Nobody has asked yet.",
                },
                SheetTable {
                    title: "Errors".to_owned(),
                    columns: vec!["When", "Error", "Request", "Address"],
                    rows: mistakes.collect(),
                    empty: "No request was answered with an error.",
                },
                SheetTable {
                    title: "Items by type".to_owned(),
                    columns: vec!["Media type", "Items"],
                    rows: types.take(MOST_ROWS).collect(),
                    empty: "Nothing is offered.",
                },
                SheetTable {
                    title: "Changes of the last 30 days".to_owned(),
                    columns: vec!["Day", "New or changed", "Deleted"],
                    rows: days.collect(),
                    empty: "Nothing has changed.",
                },
            ],
        }
    }

    /// The counters under the names that the stand-alone server gives them.
    fn metrics(&self) -> String {
        let total = self.traffic.total();
        let mut text = String::new();
        for (name, kind, value) in [
            ("garner_items", "gauge", self.facts.items),
            ("garner_tombstones", "gauge", self.facts.deleted),
            ("garner_oai_records_total", "counter", total.records),
            ("garner_oai_bytes_total", "counter", total.bytes),
            (
                "garner_oai_turned_away_total",
                "counter",
                self.traffic.with_error(TURNED_AWAY),
            ),
        ] {
            let _ = writeln!(text, "# TYPE {name} {kind}\n{name} {value}");
        }
        text.push_str("# TYPE garner_oai_requests_total counter\n");
        for verb in &self.traffic.verbs {
            let error = match verb.error.as_str() {
                "" => "-",
                error => error,
            };
            let _ = writeln!(
                text,
                "garner_oai_requests_total{{verb=\"{}\",error=\"{error}\"}} {}",
                verb.verb, verb.counts.requests
            );
        }
        text
    }
}

/// The lines that explain a URL as somebody without credentials would see it, or a path.
fn explain(
    request: Request<'_>,
    repository: &Repository,
    url: &str,
    site_url: &str,
) -> Vec<String> {
    // SAFETY: httpd keeps the request until `answer` returns, and the origin is gone before that.
    let origin = unsafe {
        ApacheOrigin::new(
            request.raw(),
            Arc::clone(repository.site.ground()),
            request.requester(),
        )
    };
    let asker = match origin.can_ask_as_nobody() {
        true => Requester::anonymous(IpAddr::V4(NOBODY)),
        false => request.requester(),
    };
    let asking = Some((&origin as &dyn Origin, &asker));
    match repository.site.explain(url, asking, Some(site_url)) {
        Ok(explanation) => {
            let verdict = match explanation.offered {
                true => "offered",
                false => "not offered",
            };
            let first = format!("{}: {verdict}", explanation.target);
            std::iter::once(first).chain(explanation.because).collect()
        }
        Err(reason) => vec![reason],
    }
}

fn moment(seconds: i64) -> String {
    Datestamp::from_seconds(seconds).to_string()
}

/// An address that is nobody's (RFC 5737).
const NOBODY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const MOST_ROWS: usize = 50;
