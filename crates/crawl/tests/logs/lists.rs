//! Lists: files with URLs, files alone, and the list of PubMed Central.

use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime};
use std::{ffi, fs};

use crawl::LogFormat;

use crate::support::Crawl;

#[test]
fn a_list_has_tabs_or_commas() {
    let crawl = Crawl::new()
        .with_file("a.pdf", "a")
        .with_file("d/b, c.pdf", "b")
        .with_line("# file, URL, parent, date")
        .with_line("a.pdf\thttp://h/a.pdf\thttp://h/\t2012-05-06T07:08:09Z")
        .with_line("\"d/b, c.pdf\",http://h/b.pdf,,2012-05-06")
        .with_line("")
        .with_line("no-url.pdf");

    let seen = crawl.read_as(LogFormat::named("list").unwrap());

    assert_eq!(
        seen.bodies(),
        [("http://h/a.pdf", "a"), ("http://h/b.pdf", "b")]
    );
    let (first, _) = &seen.captures[0];
    assert_eq!(
        (first.parent.as_deref(), first.crawled),
        (Some("http://h/"), Some(1_336_288_089))
    );
    let (second, _) = &seen.captures[1];
    assert_eq!(
        (second.parent.as_deref(), second.crawled),
        (None, Some(1_336_262_400))
    );
    assert_eq!(seen.skipped.len(), 1);
    assert_eq!(
        seen.skipped[0].reason,
        "the line cannot be read: it has no URL"
    );
}

#[test]
fn a_file_may_have_several_urls_and_its_own_date() {
    let crawl = Crawl::new()
        .with_file("a.pdf", "a")
        .with_line("a.pdf\thttp://h/1")
        .with_line("a.pdf\thttp://h/2");
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = fs::File::options()
        .append(true)
        .open(crawl.root().join("a.pdf"))
        .unwrap();
    file.set_modified(modified).unwrap();

    let seen = crawl.read_as(LogFormat::named("list").unwrap());

    assert_eq!(seen.bodies(), [("http://h/1", "a"), ("http://h/2", "a")]);
    assert!(
        seen.captures
            .iter()
            .all(|(capture, _)| capture.crawled == Some(1_000_000_000))
    );
}

#[test]
fn downloads_have_a_base_url_and_a_date_for_all() {
    let format = r#"
        based_on = "ftp-list"
        [values]
        url = "ftp://ftp.example.org/pub/{file}"
        date = "2012-01-02"
        depth = 1
    "#;
    let crawl = Crawl::new()
        .with_file("x/a b.ps", "ps")
        .with_line("./x/a b.ps")
        .with_line("x/missing.ps");

    let seen = crawl.read_as(LogFormat::parse(format).unwrap());

    assert_eq!(
        seen.bodies(),
        [
            ("ftp://ftp.example.org/pub/./x/a%20b.ps", "ps"),
            ("ftp://ftp.example.org/pub/x/missing.ps", "not found")
        ]
    );
    let (capture, _) = &seen.captures[1];
    assert_eq!(
        capture.parent.as_deref(),
        Some("ftp://ftp.example.org/pub/x/")
    );
    assert_eq!(
        (capture.crawled, capture.depth),
        (Some(1_325_462_400), Some(1))
    );
}

#[test]
fn strange_names_of_downloads_are_taken_as_they_are() {
    let format = "based_on = 'ftp-list'\ncomment = ''\n[values]\nurl = 'ftp://h/{file}'\ndate = '2012-01-02'";
    let crawl = Crawl::new()
        .with_file("#1 ", "number")
        .with_file(" a%20b", "escape")
        .with_line("#1 ")
        .with_line(" a%20b");

    let seen = crawl.read_as(LogFormat::parse(format).unwrap());

    assert_eq!(
        seen.bodies(),
        [
            ("ftp://h/%231%20", "number"),
            ("ftp://h/%20a%2520b", "escape")
        ]
    );
}

#[test]
fn the_list_of_pubmed_central_is_known() {
    let crawl = Crawl::new()
        .with_file("oa_package/08/e0/PMC13900.tar.gz", "package")
        .with_line("File,Article Citation,Accession ID,Last Updated (YYYY-MM-DD HH:MM:SS),PMID,License")
        .with_line("oa_package/08/e0/PMC13900.tar.gz,\"Breast Cancer Res. 2001 Nov 2; 3(1):55-60\",PMC13900,2019-11-05 11:56:12,11250746,NO-CC CODE");

    let seen = crawl.read_as(LogFormat::named("pmc").unwrap());

    let url = "https://ftp.ncbi.nlm.nih.gov/pub/pmc/oa_package/08/e0/PMC13900.tar.gz";
    assert_eq!(seen.bodies(), [(url, "package")]);
    let (capture, _) = &seen.captures[0];
    assert_eq!(
        capture.parent.as_deref(),
        Some("https://ftp.ncbi.nlm.nih.gov/pub/pmc/oa_package/08/e0/")
    );
    assert_eq!(
        (capture.depth, capture.crawled),
        (Some(3), Some(1_572_954_972))
    );
    assert_eq!(seen.skipped, []);
}

#[test]
fn whole_paths_are_taken_if_they_lead_below_the_root() {
    let mut crawl = Crawl::new()
        .with_file("a.pdf", "a")
        .with_file("../secret", "outside");
    for path in [
        crawl.root().join("a.pdf"),
        crawl.directory.path().join("secret"),
        crawl.root().join("../secret"),
    ] {
        crawl = crawl.with_line(&format!("{}\thttp://h/{}", path.display(), path.display()));
    }
    crawl = crawl
        .with_line("../secret\thttp://h/x")
        .with_line("/etc/passwd\thttp://h/y");

    let seen = crawl.read_as(LogFormat::named("list").unwrap());

    let bodies: Vec<&str> = seen.bodies().iter().map(|(_, body)| *body).collect();
    assert_eq!(
        bodies,
        ["a", "not found", "not found", "not found", "not found"]
    );
}

#[test]
fn names_need_not_be_utf_8() {
    let mut crawl = Crawl::new();
    fs::create_dir_all(crawl.root()).unwrap();
    let name = ffi::OsStr::from_bytes(b"caf\xE9.pdf");
    fs::write(crawl.root().join(name), "latin").unwrap();
    crawl.log.extend(b"caf\xE9.pdf\thttp://h/caf\xE9.pdf\n");

    let seen = crawl.read_as(LogFormat::named("list").unwrap());

    assert_eq!(seen.bodies(), [("http://h/caf%E9.pdf", "latin")]);
}
