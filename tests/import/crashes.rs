//! Imports that are killed, stopped or run into a full disk: what they leave is what an undisturbed one leaves.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use test_support::wait_until;

use super::crawl::{Crawl, Left, many};
use crate::command_line::{stderr, stdout};

const PAPERS: usize = 1500;

/// A crawl with three archives that is imported without any disturbance, to compare with.
fn undisturbed(bytes: &[u8]) -> (Value, Left) {
    let crawl = with_archives(bytes);
    let printed = crawl.import(0, &["in"]);
    (printed, crawl.left())
}

fn with_archives(bytes: &[u8]) -> Crawl {
    let crawl = Crawl::new();
    crawl.write("in/1.warc.gz", bytes);
    crawl.write("in/2.warc.gz", many(100).bytes);
    crawl
}

/// The counters without what depends on time.
fn counters(printed: &Value) -> Value {
    let mut counters = printed.clone();
    for name in ["import", "seconds", "report", "verification"] {
        counters.as_object_mut().unwrap().remove(name);
    }
    counters
}

fn start(crawl: &Crawl) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
    command
        .args(["import", "in", "--json", "--data"])
        .arg(crawl.data())
        .current_dir(crawl.path(""))
        .env_remove("RUST_LOG")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until the import has begun to write.
fn wait_for_files(crawl: &Crawl) {
    let documents = crawl.data().join("documents/000");
    wait_until("the first documents are there", || documents.exists());
}

/// Gives numbers below others, from a seed that is printed.
pub(super) fn random() -> impl FnMut(u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut seed = now.as_nanos() as u64 | 1;
    eprintln!("seed {seed}");
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below.max(1)
    }
}

#[test]
fn killed_at_random_points_equals_undisturbed() {
    let bytes = many(PAPERS).bytes;
    let began = Instant::now();
    let (counted, left) = undisturbed(&bytes);
    let longest = u64::try_from(began.elapsed().as_micros()).unwrap();
    let mut random = random();

    let crawl = with_archives(&bytes);
    let mut kills = 0;
    for _ in 0..8 {
        let mut child = start(&crawl);
        std::thread::sleep(Duration::from_micros(random(longest * 2 / 3)));
        child.kill().unwrap();
        // One that was done before the blow has printed its counters, and the next would begin anew.
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            break;
        }
        kills += 1;
    }
    eprintln!("killed {kills} times");
    let output = start(&crawl).wait_with_output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    crawl.left().assert_is(&left);
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    if stderr(&output).contains("resuming import") {
        assert_eq!(counters(&printed), counters(&counted));
    }
    let verified = crawl.garner(&["verify", "--json"]).output();
    assert!(verified.status.success(), "{}", stdout(&verified));
}

#[test]
fn a_stop_keeps_what_came_so_far_and_says_how_to_go_on() {
    let bytes = many(PAPERS).bytes;
    let (counted, left) = undisturbed(&bytes);
    let crawl = with_archives(&bytes);

    let child = start(&crawl);
    wait_for_files(&crawl);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let stopped = child.wait_with_output().unwrap();
    let next = start(&crawl).wait_with_output().unwrap();

    if !stopped.status.success() {
        let said = stderr(&stopped);
        assert_eq!(stopped.status.code(), Some(1), "{said}");
        assert!(said.contains("the same command resumes"), "{said}");
        assert!(
            stderr(&next).contains("resuming import 1"),
            "{}",
            stderr(&next)
        );
        let printed: Value = serde_json::from_str(&stdout(&next)).unwrap();
        assert_eq!(counters(&printed), counters(&counted));
    }
    assert!(next.status.success(), "{}", stderr(&next));
    crawl.left().assert_is(&left);
}

#[test]
fn the_second_of_two_says_who_is_at_it() {
    let bytes = many(PAPERS).bytes;
    let crawl = with_archives(&bytes);
    let first = start(&crawl);
    let pid = first.id();
    // The first is stopped in the middle, so that it holds what it has.
    wait_for_files(&crawl);
    kill_process(Pid::from_child(&first), Signal::STOP).unwrap();

    let second = start(&crawl);
    std::thread::sleep(Duration::from_millis(1500));
    kill_process(Pid::from_child(&first), Signal::CONT).unwrap();

    let first = first.wait_with_output().unwrap();
    let second = second.wait_with_output().unwrap();
    assert!(first.status.success(), "{}", stderr(&first));
    let said = stderr(&second);
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(
        said.contains("is being imported by") && said.contains(&pid.to_string()),
        "{said}"
    );
    crawl.left().assert_is(&undisturbed(&bytes).1);
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_nothing_is_lost() {
    let bytes = many(300).bytes;
    let (_, left) = undisturbed(&bytes);
    let crawl = with_archives(&bytes);
    let limited = Command::new("prlimit")
        .arg("--fsize=300000")
        .arg(env!("CARGO_BIN_EXE_garner"))
        .args(["import", "in", "--json", "--data"])
        .arg(crawl.data())
        .current_dir(crawl.path(""))
        .output();
    let Ok(limited) = limited else {
        eprintln!("skipped: there is no prlimit");
        return;
    };

    assert!(!limited.status.success());
    let next = start(&crawl).wait_with_output().unwrap();

    assert!(next.status.success(), "{}", stderr(&next));
    crawl.left().assert_is(&left);
}

#[test]
fn an_archive_that_is_still_written_is_taken_as_far_as_it_is() {
    let warc = many(50);
    let half = warc.offsets[70] + 9;
    let crawl = Crawl::new();
    crawl.write("a.warc.gz.open", &warc.bytes[..half]);

    let printed = crawl.import(0, &["a.warc.gz.open"]);
    assert!(
        printed["reason"]
            .as_str()
            .unwrap()
            .contains("still being written")
    );
    assert_eq!(printed["skipped_Records"], 0);
    let before = crawl.documents().len();
    assert!(before > 10);

    crawl.write("a.warc.gz.open", &warc.bytes);
    crawl.import(0, &["a.warc.gz.open"]);
    assert_eq!(crawl.documents().len(), 50);
}

#[test]
fn an_end_that_cannot_be_written_down_does_not_hide_why_the_import_failed() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(3).bytes);
    crawl.write("b.warc.gz", many(4).bytes);
    crawl.import(0, &["a.warc.gz"]);
    let catalog = rusqlite::Connection::open(crawl.data().join("catalog.sqlite")).unwrap();
    let triggers = "
        CREATE TRIGGER no_group BEFORE UPDATE OF groups ON import WHEN new.groups > old.groups
            BEGIN SELECT RAISE(ABORT, 'no group is taken'); END;
        CREATE TRIGGER no_end BEFORE UPDATE OF state ON import WHEN new.state <> old.state
            BEGIN SELECT RAISE(ABORT, 'no end is taken'); END;";
    catalog.execute_batch(triggers).unwrap();

    let output = crawl.try_import(&["b.warc.gz"]);

    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("no group is taken") && said.contains("no end is taken"),
        "{said}"
    );
    catalog
        .execute_batch("DROP TRIGGER no_group; DROP TRIGGER no_end;")
        .unwrap();
    crawl.import(0, &["b.warc.gz"]);
}
