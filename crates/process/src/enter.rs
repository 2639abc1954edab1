//! The other side: the process that limits itself and then becomes the program.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::process::{
    Pid, Signal, geteuid, getpid, getppid, set_parent_process_death_signal, setrlimit,
};
use rustix::thread::set_no_new_privs;

use super::lacks::Lacks;
use super::limits::{Limits, Orders};
use super::{calls, files, helper, network, user};

/// A program that needs no file, because it is a part of the executable that calls [`enter()`].
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// The name that stands in the place of a path.
    pub name: &'static str,
    /// Runs it with its arguments.
    pub main: fn(&[OsString]) -> ExitCode,
}

/// Limits this process as the arguments say and becomes the program that they name; returns only if it cannot, or if that
/// is one of `built_in`.
///
/// This is what stands behind the hidden subcommand that [`Confiner`](super::Confiner) is told of.
#[must_use]
pub fn enter(arguments: impl IntoIterator<Item = OsString>, built_in: &[BuiltIn]) -> ExitCode {
    let mut arguments = arguments.into_iter().peekable();
    let done = match arguments.peek() {
        Some(first) if first == PROBE => probe(arguments.skip(1)),
        Some(first) if first == helper::MAKE => return print([helper::own_make()]),
        _ => try_enter(arguments, built_in),
    };
    match done {
        Ok(code) => code,
        Err(Refusal { code, why }) => {
            eprintln!("{COMPLAINT}{why}");
            ExitCode::from(code)
        }
    }
}

fn try_enter(
    arguments: impl IntoIterator<Item = OsString>,
    built_in: &[BuiltIn],
) -> Result<ExitCode, Refusal> {
    let orders = Orders::parse(arguments).map_err(|error| Refusal::of("the orders", error))?;
    match &orders.limits {
        Some(limits) => {
            // Missing protections are told by `probe`, once, and not by every one of a million processes.
            let _ = confine(&orders, limits)?;
        }
        None => die_with(orders.parent)?,
    }
    if let Some((name, arguments)) = orders.command.split_first()
        && let Some(program) = built_in.iter().find(|program| name == program.name)
    {
        return Ok((program.main)(arguments));
    }
    match become_program(&orders.command)? {}
}

/// Prints what the system does not allow, a line each, after having done to this process what is done to every one.
fn probe(arguments: impl IntoIterator<Item = OsString>) -> Result<ExitCode, Refusal> {
    let mut orders = Orders::default();
    for argument in arguments {
        let taken = orders.take(&argument);
        taken.map_err(|error| Refusal::of("the orders", error))?;
    }
    orders.parent = getppid().map_or(0, Pid::as_raw_pid);
    let lacks = confine(&orders, &Limits::default())?;
    Ok(print(lacks.told()))
}

/// Takes from this process all that the program it becomes has no use for; returns what could not be taken.
fn confine(orders: &Orders, limits: &Limits) -> Result<Lacks, Refusal> {
    let mut lacks = Lacks::default();
    if let Err(error) = calls::forbid_unknown() {
        lacks.calls = Some(error.to_string());
        lacks.network = network::leave().err();
    }
    // Files are opened while root may do so.
    let files = files::prepare(orders);
    if geteuid().is_root() {
        let left = user::leave_root(orders.directory.as_deref(), limits.may_read_as_root);
        lacks.user = left.err();
    }
    user::give_up_powers(limits.may_read_as_root)
        .map_err(|error| Refusal::of("the powers of root", error))?;
    die_with(orders.parent)?;
    limit(limits)?;
    set_no_new_privs(true).map_err(|error| Refusal::of("new privileges", error))?;
    match files.and_then(files::restrict) {
        Ok(abi) => lacks.landlock = abi,
        Err(why) => lacks.files = Some(why),
    }
    if lacks.calls.is_none() {
        // It is the last, for what stands above would be forbidden too.
        let own = getpid().as_raw_pid();
        let may_write = orders.directory.is_some() || lacks.files.is_none();
        let forbidden = calls::forbid(own, may_write, limits.may_start_programs);
        lacks.calls = forbidden.err().map(|error| error.to_string());
    }
    Ok(lacks)
}

fn print(lines: impl IntoIterator<Item = String>) -> ExitCode {
    let mut stdout = std::io::stdout();
    for line in lines {
        if writeln!(stdout, "{line}").is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Asks to be killed when the parent ends. Changes of rights take that back, so it comes after them.
fn die_with(parent: i32) -> Result<(), Refusal> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Refusal::of("the death of the parent", error))?;
    // It may have ended before that.
    if getppid().map_or(0, Pid::as_raw_pid) != parent {
        return Err(Refusal::of("the parent", "it is gone"));
    }
    Ok(())
}

fn limit(limits: &Limits) -> Result<(), Refusal> {
    for (resource, limit) in limits.resources() {
        setrlimit(resource, limit)
            .map_err(|error| Refusal::of(&format!("the limit {resource:?}"), error))?;
    }
    Ok(())
}

fn become_program(command: &[OsString]) -> Result<std::convert::Infallible, Refusal> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Refusal::of("the program", "none is named"));
    };
    // Environment, directory, input and output are those that this process was given.
    let error = Command::new(program).args(arguments).exec();
    let name = program.to_string_lossy();
    Err(match error.kind() {
        std::io::ErrorKind::NotFound => Refusal {
            code: NOT_FOUND,
            ..Refusal::of(&name, error)
        },
        std::io::ErrorKind::PermissionDenied if geteuid().as_raw() == user::NOBODY => {
            let why = "confined programs run as the user nobody where garner runs as root, so everybody must be allowed to execute them";
            Refusal::of(&name, format!("{error}: {why}"))
        }
        _ => Refusal::of(&name, error),
    })
}

/// Why a process did not become the program.
struct Refusal {
    code: u8,
    why: String,
}

impl Refusal {
    fn of(what: &str, why: impl Display) -> Self {
        Self {
            code: NOT_ENTERED,
            why: format!("{what}: {why}"),
        }
    }
}

/// Asks what is not to be had.
pub(super) const PROBE: &str = "--probe";
/// Begins what this side says, for the program's own exit codes may be the same.
pub(super) const COMPLAINT: &str = "garner confine: ";
/// As `env` and `timeout` have it: the program was never begun.
pub(super) const NOT_ENTERED: u8 = 125;
/// There is no such program.
pub(super) const NOT_FOUND: u8 = 127;
