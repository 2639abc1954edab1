//! Tests of running programs, on small programs that every system has; apart, for they outgrow the code.

use std::path::Path;
use std::time::Instant;

use super::*;

/// A program and its arguments, within limits that a test may change. Nothing confines it: that takes a program beside.
fn task<'a>(program: &'a str, arguments: &[&str]) -> Task<'a> {
    let timeout = Duration::from_secs(20);
    Task {
        program: Path::new(program),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: Vec::new(),
        input: None,
        output: Output::Kept(256 * 1024),
        directory: None,
        readable: Vec::new(),
        wall: timeout,
        limits: limits(timeout, 512 * 1024 * 1024),
        stop: None,
    }
}

fn run_task(task: Task<'_>) -> Result<String, String> {
    let printed = run(task, None).map_err(|failure| failure.to_string())?;
    Ok(String::from_utf8(printed).unwrap())
}

fn run_shell(script: &str) -> Result<String, String> {
    run_task(task("sh", &["-c", script]))
}

fn run_hasty(script: &str) -> Result<String, String> {
    let timeout = Duration::from_secs(1);
    run_task(Task {
        wall: timeout,
        limits: limits(timeout, 512 * 1024 * 1024),
        ..task("sh", &["-c", script])
    })
}

fn is_running(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name; a killed orphan may stay as a zombie until init takes notice.
    let state = status.rsplit(") ").next().unwrap_or_default();
    !state.is_empty() && !state.starts_with('Z')
}

fn stops_running(pid: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while is_running(pid) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    !is_running(pid)
}

#[test]
fn standard_output_is_returned() {
    let printed = run_task(task("/bin/echo", &["one  two", "*"])).unwrap();

    assert_eq!(printed, "one  two *\n");
}

#[test]
fn the_environment_is_not_passed_on() {
    let text = run_task(task("env", &[])).unwrap();

    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "HOME=/nonexistent",
            "LANG=C.UTF-8",
            "LC_ALL=C.UTF-8",
            "PATH=/usr/local/bin:/usr/bin:/bin"
        ]
    );
}

#[test]
fn programs_run_in_the_root_directory_without_input() {
    assert_eq!(run_shell("pwd; cat; echo end").unwrap(), "/\nend\n");
}

#[test]
fn a_missing_program_is_named() {
    let message = run_task(task("/no/such/program", &[])).unwrap_err();

    assert!(
        message.starts_with("cannot start `/no/such/program`: "),
        "{message}"
    );
    assert!(message.ends_with("check that it is installed and may be executed"));
}

#[test]
fn an_exit_status_is_reported_with_the_first_line_of_standard_error() {
    let script = r"printf '\n\033[31mno title\007 here\nmore\n' >&2; echo x; exit 3";

    let message = run_shell(script).unwrap_err();

    assert_eq!(message, "ended with exit status 3: [31mno title here");
}

#[test]
fn a_signal_is_reported() {
    let message = run_shell("kill -TERM $$").unwrap_err();

    assert_eq!(message, "was ended by signal 15");
}

#[test]
fn a_program_that_does_not_end_is_killed() {
    let begun = Instant::now();

    let message = run_hasty("echo $$ >&2; exec sleep 300").unwrap_err();

    let (reason, pid) = message.rsplit_once(": ").unwrap();
    assert_eq!(
        reason,
        "did not end within 1 s, raise `timeout_seconds` if it needs longer"
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(!Path::new("/proc").join(pid).exists(), "it was not reaped");
}

#[test]
fn a_program_that_closes_its_pipes_and_goes_on_is_killed() {
    let message = run_hasty("exec >&- 2>&-; sleep 300").unwrap_err();

    assert!(message.starts_with("did not end within 1 s"), "{message}");
}

#[test]
fn a_program_that_ignores_signals_is_killed() {
    let message = run_hasty("trap '' TERM INT HUP XCPU; while :; do :; done").unwrap_err();

    // Processor time and the clock run out together.
    assert!(
        message.starts_with("did not end") || message.starts_with("was ended by signal 9"),
        "{message}"
    );
}

#[test]
fn the_whole_group_is_killed_on_a_timeout() {
    let message = run_hasty("sleep 300 & echo $! >&2; wait").unwrap_err();

    let (_, pid) = message.rsplit_once(": ").unwrap();
    assert!(pid.parse::<u32>().is_ok(), "{message}");
    assert!(stops_running(pid));
}

#[test]
fn a_process_left_behind_with_the_pipe_is_not_waited_for() {
    let begun = Instant::now();

    let printed = run_shell("sleep 300 & echo $!").unwrap();

    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(stops_running(printed.trim()));
}

#[test]
fn a_process_that_left_the_group_with_the_pipe_is_not_waited_for() {
    let begun = Instant::now();

    let printed = run_shell("setsid sleep 12 & echo done").unwrap();

    assert_eq!(printed, "done\n");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn too_much_output_is_a_failure() {
    let begun = Instant::now();

    let message = run_shell("echo started >&2; exec cat /dev/zero").unwrap_err();

    assert_eq!(
        message,
        "printed more than 256 KB, raise `output_kb` if it needs more: started"
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn output_may_reach_its_limit_exactly() {
    let printed = run_shell("head -c 262144 /dev/zero").unwrap();
    assert_eq!(printed.len(), 262_144);

    let message = run_shell("head -c 262145 /dev/zero").unwrap_err();
    assert!(message.starts_with("printed more than 256 KB"), "{message}");
}

#[test]
fn much_on_standard_error_does_not_block_the_program() {
    let printed = run_shell("head -c 1000000 /dev/zero >&2; echo done").unwrap();

    assert_eq!(printed, "done\n");
}

#[test]
fn memory_is_limited() {
    // The pause lets the limits be set first.
    let script = "sleep 0.3; head -c 100000000 /dev/zero | tail -c 99999999 | wc -c";
    let hungry = "sleep 0.3; head -c 100000000 /dev/zero | exec tail -c 99999999 >/dev/null";

    let mut modest = task("sh", &["-c", hungry]);
    modest.limits.memory_bytes = 64 * 1024 * 1024;
    let message = run_task(modest).unwrap_err();

    assert!(
        message.starts_with("ended with exit status 1: tail: "),
        "{message}"
    );
    assert_eq!(run_shell(script).unwrap(), "99999999\n");
}

#[test]
fn processor_time_is_limited() {
    let mut busy = task("sh", &["-c", "sleep 0.3; ulimit -t; ulimit -Ht"]);
    busy.limits.cpu_seconds = 2;

    let printed = run_task(busy).unwrap();

    assert_eq!(printed, "2\n3\n");
}

#[test]
fn files_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("left");

    let script = format!("sleep 0.3; exec head -c 10 /dev/zero > {}", path.display());
    let message = run_shell(&script).unwrap_err();

    assert_eq!(
        message,
        "was ended by signal 25 (it tried to write a file; a plug-in may only print)"
    );
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn no_zombie_is_left() {
    let printed = run_shell("echo $$").unwrap();

    assert!(!Path::new("/proc").join(printed.trim()).exists());
}
