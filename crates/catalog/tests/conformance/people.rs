//! Accounts, sessions, tokens and the audit trail.

use std::time::Duration;

use catalog::{AuditEntry, AuditQuery, Catalog, Error, Role};

use crate::place::Place;

crate::on_both_databases!(
    names_are_given_once,
    only_one_account_is_the_first,
    somebody_can_always_steer,
    of_two_admins_who_leave_at_once_one_stays,
    who_is_disabled_is_out,
    a_new_password_ends_sessions_and_tokens,
    sessions_end_by_time_and_by_hand,
    a_token_may_no_more_than_its_account,
    the_audit_trail_is_listed_from_its_newest_entry,
);

const HOUR: Duration = Duration::from_secs(3_600);

async fn with_admin(place: &Place) -> (Catalog, i64) {
    let catalog = place.open().await;
    let account = catalog.add_first_account("anna", "hash").await.unwrap();
    (catalog, account.id)
}

async fn is_in(catalog: &Catalog, digest: &str) -> bool {
    catalog.session(digest, HOUR).await.unwrap().is_some()
}

async fn names_are_given_once(place: Place) {
    let (catalog, anna) = with_admin(&place).await;

    let taken = catalog.add_account("anna", "x", Role::Viewer).await;
    let bela = catalog.add_account("bela", "y", Role::Operator).await;

    assert!(matches!(taken, Err(Error::NameTaken { name }) if name == "anna"));
    let bela = bela.unwrap();
    assert_eq!((bela.role, bela.disabled), (Role::Operator, false));
    let names: Vec<_> = catalog.accounts().await.unwrap();
    let names: Vec<_> = names.iter().map(|account| account.name.as_str()).collect();
    assert_eq!(names, ["anna", "bela"]);
    let (found, hash) = catalog.account_to_log_in("bela").await.unwrap().unwrap();
    assert_eq!((found, hash.as_str()), (bela, "y"));
    assert_eq!(catalog.account_to_log_in("Bela").await.unwrap(), None);
    let before = catalog.account(anna).await.unwrap().unwrap();
    catalog.logged_in(anna).await.unwrap();
    let after = catalog.account(anna).await.unwrap().unwrap();
    assert_eq!(before.last_login, None);
    assert!(after.last_login.unwrap() >= before.created);
}

async fn only_one_account_is_the_first(place: Place) {
    let catalog = place.open().await;
    let other = place.open().await;

    let (one, two) = tokio::join!(
        catalog.add_first_account("one", "x"),
        other.add_first_account("two", "y")
    );

    let refused = [&one, &two].map(|made| matches!(made, Err(Error::NotFirst)));
    assert_eq!(refused.iter().filter(|refused| **refused).count(), 1);
    let accounts = catalog.accounts().await.unwrap();
    assert_eq!((accounts.len(), accounts[0].role), (1, Role::Admin));
}

async fn somebody_can_always_steer(place: Place) {
    let (catalog, anna) = with_admin(&place).await;
    let bela = catalog.add_account("bela", "y", Role::Admin).await;
    let bela = bela.unwrap().id;
    catalog
        .change_account(bela, Role::Admin, true)
        .await
        .unwrap();

    let last = |result: Result<(), Error>| matches!(result, Err(Error::LastAdmin { name }) if name == "anna");
    let demoted = catalog.change_account(anna, Role::Operator, false).await;
    assert!(last(demoted.map(drop)));
    let disabled = catalog.change_account(anna, Role::Admin, true).await;
    assert!(last(disabled.map(drop)));
    assert!(last(catalog.remove_account(anna).await.map(drop)));

    catalog
        .change_account(bela, Role::Admin, false)
        .await
        .unwrap();
    assert!(catalog.remove_account(anna).await.unwrap());
    assert!(!catalog.remove_account(anna).await.unwrap());
    let unknown = catalog.change_account(anna, Role::Admin, false).await;
    assert!(matches!(unknown, Err(Error::UnknownAccount { id }) if id == anna));
}

async fn of_two_admins_who_leave_at_once_one_stays(place: Place) {
    let (catalog, anna) = with_admin(&place).await;
    let bela = catalog.add_account("bela", "y", Role::Admin).await;
    let bela = bela.unwrap().id;
    let other = place.open().await;

    let (one, two) = tokio::join!(
        catalog.change_account(anna, Role::Viewer, false),
        other.remove_account(bela)
    );

    assert_ne!(one.is_ok(), two.is_ok());
    let accounts = catalog.accounts().await.unwrap();
    assert!(accounts.iter().any(|account| account.role == Role::Admin));
}

async fn who_is_disabled_is_out(place: Place) {
    let (catalog, _) = with_admin(&place).await;
    let bela = catalog.add_account("bela", "y", Role::Viewer).await;
    let bela = bela.unwrap().id;
    catalog.begin_session("s", bela, HOUR).await.unwrap();
    let token = catalog.add_token(bela, "script", "t", Role::Viewer, None);
    token.await.unwrap();

    catalog
        .change_account(bela, Role::Viewer, true)
        .await
        .unwrap();

    assert!(!is_in(&catalog, "s").await);
    assert_eq!(catalog.token("t").await.unwrap(), None);
    assert_eq!(catalog.account_to_log_in("bela").await.unwrap(), None);
    let begun = catalog.begin_session("s2", bela, HOUR).await;
    assert!(matches!(begun, Err(Error::UnknownAccount { .. })));
    // A session does not come back with the account.
    catalog
        .change_account(bela, Role::Viewer, false)
        .await
        .unwrap();
    assert!(!is_in(&catalog, "s").await);
    assert!(catalog.token("t").await.unwrap().is_some());
}

async fn a_new_password_ends_sessions_and_tokens(place: Place) {
    let (catalog, anna) = with_admin(&place).await;
    catalog.begin_session("s", anna, HOUR).await.unwrap();
    assert!(is_in(&catalog, "s").await);

    let (role, name) = (Role::Viewer, "indexer");
    catalog
        .add_token(anna, name, "t", role, None)
        .await
        .unwrap();

    let tokens = catalog.set_password(anna, "new").await.unwrap();

    assert_eq!(tokens, [name]);
    assert!(catalog.token("t").await.unwrap().is_none());
    assert!(!is_in(&catalog, "s").await);
    let (_, hash) = catalog.account_to_log_in("anna").await.unwrap().unwrap();
    assert_eq!(hash, "new");
    let unknown = catalog.set_password(anna + 1, "x").await;
    assert!(matches!(unknown, Err(Error::UnknownAccount { .. })));
}

async fn sessions_end_by_time_and_by_hand(place: Place) {
    let (catalog, anna) = with_admin(&place).await;
    for digest in ["a", "b", "c"] {
        catalog.begin_session(digest, anna, HOUR).await.unwrap();
    }
    catalog
        .begin_session("over", anna, Duration::ZERO)
        .await
        .unwrap();

    assert!(is_in(&catalog, "a").await);
    assert!(!is_in(&catalog, "over").await);
    assert!(!is_in(&catalog, "unknown").await);
    let idle = catalog.session("a", Duration::ZERO).await.unwrap();
    assert_eq!(idle, None);
    assert_eq!(catalog.remove_old_sessions().await.unwrap(), 1);
    catalog.end_session("a").await.unwrap();
    assert!(!is_in(&catalog, "a").await);
    assert!(is_in(&catalog, "b").await);
    catalog.end_sessions(anna).await.unwrap();
    assert!(!is_in(&catalog, "b").await);
    assert!(!is_in(&catalog, "c").await);
}

async fn a_token_may_no_more_than_its_account(place: Place) {
    let (catalog, anna) = with_admin(&place).await;
    let bela = catalog.add_account("bela", "y", Role::Operator).await;
    let bela = bela.unwrap().id;
    let add = async |account, digest, role, expires| {
        let added = catalog.add_token(account, "script", digest, role, expires);
        added.await.unwrap()
    };
    let low = add(anna, "low", Role::Viewer, None).await;
    add(bela, "high", Role::Admin, None).await;
    add(bela, "over", Role::Viewer, Some(low.created)).await;

    let role = async |digest| {
        let found = catalog.token(digest).await.unwrap();
        found.map(|(account, role)| (account.name, role))
    };
    assert_eq!(role("low").await, Some(("anna".into(), Role::Viewer)));
    assert_eq!(role("high").await, Some(("bela".into(), Role::Operator)));
    assert_eq!(role("over").await, None);
    assert_eq!(role("unknown").await, None);
    assert_eq!(low.seen, None);
    assert_eq!(catalog.tokens(None).await.unwrap().len(), 3);
    let annas = catalog.tokens(Some(anna)).await.unwrap();
    assert_eq!((annas.len(), annas[0].id), (1, low.id));
    assert!(annas[0].seen.is_some());
    assert!(catalog.remove_token(low.id).await.unwrap());
    assert!(!catalog.remove_token(low.id).await.unwrap());
    assert_eq!(role("low").await, None);
    catalog.remove_account(bela).await.unwrap();
    assert_eq!(role("high").await, None);
}

async fn the_audit_trail_is_listed_from_its_newest_entry(place: Place) {
    let (catalog, anna) = with_admin(&place).await;
    for (account, subject) in [("anna", "1"), ("bela", "2"), ("anna", "3")] {
        let entry = AuditEntry {
            account: account.to_owned(),
            action: "schedule.change".to_owned(),
            subject: subject.to_owned(),
            details: Some("a\0b".to_owned()),
        };
        catalog.audit(&entry).await.unwrap();
    }
    let next = catalog.add_account("next", "y", Role::Admin).await;
    next.unwrap();
    catalog.remove_account(anna).await.unwrap();

    let all = catalog.audit_trail(&AuditQuery::default()).await.unwrap();
    let subjects: Vec<_> = all.iter().map(|row| row.entry.subject.as_str()).collect();
    assert_eq!(subjects, ["3", "2", "1"]);
    assert_eq!(all[0].entry.details.as_deref(), Some("a\u{fffd}b"));
    let query = AuditQuery {
        account: Some("anna".to_owned()),
        before: Some(all[0].id),
        ..AuditQuery::default()
    };
    let annas = catalog.audit_trail(&query).await.unwrap();
    assert_eq!((annas.len(), annas[0].id), (1, all[2].id));
}
