//! Kill -9, restarts, full disks, damaged indexes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use test_support::{Answer, Fixture, Server, files_below, free_port, get, wait_until};

use crate::garner;

const LIST: &str = "verb=ListIdentifiers&metadataPrefix=oai_dc";

#[test]
fn a_first_scan_that_is_killed_begins_again() {
    let fixture = many_files(3000);
    let port = free_port();

    for _ in 0..3 {
        let mut scanning = start_scanning(&fixture, port);
        scanning.kill().unwrap();
        scanning.wait().unwrap();
    }
    let server = garner().serve_on(&fixture, "", port);

    assert_eq!(server.all().len(), 3000);
    assert!(!fixture.data().join("index.sqlite.new").exists());
    assert_well(&server);
}

#[test]
fn a_server_that_is_killed_amid_changes_misses_none_of_them() {
    let fixture = many_files(5000);
    let port = free_port();
    let server = garner().serve_on(&fixture, "", port);
    let mut harvester = Harvester::default();
    harvester.harvest(&server);
    let name = |number: usize| format!("{}/{number}.txt", number % 20);

    let mut server = Some(server);
    for number in 0..5000 {
        let path = fixture.path(name(number));
        match number % 5 {
            0 => fs::remove_file(path).unwrap(),
            1 => fs::rename(&path, path.with_extension("html")).unwrap(),
            _ => fs::write(path, vec![b'x'; number % 97]).unwrap(),
        }
        let seen = |server: &mut Server| server.log().contains("index updated");
        if number > 1000 && (number == 3000 || server.as_mut().is_some_and(seen)) {
            // The harvester too sees some of it before the end.
            if let Some(server) = server.take() {
                harvester.harvest(&server);
                server.kill();
            }
        }
    }
    let server = garner().serve_on(&fixture, "", port);

    harvester.catch_up("the harvester has all", &fixture, &server);
    assert_well(&server);
}

#[test]
fn whoever_only_asks_for_changes_misses_nothing_over_many_crashes() {
    let fixture = Fixture::small();
    let port = free_port();
    let mut harvester = Harvester::default();

    for round in 0..6 {
        let server = garner().serve_on(&fixture, "", port);
        harvester.catch_up("the harvester has all", &fixture, &server);
        // Some changes are seen before the crash, some after it, some in the very second of an answer.
        fixture.write("seen.txt", vec![b'x'; round + 1]);
        if round % 2 == 0 {
            let seen = format!("<dc:format>{} bytes</dc:format>", round + 1);
            wait_until("the change is visible", || {
                server
                    .record(&server.url("seen.txt"), "oai_dc")
                    .xml
                    .contains(&seen)
            });
            harvester.harvest(&server);
        }
        fixture.write("unseen.txt", vec![b'x'; 10 + round]);
        fixture.write(format!("new-{round}.txt"), "new");
        server.kill();
        let _ = fs::remove_file(fixture.path(format!("new-{}.txt", round.wrapping_sub(1))));
        fixture.write("away.txt", vec![b'x'; 20 + round]);
        // As rsync and tar do: the modification time of something older.
        fixture.set_mtime("away.txt", 1_000_000_000);
    }
    let server = garner().serve_on(&fixture, "", port);
    harvester.catch_up("the harvester has all", &fixture, &server);
    assert_well(&server);
}

#[test]
fn tombstones_and_tokens_survive_a_crash() {
    let fixture = Fixture::small();
    let port = free_port();
    let config = "[pages]\nidentifiers = 2\n";
    let server = garner().serve_on(&fixture, config, port);
    fs::remove_file(fixture.path("about.html")).unwrap();
    let about = server.url("about.html");
    let tombstone = |server: &Server| {
        let headers = server.all().into_iter();
        let mut deleted = headers.filter(|header| header.deleted);
        deleted.find(|header| header.identifier == about)
    };
    wait_until("the tombstone is there", || tombstone(&server).is_some());
    let before = tombstone(&server);
    let token = server.ask(LIST).token().unwrap();
    let next = format!("verb=ListIdentifiers&resumptionToken={token}");
    let page = server.ask(&next).headers();

    server.kill();
    let server = garner().serve_on(&fixture, config, port);

    assert_eq!(tombstone(&server), before);
    assert_eq!(server.ask(&next).headers(), page);
    server.stop();
    let server = garner().serve_on(&fixture, config, port);
    assert_eq!(tombstone(&server), before);
    assert_eq!(server.ask(&next).headers(), page);
}

#[test]
fn sigterm_ends_a_first_scan_at_once() {
    let fixture = many_files(5000);
    let mut scanning = start_scanning(&fixture, free_port());

    let status = terminate(&mut scanning);

    assert!(status.success(), "{status}");
}

#[test]
fn sigterm_ends_a_server_soon_whatever_its_clients_do() {
    let fixture = Fixture::small();
    for number in 0..6 {
        fixture.write(format!("large-{number}.bin"), vec![b'x'; 6 << 20]);
    }
    let config = "[pages]\nbytes = 0\n[flow_control]\nstall_seconds = 1\n";
    let server = garner().serve(&fixture, config);
    let authority = server.authority().to_owned();
    let open = |request: &str| {
        let mut stream = TcpStream::connect(&authority).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    let list = "GET /modoai?verb=ListRecords&metadataPrefix=oai_didl HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut stalled = open(list);
    stalled.read_exact(&mut [0; 12]).unwrap();
    let mut idle = open("GET /notes.txt HTTP/1.1\r\nHost: x\r\n\r\n");
    idle.read_exact(&mut [0; 12]).unwrap();
    let _half = open("GET /no");
    let mut running = open(list);
    running.read_exact(&mut [0; 12]).unwrap();

    let began = Instant::now();
    let reader = thread::spawn(move || {
        let mut rest = Vec::new();
        let _ = running.read_to_end(&mut rest);
        rest
    });
    server.stop();

    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    let rest = reader.join().unwrap();
    assert!(
        rest.ends_with(b"0\r\n\r\n"),
        "the running list was not let end"
    );
    assert!(TcpStream::connect(&authority).is_err());
}

#[test]
fn a_second_server_on_the_same_index_is_refused() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");

    let second = run(&fixture, free_port(), &[]);

    assert_refused(&second, &["in use by another garner", "--data"]);
    assert_eq!(server.all().len(), 6);
    assert_well(&server);
}

#[test]
fn a_port_in_use_is_named_with_the_remedy() {
    let fixture = Fixture::small();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();

    let refused = run(&fixture, port, &[]);

    assert_refused(
        &refused,
        &[&format!("127.0.0.1:{port}"), "--listen", "in use"],
    );
}

#[test]
fn a_data_directory_that_cannot_be_used_is_named() {
    let fixture = Fixture::small();
    fs::write(fixture.data(), "a file").unwrap();

    let refused = run(&fixture, free_port(), &[]);

    assert_refused(
        &refused,
        &[&fixture.data().display().to_string(), "data directory"],
    );
    assert_eq!(fs::read(fixture.data()).unwrap(), b"a file");
}

#[test]
fn an_index_within_the_site_is_refused() {
    let fixture = Fixture::small();
    symlink(fixture.site(), fixture.data()).unwrap();
    let inside = fixture.path("docs/data").to_str().unwrap().to_owned();

    for data in [inside, format!("{}/new/data", fixture.data().display())] {
        let site = fixture.site();
        let refused = garner()
            .arg("serve")
            .arg(site)
            .args(["--data", &data])
            .output();

        assert_refused(&refused, &[&data, "within the site", "--data"]);
        assert!(!Path::new(&data).exists());
    }
}

#[test]
fn a_site_that_is_not_there_is_named() {
    let fixture = Fixture::empty();
    fs::remove_dir(fixture.site()).unwrap();

    let refused = run(&fixture, free_port(), &[]);

    assert_refused(&refused, &[&fixture.site().display().to_string()]);
}

#[test]
fn a_full_disk_delays_changes_and_loses_none() {
    let fixture = Fixture::small();
    let Some(_mounted) = Mounted::small(&fixture.data()) else {
        return;
    };
    let port = free_port();
    let server = garner().serve_on(&fixture, "", port);
    let mut harvester = Harvester::default();
    harvester.harvest(&server);

    let filler = fixture.data().join("filler");
    fill(&filler);
    for number in 0..3000 {
        fixture.write(format!("new/{number}-{}.txt", "n".repeat(150)), "new");
    }
    fs::remove_file(fixture.path("about.html")).unwrap();
    fixture.write("notes.txt", "other notes");
    wait_until("the trouble is logged", || {
        server.log().contains("make room on its disk")
    });
    for query in [
        "verb=Identify",
        "verb=ListSets",
        LIST,
        "verb=ListRecords&metadataPrefix=oai_didl",
    ] {
        assert_eq!(server.ask(query).error(), None, "{query}");
    }
    assert_eq!(get(&server.url("notes.txt")).text(), "other notes");

    fs::remove_file(&filler).unwrap();
    harvester.catch_up("all changes are visible", &fixture, &server);
    assert_well(&server);
    server.stop();
}

#[test]
fn a_disk_that_is_full_at_a_restart_is_named_and_no_index_is_lost() {
    let fixture = Fixture::small();
    let Some(_mounted) = Mounted::small(&fixture.data()) else {
        return;
    };
    let port = free_port();
    let server = garner().serve_on(&fixture, "", port);
    fs::remove_file(fixture.path("about.html")).unwrap();
    let deleted = |server: &Server| server.all().iter().filter(|header| header.deleted).count();
    wait_until("the tombstone is there", || deleted(&server) == 1);
    server.kill();
    let filler = fixture.data().join("filler");
    fill(&filler);
    for number in 0..3000 {
        fixture.write(format!("new/{number}-{}.txt", "n".repeat(150)), "new");
    }

    let refused = run(&fixture, port, &[]);
    assert_refused(&refused, &["make room"]);

    fs::remove_file(&filler).unwrap();
    let server = garner().serve_on(&fixture, "", port);
    assert_eq!((server.all().len(), deleted(&server)), (3006, 1));
    server.stop();
}

#[test]
fn a_damaged_index_is_rebuilt_with_the_tombstones_that_can_be_read() {
    let fixture = many_files(2000);
    let port = free_port();
    let server = garner().serve_on(&fixture, "", port);
    for number in 0..100 {
        fs::remove_file(fixture.path(format!("{}/{}.txt", number % 20, number))).unwrap();
    }
    let deleted = |server: &Server| server.all().iter().filter(|header| header.deleted).count();
    wait_until("the tombstones are there", || deleted(&server) == 100);
    server.stop();
    let index = fixture.data().join("index.sqlite");
    let sound = fs::read(&index).unwrap();
    let size = sound.len();

    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage, usize); 7] = [
        (
            "junk in its place",
            |bytes| *bytes = b"this is no index\n".repeat(5000),
            0,
        ),
        ("nothing in its place", |bytes| bytes.clear(), 0),
        (
            "cut in the middle",
            |bytes| bytes.truncate(bytes.len() / 2 + 100),
            0,
        ),
        ("without its first page", |bytes| bytes[..8192].fill(0), 0),
        (
            "one page of junk",
            |bytes| {
                let middle = bytes.len() / 8192 / 4 * 8192;
                bytes[middle..middle + 8192].fill(0xA5);
            },
            1,
        ),
        (
            "junk in the middle",
            |bytes| {
                let (from, to) = (bytes.len() / 3, bytes.len() / 2);
                bytes[from..to].fill(0xA5);
            },
            0,
        ),
        (
            "junk at the end",
            |bytes| {
                let from = bytes.len() - 5 * 8192;
                bytes[from..].fill(0);
            },
            1,
        ),
    ];
    for (what, damage, at_least) in damages {
        let mut bytes = sound.clone();
        damage(&mut bytes);
        fs::write(&index, bytes).unwrap();
        let server = garner().serve_on(&fixture, "", port);

        assert!(server.log().contains("rebuilt"), "{what}: {}", server.log());
        let live = server.all().iter().filter(|header| !header.deleted).count();
        assert_eq!(live, 1900, "{what}");
        assert!(
            deleted(&server) >= at_least,
            "{what}: {} tombstones",
            deleted(&server)
        );
        for set in ["mime", "mime:text:plain"] {
            let arguments = format!("metadataPrefix=oai_dc&set={set}");
            let list = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
            assert!(list.len() >= 1900, "{what}");
        }
        assert_well(&server);
        server.stop();
    }
    // A rebuilt index is as good as any: the next start has nothing to say about it.
    let server = garner().serve_on(&fixture, "", port);
    assert!(!server.log().contains("rebuilt"), "{}", server.log());
    assert!(size > 8192 * 10);
}

#[test]
fn a_page_that_rots_outside_of_the_items_is_noticed_too() {
    let fixture = many_files(500);
    let port = free_port();
    let server = garner().serve_on(&fixture, "", port);
    server.stop();
    let index = fixture.data().join("index.sqlite");
    let sound = fs::read(&index).unwrap();

    for page in 1..sound.len() / 8192 {
        let mut file = fs::File::options().write(true).open(&index).unwrap();
        file.seek(SeekFrom::Start(page as u64 * 8192)).unwrap();
        file.write_all(&[0xA5; 8192]).unwrap();
        drop(file);

        let server = garner().serve_on(&fixture, "", port);
        let live = server.all().iter().filter(|header| !header.deleted).count();
        assert_eq!(live, 500, "page {page}");
        server.stop();
        fs::write(&index, &sound).unwrap();
    }
}

#[test]
fn rebuilding_keeps_tombstones_datestamps_and_tokens() {
    let fixture = Fixture::small();
    let port = free_port();
    let config = "[pages]\nidentifiers = 2\n";
    let server = garner().serve_on(&fixture, config, port);
    fs::remove_file(fixture.path("about.html")).unwrap();
    fixture.write("notes.txt", "other notes");
    wait_until("the changes are there", || {
        server.all().iter().any(|header| header.deleted)
            && server
                .record(&server.url("notes.txt"), "oai_dc")
                .xml
                .contains("11 bytes")
    });
    let before = server.all();
    let token = server.ask(LIST).token().unwrap();
    let next = format!("verb=ListIdentifiers&resumptionToken={token}");
    let page = server.ask(&next).headers();
    server.stop();

    let server = garner()
        .arg("serve")
        .args(arguments(&fixture, port))
        .arg("--rebuild");
    let server = server
        .arg("--config")
        .arg(fixture.beside("site.toml"))
        .start();

    assert!(server.log().contains("rebuilt"));
    assert_eq!(server.all(), before);
    assert_eq!(server.ask(&next).headers(), page);
    assert_well(&server);
}

#[test]
fn a_site_that_is_away_for_a_while_leaves_no_tombstones() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[index]\nrescan_seconds = 1\n");
    let before = server.all();

    fs::rename(fixture.site(), fixture.beside("elsewhere")).unwrap();
    wait_until("the trouble is logged", || {
        server.log().contains("nothing known of it was changed")
    });
    for _ in 0..3 {
        // Two answers a second apart, so that a scan lies between them.
        let now = server.ask("verb=Identify").text("responseDate").unwrap();
        wait_until("a second has passed", || {
            server.ask("verb=Identify").text("responseDate").unwrap() > now
        });
        assert_eq!(server.all(), before);
    }
    fs::write(fixture.beside("elsewhere/while-away.txt"), "x").unwrap();
    fs::rename(fixture.beside("elsewhere"), fixture.site()).unwrap();

    wait_until("the new file is seen", || server.all().len() == 7);
    assert!(server.all().iter().all(|header| !header.deleted));
    fixture.write("later.txt", "x");
    wait_until("the site is watched again", || server.all().len() == 8);
    assert_well(&server);
}

#[test]
fn a_site_whose_link_is_switched_is_seen_anew() {
    let fixture = Fixture::small();
    let (old, new) = (fixture.beside("release-1"), fixture.beside("release-2"));
    fs::rename(fixture.site(), &old).unwrap();
    symlink(&old, fixture.site()).unwrap();
    let server = garner().serve(&fixture, "");
    let mut harvester = Harvester::default();
    harvester.harvest(&server);
    fs::create_dir_all(new.join("docs")).unwrap();
    for (name, content) in [
        ("index.html", "<title>Start</title>a new start"),
        ("docs/page.html", "<title>Page</title>a page"),
        ("fresh/fresh.txt", "fresh"),
    ] {
        fs::create_dir_all(new.join(name).parent().unwrap()).unwrap();
        fs::write(new.join(name), content).unwrap();
    }

    symlink(&new, fixture.beside("link")).unwrap();
    fs::rename(fixture.beside("link"), fixture.site()).unwrap();

    harvester.catch_up("the new release is visible", &fixture, &server);
    let deleted = server.all().into_iter().filter(|header| header.deleted);
    assert_eq!(deleted.count(), 4);
    assert_eq!(get(&server.url("about.html")).status, 404);
    assert!(
        get(&server.url("index.html"))
            .text()
            .contains("a new start")
    );
    fs::write(new.join("fresh/later.txt"), "x").unwrap();
    fs::write(old.join("too-late.txt"), "x").unwrap();
    harvester.catch_up("the new directories are watched", &fixture, &server);
    assert_well(&server);
}

/// Harvests as the protocol says: everything once, then what changed since the last answer.
#[derive(Default)]
struct Harvester {
    /// The sizes of all resources by identifier; nothing for tombstones.
    items: BTreeMap<String, Option<u64>>,
    last: Option<String>,
}

impl Harvester {
    fn harvest(&mut self, server: &Server) {
        let from = self.last.iter().map(|last| format!("&from={last}"));
        let arguments = format!("metadataPrefix=oai_dc{}", from.collect::<String>());
        let pages = Answer::pages(&server.base_url, "ListRecords", &arguments, &[]);
        self.last = pages[0].text("responseDate");
        for page in &pages {
            let errors = page.errors();
            assert!(
                errors.is_empty() || errors == ["noRecordsMatch"],
                "{errors:?}"
            );
            self.take(page);
        }
    }

    /// Harvests until it has what is on disk.
    fn catch_up(&mut self, what: &str, fixture: &Fixture, server: &Server) {
        wait_until(what, || {
            self.harvest(server);
            self.live() == on_disk(fixture, server)
        });
    }

    fn take(&mut self, page: &Answer) {
        let document = roxmltree::Document::parse(&page.xml).unwrap();
        let nodes = document.descendants();
        let records = nodes.filter(|node| node.tag_name().name() == "record");
        for record in records {
            let texts = |name: &'static str| {
                let nodes = record
                    .descendants()
                    .filter(move |node| node.tag_name().name() == name);
                nodes.filter_map(|node| node.text())
            };
            let identifier = texts("identifier").next().unwrap().to_owned();
            let size = texts("format").find_map(|text| text.strip_suffix(" bytes")?.parse().ok());
            self.items.insert(identifier, size);
        }
    }

    fn live(&self) -> BTreeMap<String, u64> {
        let live = self.items.iter();
        live.filter_map(|(identifier, size)| Some((identifier.clone(), (*size)?)))
            .collect()
    }
}

/// The expected records of a harvester: the sizes of all files by identifier.
fn on_disk(fixture: &Fixture, server: &Server) -> BTreeMap<String, u64> {
    let files = files_below(&fixture.site()).into_iter();
    let sizes = files.map(|path| {
        let size = fixture.path(&path).metadata().unwrap().len();
        (server.url(std::str::from_utf8(&path).unwrap()), size)
    });
    sizes.collect()
}

/// A small disk of its own on a directory; taken away when dropped.
pub(crate) struct Mounted(pub(crate) PathBuf);

impl Mounted {
    pub(crate) fn small(place: &Path) -> Option<Self> {
        fs::create_dir_all(place).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"])
            .arg(place)
            .output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(place.to_owned())),
            other => {
                eprintln!("SKIPPED: no file system can be mounted here: {other:?}");
                None
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily: the server may still be ending.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Takes all room that is left on a disk.
pub(crate) fn fill(filler: &Path) {
    let mut file = fs::File::create(filler).unwrap();
    for size in [64 * 1024, 4096, 1] {
        while file.write_all(&vec![b'x'; size]).is_ok() {}
    }
}

fn many_files(count: usize) -> Fixture {
    let fixture = Fixture::empty();
    for number in 0..count {
        fixture.write(format!("{}/{number}.txt", number % 20), "before");
    }
    fixture
}

fn arguments(fixture: &Fixture, port: u16) -> Vec<String> {
    let own = |path: PathBuf| path.to_str().unwrap().to_owned();
    let (site, data) = (own(fixture.site()), own(fixture.data()));
    let listen = format!("127.0.0.1:{port}");
    let arguments = [
        &site,
        "--data",
        &data,
        "--listen",
        &listen,
        "--admin-email",
        "admin@example.org",
    ];
    arguments.map(str::to_owned).to_vec()
}

/// Runs a server that is expected to end by itself.
fn run(fixture: &Fixture, port: u16, more: &[&str]) -> Output {
    garner()
        .arg("serve")
        .args(arguments(fixture, port))
        .args(more)
        .output()
}

/// Starts a server and comes back when its first scan has begun.
fn start_scanning(fixture: &Fixture, port: u16) -> Child {
    let unfinished = fixture.data().join("index.sqlite.new");
    let _ = fs::remove_file(&unfinished);
    let child = Command::new(env!("CARGO_BIN_EXE_garner"))
        .arg("serve")
        .args(arguments(fixture, port))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !unfinished.exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "no scan began");
        thread::yield_now();
    }
    child
}

fn terminate(child: &mut Child) -> ExitStatus {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let began = Instant::now();
    let status = child.wait().unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
    status
}

fn assert_refused(output: &Output, words: &[&str]) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for word in words {
        assert!(told.contains(word), "`{word}` is missing: {told}");
    }
    assert!(!told.contains("panicked"), "{told}");
}

fn assert_well(server: &Server) {
    assert_eq!(server.ask("verb=Identify").error(), None);
    assert!(!server.log().contains("panicked"), "{}", server.log());
}
