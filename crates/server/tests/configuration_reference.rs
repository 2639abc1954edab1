//! Keeps `docs/reference/configuration.md` true: it names every key of the configuration and no other, and what it
//! shows can be read.

use std::collections::{BTreeMap, BTreeSet};

use server::Config;

const PAGE: &str = include_str!("../../../docs/reference/configuration.md");

#[test]
fn the_reference_names_every_section_and_no_other() {
    let documented: BTreeSet<_> = sections().keys().map(|heading| name_of(heading)).collect();

    assert_eq!(documented, known_keys(""));
}

#[test]
fn the_reference_names_every_key_and_no_other() {
    for (heading, text) in sections() {
        assert_eq!(documented_keys(text), known_keys(&heading), "{heading}");
    }
}

#[test]
fn every_key_has_an_example() {
    for (heading, text) in sections() {
        let example = toml_blocks(text).concat();
        for key in known_keys(&heading) {
            let shown = example
                .lines()
                .any(|line| line.starts_with(&format!("{key} = ")));
            assert!(shown, "{heading}: no example of `{key}`");
        }
    }
}

#[test]
fn every_example_can_be_read() {
    let sections = sections();
    let blocks: Vec<_> = sections
        .values()
        .flat_map(|text| toml_blocks(text))
        .collect();

    assert!(blocks.len() >= sections.len());
    for block in blocks {
        if let Err(error) = Config::parse(&block) {
            panic!("{error}\n{block}");
        }
    }
}

/// The text of each section under its heading as TOML writes it, such as `[server]` or `[[area]]`.
fn sections() -> BTreeMap<String, &'static str> {
    let parts = PAGE.split("\n## ").skip(1);
    // Headings without a table are prose, and the log is that of the whole program.
    let parts = parts.filter(|part| part.starts_with("`[") && !part.starts_with("`[log]"));
    let sections = parts.map(|part| {
        let (heading, text) = part.split_once('\n').expect("a heading is a line");
        (heading.trim_matches('`').to_owned(), text)
    });
    sections.collect()
}

fn name_of(heading: &str) -> String {
    heading.trim_matches(['[', ']']).to_owned()
}

/// The keys in the first column of a section's table.
fn documented_keys(text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let keys = rows.filter_map(|row| row.split('`').next());
    keys.map(str::to_owned).collect()
}

/// The keys that a section may have, as the error about one that it may not have lists them.
fn known_keys(heading: &str) -> BTreeSet<String> {
    let error = Config::parse(&format!("{heading}\nzzzzzz = 1\n"))
        .expect_err("there is no such key")
        .to_string();
    let (_, expected) = error
        .split_once("unknown field `zzzzzz`, expected ")
        .unwrap_or_else(|| panic!("{heading}: {error}"));
    let keys = expected.split('`').skip(1).step_by(2);
    keys.map(str::to_owned).collect()
}

fn toml_blocks(text: &str) -> Vec<String> {
    let blocks = text.split("```toml\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split_once("```"));
    blocks.map(|(block, _)| block.to_owned()).collect()
}
