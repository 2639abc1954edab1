//! The small program that only confines others. One that does everything takes longer to start, and one is started for
//! every document.

use std::fs::{File, Metadata, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::fs::OFlags;

/// The helper beside this program, if it understands this program's orders. It stays open, so that it is the same one to
/// the end of this process, also after its file was replaced by a newer one.
pub(super) fn beside() -> Option<PathBuf> {
    static OPENED: OnceLock<Option<File>> = OnceLock::new();
    let opened = OPENED.get_or_init(open).as_ref()?;
    Some(place(opened))
}

fn open() -> Option<File> {
    let own = std::env::current_exe().ok()?;
    // Whoever put it there in the place of a link, or of something that never ends, is not trusted.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(flags.bits().try_into().ok()?);
    let helper = options.open(own.with_file_name(NAME)).ok()?;
    if !is_trusted(&helper.metadata().ok()?, &own.metadata().ok()?) {
        return None;
    }
    let mut command = Command::new(place(&helper));
    let asked = command.arg(MAKE).env_clear().stdin(Stdio::null()).output();
    let output = asked.ok().filter(|output| output.status.success())?;
    let is_fitting = output.stdout.trim_ascii() == own_make().as_bytes();
    is_fitting.then_some(helper)
}

/// Whether nobody can have made or changed it who could not have done the same to this program.
fn is_trusted(helper: &Metadata, own: &Metadata) -> bool {
    let is_owned = helper.uid() == 0 || helper.uid() == own.uid();
    let others = helper.mode() & 0o022;
    helper.is_file() && is_owned && others & !own.mode() == 0
}

/// Where an open file can be executed.
fn place(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Who this is, and how it wants to be given orders.
pub(super) fn own_make() -> String {
    format!("{NAME} {} ({ORDERS})", env!("CARGO_PKG_VERSION"))
}

/// Asks a helper for its make.
pub(super) const MAKE: &str = "--make";
const NAME: &str = "garner-confine";
/// Changes with what stands on the command line, and with the programs that it has in itself.
const ORDERS: &str = "orders 3";
