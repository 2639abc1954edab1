//! `garner repository move-records`: keeps the records of a repository in another way, or compacts their packs.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::repositories::{self, RecordsOrder};

use crate::commands::repository::Chosen;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Move the records of a repository to files, packs or the database, or compact its packs
///
/// Files are one file a record in the data directory; packs many records in a compressed file, in the data directory or in
/// the store that the configuration names; the database is the catalog. Records that are harvested later are kept so too.
/// The repository is kept quiet meanwhile. A move that was interrupted is resumed by the same command. Exit code 3 if
/// records could not be read, which stay as they are.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub(super) struct MoveRecords {
    #[command(flatten)]
    chosen: Chosen,
    /// How they are kept from now on
    #[arg(long, value_name = "files|packs|database", group = "what")]
    to: Option<String>,
    /// Rewrite packs without what is not wanted any more; harvests do so by themselves when half of it is not
    #[arg(long, group = "what")]
    compact: bool,
}

impl MoveRecords {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (
            self.chosen.holdings.create_context()?,
            Actor::command_line(),
        );
        let id = context.holdings().repository(&self.chosen.repository)?.id;
        let order = RecordsOrder {
            to: self.to,
            compact: self.compact,
        };
        let moved = context.wait(repositories::move_records(&context, &actor, id, &order))?;
        for line in &moved.unreadable_records {
            eprintln!("warning: {}", plain(line));
        }
        to_stdout(|out| {
            match self.chosen.json {
                true => write_json(out, &moved)?,
                false => writeln!(
                    out,
                    "moved {} records; {} were there already, {} could not be read; removed {} packs",
                    moved.moved, moved.unchanged, moved.unreadable, moved.packs_removed
                )?,
            }
            Ok(match moved.unreadable {
                0 => ExitCode::SUCCESS,
                _ => ExitCode::from(3),
            })
        })
    }
}
