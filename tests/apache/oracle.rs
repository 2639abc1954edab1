//! The differential oracle: every file under every URL it might have, a real GET against what the module says.

use std::collections::{BTreeMap, BTreeSet};

use test_support::{Answer, Response};

use super::client::{Client, Protocol};
use super::records::{Record, records};
use super::site::{Candidate, Expectation, Site, marks};

/// The module's setting for files that the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Reference,
    Processed,
}

/// Compares a site and a repository for one requester.
pub(crate) struct Oracle<'a> {
    site: &'a Site,
    client: Client,
    policy: Policy,
    complaints: Vec<String>,
    /// The marks of all files that this requester gets by a GET.
    given: BTreeSet<String>,
}

/// The name and the value of a header.
type Field = (String, String);

/// A candidate, what a GET gave, and what must follow from it.
struct Truth {
    candidate: Candidate,
    response: Response,
    verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// An item, and its bytes are the file's.
    File,
    /// An item that the server makes anew for each GET by running something.
    Made,
    /// An item that the server makes anew for each GET and may always give.
    Rewritten,
    Absent,
    /// An item or not; the lists and GetRecord must agree all the same.
    Either,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(site: &'a Site, client: Client) -> Self {
        Self {
            site,
            client,
            policy: Policy::Reference,
            complaints: Vec::new(),
            given: BTreeSet::new(),
        }
    }

    pub(crate) fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Fails with all that was found, not only with the first.
    pub(crate) fn check(mut self) {
        let truths = self.truths();
        let listed = self.identifiers();
        self.compare_list(&truths, &listed);
        for prefix in PREFIXES {
            let listed = self.listed_in(prefix, &truths, &listed);
            let records = self.list_records(prefix, &listed);
            for truth in &truths {
                self.compare_record(truth, prefix, &records, &listed);
            }
        }
        self.check_names();
        self.check_sets();
        let count = self.complaints.len();
        assert!(
            count == 0,
            "{count} disagreements for {:?}:\n{}",
            self.client,
            self.complaints.join("\n")
        );
    }

    fn truths(&mut self) -> Vec<Truth> {
        let mut truths = Vec::new();
        for candidate in self.site.candidates() {
            let response = self.client.get(&candidate.path);
            if response.status == 200 {
                self.given.extend(marks(&response.body));
            }
            let verdict = verdict(&candidate, &response);
            truths.push(Truth {
                candidate,
                response,
                verdict,
            });
        }
        truths
    }

    fn identifiers(&mut self) -> BTreeSet<String> {
        let pages = self
            .client
            .pages("ListIdentifiers", "metadataPrefix=oai_dc");
        self.check_pages("ListIdentifiers", &pages);
        let mut listed = BTreeSet::new();
        for header in pages.iter().flat_map(Answer::headers) {
            if header.deleted {
                self.complain(&header.identifier, "there is a tombstone for it");
            }
            if !listed.insert(header.identifier.clone()) {
                self.complain(&header.identifier, "it is listed twice");
            }
        }
        listed
    }

    /// The items listed in a format. The headers of programs that are not run are unknown.
    fn listed_in(
        &self,
        prefix: &str,
        truths: &[Truth],
        listed: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let mut listed = listed.clone();
        if prefix == "http_header" && self.policy == Policy::Reference {
            for truth in truths {
                if truth.candidate.expectation == Expectation::Dynamic {
                    listed.remove(&self.client.url(&truth.candidate.path));
                }
            }
        }
        listed
    }

    fn compare_list(&mut self, truths: &[Truth], listed: &BTreeSet<String>) {
        let mut unknown = listed.clone();
        for truth in truths {
            let identifier = self.client.url(&truth.candidate.path);
            let found = unknown.remove(&identifier);
            match truth.verdict {
                Verdict::File | Verdict::Made | Verdict::Rewritten if !found => {
                    self.complain(truth, "it is not listed");
                }
                Verdict::Absent if found => self.complain(truth, "it is listed"),
                _ => {}
            }
        }
        for identifier in unknown {
            self.complain(&identifier, "it is listed, but no file can be there");
        }
    }

    fn list_records(
        &mut self,
        prefix: &str,
        listed: &BTreeSet<String>,
    ) -> BTreeMap<String, Record> {
        let pages = self
            .client
            .pages("ListRecords", &format!("metadataPrefix={prefix}"));
        self.check_pages(&format!("ListRecords {prefix}"), &pages);
        let all: BTreeMap<_, _> = pages.iter().flat_map(records).collect();
        let found: BTreeSet<_> = all.keys().cloned().collect();
        for identifier in found.symmetric_difference(listed) {
            let said = format!("ListRecords {prefix} and ListIdentifiers differ on it");
            self.complain(identifier, &said);
        }
        for record in all.values() {
            let bytes = record.by_value.as_deref().unwrap_or_default();
            self.check_marks(&format!("ListRecords {prefix}"), bytes);
        }
        all
    }

    /// Compares a GET, the record in the list and the record by GetRecord.
    fn compare_record(
        &mut self,
        truth: &Truth,
        prefix: &str,
        list: &BTreeMap<String, Record>,
        listed: &BTreeSet<String>,
    ) {
        let identifier = self.client.url(&truth.candidate.path);
        let answer = self.client.record(&identifier, prefix);
        self.check_marks(
            &format!("GetRecord {prefix} {identifier}"),
            answer.xml.as_bytes(),
        );
        let error = answer.error();
        if !listed.contains(&identifier) {
            let expected = ["idDoesNotExist", "cannotDisseminateFormat"];
            let expected = &expected[..1 + usize::from(prefix == "http_header")];
            if !error
                .as_deref()
                .is_some_and(|error| expected.contains(&error))
            {
                let said = format!("it is not listed, but GetRecord {prefix} says {error:?}");
                self.complain(truth, &said);
            }
            return;
        }
        let own = records(&answer).remove(&identifier);
        let Some(own) = own.filter(|_| error.is_none()) else {
            let said = format!("it is listed, but GetRecord {prefix} says {error:?}");
            self.complain(truth, &said);
            return;
        };
        let bytes = own.by_value.as_deref().unwrap_or_default();
        self.check_marks(&format!("GetRecord {prefix} {identifier}"), bytes);
        for (verb, record) in [
            ("ListRecords", list.get(&identifier)),
            ("GetRecord", Some(&own)),
        ] {
            let Some(record) = record else { continue };
            let place = format!("{verb} {prefix}");
            match truth.verdict {
                Verdict::File | Verdict::Rewritten => {
                    self.compare_file(truth, prefix, &place, record);
                }
                Verdict::Made => self.compare_made(truth, prefix, &place, record),
                Verdict::Absent | Verdict::Either => {}
            }
        }
    }

    fn compare_file(&mut self, truth: &Truth, prefix: &str, place: &str, record: &Record) {
        if prefix != "oai_dc" {
            self.compare_headers(truth, place, record);
        }
        if prefix == "oai_didl" && record.by_value.as_ref() != Some(&truth.response.body) {
            let length = record.by_value.as_ref().map(Vec::len);
            let said = format!("{place} gives other bytes: {length:?}");
            self.complain(truth, &said);
        }
    }

    fn compare_made(&mut self, truth: &Truth, prefix: &str, place: &str, record: &Record) {
        for content in &truth.candidate.contents {
            let size = content.len().to_string();
            let length = |(name, value): &Field| {
                name.eq_ignore_ascii_case("content-length") && *value == size
            };
            let told = record.fields.iter().any(length);
            let processed = self.policy == Policy::Processed;
            if !processed && (told || record.formats.contains(&format!("{size} bytes"))) {
                self.complain(truth, &format!("{place} tells the size of the source"));
            }
        }
        match self.policy {
            Policy::Reference if record.by_value.is_some() => {
                self.complain(truth, &format!("{place} gives bytes"));
            }
            Policy::Processed if prefix == "oai_didl" => {
                self.compare_file(truth, prefix, place, record);
            }
            Policy::Processed if prefix == "http_header" => {
                self.compare_headers(truth, place, record);
            }
            _ => {}
        }
    }

    fn compare_headers(&mut self, truth: &Truth, place: &str, record: &Record) {
        let made = truth.verdict != Verdict::File;
        let fields = |headers: &[Field]| self.fields(headers, made);
        let (told, sent) = (fields(&record.fields), fields(&truth.response.headers));
        let without = |some: &[Field], others: &[Field]| -> Vec<Field> {
            let kept = some
                .iter()
                .filter(|one| !others.iter().any(|other| alike(one, other)));
            kept.cloned().collect()
        };
        let (lacking, added) = (without(&sent, &told), without(&told, &sent));
        if told.len() == sent.len() && lacking.is_empty() && added.is_empty() {
            return;
        }
        let said = format!("{place} lacks {lacking:?} and adds {added:?}");
        self.complain(truth, &said);
    }

    /// Headers in comparable form, without what concerns the connection alone.
    fn fields(&self, headers: &[Field], made: bool) -> Vec<Field> {
        let kept = headers.iter().filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            // Whether the output of a program is known to its end in time is chance, for a GET too.
            let by_chance = made && name == "content-length";
            !by_chance && !HOP_BY_HOP.contains(&name.as_str())
        });
        let mut fields: Vec<_> = kept
            .map(|(name, value)| match self.client.protocol() {
                // HTTP/2 knows small letters only.
                Protocol::H2c => (name.to_ascii_lowercase(), value.clone()),
                _ => (name.clone(), value.clone()),
            })
            .collect();
        fields.sort();
        fields
    }

    fn check_names(&mut self) {
        let names: Vec<_> = self.site.names().map(str::to_owned).collect();
        for name in names {
            let identifier = self.client.url(&name);
            let error = self.client.record(&identifier, "oai_dc").error();
            if error.as_deref() != Some("idDoesNotExist") {
                let said = format!("it is another name, but GetRecord says {error:?}");
                self.complain(&identifier, &said);
            }
        }
    }

    /// A set is told only to those who see something in it.
    fn check_sets(&mut self) {
        for set in self.client.ask("verb=ListSets").texts("setSpec") {
            let arguments = format!("metadataPrefix=oai_dc&set={set}");
            let pages = self.client.pages("ListIdentifiers", &arguments);
            if pages.iter().all(|page| page.headers().is_empty()) {
                self.complain(&set, "the set is told but empty");
            }
        }
    }

    fn check_pages(&mut self, verb: &str, pages: &[Answer]) {
        for page in pages {
            if let Some(error) = page.error() {
                self.complain(verb, &format!("the list ends with {error}"));
            }
            self.check_marks(verb, page.xml.as_bytes());
        }
    }

    fn check_marks(&mut self, place: &str, bytes: &[u8]) {
        for mark in marks(bytes) {
            if !self.given.contains(&mark) {
                let said = format!("LEAK of {mark}, which no GET gives");
                self.complain(place, &said);
            }
        }
    }

    fn complain(&mut self, about: &(impl About + ?Sized), said: &str) {
        self.complaints.push(format!("{}: {said}", about.about()));
    }
}

fn verdict(candidate: &Candidate, response: &Response) -> Verdict {
    let served = response.status == 200;
    match candidate.expectation {
        Expectation::Hidden => Verdict::Absent,
        Expectation::Either => Verdict::Either,
        Expectation::Dynamic if served => Verdict::Made,
        Expectation::Rewritten if served => Verdict::Rewritten,
        Expectation::Plain if served && candidate.contents.contains(&response.body) => {
            Verdict::File
        }
        Expectation::Dynamic | Expectation::Rewritten | Expectation::Plain => Verdict::Absent,
    }
}

/// Whether two header fields are the same, or differ by as much time as passes between two requests.
fn alike(told: &Field, sent: &Field) -> bool {
    if told == sent {
        return true;
    }
    let of_the_moment = ["date", "expires"].contains(&told.0.to_ascii_lowercase().as_str());
    let (Some(one), Some(other)) = (seconds(&told.1), seconds(&sent.1)) else {
        return false;
    };
    of_the_moment && told.0 == sent.0 && one.abs_diff(other) < 600
}

/// The time of day and the day of the month of an HTTP date; enough to tell moments of one test apart.
fn seconds(date: &str) -> Option<i64> {
    let words: Vec<_> = date.split_whitespace().collect();
    let [_, day, _, _, time, "GMT"] = words.as_slice() else {
        return None;
    };
    let mut seconds: i64 = day.parse().ok()?;
    seconds *= 24;
    for (at, part) in time.split(':').enumerate() {
        seconds = seconds * if at == 0 { 1 } else { 60 } + part.parse::<i64>().ok()?;
    }
    Some(seconds)
}

/// The subject of a complaint.
trait About {
    fn about(&self) -> String;
}

impl About for Truth {
    fn about(&self) -> String {
        let (status, length) = (self.response.status, self.response.body.len());
        format!(
            "{}: GET gives {status}, {length} bytes",
            self.candidate.path
        )
    }
}

impl About for str {
    fn about(&self) -> String {
        self.to_owned()
    }
}

impl About for String {
    fn about(&self) -> String {
        self.clone()
    }
}

const PREFIXES: [&str; 3] = ["oai_dc", "http_header", "oai_didl"];

const HOP_BY_HOP: [&str; 4] = ["connection", "keep-alive", "transfer-encoding", "upgrade"];
