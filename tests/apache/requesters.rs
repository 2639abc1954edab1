//! Requesters: internal requests carry the requester's own headers and credentials, and nothing else.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

use test_support::Mpm;

use super::client::{Client, Protocol};
use super::site::Site;

#[test]
fn who_comes_through_a_proxy_is_told_what_a_get_through_it_would_give() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.module("remoteip");
        site.conf("RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1");
        site.htaccess("lan", "Require ip 127.0.0.1");
        site.htaccess("friends", "Require ip 203.0.113.0/24");
        site.file("open.txt", 200);
        site.file("lan/a.txt", 200);
        site.file("friends/b.txt", 403);
        let httpd = site.httpd().start();
        let nearby = Client::anonymous(&httpd);
        let friend = nearby.clone().with_header("X-Forwarded-For", "203.0.113.9");

        for (client, seen, unseen) in [
            (&nearby, "/lan/a.txt", "/friends/b.txt"),
            (&friend, "/friends/b.txt", "/lan/a.txt"),
        ] {
            assert_eq!(client.get(seen).status, 200);
            assert_eq!(client.get(unseen).status, 403);
            let mut found = client.identifiers();
            found.sort();
            let mut expected = vec![client.url(seen), client.url("/open.txt")];
            expected.sort();
            assert_eq!(found, expected);
            let refused = client.record(&client.url(unseen), "oai_didl").error();
            assert!(refused.is_some(), "{unseen}");
        }
    }
}

#[test]
fn who_a_proxy_says_by_its_own_protocol_is_told_what_a_get_would_give() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.module("remoteip");
        site.htaccess("lan", "Require ip 192.0.2.7");
        site.htaccess("friends", "Require ip 203.0.113.0/24");
        for path in ["open.txt", "lan/a.txt", "friends/b.txt"] {
            site.file(path, 200);
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let host = format!(
            "Listen 127.0.0.1:{port}\n<VirtualHost 127.0.0.1:{port}>\nDocumentRoot ${{SITE}}\n\
             RemoteIPProxyProtocol On\n</VirtualHost>"
        );
        let httpd = site.httpd().conf(&host).start();
        let client = Client::anonymous(&httpd);
        let nearby = client.clone().through_proxy(port, "192.0.2.7");
        let friend = client.through_proxy(port, "203.0.113.9");

        for (client, seen, unseen) in [
            (&nearby, "/lan/a.txt", "/friends/b.txt"),
            (&friend, "/friends/b.txt", "/lan/a.txt"),
        ] {
            assert_eq!(client.get(seen).status, 200);
            assert_eq!(client.get(unseen).status, 403);
            let mut found = client.identifiers();
            found.sort();
            assert_eq!(found, [client.url(seen), client.url("/open.txt")]);
            let refused = client.record(&client.url(unseen), "oai_didl").error();
            assert!(refused.is_some(), "{unseen}");
        }
    }
}

#[test]
fn a_certificate_that_stands_for_a_password_opens_what_a_get_would_give() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        let certificate = certificate(&site);
        // The password is a fixed word for everybody; what counts is the name in the certificate.
        let people = site
            .fixture
            .write_beside("people", "/CN=alice:xxj31ZMTZzkVA\n");
        site.protect("d", &people, "Require valid-user");
        site.conf(&format!(
            "SSLVerifyClient optional\nSSLCACertificateFile {}\nSSLOptions +FakeBasicAuth",
            certificate.display()
        ));
        site.file("open.txt", 200);
        site.file("d/a.txt", 401);
        let httpd = site.httpd().tls().start();
        let anonymous = Client::anonymous(&httpd).over(Protocol::Tls);
        let alice = anonymous.clone().with_certificate(&certificate);

        assert_eq!(anonymous.get("/d/a.txt").status, 401);
        assert_eq!(alice.get("/d/a.txt").status, 200);
        assert_eq!(anonymous.identifiers(), [anonymous.url("/open.txt")]);
        let mut found = alice.identifiers();
        found.sort();
        assert_eq!(found, [alice.url("/d/a.txt"), alice.url("/open.txt")]);
    }
}

/// A certificate that signs itself, with its key.
fn certificate(site: &Site) -> PathBuf {
    let file = site.fixture.beside("alice.pem");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes"])
        .args(["-days", "2", "-subj", "/CN=alice", "-keyout"])
        .arg(&file)
        .arg("-out")
        .arg(file.with_extension("crt"))
        .output()
        .unwrap();
    assert!(made.status.success());
    let mut whole = fs::read_to_string(&file).unwrap();
    whole.push_str(&fs::read_to_string(file.with_extension("crt")).unwrap());
    fs::write(&file, whole).unwrap();
    file
}

#[test]
fn what_is_for_one_address_only_is_not_public() {
    let mut site = Site::empty(Mpm::Event);
    site.module("remoteip");
    site.oai("OaiFreshness 0");
    site.conf("RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1 192.0.2.1");
    site.htaccess("friends", "Require ip 203.0.113.9");
    let secret = site.file("friends/b.txt", 403);
    let httpd = site.httpd().start();
    let stranger = Client::anonymous(&httpd).with_header("X-Forwarded-For", "198.51.100.7");
    let friend = Client::anonymous(&httpd).with_header("X-Forwarded-For", "203.0.113.9");
    assert_eq!(friend.identifiers(), [friend.url("/friends/b.txt")]);

    fs::remove_file(secret).unwrap();

    let told = |client: &Client| {
        let answer = client.ask("verb=ListIdentifiers&metadataPrefix=oai_dc");
        answer
            .headers()
            .iter()
            .filter(|header| header.deleted)
            .count()
    };
    assert_eq!(told(&friend), 1);
    assert_eq!(told(&stranger), 0);
}

#[test]
fn what_a_key_in_a_header_opened_is_told_to_nobody_without_the_key() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.oai("OaiFreshness 0");
        let rule = "Require expr \"%{HTTP:X-Api-Key} == 's3cret'\"";
        site.htaccess("keyed", rule);
        let secret = site.file("keyed/merger.txt", 403);
        let httpd = site.httpd().start();
        let plain = Client::anonymous(&httpd);
        let keyed = plain.clone().with_header("X-Api-Key", "s3cret");
        let marked = plain.clone().with_header("Cookie", "lang=en");
        let keyed_and_marked = keyed.clone().with_header("Cookie", "lang=en");
        let told = |client: &Client| {
            let answer = client.ask("verb=ListIdentifiers&metadataPrefix=oai_dc");
            let headers = answer.headers().into_iter();
            let told = headers.map(|header| (header.identifier, header.deleted));
            told.collect::<Vec<_>>()
        };
        let url = plain.url("/keyed/merger.txt");

        for _ in 0..2 {
            for (client, without) in [(&keyed, &plain), (&keyed_and_marked, &marked)] {
                assert_eq!(told(without), []);
                assert_eq!(told(client), [(url.clone(), false)]);
                assert_eq!(told(without), []);
                assert!(without.record(&url, "oai_dc").error().is_some());
            }
        }

        fs::remove_file(secret).unwrap();

        for (client, without) in [(&keyed, &plain), (&keyed_and_marked, &marked)] {
            assert_eq!(told(without), []);
            assert_eq!(told(client), [(url.clone(), true)]);
        }
    }
}

#[test]
fn what_a_certificate_opened_is_told_to_nobody_without_it() {
    let mut site = Site::empty(Mpm::Event);
    let certificate = certificate(&site);
    site.oai("OaiFreshness 0");
    site.conf(&format!(
        "SSLVerifyClient optional\nSSLCACertificateFile {}",
        certificate.display()
    ));
    site.htaccess("d", "Require expr \"%{SSL_CLIENT_S_DN_CN} == 'alice'\"");
    let secret = site.file("d/a.txt", 403);
    let httpd = site.httpd().tls().start();
    let anonymous = Client::anonymous(&httpd).over(Protocol::Tls);
    let alice = anonymous.clone().with_certificate(&certificate);
    let told = |client: &Client| {
        let answer = client.ask("verb=ListIdentifiers&metadataPrefix=oai_dc");
        let headers = answer.headers().into_iter();
        headers.map(|header| header.deleted).collect::<Vec<_>>()
    };

    assert_eq!(told(&alice), [false]);
    assert!(told(&anonymous).is_empty());

    fs::remove_file(secret).unwrap();

    assert_eq!(told(&alice), [true]);
    assert!(told(&anonymous).is_empty());
}

#[test]
fn headers_that_the_server_adds_for_the_repository_open_nothing_else() {
    let mut site = Site::empty(Mpm::Prefork);
    site.module("headers");
    site.conf("SetEnvIf X-Inside yes inside");
    site.conf("<Location \"/modoai\">\nRequestHeader set X-Inside yes\n</Location>");
    site.htaccess("inside", "Require env inside");
    site.file("open.txt", 200);
    site.file("inside/a.txt", 403);
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    assert_eq!(client.get("/inside/a.txt").status, 403);
    assert_eq!(client.identifiers(), [client.url("/open.txt")]);
}

#[test]
fn a_certificate_is_asked_for_by_nobody_but_the_client() {
    let mut site = Site::empty(Mpm::Event);
    site.module("http2");
    site.conf("Protocols h2 http/1.1\nSSLVerifyDepth 3");
    site.conf("<Directory ${SITE}/members>\nSSLVerifyClient require\n</Directory>");
    site.file("open.txt", 200);
    site.file("members/a.txt", 403);
    let httpd = site.httpd().tls().start();
    let client = Client::anonymous(&httpd).over(Protocol::Tls);

    for _ in 0..5 {
        assert_eq!(client.identifiers(), [client.url("/open.txt")]);
    }
    assert_eq!(httpd.crashes(), [""; 0]);
}
