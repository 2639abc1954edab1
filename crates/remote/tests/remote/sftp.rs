//! A real SSH server.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use test_support::{SshServer, wait_until};

use crate::common::{Place, files, noise};

/// A place, and a server that is known and lets us in.
fn place() -> (Place, SshServer) {
    let mut place = Place::new();
    place.write("crawl/a.warc", noise(400_000));
    place.write("crawl/deep/er/ü b.pdf", "umlaut");
    place.write("crawl/empty", "");
    let server = SshServer::start();
    let known = place.beside("known_hosts");
    std::fs::write(&known, format!("{}\n", server.known_host())).unwrap();
    place.access.known_hosts = Some(known);
    place.access.ssh_key = Some(server.key());
    (place, server)
}

/// How long the files are that are not whole yet.
fn lengths(partial: &Path) -> impl Iterator<Item = u64> {
    let mut lengths = Vec::new();
    let mut directories = vec![partial.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => directories.push(entry.path()),
                Ok(metadata) => lengths.push(metadata.len()),
                Err(_) => {}
            }
        }
    }
    lengths.into_iter()
}

#[test]
fn all_that_is_there_comes_and_comes_but_once() {
    let (place, server) = place();
    let address = server.address(&place.there().join("crawl"));

    let fetched = place.fetch(&address).unwrap();

    assert_eq!(files(&fetched.path), files(&place.there().join("crawl")));
    assert_eq!((fetched.files, fetched.came), (3, 3));
    let again = place.fetch(&address).unwrap();
    assert_eq!((again.came, again.bytes), (0, 0));
    let file = server.address(&place.there().join("crawl/a.warc"));
    assert_eq!(place.fetch(&file).unwrap().came, 0);
    let refusal = place.refusal(&server.address(&place.there().join("none")));
    assert!(refusal.contains("No such file"), "{refusal}");
}

#[test]
fn a_file_that_grew_is_continued() {
    let (place, server) = place();
    let address = server.address(&place.there().join("crawl/"));
    place.fetch(&address).unwrap();
    place.write("crawl/a.warc", noise(500_000));

    let fetched = place.fetch(&address).unwrap();

    assert_eq!(files(&fetched.path), files(&place.there().join("crawl")));
    assert_eq!((fetched.came, fetched.bytes), (1, 100_000));
}

#[test]
fn a_server_that_is_not_known_is_refused_with_the_line_that_makes_it_known() {
    let (mut place, server) = place();
    let address = server.address(&place.there().join("crawl"));
    let known = place.beside("empty");
    place.access.known_hosts = Some(known.clone());

    let refusal = place.refusal(&address);

    assert!(
        refusal.contains("is not known") && refusal.contains("SHA256:"),
        "{refusal}"
    );
    let line = refusal.rsplit(": ").next().unwrap();
    assert_eq!(line, server.known_host());
    std::fs::write(&known, format!("{line}\n")).unwrap();
    assert_eq!(place.fetch(&address).unwrap().came, 3);

    let other = SshServer::start();
    let words = other.known_host();
    let key = words.split_once(' ').unwrap().1;
    std::fs::write(&known, format!("[127.0.0.1]:{} {key}\n", server.port)).unwrap();
    let refusal = place.refusal(&address);
    assert!(refusal.contains("another key than line 1"), "{refusal}");
}

#[test]
fn a_key_that_does_not_open_is_named() {
    let (mut place, server) = place();
    let address = server.address(&place.there().join("crawl"));
    place.access.ssh_key = Some(server.strange_key());
    let refusal = place.refusal(&address);
    assert!(
        refusal.contains("does not let") && refusal.contains("stranger`"),
        "{refusal}"
    );

    place.access.ssh_key = None;
    let refusal = place.refusal(&address);
    assert!(refusal.contains("no agent"), "{refusal}");
}

#[test]
fn the_agent_opens_too() {
    let (mut place, server) = place();
    let socket = place.beside("agent");
    let mut agent = Command::new("ssh-agent")
        .args(["-D", "-a"])
        .arg(&socket)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the agent listens", || socket.exists());
    let added = Command::new("ssh-add")
        .arg(server.key())
        .env("SSH_AUTH_SOCK", &socket)
        .output();
    assert!(added.unwrap().status.success());
    place.access.ssh_key = None;
    place.access = place.access.clone().with_agent(socket);

    let fetched = place.fetch(&server.address(&place.there().join("crawl")));

    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(fetched.unwrap().came, 3);
}

#[test]
fn links_are_passed_by_and_names_that_cannot_be_asked_for_are_said() {
    let (place, server) = place();
    let crawl = place.there().join("crawl");
    symlink("/etc", crawl.join("etc")).unwrap();
    symlink(&crawl, crawl.join("circle")).unwrap();
    place.write(OsStr::from_bytes(b"crawl/caf\xe9.pdf"), "not UTF-8");

    let fetched = place.fetch(&server.address(&crawl)).unwrap();

    assert_eq!(files(&fetched.path).len(), 3);
    assert_eq!(fetched.refused.len(), 1);
    assert!(
        fetched.refused[0].1.contains("UTF-8"),
        "{:?}",
        fetched.refused
    );
    let notes = place.notes.lock().unwrap().join("\n");
    assert!(
        notes.contains("2 links or devices were passed by"),
        "{notes}"
    );
}

#[test]
fn a_server_that_goes_away_for_a_while_is_gone_on_with() {
    let (mut place, mut server) = place();
    place.limits.attempts = 30;
    let length = 300 << 20;
    let file = std::fs::File::create(place.there().join("crawl/big")).unwrap();
    file.set_len(length).unwrap();
    let address = server.address(&place.there().join("crawl"));

    let fetched = std::thread::scope(|scope| {
        let fetching = scope.spawn(|| place.fetch(&address));
        let begun = || lengths(&place.base().join("partial")).any(|length| length > 1 << 20);
        wait_until("the big file has begun", begun);
        server.away(|| std::thread::sleep(Duration::from_millis(400)));
        fetching.join().unwrap()
    });

    let fetched = fetched.unwrap();
    assert_eq!(
        std::fs::metadata(fetched.path.join("big")).unwrap().len(),
        length
    );
    assert!(fetched.bytes < length + (1 << 20));
    let notes = place.notes.lock().unwrap().join("\n");
    assert!(notes.contains("trying again"), "{notes}");
}
