//! The index: shared by all workers, it survives restarts and kills, and it keeps what is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;

use test_support::{Answer, Header, Httpd, Mpm, wait_until};

use super::client::Client;
use super::site::Site;

/// A small site whose files are looked at on each request.
fn watched(mpm: Mpm) -> Site {
    let mut site = Site::empty(mpm);
    site.oai("OaiFreshness 0");
    for number in 0..20 {
        let path = format!("{number}.txt");
        site.file(&path, 200);
        site.fixture.set_mtime(&path, 1_000_000_000 + number);
    }
    site
}

/// All headers by identifier.
fn headers(client: &Client) -> BTreeMap<String, Header> {
    let pages = client.pages("ListIdentifiers", "metadataPrefix=oai_dc");
    let all = pages.iter().flat_map(Answer::headers);
    all.map(|header| (header.identifier.clone(), header))
        .collect()
}

#[test]
fn changes_are_told_at_once_if_so_configured() {
    for mpm in Mpm::ALL {
        let site = watched(mpm);
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        let before = headers(&client);
        assert_eq!(before.len(), 20);

        site.fixture.write("new.txt", "new");
        site.fixture.write("1.txt", "changed");
        fs::remove_file(site.fixture.path("2.txt")).unwrap();
        let after = headers(&client);

        assert_eq!(after.len(), 21);
        assert!(!after[&client.url("/new.txt")].deleted);
        let changed = client.url("/1.txt");
        assert!(after[&changed].datestamp > before[&changed].datestamp);
        let gone = client.url("/2.txt");
        assert!(after[&gone].deleted);
        assert!(after[&gone].datestamp > before[&gone].datestamp);
        let record = client.record(&gone, "oai_didl");
        assert_eq!(record.headers(), [after[&gone].clone()]);
        for untouched in ["/3.txt", "/4.txt"] {
            let identifier = client.url(untouched);
            assert_eq!(after[&identifier], before[&identifier]);
        }
    }
}

#[test]
fn an_index_that_is_fresh_enough_is_not_made_again() {
    let mut site = watched(Mpm::Event);
    site.oai("OaiFreshness 3600");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    assert_eq!(headers(&client).len(), 20);

    site.fixture.write("new.txt", "new");
    fs::remove_file(site.fixture.path("2.txt")).unwrap();
    let after = headers(&client);

    assert!(!after.contains_key(&client.url("/new.txt")));
    // A GET would not give it any more, whatever the index says.
    let gone = after.get(&client.url("/2.txt"));
    assert!(gone.is_none_or(|header| header.deleted));
}

#[test]
fn changes_are_told_when_the_time_has_passed() {
    let mut site = watched(Mpm::Event);
    site.oai("OaiFreshness 1");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    assert_eq!(headers(&client).len(), 20);

    site.fixture.write("new.txt", "new");

    wait_until("the new file is told", || headers(&client).len() == 21);
}

/// The first page looked; what changes since is told to who comes back, not to who goes on.
#[test]
fn a_list_that_goes_on_does_not_look_at_the_files_again() {
    let mut site = watched(Mpm::Event);
    site.oai("OaiPageLimit identifiers 15");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    let before = headers(&client);
    let first = client.ask("verb=ListIdentifiers&metadataPrefix=oai_dc");
    let began = first.text("responseDate").unwrap();

    site.fixture.write("19.txt", "changed");
    site.fixture.write("new.txt", "new");
    let token = first.token().unwrap();
    let second = client.ask(&format!("verb=ListIdentifiers&resumptionToken={token}"));

    let changed = client.url("/19.txt");
    let last: Vec<_> = (15..20).map(|number| format!("/{number}.txt")).collect();
    let last: Vec<_> = last
        .iter()
        .map(|path| before[&client.url(path)].clone())
        .collect();
    assert_eq!(second.headers(), last);
    let update = client.ask(&format!(
        "verb=ListIdentifiers&metadataPrefix=oai_dc&from={began}"
    ));
    let told: BTreeSet<_> = update
        .headers()
        .into_iter()
        .map(|header| header.identifier)
        .collect();
    assert_eq!(told, BTreeSet::from([changed, client.url("/new.txt")]));
}

#[test]
fn all_workers_share_one_index() {
    for mpm in Mpm::ALL {
        let site = watched(mpm);
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        let mut last = String::new();

        for round in 0..5 {
            site.fixture.write("0.txt", vec![b'x'; round + 1]);
            // Enough at once that several workers answer.
            let seen = thread::scope(|scope| {
                let asking = || headers(&client);
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(asking)).collect();
                let answers = threads.into_iter().map(|thread| thread.join().unwrap());
                answers.collect::<Vec<_>>()
            });
            for answer in &seen {
                assert_eq!(*answer, seen[0], "{mpm:?}");
            }
            let datestamp = &seen[0][&client.url("/0.txt")].datestamp;
            assert!(*datestamp >= last, "{datestamp} after {last}");
            last.clone_from(datestamp);
        }
    }
}

#[test]
fn datestamps_and_tombstones_survive_restarts_and_kills() {
    for mpm in Mpm::ALL {
        let site = watched(mpm);
        let mut httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        headers(&client);
        fs::remove_file(site.fixture.path("2.txt")).unwrap();
        site.fixture.write("new.txt", "new");
        let before = headers(&client);
        assert!(before[&client.url("/2.txt")].deleted);

        type Harm = fn(&mut Httpd);
        let harms: [(&str, Harm); 5] = [
            ("graceful", |httpd| httpd.graceful()),
            ("restart", |httpd| httpd.restart()),
            ("killed workers", |httpd| httpd.kill_children()),
            ("stopped", |httpd| {
                httpd.stop();
                httpd.start();
            }),
            ("killed", |httpd| {
                httpd.kill9();
                httpd.start();
            }),
        ];
        for (name, harm) in harms {
            harm(&mut httpd);
            assert_eq!(headers(&client), before, "{mpm:?}: {name}");
        }
    }
}

#[test]
fn what_changes_while_the_server_is_away_is_told_later() {
    for mpm in Mpm::ALL {
        let site = watched(mpm);
        let mut httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        let before = headers(&client);
        let from = client.ask("verb=Identify").text("responseDate").unwrap();

        httpd.kill9();
        site.fixture.write("new.txt", "new");
        site.fixture.set_mtime("new.txt", 1_000_000_000);
        fs::remove_file(site.fixture.path("2.txt")).unwrap();
        httpd.start();

        let arguments = format!("metadataPrefix=oai_dc&from={from}");
        let pages = client.pages("ListIdentifiers", &arguments);
        let told: Vec<_> = pages.iter().flat_map(Answer::headers).collect();
        let state = |path: &str| {
            let identifier = client.url(path);
            let header = told.iter().find(|header| header.identifier == identifier);
            header.map(|header| header.deleted)
        };
        assert_eq!(state("/new.txt"), Some(false), "{mpm:?}");
        assert_eq!(state("/2.txt"), Some(true), "{mpm:?}");
        assert_eq!(before.len(), 20);
    }
}

#[test]
fn files_of_an_alias_that_is_gone_become_tombstones() {
    let site = watched(Mpm::Event);
    site.fixture.write_beside("icons/a.png", "a");
    let alias = "Alias /icons/ ${ROOT}/icons/";
    let httpd = site.httpd().conf(alias).start();
    let port = httpd.port();
    let client = Client::anonymous(&httpd);
    let icon = client.url("/icons/a.png");
    assert!(!headers(&client)[&icon].deleted);

    drop(httpd);
    let httpd = site.httpd().port(port).start();
    let client = Client::anonymous(&httpd);

    assert!(headers(&client)[&icon].deleted);
    drop(httpd);
    let httpd = site.httpd().conf(alias).port(port).start();
    let client = Client::anonymous(&httpd);
    assert!(!headers(&client)[&icon].deleted);
}

#[test]
fn tombstones_are_told_to_those_only_who_could_see_the_item() {
    let mut site = watched(Mpm::Event);
    let passwords = site
        .fixture
        .write_beside("passwords", super::cases::PASSWORDS);
    site.protect("auth", &passwords, "Require valid-user");
    site.file("auth/secret.txt", 401);
    site.file("auth/kept.txt", 401);
    let httpd = site.httpd().start();
    let anybody = Client::anonymous(&httpd);
    let reader = anybody.clone().with_password("reader", "right");
    assert_eq!((headers(&anybody).len(), headers(&reader).len()), (20, 22));

    fs::remove_file(site.fixture.path("auth/secret.txt")).unwrap();

    let secret = reader.url("/auth/secret.txt");
    assert!(headers(&reader)[&secret].deleted);
    assert!(!headers(&anybody).contains_key(&secret));
    let error = anybody.record(&secret, "oai_dc").error();
    assert_eq!(error.as_deref(), Some("idDoesNotExist"));
}
