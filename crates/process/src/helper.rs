//! The small program that only confines others. One that does everything takes longer to start, and one is started for
//! every document.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::fs::OFlags;
use rustix::process::geteuid;

/// The helper beside this program, if it understands this program's orders. It stays open, so that it is the same one to
/// the end of this process, also after its file was replaced by a newer one.
pub(super) fn beside() -> Option<PathBuf> {
    static OPENED: OnceLock<Option<File>> = OnceLock::new();
    let opened = OPENED.get_or_init(open).as_ref()?;
    Some(place(opened))
}

fn open() -> Option<File> {
    let own = std::env::current_exe().ok()?;
    let (uid, mode) = own.metadata().map(|own| (own.uid(), own.mode())).ok()?;
    // Nobody can have made or changed it who could not have done the same to this program.
    checked(&own.with_file_name(NAME), uid, mode).ok()
}

/// Opens the helper at `path`, which only root or the user of this process may have put there. It can be executed at the
/// path that is returned as long as the file is open.
pub(super) fn installed(path: &Path) -> Result<(PathBuf, File), String> {
    let helper = checked(path, geteuid().as_raw(), 0)?;
    Ok((place(&helper), helper))
}

/// Opens a helper that belongs to root or `uid`, that others may write only where `mode` says so, and that understands this
/// program's orders.
fn checked(path: &Path, uid: u32, mode: u32) -> Result<File, String> {
    let named = path.display();
    let failed = |error: std::io::Error| format!("`{named}` cannot be opened: {error}");
    // A link, or a pipe that never ends, is not what an installation puts there.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    let flags = flags.bits().try_into().unwrap_or_default();
    let helper = options.read(true).custom_flags(flags).open(path);
    let helper = helper.map_err(failed)?;
    let metadata = helper.metadata().map_err(failed)?;
    let is_owned = metadata.uid() == 0 || metadata.uid() == uid;
    if !metadata.is_file() || !is_owned || metadata.mode() & 0o022 & !mode != 0 {
        return Err(format!("`{named}` could have been changed by others"));
    }
    let mut command = Command::new(place(&helper));
    let asked = command.arg(MAKE).env_clear().stdin(Stdio::null()).output();
    let output = asked.map_err(|error| format!("`{named}` cannot be run: {error}"))?;
    let make = output.stdout.trim_ascii();
    if !output.status.success() || make != own_make().as_bytes() {
        let (make, own) = (String::from_utf8_lossy(make), own_make());
        return Err(format!("`{named}` is `{make}`, and `{own}` is needed"));
    }
    Ok(helper)
}

/// Where an open file can be executed.
fn place(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// The version of this program, and of the orders that it understands.
pub(super) fn own_make() -> String {
    format!("{NAME} {} ({ORDERS})", env!("CARGO_PKG_VERSION"))
}

/// Asks a helper for its make.
pub(super) const MAKE: &str = "--make";
const NAME: &str = "garner-confine";
/// Changes with what stands on the command line, and with the programs that it has in itself.
const ORDERS: &str = "orders 4";
