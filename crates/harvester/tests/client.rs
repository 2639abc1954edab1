//! How the client asks: who it says it is, redirects, credentials, connections, distance.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod common;

use std::time::Duration;

use common::Setup;
use harvester::{Client, ClientOptions, Credentials, ErrorKind, Misbehaviour};
use test_support::{Fault, Misbehaving, Script};

#[test]
fn it_says_who_asks() {
    let mut setup = Setup::new(Script::new(5, 10));
    setup.options.from = Some("librarian@library.example".to_owned());

    setup.repository().identify().unwrap();

    let head = setup.repository.heads().remove(0).to_ascii_lowercase();
    assert!(head.contains("user-agent: garner/"), "{head}");
    assert!(head.contains("from: librarian@library.example"), "{head}");
    // On one machine compression saves nothing.
    assert!(head.contains("accept-encoding: identity"), "{head}");
}

#[test]
fn one_connection_serves_a_whole_harvest() {
    let setup = Setup::new(Script::new(95, 10));
    let records = setup.repository().list_records("oai_dc", None, None, None);
    assert_eq!(records.count(), 95);
    assert_eq!(setup.repository.connections(), 1);
}

#[test]
fn requests_keep_their_distance() {
    let mut setup = Setup::new(Script::new(25, 10));
    setup.options.interval = Duration::from_secs(7);
    let repository = setup.repository();
    for _ in 0..3 {
        repository.identify().unwrap();
    }
    let slept = setup.pace.slept();
    assert_eq!(slept.len(), 2);
    assert!(slept.iter().all(|wait| wait.as_secs() >= 6), "{slept:?}");
}

#[test]
fn lists_can_be_gone_through_while_records_are_asked_for() {
    let setup = Setup::new(Script::new(25, 10));
    let repository = setup.repository();
    for header in repository.list_identifiers("oai_dc", None, None, None) {
        let identifier = header.unwrap().identifier;
        repository.get_record(&identifier, "oai_dc").unwrap();
    }
}

#[test]
fn headers_that_are_lent_are_those_that_are_given() {
    let script = Script::new(35, 10).with(Fault::Truncated { page: 2, times: 1 });
    let given = Setup::new(script.clone());
    let given = given
        .repository()
        .list_identifiers("oai_dc", None, None, None);
    let given: Vec<_> = given.map(Result::unwrap).collect();

    let setup = Setup::new(script);
    let mut headers = setup
        .repository()
        .list_identifiers("oai_dc", None, None, None);
    let mut lent = Vec::new();
    while let Some(header) = headers.lend() {
        lent.push(header.unwrap().clone());
    }

    assert_eq!(lent.len(), 35);
    assert_eq!(lent, given);
}

/// How often requests were made by a method.
fn asked_by(method: &str, heads: &[String]) -> usize {
    let heads = heads.iter();
    heads.filter(|head| head.starts_with(method)).count()
}

#[test]
fn tokens_too_long_for_a_url_are_sent_by_post() {
    let setup = Setup::new(Script::new(25, 10).with(Fault::LongTokens));
    let records = setup.repository().list_records("oai_dc", None, None, None);
    assert_eq!(records.filter(Result::is_ok).count(), 25);
    let heads = setup.repository.heads();
    assert_eq!(asked_by("GET /oai?", &heads), 1);
    assert_eq!(asked_by("POST /oai HTTP", &heads), 2);
}

#[test]
fn urls_that_a_server_finds_too_long_are_sent_by_post() {
    let setup = Setup::new(Script::new(25, 10).with(Fault::LongUrlsRefused(40)));
    let records = setup.repository().list_records("oai_dc", None, None, None);
    assert_eq!(records.filter(Result::is_ok).count(), 25);
    assert_eq!(asked_by("POST /oai HTTP", &setup.repository.heads()), 3);
}

#[test]
fn a_server_without_post_gets_the_long_url() {
    let script = Script::new(25, 10).with(Fault::LongTokens);
    let setup = Setup::new(script.with(Fault::PostRefused));
    let records = setup.repository().list_records("oai_dc", None, None, None);
    assert_eq!(records.filter(Result::is_ok).count(), 25);
    assert_eq!(asked_by("GET /oai?", &setup.repository.heads()), 3);

    let script = Script::new(5, 10).with(Fault::LongUrlsRefused(5));
    let setup = Setup::new(script.with(Fault::PostRefused));
    assert!(setup.repository().identify().is_err(), "neither way works");
}

#[test]
fn credentials_go_to_their_own_host_and_nowhere_else() {
    let elsewhere = Misbehaving::start(Script::new(5, 10));
    // Another name for the same machine is another host.
    let target = elsewhere.base_url().replace("127.0.0.1", "localhost");
    let mut setup = Setup::new(Script::new(5, 10).with(Fault::RedirectTo(target)));
    setup.options.credentials = Some(Credentials::Basic {
        user: "me".to_owned(),
        password: "secret".to_owned(),
    });

    let identity = setup.repository().identify().unwrap();

    assert_eq!(identity.repository_name, "Misbehaving");
    let sent = |heads: Vec<String>| {
        heads[0]
            .to_ascii_lowercase()
            .contains("authorization: basic")
    };
    assert!(sent(setup.repository.heads()));
    assert!(!sent(elsewhere.heads()));
    assert_eq!(elsewhere.requests(), ["verb=Identify"]);
}

#[test]
fn a_name_and_password_in_the_base_url_are_sent_and_not_shown() {
    let server = Misbehaving::start(Script::new(5, 10).with(Fault::RedirectLoop));
    let client = Client::new(ClientOptions::default()).unwrap();
    let url = server.base_url().replace("http://", "http://me:s%40cret@");
    let repository = client.repository(&url).unwrap();

    let error = repository.identify().unwrap_err();

    let head = server.heads().remove(0).to_ascii_lowercase();
    assert!(head.contains("authorization: basic"), "{head}");
    assert!(!error.to_string().contains("cret"), "{error}");
    assert!(!repository.base_url().contains("cret"));
}

#[test]
fn redirects_in_circles_end() {
    let setup = Setup::new(Script::new(5, 10).with(Fault::RedirectLoop));
    let error = setup.repository().identify().unwrap_err();
    let redirected = matches!(
        error.kind(),
        ErrorKind::RepositoryMisbehaved(Misbehaviour::Redirect(_))
    );
    assert!(redirected, "{error}");
    assert_eq!(setup.repository.requests().len(), 11);
}

#[test]
fn redirects_to_other_schemes_are_refused() {
    for target in ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x"] {
        let fault = Fault::RedirectTo(target.to_owned());
        let error = Setup::new(Script::new(5, 10).with(fault))
            .repository()
            .identify()
            .unwrap_err();
        assert!(error.to_string().contains("redirects to"), "{error}");
    }
}

#[test]
fn nobody_at_the_address_is_told_soon() {
    let port = test_support::free_port();
    let client = Client::new(ClientOptions {
        first_wait: Duration::from_millis(1),
        ..ClientOptions::default()
    });
    let repository = client
        .unwrap()
        .repository(&format!("http://127.0.0.1:{port}/"));

    let error = repository.unwrap().identify().unwrap_err();

    assert!(matches!(error.kind(), ErrorKind::Transport(_)), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}
