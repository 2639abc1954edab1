//! Files that misbehave: they change under the reader, have odd names and dates, or are no files at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use test_support::{Answer, Fixture, from_base64, get, wait_until};

use crate::bad_input::{LIST, assert_well};
use crate::garner;

#[test]
fn bytes_by_value_are_always_one_version_of_their_file() {
    let fixture = Fixture::small();
    let kinds = [
        Change::InPlace,
        Change::Rewrite,
        Change::Replace,
        Change::Vanish,
    ];
    let mut versions = BTreeMap::new();
    for (number, change) in kinds.iter().enumerate() {
        for size in [40_000, 700_000] {
            let name = format!("{number}-{size}.bin");
            fixture.write(&name, vec![b'a'; size]);
            versions.insert(name, change.versions(size));
        }
    }
    let digests: BTreeMap<(u8, usize), String> = versions
        .values()
        .flatten()
        .map(|version| (*version, sha256(&vec![version.0; version.1])))
        .collect();
    let server = garner().serve(&fixture, "[pages]\nbytes = 2000000\n");
    let stop = AtomicBool::new(false);

    let (mut whole, mut harvests) = (0, 0);
    thread::scope(|scope| {
        let finished = Finished(&stop);
        for (number, change) in kinds.iter().enumerate() {
            let (fixture, versions, stop) = (&fixture, &versions, &stop);
            scope.spawn(move || {
                let mine = versions
                    .iter()
                    .filter(|(name, _)| name.starts_with(&number.to_string()));
                let mine: Vec<_> = mine.collect();
                for round in 0.. {
                    for (name, versions) in &mine {
                        change.make(&fixture.path(name), versions[round % versions.len()]);
                        thread::sleep(Duration::from_millis(round as u64 * 13 % 60));
                    }
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let until = Instant::now() + Duration::from_secs(4);
        while Instant::now() < until || harvests == 0 {
            assert!(
                Instant::now() < until + Duration::from_secs(20),
                "no harvest got through"
            );
            let mut next = Some("verb=ListRecords&metadataPrefix=oai_didl".to_owned());
            while let Some(query) = next.take() {
                let response = get(&format!("{}?{query}", server.base_url));
                if response.status == 503 || !response.complete {
                    // Broken off for all to see: asked again.
                    let text = response.text();
                    assert!(
                        !text.contains("</OAI-PMH>"),
                        "an answer that broke off looks whole"
                    );
                    if Instant::now() < until + Duration::from_secs(20) {
                        next = Some(query);
                    }
                    continue;
                }
                let answer = Answer::of(response);
                whole += check_versions(&answer, &digests);
                let token = answer.token();
                next = token.map(|token| format!("verb=ListRecords&resumptionToken={token}"));
                harvests += usize::from(next.is_none());
            }
        }
        drop(finished);
    });

    assert!(whole > 10, "only {whole} resources came by value");
    assert_well(&server);
}

#[test]
fn a_file_that_never_rests_is_offered_all_the_same() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let stop = AtomicBool::new(false);

    thread::scope(|scope| {
        let finished = Finished(&stop);
        scope.spawn(|| {
            let mut file = fs::File::create(fixture.path("growing.txt")).unwrap();
            while !stop.load(Ordering::Relaxed) {
                file.write_all(b"one more line\n").unwrap();
                thread::sleep(Duration::from_millis(1));
            }
        });

        let identifier = server.url("growing.txt");
        let datestamp = || {
            let header = server
                .all()
                .into_iter()
                .find(|header| header.identifier == identifier);
            header.map(|header| header.datestamp)
        };
        wait_until("the growing file is offered", || datestamp().is_some());
        let first = datestamp();
        wait_until("its growth is told", || datestamp() > first);
        drop(finished);
    });
    assert_well(&server);
}

#[test]
fn a_directory_that_turns_unreadable_comes_back() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let docs = fixture.path("docs");
    let gone = || server.all().iter().filter(|header| header.deleted).count();
    assert_eq!(gone(), 0);

    fs::set_permissions(&docs, fs::Permissions::from_mode(0o000)).unwrap();
    wait_until("its files are tombstones", || gone() == 2);
    assert_eq!(get(&server.url("docs/page.html")).status, 403);

    fs::set_permissions(&docs, fs::Permissions::from_mode(0o755)).unwrap();
    wait_until("its files are back", || gone() == 0);
    assert_eq!(get(&server.url("docs/page.html")).status, 200);
    assert_well(&server);
}

#[test]
fn odd_modification_times_make_datestamps_that_are_valid_and_not_in_the_future() {
    let fixture = Fixture::small();
    fixture.write("before.txt", "x");
    let times = [
        ("1903.txt", -2_100_000_000),
        ("2099.txt", 4_090_000_000),
        ("epoch.txt", 0),
        ("minus-one.txt", -1),
        ("far.txt", 15_000_000_000),
    ];
    let set_all = |prefix: &str| {
        for (name, seconds) in times {
            let name = format!("{prefix}{name}");
            fixture.write(&name, "x");
            fixture.set_mtime(&name, seconds);
        }
    };
    set_all("first-");
    let server = garner().serve(&fixture, "");
    set_all("later-");

    wait_until("all are offered", || {
        server.all().len() == 7 + 2 * times.len()
    });
    let identify = server.ask("verb=Identify");
    let earliest = identify.text("earliestDatestamp").unwrap();
    let answer = server.ask(LIST);
    let now = answer.text("responseDate").unwrap();
    for header in answer.headers() {
        let datestamp = &header.datestamp;
        assert_eq!(datestamp.len(), 20, "{header:?}");
        assert!(earliest <= *datestamp && *datestamp <= now, "{header:?}");
        let alone = server.ask(&format!("{LIST}&from={datestamp}&until={datestamp}"));
        assert!(alone.headers().contains(&header), "{header:?}");
        assert_eq!(get(&header.identifier).status, 200);
    }
    let old = server.ask(&format!("{LIST}&until=1903-12-31"));
    assert_eq!(old.headers().len(), 1);
    assert_well(&server);
}

#[test]
fn ten_thousand_changes_at_once_are_all_seen_soon() {
    let fixture = Fixture::empty();
    let name = |number: usize| format!("{}/{number}.txt", number % 50);
    for number in 0..10_000 {
        fixture.write(name(number), "before");
    }
    let server = garner().serve(&fixture, "");
    let before = server.ask("verb=Identify").text("responseDate").unwrap();

    for number in 0..10_000 {
        fs::write(fixture.path(name(number)), "after").unwrap();
    }

    let changed = || {
        let arguments = format!("metadataPrefix=oai_dc&from={before}");
        let headers = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
        let identifiers: BTreeSet<_> = headers
            .into_iter()
            .map(|header| header.identifier)
            .collect();
        identifiers.len()
    };
    wait_until("all changes are visible", || changed() == 10_000);
    assert_well(&server);
}

#[test]
fn deep_directories_and_long_names_are_offered() {
    let fixture = Fixture::small();
    let deep = format!("{}leaf.txt", "d/".repeat(100));
    let long = format!("{}.txt", "n".repeat(251));
    let wide = "\u{fc}".repeat(125) + ".txt";
    fixture.write(&deep, "deep");
    let server = garner().serve(&fixture, "");

    fixture.write(&long, "long");
    fixture.write(&wide, "wide");
    fixture.write(format!("{}later.txt", "d/".repeat(100)), "later");

    wait_until("all are offered", || server.all().len() == 10);
    let bodies: BTreeSet<_> = server
        .all()
        .iter()
        .map(|header| get(&header.identifier).text())
        .collect();
    for body in ["deep", "long", "wide", "later"] {
        assert!(bodies.contains(body), "{body}");
    }
    assert_well(&server);
}

#[test]
fn a_path_longer_than_the_system_takes_at_once_harms_nothing_else() {
    let fixture = Fixture::small();
    // Only step by step can such a tree be made, and unmade.
    let script = "i=0; while [ $i -lt 30 ]; do n=$(printf '%0200d' $i); mkdir $n && cd -P $n || exit 1; \
                  i=$((i+1)); done; echo x > leaf.txt";
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(fixture.site())
        .status();
    assert!(made.unwrap().success());

    let server = garner().serve(&fixture, "");
    fixture.write("later.txt", "x");

    wait_until("what comes later is seen", || {
        server
            .all()
            .iter()
            .any(|header| header.identifier.ends_with("/later.txt"))
    });
    let deep = server
        .all()
        .into_iter()
        .find(|header| header.identifier.ends_with("/leaf.txt"));
    if let Some(deep) = deep {
        assert_eq!(get(&deep.identifier).text(), "x\n");
    }
    assert_well(&server);
    let unmade = Command::new("rm").arg("-rf").arg(fixture.site()).status();
    assert!(unmade.unwrap().success());
}

#[test]
fn names_with_every_control_byte_are_offered_and_served() {
    let fixture = Fixture::empty();
    let odd: Vec<u8> = (1..=0x20)
        .chain([b'"', b'\'', b'<', b'>', b'&', 0x7F, 0x80, 0xFF])
        .collect();
    for byte in &odd {
        fixture.write([b"a".as_slice(), &[*byte], b"z.txt"].concat(), [*byte]);
        fixture.write([b"d".as_slice(), &[*byte], b"/x.txt"].concat(), [*byte]);
    }
    let server = garner().serve(&fixture, "");

    let headers = server.all();

    assert_eq!(headers.len(), 2 * odd.len());
    let bodies: BTreeSet<_> = headers
        .iter()
        .map(|header| get(&header.identifier).body)
        .collect();
    assert_eq!(bodies, odd.iter().map(|byte| vec![*byte]).collect());
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        let pages = Answer::pages(
            &server.base_url,
            "ListRecords",
            &format!("metadataPrefix={prefix}"),
            &[],
        );
        assert_eq!(
            pages.iter().flat_map(Answer::headers).count(),
            2 * odd.len()
        );
    }
    let listing = get(&server.site_url.clone());
    assert_eq!(listing.status, 200);
    assert!(!listing.text().contains("a<z"));
    // Directories are told in the address of a redirect: no byte of a name may end that line.
    let redirect = get(&server.url("d%0A"));
    assert_eq!(
        (redirect.status, redirect.header("location")),
        (301, Some("./d%0A/"))
    );
    assert_well(&server);
}

#[test]
fn special_files_neither_hang_nor_are_offered() {
    let fixture = Fixture::small();
    let fifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    fifo(&fixture.path("fifo.txt"));
    fifo(&fixture.beside("outside.fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(fixture.path("socket.txt")).unwrap();
    for (target, name) in [
        ("/dev/zero", "zero.txt"),
        ("/dev/tty", "tty.txt"),
        ("/proc/kmsg", "kmsg.txt"),
        ("fifo.txt", "fifo-link.txt"),
        ("../outside.fifo", "outside-fifo.txt"),
        ("nowhere", "dangling.txt"),
    ] {
        symlink(target, fixture.path(name)).unwrap();
    }

    for symlinks in ["none", "inside", "all"] {
        let config = format!("[offer]\nsymlinks = \"{symlinks}\"\n");
        let server = garner().serve(&fixture, &config);

        let names: BTreeSet<_> = server
            .all()
            .into_iter()
            .filter(|header| !header.deleted)
            .collect();
        assert!(
            names
                .iter()
                .all(|header| !header.identifier.contains("zero")),
            "{names:?}"
        );
        let offered = names
            .iter()
            .filter(|header| !header.identifier.contains("kmsg"))
            .count();
        assert_eq!(offered, 6, "{names:?}");
        for name in [
            "fifo.txt",
            "socket.txt",
            "zero.txt",
            "tty.txt",
            "fifo-link.txt",
            "outside-fifo.txt",
            "dangling.txt",
        ] {
            let began = Instant::now();
            let status = get(&server.url(name)).status;
            assert!([403, 404].contains(&status), "{name}: {status}");
            assert!(began.elapsed() < Duration::from_secs(2), "{name} hangs");
        }
        fifo(&fixture.path("later.txt"));
        fixture.write("later-still.txt", "x");
        wait_until("what comes later is seen", || {
            server
                .all()
                .iter()
                .any(|header| header.identifier.ends_with("later-still.txt"))
        });
        assert!(
            server
                .all()
                .iter()
                .all(|header| !header.identifier.ends_with("/later.txt"))
        );
        assert_well(&server);
        server.stop();
        for name in ["later.txt", "later-still.txt"] {
            fs::remove_file(fixture.path(name)).unwrap();
        }
        let _ = fs::remove_dir_all(fixture.data());
    }
}

#[test]
fn an_empty_site_is_a_repository_without_records() {
    let fixture = Fixture::empty();
    let server = garner().serve(&fixture, "");

    for (query, error) in [
        ("verb=Identify", None),
        ("verb=ListMetadataFormats", None),
        ("verb=ListSets", Some("noSetHierarchy")),
        (LIST, Some("noRecordsMatch")),
        (
            "verb=ListRecords&metadataPrefix=oai_didl",
            Some("noRecordsMatch"),
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&set=mime",
            Some("noSetHierarchy"),
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=a:b",
            Some("idDoesNotExist"),
        ),
        (
            "verb=ListIdentifiers&resumptionToken=x",
            Some("badResumptionToken"),
        ),
    ] {
        assert_eq!(server.ask(query).error().as_deref(), error, "{query}");
    }
    assert_eq!(get(&server.site_url.clone()).status, 200);
    assert_well(&server);
}

#[test]
fn links_that_lead_in_circles_trap_nobody() {
    let fixture = Fixture::small();
    symlink("b", fixture.path("a")).unwrap();
    symlink("a", fixture.path("b")).unwrap();
    symlink(".", fixture.path("docs/self")).unwrap();
    symlink("..", fixture.path("docs/up")).unwrap();
    symlink(fixture.site(), fixture.path("docs/root")).unwrap();

    for symlinks in ["none", "inside", "all"] {
        let server = garner().serve(&fixture, &format!("[offer]\nsymlinks = \"{symlinks}\"\n"));

        let live = server
            .all()
            .into_iter()
            .filter(|header| !header.deleted)
            .count();
        assert_eq!(live, 6, "{symlinks}");
        for path in ["a", "b", "a/b", "docs/self/self/self/page.html/x"] {
            let status = get(&server.url(path)).status;
            assert!([403, 404].contains(&status), "{path}: {status}");
        }
        assert_well(&server);
        server.stop();
        fs::remove_dir_all(fixture.data()).unwrap();
    }
}

/// How a file is changed while others read it.
enum Change {
    /// The same bytes are overwritten.
    InPlace,
    /// Emptied and written again, longer or shorter.
    Rewrite,
    /// Another file takes its place.
    Replace,
    /// Removed and made again.
    Vanish,
}

impl Change {
    /// Each version is one letter, repeated.
    fn versions(&self, size: usize) -> Vec<(u8, usize)> {
        let grows = usize::from(!matches!(self, Self::InPlace));
        let version = |letter: u8| (letter, size + grows * usize::from(letter - b'a') * 1000);
        (b'a'..=b'e').map(version).collect()
    }

    fn make(&self, path: &Path, (letter, size): (u8, usize)) {
        let bytes = vec![letter; size];
        match self {
            Self::InPlace => {
                let mut file = fs::File::options().write(true).open(path).unwrap();
                file.write_all(&bytes).unwrap();
            }
            Self::Rewrite => fs::write(path, bytes).unwrap(),
            Self::Replace => {
                let beside = path.with_file_name(format!(
                    ".new-{}",
                    path.file_name().unwrap().to_string_lossy()
                ));
                fs::write(&beside, bytes).unwrap();
                fs::rename(beside, path).unwrap();
            }
            Self::Vanish => {
                fs::remove_file(path).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
    }
}

/// Tells other threads to end, also when a test fails.
struct Finished<'a>(&'a AtomicBool);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checks every resource by value against its digest and its Content-Length; says how many there were.
fn check_versions(answer: &Answer, digests: &BTreeMap<(u8, usize), String>) -> usize {
    let document = roxmltree::Document::parse(&answer.xml).unwrap();
    let named = |node: &roxmltree::Node<'_, '_>, name: &str| node.tag_name().name() == name;
    let mut whole = 0;
    for item in document.descendants().filter(|node| named(node, "DIDL")) {
        let identifier = item.attribute("DIDLDocumentId").unwrap_or_default();
        let by_value = item
            .descendants()
            .find(|node| named(node, "Resource") && node.attribute("encoding").is_some());
        let Some(resource) = by_value.filter(|_| identifier.contains(".bin#")) else {
            continue;
        };
        whole += 1;
        let bytes = from_base64(resource.text().unwrap_or_default());
        let length = item
            .descendants()
            .find(|node| node.attribute("name") == Some("Content-Length"));
        let length = length.and_then(|node| node.text()).unwrap();
        assert_eq!(
            length,
            bytes.len().to_string(),
            "{identifier}: Content-Length"
        );
        // A file that was just emptied is a version too.
        let Some(letter) = bytes.first() else {
            continue;
        };
        let other = bytes.iter().position(|byte| byte != letter);
        assert_eq!(
            other,
            None,
            "{identifier}: two versions in {} bytes",
            bytes.len()
        );
        let digest = item.descendants().find(|node| named(node, "digest"));
        if let (Some(digest), Some(right)) = (digest, digests.get(&(*letter, bytes.len()))) {
            assert_eq!(digest.text(), Some(right.as_str()), "{identifier}: digest");
        }
    }
    whole
}

fn sha256(bytes: &[u8]) -> String {
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}
