//! Sessions: people log in, log out, and end their sessions elsewhere.

use std::net::IpAddr;
use std::time::Duration;

use catalog::Account;

use crate::{Actor, Context, Refusal, password, secret};

/// The account `name` if `password` is its own. Takes as long for a name that nobody has.
pub async fn verify(
    context: &Context,
    name: &str,
    password: &str,
) -> Result<Option<Account>, Refusal> {
    let known = context.catalog().account_to_log_in(name).await?;
    let (account, hash) = known.unzip();
    let fits = password::verify(password, hash).await?;
    Ok(account.filter(|_| fits))
}

/// Records that somebody logged in from the address `from`. A session has to be begun as well.
pub async fn log_in(context: &Context, account: &Account, from: IpAddr) -> Result<(), Refusal> {
    context.catalog().logged_in(account.id).await?;
    let (name, details) = (&account.name, format!("from {from}"));
    context
        .audit_name(
            name,
            "session.begin",
            format!("account {name}"),
            Some(details),
        )
        .await;
    Ok(())
}

/// Begins a session of the account with the number `account`, and returns its secret.
pub async fn begin(context: &Context, account: i64, lifetime: Duration) -> Result<String, Refusal> {
    let (secret, catalog) = (secret::random()?, context.catalog());
    catalog.remove_old_sessions().await?;
    let digest = secret::digest(&secret);
    catalog.begin_session(&digest, account, lifetime).await?;
    Ok(secret)
}

/// Ends the session of the actor that has this secret.
pub async fn end(context: &Context, actor: &Actor, secret: &str) -> Result<(), Refusal> {
    let digest = secret::digest(secret);
    context.catalog().end_session(&digest).await?;
    let subject = format!("account {}", actor.name);
    context.audit(actor, "session.end", subject, None).await;
    Ok(())
}

/// Ends all sessions of the actor.
pub async fn end_all(context: &Context, actor: &Actor) -> Result<(), Refusal> {
    let Some(account) = actor.account else {
        return Err(Refusal::conflict("only accounts have sessions"));
    };
    context.catalog().end_sessions(account).await?;
    let subject = format!("account {}", actor.name);
    context.audit(actor, "session.end_all", subject, None).await;
    Ok(())
}
