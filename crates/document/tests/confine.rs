//! Programs within limits: what they may use, see and reach, and that they end.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use document::confine::{Confiner, End, Ended, Limits, Output, Task};

const PROGRAM: &str = env!("CARGO_BIN_EXE_garner-confine");
const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

fn confiner() -> Confiner {
    Confiner::new(PROGRAM, [""; 0])
}

fn task<'a>(program: &'a str, arguments: &[&str]) -> Task<'a> {
    Task {
        program: Path::new(program),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: Vec::new(),
        input: None,
        output: Output::Kept(64 * 1024),
        directory: None,
        wall: Duration::from_secs(60),
        limits: Limits::default(),
        stop: None,
    }
}

fn run(task: Task<'_>) -> Ended {
    confiner().run(task).unwrap()
}

fn printed(program: &str, arguments: &[&str]) -> String {
    let ended = run(task(program, arguments));
    assert_eq!(ended.end, End::Code(0), "{}", ended.complaints);
    String::from_utf8(ended.printed).unwrap()
}

/// Whether this system can do all that is tested; what it cannot do is told.
fn can(what: &str) -> bool {
    let lacks = confiner().lacks().unwrap();
    let lack = lacks.iter().find(|lack| lack.contains(what));
    if let Some(lack) = lack {
        eprintln!("not tested, because the system does not offer it: {lack}");
    }
    lack.is_none()
}

#[test]
fn the_environment_is_nearly_empty() {
    let printed = printed("/usr/bin/env", &[]);
    let mut names: Vec<_> = printed
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "LC_ALL", "PATH"]);
}

#[test]
fn limits_are_in_force_before_the_program_begins() {
    let directory = tempfile::tempdir().unwrap();
    let mut task = task(
        "/bin/sh",
        &[
            "-c",
            "ulimit -v; ulimit -t; ulimit -f; ulimit -n; ulimit -c",
        ],
    );
    task.limits = Limits {
        memory_bytes: 500 * 1024 * 1024,
        cpu_seconds: 7,
        file_bytes: 1024 * 1024,
        open_files: 33,
    };
    task.directory = Some(directory.path());
    let ended = run(task);
    let printed = String::from_utf8(ended.printed).unwrap();
    assert_eq!(printed, "512000\n7\n2048\n33\n0\n");
}

#[test]
fn there_are_no_new_privileges() {
    let dumped = printed("/usr/bin/setpriv", &["--dump"]);
    assert!(dumped.contains("no_new_privs: 1"), "{dumped}");
}

#[test]
fn who_takes_too_long_is_ended() {
    let begun = Instant::now();
    let mut task = task("/bin/sleep", &["60"]);
    task.wall = Duration::from_millis(300);
    assert_eq!(run(task).end, End::TimeOver);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn processor_time_is_limited() {
    let mut task = task("/bin/sh", &["-c", "while :; do :; done"]);
    task.limits.cpu_seconds = 1;
    assert_eq!(run(task).end, End::Signal(SIGXCPU));
}

#[test]
fn memory_is_limited() {
    let mut task = task(
        "/bin/dd",
        &["if=/dev/zero", "of=/dev/null", "bs=600M", "count=1"],
    );
    task.limits.memory_bytes = 300 * 1024 * 1024;
    let ended = run(task);
    assert_eq!(ended.end, End::Code(1));
    assert!(ended.complaints.contains("memory"), "{}", ended.complaints);
}

#[test]
fn output_is_limited_and_its_beginning_is_kept() {
    let mut task = task("/usr/bin/yes", &["text"]);
    task.output = Output::Kept(1000);
    let ended = run(task);
    assert_eq!(ended.end, End::TooMuchPrinted);
    assert!(ended.printed.starts_with(b"text\ntext\n"));
    assert_eq!(ended.printed.len(), 1000);
}

#[test]
fn who_prints_just_as_much_as_is_kept_is_not_stopped() {
    let mut task = task("/usr/bin/head", &["-c", "1000", "/dev/zero"]);
    task.output = Output::Kept(1000);
    let ended = run(task);
    assert_eq!(ended.end, End::Code(0));
    assert_eq!(ended.printed.len(), 1000);
}

#[test]
fn who_may_write_files_prints_no_more_than_is_kept_either() {
    let directory = tempfile::tempdir().unwrap();
    let mut task = task("/usr/bin/head", &["-c", "3000", "/dev/zero"]);
    task.directory = Some(directory.path());
    task.output = Output::Kept(1000);
    let ended = run(task);
    assert_eq!(ended.end, End::TooMuchPrinted);
    assert_eq!(ended.printed.len(), 1000);
}

#[test]
fn endless_complaints_are_ended_too() {
    let begun = Instant::now();
    let ended = run(task("/bin/sh", &["-c", "exec yes >&2"]));
    assert_eq!(ended.end, End::TooMuchPrinted);
    assert!(ended.complaints.len() <= 16 * 1024);
    assert!(begun.elapsed() < Duration::from_secs(50));
}

#[test]
fn files_are_limited() {
    let directory = tempfile::tempdir().unwrap();
    let mut task = task("/bin/dd", &["if=/dev/zero", "of=long", "bs=1M", "count=9"]);
    task.directory = Some(directory.path());
    task.limits.file_bytes = 2 * 1024 * 1024;
    assert_eq!(run(task).end, End::Signal(SIGXFSZ));
    assert_eq!(
        directory.path().join("long").metadata().unwrap().len(),
        2 * 1024 * 1024
    );
}

#[test]
fn only_its_own_directory_can_be_written_and_nothing_of_others_read() {
    if !can("files") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let secret = other.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let script = format!(
        "echo mine > own && /bin/cat own; /bin/cat {secret}; /bin/cat /etc/passwd; echo x > {secret}; echo x > /tmp/garner-x; \
         rm -f {secret}; rmdir {other}",
        secret = secret.display(),
        other = other.path().display(),
    );
    let mut task = task("/bin/sh", &["-c", &script]);
    task.directory = Some(directory.path());

    let ended = run(task);

    // As root processes may be started, as somebody else not even that; neither reads what it should not.
    let printed = String::from_utf8(ended.printed).unwrap();
    assert!(printed.is_empty() || printed == "mine\n", "{printed}");
    assert_eq!(
        std::fs::read_to_string(directory.path().join("own")).unwrap(),
        "mine\n"
    );
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
    assert!(!Path::new("/tmp/garner-x").exists());
}

#[test]
fn there_is_no_network() {
    if !can("network") || !Path::new("/bin/bash").exists() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Landlock alone would not keep it from sending datagrams.
    for protocol in ["tcp", "udp"] {
        let connect = format!("exec 3<>/dev/{protocol}/127.0.0.1/{port} && echo reached");
        let outside = Command::new("/bin/bash")
            .args(["-c", &connect])
            .output()
            .unwrap();
        assert_eq!(outside.stdout, b"reached\n");

        let ended = run(task("/bin/bash", &["-c", &connect]));

        assert_eq!(ended.printed, b"", "{ended:?}");
        assert_eq!(ended.end, End::Code(1));
    }
}

#[test]
fn no_other_process_can_be_started_even_by_root() {
    if !can("processes") {
        return;
    }
    let forks = run(task(
        "/bin/sh",
        &["-c", "(echo forked) & wait; echo went on"],
    ));
    let said = String::from_utf8_lossy(&forks.printed);
    assert!(!said.contains("forked"), "{said}");

    // By the numbers of the calls, as what a document smuggles in would do it. Threads are allowed.
    let python = Path::new("/usr/bin/python3");
    let is_root = Path::new("/proc/self").metadata().unwrap().uid() == 0;
    if !cfg!(target_arch = "x86_64") || !python.exists() || !is_root {
        return;
    }
    let script = "import ctypes, threading\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         for call in [435, 56, 57, 58]:\n    \
             print(call, libc.syscall(call, 0, 0, 0, 0, 0), ctypes.get_errno())\n\
         thread = threading.Thread(target=lambda: print('a thread'))\n\
         thread.start()\n\
         thread.join()\n";
    let printed = printed("/usr/bin/python3", &["-c", script]);
    assert_eq!(
        printed,
        "435 -1 38\n56 -1 13\n57 -1 13\n58 -1 13\na thread\n"
    );
}

#[test]
fn root_has_no_powers() {
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("own");
    std::fs::write(&own, "").unwrap();
    if std::os::unix::fs::chown(&own, Some(1), None).is_err() {
        eprintln!("not tested, because this is not root");
        return;
    }
    std::os::unix::fs::chown(&own, Some(0), None).unwrap();
    let mut task = task("/bin/chown", &["1", "own"]);
    task.directory = Some(directory.path());

    let ended = run(task);

    assert_eq!(ended.end, End::Code(1), "{ended:?}");
    assert_eq!(own.metadata().unwrap().uid(), 0);
}

#[test]
fn a_program_that_is_not_there_is_told_from_one_that_fails() {
    assert_eq!(run(task("/nowhere/pdftotext", &[])).end, End::NotFound);
    assert_eq!(
        run(task("/bin/sh", &["-c", "exit 127"])).end,
        End::Code(127)
    );
    let ended = run(task("/etc", &[]));
    assert_eq!(ended.end, End::NotBegun);
    assert!(ended.complaints.contains("/etc"), "{}", ended.complaints);
}

#[test]
fn nothing_begins_for_a_parent_that_is_gone() {
    let orders = ["--parent=1", "--", "/bin/echo", "alive"];
    let output = Command::new(PROGRAM).args(orders).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(output.stdout, b"");
}

#[test]
fn a_killed_parent_leaves_nothing_running() {
    // A shell is the parent, and says which process is its child.
    for limits in ["", "--cpu=30"] {
        let script = format!("\"$0\" --parent=$$ {limits} -- /bin/sleep 300 & echo $!; wait");
        let mut parent = Command::new("/bin/sh")
            .args(["-c", &script, PROGRAM])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = String::new();
        BufReader::new(parent.stdout.take().unwrap())
            .read_line(&mut child)
            .unwrap();
        let child = format!("/proc/{}", child.trim());
        wait_until("it sleeps", || command_of(&child) == "sleep");

        parent.kill().unwrap();
        parent.wait().unwrap();

        wait_until("it is gone", || command_of(&child) != "sleep");
    }
}

/// The name of a process; empty if it is gone or about to be.
fn command_of(process: &str) -> String {
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
    let is_dead = status.contains("State:\tZ") || status.contains("State:\tX");
    let name = status
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("Name:\t"));
    match is_dead {
        true => String::new(),
        false => name.unwrap_or_default().to_owned(),
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it never happens that {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_program_ends_as_soon_as_somebody_wants_it_to_stop() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut task = task("/bin/sleep", &["300"]);
    task.stop = Some(&stop);
    let began = Instant::now();

    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        run(task)
    });

    assert_eq!(ended.end, End::TimeOver);
    assert!(began.elapsed() < Duration::from_secs(10));
}
