//! Many requests while the server restarts again and again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use test_support::{Connection, Httpd, Mpm, percent_encoded};

use super::client::Client;
use super::site::Site;

const CLIENTS: usize = 8;
/// However fast the requests are answered, there is so much between the first and the last of them.
const RESTARTS: usize = 3;

/// The events so far.
#[derive(Default)]
struct Load {
    asked: AtomicUsize,
    lost: AtomicUsize,
    restarts: AtomicUsize,
}

#[test]
fn fifty_thousand_requests_and_graceful_restarts_leave_no_trace() {
    check(Mpm::Event, 40_000);
    check(Mpm::Prefork, 10_000);
}

fn check(mpm: Mpm, requests: usize) {
    let mut site = Site::empty(mpm);
    for number in 0..20 {
        site.file(&format!("{number}.txt"), 200);
    }
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    let paths = paths(&client);
    let load = Load::default();
    let done = AtomicBool::new(false);

    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| scope.spawn(|| ask(&httpd, &paths, requests, &load)))
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                httpd.graceful();
                load.restarts.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_secs(2));
            }
        });
        for client in clients {
            client.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });

    // A restart closes connections that wait for the next request; a request may just be under way.
    assert!(load.lost.into_inner() < requests / 100, "{mpm:?}");
    assert_eq!(client.identifiers().len(), 20);
    let log = httpd.error_log();
    assert_eq!(httpd.crashes(), [""; 0], "{mpm:?}");
    for trouble in ["panicked", "scoreboard is full"] {
        assert!(!log.contains(trouble), "{mpm:?}: {trouble}");
    }
    let mut httpd = httpd;
    assert!(httpd.stop().is_some_and(|status| status.success()));
    // A worker that hangs must be killed by its parent.
    assert!(!httpd.error_log().contains("still did not exit"), "{mpm:?}");
}

fn paths(client: &Client) -> Vec<String> {
    let record = |path: &str, prefix: &str| {
        let identifier = percent_encoded(&client.url(path));
        format!("/modoai?verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}")
    };
    vec![
        "/modoai?verb=Identify".to_owned(),
        record("/1.txt", "oai_didl"),
        record("/2.txt", "http_header"),
        record("/missing.txt", "oai_dc"),
        "/3.txt".to_owned(),
        "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc".to_owned(),
        record("/4.txt", "oai_dc"),
        "/modoai?verb=ListMetadataFormats".to_owned(),
    ]
}

/// Asks one thing after the other on connections that stay open, until enough has been asked and restarted.
fn ask(httpd: &Httpd, paths: &[String], requests: usize, load: &Load) {
    let authority = httpd.authority();
    let mut connection = Connection::open(&authority);
    loop {
        let number = load.asked.fetch_add(1, Ordering::Relaxed);
        if number >= requests && load.restarts.load(Ordering::Relaxed) >= RESTARTS {
            return;
        }
        let path = &paths[number % paths.len()];
        let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        connection.send(request.as_bytes());
        let response = connection.receive(false);
        let closing = response
            .as_ref()
            .is_none_or(|response| response.header("connection") == Some("close"));
        match response {
            Some(response) => {
                assert_eq!(response.status, 200, "{path}: {}", response.text());
                assert!(response.complete, "{path}");
            }
            None => {
                load.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
        if closing {
            connection = Connection::open(&authority);
        }
    }
}
