//! Links that set a password, sent by e-mail to the owner of an account.

use anyhow::Context as _;
use catalog::Role;
use serde::Serialize;
use utoipa::ToSchema;

use super::accounts::{self, Account, PasswordLink};
use crate::mail::Mail;
use crate::{Actor, Code, Context, Refusal, Time, secret};

/// A link that sets a password and was sent by e-mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MailedLink {
    /// The address that it was sent to.
    #[schema(example = "ann@example.org")]
    pub email: String,
    /// When the link expires.
    pub expires: Time,
}

/// Sends the owner of an account a link that sets its password, once: an invitation, or for a password that was
/// forgotten. `console` is the address of the console, without a path. An earlier link ends.
pub async fn mail_link(
    context: &Context,
    actor: &Actor,
    id: i64,
    console: &str,
) -> Result<MailedLink, Refusal> {
    accounts::require_person(actor, Role::Admin)?;
    let mailer = context.settings().mailer.clone();
    if !mailer.can_send() {
        return Err(Refusal::conflict(
            "no e-mail can be sent: the configuration file has no [mail] with server and from; make a link and hand it over",
        ));
    }
    let account = accounts::show(context, actor, id).await?;
    let Some(email) = account.email.clone() else {
        let reason = format!(
            "the account {} has no e-mail address; set one first",
            account.name
        );
        return Err(Refusal::conflict(reason).at("email"));
    };
    let link = accounts::make_link(context, actor, id).await?;
    let message = message(&account, actor, console, &link, email.clone());
    let send = move |_: &flows::Holdings| mailer.send(&message).context("no e-mail was sent");
    if let Err(error) = context.blocking(send).await {
        // A link that nobody has is not to stay good.
        let token = link.path.rsplit('/').next().unwrap_or_default();
        context
            .catalog()
            .use_password_link(&secret::digest(token))
            .await?;
        let reason = error.reasons();
        return Err(Refusal::new(Code::MailFailed, reason));
    }
    let details = Some(format!("to {email}"));
    context
        .audit(actor, "account.mail", account.subject(), details)
        .await;
    Ok(MailedLink {
        email,
        expires: link.expires,
    })
}

fn message(
    account: &Account,
    actor: &Actor,
    console: &str,
    link: &PasswordLink,
    email: String,
) -> Mail {
    let (name, expires) = (&account.name, link.expires);
    let url = format!("{}{}", console.trim_end_matches('/'), link.path);
    let (subject, why) = match account.invited {
        true => (
            "garner: your account",
            format!("{} added the account {name} of garner for you.", actor.name),
        ),
        false => (
            "garner: a new password",
            format!(
                "{} lets you set a new password for the account {name} of garner.",
                actor.name
            ),
        ),
    };
    let body = format!(
        "{why}\n\nSet the password by this link. It works once, until {expires}:\n\n{url}\n\n\
         If you did not expect this message, ignore it: without the link nothing changes.\n"
    );
    Mail {
        to: vec![email],
        subject: subject.to_owned(),
        body,
    }
}
