//! No files but those that programs need: Landlock lets a process read these, and write in its own directory alone.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    Scope,
};

use super::limits::Orders;

/// The files that `orders` leave to a process, opened while it may still open them; the error says why there are no rules.
pub(super) fn prepare(orders: &Orders) -> Result<(RulesetCreated, ABI), String> {
    let known = abi(orders.landlock);
    if known == ABI::Unsupported {
        return Err(ABSENT.to_owned());
    }
    let rules = try_prepare(orders, known).map_err(|error| error.to_string())?;
    Ok((rules, known))
}

/// Takes all other files from this process; returns the version of Landlock that holds, or why none does.
pub(super) fn restrict((rules, known): (RulesetCreated, ABI)) -> Result<ABI, String> {
    let status = rules.restrict_self().map_err(|error| error.to_string())?;
    let RestrictionStatus { landlock, .. } = status;
    match landlock {
        LandlockStatus::Available { effective_abi, .. } => Ok(effective_abi.min(known)),
        LandlockStatus::NotEnabled => Err(SWITCHED_OFF.to_owned()),
        LandlockStatus::NotImplemented => Err(ABSENT.to_owned()),
    }
}

fn try_prepare(orders: &Orders, known: ABI) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::from_read(known);
    let everything = AccessFs::from_all(known);
    // Older kernels know less of it; what they know holds, and `calls` forbids the rest.
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?;
    if known >= ABI::V4 {
        rules = rules.handle_access(AccessNet::from_all(known))?;
    }
    if known >= ABI::V6 {
        rules = rules.scope(Scope::from_all(known))?;
    }
    let mut rules = rules.create()?.set_compatibility(CompatLevel::BestEffort);
    let readable = READABLE.iter().map(Path::new);
    for path in readable.chain(orders.readable.iter().map(PathBuf::as_path)) {
        rules = allow(rules, path, read)?;
    }
    let writable = orders.directory.as_deref();
    for path in writable.into_iter().chain([Path::new("/dev/null")]) {
        rules = allow(rules, path, everything & !AccessFs::Execute)?;
    }
    Ok(rules)
}

/// Allows `access` below `path`, if there is something.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    // An empty path is that of a program without one.
    match PathFd::new(path) {
        Ok(opened) if path.is_absolute() => rules.add_rule(PathBeneath::new(opened, access)),
        _ => Ok(rules),
    }
}

/// The version that has this number, or the newest that is used here.
fn abi(number: Option<u64>) -> ABI {
    match number {
        Some(0) => ABI::Unsupported,
        Some(1) => ABI::V1,
        Some(2) => ABI::V2,
        Some(3) => ABI::V3,
        Some(4) => ABI::V4,
        Some(5) => ABI::V5,
        _ => ABI::V6,
    }
}

const ABSENT: &str =
    "this kernel has none, or a container keeps it away; Linux 5.13 and later have it";
const SWITCHED_OFF: &str =
    "this kernel has it switched off; add `landlock` to `lsm=` on its command line";

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
