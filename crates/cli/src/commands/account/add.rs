//! `garner account add`: somebody may log in from now on.

use std::process::ExitCode;

use anyhow::bail;
use catalog::Role;
use clap::Args;

use super::list::show;
use super::prompt::new_password;
use super::{Chosen, audit};

/// Add an account
///
/// The password is asked for without showing it, or read from the first line of stdin where that is no terminal.
#[derive(Debug, Args)]
pub(super) struct Add {
    #[command(flatten)]
    chosen: Chosen,
    /// What it may do: viewer looks, operator steers harvests, admin sees to accounts as well
    #[arg(long, value_name = "ROLE", default_value = "viewer", value_parser = role)]
    role: Role,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let name = &self.chosen.name;
        let is_plain = |c: char| c.is_alphanumeric() || "-_.@+ ".contains(c);
        let legal = (1..=LONGEST_NAME).contains(&name.chars().count())
            && name.chars().all(is_plain)
            && name.trim() == name;
        if !legal {
            bail!(
                "`{name}` is not a name for an account; write up to {LONGEST_NAME} letters, digits, spaces and `-_.@+`"
            );
        }
        let holdings = self.chosen.holdings.create()?;
        let hash = console::password::hash(&new_password()?)?;
        let added = holdings.catalog().add_account(name, &hash, self.role);
        let account = holdings.wait(added)?;
        audit(&holdings, "account.add", name)?;
        show(&[account], self.chosen.json)
    }
}

fn role(name: &str) -> Result<Role, String> {
    let roles = Role::ALL.map(Role::name).join(", ");
    Role::parse(name).ok_or_else(|| format!("write one of {roles}"))
}

const LONGEST_NAME: usize = 64;
