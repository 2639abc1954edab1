//! Accounts and tokens: what pages and API do alike. Every change ends up in the audit trail.

use axum::http::StatusCode;
use catalog::{Account, Role, Token};
use jiff::Timestamp;

use crate::parts::Errors;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;
use crate::{password, secret};

/// Notes what is wrong with the name of an account or a token.
pub(crate) fn check_name(name: &str, errors: &mut Errors) {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.@+ ".contains(c);
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        errors.add("name", format!("a name has 1 to {LONGEST_NAME} characters"));
    } else if !name.chars().all(is_plain) || name.trim() != name {
        errors.add(
            "name",
            "a name has letters, digits, spaces and - _ . @ + only",
        );
    }
}

/// Notes what is wrong with a password.
pub(crate) fn check_password(password: &str, errors: &mut Errors) {
    if let Err(reason) = password::check(password) {
        errors.add("password", reason);
    }
}

/// Notes what is wrong with a password that was typed in twice.
pub(crate) fn check_new_password(password: &str, again: &str, errors: &mut Errors) {
    check_password(password, errors);
    if errors.of("password").is_none() && password != again {
        errors.add("again", "these are not the same");
    }
}

/// The account with this number.
pub(crate) async fn account(state: &ConsoleState, id: i64) -> Result<Account, Problem> {
    let account = state.catalog().account(id).await?;
    account.ok_or_else(|| Problem::from(catalog::Error::UnknownAccount { id }))
}

/// Makes an account; name and password have been checked.
pub(crate) async fn add_account(
    state: &ConsoleState,
    who: &Who,
    name: &str,
    password: &str,
    role: Role,
) -> Result<Account, Problem> {
    refuse_tokens(who)?;
    let hash = state.hash_password(password).await?;
    let account = state.catalog().add_account(name, &hash, role).await?;
    let details = Some(format!("as {}", role.name()));
    state
        .audit(who, "account.add", format!("account {name}"), details)
        .await;
    Ok(account)
}

/// Changes what an account may do.
pub(crate) async fn change_account(
    state: &ConsoleState,
    who: &Who,
    id: i64,
    role: Role,
    disabled: bool,
) -> Result<Account, Problem> {
    refuse_tokens(who)?;
    let before = account(state, id).await?;
    let after = state.catalog().change_account(id, role, disabled).await?;
    let told = |account: &Account| {
        let disabled = if account.disabled { ", disabled" } else { "" };
        format!("{}{disabled}", account.role.name())
    };
    let details = Some(format!("from {} to {}", told(&before), told(&after)));
    let subject = format!("account {}", after.name);
    state.audit(who, "account.change", subject, details).await;
    Ok(after)
}

/// Gives an account another password, which has been checked. Its sessions and its tokens end; returns what to tell of
/// the tokens.
pub(crate) async fn set_password(
    state: &ConsoleState,
    who: &Who,
    id: i64,
    password: &str,
) -> Result<String, Problem> {
    refuse_tokens(who)?;
    let account = account(state, id).await?;
    let hash = state.hash_password(password).await?;
    let tokens = state.catalog().set_password(id, &hash).await?;
    let ended = (!tokens.is_empty()).then(|| format!("tokens ended: {}", tokens.join(", ")));
    let subject = format!("account {}", account.name);
    state
        .audit(who, "account.password", subject, ended.clone())
        .await;
    Ok(ended.map_or(String::new(), |ended| format!(" API {ended}.")))
}

/// Removes an account with its tokens.
pub(crate) async fn remove_account(
    state: &ConsoleState,
    who: &Who,
    id: i64,
) -> Result<Account, Problem> {
    refuse_tokens(who)?;
    let account = account(state, id).await?;
    state.catalog().remove_account(id).await?;
    let subject = format!("account {}", account.name);
    state.audit(who, "account.remove", subject, None).await;
    Ok(account)
}

/// Makes a token that opens the API for so many days, or for good. The secret is given here and never again.
pub(crate) async fn add_token(
    state: &ConsoleState,
    who: &Who,
    name: &str,
    role: Role,
    days: Option<u32>,
) -> Result<(Token, String), Problem> {
    refuse_tokens(who)?;
    if role > who.role {
        return Err(Problem::forbidden(role, who.role));
    }
    let secret = format!("garner_{}", secret::random()?);
    let now = Timestamp::now().as_second();
    let expires = days.map(|days| now.saturating_add(i64::from(days) * 86_400));
    let token = state
        .catalog()
        .add_token(
            who.account.id,
            name,
            &secret::digest(&secret),
            role,
            expires,
        )
        .await?;
    let details = Some(match days {
        Some(days) => format!("as {}, for {days} days", role.name()),
        None => format!("as {}, without an end", role.name()),
    });
    let subject = format!("token {} ({name})", token.id);
    state.audit(who, "token.add", subject, details).await;
    Ok((token, secret))
}

/// Removes a token: one's own, or as an admin anybody's.
pub(crate) async fn remove_token(
    state: &ConsoleState,
    who: &Who,
    id: i64,
) -> Result<Token, Problem> {
    refuse_tokens(who)?;
    let whose = match who.role {
        Role::Admin => None,
        _ => Some(who.account.id),
    };
    let tokens = state.catalog().tokens(whose).await?;
    let token = tokens.into_iter().find(|token| token.id == id);
    let token = token.ok_or_else(|| {
        Problem::not_found(format!(
            "you have no token with the number {id}; it may have been removed"
        ))
    })?;
    state.catalog().remove_token(id).await?;
    let subject = format!("token {id} ({})", token.name);
    let details = Some(format!("of {}", token.account_name));
    state.audit(who, "token.remove", subject, details).await;
    Ok(token)
}

/// A token that leaked must not outlive its end by making accounts or other tokens, nor take away those of its owner.
fn refuse_tokens(who: &Who) -> Result<(), Problem> {
    match who.by_token {
        true => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "a token cannot make, change or remove accounts and tokens; log in to do that, or use garner account",
        )),
        false => Ok(()),
    }
}

const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (name, good) in [
            ("ann", true),
            ("Jürgen Müller", true),
            ("ann@example.org", true),
            ("", false),
            (" ann", false),
            ("a\nb", false),
            ("<script>", false),
            ("a\u{202e}b", false),
        ] {
            let mut errors = Errors::default();
            check_name(name, &mut errors);
            assert_eq!(errors.is_empty(), good, "{name:?}");
        }
    }
}
