//! Keeping an installation in order: backups, and what is wrong with it.

pub mod system;
pub mod verify;

use catalog::Role;
use flows::{BackedUp, BackupOptions};
use harvester::Stop;

use crate::{Actor, Context, Refusal};

/// Backs the data directory and the catalog up; this blocks. `progress` gets what was done so far.
pub fn backup(
    context: &Context,
    actor: &Actor,
    place: &str,
    options: BackupOptions,
    stop: &Stop,
    progress: &dyn Fn(&BackedUp),
) -> Result<BackedUp, Refusal> {
    actor.require(Role::Admin)?;
    let done = flows::backup(context.holdings(), place, options, stop, progress)?;
    let details = Some(format!(
        "{} files, {} of them new",
        done.files, done.copied_files
    ));
    let subject = format!("{} at {}", done.name, done.place);
    context.wait(context.audit(actor, "backup.create", subject, details));
    Ok(done)
}
