//! `garner serve --records DIR`: metadata files of other people as records, with the datestamp rules of sites.

use std::fs;

use test_support::{
    Answer, Fixture, Schemas, Server, basic, free_port, get, percent_encoded, wait_until,
};

use crate::garner;
use crate::resource_sync::entries;

const MARC: &str = "http://www.loc.gov/MARC21/slim";

fn dublin_core(title: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a comment -->\n\
         <oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">\
         <dc:title>{title}</dc:title></oai_dc:dc>\n"
    )
}

fn marc(title: &str) -> String {
    format!("<record xmlns=\"{MARC}\"><leader>{title}</leader></record>")
}

/// A directory with records in two formats, and files that are none.
fn directory() -> Fixture {
    let fixture = Fixture::empty();
    fixture.write(
        "a.xml",
        dublin_core("first & foremost").replace(" & ", " &amp; "),
    );
    fixture.write("deep/b c.xml", dublin_core("second"));
    fixture.write("marc.xml", marc("third"));
    fixture.write("empty.xml", "");
    fixture.write("readme.txt", "no record");
    fixture.write("broken.xml", "<dc><unclosed></dc>");
    fixture.write(
        "entity.xml",
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
    );
    fixture.write("foreign.xml", "<a xmlns=\"urn:nobody\"/>");
    fixture.write("UP.XML", dublin_core("fourth"));
    std::os::unix::fs::symlink("/etc/hostname", fixture.path("link.xml")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(fixture.path("pipe.xml"))
        .status();
    assert!(made.unwrap().success());
    fixture
}

fn serve(fixture: &Fixture, config: &str, port: u16) -> Server {
    let path = fixture.write_beside("records.toml", config);
    garner()
        .args(["serve", "--admin-email", "admin@example.org", "--listen"])
        .arg(format!("127.0.0.1:{port}"))
        .arg("--records")
        .arg(fixture.site())
        .arg("--data")
        .arg(fixture.data())
        .arg("--config")
        .arg(path)
        .start()
}

/// The identifiers of a format, each with whether it is deleted.
fn list(server: &Server, prefix: &str) -> Vec<(String, bool)> {
    let arguments = format!("metadataPrefix={prefix}");
    let headers = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
    let mut found: Vec<_> = headers
        .into_iter()
        .map(|header| (header.identifier, header.deleted))
        .collect();
    found.sort();
    found
}

fn live(names: &[&str]) -> Vec<(String, bool)> {
    names
        .iter()
        .map(|name| ((*name).to_owned(), false))
        .collect()
}

#[test]
fn every_file_is_a_record_in_the_format_of_its_root_element() {
    let fixture = directory();
    let server = serve(&fixture, "", free_port());

    assert_eq!(
        list(&server, "oai_dc"),
        live(&["oai:127.0.0.1:a", "oai:127.0.0.1:deep/b%20c"])
    );
    assert_eq!(list(&server, "marc21"), live(&["oai:127.0.0.1:marc"]));
    let formats = server
        .ask("verb=ListMetadataFormats")
        .texts("metadataPrefix");
    assert_eq!(formats, ["oai_dc", "marc21"]);
    let record = server.record("oai:127.0.0.1:a", "oai_dc");
    assert_eq!(record.texts("title"), ["first & foremost"]);
    if let Some(schemas) = Schemas::load() {
        schemas.validate(&record.xml).unwrap();
        schemas
            .validate(&server.ask("verb=ListRecords&metadataPrefix=oai_dc").xml)
            .unwrap();
    }
    for (query, code) in [
        (
            "verb=GetRecord&metadataPrefix=marc21&identifier=oai:127.0.0.1:a",
            "cannotDisseminateFormat",
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:127.0.0.1:broken",
            "idDoesNotExist",
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:127.0.0.1:../a",
            "idDoesNotExist",
        ),
        (
            "verb=ListRecords&metadataPrefix=mods",
            "cannotDisseminateFormat",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&set=a",
            "noSetHierarchy",
        ),
        ("verb=ListSets", "noSetHierarchy"),
    ] {
        assert_eq!(server.ask(query).error().as_deref(), Some(code), "{query}");
    }
    let own = server.ask("verb=ListMetadataFormats&identifier=oai:127.0.0.1:marc");
    assert_eq!(own.texts("metadataPrefix"), ["marc21"]);

    // Files that are none are named and counted, and nobody is given one.
    let log = server.log();
    for (name, reason) in [
        ("broken.xml", "not a record"),
        ("entity.xml", "DOCTYPE"),
        ("foreign.xml", "urn:nobody"),
        ("UP.XML", "rename it to .xml"),
        ("link.xml", "symbolic link"),
        ("pipe.xml", "not a record"),
    ] {
        let line = log.lines().find(|line| line.contains(name));
        assert!(
            line.is_some_and(|line| line.contains(reason)),
            "{name}: {log}"
        );
    }
    assert!(log.contains("6 files are no records"), "{log}");
    assert!(!log.contains("empty.xml") && !log.contains("readme.txt"));
    let root = server.base_url.trim_end_matches("/modoai");
    for path in ["/a.xml", "/broken.xml", "/"] {
        assert_eq!(get(&format!("{root}{path}")).status, 404, "{path}");
    }
    let listed = entries(&format!("{root}/sitemap.xml"), &[]);
    assert_eq!(listed.len(), 3);
    for entry in listed {
        assert!(
            get(&entry.url).text().contains("<metadata>"),
            "{}",
            entry.url
        );
    }
}

#[test]
fn what_becomes_of_a_file_is_told_and_never_missed() {
    let fixture = directory();
    let port = free_port();
    let server = serve(&fixture, "", port);
    for name in ["a", "deep/b%20c", "marc"] {
        let identifier = percent_encoded(&format!("oai:127.0.0.1:{name}"));
        let asked = server.ask(&format!("verb=ListMetadataFormats&identifier={identifier}"));
        assert_eq!(asked.error(), None, "{name}");
    }
    let since = server.ask("verb=Identify").text("responseDate").unwrap();

    // Emptied, removed, broken, mended, new, and of another format.
    fixture.write("a.xml", "");
    fs::remove_file(fixture.path("deep/b c.xml")).unwrap();
    fixture.write("broken.xml", dublin_core("mended"));
    fixture.write("new.xml", dublin_core("new"));
    fixture.write("marc.xml", dublin_core("now in Dublin Core"));
    let expected = vec![
        ("oai:127.0.0.1:a".to_owned(), true),
        ("oai:127.0.0.1:broken".to_owned(), false),
        ("oai:127.0.0.1:deep/b%20c".to_owned(), true),
        ("oai:127.0.0.1:marc".to_owned(), false),
        ("oai:127.0.0.1:new".to_owned(), false),
    ];
    wait_until("all is told in oai_dc", || {
        list(&server, "oai_dc") == expected
    });
    let gone = vec![("oai:127.0.0.1:marc".to_owned(), true)];
    assert_eq!(list(&server, "marc21"), gone);
    for prefix in ["oai_dc", "marc21"] {
        let arguments = format!("metadataPrefix={prefix}&from={since}");
        let changed = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
        assert_eq!(changed.len(), list(&server, prefix).len(), "{prefix}");
    }
    let changes = entries(
        &format!("{}/resourcesync/changelist.xml", server.base_url),
        &[],
    );
    let is_gone = |change: &&crate::resource_sync::Entry| {
        change.change() == "deleted" && change.url.contains("metadataPrefix=marc21")
    };
    assert_eq!(changes.iter().filter(is_gone).count(), 1);
    let old = server.record("oai:127.0.0.1:marc", "marc21");
    assert!(old.headers()[0].deleted && !old.xml.contains("<metadata>"));
    let new = server.record("oai:127.0.0.1:marc", "oai_dc");
    assert_eq!(new.texts("title"), ["now in Dublin Core"]);

    fixture.write("new.xml", "<no longer XML");
    wait_until("the broken file is a deleted record", || {
        list(&server, "oai_dc").contains(&("oai:127.0.0.1:new".to_owned(), true))
    });
    let before = (list(&server, "oai_dc"), list(&server, "marc21"));
    server.stop();
    let server = serve(&fixture, "", port);
    assert_eq!((list(&server, "oai_dc"), list(&server, "marc21")), before);
}

#[test]
fn folders_can_name_the_format_and_passwords_protect_them() {
    let fixture = Fixture::empty();
    fixture.write_beside("htpasswd", "reader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n");
    fixture.write("dc/1.xml", dublin_core("one"));
    fixture.write("dc/2.xml", dublin_core("two"));
    fixture.write("marc/1.xml", marc("one"));
    fixture.write("marc/2.xml", dublin_core("in the wrong folder"));
    fixture.write("own/3.xml", "<own xmlns=\"urn:own\">three</own>");
    let config = "[records]\nidentifier = \"oai:library.example.org:\"\n\
        [[records.format]]\nprefix = \"oai_dc\"\nfolder = \"dc\"\n\
        [[records.format]]\nprefix = \"marc21\"\nfolder = \"/marc/\"\n\
        [[records.format]]\nprefix = \"own\"\nnamespace = \"urn:own\"\nschema = \"http://a.example/own.xsd\"\n\
        [[area]]\npath = \"/marc/\"\nhtpasswd = \"htpasswd\"\n";
    let server = serve(&fixture, config, free_port());
    let one = "oai:library.example.org:1";

    assert_eq!(
        list(&server, "oai_dc"),
        live(&[one, "oai:library.example.org:2"])
    );
    assert_eq!(
        list(&server, "own"),
        live(&["oai:library.example.org:own/3"])
    );
    assert_eq!(list(&server, "marc21"), live(&[]));
    let (name, password) = basic("reader", "legacy");
    let reader = [(name, password.as_str())];
    let arguments = "metadataPrefix=marc21";
    let seen = Answer::list(&server.base_url, "ListRecords", arguments, &reader);
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].identifier, one);
    let both = format!("verb=ListMetadataFormats&identifier={one}");
    assert_eq!(server.ask(&both).texts("metadataPrefix"), ["oai_dc"]);
    let both = Answer::ask_as(&server.base_url, &both, &reader);
    assert_eq!(both.texts("metadataPrefix"), ["oai_dc", "marc21"]);
    assert!(server.log().contains("marc/2.xml"));
    assert!(server.log().contains("1 files are no records"));
}

#[test]
fn mistakes_in_the_configuration_of_records_are_named() {
    let fixture = directory();
    for (config, part) in [
        (
            "[[records.format]]\nprefix = \"new\"\n",
            "needs a namespace",
        ),
        ("[records]\nidentifier = \"no uri\"\n", "no uri"),
        ("[records]\nidentifer = \"oai:a:\"\n", "identifier"),
        (
            "[origin]\nurl = \"http://127.0.0.1:1/\"\n",
            "leave out --origin",
        ),
    ] {
        let path = fixture.write_beside("records.toml", config);
        let output = garner()
            .args(["serve", "--records"])
            .arg(fixture.site())
            .arg("--data")
            .arg(fixture.data())
            .arg("--config")
            .arg(path)
            .output();
        assert!(!output.status.success(), "{config}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(part), "{config}: {said}");
    }
}
