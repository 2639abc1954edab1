//! `garner account link`: makes a link by which the owner of an account sets its password.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use operations::Actor;
use operations::accounts::{self, PasswordLink};

use super::Chosen;
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Make a link by which the owner of an account sets its password, once
///
/// It is good for a day, or for seven if the account was invited and has no password yet. An earlier link ends.
///
/// With --mail the link is not printed, but sent to the address of the account by the server of [mail] in the
/// configuration.
///
/// Example: garner account link ann --mail
#[derive(Debug, Args)]
pub(super) struct Link {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    mailing: Mailing,
}

/// A link by e-mail.
#[derive(Debug, Args)]
pub(super) struct Mailing {
    /// Send the link to the e-mail address of the account, instead of printing it
    #[arg(long)]
    pub(super) mail: bool,
    /// The address of the console in the message [default: console.public_url, else console.listen]
    #[arg(long, value_name = "URL", requires = "mail")]
    console_url: Option<String>,
}

impl Link {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if self.mailing.mail {
            return self
                .mailing
                .send(&self.chosen.holdings, &self.chosen.name, self.chosen.json);
        }
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let link = context.wait(async {
            let account = accounts::find(&context, &actor, &self.chosen.name).await?;
            accounts::make_link(&context, &actor, account.id).await
        })?;
        if self.chosen.json {
            return to_stdout(|out| {
                write_json(out, &link)?;
                Ok(ExitCode::SUCCESS)
            });
        }
        tell(&link);
        Ok(ExitCode::SUCCESS)
    }
}

impl Mailing {
    /// Sends the owner of an account a link.
    pub(super) fn send(
        &self,
        holdings: &HoldingsOptions,
        name: &str,
        json: bool,
    ) -> anyhow::Result<ExitCode> {
        let config = holdings.configuration()?;
        let console = match &self.console_url {
            Some(url) => url.clone(),
            None => config.console.address().context(
                "the message needs the address of the console: name it with --console-url or console.public_url",
            )?,
        };
        let (context, actor) = (holdings.configured_context()?, Actor::command_line());
        let mailed = context.wait(async {
            let account = accounts::find(&context, &actor, name).await?;
            accounts::mail_link(&context, &actor, account.id, &console).await
        })?;
        if json {
            return to_stdout(|out| {
                write_json(out, &mailed)?;
                Ok(ExitCode::SUCCESS)
            });
        }
        let (email, expires) = (plain(&mailed.email), mailed.expires);
        eprintln!("a link to set the password was sent to {email}; it works until {expires}");
        Ok(ExitCode::SUCCESS)
    }
}

/// Says where the link leads.
pub(super) fn tell(link: &PasswordLink) {
    eprintln!(
        "the link to set the password, at the address of the console, until {}: {}",
        link.expires, link.path
    );
}
