//! The differential oracle over the whole test site: a GET and the module must agree.

use test_support::Mpm;

use super::client::{Client, Protocol};
use super::oracle::{Oracle, Policy};
use super::site::Site;

/// Compares for those without a password, with a wrong one and with the right one.
fn check_all_requesters(site: &Site, policy: Policy) {
    let httpd = site.httpd().start();
    let anonymous = Client::anonymous(&httpd);
    for client in [
        anonymous.clone(),
        anonymous.clone().with_password("reader", "wrong"),
        anonymous.clone().with_password("reader", "right"),
        // The answer to the one before must not stay for this one.
        anonymous,
    ] {
        Oracle::new(site, client).policy(policy).check();
    }
}

#[test]
fn every_requester_is_told_what_a_get_would_give_with_event() {
    let mut site = Site::matrix(Mpm::Event);
    site.oai("OaiDynamic reference");

    check_all_requesters(&site, Policy::Reference);
}

#[test]
fn every_requester_is_told_what_a_get_would_give_with_prefork() {
    let mut site = Site::matrix(Mpm::Prefork);
    site.oai("OaiDynamic reference");

    check_all_requesters(&site, Policy::Reference);
}

#[test]
fn processed_files_are_told_as_a_get_would_give_them_with_event() {
    let mut site = Site::matrix(Mpm::Event);
    site.oai("OaiDynamic processed");

    check_all_requesters(&site, Policy::Processed);
}

#[test]
fn processed_files_are_told_as_a_get_would_give_them_with_prefork() {
    let mut site = Site::matrix(Mpm::Prefork);
    site.oai("OaiDynamic processed");

    check_all_requesters(&site, Policy::Processed);
}

#[test]
fn small_pages_tell_the_same() {
    let mut site = Site::matrix(Mpm::Event);
    site.oai("OaiDynamic reference\nOaiPageLimit identifiers 7\nOaiPageLimit records 3\nOaiPageLimit lookups 5");

    check_all_requesters(&site, Policy::Reference);
}

#[test]
fn requesters_over_h2c_are_told_what_a_get_would_give() {
    let mut site = Site::matrix(Mpm::Event);
    site.oai("OaiDynamic reference");
    site.module("http2");
    site.conf("Protocols h2c http/1.1");
    let httpd = site.httpd().start();

    let client = Client::anonymous(&httpd).over(Protocol::H2c);

    Oracle::new(&site, client.clone()).check();
    Oracle::new(&site, client.with_password("reader", "right")).check();
}

#[test]
fn requesters_over_tls_are_told_what_a_get_would_give() {
    let mut site = Site::matrix(Mpm::Event);
    site.oai("OaiDynamic reference");
    let httpd = site.httpd().tls().start();

    let client = Client::anonymous(&httpd).over(Protocol::Tls);

    Oracle::new(&site, client.clone()).check();
    Oracle::new(&site, client.with_password("reader", "right")).check();
}
