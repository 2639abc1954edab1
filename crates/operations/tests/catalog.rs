//! Accounts, tokens, rules, repositories and quiet times: roles, refusals by field, and the audit trail.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::sync::Arc;

use catalog::{Identity, JobEnd, Role, RulesKind};
use flows::Holdings;
use operations::accounts::{self, AccountSettings, NewAccount, NewPassword};
use operations::audit::{self, AuditQuery};
use operations::repositories::quiet::{self, HeldQuiet, NewQuiet, RenewedQuiet};
use operations::repositories::{self, RepositoryQuery};
use operations::rules::{self, ChangedRules, NewRules};
use operations::tokens::{self, NewToken};
use operations::{Actor, Channel, Code, Context, Refusal};
use tempfile::TempDir;

const FILTER: &str = r#"<filters match="any"><filter xpath="//a" regexp="b"/></filters>"#;

/// A data directory with a repository and an account.
struct Place {
    context: Context,
    repository: i64,
    account: catalog::Account,
    _directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let holdings = Arc::new(Holdings::create(&directory.path().join("data"), None).unwrap());
        let catalog = holdings.catalog();
        let identity = Identity::default();
        let added = catalog.add_repository("http://a.example/oai", "a", &identity);
        let repository = holdings.wait(added).unwrap().id;
        let account = catalog.add_account("root", "no hash", Role::Admin);
        let account = holdings.wait(account).unwrap();
        Self {
            context: Context::new(holdings),
            repository,
            account,
            _directory: directory,
        }
    }

    fn actor(&self, role: Role, channel: Channel) -> Actor {
        Actor::account(&self.account, role, channel)
    }

    fn wait<T>(&self, operation: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
        self.context.wait(operation)
    }

    /// The actions in the audit trail, the oldest first.
    fn actions(&self) -> Vec<String> {
        let admin = self.actor(Role::Admin, Channel::Session);
        let listed = self.wait(audit::list(&self.context, &admin, AuditQuery::default()));
        let entries = listed.unwrap().items.into_iter().rev();
        entries.map(|entry| entry.action).collect()
    }
}

fn new_account(name: &str, password: &str, again: Option<&str>) -> NewAccount {
    NewAccount {
        name: name.to_owned(),
        role: Role::Viewer,
        password: Some(password.to_owned()),
        again: again.map(str::to_owned),
        email: None,
    }
}

fn new_rules(name: &str, content: &str) -> NewRules {
    NewRules {
        kind: RulesKind::Filter,
        name: name.to_owned(),
        content: content.to_owned(),
    }
}

fn fields(refusal: &Refusal) -> Vec<&'static str> {
    let fields = refusal.mistakes.iter().map(|mistake| mistake.field);
    fields.map(Option::unwrap).collect()
}

#[test]
fn a_lesser_role_is_refused_by_the_operation_itself() {
    let place = Place::new();
    let (context, id) = (&place.context, place.repository);
    let viewer = place.actor(Role::Viewer, Channel::Session);
    let operator = place.actor(Role::Operator, Channel::Session);
    let settings = AccountSettings {
        role: Role::Viewer,
        disabled: false,
    };
    let quiet_time = NewQuiet {
        why: String::new(),
        seconds: 60,
    };
    let admin_token = NewToken {
        name: "more".to_owned(),
        role: Role::Admin,
        days: None,
    };

    let refusals = [
        place
            .wait(rules::add(context, &viewer, &new_rules("n", FILTER)))
            .err(),
        place.wait(rules::remove(context, &viewer, 1)).err(),
        place
            .wait(repositories::remove(context, &viewer, id, false))
            .err(),
        place
            .wait(quiet::begin(context, &viewer, id, &quiet_time))
            .err(),
        place.wait(accounts::list(context, &operator)).err(),
        place
            .wait(accounts::add(
                context,
                &operator,
                new_account("b", "long enough", None),
            ))
            .err(),
        place
            .wait(accounts::change(context, &operator, 1, settings))
            .err(),
        place
            .wait(tokens::add(context, &operator, admin_token))
            .err(),
        place
            .wait(audit::list(context, &operator, AuditQuery::default()))
            .err(),
    ];

    for (at, refusal) in refusals.into_iter().enumerate() {
        assert_eq!(refusal.unwrap().code, Code::Forbidden, "number {at}");
    }
    assert_eq!(place.actions(), [""; 0]);
}

#[test]
fn a_token_changes_neither_accounts_nor_tokens() {
    let place = Place::new();
    let context = &place.context;
    let program = place.actor(Role::Admin, Channel::Token);
    let token = NewToken {
        name: "another".to_owned(),
        role: Role::Viewer,
        days: None,
    };

    let added = place.wait(tokens::add(context, &program, token));
    let account = new_account("ann", "a long password", None);
    let account = place.wait(accounts::add(context, &program, account));
    let removed = place.wait(accounts::remove(context, &program, place.account.id));

    for refusal in [added.err(), account.err(), removed.err()] {
        let refusal = refusal.unwrap();
        assert_eq!(refusal.code, Code::Forbidden);
        assert!(refusal.message().starts_with("a token cannot"), "{refusal}");
    }
}

#[test]
fn all_mistakes_of_an_account_come_at_once_with_their_fields() {
    let place = Place::new();
    let (context, actor) = (&place.context, Actor::command_line());
    let add = |name, password, again| {
        place.wait(accounts::add(
            context,
            &actor,
            new_account(name, password, again),
        ))
    };

    assert_eq!(
        fields(&add("<a>", "short", None).unwrap_err()),
        ["name", "password"]
    );
    let slip = add("ann", "a long password", Some("a long pasword"));
    assert_eq!(fields(&slip.unwrap_err()), ["again"]);
    let taken = add(" root ", "a long password", None).unwrap_err();
    assert_eq!((taken.code, fields(&taken)), (Code::Conflict, vec!["name"]));
    let added = add(" ann ", "a long password", None).unwrap();
    assert_eq!((added.name.as_str(), added.role), ("ann", Role::Viewer));
    assert_eq!(place.actions(), ["account.add"]);
}

#[test]
fn people_set_their_own_password_and_nobody_elses() {
    let place = Place::new();
    let context = &place.context;
    let own = place.actor(Role::Viewer, Channel::Session);
    let new = || NewPassword {
        password: "another long password".to_owned(),
        again: None,
    };
    let token = NewToken {
        name: "indexer".to_owned(),
        role: Role::Viewer,
        days: Some(30),
    };
    let added = place.wait(tokens::add(context, &own, token)).unwrap();
    assert!(added.secret.starts_with("garner_"));

    let set = place.wait(accounts::set_password(
        context,
        &own,
        place.account.id,
        new(),
    ));
    let other = place.wait(accounts::set_password(context, &own, 99, new()));

    assert_eq!(set.unwrap().ended_tokens, ["indexer"]);
    assert_eq!(other.unwrap_err().code, Code::Forbidden);
    assert_eq!(place.actions(), ["token.add", "account.password"]);
}

#[test]
fn rules_are_changed_by_those_who_saw_the_last_version() {
    let place = Place::new();
    let (context, actor) = (&place.context, Actor::command_line());
    let added = place.wait(rules::add(context, &actor, &new_rules(" Light ", FILTER)));
    let added = added.unwrap();
    assert_eq!((added.name.as_str(), added.version), ("Light", 1));
    assert_eq!(added.changed_by.as_ref(), Some(&actor.name));
    let change = |version, name: &str| {
        let changed = ChangedRules {
            name: name.to_owned(),
            content: FILTER.to_owned(),
            version,
        };
        place.wait(rules::change(context, &actor, added.id, &changed))
    };

    assert_eq!(change(1, "Lights").unwrap().version, 2);
    assert_eq!(change(1, "Late").unwrap_err().code, Code::Changed);
    assert_eq!(fields(&change(2, "").unwrap_err()), ["name"]);
    let wrong = place.wait(rules::add(context, &actor, &new_rules("", "no XML")));
    assert_eq!(fields(&wrong.unwrap_err()), ["name", "content"]);
    let taken = place.wait(rules::add(context, &actor, &new_rules("Lights", FILTER)));
    let taken = taken.unwrap_err();
    assert_eq!((taken.code, fields(&taken)), (Code::Conflict, vec!["name"]));
    assert_eq!(place.actions(), ["rules.add", "rules.change"]);
}

#[test]
fn a_quiet_time_is_begun_renewed_and_ended_by_its_holder() {
    let place = Place::new();
    let (context, id) = (&place.context, place.repository);
    let holder = place.actor(Role::Operator, Channel::Token);
    let new = NewQuiet {
        why: "backup".to_owned(),
        seconds: 60,
    };
    let begun = place
        .wait(quiet::begin(context, &holder, id, &new))
        .unwrap();
    let held = HeldQuiet {
        job: begun.job,
        token: begun.token,
    };
    let renew = |seconds| {
        let (job, token) = (begun.job, begun.token);
        let renewed = RenewedQuiet {
            job,
            token,
            seconds,
        };
        place.wait(quiet::renew(context, &holder, id, &renewed))
    };

    assert!(place.wait(quiet::show(context, id)).unwrap().quiet);
    let again = place.wait(quiet::begin(context, &holder, id, &new));
    assert_eq!(again.unwrap_err().code, Code::Busy);
    let removed = place.wait(repositories::remove(context, &holder, id, false));
    assert_eq!(removed.unwrap_err().code, Code::Busy);
    assert!(renew(600).unwrap().until > begun.until);
    assert_eq!(fields(&renew(1).unwrap_err()), ["seconds"]);
    let end = || quiet::end(context, &holder, id, held, &JobEnd::Finished);
    place.wait(end()).unwrap();
    assert!(place.wait(end()).is_err());
    assert!(!place.wait(quiet::show(context, id)).unwrap().quiet);
    assert_eq!(place.actions(), ["quiet.begin", "quiet.end"]);
}

#[test]
fn lists_of_repositories_name_the_word_that_is_wrong() {
    let place = Place::new();
    let list = |health: Option<&str>, sort: Option<&str>| {
        let query = RepositoryQuery {
            health: health.map(str::to_owned),
            sort: sort.map(str::to_owned),
            ..RepositoryQuery::default()
        };
        let context = place.context.clone();
        place.wait(async move { repositories::list(&context, &query).await })
    };

    let all = list(Some("never"), Some("added")).unwrap();
    assert_eq!((all.items.len(), all.total, all.next), (1, Some(1), None));
    assert_eq!(all.items[0].title(), "http://a.example/oai");
    assert_eq!(fields(&list(Some("fine"), None).unwrap_err()), ["health"]);
    assert_eq!(fields(&list(None, Some("size")).unwrap_err()), ["sort"]);
    let unknown = place.wait(repositories::show(&place.context, 99));
    assert_eq!(unknown.unwrap_err().code, Code::NotFound);
}
