//! A panic is a 500 and one line in the log, and nobody else notices.

use test_support::{Mpm, fetch};

use super::client::Client;
use super::site::Site;

fn a_panic_is_a_500_and_one_line(mpm: Mpm) {
    let mut site = Site::empty(mpm);
    site.file("notes.txt", 200);
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    assert_eq!(client.identifiers(), [client.url("/notes.txt")]);
    let children = httpd.children();

    for _ in 0..10 {
        // A build for tests panics on request.
        let headers = [("X-Oai-Panic", "yes")];
        let response = fetch("GET", &client.url("/modoai?verb=Identify"), &headers, b"");
        assert_eq!(response.status, 500);
    }

    assert_eq!(client.identifiers(), [client.url("/notes.txt")]);
    let alive = httpd.children();
    assert!(children.iter().all(|child| alive.contains(child)));
    let log = httpd.error_log();
    assert_eq!(log.matches("mod_oai panicked at").count(), 10, "{log}");
    assert!(!log.contains("backtrace"), "{log}");
}

#[test]
fn a_panic_is_a_500_and_one_line_with_event() {
    a_panic_is_a_500_and_one_line(Mpm::Event);
}

#[test]
fn a_panic_is_a_500_and_one_line_with_prefork() {
    a_panic_is_a_500_and_one_line(Mpm::Prefork);
}
