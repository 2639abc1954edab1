//! The output of lists, of single things, of imports and of help, as a person reads it at 80 and at 200 columns. After a
//! change that is meant, `SNAPSHOTS=write` writes the files in `tests/terminal` anew; read their difference.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::Script;

use super::{on_terminal, on_terminal_in, width};
use crate::command_line::{prints, stderr, stdout};
use crate::harvested::Harvested;

const LISTS: [&str; 17] = [
    "status",
    "repository list",
    "records --limit 5",
    "history",
    "history --imports",
    "run list",
    "job list --all",
    "schedule list",
    "documents list",
    "parents list",
    "lists list",
    "filter list",
    "account list",
    "audit",
    "alert list",
    "webhook list",
    "search lens",
];

const SHOWN: [&str; 9] = [
    "repository show 1",
    "records show 7",
    "history 1",
    "history --imports 1",
    "run show 1",
    "job show 4",
    "schedule show 1",
    "documents show 1",
    "statistics",
];

const HELP: [&str; 4] = ["--help", "harvest --help", "import --help", "status --help"];

/// A harvest, an import, a schedule with a job that waits, and one of everything that is kept beside them. All of it
/// happened three hours ago, so that relative times stay the same while the test runs.
fn filled() -> Harvested {
    let held = Harvested::new(Script::new(106, 50));
    held.harvest(&held.base_url(), &[]);
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
    fs::copy(crawl, held.beside("crawl.warc.gz")).unwrap();
    fs::write(held.beside("spam.txt"), "spam.example\nads.example\n").unwrap();
    let filter = r#"<filters match="any"><filter xpath="//a" regexp="b"/></filters>"#;
    fs::write(held.beside("filter.xml"), filter).unwrap();
    let base_url = held.base_url();
    let url = "https://hooks.example.org/garner";
    for arguments in [
        vec!["import", "crawl.warc.gz", "--text", "--quiet"],
        vec![
            "schedule",
            "add",
            &base_url,
            "--every",
            "1 day",
            "--name",
            "Every night",
            "--paused",
        ],
        vec!["schedule", "run", "1"],
        vec!["lists", "add", "blacklist", "spam", "spam.txt"],
        vec![
            "account",
            "add",
            "ann",
            "--invite",
            "--email",
            "ann@example.org",
        ],
        vec!["filter", "add", "Light", "filter.xml"],
        vec!["alert", "set", "twice", "--when", "failing", "--limit", "2"],
        vec!["webhook", "set", "indexer", "--webhook", url],
    ] {
        let command = held.garner(&arguments).env("USER", "tester");
        let output = command.current_dir(&held.beside("")).output();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
    let sql = "UPDATE repository SET added = NOW, identified = NOW,
            base_url = 'http://repository.example/oai', base_directory = 'records/repository.example_oai';
        UPDATE history SET started = NOW, ended = NOW + 61;
        UPDATE import SET started = NOW, ended = NOW + 2;
        UPDATE job SET created = NOW, run_at = NOW;
        UPDATE job_log SET at = NOW;
        UPDATE schedule SET added = NOW, changed = NOW, starts = NULL;
        UPDATE document SET discover_date = NOW, update_date = NOW, crawl_date = NOW;
        UPDATE record SET harvested = NOW;
        UPDATE parent SET first_crawl_date = NOW, last_crawl_date = NOW;
        UPDATE rules SET changed = NOW;
        UPDATE url_list SET changed = NOW;
        UPDATE audit SET at = NOW;
        UPDATE audit SET details = 'until 2030-01-01T00:00:00Z' WHERE action = 'account.link';";
    let sql = sql.replace("NOW", "(CAST(strftime('%s', 'now') AS INTEGER) - 10985)");
    let done = Command::new("sqlite3")
        .arg(held.data().join("catalog.sqlite"))
        .arg(sql)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    held
}

/// The lines that commands print on a terminal of this width, with all that differs from run to run blanked.
fn printed(held: &Harvested, columns: usize, commands: &[&str]) -> String {
    let mut text = String::new();
    for command in commands {
        let data = match command.contains("--help") {
            true => "",
            false => "--data data",
        };
        let (place, line) = (held.beside(""), format!("{command} {data}"));
        let lines = on_terminal_in(&place, columns, "NO_COLOR=1", &line);
        assert!(!lines.is_empty(), "{command} prints nothing");
        text.push_str(&format!("$ garner {command}\n"));
        for line in &lines {
            assert!(!line.contains('\u{1b}'), "{command}: {line:?}");
            let blanked = blanked(&held.blanked(line));
            text.push_str(blanked.trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// A line without the numbers of processes, the machine, free bytes and the version.
fn blanked(line: &str) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let mut line = line.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    // The beginning of the name of a temporary directory, however much of it is shown.
    while let Some(at) = line.find(".tmp") {
        let random = line[at + 4..].chars();
        let random = random.take_while(char::is_ascii_alphanumeric).count();
        line.replace_range(at..at + 4 + random, &"x".repeat(4 + random));
    }
    if let Some((before, after)) = line.split_once("process ") {
        let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
        line = format!("{before}process N{}", after.replace(host.trim(), "HOST"));
    }
    match line.starts_with("  free disk") || line.starts_with("  queue age") {
        true => line.chars().take_while(|c| !c.is_ascii_digit()).collect(),
        false => line,
    }
}

fn compare(name: &str, printed: &str) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/terminal");
    let file: PathBuf = place.join(format!("{name}.txt"));
    if std::env::var_os("SNAPSHOTS").is_some_and(|how| how == "write") {
        fs::write(&file, printed).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    let mut lines = expected.lines().zip(printed.lines());
    let first = lines.position(|(expected, printed)| expected != printed);
    assert!(
        expected == printed,
        "{} differs, first in line {first:?}:\n{printed}",
        file.display()
    );
}

#[test]
fn a_person_reads_the_same_as_in_the_snapshots() {
    let held = filled();
    // Parents that come together have their numbers in any order.
    let lists = LISTS.iter().filter(|list| **list != "parents list");
    let lists: Vec<_> = lists.copied().collect();
    for columns in [80, 200] {
        for (name, commands) in [("lists", &lists[..]), ("shown", &SHOWN), ("help", &HELP)] {
            compare(
                &format!("{name}-{columns}"),
                &printed(&held, columns, commands),
            );
        }
    }
}

#[test]
fn forty_columns_break_nothing_and_names_do_not_steer_the_terminal() {
    let held = filled();
    let sql = "UPDATE repository SET name = 'a' || char(27) || '[2J' || char(8238) || 'fdp.exe', tags = '';
        UPDATE schedule SET name = char(7) || char(155) || 'x' || char(8294) || char(10) || 'y';";
    let catalog = held.data().join("catalog.sqlite");
    let done = Command::new("sqlite3").arg(catalog).arg(sql).output();
    assert!(done.unwrap().status.success());

    for command in LISTS.iter().chain(&SHOWN) {
        for columns in [1, 40] {
            let line = format!("{command} --data {}", held.data().display());
            let lines = on_terminal(columns, "NO_COLOR=1", &line);
            assert!(!lines.is_empty(), "{command} at {columns} prints nothing");
            for line in &lines {
                assert!(!line.contains("panicked"), "{command}: {line}");
                let is_harmful = |c: char| c.is_control() || ('\u{202a}'..='\u{2069}').contains(&c);
                assert!(!line.contains(is_harmful), "{command}: {line:?}");
            }
            let is_table = lines[0].starts_with(|c: char| c.is_ascii_uppercase())
                && !lines[0].contains(char::is_lowercase);
            let widest = lines.iter().filter(|line| !line.starts_with("showing "));
            let widest = widest.map(|line| width(line)).max().unwrap_or_default();
            assert!(
                !is_table || widest <= columns,
                "{command} at {columns}: {widest}"
            );
        }
    }
}

#[test]
fn pipes_get_exact_values_between_tabs() {
    let held = filled();
    for list in LISTS
        .iter()
        .filter(|list| !["status", "search lens"].contains(list))
    {
        let arguments: Vec<_> = list.split(' ').collect();
        let lines = prints(held.garner(&arguments).output());

        let fields: Vec<_> = lines.lines().map(|line| line.split('\t').count()).collect();
        assert!(
            fields.iter().all(|count| *count > 2 && *count == fields[0]),
            "{list}: {lines}"
        );
        assert!(
            !lines.contains(" ago") && !lines.contains('…'),
            "{list}: {lines}"
        );
    }
    let document = stdout(&held.garner(&["documents", "show", "1"]).output());
    let size = document.lines().find(|line| line.starts_with("size "));
    let size = size.unwrap().trim_start_matches("size").trim();
    assert!(size.parse::<u64>().is_ok(), "{size}");
}
