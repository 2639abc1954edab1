//! `garner account add`: adds somebody who may log in.

use std::process::ExitCode;

use catalog::Role;
use clap::Args;
use operations::Actor;
use operations::accounts::{self, NewAccount};

use super::Chosen;
use super::list::show;
use super::prompt::new_password;

/// Add an account
///
/// The password is asked for without showing it, or read from the first line of stdin where that is no terminal.
#[derive(Debug, Args)]
pub(super) struct Add {
    #[command(flatten)]
    chosen: Chosen,
    /// Its permissions: viewer looks, operator steers harvests, admin sees to accounts as well
    #[arg(long, value_name = "ROLE", default_value = "viewer", value_parser = role)]
    role: Role,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let Chosen {
            name,
            holdings,
            json,
        } = self.chosen;
        let password = new_password()?;
        let new = NewAccount {
            name,
            role: self.role,
            password: password.password,
            again: password.again,
        };
        let context = holdings.create_context()?;
        let account = context.wait(accounts::add(&context, &Actor::command_line(), new))?;
        show(&[account], json)
    }
}

fn role(name: &str) -> Result<Role, String> {
    let roles = Role::ALL.map(Role::name).join(", ");
    Role::parse(name).ok_or_else(|| format!("write one of {roles}"))
}
