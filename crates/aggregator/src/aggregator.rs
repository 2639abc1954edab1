//! The aggregator: answers requests from the catalog as it is.

use std::cell::Cell;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::bail;
use catalog::ChangeQuery;
use flows::{DocumentFiles, Holdings};
use oai::{Arguments, Datestamp, TokenKey, Verb};
use provider::{Error, Outcome, Provider, goes_on};
use server::{Question, Repository, Resource};
use site::{Access, Requester, SitePath, Verdict};

use crate::exposure::{Exposure, is_open};
use crate::known::{Cached, unavailable};
use crate::resources;
use crate::settings::AggregatorSettings;
use crate::view::CatalogView;

/// A repository of what a catalog holds.
#[derive(Debug)]
pub struct Aggregator {
    pub(crate) holdings: Arc<Holdings>,
    pub(crate) settings: AggregatorSettings,
    provider: Provider,
    pub(crate) access: Access,
    pub(crate) known: Cached,
    files: Mutex<Option<Arc<DocumentFiles>>>,
}

/// How long an answer waits for the transaction that is being committed. After that it names an earlier time, which is as
/// good: harvesters ask again from it.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the second that is not over is waited for, and how often.
pub(crate) const A_MOMENT: Duration = Duration::from_millis(250);
pub(crate) const MOST_WAITS: usize = 12;

impl Aggregator {
    /// Makes an aggregator of a catalog. `secret` signs its tokens.
    pub fn new(
        holdings: Arc<Holdings>,
        settings: AggregatorSettings,
        secret: &[u8],
    ) -> anyhow::Result<Self> {
        let access = Access::compile(&settings.areas, &settings.relative_to)?;
        for (at, set) in settings.sets.iter().enumerate() {
            if settings.sets[..at]
                .iter()
                .any(|other| other.spec == set.spec)
            {
                bail!("there are two sets `{}`; rename one", set.spec);
            }
            if set.is_of_records() == set.is_of_documents() {
                bail!(
                    "the set `{}` needs conditions for records (repositories, sets) or for documents (kinds, media_types, hosts)",
                    set.spec
                );
            }
        }
        let provider = Provider {
            base_url: settings.base_url.clone(),
            repository_name: settings.name.clone(),
            admin_emails: settings.admin_emails.clone(),
            descriptions: settings.descriptions.clone(),
            compressions: vec!["gzip".to_owned()],
            limits: settings.limits,
            token_key: TokenKey::new(secret),
        };
        Ok(Self {
            holdings,
            settings,
            provider,
            access,
            known: Cached::default(),
            files: Mutex::default(),
        })
    }

    /// The files of the collection.
    pub(crate) fn files(&self) -> Result<Arc<DocumentFiles>, Error> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = DocumentFiles::open(&self.holdings, files.clone());
        let opened = opened.map_err(|error| unavailable(format!("{error:#}")))?;
        *files = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// The time of an answer, and that of the first change. A list that goes on needs no newer one.
    pub(crate) fn moment(&self, is_new: bool) -> Result<(Datestamp, Datestamp), Error> {
        let catalog = self.holdings.catalog().clone();
        if is_new {
            let advancing = catalog.clone();
            // Work that began is finished even if nobody waits for it.
            let (done, advanced) = std::sync::mpsc::channel();
            self.holdings.spawn(async move {
                if let Err(error) = advancing.advance_horizon().await {
                    tracing::warn!("the catalog cannot note the time of an answer: {error}");
                }
                let _ = done.send(());
            });
            let _ = advanced.recv_timeout(PATIENCE);
        }
        let (horizon, earliest) = self.holdings.wait(catalog.horizon()).map_err(unavailable)?;
        // Changes are still stamped with the second of the horizon; the one before it is complete.
        Ok((
            Datestamp::from_seconds(horizon - 1),
            Datestamp::from_seconds(earliest).start_of_year(),
        ))
    }
}

impl Aggregator {
    /// The time of a list that begins, in one format or in all. Where something of it changed within the last second, that second is waited for, so
    /// that whoever harvests something and lists it at once finds it.
    fn settled(&self, prefix: Option<&str>) -> Result<(Datestamp, Datestamp), Error> {
        let mut moment = self.moment(true)?;
        let began = moment.0;
        for _ in 0..MOST_WAITS {
            let newer = ChangeQuery {
                metadata_prefix: prefix.map(str::to_owned),
                every_format: prefix.is_none(),
                documents: true,
                from: moment.0.seconds() + 1,
                until: i64::MAX,
                limit: 1,
                ..ChangeQuery::default()
            };
            let newer = self.holdings.catalog().changes(&newer);
            let newer = self.holdings.wait(newer).map_err(unavailable)?;
            if newer.rows.is_empty() || moment.0 > began {
                break;
            }
            std::thread::sleep(A_MOMENT);
            moment = self.moment(true)?;
        }
        Ok(moment)
    }
}

/// The format of a list that begins with this request.
fn list_of(arguments: &Arguments) -> Option<&str> {
    let verb = Verb::of(arguments).ok()?;
    let is_list = matches!(verb, Verb::ListIdentifiers | Verb::ListRecords);
    arguments.get("metadataPrefix").filter(|_| is_list)
}

/// The URL of the root of a server, with its slash.
fn root_of(url: &str) -> String {
    let parts: Vec<_> = url.splitn(4, '/').take(3).collect();
    format!("{}/", parts.join("/"))
}

impl Repository for Aggregator {
    fn answer(
        &self,
        requester: &Requester,
        question: &Question,
        out: &mut dyn Write,
    ) -> Result<Outcome, Error> {
        let (response_date, earliest) = match question {
            Question::Verb(arguments, _) => match list_of(arguments) {
                Some(prefix) => self.settled(Some(prefix))?,
                None => self.moment(!goes_on(arguments))?,
            },
            Question::Document { document, .. } if document.kind.is_list() => self.settled(None)?,
            Question::Document { .. } => self.moment(true)?,
        };
        let known = self.known.read(&self.holdings)?;
        let exposure = Exposure::new(&self.settings, &self.access, requester, known);
        let view = CatalogView {
            aggregator: self,
            exposure,
            response_date: Cell::new(response_date),
            earliest,
            missing: Cell::default(),
        };
        match question {
            Question::Verb(arguments, form) => {
                self.provider.answer_as(*form, &view, arguments, out)
            }
            Question::Document { document, at_root } => {
                let base_url = &self.settings.base_url;
                let directory = match at_root {
                    true => root_of(base_url),
                    false => format!("{base_url}/"),
                };
                self.provider.synchronize(&view, document, &directory, out)
            }
        }
    }

    fn resource(&self, requester: &Requester, path: &str) -> Result<Resource, Error> {
        match resources::document_at(path) {
            Some(number) => self.download(requester, number),
            None => Ok(Resource::Nothing),
        }
    }

    fn access(&self) -> &Access {
        &self.access
    }

    fn closed_to(&self, requester: &Requester) -> Option<String> {
        let verdict = self.access.verdict(&SitePath::root(), requester);
        let Verdict::Unauthorized(realm) = verdict else {
            return None;
        };
        let areas = self.settings.areas.iter();
        let some_open = areas
            .filter(|area| !area.path.trim_matches('/').is_empty())
            .any(|area| is_open(&self.access, requester, &area.path));
        (!some_open).then_some(realm)
    }
}
