//! `garner account`: who may log in to the console.

mod add;
mod list;
mod password;
mod prompt;
mod remove;

use std::process::ExitCode;

use anyhow::Context;
use catalog::{Account as Known, AuditEntry};
use clap::{Args, Subcommand};
use jobs::Holdings;

use crate::commands::holdings_options::HoldingsOptions;

/// Add, list or remove accounts of the console, or set their passwords
#[derive(Debug, Args)]
pub(crate) struct Account {
    #[command(subcommand)]
    command: AccountCommand,
}

#[derive(Debug, Subcommand)]
enum AccountCommand {
    Add(add::Add),
    List(list::List),
    Password(password::Password),
    Remove(remove::Remove),
}

impl Account {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            AccountCommand::Add(command) => command.run(),
            AccountCommand::List(command) => command.run(),
            AccountCommand::Password(command) => command.run(),
            AccountCommand::Remove(command) => command.run(),
        }
    }
}

/// Which account is meant, and where it is.
#[derive(Debug, Args)]
struct Chosen {
    /// The name to log in with
    name: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The account with a name.
fn account(holdings: &Holdings, name: &str) -> anyhow::Result<Known> {
    let accounts = holdings.wait(holdings.catalog().accounts())?;
    let found = accounts.into_iter().find(|account| account.name == name);
    found.with_context(|| {
        format!("there is no account `{name}`; garner account list shows those that are")
    })
}

/// Notes for those who look at the audit trail of the console that it was changed from here.
fn audit(holdings: &Holdings, action: &str, name: &str) -> anyhow::Result<()> {
    let entry = AuditEntry {
        account: "the command line".to_owned(),
        action: action.to_owned(),
        subject: format!("account {name}"),
        details: None,
    };
    Ok(holdings.wait(holdings.catalog().audit(&entry))?)
}
