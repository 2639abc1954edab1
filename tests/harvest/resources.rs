//! The resources themselves: mirrors and WARC files.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use flate2::read::MultiGzDecoder;
use test_support::{Fixture, files_below, free_port, wait_until};

use super::{Harvester, at, no_arguments};
use crate::garner;

/// Expects two directories to hold the same files with the same content and the same times, to the second.
pub(super) fn expect_same(site: &Path, mirror: &Path) {
    let names = |place: &Path| {
        let mut names = files_below(place);
        names.sort();
        names
            .into_iter()
            .map(|name| String::from_utf8_lossy(&name).into_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(mirror), names(site));
    for name in names(site) {
        let (original, copy) = (site.join(&name), mirror.join(&name));
        assert!(
            fs::read(&copy).unwrap() == fs::read(&original).unwrap(),
            "{name} differs"
        );
        let modified = |path: &Path| {
            let modified = fs::metadata(path).unwrap().modified().unwrap();
            modified
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap()
                .as_secs()
        };
        assert_eq!(modified(&copy), modified(&original), "{name}");
    }
}

/// The URLs of all captures in the WARC files of a directory.
pub(super) fn captured(directory: &Path) -> Vec<String> {
    let mut urls = Vec::new();
    for file in fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        // Each file has an index beside it.
        if at(&path).ends_with(".cdxj") {
            assert!(at(&path).ends_with(".warc.gz.cdxj"), "{}", path.display());
            continue;
        }
        assert!(
            path.with_extension("gz.cdxj").exists(),
            "{}",
            path.display()
        );
        assert!(at(&path).ends_with(".warc.gz"), "{}", path.display());
        let mut text = Vec::new();
        MultiGzDecoder::new(fs::File::open(&path).unwrap())
            .read_to_end(&mut text)
            .unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("WARC-Target-URI: "));
        urls.extend(lines.map(str::to_owned));
    }
    urls
}

/// Runs a program and prints the most memory that it had, in kB.
const PEAK_MEMORY: &str = "\
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)";

fn site() -> Fixture {
    let fixture = Fixture::small();
    fixture.write("a b/ü%.txt", "odd");
    fixture.write("empty.txt", "");
    fixture.write("large.bin", vec![7_u8; 300_000]);
    fixture.set_mtime("notes.txt", 1_500_000_000);
    fixture
}

#[test]
fn a_mirror_is_the_site_and_stays_so() {
    let fixture = site();
    // Some files come by value, the large one by reference.
    let server = garner().serve(&fixture, "[by_value]\nlimit = 100000\n");
    let base_url = server.url("modoai");
    let harvester = Harvester::new();
    let mirror = harvester.path("mirror");

    harvester.harvest(&base_url, &["--unpack", at(&mirror)]);
    expect_same(&fixture.site(), &mirror);

    fixture.write("notes.txt", "changed");
    fixture.write("large.bin", vec![8_u8; 400_000]);
    fixture.write("docs/new/page.html", "new");
    fs::remove_file(fixture.path("about.html")).unwrap();
    fs::remove_dir_all(fixture.path("a b")).unwrap();
    wait_until("the changes are in the mirror", || {
        // A file that vanished since the last look cannot be fetched.
        harvester.run(&base_url, &["--unpack", at(&mirror)]);
        !mirror.join("a b").exists()
            && !mirror.join("about.html").exists()
            && mirror.join("docs/new/page.html").exists()
            && fs::read(mirror.join("large.bin")).unwrap()[0] == 8
            && fs::read(mirror.join("notes.txt")).unwrap() == b"changed"
    });
    expect_same(&fixture.site(), &mirror);
}

#[test]
fn a_file_that_is_longer_than_a_record_may_be_comes_by_value_in_little_memory() {
    let fixture = Fixture::small();
    let bytes: Vec<u8> = (0..100_000_000_u32).map(|n| (n % 251) as u8).collect();
    fixture.write("video.bin", &bytes);
    fixture.write("picture.bin", &bytes[..1_000_000]);
    let server = garner().serve(&fixture, "[by_value]\nlimit = \"1G\"\n");
    let harvester = Harvester::new();
    let arguments = ["--prefix", "oai_didl", "--unpack", "mirror"];

    let harvest = harvester.command(&server.url("modoai"), &arguments);
    let measured = Command::new("python3")
        .args(["-c", PEAK_MEMORY])
        .arg(harvest.get_program())
        .args(harvest.get_args())
        .current_dir(harvester.path(""))
        .output()
        .unwrap();

    let told = String::from_utf8_lossy(&measured.stderr);
    assert!(measured.status.success(), "{told}");
    let peak: u64 = told.lines().last().unwrap().parse().unwrap();
    // Much less than the file; most of it are the pages of the program, which is not optimised here.
    assert!(peak < 75_000, "{peak} kB");
    expect_same(&fixture.site(), &harvester.path("mirror"));
    harvester.harvest(
        &server.url("modoai"),
        &["--prefix", "oai_didl", "--warc", "warc"],
    );
    assert_eq!(captured(&harvester.path("warc")).len(), 8);
}

#[test]
fn a_long_page_of_references_does_not_stand_in_its_own_way() {
    let fixture = Fixture::empty();
    for number in 0..6000 {
        fixture.write(format!("d{}/{number}.txt", number % 20), b"x");
    }
    let config = "[by_value]\nlimit = 0\n[pages]\nrecords = 0\nbytes = 0\n";
    let server = garner().serve(&fixture, config);
    let harvester = Harvester::new();

    harvester.harvest(&server.url("modoai"), &["--unpack", "mirror", "--no-sync"]);

    assert_eq!(harvester.files("mirror").len(), 6000);
}

#[test]
fn a_mirror_is_what_wget_makes() {
    let fixture = Fixture::empty();
    let mut links = String::new();
    for number in 0..30 {
        fixture.write(
            format!("d{}/{number}.html", number % 4),
            format!("page {number}"),
        );
        links.push_str(&format!(
            "<a href='/d{}/{number}.html'>{number}</a>\n",
            number % 4
        ));
    }
    fixture.write("index.html", &links);
    let server = garner().serve(&fixture, "");
    let harvester = Harvester::new();
    let (ours, theirs) = (harvester.path("ours"), harvester.path("theirs"));

    harvester.harvest(&server.url("modoai"), &["--unpack", at(&ours)]);
    let wget = Command::new("wget")
        .args([
            "-q",
            "-r",
            "-N",
            "-nH",
            "-e",
            "robots=off",
            "-P",
            at(&theirs),
        ])
        .arg(server.url(""))
        .status()
        .unwrap();

    assert!(wget.success());
    let _ = fs::remove_file(theirs.join("robots.txt"));
    expect_same(&theirs, &ours);
}

#[test]
fn records_beside_a_mirror_do_not_hold_the_bytes_again() {
    let fixture = site();
    let server = garner().serve(&fixture, "");
    let harvester = Harvester::new();

    harvester.harvest(&server.url("modoai"), &["--unpack"]);

    expect_same(&fixture.site(), &harvester.path("data/mirror"));
    for record in harvester.records() {
        let file = record["path"].as_str().unwrap();
        assert!(fs::metadata(file).unwrap().len() < 10_000, "{file}");
        let xml = fs::read_to_string(file).unwrap();
        assert!(xml.contains("ref=") && !xml.contains("base64"), "{xml}");
    }
}

#[test]
fn records_of_resources_that_did_not_change_are_unchanged() {
    let fixture = site();
    let server = garner().serve(&fixture, "");
    let harvester = Harvester::new();
    for prefix in ["oai_didl", "http_header"] {
        let first = harvester.harvest(&server.url("modoai"), &["--prefix", prefix]);
        // The header Date of the responses is another one now.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        let again = harvester.harvest(&server.url("modoai"), &["--prefix", prefix, "--full"]);
        assert_eq!(again.changes(), [0, 0, first.count("new"), 0], "{prefix}");
    }
}

#[test]
fn a_mirror_that_is_gone_or_elsewhere_is_made_anew() {
    let fixture = site();
    let server = garner().serve(&fixture, "");
    let base_url = server.url("modoai");
    let harvester = Harvester::new();
    let (first, second) = (harvester.path("first"), harvester.path("second"));
    harvester.harvest(&base_url, &["--prefix", "oai_didl"]);

    harvester.harvest(&base_url, &["--unpack", at(&first)]);
    harvester.harvest(&base_url, &["--unpack", at(&second)]);
    fs::remove_dir_all(&second).unwrap();
    harvester.harvest(&base_url, &["--unpack", at(&second)]);

    expect_same(&fixture.site(), &first);
    expect_same(&fixture.site(), &second);
}

#[test]
fn a_resource_that_cannot_be_had_is_named_and_the_rest_is_there() {
    let fixture = site();
    let server = garner().serve(&fixture, "[by_value]\nlimit = 100000\n");
    let harvester = Harvester::new();
    let mirror = harvester.path("mirror");

    let harvested = harvester.run(
        &server.url("modoai"),
        &["--unpack", at(&mirror), "--resource-limit", "1"],
    );
    assert_eq!(harvested.code, 0, "{}", harvested.stderr);
    fixture.write("huge.bin", vec![9_u8; 2 << 20]);
    let mut last = harvested;
    wait_until("the large file is noticed", || {
        last = harvester.run(
            &server.url("modoai"),
            &["--unpack", at(&mirror), "--resource-limit", "1"],
        );
        last.code == 3
    });

    assert!(
        last.warnings().contains("longer than 1048576 bytes"),
        "{}",
        last.entry
    );
    assert!(!mirror.join("huge.bin").exists());
    assert!(mirror.join("large.bin").exists());
}

#[test]
fn what_could_not_be_had_is_asked_for_again_the_next_time() {
    let fixture = site();
    fixture.write("huge.bin", vec![9_u8; 2 << 20]);
    let server = garner().serve(&fixture, "[by_value]\nlimit = 100000\n");
    let base_url = server.url("modoai");
    let harvester = Harvester::new();
    let unpack = ["--unpack", "mirror", "--resource-limit"];
    let with_limit = |limit| [unpack[0], unpack[1], unpack[2], limit];

    assert_eq!(harvester.run(&base_url, &with_limit("1")).code, 3);
    let again = harvester.run(&base_url, &with_limit("1"));
    assert_eq!(again.code, 3, "{}", again.entry);
    let had = harvester.run(&base_url, &with_limit("10"));
    assert_eq!((had.code, had.count("updated")), (0, 1), "{}", had.entry);

    expect_same(&fixture.site(), &harvester.path("mirror"));
    let nothing = harvester.harvest(&base_url, &with_limit("10"));
    assert_eq!(nothing.count("updated"), 0);
}

#[test]
fn warc_files_hold_the_responses() {
    let fixture = site();
    let server = garner().serve(&fixture, "[by_value]\nlimit = 100000\n");
    let harvester = Harvester::new();
    let warc = harvester.path("warc");

    harvester.harvest(&server.url("modoai"), &["--warc", at(&warc)]);

    let mut urls = captured(&warc);
    urls.sort();
    let mut all: Vec<_> = server
        .all()
        .into_iter()
        .map(|header| header.identifier)
        .collect();
    all.sort();
    assert_eq!(urls, all);

    fixture.write("notes.txt", "changed");
    wait_until("the change is captured", || {
        harvester.harvest(&server.url("modoai"), &["--warc", at(&warc)]);
        captured(&warc).len() == all.len() + 1
    });
    harvester.harvest(&server.url("modoai"), &["--warc", at(&warc)]);
    assert_eq!(captured(&warc).len(), all.len() + 1);
}

#[test]
fn the_collection_of_a_protected_site_needs_its_password() {
    let fixture = site();
    let port = free_port();
    fixture.write_beside("passwords", "me:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n");
    let config = format!(
        "[[area]]\npath = \"/docs\"\nhtpasswd = \"{}\"\n",
        fixture.beside("passwords").display()
    );
    let server = garner().serve_on(&fixture, &config, port);
    let base_url = server.url("modoai");
    let (stranger, friend) = (Harvester::new(), Harvester::new());

    stranger.harvest(&base_url, &["--unpack", "mirror"]);
    let credentials = friend.write("credentials", "me:password\n");
    friend.harvest(
        &base_url,
        &["--unpack", "mirror", "--credentials", at(&credentials)],
    );

    assert!(!stranger.path("mirror/docs").exists());
    expect_same(&fixture.site(), &friend.path("mirror"));
    stranger.harvest(&base_url, &no_arguments());
}

/// Issue 18: verify looked at documents only.
#[test]
fn records_and_mirrors_are_verified_and_repaired() {
    let fixture = site();
    let server = garner().serve_on(&fixture, "", free_port());
    let (harvester, base_url) = (Harvester::new(), server.url("modoai"));
    let mirror = harvester.path("mirror");
    let harvest = || harvester.harvest(&base_url, &["--unpack", at(&mirror)]);
    let verify = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        let output = command
            .args(["verify", "--json", "--data"])
            .arg(harvester.path("data"))
            .args(arguments)
            .output()
            .unwrap();
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let harvested = &found["harvested"];
        let numbers = ["missing", "strays", "repaired"].map(|it| harvested[it].as_u64().unwrap());
        (output.status.code().unwrap(), numbers)
    };
    harvest();
    assert_eq!(verify(&[]), (0, [0, 0, 0]));

    let records = harvester.path("data/records");
    let record = records.join(&harvester.record_files()[0]);
    fs::write(mirror.join("stray.txt"), "whose?").unwrap();
    fs::write(record.with_file_name("stray.xml"), "<whose/>").unwrap();
    fs::remove_file(mirror.join("large.bin")).unwrap();
    fs::remove_file(&record).unwrap();

    assert_eq!(verify(&[]), (3, [2, 2, 0]));
    assert_eq!(verify(&["--repair"]), (3, [2, 2, 2]));
    let aside = harvester.path("data/set-aside/mirrors/mirror/stray.txt");
    assert_eq!(fs::read_to_string(aside).unwrap(), "whose?");
    harvest();
    assert_eq!(verify(&[]), (0, [0, 0, 0]));
    expect_same(&fixture.site(), &mirror);
}
