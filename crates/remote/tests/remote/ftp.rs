//! A real FTP server, encrypted or not, poor or fickle.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use test_support::{FtpServer, FtpSetup};

use crate::common::{Place, files, noise};

/// The commands that fetch bytes.
fn transfers(server: &FtpServer) -> Vec<String> {
    let commands = server.commands().into_iter();
    let is = |command: &String| command.starts_with("RETR") || command.starts_with("REST");
    commands.filter(is).collect()
}

fn place() -> Place {
    let place = Place::new();
    place.write("pub/a.pdf", noise(300_000));
    place.write("pub/two words/ü.pdf", "umlaut");
    place.write("pub/empty", "");
    place.write("elsewhere", "not asked for");
    place
}

#[test]
fn all_that_is_there_comes_and_comes_but_once() {
    let place = place();
    let server = FtpServer::start(&place.there(), &FtpSetup::default());

    let fetched = place.fetch(&server.address("pub/")).unwrap();

    assert_eq!(files(&fetched.path), files(&place.there().join("pub")));
    assert_eq!((fetched.files, fetched.came), (3, 3));
    assert!(fetched.is_directory && fetched.refused.is_empty());
    let time = |path: &std::path::Path| {
        let modified = std::fs::metadata(path).unwrap().modified().unwrap();
        modified
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs()
    };
    assert_eq!(
        time(&fetched.path.join("a.pdf")),
        time(&place.there().join("pub/a.pdf"))
    );
    server.forget();
    let again = place.fetch(&server.address("pub/")).unwrap();
    assert_eq!((again.came, again.bytes), (0, 0));
    assert!(transfers(&server).is_empty());
}

#[test]
fn one_file_can_be_fetched_alone() {
    let place = place();
    let server = FtpServer::start(&place.there(), &FtpSetup::default());

    let fetched = place
        .fetch(&server.address("pub/two%20words/%C3%BC.pdf"))
        .unwrap();

    assert_eq!(std::fs::read(&fetched.path).unwrap(), b"umlaut");
    assert!(!fetched.is_directory);
    let refusal = place.refusal(&server.address("pub/none.pdf"));
    assert!(refusal.contains("550"), "{refusal}");
    let refusal = place.refusal(&server.address("pub/a.pdf/"));
    assert!(refusal.contains("550"), "{refusal}");
}

#[test]
fn a_file_that_grew_is_continued_and_another_comes_anew() {
    let place = place();
    place.write("pub/log", noise(200_000));
    place.write("pub/other", noise(200_000));
    let server = FtpServer::start(&place.there(), &FtpSetup::default());
    place.fetch(&server.address("pub/")).unwrap();
    server.forget();
    place.write("pub/log", noise(250_000));
    let mut other = noise(250_000);
    other.reverse();
    place.write("pub/other", &other);

    let fetched = place.fetch(&server.address("pub/")).unwrap();

    assert_eq!(files(&fetched.path), files(&place.there().join("pub")));
    let log = transfers(&server);
    assert_eq!(
        log.iter().filter(|line| line.starts_with("REST")).count(),
        2,
        "{log:?}"
    );
    assert_eq!(
        log.iter().filter(|line| line.ends_with("/other")).count(),
        2,
        "{log:?}"
    );
    assert_eq!(
        log.iter().filter(|line| line.ends_with("/log")).count(),
        1,
        "{log:?}"
    );
}

#[test]
fn a_server_that_hangs_up_is_asked_again_for_the_rest() {
    let place = place();
    let setup = FtpSetup {
        hang_up_after: Some(150_000),
        ..FtpSetup::default()
    };
    place.write("big/a.warc", noise(1_000_000));
    let server = FtpServer::start(&place.there(), &setup);

    let fetched = place.fetch(&server.address("big")).unwrap();

    assert_eq!(files(&fetched.path), files(&place.there().join("big")));
    let log = transfers(&server);
    let begun = log.iter().filter(|line| line.starts_with("RETR")).count();
    let resumed = log.iter().filter(|line| line.starts_with("REST")).count();
    assert!(begun > 3 && resumed == begun - 1, "{log:?}");
    let notes = place.notes.lock().unwrap().join("\n");
    assert!(notes.contains("trying again"), "{notes}");
}

#[test]
fn servers_that_know_little_will_do() {
    let poor = [
        vec!["MLSD", "FEAT"],
        vec!["EPSV", "OPTS"],
        vec!["MLSD", "FEAT", "MDTM", "EPSV"],
    ];
    for without in poor {
        let place = place();
        let setup = FtpSetup {
            without: without.clone(),
            ..FtpSetup::default()
        };
        let server = FtpServer::start(&place.there(), &setup);
        let fetched = place.fetch(&server.address("pub/")).unwrap();
        assert_eq!(
            files(&fetched.path),
            files(&place.there().join("pub")),
            "{without:?}"
        );
        let again = place.fetch(&server.address("pub/")).unwrap();
        assert_eq!(again.came, 0, "{without:?}");
    }
}

#[test]
fn a_server_that_cannot_go_on_in_the_middle_begins_anew() {
    let place = place();
    let server = FtpServer::start(
        &place.there(),
        &FtpSetup {
            without: vec!["REST"],
            ..FtpSetup::default()
        },
    );
    place.fetch(&server.address("pub/")).unwrap();
    place.write("pub/a.pdf", noise(400_000));

    let fetched = place.fetch(&server.address("pub/")).unwrap();

    assert_eq!(files(&fetched.path), files(&place.there().join("pub")));
}

#[test]
fn data_comes_from_the_server_itself_whatever_address_it_names() {
    let place = place();
    let setup = FtpSetup {
        misleads: true,
        without: vec!["EPSV"],
        ..FtpSetup::default()
    };
    let server = FtpServer::start(&place.there(), &setup);

    let fetched = place.fetch(&server.address("pub/")).unwrap();

    assert_eq!(files(&fetched.path), files(&place.there().join("pub")));
    assert!(server.commands().contains(&"PASV".to_owned()));
}

#[test]
fn a_password_comes_from_a_file_and_shows_nowhere() {
    let mut place = place();
    let setup = FtpSetup {
        password: Some("sehr geheim".to_owned()),
        ..FtpSetup::default()
    };
    let server = FtpServer::start(&place.there(), &setup);
    let address = format!("ftp://archivist@127.0.0.1:{}/pub/", server.port);
    let refusal = place.refusal(&address);
    assert!(refusal.contains("does not let archivist in"), "{refusal}");

    let netrc = place.beside("netrc");
    std::fs::write(
        &netrc,
        "machine 127.0.0.1 login archivist password \"sehr geheim\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&netrc, std::fs::Permissions::from_mode(0o600)).unwrap();
    place.access.netrc = Some(netrc);
    let fetched = place.fetch(&address).unwrap();

    assert_eq!(fetched.came, 3);
    let said = format!(
        "{:?}{:?}{refusal}",
        place.access,
        place.notes.lock().unwrap()
    );
    assert!(!said.contains("geheim"), "{said}");
    assert!(
        fetched
            .path
            .to_str()
            .unwrap()
            .contains("ftp/archivist@127.0.0.1_")
    );
}

#[test]
fn encrypted_servers_are_trusted_by_their_certificates_alone() {
    let mut place = place();
    let (key, certificate) = (place.beside("key.pem"), place.beside("certificate.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("openssl is installed by scripts/setup test");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let both = place.beside("both.pem");
    let bytes = [
        std::fs::read(&key).unwrap(),
        std::fs::read(&certificate).unwrap(),
    ];
    std::fs::write(&both, bytes.concat()).unwrap();
    let setup = FtpSetup {
        certificate: Some(both),
        ..FtpSetup::default()
    };
    let server = FtpServer::start(&place.there(), &setup);
    let address = format!("ftps://localhost:{}/pub/", server.port);

    let refusal = place.refusal(&address);
    assert!(refusal.contains("cannot be trusted"), "{refusal}");
    place.access.ca_file = Some(certificate);
    let fetched = place.fetch(&address).unwrap();

    assert_eq!(files(&fetched.path), files(&place.there().join("pub")));
    let refusal = place.refusal(&server.address("pub/"));
    assert!(
        refusal.contains("does not let") || refusal.contains("SSL"),
        "{refusal}"
    );
}

#[test]
fn a_fetch_that_is_stopped_ends_at_once_and_goes_on_later() {
    let place = place();
    place.write("big/a.warc", noise(3_000_000));
    let setup = FtpSetup {
        rate: Some(500_000),
        ..FtpSetup::default()
    };
    let server = FtpServer::start(&place.there(), &setup);
    let stop = AtomicBool::new(false);

    let (error, took) = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(2500));
            stop.store(true, Ordering::Relaxed);
        });
        let fetched = place.fetch_until(&server.address("big/"), &|| stop.load(Ordering::Relaxed));
        let error = fetched.unwrap_err();
        (error.to_string(), Instant::now())
    });

    assert!(error.contains("stopped"), "{error}");
    assert!(took.elapsed() < Duration::from_secs(2));
    let port = Some(server.port);
    let begun = files(&place.base());
    assert!(
        begun.keys().all(|name| name.starts_with("partial/")),
        "{:?}",
        begun.keys()
    );
    let length = begun.values().map(|(length, _)| length).sum::<usize>();
    assert!(length > 100_000 && length < 3_000_000, "{length}");
    drop(server);
    let server = FtpServer::start(
        &place.there(),
        &FtpSetup {
            port,
            ..FtpSetup::default()
        },
    );
    let fetched = place.fetch(&server.address("big/")).unwrap();
    assert_eq!(files(&fetched.path), files(&place.there().join("big")));
    assert!(
        fetched.bytes < 3_000_000 - 100_000 + 70_000,
        "{}",
        fetched.bytes
    );
}

#[test]
fn links_lead_neither_out_nor_in_circles() {
    let place = place();
    symlink(place.there().join("pub"), place.there().join("pub/circle")).unwrap();
    symlink("/etc", place.there().join("pub/etc")).unwrap();
    let server = FtpServer::start(&place.there(), &FtpSetup::default());

    let fetched = place.fetch(&server.address("pub/")).unwrap();

    let names = files(&fetched.path);
    assert!(names.contains_key("a.pdf"));
    assert!(names.len() <= 6, "{:?}", names.keys());
    assert!(!names.keys().any(|name| name.starts_with("etc/")));
}

#[test]
fn a_server_that_is_not_there_is_given_up() {
    let place = Place::new();
    let port = test_support::free_port();
    let refusal = place.refusal(&format!("ftp://127.0.0.1:{port}/pub/"));
    assert!(refusal.contains("given up after 3 attempts"), "{refusal}");
}
