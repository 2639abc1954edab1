//! `garner account add`: adds somebody who may log in.

use std::process::ExitCode;

use anyhow::bail;
use catalog::Role;
use clap::Args;
use operations::Actor;
use operations::accounts::{self, NewAccount};

use super::Chosen;
use super::link::{Mailing, tell};
use super::list::show;
use super::prompt::new_password;

/// Add an account
///
/// The password is asked for without showing it, or read from the first line of stdin where that is no terminal. With
/// --invite there is none yet: a link is printed by which the owner of the account sets one, within seven days. With --mail
/// too it is sent to the e-mail address.
///
/// Example: garner account add ann --email ann@example.org --invite --mail
#[derive(Debug, Args)]
pub(super) struct Add {
    #[command(flatten)]
    chosen: Chosen,
    /// Its permissions: viewer can look at everything, operator can run and edit, admin can manage accounts as well
    #[arg(long, value_name = "ROLE", default_value = "viewer", value_parser = role)]
    role: Role,
    /// The e-mail address of its owner
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Print a link that sets the password, and ask for none
    #[arg(long)]
    invite: bool,
    #[command(flatten)]
    mailing: Mailing,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let Chosen {
            name,
            holdings,
            json,
        } = self.chosen;
        if self.mailing.mail && (!self.invite || self.email.is_none()) {
            bail!("--mail sends an invitation: it needs --invite and --email ADDRESS");
        }
        let (password, again) = match self.invite {
            true => (None, None),
            false => {
                let new = new_password()?;
                (Some(new.password), new.again)
            }
        };
        let new = NewAccount {
            name,
            role: self.role,
            password,
            again,
            email: self.email,
        };
        let (context, actor) = (holdings.create_context()?, Actor::command_line());
        let account = context.wait(accounts::add(&context, &actor, new))?;
        if self.mailing.mail {
            drop(context);
            self.mailing.send(&holdings, &account.name, false)?;
        } else if self.invite {
            let link = context.wait(accounts::make_link(&context, &actor, account.id))?;
            tell(&link);
        }
        show(&[account], json)
    }
}

fn role(name: &str) -> Result<Role, String> {
    let roles = Role::ALL.map(Role::name).join(", ");
    Role::parse(name).ok_or_else(|| format!("write one of {roles}"))
}
