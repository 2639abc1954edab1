//! Filters and mappings: tried on a record, saved, and not removed while somebody goes by them.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use catalog::{Role, RulesKind};
use serde_json::{Value, json};
use test_support::{Misbehaving, Script};

use crate::browser::{Answer, Browser, TestConsole, request};
use crate::holdings::TestHarvest;

const FILTER: &str = r#"<filters match="any"><filter xpath="//subject" regexp="coast"/></filters>"#;
const MAPPING: &str = r#"<normalize><mapping xpath="//subject"><newElement regexp="coast" name="type"><newValue>sea &amp; sand</newValue></newElement></mapping></normalize>"#;
const RECORD: &str = "<record><subject>the coast <b>here</b></subject></record>";

fn fields<'a>(kind: &'a str, other: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let content = if kind == "filter" { FILTER } else { MAPPING };
    let mut fields = vec![
        ("kind", kind),
        ("name", "Coast"),
        ("content", content),
        ("version", ""),
        ("do", "save"),
        ("sample", "pasted"),
        ("xml", RECORD),
    ];
    for (name, value) in other {
        fields.retain(|(field, _)| field != name);
        fields.push((name, value));
    }
    fields
}

/// Sends a form in parts, as a browser does that has a file to send.
fn post_parts(browser: &Browser<'_>, path: &str, fields: &[(&str, &str)], file: &[u8]) -> Answer {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--xyz\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value.as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    let head = "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.xml\"\r\nContent-Type: text/xml\r\n\r\n";
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(file);
    body.extend_from_slice(b"\r\n--xyz--\r\n");
    let mut request = request(Method::POST, path).map(|_| Body::from(body));
    let kind = "multipart/form-data; boundary=xyz".parse().unwrap();
    request.headers_mut().insert(CONTENT_TYPE, kind);
    browser.send(request)
}

#[test]
fn a_filter_is_tried_on_a_record_and_saved() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);
    ann.get("/rules")
        .shows(StatusCode::OK, "No filters or mappings yet.");
    ann.get("/rules/new?kind=filter")
        .shows(StatusCode::OK, "lighthouse|beacon");

    let trial = ann.post("/rules", &fields("filter", &[("do", "try"), ("name", "")]));
    trial.shows(StatusCode::OK, "data-state=\"accepted\"");
    trial.shows(StatusCode::OK, "//subject");
    trial.shows(StatusCode::OK, "the coast");
    assert!(!trial.body.contains("<b>here</b>"), "{}", trial.body);
    let other = "<record><subject>hills</subject></record>";
    let trial = ann.post(
        "/rules",
        &fields("filter", &[("do", "try"), ("xml", other)]),
    );
    trial.shows(StatusCode::OK, "data-state=\"rejected\"");
    trial.shows(StatusCode::OK, "does not match");
    ann.get("/rules")
        .shows(StatusCode::OK, "No filters or mappings yet.");

    ann.post("/rules", &fields("filter", &[]))
        .leads_to("/rules");
    ann.get("/rules")
        .shows(StatusCode::OK, "The filter Coast is saved.");
    let taken = ann.post("/rules", &fields("filter", &[]));
    taken.shows(StatusCode::UNPROCESSABLE_ENTITY, "is taken");
    assert_eq!(test.audit_trail()[0].entry.subject, "filter 1 (Coast)");
}

#[test]
fn a_mapping_shows_what_it_adds() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);

    let trial = ann.post("/rules", &fields("mapping", &[("do", "try")]));

    trial.shows(StatusCode::OK, "is added because of");
    trial.shows(StatusCode::OK, "<ins class=\"added\">");
    trial.shows(StatusCode::OK, "sea &#38; sand");
}

#[test]
fn rules_that_cannot_be_used_are_told_with_their_line_and_kept() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);
    for (content, said) in [
        ("this is no XML", "line 1"),
        ("<html>\n<body></html>", "line 2"),
        (
            "<filters match=\"any\">\n<filter xpath=\"//[\" regexp=\"x\"/>\n</filters>",
            "line 2",
        ),
        (
            "<filters match=\"any\">\n<filter xpath=\"//a\" regexp=\"(\"/>\n</filters>",
            "regular expression",
        ),
        ("", "nothing in it"),
    ] {
        for action in ["save", "try"] {
            let wrong = fields("filter", &[("content", content), ("do", action)]);
            let answer = ann.post("/rules", &wrong);
            answer.shows(StatusCode::UNPROCESSABLE_ENTITY, said);
            let kept = content.lines().next().unwrap_or_default();
            let kept = kept
                .replace('<', "&#60;")
                .replace('>', "&#62;")
                .replace('"', "&#34;");
            assert!(answer.body.contains(&kept), "{kept}");
        }
    }
    for (field, value, said) in [
        ("name", "", "a name has 1 to 100 characters"),
        ("xml", "<record>", "the record cannot be used"),
        ("xml", "", "paste the XML"),
    ] {
        let action = if field == "name" { "save" } else { "try" };
        let wrong = fields("filter", &[(field, value), ("do", action)]);
        ann.post("/rules", &wrong)
            .shows(StatusCode::UNPROCESSABLE_ENTITY, said);
    }
}

#[test]
fn a_file_is_sent_instead_of_a_text() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);
    let typed = fields("filter", &[("content", "typed")]);

    let answer = post_parts(&ann, "/rules", &typed, FILTER.as_bytes());
    answer.leads_to("/rules");
    ann.get("/rules/1")
        .shows(StatusCode::OK, "regexp=&#34;coast&#34;");
    let answer = post_parts(&ann, "/rules", &typed, b"\xFF\xFE<\0f\0");
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "no text in UTF-8");
    let long = vec![b' '; 3 << 20];
    let answer = post_parts(&ann, "/rules", &typed, &long);
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn rules_are_tried_on_records_that_were_harvested() {
    let test = TestConsole::new();
    let maps = test.repository("http://a.example/oai", "Maps");
    let records = vec![("oai:a:1", Some(RECORD)), ("oai:a:2", None)];
    test.harvest(
        &maps,
        &TestHarvest {
            records,
            ..TestHarvest::default()
        },
    );
    let ann = test.with_session("ann", Role::Operator);

    for (record, status, said) in [
        ("1", StatusCode::OK, "data-state=\"accepted\""),
        ("2", StatusCode::UNPROCESSABLE_ENTITY, "has no file"),
        (
            "99",
            StatusCode::UNPROCESSABLE_ENTITY,
            "there is no record 99",
        ),
        (
            "x",
            StatusCode::UNPROCESSABLE_ENTITY,
            "give the number of a record",
        ),
    ] {
        let trial = fields(
            "filter",
            &[("do", "try"), ("sample", "held"), ("record", record)],
        );
        ann.post("/rules", &trial).shows(status, said);
    }
}

#[test]
fn rules_are_tried_on_a_live_record() {
    let server = Misbehaving::start(Script::new(5, 5));
    let test = TestConsole::new();
    let live = test.repository(&server.base_url(), "Live").id.to_string();
    let gone = test
        .repository("http://127.0.0.1:1/oai", "Gone")
        .id
        .to_string();
    let ann = test.with_session("ann", Role::Operator);
    let trial = |repository: &str| {
        let live = [
            ("do", "try"),
            ("sample", "live"),
            ("repository", repository),
            ("metadata_prefix", "oai_dc"),
        ];
        ann.post("/rules", &fields("filter", &live))
    };

    trial(&live).shows(StatusCode::OK, "data-state=\"rejected\"");
    let answer = trial(&gone);
    assert_eq!(
        answer.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{answer:?}"
    );
    trial("").shows(StatusCode::UNPROCESSABLE_ENTITY, "choose a repository");
}

#[test]
fn the_second_of_two_who_edit_rules_sees_both_versions() {
    let test = TestConsole::new();
    let id = test.rules(RulesKind::Filter, "Coast", FILTER);
    let ann = test.with_session("ann", Role::Operator);
    let ben = test.with_session("ben", Role::Operator);
    let place = format!("/rules/{id}");
    let bens = FILTER.replace("coast", "by-ben");
    let anns = FILTER.replace("coast", "by-ann");

    let answer = ben.post(
        &place,
        &fields("filter", &[("version", "1"), ("content", &bens)]),
    );
    answer.leads_to("/rules");
    let conflict = ann.post(
        &place,
        &fields("filter", &[("version", "1"), ("content", &anns)]),
    );
    conflict.shows(StatusCode::CONFLICT, "ben saved another version");
    for text in ["by-ben", "by-ann", "name=\"version\" value=\"2\""] {
        assert!(
            conflict.body.contains(text),
            "{text} is not in {}",
            conflict.body
        );
    }
    let again = ann.post(
        &place,
        &fields("filter", &[("version", "2"), ("content", &anns)]),
    );
    again.leads_to("/rules");
    ann.get(&place).shows(StatusCode::OK, "by-ann");
}

#[test]
fn rules_that_a_schedule_goes_by_are_not_removed() {
    let test = TestConsole::new();
    let maps = test.repository("http://a.example/oai", "Maps");
    let id = test.rules(RulesKind::Filter, "Coast", FILTER);
    let ann = test.with_session("ann", Role::Operator);
    let wanted = json!({
        "repository": maps.id, "name": "Every night", "metadata_prefix": "oai_dc",
        "frequency": "every day", "parameters": {"filter": id},
    });
    let added = ann.call(Method::POST, "/api/v1/schedules", &wanted);
    assert_eq!(added.status, StatusCode::CREATED, "{added:?}");

    ann.get("/rules").shows(StatusCode::OK, "Every night");
    ann.get("/schedules/1").shows(StatusCode::OK, "Coast");
    let place = format!("/rules/{id}/remove");
    ann.get(&place)
        .shows(StatusCode::CONFLICT, "Every night (schedule 1)");
    ann.post(&place, &[])
        .shows(StatusCode::CONFLICT, "1 (Every night)");
    ann.post("/schedules/1/remove", &[]).leads_to("/schedules");
    ann.get(&place)
        .shows(StatusCode::OK, "Remove the filter Coast?");
    ann.post(&place, &[]).leads_to("/rules");
    assert_eq!(
        ann.get(&format!("/rules/{id}")).status,
        StatusCode::NOT_FOUND
    );
}

#[test]
fn viewers_read_rules_only() {
    let test = TestConsole::new();
    let id = test.rules(RulesKind::Filter, "Coast", FILTER);
    let vic = test.with_session("vic", Role::Viewer);
    let page = vic.get(&format!("/rules/{id}"));
    page.shows(StatusCode::OK, "regexp=&#34;coast&#34;");
    assert!(!page.body.contains("<textarea"));
    assert_eq!(vic.get("/rules/new").status, StatusCode::FORBIDDEN);
    let answer = vic.post("/rules", &fields("filter", &[("do", "try")]));
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[test]
fn programs_do_the_same() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);
    let call = |method, path: &str, body: &Value| ann.call(method, path, body);

    let order = json!({"kind": "mapping", "content": MAPPING, "xml": RECORD});
    let trial = call(Method::POST, "/api/v1/rules/try", &order).json();
    assert_eq!(trial["added"][0]["value"], "sea & sand");
    assert!(
        trial["stored"].as_str().unwrap().contains("<type>"),
        "{trial}"
    );
    let order = json!({"kind": "filter", "content": FILTER, "xml": RECORD});
    let trial = call(Method::POST, "/api/v1/rules/try", &order).json();
    assert_eq!(trial["accepted"], true);
    assert_eq!(trial["filters"][0]["nodes"][0]["matches"], true);
    let order = json!({"kind": "filter", "content": FILTER});
    let answer = call(Method::POST, "/api/v1/rules/try", &order);
    assert_eq!(answer.code(), "invalid");

    let new = json!({"kind": "filter", "name": "Coast", "content": FILTER});
    let added = call(Method::POST, "/api/v1/rules", &new);
    assert_eq!(added.status, StatusCode::CREATED, "{added:?}");
    assert_eq!(call(Method::POST, "/api/v1/rules", &new).code(), "conflict");
    let change = json!({"name": "Coasts", "content": FILTER, "version": 1});
    let changed = call(Method::PUT, "/api/v1/rules/1", &change).json();
    assert_eq!(
        (changed["name"].as_str(), changed["version"].as_i64()),
        (Some("Coasts"), Some(2))
    );
    assert_eq!(
        call(Method::PUT, "/api/v1/rules/1", &change).code(),
        "changed"
    );
    let wrong = json!({"name": "x", "content": "<a", "version": 2});
    assert_eq!(
        call(Method::PUT, "/api/v1/rules/1", &wrong).code(),
        "invalid"
    );
    let listed = call(Method::GET, "/api/v1/rules?kind=mapping", &Value::Null).json();
    assert_eq!(listed["total"], 0);
    let gone = call(Method::DELETE, "/api/v1/rules/1", &Value::Null);
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert_eq!(
        call(Method::GET, "/api/v1/rules/1", &Value::Null).code(),
        "not_found"
    );
}
