//! `garner schedule edit`: changes the settings that are given, and leaves the rest.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use operations::schedules::{self, ScheduleKind, SchedulePatch};
use operations::{HarvestPatch, ImportPatch};

use crate::commands::operating::Operating;
use crate::commands::schedule::Chosen;
use crate::commands::schedule::add::share_no_sync;
use crate::commands::schedule::settings::Times;
use crate::commands::schedule::show::show;

/// Change a schedule
///
/// Settings that are not given stay. An empty text means the default: --set '' harvests all sets again, and
/// --credentials '' forgets the credentials. A harvest or an import that runs goes on as it was begun. An import with
/// other settings reads everything again.
#[derive(Debug, Args)]
pub(super) struct Edit {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten, next_help_heading = "When")]
    times: Times,
    /// The format of the records
    #[arg(long, value_name = "PREFIX", help_heading = "Harvest options")]
    prefix: Option<String>,
    /// Only records of this set
    #[arg(long, value_name = "SET", help_heading = "Harvest options")]
    set: Vec<String>,
    #[command(flatten)]
    harvest: HarvestPatch,
    /// Import this: archives, directories of archives, or the directory of a mirror
    #[arg(long = "import", value_name = "PATH", num_args = 1.., help_heading = "Which documents")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    import: ImportPatch,
}

impl Edit {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        if self.set.len() > 1 {
            bail!("a schedule harvests one set; add another with garner schedule add");
        }
        let operating = Operating::open(&self.chosen.holdings)?;
        let (context, actor) = (&operating.context, &operating.actor);
        let known = operating.wait(schedules::show(context, self.chosen.number))?;
        if !self.paths.is_empty() {
            self.import.paths = Some(self.paths);
        }
        if known.kind == ScheduleKind::Harvest {
            share_no_sync(&mut self.harvest, &mut self.import);
        }
        let patch = SchedulePatch {
            metadata_prefix: self.prefix,
            set: self.set.pop(),
            harvest: Some(self.harvest).filter(HarvestPatch::is_given),
            import: Some(self.import).filter(ImportPatch::is_given),
            ..self.times.patch()
        };
        let changed = schedules::change(context, actor, known.id, known.version, &patch);
        show(&operating, &operating.wait(changed)?, self.chosen.json)
    }
}
