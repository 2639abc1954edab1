//! The work of a harvest: what is read, in which order, and who stores it.

use std::sync::{Arc, mpsc};

use anyhow::Context;
use catalog::Repository;
use harvester::{Client, ErrorKind, Incompatibility, LeftOut, Plan, Quirk, Quirks, ResumeState};

use super::checkpoint::{Checkpoint, Slice, SliceState};
use super::lease::Lease;
use super::order::Parameters;
use super::reading::{Event, PageReport};
use super::resources::{Bodies, Resources};
use super::start::{Beginning, Start};
use super::storing::Storing;
use super::treatment::Treatment;
use super::via::{Reached, SiteReader, Source};
use super::{HarvestJob, HarvestOrder, Progress, now, pipeline, pruning, slices};
use crate::{Holdings, introduce};

/// The harvest itself, with all that takes part in it.
pub(super) struct Work<'a> {
    pub(super) holdings: &'a Holdings,
    pub(super) client: &'a Client,
    pub(super) order: &'a HarvestOrder,
    pub(super) remote: &'a harvester::Repository,
    /// Where its records come from.
    pub(super) source: &'a Source,
    pub(super) parameters: &'a Parameters,
    pub(super) repository: &'a Repository,
    pub(super) is_new: bool,
    pub(super) treatment: &'a Treatment,
    pub(super) lease: &'a Lease,
    pub(super) job: Option<&'a HarvestJob<'a>>,
    pub(super) progress: &'a dyn Fn(Progress),
    /// Told what people should know at once.
    pub(super) notify: &'a dyn Fn(&str),
}

impl Work<'_> {
    /// Harvests, while another thread keeps the lease alive. Returns where the next harvest should begin.
    pub(super) fn run(self, start: Start, quirks: Quirks) -> anyhow::Result<Option<String>> {
        let (holdings, lease) = (self.holdings, self.lease);
        let stop = &self.client.options().stop;
        std::thread::scope(|scope| {
            let (done, ended) = mpsc::channel();
            // The lease of a job is kept by the process that has it, and that of its harvest follows it.
            if self.job.is_none() {
                scope.spawn(move || lease.beat(holdings, &ended, stop));
            }
            let worked = self.work(start, quirks);
            drop(done);
            worked
        })
    }

    fn work(&self, start: Start, mut quirks: Quirks) -> anyhow::Result<Option<String>> {
        let (checkpoint, lost) = match start {
            Start::GoOn(checkpoint) => (checkpoint, None),
            Start::At {
                beginning,
                warc,
                distrusts_sizes,
            } => {
                let plan = match self.source {
                    Source::Repository => {
                        self.plan(beginning.from, distrusts_sizes, &mut quirks)?
                    }
                    Source::Site(_) => self.plan_of_site(&beginning),
                };
                let checkpoint = Checkpoint {
                    warc,
                    distrusts_sizes,
                    ..plan
                };
                (checkpoint, Some(beginning.lost))
            }
        };
        let committed = checkpoint.position();
        let resources = Resources::open(self.order, self.remote, committed.as_ref())?;
        let remote = match &resources {
            Some(resources) => &self.remote.spooling(Arc::new(resources.bodies())),
            None => self.remote,
        };
        let bodies = resources.as_ref().map(Resources::bodies);
        let anew = checkpoint.anew;
        let site = self.site_reader(remote, bodies.as_ref(), anew)?;
        std::thread::scope(|scope| {
            let mut storing = Storing::new(self, scope, resources, checkpoint, quirks)?;
            if let Some(lost) = lost {
                storing.begin()?;
                if matches!(self.source, Source::Repository) && self.shows_the_same_to_everybody() {
                    (self.notify)(UNASKED);
                    storing.note(UNASKED)?;
                }
                if site.is_none() && !remote.is_static() {
                    self.ask_for(remote, &lost, &mut storing)?;
                }
            }
            let next_from = match &site {
                Some(site) => self.read_site(site, &mut storing)?,
                None => {
                    let next_from = self.read(remote, &mut storing)?;
                    self.ask_for_unseen(remote, &mut storing)?;
                    next_from
                }
            };
            self.prune(&mut storing)?;
            storing.finish()?;
            Ok(next_from)
        })
    }

    /// Whether credentials are sent without which the repository shows as many records. A server that does not ask for
    /// credentials shows what is public to whoever has mistyped them, and later harvests would bring nothing new.
    fn shows_the_same_to_everybody(&self) -> bool {
        let remote = self.remote.brief();
        if remote.credentials().is_none() || remote.is_static() {
            return false;
        }
        let size = |remote: &harvester::Repository| {
            let (prefix, set) = (&self.order.metadata_prefix, self.order.set.as_deref());
            remote.list_size(prefix, set, None, None).ok().flatten()
        };
        let without = size(&remote.without_credentials());
        without.is_some() && without == size(&remote)
    }

    /// The reader of a site with lists.
    fn site_reader<'b>(
        &'b self,
        remote: &'b harvester::Repository,
        bodies: Option<&'b Bodies>,
        anew: bool,
    ) -> anyhow::Result<Option<SiteReader<'b>>> {
        let Some(site) = self.source.site() else {
            return Ok(None);
        };
        let bodies = bodies.context("resources have no place; give --unpack or --warc")?;
        let prefix = &self.order.metadata_prefix;
        Ok(Some(SiteReader {
            holdings: self.holdings,
            site,
            remote,
            repository: self.repository,
            metadata_prefix: prefix,
            run: self.lease.lock().id(),
            bodies,
            anew,
            progress: Reached::default(),
        }))
    }

    /// Reads the lists of a site, and then looks for what has vanished from them. Returns where the next harvest begins.
    fn read_site(
        &self,
        site: &SiteReader<'_>,
        storing: &mut Storing,
    ) -> anyhow::Result<Option<String>> {
        let slice = &storing.checkpoint.slices[FIRST];
        if slice.state == SliceState::Done {
            return Ok(slice.next_from.clone());
        }
        if let Some(error) = pipeline::run(self, self.remote, Some(site), storing)? {
            return Err(error);
        }
        let mut after = 0;
        while site.is_whole()
            && let Some((urls, last)) = storing.unseen(after)?
        {
            for visited in site.vanished(&urls)? {
                match visited {
                    Event::Record(record) => storing.take_unprepared(FIRST, record)?,
                    Event::Unchanged(url) => storing.unchanged(FIRST, &url)?,
                    Event::Gone(url) => storing.gone(FIRST, &url)?,
                    _ => {}
                }
            }
            storing.end_part(FIRST)?;
            after = last;
        }
        let next_from = Some(site.next_from());
        let slice = &storing.checkpoint.slices[FIRST];
        let end = PageReport {
            state: SliceState::Done,
            given: slice.given,
            complete_list_size: None,
            is_broken: false,
            quirks: Quirks::default(),
            next_from: next_from.clone(),
        };
        storing.end_page(FIRST, end)?;
        storing.end_reading()?;
        Ok(next_from)
    }

    /// After a harvest of everything, asks for each record that was not listed: it may be gone, and not every
    /// repository tells of deletions by itself. A list alone is no proof, because lists can be cut short.
    fn ask_for_unseen(
        &self,
        remote: &harvester::Repository,
        storing: &mut Storing,
    ) -> anyhow::Result<()> {
        let order = self.order;
        if remote.is_static() {
            return self.drop_unseen(storing);
        }
        let everything = order.full && order.set.is_none() && order.until.is_none();
        let tells = self.repository.identity.deleted_record.as_deref() == Some("persistent");
        if !everything || tells {
            return Ok(());
        }
        if !order.prune && !self.sees_the_same()? {
            return storing.note(
                "records that were not listed stay: the credentials or the proxy are not those of the last harvest, so \
                 they may only be hidden; with --prune each is asked for",
            );
        }
        let mut after = 0;
        while let Some((identifiers, last)) = storing.unseen(after)? {
            self.ask_for(remote, &identifiers, storing)?;
            after = last;
        }
        Ok(())
    }

    /// A static repository is one file, so that a record which is not in it any more is gone.
    fn drop_unseen(&self, storing: &mut Storing) -> anyhow::Result<()> {
        if self.lease.lock().counts().failed > 0 {
            return storing.note(
                "records that are not in the file stay, because some of those in it could not be read",
            );
        }
        let mut after = 0;
        while let Some((identifiers, last)) = storing.unseen(after)? {
            for identifier in &identifiers {
                storing.gone(FIRST, identifier)?;
            }
            storing.end_part(FIRST)?;
            after = last;
        }
        Ok(())
    }

    /// Whether the last harvest of the same showed the same credentials.
    fn sees_the_same(&self) -> anyhow::Result<bool> {
        let prefix = &self.order.metadata_prefix;
        let last = self.holdings.catalog();
        let last = last.last_finished(self.repository.id, prefix, None);
        let last = self.holdings.wait(last)?;
        let last = last.and_then(|last| serde_json::from_str::<Parameters>(&last.parameters).ok());
        Ok(last.is_none_or(|last| last.making.access == self.parameters.making.access))
    }

    /// Removes what earlier harvests found to be rejected by the filter and kept, if that is wanted.
    fn prune(&self, storing: &mut Storing) -> anyhow::Result<()> {
        if !self.order.prune || self.order.filter.is_none() {
            return Ok(());
        }
        let mut query = pruning::marked(self.repository, self.order);
        loop {
            let records = self
                .holdings
                .wait(self.holdings.catalog().records(&query))?;
            let Some(last) = records.last() else {
                return Ok(());
            };
            query.after = last.id;
            let identifiers: Vec<_> = records
                .iter()
                .map(|record| record.identifier.as_str())
                .collect();
            storing.drop_all(&identifiers)?;
        }
    }

    /// The windows to read, from the beginning. The description of the repository is brought up to date, if it answers.
    fn plan(
        &self,
        from: Option<String>,
        distrusts_sizes: bool,
        quirks: &mut Quirks,
    ) -> anyhow::Result<Checkpoint> {
        if !self.is_new && now() - self.repository.identified > A_DAY {
            match introduce(self.remote) {
                Ok(description) => {
                    quirks.merge(description.quirks().clone());
                    description.keep(self.holdings, None)?;
                }
                Err(error) if self.client.options().stop.is_set() => return Err(error),
                Err(_) => quirks.add(Quirk::IdentifyUnusable),
            }
        }
        let anew = from.is_none();
        // A file is always read as a whole, and its dates may be those of days.
        let from = from.filter(|_| !self.remote.is_static());
        let span = (from, self.order.until.clone());
        if self.order.slices < 2 {
            return Ok(Checkpoint::new(vec![span], anew));
        }
        let identity = self.remote.brief_unless_busy().identify().ok();
        let spans = slices::cut(
            span.clone(),
            usize::from(self.order.slices),
            identity.as_ref(),
            now(),
        );
        let size = match spans.len() > 1 && !distrusts_sizes {
            true => self.size_of(&span),
            false => None,
        };
        let mut checkpoint = Checkpoint::new(spans, anew);
        checkpoint.whole = size.map(|size| (span, size));
        Ok(checkpoint)
    }

    /// A site has no spans of time. Where resources failed the last time, its lists are read as a whole.
    fn plan_of_site(&self, beginning: &Beginning) -> Checkpoint {
        let anew = self.order.full || beginning.from.is_none();
        let from = beginning.from.clone().filter(|_| beginning.lost.is_empty());
        Checkpoint::new(vec![(from, None)], anew)
    }

    /// How many records a span has, if the repository tells.
    fn size_of(&self, (from, until): &slices::Span) -> Option<u64> {
        let (prefix, set) = (&self.order.metadata_prefix, self.order.set.as_deref());
        let remote = self.remote.brief();
        let size = remote.list_size(prefix, set, from.as_deref(), until.as_deref());
        size.ok().flatten()
    }

    /// Asks for records one by one. What cannot be had is left out, and what the repository does not know is gone.
    fn ask_for(
        &self,
        remote: &harvester::Repository,
        identifiers: &[String],
        storing: &mut Storing,
    ) -> anyhow::Result<()> {
        for identifier in identifiers {
            let prefix = &self.order.metadata_prefix;
            let error = match remote.get_record(identifier, prefix) {
                Ok(record) => {
                    storing.take_unprepared(FIRST, record)?;
                    continue;
                }
                Err(error) => error,
            };
            match error.kind() {
                ErrorKind::RepositoryIncompatible(Incompatibility::Identifier(_)) => {
                    storing.gone(FIRST, identifier)?;
                }
                ErrorKind::Stopped | ErrorKind::Busy(_) | ErrorKind::AskedToWait { .. } => {
                    return Err(error.into());
                }
                ErrorKind::Transport(_) if !self.remote.is_alive() => {
                    return Err(error.into());
                }
                _ => storing.leave_out(
                    FIRST,
                    LeftOut {
                        identifier: Some(identifier.clone()),
                        dates: None,
                        reason: error.to_string(),
                    },
                ),
            }
        }
        match identifiers.is_empty() {
            true => Ok(()),
            false => storing.end_part(FIRST),
        }
    }

    /// Reads all slices, and then the whole list if records are missing. Returns where the next harvest should begin.
    fn read(
        &self,
        remote: &harvester::Repository,
        storing: &mut Storing,
    ) -> anyhow::Result<Option<String>> {
        self.read_slices(remote, storing)?;
        if storing.add_whole() {
            self.read_slices(remote, storing)?;
        }
        Ok(storing.checkpoint.next_from())
    }

    fn read_slices(
        &self,
        remote: &harvester::Repository,
        storing: &mut Storing,
    ) -> anyhow::Result<()> {
        match pipeline::run(self, remote, None, storing)? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Where a slice is to be read.
    pub(super) fn plan_of(&self, slice: &Slice) -> Plan {
        if let SliceState::Begun(state) = &slice.state {
            return ResumeState::plan(state).clone();
        }
        Plan {
            method: self.order.method,
            metadata_prefix: self.order.metadata_prefix.clone(),
            set: self.order.set.clone(),
            from: slice.from.clone(),
            until: slice.until.clone(),
        }
    }
}

const A_DAY: i64 = 86_400;
/// The slice that is always there.
const FIRST: usize = 0;
/// The warning about credentials that make no difference.
const UNASKED: &str = "the repository did not ask for these credentials, and has as many records without them; if it should show more, \
                       they are wrong";
