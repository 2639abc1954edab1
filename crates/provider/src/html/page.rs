//! The page of one answer: envelope, errors, lists and headers of records. What records hold is in `metadata`.

use std::io::{self, Write};

use oai::Verb;

use super::escape::{escaped, grouped, linked, moment, query_value, shortened};
use super::metadata::Metadata;
use super::tokens::Token;
use crate::{Provider, assets};

/// Writes the page while the answer is being made.
pub(crate) struct Page<'a, W> {
    out: W,
    html: String,
    provider: &'a Provider,
    formats: Vec<String>,
    verb: String,
    request: Vec<(String, String)>,
    response_date: String,
    /// The names of the open elements, outside of metadata.
    path: Vec<String>,
    text: String,
    is_begun: bool,
    errors: Vec<String>,
    header: Header,
    fields: Vec<(String, String)>,
    token: Option<(u64, Option<u64>, String)>,
    shown: u64,
    metadata: Option<Metadata>,
}

/// The header of a record.
#[derive(Debug, Default)]
struct Header {
    is_deleted: bool,
    identifier: String,
    datestamp: String,
    sets: Vec<String>,
    more_sets: u64,
}

impl<'a, W: Write> Page<'a, W> {
    pub(crate) fn new(provider: &'a Provider, formats: Vec<String>, verb: &str, out: W) -> Self {
        Self {
            out,
            html: String::new(),
            provider,
            formats,
            verb: verb.to_owned(),
            request: Vec::new(),
            response_date: String::new(),
            path: Vec::new(),
            text: String::new(),
            is_begun: false,
            errors: Vec::new(),
            header: Header::default(),
            fields: Vec::new(),
            token: None,
            shown: 0,
            metadata: None,
        }
    }

    /// Takes the next piece of the answer.
    pub(crate) fn take(&mut self, token: Token) -> io::Result<()> {
        if let Some(metadata) = &mut self.metadata {
            if metadata.take(token, &mut self.html) {
                self.metadata = None;
                self.end();
            }
            return self.send(false);
        }
        match token {
            Token::Start(name, attributes) => self.start(name, attributes),
            Token::Text(text) => {
                let room = LONGEST_TEXT.saturating_sub(self.text.len());
                self.text.extend(text.chars().take(room));
            }
            Token::End => self.end(),
        }
        self.send(false)
    }

    /// Writes the end of the page.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.html.push_str(FOOT);
        self.send(true)?;
        self.out.flush()
    }

    fn send(&mut self, all: bool) -> io::Result<()> {
        if all || self.html.len() > BLOCK {
            self.out.write_all(self.html.as_bytes())?;
            self.html.clear();
        }
        Ok(())
    }

    fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    fn start(&mut self, name: String, attributes: Vec<(String, String)>) {
        self.text.clear();
        match (self.path.len(), name.as_str()) {
            (1, "request") => self.request = attributes,
            (1, "error") => {
                self.begin(Some(attribute(&attributes, "code")));
                self.errors.push(attribute(&attributes, "code").to_owned());
            }
            (1, "responseDate") => {}
            (1, _) => {
                self.begin(None);
                self.begin_body();
            }
            (_, "header") => {
                self.header = Header {
                    is_deleted: attribute(&attributes, "status") == "deleted",
                    ..Header::default()
                };
            }
            (_, "set" | "metadataFormat") => self.fields.clear(),
            (_, "resumptionToken") => {
                let cursor = attribute(&attributes, "cursor").parse().unwrap_or(0);
                let size = attribute(&attributes, "completeListSize").parse().ok();
                self.token = Some((cursor, size, String::new()));
            }
            (_, "metadata") => self.metadata = Some(Metadata::new()),
            (_, "about" | "description" | "setDescription") => {
                let heading = match name.as_str() {
                    "about" => "<div class=\"gn-block\"><h3>About this record</h3>",
                    _ => "<div class=\"gn-block\"><h3>Description</h3>",
                };
                self.push(heading);
                self.metadata = Some(Metadata::new());
            }
            _ => {}
        }
        self.path.push(name);
    }

    fn end(&mut self) {
        let Some(name) = self.path.pop() else { return };
        let text = std::mem::take(&mut self.text);
        let parent = self.path.last().map_or("", String::as_str);
        match (self.path.len(), name.as_str(), parent) {
            (1, "responseDate", _) => self.response_date = text,
            (1, "request", _) | (0, ..) => {}
            (1, "error", _) => self.error(&text),
            (1, ..) => self.end_body(),
            (_, "identifier", "header") => self.header.identifier = text,
            (_, "datestamp", "header") => self.header.datestamp = text,
            (_, "setSpec", "header") if self.header.sets.len() < MOST_SETS => {
                self.header.sets.push(text);
            }
            (_, "setSpec", "header") => self.header.more_sets += 1,
            (_, "header", "record") => self.begin_record(),
            (_, "header", _) => self.identifier_row(),
            (_, "record", _) => self.push("</article>\n"),
            (_, "about" | "description" | "setDescription", _) => self.push("</div>"),
            (_, "metadata", _) => {}
            (_, "set", _) => self.set_row(),
            (_, "metadataFormat", _) => self.format_row(),
            (_, "resumptionToken", _) => {
                if let Some(token) = &mut self.token {
                    token.2 = text;
                }
            }
            (_, _, "Identify") => self.fact(&name, &text),
            _ => self.fields.push((name, text)),
        }
    }

    /// Writes the top of the page, once it is clear whether the answer is an error.
    fn begin(&mut self, error: Option<&str>) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let heading = match (error, self.verb.as_str()) {
            (Some("noRecordsMatch"), _) => "Nothing matches this request",
            (Some(_), _) => "This request could not be answered",
            (None, "Identify") => self.provider.repository_name.as_str(),
            (None, "ListMetadataFormats") => "Metadata formats",
            (None, "ListSets") => "Sets",
            (None, "ListIdentifiers") => "Identifiers",
            (None, "ListRecords") => "Records",
            (None, _) => "Record",
        };
        let prefix = attribute(&self.request, "metadataPrefix");
        let top = top(self.provider, heading, &self.formats, &self.verb, prefix);
        self.html.push_str(&top);
        if Verb::ALL.iter().any(|verb| verb.as_str() == self.verb) {
            let verb = format!("<p class=\"gn-verb\">{}</p>\n", escaped(&self.verb));
            self.html.push_str(&verb);
        }
        let heading = shortened(heading, LONGEST_HEADING);
        self.html
            .push_str(&format!("<h1 dir=\"auto\">{heading}</h1>\n"));
        self.asked();
    }

    /// The request and the time of the answer.
    fn asked(&mut self) {
        self.push("<section class=\"gn-asked\" aria-labelledby=\"gn-asked\"><h2 id=\"gn-asked\">Request</h2>\n");
        if self.request.is_empty() {
            self.push(
                "<p>The protocol does not repeat the arguments of a request that it could not understand.</p>",
            );
        } else {
            let rows = self.request.iter().map(|(name, value)| {
                let (name, value) = (escaped(name), linked(value));
                format!("<tr><th scope=\"row\">{name}</th><td dir=\"auto\">{value}</td></tr>\n")
            });
            let table = format!(
                "<table class=\"gn-pairs\"><tbody>{}</tbody></table>",
                rows.collect::<String>()
            );
            self.push(&table);
        }
        let answered = moment(&self.response_date);
        self.push(&format!(
            "<p class=\"gn-quiet\">Answered {answered}</p></section>\n"
        ));
    }

    fn error(&mut self, message: &str) {
        let Some((code, before)) = self.errors.split_last() else {
            return;
        };
        let calm = if code == "noRecordsMatch" {
            " gn-calm"
        } else {
            ""
        };
        let mut html = format!(
            "<section class=\"gn-error{calm}\"><h2><code>{}</code></h2>\n<p class=\"gn-said\" dir=\"auto\">{}</p>\n",
            escaped(code),
            shortened(message, LONGEST_HEADING)
        );
        // Several errors may share a code; one piece of advice is enough.
        if !before.contains(code) {
            html.push_str(&self.remedy(code));
        }
        html.push_str("</section>\n");
        self.push(&html);
    }

    fn remedy(&self, code: &str) -> String {
        let list = match self.verb.as_str() {
            "ListIdentifiers" => "ListIdentifiers",
            _ => "ListRecords",
        };
        let identifier = query_value(attribute(&self.request, "identifier"));
        let all = "verb=ListIdentifiers&metadataPrefix=oai_dc".to_owned();
        let formats = "verb=ListMetadataFormats".to_owned();
        let again = format!("verb={list}&metadataPrefix=oai_dc");
        let (advice, ways) = match code {
            "badVerb" => (
                "A request names exactly one of the six verbs, in this spelling.",
                vec![
                    (
                        "Identify: about this repository",
                        "verb=Identify".to_owned(),
                    ),
                    ("ListMetadataFormats: the formats it offers", formats),
                    ("ListSets: its sets", "verb=ListSets".to_owned()),
                    ("ListIdentifiers: the headers of its records", all),
                    ("ListRecords: its records", again),
                ],
            ),
            "badArgument" => (
                "An argument is missing, unknown, repeated, or not in the form that the protocol wants. Lists need \
                 metadataPrefix, a single record needs identifier as well; dates look like 2024-05-31 or \
                 2024-05-31T12:00:00Z.",
                vec![
                    ("List all identifiers", all),
                    ("Show the metadata formats", formats),
                    ("Show the granularity of dates", "verb=Identify".to_owned()),
                ],
            ),
            "badResumptionToken" => (
                "The token is damaged, has expired or belongs to another list. Start the list again.",
                vec![match self.verb.as_str() {
                    "ListSets" => ("Start ListSets again", "verb=ListSets".to_owned()),
                    _ => ("Start the list again", again),
                }],
            ),
            "cannotDisseminateFormat" => (
                "This format is not offered here, or not for this item.",
                match identifier.is_empty() {
                    true => vec![
                        ("Ask for oai_dc instead", again),
                        ("Show the metadata formats", formats),
                    ],
                    false => vec![("Show the metadata formats", formats)],
                },
            ),
            "idDoesNotExist" => (
                "There is no item with this identifier. Copy the identifier from a list.",
                vec![("List all identifiers", all)],
            ),
            "noRecordsMatch" => (
                "The request is correct, but no record has these dates, this set and this format. That is a normal \
                 answer when nothing has changed.",
                vec![
                    ("Ask without dates and set", again),
                    ("Show the sets", "verb=ListSets".to_owned()),
                ],
            ),
            "noSetHierarchy" => (
                "This repository has no sets.",
                vec![("List all records", again)],
            ),
            _ => ("", vec![("Start at Identify", "verb=Identify".to_owned())]),
        };
        let ways = ways.iter().map(|(words, query)| {
            format!(
                "<li><a href=\"?{}\">{words}</a></li>",
                query.replace('&', "&amp;")
            )
        });
        format!(
            "<p>{advice}</p><ul class=\"gn-next\">{}</ul>\n",
            ways.collect::<String>()
        )
    }

    fn begin_body(&mut self) {
        let head = |columns: &[&str]| {
            let columns = columns.iter();
            let columns = columns.map(|name| format!("<th scope=\"col\">{name}</th>"));
            format!(
                "<table class=\"gn-list\"><thead><tr>{}</tr></thead><tbody>\n",
                columns.collect::<String>()
            )
        };
        let html = match self.verb.as_str() {
            "Identify" => "<section aria-labelledby=\"gn-facts\"><h2 id=\"gn-facts\">About this repository</h2>\n\
                           <dl class=\"gn-facts gn-card\">\n"
                .to_owned(),
            "ListMetadataFormats" => head(&["Prefix", "Namespace and schema", "Look at"]),
            "ListSets" => head(&["Set", "Name", "Look at"]),
            "ListIdentifiers" => head(&["Identifier", "Datestamp", "Sets", "Record"]),
            _ => String::new(),
        };
        self.push(&html);
    }

    fn end_body(&mut self) {
        match self.verb.as_str() {
            "Identify" => self.push("</dl></section>\n"),
            "ListMetadataFormats" | "ListSets" | "ListIdentifiers" => {
                self.push("</tbody></table>\n");
            }
            _ => {}
        }
        let one = match self.verb.as_str() {
            "ListSets" => "Set",
            "ListIdentifiers" => "Identifier",
            "ListRecords" => "Record",
            _ => return,
        };
        let shown = self.shown;
        let (first, total, token) = match &self.token {
            None => (None, None, ""),
            Some((cursor, total, token)) => (Some(cursor + 1), *total, token.trim()),
        };
        let mut range = match (first, shown) {
            (Some(first), 1) => format!("{one} {}", grouped(first)),
            (Some(first), 2..) => {
                let last = grouped(first + shown - 1);
                format!("{one}s {} to {last}", grouped(first))
            }
            (_, 1) => format!("1 {}", one.to_lowercase()),
            _ => format!("{} {}s", grouped(shown), one.to_lowercase()),
        };
        if let (Some(first), Some(total)) = (first, total)
            && total >= first + shown - 1
        {
            range.push_str(&format!(" of {}", grouped(total)));
        }
        if first.is_some() && token.is_empty() {
            range.push_str("; this is the last page");
        }
        let next = match token.is_empty() {
            true => String::new(),
            false => format!(
                "<a class=\"gn-button\" rel=\"next\" href=\"?verb={}&amp;resumptionToken={}\">Next page</a>",
                escaped(&self.verb),
                query_value(token)
            ),
        };
        self.push(&format!(
            "<nav class=\"gn-pages\" aria-label=\"Pages\"><p>{range}</p>{next}</nav>\n"
        ));
    }

    fn fact(&mut self, name: &str, text: &str) {
        let quiet = |words: &str| format!("{words} <code>{}</code>", escaped(text));
        let (label, value) = match (name, text) {
            ("repositoryName", _) => ("Name", shortened(text, LONGEST_HEADING)),
            ("baseURL", _) => ("Base URL", escaped(text)),
            ("protocolVersion", _) => ("Protocol", format!("OAI-PMH {}", escaped(text))),
            ("adminEmail", _) => ("Administrator", escaped(text)),
            ("earliestDatestamp", _) => ("Earliest datestamp", moment(text)),
            ("deletedRecord", "persistent") => (
                "Deleted records",
                quiet("Kept permanently: every removal stays on record."),
            ),
            ("granularity", "YYYY-MM-DD") => {
                ("Granularity", quiet("Datestamps are exact to the day."))
            }
            ("granularity", _) => ("Granularity", quiet("Datestamps are exact to the second.")),
            ("compression", _) => ("Compression", format!("<code>{}</code>", escaped(text))),
            _ => (name, escaped(text)),
        };
        self.push(&format!(
            "<dt>{}</dt><dd dir=\"auto\">{value}</dd>\n",
            escaped(label)
        ));
    }

    fn field(&self, name: &str) -> String {
        let field = self.fields.iter().find(|(candidate, _)| candidate == name);
        field.map_or(String::new(), |(_, text)| text.clone())
    }

    fn format_row(&mut self) {
        let (prefix, namespace) = (
            self.field("metadataPrefix"),
            self.field("metadataNamespace"),
        );
        let query = query_value(&prefix);
        let identifier = attribute(&self.request, "identifier");
        let look = match identifier.is_empty() {
            true => format!(
                "<li><a href=\"?verb=ListRecords&amp;metadataPrefix={query}\">records</a></li>\
                 <li><a href=\"?verb=ListIdentifiers&amp;metadataPrefix={query}\">identifiers</a></li>"
            ),
            false => format!(
                "<li><a href=\"?verb=GetRecord&amp;metadataPrefix={query}&amp;identifier={}\">the record</a></li>",
                query_value(identifier)
            ),
        };
        let row = format!(
            "<tr><th scope=\"row\"><code>{}</code></th><td data-label=\"Namespace and schema\"><div>{}</div>\
             <div>{}</div></td><td data-label=\"Look at\" class=\"gn-look\"><ul class=\"gn-links\">{look}</ul></td></tr>\n",
            escaped(&prefix),
            linked(&namespace),
            linked(&self.field("schema"))
        );
        self.push(&row);
    }

    fn set_row(&mut self) {
        self.shown += 1;
        let (spec, name) = (self.field("setSpec"), self.field("setName"));
        let depth = spec.matches(':').count().min(4);
        let query = query_value(&spec);
        let prefix = self.link_prefix();
        let row = format!(
            "<tr><th scope=\"row\" class=\"gn-depth-{depth}\"><code>{}</code></th>\
             <td data-label=\"Name\" dir=\"auto\">{}</td><td data-label=\"Look at\" class=\"gn-look\">\
             <ul class=\"gn-links\"><li><a href=\"?verb=ListRecords&amp;metadataPrefix={prefix}&amp;set={query}\">records</a></li>\
             <li><a href=\"?verb=ListIdentifiers&amp;metadataPrefix={prefix}&amp;set={query}\">identifiers</a></li></ul></td></tr>\n",
            set_spec(&spec),
            shortened(&name, LONGEST_HEADING)
        );
        self.push(&row);
    }

    fn identifier_row(&mut self) {
        self.shown += 1;
        let gone = if self.header.is_deleted {
            " class=\"gn-gone\""
        } else {
            ""
        };
        let row = format!(
            "<tr{gone}><th scope=\"row\" class=\"gn-id\">{}</th><td data-label=\"Datestamp\" class=\"gn-when\">{}</td>\
             <td data-label=\"Sets\" class=\"gn-sets\">{}</td><td data-label=\"Record\" class=\"gn-look\">{}</td></tr>\n",
            self.identifier(),
            moment(&self.header.datestamp),
            self.sets("ListIdentifiers"),
            self.records()
        );
        self.push(&row);
    }

    fn begin_record(&mut self) {
        self.shown += 1;
        let (gone, note) = match self.header.is_deleted {
            true => (
                " gn-gone",
                "<p class=\"gn-note\">This resource has been removed. Its record stays, so that harvesters learn of \
                 the removal; the datestamp says when it was noticed.</p>",
            ),
            false => ("", ""),
        };
        let html = format!(
            "<article class=\"gn-card{gone}\"><h2 class=\"gn-id\">{}</h2>\n<dl class=\"gn-head\">\
             <div><dt>Datestamp</dt><dd>{}</dd></div><div><dt>Sets</dt><dd>{}</dd></div>\
             <div><dt>Formats</dt><dd>{}</dd></div></dl>{note}\n",
            self.identifier(),
            moment(&self.header.datestamp),
            self.sets("ListRecords"),
            self.records()
        );
        self.push(&html);
    }

    fn identifier(&self) -> String {
        let flag = match self.header.is_deleted {
            true => " <strong class=\"gn-flag\">deleted</strong>",
            false => "",
        };
        format!("{}{flag}", linked(&self.header.identifier))
    }

    fn sets(&self, verb: &str) -> String {
        if self.header.sets.is_empty() {
            return "<span class=\"gn-quiet\">none</span>".to_owned();
        }
        let prefix = self.link_prefix();
        let links = self.header.sets.iter().map(|spec| {
            format!(
                "<li><a href=\"?verb={verb}&amp;metadataPrefix={prefix}&amp;set={}\">{}</a></li>",
                query_value(spec),
                set_spec(spec)
            )
        });
        let links: String = links.collect();
        let more = match self.header.more_sets {
            0 => String::new(),
            more => format!("<li>and {} more</li>", grouped(more)),
        };
        format!("<ul class=\"gn-links\">{links}{more}</ul>")
    }

    /// Links to the record in every format.
    fn records(&self) -> String {
        let identifier = query_value(&self.header.identifier);
        let shown = attribute(&self.request, "metadataPrefix");
        let links = self.formats.iter().map(|format| {
            let current = match self.verb == "GetRecord" && shown == format {
                true => " aria-current=\"page\"",
                false => "",
            };
            format!(
                "<li><a href=\"?verb=GetRecord&amp;metadataPrefix={}&amp;identifier={identifier}\"{current}>{}</a></li>",
                query_value(format),
                escaped(format)
            )
        });
        format!("<ul class=\"gn-links\">{}</ul>", links.collect::<String>())
    }

    /// The prefix for links to further records.
    fn link_prefix(&self) -> String {
        let asked = attribute(&self.request, "metadataPrefix");
        match self.formats.iter().any(|format| format == asked) {
            true => query_value(asked),
            false => "oai_dc".to_owned(),
        }
    }
}

/// The page up to its heading.
pub(crate) fn top(
    provider: &Provider,
    title: &str,
    formats: &[String],
    verb: &str,
    prefix: &str,
) -> String {
    let link = |query: &str, words: &str, current: bool| {
        let current = if current {
            " aria-current=\"page\""
        } else {
            ""
        };
        format!(
            "<li><a href=\"?{}\"{current}>{}</a></li>",
            query.replace('&', "&amp;"),
            escaped(words)
        )
    };
    let mut verbs = String::new();
    for name in ["Identify", "ListMetadataFormats", "ListSets"] {
        verbs.push_str(&link(&format!("verb={name}"), name, verb == name));
    }
    let list = "ListIdentifiers";
    verbs.push_str(&link(
        &format!("verb={list}&metadataPrefix=oai_dc"),
        list,
        verb == list,
    ));
    let records = formats.iter().map(|format| {
        let query = format!("verb=ListRecords&metadataPrefix={}", query_value(format));
        link(&query, format, verb == "ListRecords" && prefix == format)
    });
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{} · garner</title>\n\
         <link rel=\"stylesheet\" href=\"{}\">\n</head>\n<body>\n\
         <a class=\"gn-skip\" href=\"#content\">Skip to the content</a>\n\
         <header class=\"gn-top\"><div class=\"gn-wide\"><p class=\"gn-mark\"><a href=\"?verb=Identify\">garner</a> \
         <span class=\"gn-base\">{}</span></p>\n<nav aria-label=\"Verbs\"><ul class=\"gn-verbs\">{verbs}\
         <li class=\"gn-group\"><span id=\"gn-records\">ListRecords</span><ul aria-labelledby=\"gn-records\">{}</ul></li>\
         </ul></nav></div></header>\n<main id=\"content\" class=\"gn-wide\">\n",
        shortened_title(title),
        escaped(&assets::path(&provider.base_url, assets::PAGE_STYLE)),
        escaped(&provider.base_url),
        records.collect::<String>()
    )
}

fn shortened_title(title: &str) -> String {
    escaped(&title.chars().take(LONGEST_HEADING).collect::<String>())
}

/// A setSpec with its ancestors dimmed.
fn set_spec(spec: &str) -> String {
    let Some((ancestors, last)) = spec.rsplit_once(':') else {
        return escaped(spec);
    };
    let ancestors = ancestors.split(':');
    let ancestors =
        ancestors.map(|part| format!("<span class=\"gn-dim\">{}:</span><wbr>", escaped(part)));
    format!("{}{}", ancestors.collect::<String>(), escaped(last))
}

fn attribute<'t>(attributes: &'t [(String, String)], name: &str) -> &'t str {
    let attribute = attributes.iter().find(|(candidate, _)| candidate == name);
    attribute.map_or("", |(_, value)| value)
}

/// The end of every page.
pub(crate) const FOOT: &str = "</main>\n<footer class=\"gn-foot\"><div class=\"gn-wide\">\
    <p>This page shows an OAI-PMH 2.0 answer to people. Harvesters, curl and wget get the answer itself, as XML, at the \
    same address.</p></div></footer>\n</body>\n</html>\n";

/// HTML is written in blocks of this size.
const BLOCK: usize = 16 * 1024;
/// More of the text of an element of the protocol is not kept.
const LONGEST_TEXT: usize = 64 * 1024;
/// The longest heading, in characters.
const LONGEST_HEADING: usize = 2000;
/// More sets of one record are only counted.
const MOST_SETS: usize = 100;
