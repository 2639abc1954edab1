//! No files but those that programs need: Landlock lets a process read these, and write in its own directory alone.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::limits::Orders;

/// Takes from this process all files that the orders do not name and that programs do not need; says why not if that is
/// impossible.
pub(super) fn restrict(orders: &Orders) -> Result<(), String> {
    let unable = |why: &dyn std::fmt::Display| {
        format!("they could read the files of this user: Landlock is not available ({why})")
    };
    let status = try_restrict(orders).map_err(|error| unable(&error))?;
    match status {
        RulesetStatus::NotEnforced => Err(unable(&"the kernel does not know it")),
        _ => Ok(()),
    }
}

fn try_restrict(orders: &Orders) -> Result<RulesetStatus, landlock::RulesetError> {
    let read = AccessFs::from_read(KNOWN);
    let everything = AccessFs::from_all(KNOWN);
    // Older kernels know less of it; what they know holds.
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .set_compatibility(CompatLevel::BestEffort);
    let program = orders.command.first().map(Path::new);
    let readable = READABLE.iter().map(Path::new);
    for path in readable.chain(program.and_then(Path::parent)) {
        rules = allow(rules, path, read)?;
    }
    let writable = orders.directory.as_deref();
    for path in writable.into_iter().chain([Path::new("/dev/null")]) {
        rules = allow(rules, path, everything & !AccessFs::Execute)?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// What is not there need not be allowed.
fn allow(
    rules: landlock::RulesetCreated,
    path: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<landlock::RulesetCreated, landlock::RulesetError> {
    // An empty path is that of a program without one.
    match PathFd::new(path) {
        Ok(opened) if path.is_absolute() => rules.add_rule(PathBeneath::new(opened, access)),
        _ => Ok(rules),
    }
}

const KNOWN: ABI = ABI::V6;

/// Programs, their libraries, fonts and tables. Of /etc only what they ask for.
const READABLE: [&str; 18] = [
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ghostscript",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/papersize",
    "/var/cache/fontconfig",
    "/var/lib/ghostscript",
    "/dev/urandom",
    "/dev/zero",
    "/sys/devices/system/cpu",
];
