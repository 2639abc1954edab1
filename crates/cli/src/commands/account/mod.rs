//! `garner account`: accounts of the console.

mod add;
mod email;
mod link;
mod list;
mod password;
mod prompt;
mod remove;
mod show;
mod time_zone;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use operations::{Actor, Context, Refusal, accounts};

use crate::commands::holdings_options::HoldingsOptions;

/// Add, invite, list, show, change or remove accounts of the console
#[derive(Debug, Args)]
pub(crate) struct Account {
    #[command(subcommand)]
    command: AccountCommand,
}

#[derive(Debug, Subcommand)]
enum AccountCommand {
    Add(add::Add),
    List(list::List),
    Show(show::Show),
    Password(password::Password),
    Link(link::Link),
    Email(email::Email),
    TimeZone(time_zone::TimeZone),
    Remove(remove::Remove),
}

impl Account {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            AccountCommand::Add(command) => command.run(),
            AccountCommand::List(command) => command.run(),
            AccountCommand::Show(command) => command.run(),
            AccountCommand::Password(command) => command.run(),
            AccountCommand::Link(command) => command.run(),
            AccountCommand::Email(command) => command.run(),
            AccountCommand::TimeZone(command) => command.run(),
            AccountCommand::Remove(command) => command.run(),
        }
    }
}

/// An account by its name, and its catalog.
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

impl Chosen {
    /// Changes the account by its number, and shows it.
    fn change(
        &self,
        change: impl AsyncFnOnce(&Context, &Actor, i64) -> Result<accounts::Account, Refusal>,
    ) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.holdings.context()?, Actor::command_line());
        let account = context.wait(async {
            let account = accounts::find(&context, &actor, &self.name).await?;
            change(&context, &actor, account.id).await
        })?;
        list::show(&[account], self.json)
    }
}
