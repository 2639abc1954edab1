//! `garner account list`: who may log in.

use std::io::Write;
use std::process::ExitCode;

use catalog::{Account, Role};
use clap::Args;
use serde::Serialize;

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::{date, plain};

/// List accounts
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let accounts = holdings.wait(holdings.catalog().accounts())?;
        if accounts.is_empty() {
            eprintln!("there is no account; add one with garner account add NAME --role admin");
        }
        show(&accounts, self.json)
    }
}

/// Prints accounts.
pub(super) fn show(accounts: &[Account], json: bool) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        for (at, account) in accounts.iter().enumerate() {
            if json {
                write_json(out, &AccountJson::new(account))?;
                continue;
            }
            if at == 0 {
                writeln!(out, "role      last login            name")?;
            }
            let login = account.last_login.map_or("never".to_owned(), date);
            let (role, name) = (account.role.name(), plain(&account.name));
            let disabled = match account.disabled {
                true => " (disabled)",
                false => "",
            };
            writeln!(out, "{role:<8}  {login:<20}  {name}{disabled}")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// An account as JSON: dates as dates.
#[derive(Serialize)]
struct AccountJson<'a> {
    id: i64,
    name: &'a str,
    role: Role,
    disabled: bool,
    created: String,
    last_login: Option<String>,
}

impl<'a> AccountJson<'a> {
    fn new(account: &'a Account) -> Self {
        Self {
            id: account.id,
            name: &account.name,
            role: account.role,
            disabled: account.disabled,
            created: date(account.created),
            last_login: account.last_login.map(date),
        }
    }
}
