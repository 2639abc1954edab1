//! Schedules: added, changed, steered, and what is wrong with them told in plain words.

use axum::http::{Method, StatusCode};
use catalog::Role;
use serde_json::{Value, json};

use crate::browser::{Browser, TestConsole};

/// The form as a browser sends it, with some fields filled in otherwise.
fn form<'a>(repository: &'a str, other: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("repository", repository),
        ("name", "Every night"),
        ("metadata_prefix", "oai_dc"),
        ("set", "maps"),
        ("method", "ListRecords"),
        ("full", "false"),
        ("from", ""),
        ("until", ""),
        ("slices", "1"),
        ("validation", "strict"),
        ("filter", ""),
        ("normalise", ""),
        ("deleted", "remove"),
        ("unpack", ""),
        ("warc", ""),
        ("frequency", "cron"),
        ("number", "1"),
        ("unit", "day"),
        ("cron", "0 3 * * *"),
        ("starts", ""),
        ("ends", ""),
        ("do", "save"),
    ];
    for (name, value) in other {
        fields.retain(|(field, _)| field != name);
        fields.push((name, value));
    }
    fields
}

fn settings(browser: &Browser<'_>, id: i64) -> Value {
    let answer = browser.call(
        Method::GET,
        &format!("/api/v1/schedules/{id}"),
        &Value::Null,
    );
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    answer.json()
}

#[test]
fn a_schedule_is_added_and_shown_with_its_next_runs() {
    let test = TestConsole::new();
    let repository = test.repository("http://a.example/oai", "Maps of A");
    let ann = test.with_session("ann", Role::Operator);

    ann.get("/schedules")
        .shows(StatusCode::OK, "No schedules yet.");
    ann.get("/schedules/new").shows(StatusCode::OK, "Maps of A");
    let id = repository.id.to_string();
    let page = ann.get(&format!("/schedules/new?repository={id}"));
    page.shows(StatusCode::OK, "at once");
    for text in ["value=\"mods\"", "Maps &#38; plans", "maps:old"] {
        assert!(page.body.contains(text), "{text} is not in {}", page.body);
    }

    let preview = ann.post("/schedules", &form(&id, &[("do", "preview")]));
    preview.shows(StatusCode::OK, "Runs every day at 03:00 UTC.");
    assert_eq!(preview.body.matches("03:00</time>").count(), 5);
    ann.get("/schedules")
        .shows(StatusCode::OK, "No schedules yet.");

    let added = ann.post(
        "/schedules",
        &form(&id, &[("warc", "warc"), ("full", "true")]),
    );
    added.leads_to("/schedules/1");
    let page = ann.get("/schedules/1");
    page.shows(StatusCode::OK, "Every night is scheduled.");
    page.shows(StatusCode::OK, "every day at 03:00 UTC");
    page.shows(StatusCode::OK, "<dt>Full</dt><dd class=\"break\">yes</dd>");
    ann.get("/schedules?text=NIGHT")
        .shows(StatusCode::OK, "Every night");
    ann.get("/schedules?state=paused")
        .shows(StatusCode::OK, "No schedules match these filters.");

    let known = settings(&ann, 1);
    assert_eq!(known["frequency"], "cron 0 3 * * *");
    assert_eq!(known["parameters"]["full"], true);
    assert_eq!(known["parameters"]["warc"], "warc");
    assert_eq!(test.audit_trail()[0].entry.action, "schedule.add");
}

#[test]
fn what_is_wrong_is_told_at_its_field_and_nothing_is_lost() {
    let test = TestConsole::new();
    let repository = test
        .repository("http://a.example/oai", "Maps")
        .id
        .to_string();
    let ann = test.with_session("ann", Role::Operator);

    for (field, value, said) in [
        ("cron", "0 0 31 2 *", "never comes true"),
        ("cron", "every night", "is not a cron expression"),
        ("starts", "31.12.2026", "is not a date"),
        ("ends", "2001-01-01T00:00", "nothing would run until then"),
        ("set", "no-such-set", "has no set `no-such-set`"),
        ("set", "map", "it has maps, maps:old"),
        ("metadata_prefix", "marc", "it offers oai_dc, mods"),
        ("from", "yesterday", "is not a date"),
        ("slices", "0", "from 1 to 1000"),
        ("slices", "many", "write a whole number"),
        ("unpack", "../elsewhere", "not a directory below"),
        ("filter", "77", "no filter with the number 77"),
        ("name", "<script>\u{7}", "all in one line"),
    ] {
        let answer = ann.post("/schedules", &form(&repository, &[(field, value)]));
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{field}={value}"
        );
        let body = answer.body.replace("&#39;", "'");
        assert!(
            body.contains(said),
            "{field}={value}: `{said}` is not in {body}"
        );
        let kept = value.replace('<', "&#60;").replace('>', "&#62;");
        assert!(
            field == "filter" || body.contains(&kept),
            "{field}={value} is lost"
        );
    }
    let times = [("starts", "2030-02-01T00:00"), ("ends", "2030-01-01T00:00")];
    let answer = ann.post("/schedules", &form(&repository, &times));
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "this is before the start");
    let interval = [("frequency", "every"), ("number", "0")];
    let answer = ann.post("/schedules", &form(&repository, &interval));
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    ann.get("/schedules")
        .shows(StatusCode::OK, "No schedules yet.");
}

#[test]
fn the_second_of_two_who_edit_sees_both_versions() {
    let test = TestConsole::new();
    let repository = test.repository("http://a.example/oai", "Maps");
    let id = test.schedule(&repository, "Every night");
    let ann = test.with_session("ann", Role::Operator);
    let ben = test.with_session("ben", Role::Operator);
    let number = repository.id.to_string();
    let place = format!("/schedules/{id}");
    let edit = ann.get(&format!("{place}/edit"));
    edit.shows(StatusCode::OK, "name=\"version\" value=\"1\"");

    let bens = form(&number, &[("version", "1"), ("name", "By Ben")]);
    ben.post(&place, &bens).leads_to(&place);
    let anns = form(
        &number,
        &[("version", "1"), ("name", "By Ann"), ("set", "maps:old")],
    );
    let conflict = ann.post(&place, &anns);

    conflict.shows(StatusCode::CONFLICT, "Somebody else saved this schedule");
    for text in [
        "By Ben",
        "By Ann",
        "maps:old",
        "name=\"version\" value=\"2\"",
    ] {
        assert!(
            conflict.body.contains(text),
            "{text} is not in {}",
            conflict.body
        );
    }
    assert_eq!(settings(&ann, id)["name"], "By Ben");
    let anns = form(&number, &[("version", "2"), ("name", "By Ann")]);
    ann.post(&place, &anns).leads_to(&place);
    assert_eq!(settings(&ann, id)["name"], "By Ann");
    let details = test.audit_trail()[0].entry.details.clone().unwrap();
    assert!(details.contains("Name: By Ben → By Ann"), "{details}");
}

#[test]
fn what_the_form_does_not_show_stays_as_it_was() {
    let test = TestConsole::new();
    let repository = test.repository("http://a.example/oai", "Maps");
    let ann = test.with_session("ann", Role::Operator);
    let wanted = json!({
        "repository": repository.id, "metadata_prefix": "oai_dc", "frequency": "every 2 weeks",
        "parameters": {"parse_id": false, "files_per_directory": 77},
    });
    let added = ann.call(Method::POST, "/api/v1/schedules", &wanted);
    assert_eq!(added.status, StatusCode::CREATED, "{added:?}");

    let number = repository.id.to_string();
    let fields = form(&number, &[("version", "1"), ("validation", "loose")]);
    ann.post("/schedules/1", &fields).leads_to("/schedules/1");

    let parameters = settings(&ann, 1)["parameters"].clone();
    assert_eq!(parameters["parse_id"], false);
    assert_eq!(parameters["files_per_directory"], 77);
    assert_eq!(parameters["validation"], "loose");
}

#[test]
fn a_schedule_is_paused_resumed_run_and_removed() {
    let test = TestConsole::new();
    let repository = test.repository("http://a.example/oai", "Maps");
    let id = test.schedule(&repository, "Every night");
    let ann = test.with_session("ann", Role::Operator);
    let place = format!("/schedules/{id}");

    ann.post(&format!("{place}/pause"), &[]).leads_to(&place);
    assert_eq!(settings(&ann, id)["state"], "paused");
    ann.get(&place)
        .shows(StatusCode::OK, "runs only when somebody resumes it");
    ann.post(&format!("{place}/resume"), &[]).leads_to(&place);
    assert_eq!(settings(&ann, id)["state"], "new");
    let run = ann.post(&format!("{place}/run"), &[]);
    assert!(run.location().starts_with("/runs/"), "{run:?}");
    assert!(settings(&ann, id)["job"].is_i64());
    let question = ann.get(&format!("{place}/remove"));
    question.shows(StatusCode::OK, "which waits, is withdrawn");
    ann.post(&format!("{place}/remove"), &[])
        .leads_to("/schedules");
    assert_eq!(ann.get(&place).status, StatusCode::NOT_FOUND);

    let trail = test.audit_trail();
    let actions: Vec<_> = trail.iter().map(|row| row.entry.action.as_str()).collect();
    assert_eq!(
        actions,
        [
            "schedule.remove",
            "schedule.run",
            "schedule.resume",
            "schedule.pause"
        ]
    );
}

#[test]
fn what_is_done_to_rows_returns_to_the_list_that_they_were_chosen_in() {
    let test = TestConsole::new();
    let repository = test.repository("http://a.example/oai", "Maps");
    let [one, two] = ["Every night", "At noon"].map(|name| test.schedule(&repository, name));
    let ann = test.with_session("ann", Role::Operator);
    let list = "/schedules?text=e&sort=-state";
    let back = "back=/schedules%3Ftext%3De%26sort%3D-state";

    let page = ann.get(list);
    page.shows(StatusCode::OK, &format!("/schedules/{one}/pause?{back}"));
    page.shows(StatusCode::OK, &format!("/schedules/bulk?{back}"));
    ann.post(&format!("/schedules/{one}/pause?{back}"), &[])
        .leads_to(list);
    ann.get(list).shows(StatusCode::OK, "paused");

    let ids = [one, two, 99].map(|id| id.to_string());
    let mut fields = vec![("action", "pause")];
    fields.extend(ids.iter().map(|id| ("id", id.as_str())));
    ann.post(&format!("/schedules/bulk?{back}"), &fields)
        .leads_to(list);
    let page = ann.get(list);
    page.shows(StatusCode::OK, "2 schedules paused. Failed: schedule 99: ");
    assert_eq!(settings(&ann, two)["state"], "paused");
    ann.post(&format!("/schedules/bulk?{back}"), &[("action", "run")])
        .leads_to(list);
    ann.get(list)
        .shows(StatusCode::OK, "No schedule was chosen.");
    // Nobody is led to another site.
    ann.post(
        &format!("/schedules/{two}/resume?back=//evil.example/"),
        &[],
    )
    .leads_to(&format!("/schedules/{two}"));
    let vic = test.with_session("vic", Role::Viewer);
    let answer = vic.post("/schedules/bulk", &fields);
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(!vic.get(list).body.contains("type=\"checkbox\""));
    let removal = ann.get(&format!("/schedules/{two}/remove?{back}"));
    removal.shows(StatusCode::OK, &format!("/schedules/{two}/remove?{back}"));
    ann.post(&format!("/schedules/{two}/remove?{back}"), &[])
        .leads_to(list);
}

#[test]
fn viewers_see_schedules_and_cannot_steer_them() {
    let test = TestConsole::new();
    let repository = test.repository("http://a.example/oai", "Maps");
    let id = test.schedule(&repository, "Every night");
    let vic = test.with_session("vic", Role::Viewer);

    let list = vic.get("/schedules");
    list.shows(StatusCode::OK, "Every night");
    assert!(!list.body.contains("Run now") && !list.body.contains("Add schedule"));
    for path in ["/schedules/new", "/schedules/1/edit", "/schedules/1/remove"] {
        assert_eq!(vic.get(path).status, StatusCode::FORBIDDEN, "{path}");
    }
    for action in ["pause", "resume", "run", "remove"] {
        let answer = vic.post(&format!("/schedules/{id}/{action}"), &[]);
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{action}");
    }
    let answer = vic.call(Method::DELETE, "/api/v1/schedules/1", &Value::Null);
    assert_eq!(answer.code(), "forbidden");
}

#[test]
fn programs_do_the_same() {
    let test = TestConsole::new();
    let repository = test.repository("http://a.example/oai", "Maps");
    let ann = test.with_session("ann", Role::Operator);
    let wanted = json!({
        "repository": repository.id, "name": "Hourly", "metadata_prefix": "oai_dc", "set": "maps",
        "frequency": "every 1 hour", "starts": "2030-01-01T00:00:00Z", "paused": true,
    });

    let added = ann.call(Method::POST, "/api/v1/schedules", &wanted);
    assert_eq!(added.status, StatusCode::CREATED, "{added:?}");
    let mut known = added.json();
    assert_eq!(known["state"], "paused");
    assert_eq!(known["described"], "every hour");
    assert_eq!(known["starts"], "2030-01-01T00:00:00Z");

    for (field, value, said) in [
        ("frequency", json!("cron 0 0 30 2 *"), "never comes true"),
        ("set", json!("nope"), "has no set"),
        ("ends", json!("2029-01-01T00:00:00Z"), "before the start"),
        ("parameters", json!({"from": "x"}), "is not a date"),
        ("colour", json!("blue"), "colour"),
        ("repository", json!(99), "no repository"),
    ] {
        let mut wrong = wanted.clone();
        wrong[field] = value;
        let answer = ann.call(Method::POST, "/api/v1/schedules", &wrong);
        assert!(answer.status.is_client_error(), "{field}: {answer:?}");
        assert!(answer.body.contains(said), "{field}: {}", answer.body);
    }

    let mut changed = wanted.clone();
    changed.as_object_mut().unwrap().remove("paused");
    changed["version"] = known["version"].clone();
    changed["name"] = json!("Hourly indeed");
    let answer = ann.call(Method::PUT, "/api/v1/schedules/1", &changed);
    assert_eq!(answer.json()["name"], "Hourly indeed", "{answer:?}");
    let answer = ann.call(Method::PUT, "/api/v1/schedules/1", &changed);
    assert_eq!(
        (answer.status, answer.code()),
        (StatusCode::CONFLICT, "changed".to_owned())
    );

    known = ann
        .call(Method::POST, "/api/v1/schedules/1/resume", &Value::Null)
        .json();
    assert_eq!(known["state"], "new");
    let listed = ann
        .call(Method::GET, "/api/v1/schedules?limit=1", &Value::Null)
        .json();
    assert_eq!(listed["total"], 1);
    let runs = "/api/v1/schedules/runs?frequency=cron%200%203%20*%20*%20*&starts=2030-01-01T00:00:00Z&limit=2";
    let runs = ann.call(Method::GET, runs, &Value::Null).json();
    assert_eq!(
        runs["times"],
        json!(["2030-01-01T03:00:00Z", "2030-01-02T03:00:00Z"])
    );
    let gone = ann.call(Method::DELETE, "/api/v1/schedules/1", &Value::Null);
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
}
