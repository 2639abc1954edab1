//! Accounts: adding, changing and removing those who may log in. Only an admin does so, and no token.

use std::time::Duration;

use catalog::{Error, Role};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Actor, Channel, Code, Context, Mistake, Orders, Refusal, Time, TimeZone, password, schema,
    secret,
};

pub use super::mailed::{MailedLink, mail_link};

/// An account of the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Account {
    /// Its number.
    pub id: i64,
    /// The name to log in with.
    pub name: String,
    /// Its permissions; each role includes those before it.
    #[schema(schema_with = schema::role)]
    pub role: Role,
    /// Whether it cannot log in for now.
    pub disabled: bool,
    /// When it was added.
    pub created: Time,
    /// When somebody last logged in with it.
    pub last_login: Option<Time>,
    /// The time zone in which the console shows times to it.
    pub time_zone: TimeZone,
    /// The e-mail address of its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether it was invited, and its owner has not set a password yet.
    pub invited: bool,
}

/// An account to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    /// The name to log in with.
    pub name: String,
    /// Its permissions.
    #[schema(schema_with = schema::role)]
    pub role: Role,
    /// At least 10 characters. Without one the account is invited: a link lets its owner set one.
    pub password: Option<String>,
    /// The password once more; refused if it is another.
    pub again: Option<String>,
    /// The e-mail address of its owner.
    pub email: Option<String>,
}

/// A link by which the owner of an account sets its password, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PasswordLink {
    /// Its path on the console. It is in this answer and in no other.
    #[schema(example = "/password/0123…")]
    pub path: String,
    /// When it expires.
    pub expires: Time,
}

/// The e-mail address of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEmail {
    /// The address; empty for none.
    pub email: String,
}

/// A password to set.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPassword {
    /// At least 10 characters.
    pub password: String,
    /// The password once more; refused if it is another.
    pub again: Option<String>,
}

/// The settings of an account.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountSettings {
    /// Its permissions.
    #[schema(schema_with = schema::role)]
    pub role: Role,
    /// Whether it cannot log in for now.
    #[serde(default)]
    pub disabled: bool,
}

/// The settings of one's own account.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OwnSettings {
    /// The name of the time zone in which the console shows times.
    #[schema(example = "Europe/Berlin")]
    pub time_zone: Option<String>,
    /// One's e-mail address; empty for none.
    pub email: Option<String>,
}

/// An account whose password was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordSet {
    /// The account.
    pub account: Account,
    /// The names of the tokens that ended with the old password.
    pub ended_tokens: Vec<String>,
}

/// One's own account.
#[derive(Debug, Serialize, ToSchema)]
pub struct Me {
    /// The number of the account.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// One's permissions: a token may have less than its account.
    #[schema(schema_with = schema::role)]
    pub role: Role,
    /// The time zone in which the console shows times.
    pub time_zone: TimeZone,
    /// One's e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// All accounts, by name.
pub async fn list(context: &Context, actor: &Actor) -> Result<Vec<Account>, Refusal> {
    actor.require(Role::Admin)?;
    let accounts = context.catalog().accounts().await?;
    Ok(accounts.into_iter().map(Into::into).collect())
}

/// The orders of the list.
pub const ORDERS: Orders<'_, Account> = &[
    ("name", |account| account.name.as_str().into()),
    ("role", |account| (account.role as i64).into()),
    ("state", |account| i64::from(account.disabled).into()),
    ("created", |account| account.created.into()),
    ("last_login", |account| account.last_login.into()),
];

/// The account with the number `id`.
pub async fn show(context: &Context, actor: &Actor, id: i64) -> Result<Account, Refusal> {
    actor.require(Role::Admin)?;
    read(context, id).await
}

/// The account called `name`.
pub async fn find(context: &Context, actor: &Actor, name: &str) -> Result<Account, Refusal> {
    let accounts = list(context, actor).await?;
    let account = accounts.into_iter().find(|account| account.name == name);
    account.ok_or_else(|| {
        Refusal::not_found(format!(
            "there is no account `{name}`; garner account list shows those that are"
        ))
    })
}

/// Adds an account.
pub async fn add(context: &Context, actor: &Actor, new: NewAccount) -> Result<Account, Refusal> {
    require_person(actor, Role::Admin)?;
    let (name, hash) = prepare(&new).await?;
    let email = checked_email(new.email.as_deref())?;
    let added = context.catalog().add_account(&name, &hash, new.role).await;
    let mut account: Account = added.map_err(at_name)?.into();
    if email.is_some() {
        account = (context.catalog().set_email(account.id, email.as_deref()))
            .await?
            .into();
    }
    let invited = if account.invited { ", invited" } else { "" };
    let details = Some(format!("as {}{invited}", new.role.name()));
    let subject = account.subject();
    context.audit(actor, "account.add", subject, details).await;
    Ok(account)
}

/// Adds the first account, of an admin, for somebody who has the link from the terminal.
pub async fn add_first(context: &Context, new: NewAccount) -> Result<Account, Refusal> {
    if new.password.is_none() {
        return Err(Refusal::invalid(
            "password",
            "the first account needs a password",
        ));
    }
    let (name, hash) = prepare(&new).await?;
    let added = context.catalog().add_first_account(&name, &hash).await;
    let account: Account = added.map_err(at_name)?.into();
    let details = Some("the first account, by the link from the terminal".to_owned());
    let subject = account.subject();
    context
        .audit_name(&account.name, "account.add", subject, details)
        .await;
    Ok(account)
}

/// Changes role and state of an account. Refused if no admin could log in afterwards.
pub async fn change(
    context: &Context,
    actor: &Actor,
    id: i64,
    settings: AccountSettings,
) -> Result<Account, Refusal> {
    require_person(actor, Role::Admin)?;
    let before = read(context, id).await?;
    let AccountSettings { role, disabled } = settings;
    let changed = context.catalog().change_account(id, role, disabled).await;
    let after: Account = changed
        .map_err(|error| Refusal::from(error).at("role"))?
        .into();
    let permissions = |account: &Account| {
        let disabled = if account.disabled { ", disabled" } else { "" };
        format!("{}{disabled}", account.role.name())
    };
    let details = format!("from {} to {}", permissions(&before), permissions(&after));
    let subject = after.subject();
    context
        .audit(actor, "account.change", subject, Some(details))
        .await;
    Ok(after)
}

/// Sets the password of an account, and ends its sessions and tokens. An admin may do so for everybody, others for
/// themselves; the console makes sure that they know the old one.
pub async fn set_password(
    context: &Context,
    actor: &Actor,
    id: i64,
    new: NewPassword,
) -> Result<PasswordSet, Refusal> {
    let needed = match actor.account == Some(id) {
        true => Role::Viewer,
        false => Role::Admin,
    };
    require_person(actor, needed)?;
    let account = read(context, id).await?;
    let mistake = password_mistake(&new.password, new.again.as_deref());
    Refusal::unless_empty(mistake.into_iter().collect())?;
    let hash = password::hash(&new.password).await?;
    let ended_tokens = context.catalog().set_password(id, &hash).await?;
    let details =
        (!ended_tokens.is_empty()).then(|| format!("tokens ended: {}", ended_tokens.join(", ")));
    let subject = account.subject();
    context
        .audit(actor, "account.password", subject, details)
        .await;
    Ok(PasswordSet {
        account,
        ended_tokens,
    })
}

/// Makes a link by which the owner of an account sets its password, once: an invitation, or for a password that was
/// forgotten. An earlier link ends; the present password stays until then.
pub async fn make_link(context: &Context, actor: &Actor, id: i64) -> Result<PasswordLink, Refusal> {
    require_person(actor, Role::Admin)?;
    let account = read(context, id).await?;
    if account.disabled {
        return Err(Refusal::conflict(
            "the account is disabled; enable it first",
        ));
    }
    let token = secret::random()?;
    let lifetime = match account.invited {
        true => INVITATION,
        false => RESET,
    };
    let digest = secret::digest(&token);
    let kept = context.catalog().keep_password_link(id, &digest, lifetime);
    let expires = Time(kept.await?);
    let details = Some(format!("until {expires}"));
    context
        .audit(actor, "account.link", account.subject(), details)
        .await;
    Ok(PasswordLink {
        path: format!("/password/{token}"),
        expires,
    })
}

/// The account whose password the link with this token may set.
pub async fn of_link(context: &Context, token: &str) -> Result<Account, Refusal> {
    let digest = secret::digest(token);
    let account = context.catalog().account_of_link(&digest).await?;
    Ok(account.ok_or_else(no_link)?.into())
}

/// Sets the password of the account that a link is for, and ends the link, its sessions and its tokens.
pub async fn set_password_by_link(
    context: &Context,
    token: &str,
    new: NewPassword,
) -> Result<Account, Refusal> {
    let account = of_link(context, token).await?;
    let mistake = password_mistake(&new.password, new.again.as_deref());
    Refusal::unless_empty(mistake.into_iter().collect())?;
    let hash = password::hash(&new.password).await?;
    // The request that removes the link sets the password: of two at once only one does.
    let catalog = context.catalog();
    if !catalog.use_password_link(&secret::digest(token)).await? {
        return Err(no_link());
    }
    catalog.set_password(account.id, &hash).await?;
    catalog.logged_in(account.id).await?;
    let (name, details) = (&account.name, Some("by a link".to_owned()));
    context
        .audit_name(name, "account.password", account.subject(), details)
        .await;
    read(context, account.id).await
}

fn no_link() -> Refusal {
    Refusal::not_found(
        "this link is not good any more: it was used, has expired or was replaced; ask an admin for another",
    )
}

/// Sets the e-mail address of an account: one's own, or for an admin any.
pub async fn set_email(
    context: &Context,
    actor: &Actor,
    id: i64,
    email: &str,
) -> Result<Account, Refusal> {
    if actor.account != Some(id) {
        actor.require(Role::Admin)?;
    }
    let email = checked_email(Some(email))?;
    let changed = context.catalog().set_email(id, email.as_deref()).await?;
    let account = Account::from(changed);
    let details = Some(email.map_or("none".to_owned(), |email| format!("to {email}")));
    context
        .audit(actor, "account.email", account.subject(), details)
        .await;
    Ok(account)
}

/// Changes settings of one's own account.
pub async fn change_own(
    context: &Context,
    actor: &Actor,
    id: i64,
    settings: OwnSettings,
) -> Result<Account, Refusal> {
    if let Some(time_zone) = &settings.time_zone {
        set_time_zone(context, actor, id, time_zone).await?;
    }
    if let Some(email) = &settings.email {
        set_email(context, actor, id, email).await?;
    }
    read(context, id).await
}

/// An e-mail address without the spaces around it, if there is one.
fn checked_email(email: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(email) = email.map(str::trim).filter(|email| !email.is_empty()) else {
        return Ok(None);
    };
    let (user, host) = email.rsplit_once('@').unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_graphic() && !"<>()[]\\,;:\"".contains(c);
    if user.is_empty() || host.is_empty() || email.len() > 254 || !email.chars().all(is_plain) {
        let reason = format!(
            "`{}` is no e-mail address such as ann@example.org",
            email.escape_debug()
        );
        return Err(Refusal::invalid("email", reason));
    }
    Ok(Some(email.to_owned()))
}

/// Sets the time zone in which the console shows times to an account: one's own, or for an admin any.
pub async fn set_time_zone(
    context: &Context,
    actor: &Actor,
    id: i64,
    name: &str,
) -> Result<Account, Refusal> {
    if actor.account != Some(id) {
        actor.require(Role::Admin)?;
    }
    let time_zone = TimeZone::read(name).map_err(|reason| Refusal::invalid("time_zone", reason))?;
    let name = Some(time_zone.name()).filter(|_| !time_zone.is_utc());
    let changed = context.catalog().set_time_zone(id, name).await?;
    let account = Account::from(changed);
    let details = Some(format!("to {}", time_zone.name()));
    context
        .audit(actor, "account.time_zone", account.subject(), details)
        .await;
    Ok(account)
}

/// Removes an account with its sessions and tokens. Refused for the last admin.
pub async fn remove(context: &Context, actor: &Actor, id: i64) -> Result<Account, Refusal> {
    require_person(actor, Role::Admin)?;
    let account = read(context, id).await?;
    context.catalog().remove_account(id).await?;
    let subject = account.subject();
    context.audit(actor, "account.remove", subject, None).await;
    Ok(account)
}

/// A token that leaked must not outlive its end by adding accounts or other tokens, nor remove those of its owner.
pub(crate) fn require_person(actor: &Actor, needed: Role) -> Result<(), Refusal> {
    match actor.channel {
        Channel::Token => Err(Refusal::new(
            Code::Forbidden,
            "a token cannot add, change or remove accounts and tokens; log in to do that, or use garner account",
        )),
        Channel::Session | Channel::CommandLine => actor.require(needed),
    }
}

/// The mistake in the name of an account or a token, if there is one.
pub(crate) fn name_mistake(name: &str) -> Option<Mistake> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.@+ ".contains(c);
    if name.is_empty() || name.chars().count() > MAX_NAME {
        let reason = format!("a name has 1 to {MAX_NAME} characters");
        return Some(Mistake::new("name", reason));
    }
    let reason = "a name has letters, digits, spaces and - _ . @ + only";
    (!name.chars().all(is_plain)).then(|| Mistake::new("name", reason))
}

/// The name and the hash of the password of a new account, both checked; the hash of none is empty.
async fn prepare(new: &NewAccount) -> Result<(String, String), Refusal> {
    let name = new.name.trim();
    let mut mistakes: Vec<_> = name_mistake(name).into_iter().collect();
    let password = new.password.as_deref();
    mistakes.extend(password.and_then(|password| password_mistake(password, new.again.as_deref())));
    Refusal::unless_empty(mistakes)?;
    let hash = match password {
        Some(password) => password::hash(password).await?,
        None => String::new(),
    };
    Ok((name.to_owned(), hash))
}

/// The mistake in a password, or in its repetition.
fn password_mistake(password: &str, again: Option<&str>) -> Option<Mistake> {
    if let Err(reason) = password::check(password) {
        return Some(Mistake::new("password", reason));
    }
    let differs = again.is_some_and(|again| again != password);
    differs.then(|| Mistake::new("again", "the two passwords are not the same"))
}

async fn read(context: &Context, id: i64) -> Result<Account, Refusal> {
    let account = context.catalog().account(id).await?;
    Ok(account.ok_or(Error::UnknownAccount { id })?.into())
}

fn at_name(error: Error) -> Refusal {
    match error {
        error @ Error::NameTaken { .. } => Refusal::from(error).at("name"),
        error => error.into(),
    }
}

impl Account {
    /// Its name in the audit trail.
    pub(crate) fn subject(&self) -> String {
        format!("account {}", self.name)
    }
}

impl From<catalog::Account> for Account {
    fn from(account: catalog::Account) -> Self {
        Self {
            id: account.id,
            name: account.name,
            role: account.role,
            disabled: account.disabled,
            created: Time(account.created),
            last_login: account.last_login.map(Time),
            time_zone: time_zone(&account.time_zone),
            email: account.email,
            invited: !account.has_password,
        }
    }
}

/// The time zone that the catalog has for an account; UTC if this machine does not know it.
fn time_zone(name: &Option<String>) -> TimeZone {
    let name = name.as_deref().unwrap_or_default();
    TimeZone::read(name).unwrap_or_default()
}

impl Me {
    /// The account of somebody who may use `role` of it.
    pub fn new(account: catalog::Account, role: Role) -> Self {
        Self {
            time_zone: time_zone(&account.time_zone),
            id: account.id,
            name: account.name,
            role,
            email: account.email,
        }
    }
}

const MAX_NAME: usize = 100;
/// An invitation waits for its owner.
const INVITATION: Duration = Duration::from_secs(7 * 24 * 3600);
/// A link to an account that is in use.
const RESET: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (name, is_good) in [
            ("ann", true),
            ("Jürgen Müller", true),
            ("ann@example.org", true),
            ("", false),
            ("a\nb", false),
            ("<script>", false),
            ("a\u{202e}b", false),
        ] {
            assert_eq!(name_mistake(name).is_none(), is_good, "{name:?}");
        }
    }

    #[test]
    fn addresses_are_plain() {
        for (email, is_good) in [
            ("ann@example.org", true),
            (" ann@localhost ", true),
            ("", true),
            ("ann", false),
            ("@example.org", false),
            ("ann@example.org, eve@example.org", false),
            ("ann\n@example.org", false),
            ("<ann@example.org>", false),
        ] {
            assert_eq!(checked_email(Some(email)).is_ok(), is_good, "{email:?}");
        }
    }

    #[test]
    fn a_password_is_repeated_without_a_slip() {
        let field = |password, again| {
            let mistake = password_mistake(password, again);
            mistake.and_then(|mistake| mistake.field)
        };
        assert_eq!(field("a long password", None), None);
        assert_eq!(field("a long password", Some("a long password")), None);
        let slip = Some("a long pasword");
        assert_eq!(field("a long password", slip), Some("again"));
        assert_eq!(field("short", Some("other")), Some("password"));
    }
}
