//! The test site and the test server themselves, without the module.

use test_support::{Fixture, Httpd, Mpm, get, wait_until};

use super::client::{Client, Protocol};
use super::site::Site;

#[test]
fn the_test_site_answers_as_its_cases_say() {
    for mpm in Mpm::ALL {
        let site = Site::matrix(mpm);
        let httpd = site.plain().start();
        let anybody = Client::anonymous(&httpd);

        let mut wrong = Vec::new();
        for (path, expected) in site.statuses() {
            let status = anybody.get(path).status;
            if status != *expected {
                wrong.push(format!("{path}: {status} instead of {expected}"));
            }
        }

        assert!(wrong.is_empty(), "{mpm:?}\n{}", wrong.join("\n"));
    }
}

#[test]
fn the_test_site_tells_requesters_apart() {
    let site = Site::matrix(Mpm::Event);
    let httpd = site.plain().start();
    let anybody = Client::anonymous(&httpd);

    for (password, status) in [("wrong", 401), ("right", 200)] {
        let client = anybody.clone().with_password("reader", password);
        assert_eq!(client.get("/auth/secret.txt").status, status);
        assert_eq!(client.get("/auth-any/secret.txt").status, status);
        assert_eq!(client.get("/auth-other/secret.txt").status, 401);
        assert_eq!(client.get("/auth-all/secret.txt").status, 403);
        assert_eq!(client.get("/notes.txt").status, 200);
    }
}

#[test]
fn the_test_site_is_the_same_over_h2c_and_tls() {
    let mut site = Site::matrix(Mpm::Event);
    site.module("http2");
    site.conf("Protocols h2c http/1.1");

    for protocol in [Protocol::H2c, Protocol::Tls] {
        let httpd = match protocol {
            Protocol::Tls => site.plain().tls().start(),
            _ => site.plain().start(),
        };
        let client = Client::anonymous(&httpd).over(protocol);
        for path in ["/notes.txt", "/headers/page.html", "/lan/secret.txt"] {
            assert_eq!(client.get(path).status, site.statuses()[path], "{path}");
        }
        assert!(
            client
                .get("/headers/page.html")
                .header("x-always")
                .is_some()
        );
    }
}

#[test]
fn the_test_server_survives_all_that_is_done_to_it() {
    for mpm in Mpm::ALL {
        let fixture = Fixture::small();
        let mut httpd = Httpd::of(&fixture).mpm(mpm).plain().start();
        let notes = httpd.url("/notes.txt");
        let well = || assert_eq!(get(&notes).status, 200);
        well();

        let before = httpd.children();
        assert!(!before.is_empty());
        httpd.graceful();
        well();
        wait_until("the old workers are gone", || {
            httpd.children().iter().all(|pid| !before.contains(pid))
        });
        httpd.restart();
        well();
        httpd.kill_children();
        well();
        httpd.kill9();
        assert!(httpd.children().is_empty());
        httpd.start();
        well();
        assert!(httpd.cpu_seconds() < 10.0);
        assert!(httpd.peak_memory() > 1_000_000);
        assert!(httpd.stop().is_some_and(|status| status.success()));
        assert!(httpd.children().is_empty());
    }
}

#[test]
fn the_test_server_says_what_is_wrong_with_its_configuration() {
    let fixture = Fixture::small();
    let right = Httpd::of(&fixture).plain();
    let wrong = right.clone().conf("Nonsense on");

    let (ok, said) = right.config_test();
    assert!(ok, "{said}");
    let (ok, said) = wrong.config_test();
    assert!(!ok);
    assert!(said.contains("Nonsense"), "{said}");
}
