//! Schedules: added, changed, paused, removed and listed. How they become jobs is in `planning`.

use crate::database::Transaction;
use crate::queue::jobs::lock_queue;
use crate::queue::schedule::{SELECT, schedule};
use crate::{Catalog, Error, Schedule, ScheduleSettings, ScheduleState, Scheduled};

/// Which schedules are wanted.
#[derive(Debug, Clone, Default)]
pub struct ScheduleQuery {
    /// Those of one repository.
    pub repository: Option<i64>,
    /// Those that stand so.
    pub state: Option<ScheduleState>,
    /// Those with this in their name, in that of the repository, in its base URL, or in the paths and the log that are
    /// imported.
    pub text: Option<String>,
}

impl Catalog {
    /// Adds a schedule, which is planned next unless it is paused from the start.
    pub async fn add_schedule(
        &self,
        settings: &ScheduleSettings,
        paused: bool,
    ) -> Result<Schedule, Error> {
        let mut transaction = self.database.write().await?;
        check_repository(&mut transaction, settings).await?;
        let sql = "INSERT INTO schedule (kind, repository_id, name, metadata_prefix, set_spec, parameters, frequency,
                 starts, ends, state, added, changed)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, {now}, {now}) RETURNING id";
        let state = if paused {
            ScheduleState::Paused
        } else {
            ScheduleState::New
        };
        let what = &settings.what;
        let values = [
            what.kind().name().into(),
            what.repository().into(),
            settings.name.as_str().into(),
            what.metadata_prefix().into(),
            what.set().unwrap_or_default().into(),
            settings.parameters.as_str().into(),
            settings.frequency.as_str().into(),
            settings.starts.into(),
            settings.ends.into(),
            state.name().into(),
        ];
        let row = transaction.row(sql, values).await?;
        let row = row.expect("a row that is inserted is returned");
        let schedule = read(&mut transaction, row.integer("id")?).await?;
        transaction.commit().await?;
        Ok(schedule)
    }

    /// Changes a schedule that was seen in this version; refused if it has another by now.
    ///
    /// Its waiting job is withdrawn and it is planned anew; one that is paused stays so, and a job that runs goes on.
    pub async fn change_schedule(
        &self,
        id: i64,
        version: i64,
        settings: &ScheduleSettings,
    ) -> Result<Schedule, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let before = read(&mut transaction, id).await?;
        if before.version != version {
            let what = format!("schedule {id}");
            return Err(Error::Changed { what });
        }
        check_repository(&mut transaction, settings).await?;
        withdraw(&mut transaction, id).await?;
        let sql = "UPDATE schedule SET repository_id = $2, name = $3, metadata_prefix = $4, set_spec = $5,
                 parameters = $6, frequency = $7, starts = $8, ends = $9, kind = $10, version = version + 1,
                 changed = {now}, skipped = NULL, state = CASE WHEN state = 'paused' THEN state ELSE 'new' END
             WHERE id = $1";
        let what = &settings.what;
        let values = [
            id.into(),
            what.repository().into(),
            settings.name.as_str().into(),
            what.metadata_prefix().into(),
            what.set().unwrap_or_default().into(),
            settings.parameters.as_str().into(),
            settings.frequency.as_str().into(),
            settings.starts.into(),
            settings.ends.into(),
            what.kind().name().into(),
        ];
        transaction.execute(sql, values).await?;
        let schedule = read(&mut transaction, id).await?;
        transaction.commit().await?;
        Ok(schedule)
    }

    /// Lets a schedule rest: its waiting job is withdrawn, one that runs goes on. One that has ended stays so.
    pub async fn pause_schedule(&self, id: i64) -> Result<Schedule, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let before = read(&mut transaction, id).await?;
        if !matches!(before.state, ScheduleState::Paused | ScheduleState::Ended) {
            withdraw(&mut transaction, id).await?;
            let sql = "UPDATE schedule SET state = 'paused' WHERE id = $1 AND state <> 'ended'";
            transaction.execute(sql, [id.into()]).await?;
        }
        let schedule = read(&mut transaction, id).await?;
        transaction.commit().await?;
        Ok(schedule)
    }

    /// Lets a paused schedule be planned again.
    pub async fn resume_schedule(&self, id: i64) -> Result<Schedule, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let sql = "UPDATE schedule SET state = 'new', skipped = NULL
             WHERE id = $1 AND state = 'paused'";
        transaction.execute(sql, [id.into()]).await?;
        let schedule = read(&mut transaction, id).await?;
        transaction.commit().await?;
        Ok(schedule)
    }

    /// Removes a schedule with its waiting job, and tells whether there was one. A job that runs goes on.
    pub async fn remove_schedule(&self, id: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        withdraw(&mut transaction, id).await?;
        let sql = "DELETE FROM schedule WHERE id = $1";
        let removed = transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }

    /// The schedule with this number.
    pub async fn schedule(&self, id: i64) -> Result<Option<Schedule>, Error> {
        find(&mut self.database.read().await?, id).await
    }

    /// Schedules, the oldest first.
    pub async fn schedules(&self, query: &ScheduleQuery) -> Result<Vec<Schedule>, Error> {
        let sql = format!(
            "{SELECT} WHERE ($1 = 0 OR schedule.repository_id = $1) AND ($2 = '' OR schedule.state = $2)
             ORDER BY schedule.id"
        );
        let values = [
            query.repository.unwrap_or_default().into(),
            query.state.map_or("", ScheduleState::name).into(),
        ];
        let rows = self.database.list().await?.rows(&sql, values).await?;
        let mut schedules: Vec<_> = rows.iter().map(schedule).collect::<Result<_, _>>()?;
        // There are few enough, and the databases do not agree on what capital letters are.
        if let Some(text) = &query.text {
            let text = text.to_lowercase();
            schedules.retain(|schedule| schedule.has(&text));
        }
        Ok(schedules)
    }
}

impl Schedule {
    fn has(&self, text: &str) -> bool {
        let is_in = |own: &str| own.to_lowercase().contains(text);
        let repository = [&self.repository_name, &self.base_url];
        let mut repository = repository.into_iter().flatten();
        is_in(&self.settings.name)
            || repository.any(|own| is_in(own))
            || self.imported().iter().any(|own| is_in(own))
    }

    /// The names of the sources in the parameters. The other parameters are the same for most.
    fn imported(&self) -> Vec<String> {
        if self.settings.what != Scheduled::Import {
            return Vec::new();
        }
        let parameters = serde_json::from_str(&self.settings.parameters);
        let parameters: serde_json::Value = parameters.unwrap_or_default();
        let paths = parameters["paths"].as_array().into_iter().flatten();
        let named = paths.chain([&parameters["log"]]);
        named
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    }
}

/// Withdraws the waiting job of a schedule. One that never began leaves no trace, and one that runs is not tried again
/// if it fails: what it was told to do is not wanted any more. If its worker is gone, another goes on with it.
pub(crate) async fn withdraw(transaction: &mut Transaction, schedule: i64) -> Result<(), Error> {
    let sql = "DELETE FROM job WHERE schedule_id = $1 AND state = 'scheduled' AND lease_token = 0";
    transaction.execute(sql, [schedule.into()]).await?;
    let sql = "UPDATE job SET state = 'cancelled', finished = {now}
         WHERE schedule_id = $1 AND state = 'scheduled'";
    transaction.execute(sql, [schedule.into()]).await?;
    let sql = "UPDATE job SET max_attempts = -abs(max_attempts)
         WHERE schedule_id = $1 AND state = 'running'";
    transaction.execute(sql, [schedule.into()]).await?;
    Ok(())
}

/// Refuses what is about a repository that is not there.
async fn check_repository(
    transaction: &mut Transaction,
    settings: &ScheduleSettings,
) -> Result<(), Error> {
    if let Some(id) = settings.what.repository() {
        let sql = "SELECT id FROM repository WHERE id = $1";
        let known = transaction.row(sql, [id.into()]).await?;
        known.ok_or(Error::UnknownRepository { id })?;
    }
    Ok(())
}

/// The schedule with this number, or an error.
pub(crate) async fn read(transaction: &mut Transaction, id: i64) -> Result<Schedule, Error> {
    let schedule = find(transaction, id).await?;
    schedule.ok_or(Error::UnknownSchedule { id })
}

async fn find(transaction: &mut Transaction, id: i64) -> Result<Option<Schedule>, Error> {
    let sql = format!("{SELECT} WHERE schedule.id = $1");
    let row = transaction.row(&sql, [id.into()]).await?;
    row.as_ref().map(schedule).transpose()
}
