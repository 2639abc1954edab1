//! Accounts of the console, from the command line.

use std::io::Write;
use std::process::{Output, Stdio};

use catalog::{AuditQuery, AuditRow};

use crate::command_line::{stderr, stdout};
use crate::managed::Managed;

/// Runs a command that reads a password.
fn typed(managed: &Managed, arguments: &[&str], password: &str) -> Output {
    let mut child = managed
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses the name does not read on.
    let _ = writeln!(child.stdin.take().unwrap(), "{password}");
    child.wait_with_output().unwrap()
}

#[test]
fn accounts_are_added_listed_given_passwords_and_removed() {
    let managed = Managed::new();

    let added = typed(
        &managed,
        &["account", "add", "anna", "--role", "admin", "--json"],
        "a long password",
    );

    assert!(added.status.success(), "{}", stderr(&added));
    assert!(!stdout(&added).contains("password"), "{}", stdout(&added));
    typed(&managed, &["account", "add", "ben"], "another password");
    let accounts = managed.lines(&["account", "list"]);
    let said: Vec<_> = accounts
        .iter()
        .map(|account| {
            (
                account["name"].as_str().unwrap(),
                account["role"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(said, [("anna", "admin"), ("ben", "viewer")]);
    let changed = typed(&managed, &["account", "password", "ben"], "yet another one");
    assert!(changed.status.success(), "{}", stderr(&changed));
    managed.garner(&["account", "remove", "ben"]);
    assert_eq!(managed.lines(&["account", "list"]).len(), 1);
    let holdings = managed.holdings();
    let trail = holdings.wait(holdings.catalog().audit_trail(&AuditQuery::default()));
    let trail = trail.unwrap();
    let actions: Vec<_> = trail.iter().map(|row| row.entry.action.as_str()).collect();
    let expected = [
        "account.remove",
        "account.password",
        "account.add",
        "account.add",
    ];
    assert_eq!(actions, expected);
    let by_command_line = |row: &AuditRow| row.entry.account.starts_with("(command line: ");
    assert!(trail.iter().all(by_command_line), "{trail:?}");
}

#[test]
fn what_would_lock_everybody_out_or_let_anybody_in_is_refused() {
    let managed = Managed::new();
    for (arguments, password, said) in [
        (&["account", "add", "anna"][..], "short", "at least"),
        (
            &["account", "add", "a\u{7}b"],
            "a long password",
            "name: a name has letters",
        ),
        (
            &["account", "add", ""],
            "a long password",
            "name: a name has 1 to 100 characters",
        ),
    ] {
        let output = typed(&managed, arguments, password);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    let add = ["account", "add", "anna", "--role", "admin"];
    assert!(typed(&managed, &add, "a long password").status.success());

    let again = typed(&managed, &add, "a long password");
    let last = managed.output(&["account", "remove", "anna"]);
    let unknown = managed.output(&["account", "remove", "nobody"]);

    assert!(stderr(&again).contains("anna"), "{}", stderr(&again));
    assert_eq!(last.status.code(), Some(1));
    assert!(stderr(&last).contains("admin"), "{}", stderr(&last));
    assert!(
        stderr(&unknown).contains("no account `nobody`"),
        "{}",
        stderr(&unknown)
    );
}
