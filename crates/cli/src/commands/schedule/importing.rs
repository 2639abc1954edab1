//! Options that say what a schedule imports, for those that are added and those that are edited.

use std::path::PathBuf;

use catalog::ScheduleSettings;
use clap::Args;
use jobs::ImportCrawl;

use crate::commands::import::{Facts, Taking, Texts, check_files};

/// What is imported. What is not given stays as it is.
#[derive(Debug, Args)]
pub(super) struct Importing {
    /// Import this, not harvest: archives, directories of archives, or the directory of a mirror. Each run takes what
    /// has come since the last
    #[arg(long, value_name = "PATH", num_args = 1..)]
    import: Vec<PathBuf>,
    #[command(flatten)]
    taking: Taking,
    #[command(flatten)]
    texts: Texts,
    #[command(flatten)]
    facts: Facts,
}

impl Importing {
    /// Whether it is said what is imported: paths, or a log that names them.
    pub(super) fn is_import(&self) -> bool {
        !self.import.is_empty() || self.facts.has_log()
    }

    /// Whether something is said.
    pub(super) fn is_given(&self) -> bool {
        let Self {
            import,
            taking,
            texts,
            facts,
        } = self;
        !import.is_empty()
            || *taking != Taking::default()
            || *texts != Texts::default()
            || *facts != Facts::default()
    }

    /// Puts what is given on top of an order, and that into the settings of a schedule.
    pub(super) fn apply(
        &self,
        mut order: ImportCrawl,
        settings: &mut ScheduleSettings,
    ) -> anyhow::Result<()> {
        self.taking.apply(&mut order)?;
        self.texts.apply(&mut order.texts)?;
        self.facts.apply(&mut order);
        if !self.import.is_empty() {
            order.paths.clone_from(&self.import);
        }
        order.check()?;
        check_files(&order)?;
        // A directory that is empty now may be filled before the first run.
        let _ = order.list_some_sources();
        settings.parameters = order.text()?;
        Ok(())
    }
}
