//! The fence around a client that asks on behalf of others: nothing behind our own walls is connected to, whoever names
//! it and however it is spelled.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod common;

use common::Setup;
use harvester::{AddressPolicy, ErrorKind};
use test_support::{Fault, Script};

/// A repository on this machine, and a client that may connect to the internet and what is allowed.
fn fenced(fault: Option<Fault>, allowed: &[&str]) -> Setup {
    let script = Script::new(5, 10);
    let mut setup = Setup::new(match fault {
        Some(fault) => script.with(fault),
        None => script,
    });
    let allowed = allowed.iter().map(|network| network.parse().unwrap());
    setup.options.allow = AddressPolicy::Public {
        allowed: allowed.collect(),
    };
    setup
}

/// The URL of the repository with another name for this machine.
fn at(setup: &Setup, host: &str) -> String {
    setup.repository.base_url().replace("127.0.0.1", host)
}

#[test]
fn base_urls_behind_the_wall_are_refused_before_anything_is_sent() {
    let setup = fenced(None, &[]);
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "[::ffff:127.0.0.1]",
        "localhost",
        "LOCALHOST",
    ] {
        let repository = setup.client().repository(&at(&setup, host)).unwrap();

        let error = repository.identify().unwrap_err();

        assert!(
            matches!(error.kind(), ErrorKind::Usage(_)),
            "{host}: {error}"
        );
        let remedy = "is not public; the configuration may allow it with network.allow";
        assert!(error.to_string().contains(remedy), "{host}: {error}");
    }
    assert_eq!(setup.repository.connections(), 0);
}

#[test]
fn what_is_allowed_can_be_harvested() {
    for (allowed, host) in [
        ("127.0.0.0/8", "127.0.0.1"),
        ("127.0.0.1", "2130706433"),
        ("127.0.0.1", "localhost"),
        ("localhost", "localhost"),
    ] {
        let setup = fenced(None, &[allowed]);
        let repository = setup.client().repository(&at(&setup, host)).unwrap();
        repository
            .identify()
            .unwrap_or_else(|error| panic!("{allowed}: {error}"));
    }
}

#[test]
fn redirects_are_looked_at_one_by_one() {
    for target in [
        "http://127.0.0.2:9/oai",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]:9/oai",
        "http://[fd00::1]/oai",
        "http://[fe80::1]/oai",
        "http://0x0a000001/oai",
    ] {
        let fault = Fault::RedirectTo(target.to_owned());
        let setup = fenced(Some(fault), &["127.0.0.1"]);
        let error = setup.repository().identify().unwrap_err();
        expect_refused_redirect(&error.to_string());
    }
}

#[test]
fn a_name_that_a_redirect_leads_to_is_looked_up_first() {
    let fault = Fault::RedirectTo("http://localhost:9/oai".to_owned());
    let mut setup = fenced(Some(fault), &[]);
    setup.options.proxy = Some(setup.repository.base_url());
    let repository = setup.client().repository("http://repository.invalid/oai");

    let error = repository.unwrap().identify().unwrap_err();

    expect_refused_redirect(&error.to_string());
    assert_eq!(setup.repository.requests().len(), 1);
}

fn expect_refused_redirect(error: &str) {
    assert!(error.contains("it redirects to"), "{error}");
    assert!(error.contains("is not public"), "{error}");
}

#[test]
fn resources_behind_the_wall_are_not_got() {
    let setup = fenced(None, &["127.0.0.1"]);
    let repository = setup.repository();
    for target in [
        "http://127.0.0.2:9/a",
        "http://169.254.169.254/a",
        "http://[::1]:9/a",
    ] {
        let error = repository.download(target).err().unwrap().to_string();
        assert!(error.contains("it refers to"), "{error}");
        assert!(error.contains("is not public"), "{error}");
    }
    assert_eq!(setup.repository.connections(), 0);
}

#[test]
fn a_proxy_that_the_configuration_names_is_used_and_leads_nowhere_else() {
    let mut setup = fenced(None, &[]);
    setup.options.proxy = Some(setup.repository.base_url());
    let client = setup.client();

    for inside in [
        "http://127.0.0.9/oai",
        "http://localhost/oai",
        "http://[::1]/oai",
    ] {
        let error = client.repository(inside).unwrap().identify().unwrap_err();
        assert!(error.to_string().contains("is not public"), "{error}");
    }
    assert_eq!(setup.repository.connections(), 0);

    // A name that only the proxy knows is the proxy's to judge.
    let outside = client.repository("http://repository.invalid/oai").unwrap();
    outside.identify().unwrap();
    assert_eq!(setup.repository.connections(), 1);
}
