//! The exposure of a row to a requester, and its sets.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use catalog::{DocumentEntry, DocumentState, RecordEntry, Subject};
use oai::SetSpec;
use oai::format::didl;
use site::{Access, Requester, SitePath, Verdict};

use crate::known::Known;
use crate::settings::{AggregatorSettings, QuerySet, RemovedRepositories};
use crate::{identifier, sets};

/// The rows that one requester may see.
pub(crate) struct Exposure<'a> {
    pub(crate) settings: &'a AggregatorSettings,
    pub(crate) access: &'a Access,
    pub(crate) requester: &'a Requester,
    known: RefCell<Arc<Known>>,
    /// Repositories that were asked about before.
    decided: RefCell<HashMap<i64, bool>>,
}

impl<'a> Exposure<'a> {
    pub(crate) fn new(
        settings: &'a AggregatorSettings,
        access: &'a Access,
        requester: &'a Requester,
        known: Arc<Known>,
    ) -> Self {
        Self {
            settings,
            access,
            requester,
            known: RefCell::new(known),
            decided: RefCell::default(),
        }
    }

    /// The repositories that are known.
    pub(crate) fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.borrow())
    }

    /// Takes what was read of the repositories just now.
    pub(crate) fn renew(&self, known: Arc<Known>) {
        self.known.replace(known);
        self.decided.borrow_mut().clear();
    }

    /// Whether records of a repository are told to the requester.
    pub(crate) fn shows_repository(&self, number: i64) -> bool {
        if let Some(decided) = self.decided.borrow().get(&number) {
            return *decided;
        }
        let wanted = &self.settings.repositories;
        let known = self.known();
        let is_chosen =
            wanted.is_empty() || wanted.iter().any(|name| known.number(name) == Some(number));
        let is_told = self.settings.removed == RemovedRepositories::Tombstones
            || known.repositories.contains_key(&number);
        let shows = self.settings.records
            && is_chosen
            && is_told
            && is_open(
                self.access,
                self.requester,
                &format!("/repository/{number}"),
            );
        self.decided.borrow_mut().insert(number, shows);
        shows
    }

    /// Whether the requester may see records or documents that a set of the operator's own can hold.
    pub(crate) fn shows_query(&self, query: &QuerySet) -> bool {
        if !query.is_of_records() {
            return self.shows_documents();
        }
        let known = self.known();
        if query.repositories.is_empty() {
            let mut all = known.repositories.keys().chain(known.former.keys());
            return all.any(|number| self.shows_repository(*number));
        }
        let mut numbers = query.repositories.iter();
        numbers.any(|name| (known.number(name)).is_some_and(|number| self.shows_repository(number)))
    }

    /// Whether documents are told to the requester.
    pub(crate) fn shows_documents(&self) -> bool {
        self.settings.documents && is_open(self.access, self.requester, "/document")
    }

    /// Whether the files of documents are given to the requester.
    pub(crate) fn gives_files(&self) -> bool {
        self.settings.downloads && self.offers(didl::PREFIX) && self.shows_documents()
    }

    /// Whether records in a format are told at all.
    pub(crate) fn offers(&self, prefix: &str) -> bool {
        let formats = &self.settings.formats;
        formats.is_empty() || formats.iter().any(|format| format == prefix)
    }

    /// Whether something is told to the requester.
    pub(crate) fn shows(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Record { record, .. } => self.shows_repository(record.repository),
            Subject::GoneRecord(gone) => self.shows_repository(gone.repository),
            Subject::Document(_) | Subject::GoneDocument(_) => self.shows_documents(),
        }
    }

    /// The identifier under which something is told.
    pub(crate) fn identifier(&self, subject: &Subject) -> String {
        let host = self.settings.repository_identifier.as_str();
        match subject {
            Subject::Record {
                record, is_taken, ..
            } => identifier::of_record(host, record.repository, &record.identifier, *is_taken),
            Subject::GoneRecord(gone) => {
                identifier::of_record(host, gone.repository, &gone.identifier, gone.is_taken)
            }
            Subject::Document(document) => identifier::of_document(host, document.id),
            Subject::GoneDocument(gone) => identifier::of_document(host, gone.id),
        }
    }

    /// The sets that something is in, the deepest of each.
    pub(crate) fn sets(&self, subject: &Subject) -> Vec<SetSpec> {
        let mut specs = match subject {
            Subject::Record { record, .. } => self.of_record(record.repository, &record.set_specs),
            Subject::GoneRecord(gone) => self.of_record(gone.repository, &gone.set_specs),
            Subject::Document(document) => {
                self.of_document(&document.host, &document.media_type, kind(document))
            }
            Subject::GoneDocument(gone) => {
                self.of_document(&gone.host, &gone.media_type, gone.kind.as_deref())
            }
        };
        specs.sort_unstable();
        specs.dedup();
        specs
    }

    fn of_record(&self, repository: i64, source: &[String]) -> Vec<SetSpec> {
        let mut specs: Vec<_> = source
            .iter()
            .map(|set| sets::of_source(repository, set))
            .collect();
        if specs.is_empty() {
            specs.push(sets::of_repository(repository));
        }
        let known = self.known();
        let is_in = |query: &&QuerySet| {
            query.is_of_records()
                && (query.repositories.is_empty()
                    || query
                        .repositories
                        .iter()
                        .any(|name| known.number(name) == Some(repository)))
                && (query.sets.is_empty()
                    || source
                        .iter()
                        .any(|set| query.sets.iter().any(|wanted| is_below(set, wanted, ':'))))
        };
        let queries = self.settings.sets.iter().filter(is_in);
        specs.extend(queries.map(|query| query.spec.clone()));
        specs
    }

    fn of_document(&self, host: &str, media_type: &str, kind: Option<&str>) -> Vec<SetSpec> {
        let mut specs = vec![sets::of_host(host), sets::of_media_type(media_type)];
        specs.extend(kind.map(sets::of_kind));
        let any = |wanted: &[String], fits: &dyn Fn(&str) -> bool| {
            wanted.is_empty() || wanted.iter().any(|one| fits(one))
        };
        let is_in = |query: &&QuerySet| {
            query.is_of_documents()
                && any(&query.kinds, &|wanted| kind == Some(wanted))
                && any(&query.media_types, &|wanted| {
                    media_type.eq_ignore_ascii_case(wanted)
                })
                && any(&query.hosts, &|wanted| {
                    host == wanted || host.ends_with(&format!(".{wanted}"))
                })
        };
        let queries = self.settings.sets.iter().filter(is_in);
        specs.extend(queries.map(|query| query.spec.clone()));
        specs
    }
}

/// Whether something lies open to a requester, as paths of a site do: `/repository/3`, `/document`.
pub(crate) fn is_open(access: &Access, requester: &Requester, path: &str) -> bool {
    let path = SitePath::from_url_path(path);
    path.is_some_and(|path| access.verdict(&path, requester) == Verdict::Open)
}

/// Whether what is held of a record can be told; if not, it is told as deleted.
pub(crate) fn is_told(record: &RecordEntry) -> bool {
    record.is_held() && record.file.is_some()
}

/// Whether a document can be told: what is set aside waits for a decision.
pub(crate) fn is_told_document(document: &DocumentEntry) -> bool {
    document.state != DocumentState::SetAside
}

/// The kind of a document: that of a correction, or else of the model.
pub(crate) fn kind(document: &DocumentEntry) -> Option<&str> {
    let judgement = document.judgement.as_ref()?;
    let corrected = judgement.corrected.as_ref();
    let corrected = corrected.and_then(|corrected| corrected.kind.as_deref());
    corrected.or(judgement.kind.as_deref())
}

fn is_below(text: &str, above: &str, separator: char) -> bool {
    let rest = text.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
}
