//! Formats that are described in TOML.

use std::fs;
use std::path::Path;

use crawl::LogFormat;

use crate::support::{Crawl, sample};

/// The examples of the page about log formats.
fn documented() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/log-formats.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```toml\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_documented_formats_can_be_used() {
    let examples = documented();

    assert!(examples.len() >= 3);
    for example in examples {
        if let Err(error) = LogFormat::parse(&example) {
            panic!("{error}\n{example}");
        }
    }
}

#[test]
fn the_documented_example_reads_its_lines() {
    let crawl = Crawl::new()
        .with_file("2012/paper.pdf", "paper")
        .with_line("06/May/2012:07:08:09 +0000 200 http://www.example.edu/~tom/paper.pdf <- http://www.example.edu/~tom/ (application/pdf) 2012/paper.pdf")
        .with_line("06/May/2012:07:08:10 +0000 404 http://www.example.edu/gone <- http://www.example.edu/ (text/html) -");

    let seen = crawl.read_as(LogFormat::parse(&documented()[0]).unwrap());

    assert_eq!(
        seen.bodies(),
        [("http://www.example.edu/~tom/paper.pdf", "paper")]
    );
    let (capture, _) = &seen.captures[0];
    assert_eq!(
        capture.parent.as_deref(),
        Some("http://www.example.edu/~tom/")
    );
    assert_eq!(capture.crawled, Some(1_336_288_089));
    assert_eq!(capture.declared.as_deref(), Some("application/pdf"));
}

#[test]
fn heritrix_described_in_toml_is_heritrix() {
    let described = documented()
        .into_iter()
        .find(|example| example.contains("path_from_seed"))
        .unwrap();
    let described = LogFormat::parse(&described).unwrap();
    for name in ["heritrix-2006-crawl.log", "heritrix-short-crawl.log"] {
        let Some(sample) = sample(name) else { return };
        let mut crawl = Crawl::new();
        crawl.log = fs::read(sample).unwrap();

        let by_hand = crawl.read();
        let by_pattern = crawl.read_as(described.clone());

        assert!(by_hand.captures.len() > 10);
        assert_eq!(by_hand.captures, by_pattern.captures);
        assert_eq!(by_hand.late, by_pattern.late);
        assert_eq!(by_hand.skipped.len(), by_pattern.skipped.len());
    }
}

#[test]
fn paths_can_be_made_of_urls() {
    let format = r#"
        line = '^(?<url>\S+)$'
        path = "files/{host}/{path}"
        [values]
        date = "2000-01-01"
    "#;
    let crawl = Crawl::new()
        .with_file("files/h/a/b.pdf", "b")
        .with_file("files/h/c d", "decoded")
        .with_line("http://h/a/b.pdf?x")
        .with_line("http://h/c%20d")
        .with_line("http://h/../../secret");

    let seen = crawl.read_as(LogFormat::parse(format).unwrap());

    let bodies: Vec<&str> = seen.bodies().iter().map(|(_, body)| *body).collect();
    assert_eq!(bodies, ["b", "decoded", "not found"]);
}

#[test]
fn formats_that_cannot_work_are_refused_with_a_remedy() {
    for (toml, reason) in [
        ("", "it lacks `line`, a pattern, or `columns`, a list"),
        ("line = '('", "the pattern of `line` cannot be used"),
        (
            "line = '(?<urll>x)'",
            "the field `urll` is not known; there are url, parent,",
        ),
        ("columns = [\"file\"]", "it has no `url`"),
        (
            "columns = [\"url\"]",
            "it has no `file`; name it, or let `path` be \"mirror\" or a template",
        ),
        (
            "columns = [\"url\", \"file\"]\nline = 'x'",
            "it has both `line` and `columns`",
        ),
        (
            "columns = [\"url\", \"file\"]\nseparator = \";\"",
            "the separator `;` is not known",
        ),
        (
            "columns = [\"url\"]\npath = \"mirrored\"",
            "`path` is `mirrored`",
        ),
        (
            "columns = [\"url\"]\npath = \"{hots}\"",
            "`{hots}` is not known",
        ),
        (
            "columns = [\"url\"]\npath = \"mirror\"\nstatuses = [\"2xx\"]",
            "the statuses `2xx` cannot be read",
        ),
        (
            "columns = [\"url\"]\npath = \"mirror\"\ndate = \"%!\"",
            "the date format `%!` cannot be used",
        ),
        ("colums = []", "unknown field `colums`"),
        (
            "based_on = \"heritrix4\"",
            "there is none called `heritrix4`, but heritrix, list, ftp-list, pmc",
        ),
        (
            "columns = [\"file\"]\n[values]\nurl = \"{host}\"",
            "the value of `url` cannot be made of parts of the URL",
        ),
    ] {
        let error = LogFormat::parse(toml).unwrap_err().to_string();
        assert!(
            error.starts_with("the log format cannot be used: "),
            "{error}"
        );
        assert!(error.contains(reason), "{error}\n{reason}");
    }
    let huge = format!("line = '(?<url>.{{{}}})'", "1000}{1000}{1000");
    assert!(LogFormat::parse(&huge).is_err());
    assert!(LogFormat::named("heritrix").is_ok());
}
