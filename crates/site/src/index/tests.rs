//! One index, several that have it open. A lock belongs to who opened the file, so that two openers within one
//! process are to each other what two processes are.

mod agreement;
mod damage;
mod findings;
mod killed;
mod opening;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::{Facts, SitePath};

/// Opens a shared index, made empty if need be.
fn open(data: &Path, generation: i64) -> Box<Index> {
    open_as(data, Sharing::Shared { generation })
}

fn open_as(data: &Path, sharing: Sharing) -> Box<Index> {
    match Index::open(data, sharing).unwrap() {
        OpenedIndex::Fresh(loader) => loader.finish().unwrap(),
        OpenedIndex::Known(index) => index,
    }
}

/// A file that was changed long ago, in the state of a mark.
fn file(name: &str, mark: i64) -> Observation {
    let media_type = match name.rsplit_once('.') {
        Some((_, extension)) => format!("text/{extension}"),
        None => "text/plain".to_owned(),
    };
    Observation {
        path: path(name),
        seen: Seen::File {
            by_name: false,
            facts: Facts {
                mtime: 1000,
                mark,
                ..Facts::default()
            },
            media_type,
            dynamic: false,
        },
    }
}

fn gone(name: &str) -> Observation {
    Observation {
        path: path(name),
        seen: Seen::Nothing,
    }
}

fn path(name: &str) -> SitePath {
    SitePath::from_url_path(name).unwrap()
}

fn rows(index: &Index) -> Vec<Row> {
    let reader = index.reader().unwrap();
    reader.by_path(&SitePath::root(), None, 100_000).unwrap()
}

fn names(index: &Index) -> Vec<String> {
    let live = rows(index)
        .into_iter()
        .filter(|row| row.state == State::Live);
    live.map(|row| row.path.to_url_path()).collect()
}

fn answered(index: &Index) -> i64 {
    index.agree().unwrap().agreed.answered
}

/// Runs a test as another process, on this data directory.
fn other_process(test: &str, data: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("index::tests::{test}")]);
    command.args(["--nocapture", "--test-threads=1"]);
    command.env(OTHER_PROCESS, data);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// The data directory, in a test that is run as another process.
fn of_other_process() -> Option<PathBuf> {
    std::env::var_os(OTHER_PROCESS).map(PathBuf::from)
}

#[expect(clippy::print_stdout, reason = "it is how the other process speaks")]
fn say(words: &str) {
    println!("\n{words}");
}

const OTHER_PROCESS: &str = "GARNER_TEST_DATA";
