//! Additions of a webmaster to a repository: metadata formats by plug-ins, sets by URLs and plug-ins, containers for Identify.

use std::fs;

use test_support::{Answer, Fixture, Server, fetch, wait_until};

use crate::command_line::stderr;
use crate::garner;

/// Prints a record of what the file says; fails on a file that says so.
const MODS: &str = "[[plugin]]
name = 'mods'
media_types = ['text/plain']
command = ['sh', '-c', '''if grep -q fail \"$1\"; then exit 1; fi
    printf '<mods xmlns=\"http://www.loc.gov/mods/v3\"><note>%s</note></mods>' \"$(cat \"$1\")\"''', 'sh', '{file}']
output = 'xml'
format = { prefix = 'mods', namespace = 'http://www.loc.gov/mods/v3', schema = 'http://a.example/mods.xsd' }
";

fn list(server: &Server, arguments: &str) -> Vec<String> {
    let headers = Answer::list(&server.base_url, "ListIdentifiers", arguments, &[]);
    let path = |identifier: &str| identifier.replace(&server.site_url, "/");
    let mut paths: Vec<_> = headers
        .iter()
        .map(|header| path(&header.identifier))
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_plug_in_adds_a_metadata_format_for_the_files_it_is_for() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    fixture.write("b.html", "<p>");
    fixture.write("c.txt", "fail");
    let server = garner().serve(&fixture, MODS);
    let mods = |path: &str| server.record(&server.url(path), "mods");

    let formats = server.ask("verb=ListMetadataFormats");
    assert_eq!(
        formats.texts("metadataPrefix"),
        ["oai_dc", "http_header", "oai_didl", "mods"]
    );
    assert!(
        formats
            .xml
            .contains("<metadataNamespace>http://www.loc.gov/mods/v3</metadataNamespace>")
    );
    let of_page = format!(
        "verb=ListMetadataFormats&identifier={}",
        server.url("b.html")
    );
    assert!(!server.ask(&of_page).xml.contains("mods"));

    assert_eq!(mods("a.txt").texts("note"), ["one"]);
    assert_eq!(
        mods("b.html").error().as_deref(),
        Some("cannotDisseminateFormat")
    );
    assert!(mods("c.txt").error().is_some(), "{}", mods("c.txt").xml);
    assert_eq!(list(&server, "metadataPrefix=mods"), ["/a.txt", "/c.txt"]);
    let records = server.ask("verb=ListRecords&metadataPrefix=mods");
    let deleted = records
        .headers()
        .into_iter()
        .filter(|header| header.deleted);
    let deleted: Vec<_> = deleted.map(|header| header.identifier).collect();
    assert_eq!(deleted, [server.url("c.txt")], "{}", records.xml);

    // A file that changes has another record.
    fs::write(fixture.path("a.txt"), "two and more").unwrap();
    wait_until("the change is told", || {
        mods("a.txt").texts("note") == ["two and more"]
    });
}

#[test]
fn sets_of_ones_own_hold_what_their_patterns_match_deletions_too() {
    let fixture = Fixture::empty();
    for path in [
        "chemistry/a.txt",
        "chemistry/b/c.html",
        "physics/a.txt",
        "d.txt",
    ] {
        fixture.write(path, path);
    }
    let config = "[[set]]\nspec = 'groups:chemistry'\nname = 'Chemists & co'\nurls = ['/chemistry/*']\n\
        [[set]]\nspec = 'groups:text'\nname = 'Texts'\nurls = ['*.txt']\n[pages]\nidentifiers = 1\n";
    let server = garner().serve(&fixture, config);

    let sets = server.ask("verb=ListSets");
    let specs = sets.texts("setSpec");
    for spec in [
        "groups",
        "groups:chemistry",
        "groups:text",
        "mime:text:plain",
    ] {
        assert!(specs.contains(&spec.to_owned()), "{specs:?}");
    }
    assert!(sets.texts("setName").contains(&"Chemists & co".to_owned()));
    let of_set = |set: &str| list(&server, &format!("metadataPrefix=oai_dc&set={set}"));
    assert_eq!(
        of_set("groups:chemistry"),
        ["/chemistry/a.txt", "/chemistry/b/c.html"]
    );
    assert_eq!(
        of_set("groups:text"),
        ["/chemistry/a.txt", "/d.txt", "/physics/a.txt"]
    );
    assert_eq!(of_set("groups").len(), 4);
    let header = &server
        .record(&server.url("chemistry/a.txt"), "oai_dc")
        .headers()[0];
    assert_eq!(
        header.sets,
        ["groups:chemistry", "groups:text", "mime:text:plain"]
    );

    fs::remove_file(fixture.path("chemistry/a.txt")).unwrap();
    wait_until("the deletion is told in the set", || {
        let arguments = "metadataPrefix=oai_dc&set=groups:chemistry";
        let headers = Answer::list(&server.base_url, "ListIdentifiers", arguments, &[]);
        headers.len() == 2 && headers.iter().any(|header| header.deleted)
    });
    assert_eq!(of_set("groups:physics").len(), 0);
}

#[test]
fn a_plug_in_says_which_sets_of_ones_own_a_file_is_in() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "topics:physics\ntopics:none\n");
    fixture.write("b.txt", "topics:physics\ntopics:chemistry\n");
    fixture.write("c.txt", "nothing");
    fixture.write("d.html", "topics:physics");
    let config = "[[plugin]]\nname = 'topics'\nmedia_types = ['text/plain']\n\
        command = ['cat', '{file}']\noutput = 'text'\n\
        [[set]]\nspec = 'topics:physics'\nname = 'Physics'\nplugin = 'topics'\n\
        [[set]]\nspec = 'topics:chemistry'\nname = 'Chemistry'\nplugin = 'topics'\nurls = ['/c*']\n\
        [pages]\nidentifiers = 1\n";
    let server = garner().serve(&fixture, config);
    let of_set = |set: &str| list(&server, &format!("metadataPrefix=oai_dc&set={set}"));

    assert_eq!(of_set("topics:physics"), ["/a.txt", "/b.txt"]);
    assert_eq!(of_set("topics:chemistry"), ["/b.txt", "/c.txt"]);
    assert_eq!(of_set("topics"), ["/a.txt", "/b.txt", "/c.txt"]);
    let sets = |path: &str| {
        server.record(&server.url(path), "oai_dc").headers()[0]
            .sets
            .clone()
    };
    assert_eq!(
        sets("b.txt"),
        ["mime:text:plain", "topics:chemistry", "topics:physics"]
    );
    assert_eq!(sets("d.html"), ["mime:text:html"]);
    let told = server.ask("verb=ListSets").texts("setSpec");
    assert!(told.contains(&"topics:physics".to_owned()), "{told:?}");
    assert!(!told.contains(&"topics:none".to_owned()), "{told:?}");

    // What changes is in the sets of its new content; what goes is told in all sets that it was ever in.
    fs::write(fixture.path("a.txt"), "topics:chemistry").unwrap();
    wait_until("the file is in another set", || {
        sets("a.txt").contains(&"topics:chemistry".to_owned())
    });
    assert_eq!(of_set("topics:physics"), ["/b.txt"]);
    fs::remove_file(fixture.path("a.txt")).unwrap();
    for set in ["topics:physics", "topics:chemistry"] {
        wait_until("the deletion is told in the set", || {
            let arguments = format!("metadataPrefix=oai_dc&set={set}");
            let headers = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
            let mut gone = headers.iter().filter(|header| header.deleted);
            gone.any(|header| header.identifier.ends_with("/a.txt"))
        });
    }
}

#[test]
fn a_plug_in_for_sets_is_confined_like_any_other() {
    let fixture = Fixture::empty();
    fixture.write("a.txt", "one");
    fixture.write_beside("secret", "topics:physics");
    let secret = fixture.beside("secret");
    let config = |readable: &str| {
        format!(
            "[[plugin]]\nname = 'topics'\ncommand = ['cat', '{}']\noutput = 'text'\n{readable}\
             [[set]]\nspec = 'topics:physics'\nname = 'Physics'\nplugin = 'topics'\n",
            secret.display()
        )
    };
    let arguments = "metadataPrefix=oai_dc&set=topics:physics";

    let server = garner().serve(&fixture, &config(""));
    assert!(list(&server, arguments).is_empty());
    server.stop();
    // Where it may read the file, it puts the item into the set.
    let readable = format!("readable = ['{}']\n", secret.display());
    let server = garner().serve(&fixture, &config(&readable));
    assert_eq!(list(&server, arguments), ["/a.txt"]);
}

#[test]
fn identify_has_the_containers_that_are_configured() {
    let fixture = Fixture::small();
    let config = "[repository]\ndescriptions = [\n\
        { container = 'friends', base_urls = ['https://other.example/oai?a=1&b=2'] },\n\
        { container = 'branding', url = 'https://a.example/i.png', width = 88 },\n\
        { container = 'eprints', metadata_policy = 'Free <for> all', data_policy = 'https://a.example/policy' },\n]\n";
    let server = garner().serve(&fixture, config);

    let identify = server.ask("verb=Identify");

    assert_eq!(identify.error(), None);
    assert_eq!(identify.texts("description").len(), 3);
    assert_eq!(
        identify.texts("baseURL"),
        [
            server.base_url.as_str(),
            "https://other.example/oai?a=1&b=2"
        ]
    );
    assert_eq!(identify.texts("width"), ["88"]);
    assert!(
        identify
            .xml
            .contains("<metadataPolicy><text>Free &lt;for&gt; all</text></metadataPolicy>")
    );
    let browser = [("Sec-Fetch-Dest", "document")];
    let url = format!("{}?verb=Identify", server.base_url);
    let page = fetch("GET", &url, &browser, b"").text();
    assert!(page.contains("other.example"), "{page}");
}

#[test]
fn records_tell_the_rights_on_them() {
    let fixture = Fixture::empty();
    fixture.write("press/a.txt", "one");
    fixture.write("b.txt", "two");
    let config = "[[rights]]\nstatement = 'All rights <reserved>'\nurls = ['/press/*']\n\
        [[rights]]\nstatement = 'https://creativecommons.org/licenses/by/4.0/'\n";
    let server = garner().serve(&fixture, config);

    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        let press = server.record(&server.url("press/a.txt"), prefix);
        assert_eq!(
            press.texts("rights").last().map(String::as_str),
            Some("All rights <reserved>")
        );
        assert!(
            press.xml.contains("</metadata><about><rights "),
            "{}",
            press.xml
        );
        let other = server.record(&server.url("b.txt"), prefix);
        let reference = other.attribute("rightsReference", "ref");
        assert_eq!(
            reference.as_deref(),
            Some("https://creativecommons.org/licenses/by/4.0/")
        );
    }
}

#[test]
fn mistakes_in_what_is_added_stop_the_start_and_are_named() {
    let fixture = Fixture::small();
    let format = |prefix: &str, output: &str| {
        format!(
            "[[plugin]]\nname = 'm'\ncommand = ['true']\noutput = '{output}'\nformat = {{ prefix = '{prefix}', \
             namespace = 'urn:m', schema = 'http://a.example/m.xsd' }}\n"
        )
    };
    for (config, part) in [
        (format("oai_dc", "xml"), "a record in `oai_dc` already"),
        (format("a b", "xml"), "the prefix `a b`"),
        (format("m", "text"), "only a program with output `xml`"),
        (
            "[[set]]\nspec = 'mime:x'\nname = 'x'\nurls = ['*']\n".to_owned(),
            "`mime` is for the sets by media type",
        ),
        (
            "[[set]]\nspec = 'x'\nname = 'x'\nurls = []\n".to_owned(),
            "neither patterns",
        ),
        (
            "[[set]]\nspec = 'x'\nname = 'x'\nplugin = 'p'\n".to_owned(),
            "there is no plug-in `p`",
        ),
        (
            format!(
                "{}[[set]]\nspec = 'x'\nname = 'x'\nplugin = 'm'\n",
                format("m", "xml")
            ),
            "prints XML",
        ),
        (
            "[repository]\ndescriptions = [{ container = 'friends', base_urls = ['x'] }]\n"
                .to_owned(),
            "repository.descriptions",
        ),
        (
            "[repository]\ndescriptions = [{ container = 'friend' }]\n".to_owned(),
            "friend",
        ),
    ] {
        let file = fixture.write_beside("garner.toml", &config);
        let output = garner()
            .arg("serve")
            .arg(fixture.site())
            .arg("--config")
            .arg(&file)
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(fixture.data())
            .output();
        assert!(!output.status.success(), "{config}");
        assert!(
            stderr(&output).contains(part),
            "{part}: {}",
            stderr(&output)
        );
    }
}
