//! `garner account list`: all accounts.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::accounts::{self, Account};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::sorting::Sorting;
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};
use crate::text::{ago, plain};

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

const COLUMNS: [Column; 4] = [
    Column::text("name", 12),
    Column::word("role"),
    Column::word("last login"),
    Column::word("state"),
];

/// Prints accounts.
pub(super) fn show(accounts: &[Account], json: bool) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        if !json && let Some(mut table) = Table::on_terminal(&COLUMNS) {
            for account in accounts {
                let login = account.last_login;
                let login = login.map_or_else(|| "never".to_owned(), |login| ago(Some(login.0)));
                let state = match (account.disabled, account.invited) {
                    (true, _) => "disabled",
                    (false, true) => "invited",
                    (false, false) => "",
                };
                let cells = vec![
                    account.name.as_str().into(),
                    account.role.name().into(),
                    login.into(),
                    Cell::state(state),
                ];
                table.row(out, cells)?;
            }
            table.finish(out)?;
            return Ok(ExitCode::SUCCESS);
        }
        for (at, account) in accounts.iter().enumerate() {
            if json {
                write_json(out, account)?;
                continue;
            }
            if at == 0 {
                writeln!(out, "role      last login            name")?;
            }
            let login = account.last_login.map(|time| time.to_string());
            let login = login.as_deref().unwrap_or("never");
            let (role, name) = (account.role.name(), plain(&account.name));
            let disabled = match (account.disabled, account.invited) {
                (true, _) => " (disabled)",
                (false, true) => " (invited)",
                (false, false) => "",
            };
            writeln!(out, "{role:<8}  {login:<20}  {name}{disabled}")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
