//! Passwords that are slow to check.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use test_support::{Answer, Mpm};

use super::client::Client;
use super::site::Site;

/// The password of `reader` is `right`; to check it takes about 60 ms.
const BCRYPT: &str = "reader:$2y$10$.RBavi61mfMmJHTCgNAKcOj8g5zIS1A4Fnx3UN1mSdOV9.TDlzrgC\n";

/// A site whose passwords are checked for each file, because they are in a database.
fn slow_site(mpm: Mpm) -> Site {
    let mut site = quick_site(mpm);
    site.module("authn_dbm");
    let database = site.fixture.beside("database");
    let made = Command::new("htdbm")
        .args(["-c", "-b", "-B", "-C", "10", "-TSDBM"])
        .arg(&database)
        .args(["reader", "right"])
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    site.htaccess(
        "slow",
        &format!(
            "AuthType Basic\nAuthName slow\nAuthBasicProvider dbm\nAuthDBMType SDBM\nAuthDBMUserFile {}\n\
             Require valid-user",
            database.display()
        ),
    );
    site
}

/// A site whose passwords are in a file.
fn quick_site(mpm: Mpm) -> Site {
    let mut site = Site::empty(mpm);
    let passwords = site.fixture.write_beside("passwords", BCRYPT);
    site.protect("slow", &passwords, "Require valid-user");
    for number in 0..60 {
        site.file(&format!("slow/{number}.txt"), 401);
    }
    site
}

#[test]
fn a_page_ends_when_its_lookups_are_used_up_and_the_tokens_lead_to_all() {
    let mut site = slow_site(Mpm::Event);
    site.oai("OaiPageLimit lookups 20");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd).with_password("reader", "right");

    let pages = client.pages("ListIdentifiers", "metadataPrefix=oai_dc");

    assert!(pages.len() >= 3, "{} pages", pages.len());
    let found: BTreeSet<_> = pages.iter().flat_map(Answer::identifiers).collect();
    assert_eq!(found.len(), 60);
    for page in &pages {
        assert!((1..=40).contains(&page.headers().len()));
    }
}

#[test]
fn a_page_takes_no_longer_than_it_may() {
    let mut site = slow_site(Mpm::Prefork);
    site.oai("OaiPageLimit seconds 3");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd).with_password("reader", "right");

    let (mut found, mut pages) = (BTreeSet::new(), 0);
    let mut query = "verb=ListIdentifiers&metadataPrefix=oai_dc".to_owned();
    loop {
        let began = Instant::now();
        let page = client.ask(&query);
        // Three seconds, and what the part of the list takes that was being asked for.
        assert!(began.elapsed() < Duration::from_secs(30));
        found.extend(page.identifiers());
        pages += 1;
        match page.token() {
            Some(token) => query = format!("verb=ListIdentifiers&resumptionToken={token}"),
            None => break,
        }
    }

    assert_eq!(found.len(), 60);
    // All together take about four seconds, and no page is to throw away what it has found out.
    assert!(pages < 15, "{pages} pages");
}

#[test]
fn those_without_the_password_are_refused_quickly() {
    let mut site = slow_site(Mpm::Event);
    site.file("open.txt", 200);
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    let began = Instant::now();
    assert_eq!(client.identifiers(), [client.url("/open.txt")]);

    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_password_is_checked_once_an_answer_where_it_is_in_a_file() {
    let site = quick_site(Mpm::Event);
    let httpd = site.httpd().start();
    let (right, wrong) = (
        Client::anonymous(&httpd).with_password("reader", "right"),
        Client::anonymous(&httpd).with_password("reader", "wrong"),
    );
    let _ = right.identifiers();

    let before = httpd.cpu_seconds();
    assert_eq!(right.identifiers().len(), 60);
    assert!(wrong.identifiers().is_empty());
    let used = httpd.cpu_seconds() - before;

    // One by one it would be about seven seconds.
    assert!(used < 1.5, "{used} seconds");
}

#[test]
fn what_one_password_file_says_does_not_count_for_another() {
    let mut site = quick_site(Mpm::Prefork);
    let others = site
        .fixture
        .write_beside("others", BCRYPT.replace("reader", "somebody"));
    site.protect("others", &others, "Require valid-user");
    site.htaccess("slow/chosen", "Require user somebody");
    site.file("others/secret.txt", 401);
    site.file("slow/chosen/secret.txt", 401);
    let httpd = site.httpd().start();

    let reader = Client::anonymous(&httpd).with_password("reader", "right");
    let somebody = Client::anonymous(&httpd).with_password("somebody", "right");

    assert_eq!(reader.get("/slow/0.txt").status, 200);
    assert_eq!(reader.get("/others/secret.txt").status, 401);
    assert_eq!(reader.get("/slow/chosen/secret.txt").status, 401);
    let found = reader.identifiers();
    assert_eq!(found.len(), 60);
    assert!(!found.iter().any(|identifier| identifier.contains("secret")));
    assert_eq!(somebody.identifiers(), [somebody.url("/others/secret.txt")]);
}
