//! Options that say what a schedule does and when, for those that are added and those that are edited.

use anyhow::{Context, bail};
use catalog::{ScheduleSettings, Scheduled};
use clap::Args;
use jobs::{Frequency, HarvestParameters, Holdings};
use oai::Datestamp;

use super::rules::{self, Kind};
use crate::commands::choices::{DeletedName, MethodName, ValidationName};

/// When a schedule runs, and what it is called. What is not given stays as it is.
#[derive(Debug, Args)]
pub(super) struct Times {
    /// So often: a number of minutes, hours, days, weeks or months, such as '1 day'
    #[arg(long, value_name = "INTERVAL", group = "frequency")]
    every: Option<String>,
    /// By a cron expression in UTC: minute, hour, day of month, month, day of week, such as '0 3 * * *'
    #[arg(long, value_name = "EXPRESSION", group = "frequency")]
    cron: Option<String>,
    /// A single time: at once, or see --at
    #[arg(long, group = "frequency")]
    once: bool,
    /// When the only run of --once is due
    #[arg(
        long,
        value_name = "DATE",
        requires = "once",
        conflicts_with = "starts"
    )]
    at: Option<String>,
    /// Nothing runs before this date, and intervals are counted from it
    #[arg(long, value_name = "DATE")]
    starts: Option<String>,
    /// Nothing runs after this date
    #[arg(long, value_name = "DATE")]
    ends: Option<String>,
    /// What the schedule is called
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// How a repository is harvested. What is not given stays as it is.
#[derive(Debug, Default, PartialEq, Args)]
pub(super) struct Harvesting {
    /// The format of the records [default: oai_dc; oai_didl with --unpack or --warc]
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
    /// Only records of this set; given several times, a schedule is added for each
    #[arg(long, value_name = "SET")]
    set: Vec<String>,
    /// Only records that changed on or after this date
    #[arg(long, value_name = "DATE")]
    from: Option<String>,
    /// Only records that changed on or before this date
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Harvest everything again each time, not only what has changed
    #[arg(long)]
    full: bool,
    /// Harvest what has changed since the last time, which is the default
    #[arg(long, conflicts_with = "full")]
    incremental: bool,
    /// How records are asked for
    #[arg(long, value_enum)]
    method: Option<MethodName>,
    /// Cut the list into so many spans of time, to be harvested side by side
    #[arg(long, value_name = "N")]
    slices: Option<u16>,
    /// How strictly records are validated
    #[arg(long, value_enum)]
    validation: Option<ValidationName>,
    /// A filter file, or the number of one that is in the catalog: only records that it accepts are kept
    #[arg(long, value_name = "FILE|NUMBER")]
    filter: Option<String>,
    /// Remove records that are held and that the filter does not accept any more; without it they stay and are marked
    #[arg(long, conflicts_with = "no_prune")]
    prune: bool,
    /// Mark such records, which is the default
    #[arg(long)]
    no_prune: bool,
    /// A mapping file, or the number of one that is in the catalog: what it says is added to records
    #[arg(long, visible_alias = "normalize", value_name = "FILE|NUMBER")]
    normalise: Option<String>,
    /// What becomes of the files of deleted records
    #[arg(long, value_enum)]
    deleted: Option<DeletedName>,
    /// Write the resources themselves, as a mirror of their site, into this directory of DIR
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "mirror")]
    unpack: Option<String>,
    /// Write the resources themselves, as WARC files, into this directory of DIR
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "warc")]
    warc: Option<String>,
    /// The longest resource that is taken, in MiB
    #[arg(long, value_name = "MIB")]
    resource_limit: Option<u64>,
}

impl Times {
    /// Whether it is said how often.
    pub(super) fn has_frequency(&self) -> bool {
        self.every.is_some() || self.cron.is_some() || self.once
    }

    /// Puts what is given into the settings of a schedule.
    pub(super) fn apply(&self, settings: &mut ScheduleSettings) -> anyhow::Result<()> {
        if let Some(name) = &self.name {
            settings.name.clone_from(name);
        }
        self.apply_dates(settings)
    }

    fn apply_dates(&self, settings: &mut ScheduleSettings) -> anyhow::Result<()> {
        let frequency = match (&self.every, &self.cron, self.once) {
            (Some(interval), ..) => Some(Frequency::every(interval)?),
            (_, Some(expression), _) => Some(Frequency::cron(expression)?),
            (_, _, true) => Some(Frequency::once()),
            _ => None,
        };
        if let Some(frequency) = frequency {
            settings.frequency = frequency.to_string();
        }
        let starts = self.at.as_ref().or(self.starts.as_ref());
        for (time, date) in [
            (&mut settings.starts, starts),
            (&mut settings.ends, self.ends.as_ref()),
        ] {
            match date.map(String::as_str) {
                None => {}
                Some("") => *time = None,
                Some(date) => *time = Some(seconds(date)?),
            }
        }
        if let (Some(starts), Some(ends)) = (settings.starts, settings.ends)
            && ends < starts
        {
            bail!("the schedule would end before it starts; change --starts or --ends");
        }
        Ok(())
    }
}

impl Harvesting {
    /// Whether something is said.
    pub(super) fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// The sets that schedules are to be added for, each once; without any, one for all.
    pub(super) fn sets(&self) -> Vec<Option<String>> {
        let mut sets = Vec::new();
        for set in self.set.iter().filter(|set| !set.is_empty()) {
            if !sets.contains(&Some(set.clone())) {
                sets.push(Some(set.clone()));
            }
        }
        if sets.is_empty() {
            sets.push(None);
        }
        sets
    }

    /// Puts what is given into the settings of a schedule that harvests, with the last of the sets.
    pub(super) fn apply(
        &self,
        holdings: &Holdings,
        settings: &mut ScheduleSettings,
    ) -> anyhow::Result<()> {
        let Scheduled::Harvest {
            metadata_prefix,
            set,
            ..
        } = &mut settings.what
        else {
            bail!("this schedule imports a crawl; see --import and the options that follow it");
        };
        let mut parameters = HarvestParameters::parse(&settings.parameters)?;
        change(set, self.set.last());
        self.apply_parameters(holdings, &mut parameters)?;
        match &self.prefix {
            Some(prefix) => metadata_prefix.clone_from(prefix),
            None if metadata_prefix.is_empty() => {
                parameters.usual_prefix().clone_into(metadata_prefix);
            }
            None => {}
        }
        parameters.check()?;
        settings.parameters = parameters.text()?;
        Ok(())
    }

    fn apply_parameters(
        &self,
        holdings: &Holdings,
        parameters: &mut HarvestParameters,
    ) -> anyhow::Result<()> {
        change(&mut parameters.from, self.from.as_ref());
        change(&mut parameters.until, self.until.as_ref());
        change(&mut parameters.unpack, self.unpack.as_ref());
        change(&mut parameters.warc, self.warc.as_ref());
        if self.full || self.incremental {
            parameters.full = self.full;
        }
        if self.prune || self.no_prune {
            parameters.prune = self.prune;
        }
        if let Some(method) = self.method {
            parameters.method = method.into();
        }
        if let Some(slices) = self.slices {
            parameters.slices = slices;
        }
        if let Some(validation) = self.validation {
            parameters.validation = validation.into();
        }
        if let Some(deleted) = self.deleted {
            parameters.deleted = deleted.into();
        }
        if let Some(limit) = self.resource_limit {
            parameters.resource_limit = limit;
        }
        if let Some(filter) = &self.filter {
            parameters.filter = rules::chosen(holdings, Kind::Filter, filter)?;
        }
        if let Some(mapping) = &self.normalise {
            parameters.normalise = rules::chosen(holdings, Kind::Mapping, mapping)?;
        }
        Ok(())
    }
}

/// Sets a text, or takes it away if it is given as an empty one.
fn change(target: &mut Option<String>, given: Option<&String>) {
    if let Some(given) = given {
        *target = Some(given.clone()).filter(|text| !text.is_empty());
    }
}

fn seconds(date: &str) -> anyhow::Result<i64> {
    let parsed = Datestamp::parse(date);
    let (date, _) = parsed.with_context(|| {
        format!("`{date}` is not a date; write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ")
    })?;
    Ok(date.seconds())
}
