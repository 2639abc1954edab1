//! Virtual hosts, user directories and extra roots.

use std::collections::BTreeSet;

use test_support::{Httpd, Mpm, get};

use super::client::Client;
use super::oracle::Oracle;
use super::site::{LOCATION, Site};

fn listed(client: &Client) -> BTreeSet<String> {
    client.identifiers().into_iter().collect()
}

#[test]
fn every_virtual_host_offers_its_own_files_under_its_own_name() {
    let mut site = Site::empty(Mpm::Event);
    for file in [
        "one/a.txt",
        "one/icons/covered.txt",
        "two/b.txt",
        "own/c.txt",
        "common/d.txt",
        "own-icons/e.txt",
    ] {
        site.beside(file);
    }
    site.conf("Alias /common/ ${ROOT}/common/\nAlias /icons/ ${ROOT}/own-icons/");
    let one = format!("DocumentRoot ${{ROOT}}/one\nAlias /own/ ${{ROOT}}/own/\n{LOCATION}");
    let two = "DocumentRoot ${ROOT}/two\nAlias /icons/ ${ROOT}/own/\nOaiRepositoryName Two\n";
    let httpd = site.httpd();
    let httpd = httpd.vhost("one.test", &one).vhost("two.test", two).start();
    let anybody = Client::anonymous(&httpd);

    for (host, files) in [
        (
            "one.test",
            vec!["/a.txt", "/own/c.txt", "/common/d.txt", "/icons/e.txt"],
        ),
        ("two.test", vec!["/b.txt", "/icons/c.txt", "/common/d.txt"]),
        // Nobody has this name, so the first virtual host answers.
        (
            "other.test",
            vec!["/a.txt", "/own/c.txt", "/common/d.txt", "/icons/e.txt"],
        ),
    ] {
        let client = anybody.clone().of_host(host);
        for file in &files {
            assert_eq!(client.get(file).status, 200, "{host}{file}");
        }
        let expected = files.iter().map(|file| client.url(file)).collect();
        assert_eq!(listed(&client), expected, "{host}");
        for file in ["/a.txt", "/b.txt", "/own/c.txt", "/icons/covered.txt"] {
            let error = client.record(&client.url(file), "oai_didl").error();
            let known = files.contains(&file);
            assert_eq!(error.is_none(), known, "{host}{file}: {error:?}");
        }
    }
    let foreign = anybody.clone().of_host("two.test");
    let error = foreign.record("http://one.test/a.txt", "oai_dc").error();
    assert_eq!(error.as_deref(), Some("idDoesNotExist"));
    let name = foreign.ask("verb=Identify").text("repositoryName");
    assert_eq!(name.as_deref(), Some("Two"));
}

#[test]
fn one_host_under_several_names_is_told_under_the_name_that_was_asked() {
    let mut site = Site::empty(Mpm::Prefork);
    site.file("a.txt", 200);
    let httpd = site.httpd();
    let httpd = httpd.vhost("one.test", "ServerAlias *.test").start();
    let anybody = Client::anonymous(&httpd);

    for host in ["one.test", "two.test", "one.test:8080"] {
        let client = anybody.clone().of_host(host);
        assert_eq!(client.identifiers(), [format!("http://{host}/a.txt")]);
        let base_url = client.ask("verb=Identify").text("baseURL").unwrap();
        assert_eq!(base_url, format!("http://{host}/modoai"));
    }
}

#[test]
fn a_configured_base_url_is_told_whatever_name_was_asked() {
    let mut site = Site::empty(Mpm::Event);
    site.file("a.txt", 200);
    site.oai("OaiBaseURL https://www.example.org/modoai");
    let httpd = site.httpd().start();

    let client = Client::anonymous(&httpd);

    assert_eq!(client.identifiers(), ["https://www.example.org/a.txt"]);
    let record = client.record("https://www.example.org/a.txt", "oai_didl");
    assert!(record.by_value().is_some());
}

#[test]
fn directories_of_users_are_found_by_a_pattern() {
    let mut site = Site::empty(Mpm::Event);
    site.module("userdir");
    site.conf("UserDir ${ROOT}/homes/*/public_html\nUserDir disabled eve");
    for user in ["ann", "bob", "eve"] {
        site.beside(&format!("homes/{user}/public_html/deep/page.html"));
        site.beside(&format!("homes/{user}/private.txt"));
        site.place(&format!("/~{user}/"), format!("homes/{user}/public_html"));
    }
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    let users = ["ann", "bob"].map(|user| client.url(&format!("/~{user}/deep/page.html")));
    assert_eq!(listed(&client), BTreeSet::from(users));
    Oracle::new(&site, client).check();
}

#[test]
fn a_list_of_users_limits_the_pattern() {
    let mut site = Site::empty(Mpm::Prefork);
    site.module("userdir");
    site.conf("UserDir ${ROOT}/homes");
    site.oai("OaiUserList ann eve");
    for user in ["ann", "bob"] {
        site.beside(&format!("homes/{user}/page.html"));
    }
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    assert_eq!(client.get("/~bob/page.html").status, 200);
    assert_eq!(client.identifiers(), [client.url("/~ann/page.html")]);
}

#[test]
fn directories_of_users_are_found_below_their_homes() {
    if !Httpd::drops_privileges() {
        eprintln!("SKIPPED: only root can give the server other users");
        return;
    }
    let mut site = Site::empty(Mpm::Prefork);
    site.module("userdir");
    site.conf("UserDir public_html");
    site.oai("OaiUserList ann bob eve");
    let homes = site.fixture.beside("homes");
    let mut users = std::fs::read_to_string("/etc/passwd").unwrap();
    for (at, user) in ["ann", "bob", "joe"].into_iter().enumerate() {
        let home = homes.join(user);
        users.push_str(&format!(
            "{user}:x:{}:1000::{}:/bin/false\n",
            2000 + at,
            home.display()
        ));
        site.beside(&format!("homes/{user}/public_html/page.html"));
    }
    let passwd = site.fixture.write_beside("passwd", users);
    // In a view of the file system of its own the server sees these users, and nobody else does.
    let mount = format!(
        "mount --bind {} /etc/passwd && exec \"$@\"",
        passwd.display()
    );
    let httpd = site
        .httpd()
        .below(&["unshare", "-m", "sh", "-c", &mount, "sh"]);
    let httpd = httpd.start();
    let client = Client::anonymous(&httpd);

    assert_eq!(client.get("/~joe/page.html").status, 200);
    let users = ["ann", "bob"].map(|user| client.url(&format!("/~{user}/page.html")));
    assert_eq!(listed(&client), BTreeSet::from(users));
}

#[test]
fn hosts_of_one_name_at_two_addresses_have_an_index_each() {
    let mut site = Site::empty(Mpm::Event);
    site.beside("one/a.txt");
    site.beside("two/b.txt");
    let host = |address: &str, directory: &str| {
        format!(
            "<VirtualHost {address}:${{PORT}}>\nServerName same.test\nDocumentRoot ${{ROOT}}/{directory}\n{LOCATION}</VirtualHost>\n"
        )
    };
    site.conf("Listen 127.0.0.2:${PORT}");
    site.conf(&host("127.0.0.1", "one"));
    site.conf(&host("127.0.0.2", "two"));
    let httpd = site.httpd().start();

    for (address, file) in [("127.0.0.1", "a.txt"), ("127.0.0.2", "b.txt")] {
        let host = format!("http://{address}:{}", httpd.port());
        let list = format!("{host}/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc");
        for _ in 0..2 {
            let answer = get(&list).text();
            assert!(answer.contains(&format!("{host}/{file}<")), "{answer}");
            assert_eq!(answer.matches("<header").count(), 1, "{answer}");
        }
    }
}
