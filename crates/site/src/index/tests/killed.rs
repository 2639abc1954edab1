//! Processes that vanish in the middle of their work.

use std::io::{BufRead, BufReader};
use std::thread;
use std::time::Duration;

use super::*;
use crate::follow::horizon::system_seconds;

/// The other process: writes and answers until it is killed, and says what it answered.
#[test]
fn writes_until_it_is_killed() {
    let Some(data) = of_other_process() else {
        return;
    };
    let index = open(&data, 1);
    for mark in 1.. {
        let files: Vec<_> = (0..20)
            .map(|number| file(&format!("{number}.t{}", mark % 50), mark))
            .collect();
        index.apply(&files).unwrap();
        say(&format!("answered {}", index.answer().unwrap()));
    }
}

/// Lets another process write for a while, kills it, and returns the last answer that it told of.
fn kill_a_writer(data: &Path, after: Duration) -> i64 {
    let mut child = other_process("killed::writes_until_it_is_killed", data);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("answered ")?.parse().ok());
    let first = answers.next().unwrap();
    let reading = thread::spawn(move || answers.last());
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap().unwrap_or(first)
}

#[test]
fn after_a_kill_the_index_is_whole_and_the_horizon_exact() {
    let data = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let said = kill_a_writer(data.path(), Duration::from_millis(300 + 130 * round));
        let killed = system_seconds();
        thread::sleep(Duration::from_millis(1100));

        let index = open(data.path(), 1);

        let answered = answered(&index);
        assert!(said <= answered && answered <= killed);
        assert!(!rows(&index).is_empty());
        assert!(!index.mend().unwrap());
    }
}

#[test]
fn a_kill_beside_others_leaves_them_nothing_to_wait_for() {
    let data = tempfile::tempdir().unwrap();
    let index = open(data.path(), 1);
    for round in 0..3 {
        let said = kill_a_writer(data.path(), Duration::from_millis(200 + 70 * round));

        assert!(index.answer().unwrap() >= said);
        index.apply(&[file("mine.css", round as i64 + 1)]).unwrap();
        let types = index.media_types();
        let rows = rows(&index);
        assert!(rows.len() >= 20);
        assert!(rows.iter().all(|row| types.get(row.media_type).is_some()));
    }
}
