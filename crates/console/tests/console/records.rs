//! Records: found, read, and taken away, whatever is in them.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{Method, StatusCode};
use catalog::Role;
use serde_json::{Value, json};

use crate::browser::TestConsole;
use crate::holdings::TestHarvest;

const DUBLIN_CORE: &str = r#"<record xmlns="http://www.openarchives.org/OAI/2.0/"><header><identifier>oai:a:1</identifier></header>
<metadata><oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>The coast &lt;script&gt;alert(1)&lt;/script&gt;</dc:title><dc:identifier>https://a.example/1?x=1&amp;y="2"</dc:identifier>
<dc:relation>javascript:alert(1)</dc:relation></oai_dc:dc></metadata></record>"#;
const OTHER: &str = r#"<record><metadata><mods xmlns="http://www.loc.gov/mods/v3"><titleInfo lang="en"><title>Hills</title></titleInfo></mods></metadata></record>"#;

fn console() -> TestConsole {
    let test = TestConsole::new();
    let maps = test.repository("http://a.example/oai", "Maps");
    let records = vec![
        ("oai:a:1", Some(DUBLIN_CORE)),
        ("oai:a:2", Some(OTHER)),
        ("oai:a:3", None),
        ("oai:a:4", Some("<record><broken></record>")),
    ];
    let harvest = test.harvest(
        &maps,
        &TestHarvest {
            records,
            ..TestHarvest::default()
        },
    );
    let record = test.record("oai:a:1");
    test.index(harvest, record, "The coast", "sea and sand");
    test
}

#[test]
fn records_are_found_by_words_and_by_what_is_known_of_them() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    let all = vic.get("/records");
    all.shows(StatusCode::OK, "4 items");
    all.shows(StatusCode::OK, "The coast");
    for (query, found) in [
        ("text=sand", vec![1]),
        ("text=%22sea+and%22+coa*", vec![1]),
        ("text=hills", vec![]),
        ("text=%22%28%29*+AND+OR+NEAR%28", vec![]),
        ("repository=1&prefix=oai_dc", vec![1, 2, 3, 4]),
        ("prefix=mods", vec![]),
        ("set=maps", vec![1, 2, 3, 4]),
        ("set=other", vec![]),
        ("deleted=yes", vec![3]),
        ("deleted=no", vec![1, 2, 4]),
        ("since=2023-11-14&until=2023-11-14", vec![1, 2, 3, 4]),
        ("since=2024-01-01", vec![]),
        ("harvest=1", vec![1, 2, 3, 4]),
        ("page=3", vec![1, 2]),
        (
            "text=&repository=&prefix=&set=&since=&until=&deleted=",
            vec![1, 2, 3, 4],
        ),
    ] {
        let page = vic.get(&format!("/records?{query}"));
        assert_eq!(page.status, StatusCode::OK, "{query}");
        let shown: Vec<_> = (1..=4)
            .filter(|number| page.body.contains(&format!("href=\"/records/{number}\"")))
            .collect();
        assert_eq!(shown, found, "{query}");
    }
    vic.get("/records?since=x")
        .shows(StatusCode::OK, "is not a date");
}

#[test]
fn an_item_is_one_row_whatever_formats_it_has() {
    let test = console();
    let maps = test.repository("http://a.example/oai", "Maps");
    test.harvest(
        &maps,
        &TestHarvest {
            metadata_prefix: "mods",
            records: vec![("oai:a:1", Some(OTHER)), ("oai:a:5", Some(OTHER))],
            ..TestHarvest::default()
        },
    );
    let vic = test.with_session("vic", Role::Viewer);

    let page = vic.get("/records");
    page.shows(StatusCode::OK, "5 items");
    for number in 1..=6 {
        let link = format!("href=\"/records/{number}\"");
        assert!(page.body.contains(&link), "{number}: {}", page.body);
    }
    assert_eq!(page.body.matches("scope=\"row\"").count(), 5);
    // A record that matches in one format alone is listed, though a newer record of the item does not match.
    let found = vic.get("/records?prefix=oai_dc");
    found.shows(StatusCode::OK, "4 items");
    let api = |query: &str| {
        let path = format!("/api/v1/records?items=true&{query}");
        vic.call(Method::GET, &path, &Value::Null).json()
    };
    let all = api("count=true&limit=2");
    assert_eq!((&all["total"], &all["next"]), (&json!(5), &json!(4)));
    let formats = api("text=sand")["items"][0]["formats"].clone();
    assert_eq!(formats, json!([{"metadata_prefix": "oai_dc", "record": 1}]));
    let mut met = Vec::new();
    let mut behind = String::new();
    for _ in 0..5 {
        let page = api(&format!("limit=1&sort=title&descending=true{behind}"));
        met.push(page["items"][0]["identifier"].as_str().unwrap().to_owned());
        behind = format!("&behind={}", page["next"]);
    }
    assert_eq!(behind, "&behind=null");
    assert_eq!(met, ["oai:a:1", "oai:a:5", "oai:a:4", "oai:a:3", "oai:a:2"]);
    let wrong = vic.get("/api/v1/records?sort=size");
    wrong.shows(StatusCode::UNPROCESSABLE_ENTITY, "added, datestamp, title");
}

#[test]
fn a_record_in_dublin_core_is_read_by_its_elements() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    let page = vic.get("/records/1");

    page.shows(StatusCode::OK, "<dt>title</dt>");
    page.shows(StatusCode::OK, "&#60;script&#62;alert(1)&#60;/script&#62;");
    let link = "<a href=\"https://a.example/1?x=1&#38;y=&#34;2&#34;\" rel=\"noreferrer noopener nofollow\">";
    page.shows(StatusCode::OK, link);
    assert!(!page.body.contains("href=\"javascript"), "{}", page.body);
    assert!(!page.body.contains("<script>alert"));
    page.shows(StatusCode::OK, "Maps &#38; plans");
    page.shows(StatusCode::OK, "href=\"/history/1\"");
    page.shows(StatusCode::OK, "0.xml</code>");
}

#[test]
fn other_records_are_read_by_their_structure() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    let page = vic.get("/records/2");
    page.shows(StatusCode::OK, "<span class=\"name\">titleInfo</span>");
    page.shows(StatusCode::OK, "<span class=\"value\">en</span>");
    vic.get("/records/3")
        .shows(StatusCode::OK, "This record is deleted.");
    vic.get("/records/4")
        .shows(StatusCode::OK, "cannot be read as XML");
    assert_eq!(vic.get("/records/99").status, StatusCode::NOT_FOUND);
}

#[test]
fn the_file_of_a_record_is_never_a_page_of_ours() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    for path in ["/records/1/xml", "/api/v1/records/1/xml"] {
        let file = vic.get(path);
        assert_eq!(file.status, StatusCode::OK, "{path}");
        assert_eq!(file.body, DUBLIN_CORE);
        assert_eq!(file.headers[CONTENT_TYPE], "application/xml");
        assert_eq!(
            file.headers[CONTENT_DISPOSITION],
            "attachment; filename=\"record-1.xml\""
        );
        assert_eq!(file.headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
    }
    let text = vic.get("/records/1/source");
    assert_eq!(text.body, DUBLIN_CORE);
    assert_eq!(text.headers[CONTENT_TYPE], "text/plain; charset=utf-8");
    assert_eq!(vic.get("/records/3/xml").status, StatusCode::NOT_FOUND);

    let repository = test.holdings.repository("1").unwrap();
    let directory = test.holdings.record_directory(&repository, "oai_dc");
    std::fs::remove_file(directory.join("0.xml")).unwrap();
    assert_eq!(vic.get("/records/1/xml").status, StatusCode::NOT_FOUND);
    vic.get("/records/1")
        .shows(StatusCode::OK, "The file cannot be read");
}

#[test]
fn programs_read_records() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);
    let get = |path: &str| vic.call(Method::GET, path, &Value::Null);

    let page = get("/api/v1/records?limit=3").json();
    let ids: Vec<_> = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].clone())
        .collect();
    assert_eq!(ids, [4, 3, 2]);
    assert_eq!(page["next"], 2);
    let found = get("/api/v1/records?text=coast").json();
    assert_eq!(found["items"][0]["title"], "The coast");
    let record = get("/api/v1/records/1").json();
    assert_eq!(record["datestamp"], "2023-11-14T22:13:20Z");
    assert_eq!(record["set_specs"], json!(["maps"]));
    assert!(record["path"].as_str().unwrap().ends_with("oai_dc/0.xml"));
    assert_eq!(
        get("/api/v1/records?deleted=true").json()["items"][0]["id"],
        3
    );
    assert_eq!(
        get("/api/v1/records?deleted=perhaps").status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(get("/api/v1/records/99").code(), "not_found");
}
