//! Repositories, rules, accounts and the audit trail: commands and the API give the same objects.

use serde_json::Value;
use test_support::{Misbehaving, Script, fetch};

use super::api::token;
use super::{Console, account};
use crate::managed::Managed;

#[test]
fn repositories_rules_accounts_and_audit_are_the_same_by_command_and_api() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    let filter = r#"<filters match="any"><filter xpath="//a" regexp="b"/></filters>"#;
    let filter = managed.write("filter.xml", filter);
    managed.garner(&["filter", "add", "Light", filter.to_str().unwrap()]);
    account(&managed, "root", "admin");
    let console = Console::start(managed, "");
    let bearer = format!("Bearer {}", token(&console, "root").1);
    let api = |path: &str| -> Value {
        let headers = [("Authorization", bearer.as_str())];
        let answer = fetch("GET", &console.at(&format!("/api/v1{path}")), &headers, b"");
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    };

    for (command, path) in [
        (&["repository", "show", "1"][..], "/repositories/1"),
        (&["filter", "show", "1"], "/rules/1"),
        (&["account", "show", "root"], "/accounts/1"),
    ] {
        assert_eq!(console.managed.lines(command), [api(path)], "{command:?}");
    }
    for (command, path, least) in [
        (&["repository", "list"][..], "/repositories", 1),
        (
            &["repository", "formats", "1"],
            "/repositories/1/formats",
            1,
        ),
        (&["repository", "sets", "1"], "/repositories/1/sets", 3),
        (&["filter", "list"], "/rules", 1),
        (&["account", "list"], "/accounts", 1),
        (&["audit"], "/audit", 3),
    ] {
        let lines = console.managed.lines(command);
        assert!(lines.len() >= least, "{command:?}: {lines:?}");
        let items = api(path)["items"].take();
        assert_eq!(Value::Array(lines), items, "{command:?}");
    }
}
