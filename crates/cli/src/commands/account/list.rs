//! `garner account list`: all accounts.

use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::accounts::{self, Account};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::sorting::Sorting;
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};

/// List accounts
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    sorting: Sorting,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let accounts = context.wait(accounts::list(&context, &Actor::command_line()))?;
        if accounts.is_empty() {
            eprintln!("there is no account; add one with garner account add NAME --role admin");
        }
        let accounts = self.sorting.paging().page(accounts, accounts::ORDERS)?;
        show(&accounts.items, self.json)
    }
}

const COLUMNS: [Column; 5] = [
    Column::text("name", 12),
    Column::word("role"),
    Column::word("last login"),
    Column::word("state"),
    Column::text("e-mail", 12).dispensable(1),
];

/// Prints accounts.
pub(super) fn show(accounts: &[Account], json: bool) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        let mut table = Table::to_stdout(&COLUMNS);
        for account in accounts {
            match json {
                true => write_json(out, account)?,
                false => table.row(out, cells(account))?,
            }
        }
        table.finish(out)?;
        Ok(ExitCode::SUCCESS)
    })
}

fn cells(account: &Account) -> Vec<Cell> {
    let state = match (account.disabled, account.invited) {
        (true, _) => "disabled",
        (false, true) => "invited",
        (false, false) => "",
    };
    vec![
        account.name.as_str().into(),
        account.role.name().into(),
        match account.last_login {
            Some(login) => Cell::time(Some(login)),
            None => "never".into(),
        },
        Cell::state(state),
        account.email.as_deref().unwrap_or_default().into(),
    ]
}
