//! Creations, edits, moves and deletions become visible, with the right datestamps; none is ever missed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use roxmltree::Document;
use test_support::{Answer, Fixture, Header, Server, base64, free_port, get, wait_until};

use crate::garner;

fn header_of(server: &Server, path: &str) -> Option<Header> {
    let identifier = server.url(path);
    server
        .all()
        .into_iter()
        .find(|header| header.identifier == identifier)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

#[test]
fn a_change_is_visible_within_two_seconds() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    server.all();
    for (what, change) in [
        (
            "a new file",
            (|fixture: &Fixture| drop(fixture.write("new.html", "new"))) as fn(&Fixture),
        ),
        ("a file in a new directory", |fixture| {
            drop(fixture.write("a/b/c/new.txt", "new"));
        }),
        ("a file in that directory later", |fixture| {
            drop(fixture.write("a/b/c/later.txt", "later"));
        }),
        ("a removed file", |fixture| {
            fs::remove_file(fixture.path("notes.txt")).unwrap();
        }),
        ("a removed directory", |fixture| {
            fs::remove_dir_all(fixture.path("docs")).unwrap();
        }),
        ("a moved directory", |fixture| {
            fs::rename(fixture.path("a/b"), fixture.path("z")).unwrap();
        }),
        ("a file in the moved directory", |fixture| {
            drop(fixture.write("z/c/last.txt", "last"));
        }),
    ] {
        let before = server.all();
        let began = Instant::now();
        change(&fixture);
        wait_until(what, || server.all() != before);
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{what}: {:?}",
            began.elapsed()
        );
    }
    let live: Vec<_> = server
        .all()
        .into_iter()
        .filter(|header| !header.deleted)
        .collect();
    let mut paths: Vec<_> = live
        .iter()
        .map(|header| header.identifier.strip_prefix(&server.site_url).unwrap())
        .collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "about.html",
            "index.html",
            "logo.png",
            "new.html",
            "z/c/last.txt",
            "z/c/later.txt",
            "z/c/new.txt"
        ]
    );
}

#[test]
fn files_created_while_their_new_directory_is_read_are_seen() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    server.all();
    for round in 0..4 {
        let began = Instant::now();
        let mut written = BTreeSet::new();
        for number in 0.. {
            let name = format!("new-{round}/{}/{number}.txt", number / 500);
            fixture.write(&name, "new");
            written.insert(server.url(&name));
            if began.elapsed() > Duration::from_millis(500) {
                break;
            }
        }

        let ended = Instant::now();
        let mut missing = written;
        while !missing.is_empty() && ended.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(100));
            for header in server.all() {
                missing.remove(&header.identifier);
            }
        }
        assert!(
            missing.is_empty(),
            "{} files of round {round} are not seen, such as {:?}",
            missing.len(),
            missing.first()
        );
    }
}

#[test]
fn datestamps_are_modification_times_of_what_was_there_first() {
    let fixture = Fixture::small();
    fixture.set_mtime("index.html", 946_684_800);
    fixture.set_mtime("about.html", -2_098_742_400);
    fixture.set_mtime("notes.txt", 4_070_908_800);
    let began = now();

    let server = garner().serve(&fixture, "");

    assert_eq!(
        header_of(&server, "index.html").unwrap().datestamp,
        "2000-01-01T00:00:00Z"
    );
    assert_eq!(
        header_of(&server, "about.html").unwrap().datestamp,
        "1903-07-01T00:00:00Z"
    );
    let clamped = seconds_of(&header_of(&server, "notes.txt").unwrap().datestamp);
    assert!((began..=now()).contains(&clamped));
}

#[test]
fn what_moves_in_with_an_old_date_is_stamped_when_noticed() {
    let fixture = Fixture::small();
    fixture.write_beside("old.html", "old");
    fs::File::options()
        .write(true)
        .open(fixture.beside("old.html"))
        .unwrap()
        .set_modified(UNIX_EPOCH + Duration::from_secs(946_684_800))
        .unwrap();
    let server = garner().serve(&fixture, "");
    let response_date = server.ask("verb=Identify").text("responseDate").unwrap();

    fs::rename(fixture.beside("old.html"), fixture.path("old.html")).unwrap();

    wait_until("the moved file", || {
        header_of(&server, "old.html").is_some()
    });
    assert!(header_of(&server, "old.html").unwrap().datestamp >= response_date);
}

#[test]
fn hidden_files_become_tombstones_and_come_back_with_a_new_date() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let first = header_of(&server, "notes.txt").unwrap();

    fs::set_permissions(fixture.path("notes.txt"), PermissionsExt::from_mode(0o000)).unwrap();
    wait_until("the tombstone", || {
        header_of(&server, "notes.txt").unwrap().deleted
    });
    let hidden = header_of(&server, "notes.txt").unwrap();
    fs::set_permissions(fixture.path("notes.txt"), PermissionsExt::from_mode(0o644)).unwrap();
    wait_until("the file to be back", || {
        !header_of(&server, "notes.txt").unwrap().deleted
    });
    let back = header_of(&server, "notes.txt").unwrap();

    assert!(first.datestamp < hidden.datestamp && hidden.datestamp < back.datestamp);
    assert_eq!(hidden.sets, ["mime:text:plain"]);
}

#[test]
fn a_changed_media_type_is_a_change_and_the_tombstone_is_in_both_sets() {
    let fixture = Fixture::small();
    let port = free_port();
    let server = garner().serve_on(&fixture, "", port);
    let before = header_of(&server, "notes.txt").unwrap();
    server.stop();

    let server = garner().serve_on(
        &fixture,
        "[media_types.extensions]\ntxt = \"text/x-notes\"\n",
        port,
    );
    let after = header_of(&server, "notes.txt").unwrap();
    assert!(after.datestamp > before.datestamp);
    assert_eq!(after.sets, ["mime:text:x-notes"]);
    fs::remove_file(fixture.path("notes.txt")).unwrap();
    wait_until("the tombstone", || {
        header_of(&server, "notes.txt").unwrap().deleted
    });

    for set in ["mime:text:plain", "mime:text:x-notes"] {
        let arguments = format!("metadataPrefix=oai_dc&set={set}");
        let list = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
        assert!(
            list.iter()
                .any(|header| header.deleted && header.identifier.ends_with("notes.txt")),
            "{set}"
        );
    }
}

#[test]
fn files_changed_while_the_server_was_down_keep_their_date_after_a_clean_stop() {
    let fixture = Fixture::small();
    let port = free_port();
    let server = garner().serve_on(&fixture, "", port);
    server.all();
    server.stop();
    std::thread::sleep(Duration::from_millis(1100));
    fixture.write("index.html", "changed");
    let changed = now();
    std::thread::sleep(Duration::from_millis(1100));

    let server = garner().serve_on(&fixture, "", port);

    let datestamp = seconds_of(&header_of(&server, "index.html").unwrap().datestamp);
    assert!((changed - 1..=changed).contains(&datestamp));
}

/// Seconds since 1970 of a datestamp, by the calendar; kept apart from the product's own arithmetic.
fn seconds_of(datestamp: &str) -> i64 {
    let number = |range: std::ops::Range<usize>| datestamp[range].parse::<i64>().unwrap();
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let (y, m) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    days * 86_400 + number(11..13) * 3600 + number(14..16) * 60 + number(17..19)
}

/// A harvester that only ever asks for what changed since the last answer, and drops what it has under the
/// same identifier and datestamp.
#[derive(Default)]
struct Harvester {
    from: Option<String>,
    held: BTreeMap<String, (Header, String)>,
}

impl Harvester {
    fn harvest(&mut self, server: &Server) {
        let from = self
            .from
            .as_ref()
            .map_or(String::new(), |from| format!("&from={from}"));
        let arguments = format!("metadataPrefix=oai_didl{from}");
        let pages = Answer::pages(&server.base_url, "ListRecords", &arguments, &[]);
        self.from = pages[0].text("responseDate");
        for page in pages {
            if page.error().as_deref() == Some("noRecordsMatch") {
                continue;
            }
            assert_eq!(page.error(), None, "{}", page.xml);
            let document = Document::parse(&page.xml).unwrap();
            let records = document
                .descendants()
                .filter(|node| node.tag_name().name() == "record");
            for (record, header) in records.zip(page.headers()) {
                let value = record
                    .descendants()
                    .find(|node| node.attribute("encoding") == Some("base64"));
                let value = value
                    .and_then(|node| node.text())
                    .unwrap_or_default()
                    .to_owned();
                let known = self.held.get(&header.identifier);
                if known.is_some_and(|(known, _)| known.datestamp == header.datestamp) {
                    continue;
                }
                if let Some((known, _)) = known {
                    assert!(
                        known.datestamp < header.datestamp,
                        "{header:?} after {known:?}"
                    );
                }
                self.held.insert(header.identifier.clone(), (header, value));
            }
        }
    }

    fn live(&self) -> BTreeMap<String, String> {
        let live = self.held.iter().filter(|(_, (header, _))| !header.deleted);
        live.map(|(identifier, (_, value))| (identifier.clone(), value.clone()))
            .collect()
    }
}

/// A small source of chance that repeats itself from a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Files by name and content, as the test knows them to be visible.
struct World<'a> {
    fixture: &'a Fixture,
    chance: Chance,
    version: u64,
}

impl World<'_> {
    fn name(&mut self) -> String {
        let directory = ["", "a/", "a/b/", "c/"][self.chance.below(4) as usize];
        format!("{directory}{}.txt", self.chance.below(6))
    }

    fn fill(&mut self, path: &PathBuf) {
        self.version += 1;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // The same length every time, so that size tells nothing.
        fs::write(path, format!("version {:06}", self.version)).unwrap();
    }

    fn change(&mut self) {
        let name = self.name();
        let path = self.fixture.path(&name);
        match self.chance.below(9) {
            0..=2 => self.fill(&path),
            3 => {
                self.fill(&path);
                self.fill(&path);
            }
            4 => {
                // Moved in with an old modification time.
                let outside = self.fixture.beside("incoming");
                self.fill(&outside);
                let old = UNIX_EPOCH + Duration::from_secs(1_000_000_000 + self.chance.below(1000));
                fs::File::options()
                    .write(true)
                    .open(&outside)
                    .unwrap()
                    .set_modified(old)
                    .unwrap();
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::rename(outside, path).unwrap();
            }
            5 => drop(fs::remove_file(path)),
            6 => {
                let other = self.name();
                let other = self.fixture.path(other);
                fs::create_dir_all(other.parent().unwrap()).unwrap();
                let _ = fs::rename(path, other);
            }
            7 => {
                let mode = if self.chance.below(2) == 0 {
                    0o000
                } else {
                    0o644
                };
                let _ = fs::set_permissions(path, PermissionsExt::from_mode(mode));
            }
            _ => {
                // An edit that keeps the modification time.
                let Ok(metadata) = fs::metadata(&path) else {
                    return;
                };
                let modified = metadata.modified().unwrap();
                self.fill(&path);
                fs::File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_modified(modified)
                    .unwrap();
            }
        }
    }

    /// The expected view: identifier and content of every readable file.
    fn truth(&self, server: &Server) -> BTreeMap<String, String> {
        let mut truth = BTreeMap::new();
        let mut directories = vec![self.fixture.site()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    directories.push(entry.path());
                } else if entry.metadata().unwrap().permissions().mode() & 0o444 != 0 {
                    let path = entry.path();
                    let relative = path.strip_prefix(self.fixture.site()).unwrap();
                    truth.insert(
                        server.url(relative.to_str().unwrap()),
                        base64(&fs::read(&path).unwrap()),
                    );
                }
            }
        }
        truth
    }
}

fn no_update_is_missed(seed: u64) {
    let fixture = Fixture::empty();
    let port = free_port();
    let mut world = World {
        fixture: &fixture,
        chance: Chance(seed),
        version: 0,
    };
    let config = "[pages]\nrecords = 4\n";
    let mut server = garner().serve_on(&fixture, config, port);
    let mut harvester = Harvester::default();
    for _ in 0..25 {
        for _ in 0..=world.chance.below(5) {
            world.change();
            std::thread::sleep(Duration::from_millis(world.chance.below(120)));
        }
        match world.chance.below(8) {
            0 => {
                server.stop();
                world.change();
                server = garner().serve_on(&fixture, config, port);
            }
            1 => {
                server.kill();
                world.change();
                server = garner().serve_on(&fixture, config, port);
            }
            _ => std::thread::sleep(Duration::from_millis(world.chance.below(500))),
        }
        harvester.harvest(&server);
    }

    let truth = world.truth(&server);
    let began = Instant::now();
    loop {
        harvester.harvest(&server);
        if harvester.live() == truth {
            break;
        }
        assert!(
            began.elapsed() < Duration::from_secs(6),
            "seed {seed}: {:#?}\nshould be {truth:#?}",
            harvester.live()
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn no_update_is_missed_by_who_asks_from_the_last_response_date() {
    no_update_is_missed(1);
}

#[test]
fn no_update_is_missed_with_other_luck() {
    no_update_is_missed(20_261_115);
}

#[test]
fn no_update_is_missed_a_third_time() {
    no_update_is_missed(now().unsigned_abs());
}

/// Issue 18: the other name of a file was told of at the next scan only.
#[test]
fn a_change_by_one_hard_link_is_told_for_the_other_names_within_two_seconds() {
    let fixture = Fixture::small();
    fixture.write("a/one.txt", "one");
    fs::create_dir(fixture.path("b")).unwrap();
    fs::hard_link(fixture.path("a/one.txt"), fixture.path("b/two.txt")).unwrap();
    fs::hard_link(fixture.path("a/one.txt"), fixture.beside("three.txt")).unwrap();
    let server = garner().serve(&fixture, "");
    let size_of = |path: &str| {
        let identifier = server.url(path);
        let query = format!("verb=GetRecord&metadataPrefix=http_header&identifier={identifier}");
        let record = get(&format!("{}?{query}", server.base_url)).text();
        let begin = record.find("Content-Length").unwrap_or_default();
        record[begin..].chars().take(60).collect::<String>()
    };
    let wait_for = |what: &str, change: &dyn Fn(), paths: &[&str]| {
        let before: Vec<_> = paths.iter().map(|path| size_of(path)).collect();
        let began = Instant::now();
        change();
        wait_until(what, || {
            let mut pairs = paths.iter().zip(&before);
            pairs.all(|(path, before)| size_of(path) != *before)
        });
        let elapsed = began.elapsed();
        assert!(elapsed < Duration::from_secs(2), "{what}: {elapsed:?}");
    };
    wait_until("the first look", || {
        size_of("b/two.txt") == size_of("a/one.txt")
    });
    // A change is seen by its own name as soon as the site is followed.
    fixture.write("settled.txt", "x");
    wait_until("the watch", || header_of(&server, "settled.txt").is_some());

    let names = ["a/one.txt", "b/two.txt"];
    let longer = |name: &str| {
        let path = match name {
            "three.txt" => fixture.beside(name),
            name => fixture.path(name),
        };
        let mut content = fs::read(&path).unwrap();
        content.extend(b"more");
        // In place: another file would have one name only.
        fs::write(&path, content).unwrap();
    };
    wait_for("by the first name", &|| longer("a/one.txt"), &names);
    wait_for("by the second name", &|| longer("b/two.txt"), &names);
    wait_for("by a name outside", &|| longer("three.txt"), &names);

    // A name that comes later.
    fs::hard_link(fixture.path("notes.txt"), fixture.path("b/later.txt")).unwrap();
    wait_until("the later name", || {
        header_of(&server, "b/later.txt").is_some_and(|header| !header.deleted)
    });
    let names = ["notes.txt", "b/later.txt"];
    wait_for("by the later name", &|| longer("b/later.txt"), &names);
    // A moved name, and one that is removed.
    fs::rename(fixture.path("b/later.txt"), fixture.path("a/moved.txt")).unwrap();
    wait_until("the moved name", || {
        header_of(&server, "a/moved.txt").is_some_and(|header| !header.deleted)
    });
    let names = ["notes.txt", "a/moved.txt"];
    wait_for("by the moved name", &|| longer("a/moved.txt"), &names);
    wait_for("by the old name", &|| longer("notes.txt"), &names);
}

/// Issue 18: it was told at every look.
#[test]
fn a_loop_of_links_is_told_once_and_cannot_garble_the_log() {
    let fixture = Fixture::small();
    fixture.write_beside("outside/a.txt", "a");
    let outside = fixture.beside("outside");
    std::os::unix::fs::symlink(&outside, outside.join("l\u{202e}oop")).unwrap();
    std::os::unix::fs::symlink(&outside, fixture.path("out")).unwrap();
    // Without enough watches the site is scanned again and again.
    let config = "[offer]\nsymlinks = \"all\"\n[index]\nwatch_limit = 1\n";
    let server = garner().serve(&fixture, config);

    for number in 0..4 {
        let name = format!("docs/new-{number}.txt");
        fixture.write(&name, "new");
        wait_until("the next scan", || header_of(&server, &name).is_some());
    }

    let log = server.log();
    assert_eq!(log.matches("contains itself").count(), 1, "{log}");
    assert!(log.contains(r"out/l\u{202e}oop"), "{log}");
    assert!(!log.contains('\u{202e}'), "{log}");
}

#[test]
fn changes_are_seen_where_not_all_directories_can_be_watched() {
    let fixture = Fixture::small();
    for number in 0..5 {
        fixture.write(format!("d{number}/a.txt"), "a");
    }
    let server = garner().serve(&fixture, "[index]\nwatch_limit = 3\n");
    wait_until("the limit to be met", || {
        server.log().contains("index.watch_limit")
    });

    for number in 0..5 {
        fixture.write(format!("d{number}/b.txt"), "b");
    }

    wait_until("all of them", || server.all().len() == 16);
    assert_eq!(server.log().matches("index.watch_limit").count(), 1);
}
