//! Sites without OAI-PMH: harvested by ResourceSync and by sitemaps, from a real nginx.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use test_support::{Fixture, Nginx};

use super::resources::expect_same;
use super::{Harvested, Harvester, at};

/// A site that an nginx serves, with the lists that a test writes.
struct Listed {
    fixture: Fixture,
    nginx: Nginx,
    harvester: Harvester,
}

impl Listed {
    fn new() -> Self {
        let fixture = Fixture::empty();
        // Lists are no resources of the site here, so they lie beside it.
        let lists = fixture.beside("lists");
        fs::create_dir_all(lists.join("well-known")).unwrap();
        let lists = lists.display();
        let nginx = Nginx::start(
            &fixture,
            &format!(
                "location = /robots.txt {{ root {lists}; }}\nlocation ~ \\.xml(\\.gz)?$ {{ root {lists}; }}\n\
                 location = /.well-known/resourcesync {{ alias {lists}/well-known/resourcesync; }}\n\
                 location /moved/ {{ return 302 http://localhost:$server_port/a.txt; }}\n\
                 location = /into.txt {{ return 302 /hop.txt; }}\nlocation = /hop.txt {{ return 302 /private/b.txt; }}\n\
                 location = /packed.txt {{ add_header Content-Encoding gzip; }}\n\
                 location = /odd.txt {{ add_header Content-Encoding br; }}"
            ),
        );
        Self {
            fixture,
            nginx,
            harvester: Harvester::new(),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.nginx.url)
    }

    /// Writes a file whose time is so many days after a fixed one.
    fn file(&self, name: &str, content: &str, day: i64) {
        self.fixture.write(name, content);
        self.fixture.set_mtime(name, BEGINNING + day * 86_400);
    }

    fn list(&self, name: &str, content: impl AsRef<[u8]>) {
        self.fixture
            .write_beside(&format!("lists/{name}"), content.as_ref());
    }

    fn sitemap(&self, name: &str, entries: &[(&str, &str)]) {
        let entries = entries
            .iter()
            .map(|(path, rest)| format!("<url><loc>{}</loc>{rest}</url>", self.url(path)));
        let entries: String = entries.collect();
        self.list(
            name,
            format!("<urlset xmlns='{SITEMAP}'>{entries}</urlset>"),
        );
    }

    /// The description of a source with a resource list and a change list.
    fn describe(&self) {
        let of = |capability: &str, name: &str| {
            format!(
                "<url><loc>{}</loc><rs:md capability='{capability}'/></url>",
                self.url(name)
            )
        };
        let list = of("capabilitylist", "caps.xml");
        self.list(
            "well-known/resourcesync",
            rs("capability='description'", &list),
        );
        let lists = of("resourcelist", "resources.xml") + &of("changelist", "changes.xml");
        self.list("caps.xml", rs("capability='capabilitylist'", &lists));
    }

    /// An entry of a resource as the file is now.
    fn entry(&self, path: &str, metadata: &str) -> String {
        let content = fs::read(self.fixture.path(path)).unwrap_or_default();
        let digest: String = Sha256::digest(&content)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let length = content.len();
        format!(
            "<url><loc>{}</loc><rs:md hash='sha-256:{digest}' length='{length}' {metadata}/></url>",
            self.url(path)
        )
    }

    fn resource_list(&self, at: &str, paths: &[&str]) {
        let entries: String = paths.iter().map(|path| self.entry(path, "")).collect();
        self.list(
            "resources.xml",
            rs(&format!("capability='resourcelist' at='{at}'"), &entries),
        );
    }

    fn change_list(&self, from: &str, changes: &[(&str, &str, &str)]) {
        let entries = changes
            .iter()
            .map(|(path, change, datetime)| match *change {
                "deleted" => format!(
                    "<url><loc>{}</loc><rs:md change='deleted' datetime='{datetime}'/></url>",
                    self.url(path)
                ),
                _ => self.entry(path, &format!("change='{change}' datetime='{datetime}'")),
            });
        let entries: String = entries.collect();
        self.list(
            "changes.xml",
            rs(&format!("capability='changelist' from='{from}'"), &entries),
        );
    }

    fn harvest(&self, via: &str) -> Harvested {
        self.harvester
            .harvest(&self.nginx.url, &["--via", via, "--unpack", "mirror"])
    }

    fn run(&self, via: &str) -> Harvested {
        self.harvester.run(
            &self.nginx.url,
            &["--via", via, "--unpack", "mirror", "--attempts", "1"],
        )
    }

    fn mirror(&self) -> Vec<String> {
        let mut files = self.harvester.files("mirror");
        files.retain(|file| !file.starts_with(".garner"));
        files.sort();
        files
    }

    fn expect_mirror(&self) {
        expect_same(&self.fixture.site(), &self.harvester.path("mirror"));
        self.harvester.expect_consistent();
    }
}

fn rs(metadata: &str, entries: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<urlset xmlns='{SITEMAP}' xmlns:rs='http://www.openarchives.org/rs/terms/'>\
         <rs:md {metadata}/>{entries}</urlset>"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_mirror_follows_the_change_lists_of_a_source() {
    let site = Listed::new();
    site.describe();
    site.file("index.html", "hello", 0);
    site.file("docs/a.txt", "a", 0);
    site.file("docs/b.txt", "b", 0);
    site.resource_list(
        "2024-01-02T00:00:00Z",
        &["index.html", "docs/a.txt", "docs/b.txt"],
    );
    site.change_list("2024-01-01T00:00:00Z", &[]);

    let first = site.harvest("resourcesync");
    assert_eq!(first.changes(), [3, 0, 0, 0], "{}", first.stderr);
    site.expect_mirror();
    let nothing = site.harvest("resourcesync");
    assert_eq!(nothing.changes(), [0, 0, 0, 0], "{}", nothing.stderr);

    // The resource list is not written anew: only the change list tells.
    site.file("docs/a.txt", "a again", 1);
    site.file("docs/c d.txt", "c", 1);
    fs::remove_file(site.fixture.path("docs/b.txt")).unwrap();
    let changes = [
        ("docs/a.txt", "updated", "2024-01-03T00:00:00Z"),
        ("docs/c%20d.txt", "created", "2024-01-03T00:00:01Z"),
        ("docs/b.txt", "updated", "2024-01-03T00:00:02Z"),
        ("docs/b.txt", "deleted", "2024-01-03T00:00:03Z"),
    ];
    site.change_list("2024-01-01T00:00:00Z", &changes[..1]);
    site.change_list(
        "2024-01-01T00:00:00Z",
        &[changes[0], changes[2], changes[3]],
    );
    let second = site.harvest("resourcesync");
    assert_eq!(second.changes(), [0, 1, 0, 1], "{}", second.stderr);
    let third = site.harvest("resourcesync");
    assert_eq!(third.count("new") + third.count("deleted"), 0);
    assert_eq!(site.mirror(), ["docs/a.txt", "index.html"]);

    // A gap: the change list begins after the last harvest, so the whole list is read, and what it lacks is gone.
    site.file("docs/a.txt", "a a third time", 2);
    site.resource_list("2024-02-01T00:00:00Z", &["index.html", "docs/a.txt"]);
    fs::remove_file(site.fixture.path("docs/c d.txt")).unwrap();
    site.change_list("2024-01-31T00:00:00Z", &[]);
    let gap = site.harvest("resourcesync");
    assert_eq!(gap.changes(), [0, 1, 1, 0], "{}", gap.stderr);
    assert!(
        gap.warnings().contains("gap") || gap.warnings().contains("covers"),
        "{}",
        gap.warnings()
    );
    site.expect_mirror();
    fs::remove_file(site.fixture.path("index.html")).unwrap();
    site.resource_list("2024-03-01T00:00:00Z", &["docs/a.txt"]);
    site.change_list("2024-02-28T00:00:00Z", &[]);
    assert_eq!(site.harvest("resourcesync").changes(), [0, 0, 1, 1]);
    site.expect_mirror();
}

#[test]
fn resources_that_are_not_as_listed_are_left_out_and_tried_again() {
    let site = Listed::new();
    site.describe();
    site.file("good.txt", "good", 0);
    site.file("bad.txt", "as listed", 0);
    site.resource_list(
        "2024-01-02T00:00:00Z",
        &["good.txt", "bad.txt", "missing.txt"],
    );
    site.change_list("2024-01-01T00:00:00Z", &[]);
    site.file("bad.txt", "something", 0);

    let first = site.run("resourcesync");

    assert_eq!(first.code, 3, "{}", first.stderr);
    assert_eq!((first.count("new"), first.count("failed")), (1, 2));
    let warnings = first.warnings();
    assert!(
        warnings.contains("bad.txt") && warnings.contains("404"),
        "{warnings}"
    );
    assert_eq!(site.mirror(), ["good.txt"]);

    site.file("bad.txt", "as listed", 0);
    site.file("missing.txt", "", 0);
    let second = site.harvest("resourcesync");
    assert_eq!(second.changes(), [2, 0, 1, 0], "{}", second.stderr);
    site.expect_mirror();
}

#[test]
fn a_sitemap_is_followed_with_conditional_requests() {
    let site = Listed::new();
    for name in ["index.html", "a.txt", "b.txt", "hidden.txt"] {
        site.file(name, name, 0);
    }
    let all = [
        ("", ""),
        ("a.txt", "<lastmod>2024-01-01</lastmod>"),
        ("b.txt", ""),
    ];
    site.sitemap("sitemap.xml", &all);

    let first = site.harvest("sitemap");
    assert_eq!(first.changes(), [3, 0, 0, 0], "{}", first.stderr);
    assert_eq!(site.mirror(), ["a.txt", "b.txt", "index.html"]);
    let bytes = first.count("bytes");
    let again = site.harvest("sitemap");
    assert_eq!(again.changes(), [0, 0, 3, 0], "{}", again.stderr);
    // The sitemap and two conditional requests: no resource is sent again, and a.txt is not even asked for.
    assert_eq!(again.count("requests"), 3, "{}", again.stderr);
    assert!(again.count("bytes") < bytes, "{bytes}");

    // A change, a file that vanished from the sitemap and from the site, and one that only vanished from the sitemap.
    site.file("index.html", "changed", 1);
    fs::remove_file(site.fixture.path("b.txt")).unwrap();
    site.sitemap("sitemap.xml", &[("", ""), ("hidden.txt", "")]);
    let third = site.harvest("sitemap");
    assert_eq!(third.changes(), [1, 1, 1, 1], "{}", third.stderr);
    assert_eq!(site.mirror(), ["a.txt", "hidden.txt", "index.html"]);
    site.expect_mirror();

    // One that is listed and gone.
    fs::remove_file(site.fixture.path("hidden.txt")).unwrap();
    assert_eq!(site.harvest("sitemap").count("deleted"), 1);
    site.expect_mirror();
}

#[test]
fn robots_and_other_hosts_are_respected() {
    let site = Listed::new();
    for name in ["a.txt", "private/b.txt"] {
        site.file(name, name, 0);
    }
    let map = site.url("maps/named.xml.gz");
    site.list(
        "robots.txt",
        format!("User-agent: *\nDisallow: /private/\nSitemap: {map}\n"),
    );
    let other = "<url><loc>http://127.0.0.2:9/x.txt</loc></url><url><loc>mailto:x</loc></url>";
    let urls: String = ["a.txt", "private/b.txt", "moved/c.txt", "into.txt"]
        .map(|path| format!("<url><loc>{}</loc></url>", site.url(path)))
        .concat();
    let text = format!("<urlset>{urls}{other}</urlset>");
    fs::create_dir_all(site.fixture.beside("lists/maps")).unwrap();
    site.list("maps/named.xml.gz", gzip(text.as_bytes()));

    let harvested = site.harvest("sitemap");

    assert_eq!(harvested.count("new"), 1, "{}", harvested.stderr);
    assert_eq!(harvested.count("filtered"), 4);
    assert!(
        harvested
            .stderr
            .contains("4 skipped by robots.txt or on other hosts"),
        "{}",
        harvested.stderr
    );
    let warnings = harvested.warnings();
    for told in [
        "127.0.0.2:9 (1)",
        "redirected to another host, localhost",
        "robots.txt does not allow",
        "private/b.txt",
        "which robots.txt does not allow",
        "1 entries without",
    ] {
        assert!(warnings.contains(told), "{told}: {warnings}");
    }
    assert_eq!(site.mirror(), ["a.txt"]);

    let twin = site.nginx.url.replace("127.0.0.1", "localhost");
    let text = format!("<urlset>{urls}<url><loc>{twin}b.txt</loc></url></urlset>");
    site.file("b.txt", "b", 0);
    site.list("maps/named.xml.gz", gzip(text.as_bytes()));
    let options = ["--via", "sitemap", "--unpack", "mirror", "--other-hosts"];
    let all = site.harvester.harvest(&site.nginx.url, &options);
    assert_eq!(
        (all.count("new"), all.count("filtered")),
        (2, 2),
        "{}",
        all.stderr
    );
    let place = twin.trim_start_matches("http://");
    assert_eq!(
        site.mirror(),
        ["a.txt", &format!("{place}b.txt"), "moved/c.txt"]
    );
}

#[test]
fn hostile_lists_end_with_a_clear_error_or_are_told() {
    let site = Listed::new();
    site.file("a.txt", "a", 0);
    let index = |names: &[&str]| {
        let names = names
            .iter()
            .map(|name| format!("<sitemap><loc>{}</loc></sitemap>", site.url(name)));
        format!("<sitemapindex>{}</sitemapindex>", names.collect::<String>())
    };
    // It contains itself, one that contains it, one that is missing, and one that is broken.
    site.list(
        "sitemap.xml",
        index(&[
            "sitemap.xml",
            "second.xml",
            "missing.xml",
            "broken.xml",
            "good.xml",
        ]),
    );
    site.list("second.xml", index(&["sitemap.xml", "second.xml"]));
    site.list("broken.xml", "<urlset><url><loc>http://");
    site.sitemap("good.xml", &[("a.txt", "")]);

    let harvested = site.run("sitemap");

    assert_eq!(harvested.code, 3, "{}", harvested.stderr);
    assert_eq!((harvested.count("new"), harvested.count("failed")), (1, 2));
    let warnings = harvested.warnings();
    assert!(
        warnings.contains("missing.xml") && warnings.contains("broken.xml"),
        "{warnings}"
    );

    // 100 MB of one line, and a bomb of 100 MB in 100 kB.
    let long = format!("<urlset>{}</urlset>", " ".repeat(100 << 20));
    for (name, content) in [
        ("long.xml", long.clone().into_bytes()),
        ("bomb.xml.gz", gzip(long.as_bytes())),
    ] {
        site.list(name, content);
        let refused = site
            .harvester
            .run(&site.url(name), &["--via", "sitemap", "--unpack", "other"]);
        assert_eq!(refused.code, 1);
        assert!(
            refused.stderr.contains("longer than 64 MiB"),
            "{}",
            refused.stderr
        );
    }
    site.list("page.xml", "<!DOCTYPE html><html></html>");
    site.list("sitemap.xml", "<html/>");
    for (via, told) in [
        ("sitemap", "no sitemap was found"),
        ("resourcesync", "no ResourceSync was found"),
    ] {
        let refused = site
            .harvester
            .run(&site.url("page.xml"), &["--via", via, "--unpack", "other"]);
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
        assert!(refused.stderr.contains("web pages"), "{}", refused.stderr);
    }
    let nowhere = site.harvester.run(&site.nginx.url, &["--via", "sitemap"]);
    assert_eq!(nowhere.code, 2, "{}", nowhere.stderr);
    assert!(nowhere.stderr.contains("--unpack"), "{}", nowhere.stderr);
}

#[test]
fn a_harvest_of_lists_that_is_killed_resumes() {
    let site = Listed::new();
    let names: Vec<_> = (0..700)
        .map(|number| format!("dir{}/{number}.txt", number % 7))
        .collect();
    for name in &names {
        site.file(name, name, 0);
    }
    let entries: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    site.sitemap("sitemap.xml", &entries);
    let arguments = [
        "--via",
        "sitemap",
        "--unpack",
        "mirror",
        "--interval",
        "0.005",
    ];

    let mut killed = 0;
    loop {
        let mut child = site
            .harvester
            .command(&site.nginx.url, &arguments)
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1200));
        match child.try_wait().unwrap() {
            Some(status) => {
                assert!(status.success());
                break;
            }
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                killed += 1;
                assert!(killed < 60, "it never ends");
            }
        }
    }
    assert!(killed > 0, "it was never killed");
    site.expect_mirror();
    let entry = site.harvester.garner(&["history", "--json"]);
    assert_eq!(entry.matches("\"id\":").count(), 1, "{entry}");
    assert!(at(&site.harvester.path("mirror")).ends_with("mirror"));
}

#[test]
fn a_coding_that_was_not_asked_for_is_undone_or_named() {
    let site = Listed::new();
    let text = "compressed ".repeat(100);
    site.fixture.write("packed.txt", gzip(text.as_bytes()));
    site.fixture.write("file.gz", gzip(text.as_bytes()));
    site.fixture.write("odd.txt", "no brotli");
    site.sitemap(
        "sitemap.xml",
        &[("packed.txt", ""), ("file.gz", ""), ("odd.txt", "")],
    );
    let options = ["--via", "sitemap", "--unpack", "mirror", "--attempts", "1"];
    let harvested = site.harvester.run(&site.nginx.url, &options);

    assert_eq!(harvested.code, 3, "{}", harvested.stderr);
    assert_eq!(site.mirror(), ["file.gz", "packed.txt"]);
    let mirror = site.harvester.path("mirror");
    assert_eq!(fs::read_to_string(mirror.join("packed.txt")).unwrap(), text);
    assert_eq!(
        fs::read(mirror.join("file.gz")).unwrap(),
        gzip(text.as_bytes())
    );
    let warnings = harvested.warnings();
    assert!(warnings.contains("Content-Encoding `br`"), "{warnings}");

    // Damaged, it is not kept.
    let mut damaged = gzip(text.replace("compressed", "damaged").as_bytes());
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    site.fixture.write("packed.txt", damaged);
    site.harvester.run(&site.nginx.url, &options);
    assert_eq!(fs::read_to_string(mirror.join("packed.txt")).unwrap(), text);
}

/// A static repository with records of these numbers and titles.
fn static_repository(records: &[(u32, &str)]) -> String {
    let records = records.iter().map(|(number, title)| {
        format!(
            "<oai:record><oai:header><oai:identifier>oai:a:{number}</oai:identifier><oai:datestamp>2024-01-01</oai:datestamp>\
             </oai:header><oai:metadata><d:dc xmlns:d='http://www.openarchives.org/OAI/2.0/oai_dc/' \
             xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>{title}</dc:title></d:dc></oai:metadata></oai:record>"
        )
    });
    let records: String = records.collect();
    format!(
        "<?xml version='1.0' encoding='UTF-8'?>\n<Repository xmlns='http://www.openarchives.org/OAI/2.0/static-repository' \
         xmlns:oai='http://www.openarchives.org/OAI/2.0/'><Identify><oai:repositoryName>Few</oai:repositoryName>\
         <oai:baseURL>http://gateway.example/oai/a</oai:baseURL><oai:protocolVersion>2.0</oai:protocolVersion>\
         <oai:adminEmail>a@a.example</oai:adminEmail><oai:earliestDatestamp>2000-01-01</oai:earliestDatestamp>\
         <oai:deletedRecord>no</oai:deletedRecord><oai:granularity>YYYY-MM-DD</oai:granularity></Identify>\
         <ListMetadataFormats><oai:metadataFormat><oai:metadataPrefix>oai_dc</oai:metadataPrefix><oai:schema>x</oai:schema>\
         <oai:metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</oai:metadataNamespace></oai:metadataFormat>\
         </ListMetadataFormats><ListRecords metadataPrefix='other'><oai:record/></ListRecords>\
         <ListRecords metadataPrefix='oai_dc'>{records}</ListRecords></Repository>"
    )
}

#[test]
fn a_static_repository_is_harvested_as_records() {
    let site = Listed::new();
    site.list(
        "few.xml",
        static_repository(&[(1, "one"), (2, "two"), (3, "three")]),
    );
    let url = site.url("few.xml");

    let first = site.harvester.harvest(&url, &["--via", "static"]);
    assert_eq!(first.changes(), [3, 0, 0, 0], "{}", first.stderr);
    site.harvester.expect_consistent();
    // The dates are those of days, so that a change has the same date.
    site.list(
        "few.xml",
        static_repository(&[(1, "one"), (3, "three, changed"), (4, "four")]),
    );
    let second = site.harvester.harvest(&url, &["--via", "auto"]);
    assert!(
        second.stderr.contains("chosen: --via static"),
        "{}",
        second.stderr
    );
    assert_eq!(second.changes(), [1, 1, 1, 1], "{}", second.stderr);
    assert_eq!(site.harvester.live(), ["oai:a:1", "oai:a:3", "oai:a:4"]);
    site.harvester.expect_consistent();

    // A file that ends in the middle deletes nothing.
    let cut = static_repository(&[(1, "one")]);
    site.list("few.xml", &cut[..cut.len() - 20]);
    let broken = site
        .harvester
        .run(&url, &["--via", "static", "--attempts", "1"]);
    assert_eq!(broken.code, 1, "{}", broken.stderr);
    assert_eq!(site.harvester.live().len(), 3);
    // The harvest begins anew: the record that came before the cut is not there any more.
    site.list("few.xml", static_repository(&[(3, "three"), (4, "four")]));
    site.harvester.harvest(&url, &["--via", "static"]);
    assert_eq!(site.harvester.live(), ["oai:a:3", "oai:a:4"]);
    let page = site
        .harvester
        .run(&site.url("none.xml"), &["--via", "static"]);
    assert!(
        page.code == 1 && page.stderr.contains("404"),
        "{}",
        page.stderr
    );
}

#[test]
fn auto_says_what_it_found_and_what_it_chose() {
    let site = Listed::new();
    site.file("index.html", "<a href='/x'>x</a>", 0);
    let nothing = site
        .harvester
        .run(&site.nginx.url, &["--via", "auto", "--unpack", "mirror"]);
    assert_eq!(nothing.code, 1);
    for place in ["/modoai", "/.well-known/resourcesync", "/sitemap.xml"] {
        assert!(nothing.stderr.contains(place), "{}", nothing.stderr);
    }

    site.sitemap("sitemap.xml", &[("", "")]);
    let sitemap = site.run("auto");
    assert!(
        sitemap.stderr.contains("found a sitemap at"),
        "{}",
        sitemap.stderr
    );
    assert_eq!(sitemap.count("new"), 1);
    site.describe();
    site.resource_list("2024-01-02T00:00:00Z", &["index.html"]);
    site.change_list("2024-01-01T00:00:00Z", &[]);
    let both = site.run("auto");
    assert!(
        both.stderr.contains("chosen: --via resourcesync"),
        "{}",
        both.stderr
    );
    assert!(
        both.stderr.contains("found a sitemap at"),
        "{}",
        both.stderr
    );

    // A repository of the same host, which only robots.txt names.
    let fixture = Fixture::small();
    let server = crate::garner().serve(&fixture, "");
    let home = server.site_url.clone();
    let oai = site
        .harvester
        .run(&home, &["--via", "auto", "--unpack", "other"]);
    assert_eq!(oai.code, 0, "{}", oai.stderr);
    assert!(oai.stderr.contains("chosen: --via oai"), "{}", oai.stderr);
    assert_eq!(oai.count("new"), 6, "{}", oai.stderr);
    let scheduled = site.harvester.garner(&[
        "schedule",
        "add",
        &site.nginx.url,
        "--via",
        "auto",
        "--unpack",
        "--every",
        "1 day",
    ]);
    assert!(scheduled.contains("resourcesync"), "{scheduled}");
}

#[test]
fn a_site_that_garner_serves_is_mirrored_by_its_lists() {
    let fixture = Fixture::small();
    fixture.write("a b/ü%.txt", "odd");
    fixture.set_mtime("notes.txt", 1_500_000_000);
    let server = crate::garner().serve(&fixture, "");
    let harvesters = ["resourcesync", "sitemap"].map(|via| (via, Harvester::new()));
    let round = |new: u64, deleted: u64| {
        for (via, harvester) in &harvesters {
            let options = ["--via", via, "--unpack", "mirror"];
            let harvested = harvester.harvest(&server.site_url, &options);
            let counts = (harvested.count("new"), harvested.count("deleted"));
            assert_eq!(counts, (new, deleted), "{via}: {}", harvested.stderr);
            expect_same(&fixture.site(), &harvester.path("mirror"));
            harvester.expect_consistent();
        }
    };
    round(7, 0);

    fixture.write("notes.txt", "other notes\n");
    fixture.write("docs/new.html", "<title>New</title>new");
    fs::remove_file(fixture.path("logo.png")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(3500));

    round(1, 1);
}

const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
/// The first day of 2024.
const BEGINNING: i64 = 1_704_067_200;
