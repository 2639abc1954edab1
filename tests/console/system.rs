//! The page System: what runs here, on which disks and with which settings, and what is wrong.

use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::{Misbehaving, Script, fetch, flaws};

use super::api::token;
use super::{Console, account, picture, slow};
use crate::managed::Managed;

#[test]
fn an_admin_sees_what_runs_and_what_is_wrong_and_checks_again() {
    let managed = Managed::new();
    account(&managed, "root", "admin");
    account(&managed, "vic", "viewer");
    let running = slow(200, 1000);
    managed.schedule(&running, &["--once"]);
    let config = "[jobs]\ntags = ['big']\n[admin]\ntoken = 'a-token-that-nobody-sees'\n\
                  [[hook]]\nname = 'tell'\non = ['failed']\nwebhook = 'https://ann:hush@hook.example/x'\nsecret = 'whsec_aHVzaGh1c2hodXNoaHVzaGh1c2g='\n";
    let console = Console::start(managed, config);
    let browser = console.browser("root");

    browser.press("System");
    browser.wait("it is that page", || browser.path() == "/system");
    // The first time somebody looks, programs and files are looked at while the page waits.
    browser.wait_for("data directory");
    browser.wait_for("the configuration has no mistakes");
    browser.wait_for("pdftotext");
    browser.wait("a worker runs the job", || {
        browser
            .text_of("section[aria-labelledby=workers]")
            .contains("run 1")
    });
    let text = browser.text();
    let version = env!("CARGO_PKG_VERSION");
    for shown in [
        &format!("garner {version}"),
        "SQLite 3.",
        "harvest, ",
        "big",
        "1 of 4 busy",
        "jobs.tags",
        "garner.toml",
        "network.allow",
        "\"(hidden)\"",
        "free",
    ] {
        assert!(text.contains(shown), "{shown} is missing: {text}");
    }
    for secret in ["a-token-that-nobody-sees", "hush", "whsec_"] {
        assert!(!text.contains(secret), "{secret} is shown");
    }
    let wrong = flaws(&browser, "system checked", picture);
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
    let checked = browser.run(
        "return document.querySelector('#findings ~ p time')?.dateTime",
        &[],
    );
    browser.press("Check now");
    browser.wait_for("Checked: ");
    assert_eq!(browser.path(), "/system");
    assert!(checked.is_string(), "{checked}");
    let help = "a.help-link[href='/help/guides/operate#watch']";
    assert_eq!(browser.count(help), 1);

    let vic = console.browser("vic");
    assert!(!vic.offers("System"));
    vic.open(&console.at("/system"));
    vic.wait_for("Not allowed");
}

#[test]
fn doctor_the_api_and_the_page_show_the_same_object() {
    let managed = Managed::new();
    account(&managed, "root", "admin");
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    let console = Console::start(managed, "[jobs]\nworkers = 3\n");
    let (_, token) = token(&console, "root");
    let bearer = format!("Bearer {token}");
    let ask = |method, path| -> Value {
        let answer = fetch(
            method,
            &console.at(path),
            &[("Authorization", &bearer)],
            b"",
        );
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    };

    let mut by_api = ask("POST", "/api/v1/system/check");
    let config = console.managed.beside("garner.toml");
    let config = config.to_str().unwrap();
    let mut by_command = console.managed.json(&["doctor", "--config", config]);

    // Moments and free bytes go on.
    for report in [&mut by_api, &mut by_command] {
        assert!(report["checked"].is_string(), "{report:#}");
        report["checked"] = Value::Null;
        report["workers"][0]["seen"] = Value::Null;
        for disk in report["disks"].as_array_mut().unwrap() {
            assert!(disk["free"].as_u64() > Some(0));
            disk["free"] = Value::Null;
        }
        for check in report["checks"].as_array_mut().unwrap() {
            if check["check"] == "disk" {
                check["message"] = Value::Null;
            }
        }
    }
    assert_eq!(by_api, by_command, "{by_api:#}\n{by_command:#}");
    assert_eq!(by_api["workers"][0]["threads"], 3);
    let settings = by_api["configuration"]["settings"].as_array().unwrap();
    let workers = settings.iter().find(|one| one["key"] == "jobs.workers");
    assert_eq!(workers.unwrap()["origin"], config);

    // A page that is looked at starts no program: what was found is kept.
    let first = ask("GET", "/api/v1/system")["checked"].clone();
    let began = Instant::now();
    let again = ask("GET", "/api/v1/system")["checked"].clone();
    assert_eq!(first, again);
    assert!(began.elapsed() < Duration::from_secs(2));
}
