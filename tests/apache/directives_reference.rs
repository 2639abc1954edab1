//! Keeps `docs/reference/apache.md` true: it names every directive of the module and no other, says where each may
//! stand, and what it shows is accepted.

use std::collections::{BTreeMap, BTreeSet};

use test_support::{Fixture, Httpd};

const PAGE: &str = include_str!("../../docs/reference/apache.md");
const TABLE: &str = include_str!("../../crates/apache-module/src/config/directives/mod.rs");

#[test]
fn the_reference_names_every_directive_and_no_other() {
    let documented: BTreeSet<_> = sections().into_keys().collect();

    let known = directives().into_keys().collect();
    assert_eq!(documented, known);
}

#[test]
fn every_directive_is_described_in_the_same_way() {
    let directives = directives();
    for (name, text) in sections() {
        let syntax = field(text, "Syntax").unwrap_or_default();
        assert!(syntax.starts_with(&format!("`{name} ")), "{name}: {syntax}");
        assert!(field(text, "Default").is_some(), "{name} has no default");
        let context = field(text, "Context").unwrap_or_default();
        let contexts = directives.get(name).copied().unwrap_or_default();
        let on_servers = context.starts_with("server config, virtual host");
        assert_eq!(on_servers, contexts != "AUTHENTICATION", "{name}");
        let in_directories = contexts != "SERVER";
        let in_htaccess = in_directories && contexts != "DIRECTORY";
        assert_eq!(context.contains("directory"), in_directories, "{name}");
        assert_eq!(context.contains(".htaccess"), in_htaccess, "{name}");
    }
}

#[test]
fn every_directive_has_an_example_that_is_accepted() {
    let fixture = Fixture::small();
    for (name, text) in sections() {
        let example = example(text).unwrap_or_else(|| panic!("{name} has no example"));
        let shown = example.lines().any(|line| {
            let words = line.trim_start().strip_prefix(name);
            words.is_some_and(|words| words.starts_with(' '))
        });
        assert!(shown, "{name} is not in its example");

        let httpd = Httpd::of(&fixture)
            .modules(&["userdir", "actions", "ssl", "filter", "deflate"])
            .conf(example);
        let (right, said) = httpd.config_test();

        assert!(right, "{name}: {said}");
    }
}

#[test]
fn the_configuration_that_is_installed_is_accepted_with_all_its_examples() {
    let installed = include_str!("../../contrib/apache/oai.conf");
    let fixture = Fixture::small();
    // A directive that is commented out has no blank behind the sign; prose has.
    let all = installed
        .lines()
        .map(|line| match line.trim_start().strip_prefix('#') {
            Some(directive) if !directive.starts_with(' ') => directive,
            _ => line,
        });
    let all: Vec<_> = all.collect();

    for conf in [installed, &all.join("\n")] {
        let (right, said) = Httpd::of(&fixture).conf(conf).config_test();
        assert!(right, "{said}\n{conf}");
    }
    let examples = all.iter().filter(|line| line.starts_with("Oai")).count();
    assert!(examples > 5, "{examples} examples");
}

/// The directives that the module registers, each with the name of its contexts.
fn directives() -> BTreeMap<&'static str, &'static str> {
    let (_, table) = TABLE.split_once("static DIRECTIVES").unwrap();
    let (table, _) = table.split_once("END,").unwrap();
    let entries = table.split('(').filter_map(|entry| {
        let (name, rest) = entry.trim_start().strip_prefix("c\"")?.split_once('"')?;
        let contexts = rest.strip_prefix(',')?.trim_start();
        let end = contexts.find([',', ')'])?;
        Some((name, &contexts[..end]))
    });
    entries.collect()
}

/// The text of each section under the directive that it is about.
fn sections() -> BTreeMap<&'static str, &'static str> {
    let parts = PAGE.split("\n### `").skip(1);
    let sections = parts.map(|part| part.split_once("`\n").unwrap());
    sections.collect()
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let label = format!("- {name}: ");
    text.lines().find_map(|line| line.strip_prefix(&label))
}

fn example(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```apache\n")?;
    let (example, _) = rest.split_once("```")?;
    Some(example)
}
