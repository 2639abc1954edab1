//! A harvester that comes back is told of every change, also of those that no file tells of.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use test_support::Mpm;

use super::client::Client;
use super::site::Site;

/// A harvester that comes again and again, and whether it takes each item for present.
struct Harvester {
    client: Client,
    known: BTreeMap<String, bool>,
    from: Option<String>,
}

impl Harvester {
    fn new(client: Client) -> Self {
        Self {
            client,
            known: BTreeMap::new(),
            from: None,
        }
    }

    /// Harvests what changed; returns the identifiers that were told.
    fn harvest(&mut self) -> Vec<String> {
        let from = self.from.as_ref().map(|from| format!("&from={from}"));
        let query = format!(
            "verb=ListIdentifiers&metadataPrefix=oai_dc{}",
            from.unwrap_or_default()
        );
        let answer = self.client.ask(&query);
        self.from = Some(answer.text("responseDate").unwrap());
        let headers = answer.headers();
        for header in &headers {
            self.known
                .insert(header.identifier.clone(), !header.deleted);
        }
        headers
            .into_iter()
            .map(|header| header.identifier)
            .collect()
    }

    /// The items that this harvester takes for present, by path.
    fn mirror(&self) -> Vec<&str> {
        let there = self.known.iter().filter(|(_, there)| **there);
        let site = self.client.url("");
        there.map(|(url, _)| &url[site.len()..]).collect()
    }
}

/// Datestamps have seconds: what happens within one of them is told twice at the most.
fn next_second() {
    thread::sleep(Duration::from_millis(1100));
}

fn deny(directory: &Path, denied: bool) {
    let rules = directory.join(".htaccess");
    match denied {
        true => fs::write(&rules, "Require all denied\n").unwrap(),
        false => fs::remove_file(&rules).unwrap(),
    }
}

#[test]
fn what_turns_and_turns_back_between_two_looks_is_told() {
    let mut site = Site::empty(Mpm::Event);
    site.oai("OaiFreshness 4");
    site.file("open.txt", 200);
    let directory = site.file("d/a.txt", 200);
    let directory = directory.parent().unwrap().to_owned();
    let httpd = site.httpd().start();
    let mut first = Harvester::new(Client::anonymous(&httpd));
    first.harvest();
    assert_eq!(first.mirror(), ["/d/a.txt", "/open.txt"]);

    deny(&directory, true);
    let mut second = Harvester::new(Client::anonymous(&httpd));
    second.harvest();
    assert_eq!(second.mirror(), ["/open.txt"]);
    deny(&directory, false);
    thread::sleep(Duration::from_secs(5));

    for harvester in [&mut first, &mut second] {
        harvester.harvest();
        next_second();
        harvester.harvest();
        assert_eq!(harvester.mirror(), ["/d/a.txt", "/open.txt"]);
    }
}

#[test]
fn rules_for_those_with_passwords_are_told_to_them() {
    let mut site = Site::empty(Mpm::Prefork);
    site.oai("OaiFreshness 0");
    let passwords = site.fixture.write_beside("people", people());
    site.protect("d", &passwords, "Require user bob");
    site.file("d/a.txt", 401);
    site.file("open.txt", 200);
    let httpd = site.httpd().start();
    let mut alice = Harvester::new(Client::anonymous(&httpd).with_password("alice", "right"));
    alice.harvest();
    assert_eq!(alice.mirror(), ["/open.txt"]);

    next_second();
    site.protect("d", &passwords, "Require valid-user");
    alice.harvest();
    assert_eq!(alice.mirror(), ["/d/a.txt", "/open.txt"]);

    next_second();
    site.protect("d", &passwords, "Require user bob");
    alice.harvest();
    assert_eq!(alice.mirror(), ["/open.txt"]);
}

#[test]
fn a_version_that_was_given_and_taken_back_is_told() {
    let mut site = Site::empty(Mpm::Event);
    site.oai("OaiFreshness 3");
    site.beside("one/a.txt");
    site.beside("two/a.txt");
    let (one, two) = (site.fixture.beside("one"), site.fixture.beside("two"));
    let link = site.fixture.beside("release");
    symlink(&one, &link).unwrap();
    site.conf("Alias /release/ ${ROOT}/release/");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    let mut harvester = Harvester::new(client.clone());
    harvester.harvest();
    let switch = |to: &Path| {
        let beside = link.with_extension("new");
        symlink(to, &beside).unwrap();
        fs::rename(&beside, &link).unwrap();
    };

    switch(&two);
    let given = client.record(&client.url("/release/a.txt"), "oai_didl");
    assert!(given.error().is_none());
    switch(&one);
    thread::sleep(Duration::from_secs(4));

    assert_eq!(harvester.harvest(), [client.url("/release/a.txt")]);
}

#[test]
fn a_file_that_is_written_all_the_time_is_there_all_the_same() {
    let mut site = Site::empty(Mpm::Event);
    site.oai("OaiFreshness 300");
    site.file("open.txt", 200);
    let log = site.fixture.path("log.txt");
    let stop = Arc::new(AtomicBool::new(false));
    let writing = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(Ordering::Relaxed) {
                fs::write(&log, format!("{:?}\n", std::time::Instant::now())).unwrap();
                thread::sleep(Duration::from_millis(3));
            }
        }
    });
    thread::sleep(Duration::from_millis(50));
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    let mut found = client.identifiers();
    found.sort();
    stop.store(true, Ordering::Relaxed);
    writing.join().unwrap();

    assert_eq!(found, [client.url("/log.txt"), client.url("/open.txt")]);
}

/// Two people, with the password `right`.
fn people() -> String {
    ["alice", "bob"]
        .map(|user| format!("{user}:{{SHA}}0nofEXcSAJSXFLGvmfBIpBb11vQ=\n"))
        .concat()
}
