//! A schedule that is to be saved: settings, and everything that is wrong with them.

use catalog::{Repository, Schedule as Row, ScheduleSettings, ScheduleState, Scheduled};
use flows::HarvestOrder;

use super::checks::Target;
use super::entity::import_order;
use super::{Preview, upcoming};
use crate::import_rules::permit;
use crate::jobs::{adopt_rules, keep_access};
use crate::{
    Actor, Channel, Context, Frequency, HarvestPatch, ImportPatch, Mistake, Refusal, Setting, Time,
};

/// A schedule that is to be added: of a harvest with `repository`, of an import with `patch.import`.
#[derive(Debug, Clone, Default)]
pub struct NewSchedule {
    /// The number of the repository.
    pub repository: Option<i64>,
    /// Whether it rests until somebody resumes it.
    pub paused: bool,
    /// Its settings.
    pub patch: SchedulePatch,
}

/// Settings of a schedule; those that are not given stay as they are.
#[derive(Debug, Clone, Default)]
pub struct SchedulePatch {
    /// Its name, for people.
    pub name: Option<String>,
    /// The format; the default of its harvests if it is empty.
    pub metadata_prefix: Option<String>,
    /// The set; all if it is empty.
    pub set: Option<String>,
    /// `once`, `every 6 hours`, or `cron 0 3 * * *`; in UTC.
    pub frequency: Option<String>,
    /// Nothing runs before, and intervals are counted from it.
    pub starts: Option<Setting<Time>>,
    /// Nothing runs after.
    pub ends: Option<Setting<Time>>,
    /// Settings of its harvests.
    pub harvest: Option<HarvestPatch>,
    /// Settings of its imports.
    pub import: Option<ImportPatch>,
}

/// Settings on their way into the catalog.
pub(super) struct Draft {
    /// The schedule as it would be.
    row: Row,
    harvest: Option<(Repository, HarvestOrder)>,
    mistakes: Vec<Mistake>,
    now: i64,
}

impl Draft {
    /// A schedule that is to be added.
    pub(super) async fn new(
        context: &Context,
        actor: &Actor,
        new: &NewSchedule,
    ) -> Result<Self, Refusal> {
        let draft = Self::of_times(context, None, &new.patch).await?;
        draft.target(context, actor, new, None).await
    }

    /// All settings of a schedule anew.
    pub(super) async fn replace(
        context: &Context,
        actor: &Actor,
        before: &Row,
        new: &NewSchedule,
    ) -> Result<Self, Refusal> {
        let blank = Row {
            settings: blank(),
            ..before.clone()
        };
        let draft = Self::of_times(context, Some(&blank), &new.patch).await?;
        draft.target(context, actor, new, Some(before)).await
    }

    async fn target(
        self,
        context: &Context,
        actor: &Actor,
        new: &NewSchedule,
        before: Option<&Row>,
    ) -> Result<Self, Refusal> {
        let patch = &new.patch;
        match (new.repository, &patch.import) {
            (Some(repository), None) => {
                let target = (repository, String::new(), None);
                let order = HarvestOrder::default();
                self.harvest(context, actor, target, order, patch).await
            }
            (None, Some(import)) => {
                let is_about_harvests = patch.harvest.is_some()
                    || patch
                        .metadata_prefix
                        .as_ref()
                        .is_some_and(|it| !it.is_empty())
                    || patch.set.is_some();
                if is_about_harvests {
                    return Err(Refusal::new(crate::Code::Invalid, ABOUT_HARVESTS));
                }
                let mut order = context.settings().imports.default.clone();
                order.paths.clear();
                let known = before.filter(|row| row.settings.what == Scheduled::Import);
                let known = known.map(|row| import_order(&row.settings));
                self.import(context, actor, (order, known), import).await
            }
            _ => Err(Refusal::new(crate::Code::Invalid, ONE_OF_BOTH)),
        }
    }

    /// A change of some settings.
    pub(super) async fn change(
        context: &Context,
        actor: &Actor,
        before: &Row,
        patch: &SchedulePatch,
    ) -> Result<Self, Refusal> {
        let draft = Self::of_times(context, Some(before), patch).await?;
        let id = before.id;
        match &before.settings.what {
            Scheduled::Harvest {
                repository,
                metadata_prefix,
                set,
            } => {
                if patch.import.is_some() {
                    let reason = format!("schedule {id} harvests a repository; it imports nothing");
                    return Err(Refusal::conflict(reason));
                }
                let target = (*repository, metadata_prefix.clone(), set.clone());
                // An order that nobody can read is replaced as a whole.
                let order = HarvestOrder::parse(&before.settings.parameters).unwrap_or_default();
                draft.harvest(context, actor, target, order, patch).await
            }
            Scheduled::Import => {
                if patch.harvest.is_some() || patch.metadata_prefix.is_some() || patch.set.is_some()
                {
                    let reason = format!("schedule {id} imports a crawl; it harvests nothing");
                    return Err(Refusal::conflict(reason));
                }
                let known = import_order(&before.settings);
                let default = ImportPatch::default();
                let import = patch.import.as_ref().unwrap_or(&default);
                let orders = (known.clone(), Some(known));
                draft.import(context, actor, orders, import).await
            }
        }
    }

    /// Name and times alone.
    pub(super) async fn of_times(
        context: &Context,
        before: Option<&Row>,
        patch: &SchedulePatch,
    ) -> Result<Self, Refusal> {
        let now = context.catalog().now().await?;
        let mut mistakes = Vec::new();
        let mut settings = before.map_or_else(blank, |before| before.settings.clone());
        if let Some(name) = &patch.name {
            name.trim().clone_into(&mut settings.name);
        }
        for (given, time) in [
            (&patch.starts, &mut settings.starts),
            (&patch.ends, &mut settings.ends),
        ] {
            if let Some(given) = given {
                *time = given.value().map(|time| time.0);
            }
        }
        let frequency = patch.frequency.as_deref().unwrap_or(&settings.frequency);
        match frequency.parse::<Frequency>() {
            Ok(frequency) => settings.frequency = frequency.to_string(),
            Err(_) if frequency.trim().is_empty() => {
                let reason = "say how often: once, every 1 day, or cron 0 3 * * *";
                mistakes.push(Mistake::new("frequency", reason));
            }
            Err(error) => mistakes.push(Mistake::new("frequency", flows::message(&error))),
        }
        if settings.name.chars().count() > LONGEST_NAME
            || settings.name.chars().any(char::is_control)
        {
            let reason = format!("a name has at most {LONGEST_NAME} characters, all in one line");
            mistakes.push(Mistake::new("name", reason));
        }
        let row = Row {
            id: 0,
            settings,
            base_url: None,
            repository_name: None,
            state: ScheduleState::New,
            next_run: None,
            job: None,
            last_run: before.and_then(|before| before.last_run),
            skipped: None,
            version: 0,
            added: before.map_or(now, |before| before.added),
            changed: now,
        };
        let mut draft = Self {
            row,
            harvest: None,
            mistakes,
            now,
        };
        draft.check_times();
        Ok(draft)
    }

    fn check_times(&mut self) {
        let settings = &self.row.settings;
        let Some(ends) = settings.ends else { return };
        if settings.starts.is_some_and(|starts| ends < starts) {
            let reason = "this is before the start; choose a later date";
            self.mistakes.push(Mistake::new("ends", reason));
        } else if self
            .mistakes
            .iter()
            .all(|mistake| mistake.field != Some("frequency"))
            && upcoming(&self.row, self.now, 1).is_empty()
        {
            let reason = "nothing would run until then; choose a later date";
            self.mistakes.push(Mistake::new("ends", reason));
        }
    }

    async fn harvest(
        mut self,
        context: &Context,
        actor: &Actor,
        (repository, mut metadata_prefix, mut set): (i64, String, Option<String>),
        mut order: HarvestOrder,
        patch: &SchedulePatch,
    ) -> Result<Self, Refusal> {
        if let Some(harvest) = &patch.harvest {
            harvest.apply(&mut order);
        }
        if let Some(prefix) = &patch.metadata_prefix {
            prefix.trim().clone_into(&mut metadata_prefix);
        }
        if let Some(given) = &patch.set {
            set = Some(given.trim().to_owned()).filter(|set| !set.is_empty());
        }
        if metadata_prefix.is_empty() {
            order.default_prefix().clone_into(&mut metadata_prefix);
        }
        let target = Target::find(context, repository).await?;
        let mistakes = target.check(context, actor, &metadata_prefix, set.as_deref(), &order);
        self.mistakes.extend(mistakes.await?);
        self.row.settings.what = Scheduled::Harvest {
            repository,
            metadata_prefix,
            set,
        };
        self.harvest = Some((target.repository, order));
        Ok(self)
    }

    async fn import(
        mut self,
        context: &Context,
        actor: &Actor,
        (mut order, before): (flows::ImportOrder, Option<flows::ImportOrder>),
        patch: &ImportPatch,
    ) -> Result<Self, Refusal> {
        self.mistakes.extend(patch.apply(&mut order));
        let permitted = permit(context, actor, &mut order, before.as_ref());
        self.mistakes.extend(permitted.await?);
        if self.mistakes.is_empty() {
            order = tokio::task::spawn_blocking(move || {
                // A directory that is empty now may be filled before the first run.
                let _ = order.list_some_sources();
                order
            })
            .await
            .map_err(anyhow::Error::from)?;
        }
        self.row.settings.what = Scheduled::Import;
        self.row.settings.parameters = order.text()?;
        Ok(self)
    }

    /// The next runs and all mistakes.
    pub(super) fn preview(self, most: usize) -> Preview {
        let frequency = self.row.settings.frequency.parse::<Frequency>().ok();
        let is_readable = self.mistakes.iter().all(|it| it.field != Some("frequency"));
        let times = upcoming(&self.row, self.now, most).into_iter();
        Preview {
            described: frequency.filter(|_| is_readable).map(|it| it.describe()),
            times: times.filter(|_| is_readable).map(Time).collect(),
            mistakes: self.mistakes,
        }
    }

    /// The settings, if nothing is wrong with them. Credentials of `secrets` are kept now, and rules that the command
    /// line named by a file get a number.
    pub(super) async fn finish(
        mut self,
        context: &Context,
        actor: &Actor,
        secrets: Option<&HarvestPatch>,
    ) -> Result<ScheduleSettings, Refusal> {
        Refusal::unless_empty(self.mistakes)?;
        if let Some((repository, mut order)) = self.harvest {
            if actor.channel == Channel::CommandLine {
                adopt_rules(context, actor, &mut order).await?;
            }
            if let Some(patch) = secrets {
                keep_access(context, patch, &repository.base_url, &mut order)?;
            }
            self.row.settings.parameters = order.text()?;
        }
        Ok(self.row.settings)
    }
}

fn blank() -> ScheduleSettings {
    ScheduleSettings {
        what: Scheduled::Import,
        name: String::new(),
        parameters: String::new(),
        frequency: String::new(),
        starts: None,
        ends: None,
    }
}

const LONGEST_NAME: usize = 200;
const ABOUT_HARVESTS: &str =
    "metadata_prefix, set and parameters are about harvests; settings of an import are in import";
const ONE_OF_BOTH: &str = "give either repository, for a harvest, or import";
