//! Programs within limits: what they may use, see and reach, and that they end.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use process::{Confiner, End, Ended, Limits, Output, Task};

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
        readable: Vec::new(),
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
        ..Limits::default()
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
    fs::write(&secret, "secret").unwrap();
    let script = format!(
        "echo mine > own && /bin/cat own; /bin/cat {secret}; /bin/cat /etc/passwd; echo x > {secret}; echo x > /tmp/garner-x; \
         rm -f {secret}; rmdir {other}",
        secret = secret.display(),
        other = other.path().display(),
    );
    let mut task = task("/bin/sh", &["-c", &script]);
    task.directory = Some(directory.path());

    let ended = run(task);

    // No process may be started, so that nothing is printed.
    let printed = String::from_utf8(ended.printed).unwrap();
    assert!(printed.is_empty() || printed == "mine\n", "{printed}");
    assert_eq!(
        fs::read_to_string(directory.path().join("own")).unwrap(),
        "mine\n"
    );
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
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
}

/// The user that programs run as where these tests are root's.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn root_is_somebody_else_who_can_write_in_the_directory_all_the_same() {
    if !is_root() {
        eprintln!("not tested, because this is not root");
        return;
    }
    let closed = tempfile::tempdir().unwrap();
    let directory = closed.path().join("own");
    fs::create_dir(&directory).unwrap();
    for place in [closed.path(), &directory] {
        fs::set_permissions(place, Permissions::from_mode(0o700)).unwrap();
    }
    let mut task = task("/bin/sh", &["-c", "echo mine > own && exec id"]);
    task.directory = Some(&directory);

    let ended = run(task);

    assert_eq!(ended.end, End::Code(0), "{ended:?}");
    let printed = String::from_utf8(ended.printed).unwrap();
    for (name, there) in [("uid=65534", true), ("gid=65534", true), ("(root)", false)] {
        assert_eq!(printed.contains(name), there, "{printed}");
    }
    let own = directory.join("own");
    assert_eq!(own.metadata().unwrap().uid(), NOBODY);
    assert_eq!(fs::read_to_string(own).unwrap(), "mine\n");
    assert_eq!(directory.metadata().unwrap().uid(), 0);
}

/// Issue 18: an engine could change modes, attributes and times of the user's files, end his other processes, and leave
/// shared memory and keys behind.
#[test]
fn a_hostile_engine_changes_nothing_of_the_user_and_leaves_nothing_behind() {
    let python = "/usr/bin/python3";
    if !can("processes") || !can("files") || !Path::new(python).exists() {
        return;
    }
    // Landlock of this kernel, of Ubuntu 24.04, of Debian 12, its first version, and none.
    for landlock in [None, Some(4), Some(2), Some(1), Some(0)] {
        let others = tempfile::tempdir().unwrap();
        let key = others.path().join("key");
        fs::write(&key, "secret").unwrap();
        let document = others.path().join("document");
        fs::write(&document, "%PDF").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let mut sleeper = Command::new("/bin/sleep");
        if is_root() {
            // They are those of the user that engines run as, or his lack of rights would be all that is tested.
            for path in [others.path(), &key, &document] {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            sleeper.uid(NOBODY).gid(NOBODY);
        }
        fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
        let mut sleeper = sleeper.arg("300").spawn().unwrap();
        let seen = |path: &Path| {
            let metadata = path.metadata().unwrap();
            let times = (
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime_nsec(),
            );
            let attributes = rustix::fs::listxattr(path, &mut [0; 1024]).unwrap();
            let content = fs::read(path).unwrap();
            (metadata.mode(), metadata.uid(), times, attributes, content)
        };
        let before = [&key, &document].map(|path| seen(path));

        let confiner = match landlock {
            Some(version) => confiner().with_landlock(version),
            None => confiner(),
        };
        let pid = sleeper.id().to_string();
        let script = include_str!("confine/hostile.py");
        let mut task = task(python, &["-ISc", script, key.to_str().unwrap(), &pid]);
        task.input = Some(File::open(&document).unwrap());
        // Landlock keeps a program that may write somewhere from writing elsewhere.
        task.directory = Some(directory.path()).filter(|_| landlock != Some(0));
        let ended = confiner.run(task).unwrap();

        let done = String::from_utf8_lossy(&ended.printed);
        assert_eq!(done, "", "with Landlock {landlock:?}");
        assert_eq!(ended.end, End::Code(0), "{}", ended.complaints);
        assert_eq!([&key, &document].map(|path| seen(path)), before);
        assert_eq!(fs::read_dir(others.path()).unwrap().count(), 2);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(sleeper.try_wait().unwrap().is_none(), "it was ended");
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        for kind in ["shm", "sem", "msg"] {
            let there = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
            assert!(!there.contains(&0x6761_7231_u32.to_string()), "{there}");
        }
    }
}

#[test]
fn calls_for_another_processor_end_a_program() {
    let python = "/usr/bin/python3";
    if !can("processes") || !Path::new(python).exists() || !cfg!(target_arch = "x86_64") {
        return;
    }
    // `getpid` of i386, by its own way into the kernel.
    let script = "import ctypes, mmap\n\
         code = mmap.mmap(-1, 4096, prot=7)\n\
         code.write(bytes.fromhex('b814000000cd80c3'))\n\
         at = ctypes.addressof(ctypes.c_char.from_buffer(code))\n\
         print('ready', flush=True)\n\
         print(ctypes.CFUNCTYPE(ctypes.c_int)(at)())\n";
    let ended = run(task(python, &["-c", script]));
    assert_eq!(ended.printed, b"ready\n", "{ended:?}");
    assert!(matches!(ended.end, End::Signal(_)), "{ended:?}");
}

#[test]
fn who_leaves_its_group_is_ended_all_the_same() {
    let python = "/usr/bin/python3";
    if !Path::new(python).exists() {
        return;
    }
    let script = "import os, time\n\
         try: os.setpgid(0, os.getpgid(os.getppid()))\n\
         except OSError: pass\n\
         time.sleep(300)\n";
    let begun = Instant::now();
    let mut task = task(python, &["-c", script]);
    task.wall = Duration::from_secs(1);
    assert_eq!(run(task).end, End::TimeOver);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// Issue 18: each file was limited, and not their sum.
#[test]
fn the_sum_of_files_is_limited_whatever_becomes_of_them() {
    let python = "/usr/bin/python3";
    if !can("disk") || !Path::new(python).exists() {
        return;
    }
    let endless = "import os\n\
         block = bytes(1 << 20)\n\
         for number in range(COUNT):\n    \
             file = open(str(number % LIMIT), 'wb')\n    \
             file.write(block); file.flush()\n    \
             try: os.unlink(file.name)\n    \
             except OSError: pass\n";
    // Many files, and one name that is written again and again is no reason.
    for (most, count, end) in [
        ("5000", "5000", End::TooMuchWritten),
        ("4", "100", End::Code(0)),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let script = endless.replace("LIMIT", most).replace("COUNT", count);
        let mut task = task(python, &["-c", &script]);
        task.directory = Some(directory.path());
        task.limits.directory_bytes = 16 << 20;
        let ended = run(task);
        assert_eq!(ended.end, end, "{}", ended.complaints);
        let lengths = fs::read_dir(directory.path()).unwrap();
        let sum: u64 = lengths
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(sum < 2 << 30, "{sum} bytes before it was noticed");
    }
}

#[test]
fn files_without_content_are_counted_too() {
    let python = "/usr/bin/python3";
    if !Path::new(python).exists() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let script = "for number in range(10**6): open(str(number), 'w').close()\n";
    let mut task = task(python, &["-c", script]);
    task.directory = Some(directory.path());
    assert_eq!(run(task).end, End::TooMuchWritten);
}

#[test]
fn what_does_not_hold_is_told_for_each_version_of_landlock() {
    if !can("processes") || !can("files") {
        return;
    }
    let told = |version| confiner().with_landlock(version).lacks().unwrap();
    for version in [1, 2, 4, 6] {
        assert_eq!(told(version), [""; 0], "version {version}");
    }
    let without = told(0).concat();
    for words in [
        "read all files",
        "overwrite",
        "Landlock is not available",
        "5.13",
    ] {
        assert!(without.contains(words), "{without}");
    }
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
    let status = fs::read_to_string(format!("{process}/status")).unwrap_or_default();
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
