//! Output on a terminal: tables cut to its width, colours, and totals.

/// The output of commands as it is seen.
mod snapshots;

use std::path::Path;
use std::process::{Command, Stdio};

use test_support::{Fixture, Script};

use crate::command_line::{prints, stdout};
use crate::garner;
use crate::harvested::Harvested;

/// The output of a command on a terminal of this width; `environment` is put before it.
fn on_terminal(width: usize, environment: &str, arguments: &str) -> Vec<String> {
    on_terminal_in(Path::new("."), width, environment, arguments)
}

/// The same in a directory.
fn on_terminal_in(place: &Path, width: usize, environment: &str, arguments: &str) -> Vec<String> {
    let program = env!("CARGO_BIN_EXE_garner");
    let line = format!("stty cols {width} rows 50; {environment} {program} {arguments}");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .current_dir(place)
        .env_remove("NO_COLOR")
        .env_remove("SUDO_USER")
        .env("USER", "tester")
        .output()
        .expect("script is a part of util-linux");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.replace('\r', "");
    lines.lines().map(str::to_owned).collect()
}

fn width(line: &str) -> usize {
    line.chars().count()
}

#[test]
fn lists_are_tables_cut_to_the_width_of_the_terminal() {
    let held = Harvested::new(Script::new(106, 50));
    let data = held.data();
    let data = data.to_str().unwrap();

    for (columns, command) in [40, 80, 200].into_iter().flat_map(|columns| {
        [
            "records",
            "repository list",
            "history",
            "run list",
            "job list --all",
            "schedule list",
        ]
        .map(|command| (columns, command))
    }) {
        let lines = on_terminal(columns, "NO_COLOR=1", &format!("{command} --data {data}"));
        for line in &lines {
            let is_note = line.starts_with("showing ") || line.starts_with("there is no such");
            assert!(
                is_note || width(line) <= columns,
                "{command} at {columns}: {line}"
            );
            assert!(!line.contains('\u{1b}'), "{command}: {line:?}");
        }
    }
    let wide = on_terminal(200, "", &format!("records --data {data}"));
    assert!(
        wide[0].starts_with("DATESTAMP  ") && wide[0].contains("  IDENTIFIER"),
        "{}",
        wide[0]
    );
    assert_eq!(wide.len(), 1 + 30 + 1, "{wide:#?}");
    assert_eq!(
        wide.last().unwrap(),
        "showing 30 of 106; --limit N shows more"
    );
    assert!(
        wide.iter()
            .any(|line| line.contains("\u{1b}[33mdeleted\u{1b}[0m")),
        "{wide:#?}"
    );
    let repositories = on_terminal(80, "", &format!("repositories list --data {data}"));
    assert!(
        repositories[0].starts_with("NO.  NAME"),
        "{repositories:#?}"
    );
    let row = &repositories[1];
    assert!(row.contains("\u{1b}[32mok\u{1b}[0m"), "{row}");
    assert!(row.contains(" s ago") || row.contains("  now"), "{row}");
    let all = on_terminal(80, "", &format!("record --limit 200 --data {data}"));
    assert_eq!(all.len(), 107);
}

#[test]
fn pipes_get_all_rows_with_tabs_and_without_a_head() {
    let held = Harvested::new(Script::new(106, 50));

    let records = prints(held.garner(&["records"]).output());

    assert_eq!(records.lines().count(), 106);
    assert!(records.lines().all(|line| line.split('\t').count() == 4));
    assert!(!records.contains('\u{1b}'));
}

#[test]
fn colours_are_for_terminals_unless_somebody_decides_otherwise() {
    let held = Harvested::new(Script::new(30, 10));
    let list = format!("history --data {}", held.data().display());

    for (environment, option, coloured) in [
        ("", "", true),
        ("NO_COLOR=1", "", false),
        ("NO_COLOR=", "", true),
        ("", "--color never", false),
        ("NO_COLOR=1", "--color always", true),
    ] {
        let lines = on_terminal(100, environment, &format!("{list} {option}"));
        assert_eq!(
            lines.concat().contains('\u{1b}'),
            coloured,
            "{environment} {option}"
        );
    }
}

#[test]
fn an_import_shows_a_summary_in_words_and_each_capture_only_on_request() {
    let fixture = Fixture::empty();
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
    let import = |name: &str, option: &str| {
        let (crawl, data) = (crawl.display(), fixture.beside(name));
        on_terminal(
            100,
            "",
            &format!("import {crawl} --data {} {option}", data.display()),
        )
        .join("\n")
    };

    let brief = import("one", "");
    let verbose = import("two", "-v");

    assert!(
        brief.contains(" captures: ") && brief.contains(" new documents"),
        "{brief}"
    );
    assert!(
        !brief.contains("filtered_MTF") && !brief.contains("http://"),
        "{brief}"
    );
    assert!(
        verbose.contains("filtered_MTF") && verbose.contains("http://"),
        "{verbose}"
    );
}

#[test]
fn singular_and_plural_names_are_the_same_command() {
    for (one, other) in [
        ("job", "jobs"),
        ("record", "records"),
        ("repository", "repositories"),
    ] {
        let help = |name| stdout(&garner().args([name, "--help"]).output());
        let last = |help: String| help.lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(last(help(one)).last(), last(help(other)).last());
        assert!(!help(one).is_empty());
    }
}
