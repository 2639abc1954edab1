//! `/accounts`: all accounts, and a form to add one.

use askama::Template;
use axum::extract::State;
use catalog::Role;
use operations::accounts::{self, Account, NewAccount};

use crate::dress::{done, form_again, page};
use crate::extract::Form;
use crate::filters;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Admin, Who};

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
            accounts: accounts::list(state.context(), &who.actor()).await?,
            who,
            name: String::new(),
            role: Role::Viewer.name().to_owned(),
            errors: Errors::default(),
        })
    }
}

/// The roles and their permissions, to choose from.
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
    Form(new): Form<NewAccount>,
) -> Answer {
    let (name, role) = (new.name.clone(), new.role.name().to_owned());
    match accounts::add(state.context(), &who.actor(), new).await {
        Ok(account) => {
            let message = format!("The account {} is made.", account.name);
            Ok(done("/accounts", message))
        }
        Err(refusal) => form_again(&Accounts {
            name,
            role,
            errors: Errors::of_form(refusal)?,
            ..Accounts::new(&state, who).await?
        }),
    }
}
