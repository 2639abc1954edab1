//! Every byte that a name can have.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use test_support::Mpm;

use super::client::Client;
use super::oracle::Oracle;
use super::site::Site;

/// A name with each byte that a file system allows in it.
fn names_of_every_byte() -> impl Iterator<Item = Vec<u8>> {
    let bytes = (1..=255u8).filter(|byte| *byte != b'/');
    bytes.map(|byte| [b"bytes/n", [byte].as_slice(), b".txt"].concat())
}

#[test]
fn every_byte_in_a_name_is_told_as_a_get_wants_it() {
    for mpm in Mpm::ALL {
        let site = Site::empty(mpm);
        for name in names_of_every_byte() {
            site.fixture
                .write(&name, [b"in ", name.as_slice()].concat());
        }
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        assert_eq!(client.identifiers().len(), 254);
        Oracle::new(&site, client).check();
    }
}

#[test]
fn names_that_look_like_something_else_are_names() {
    let site = Site::empty(Mpm::Event);
    let long = format!("odd/{}.txt", "l".repeat(251));
    let names: [&[u8]; 16] = [
        b"odd/a%2Fb.txt",
        b"odd/%2e%2e",
        b"odd/a?b=c",
        b"odd/a;b=c",
        b"odd/a#b",
        b"odd/a&amp;b",
        b"odd/<b>&\"'.txt",
        b"odd/ ",
        b"odd/a.",
        b"odd/a+b c.txt",
        b"odd/http:%2F%2Fexample.org",
        b"odd/d\xff\xfe/latin-\xe9.txt",
        "odd/na\u{ef}ve \u{1F980}.txt".as_bytes(),
        b"odd/d\\e/a\nb.txt",
        b"odd/~ann/file",
        long.as_bytes(),
    ];
    for name in names {
        site.fixture.write(name, [b"in ", name].concat());
    }
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    assert_eq!(client.identifiers().len(), names.len());
    Oracle::new(&site, client).check();
}

#[test]
fn what_is_no_file_is_no_item() {
    let site = Site::empty(Mpm::Event);
    site.fixture.write("real.txt", "real");
    let _socket = UnixListener::bind(site.fixture.path("socket")).unwrap();
    symlink("nothing", site.fixture.path("dangling")).unwrap();
    symlink("circle", site.fixture.path("circle")).unwrap();
    symlink("/dev/zero", site.fixture.path("endless")).unwrap();
    fs::create_dir(site.fixture.path("directory")).unwrap();
    let fifo = site.fixture.path("fifo");
    assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    assert_eq!(client.identifiers(), [client.url("/real.txt")]);
    for name in [
        "socket",
        "dangling",
        "circle",
        "endless",
        "directory",
        "fifo",
    ] {
        let identifier = client.url(&format!("/{name}"));
        let error = client.record(&identifier, "oai_didl").error();
        assert_eq!(error.as_deref(), Some("idDoesNotExist"), "{name}");
    }
}

#[test]
fn a_directory_that_contains_itself_ends() {
    let site = Site::empty(Mpm::Event);
    site.fixture.write("d/a.txt", "a");
    symlink("..", site.fixture.path("d/up")).unwrap();
    symlink(".", site.fixture.path("d/same")).unwrap();
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    let listed = client.identifiers();

    assert!(listed.contains(&client.url("/d/a.txt")));
    assert!(listed.len() < 20, "{listed:?}");
    for identifier in listed {
        let path = identifier.replace(&client.url(""), "");
        assert_eq!(client.get(&path).body, b"a", "{path}");
    }
}
