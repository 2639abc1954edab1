//! `/accounts`: who may log in, and as what.

use askama::Template;
use axum::extract::State;
use catalog::{Account, Role};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::Form;
use crate::filters;
use crate::parts::Errors;
use crate::people::{add_account, check_name, check_new_password};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Admin, Who};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    name: String,
    role: Role,
    password: String,
    again: String,
}

#[derive(Template)]
#[template(path = "accounts.html")]
struct Accounts {
    who: Who,
    accounts: Vec<Account>,
    name: String,
    role: String,
    errors: Errors,
}

impl Accounts {
    async fn new(state: &ConsoleState, who: Who) -> Result<Self, Problem> {
        Ok(Self {
            who,
            accounts: state.catalog().accounts().await?,
            name: String::new(),
            role: Role::Viewer.name().to_owned(),
            errors: Errors::default(),
        })
    }
}

/// The roles and what they allow, to choose from.
pub(crate) const ROLES: [(&str, &str); 3] = [
    ("viewer", "viewer: sees everything, changes nothing"),
    (
        "operator",
        "operator: steers repositories, schedules and jobs",
    ),
    ("admin", "admin: sees to accounts as well"),
];

pub(crate) async fn list(Admin(who): Admin, State(state): State<ConsoleState>) -> Answer {
    page(&Accounts::new(&state, who).await?)
}

pub(crate) async fn add(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let Parameters {
        name,
        role,
        password,
        again,
    } = parameters;
    let (name, mut errors) = (name.trim(), Errors::default());
    check_name(name, &mut errors);
    check_new_password(&password, &again, &mut errors);
    let accounts = state.catalog().accounts().await?;
    if accounts.iter().any(|account| account.name == name) {
        errors.add("name", "somebody has this name already; choose another one");
    }
    if !errors.is_empty() {
        let mut answer = Accounts::new(&state, who).await?;
        answer.name = name.to_owned();
        answer.role = role.name().to_owned();
        answer.errors = errors;
        return form_again(&answer);
    }
    add_account(&state, &who, name, &password, role).await?;
    Ok(done("/accounts", format!("The account {name} is made.")))
}
