//! Tokens: secrets that open the API to programs, in the name of an account. Only their digests are kept.

use catalog::Role;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::accounts::{name_mistake, require_person};
use crate::{Actor, Context, Mistake, Orders, Refusal, Time, schema, secret};

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Token {
    /// Its number.
    pub id: i64,
    /// The name of its account.
    pub account: String,
    /// Its purpose, in the words of its owner.
    pub name: String,
    /// Its permissions, never more than those of its account.
    #[schema(schema_with = schema::role)]
    pub role: Role,
    /// When it was added.
    pub created: Time,
    /// When it ends; without an end if there is none.
    pub expires: Option<Time>,
    /// When it was last used, to about a minute.
    pub last_used: Option<Time>,
}

/// A token to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Its purpose.
    pub name: String,
    /// At most one's own role.
    #[schema(schema_with = schema::role)]
    pub role: Role,
    /// Days until it ends; without an end if there are none.
    #[schema(minimum = 1, maximum = 3650)]
    pub days: Option<u32>,
}

/// A token that was added.
#[derive(Debug, Serialize, ToSchema)]
pub struct AddedToken {
    /// The secret, which is not shown again.
    #[serde(rename = "token")]
    pub secret: String,
    /// The token.
    #[serde(flatten)]
    pub token: Token,
}

/// One's own tokens.
pub async fn list(context: &Context, actor: &Actor) -> Result<Vec<Token>, Refusal> {
    actor.require(Role::Viewer)?;
    list_of(context, account_of(actor)?).await
}

/// The orders of the list.
pub const ORDERS: Orders<'_, Token> = &[
    ("name", |token| token.name.as_str().into()),
    ("role", |token| (token.role as i64).into()),
    ("created", |token| token.created.into()),
    ("expires", |token| token.expires.into()),
    ("last_used", |token| token.last_used.into()),
];

/// The tokens of the account with the number `id`.
pub async fn list_for(context: &Context, actor: &Actor, id: i64) -> Result<Vec<Token>, Refusal> {
    actor.require(Role::Admin)?;
    list_of(context, id).await
}

/// One's own token with the number `id`, or for an admin anybody's.
pub async fn show(context: &Context, actor: &Actor, id: i64) -> Result<Token, Refusal> {
    let whose = match actor.role {
        Role::Admin => None,
        Role::Viewer | Role::Operator => Some(account_of(actor)?),
    };
    let tokens = context.catalog().tokens(whose).await?;
    let token = tokens.into_iter().find(|token| token.id == id);
    Ok(token.ok_or_else(|| unknown(id))?.into())
}

/// Adds a token to one's own account.
pub async fn add(context: &Context, actor: &Actor, new: NewToken) -> Result<AddedToken, Refusal> {
    require_person(actor, new.role)?;
    let account = account_of(actor)?;
    let NewToken { name, role, days } = new;
    let name = name.trim();
    let mut mistakes: Vec<_> = name_mistake(name).into_iter().collect();
    if days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
        let reason = format!("give a number of days from 1 to {MAX_DAYS}");
        mistakes.push(Mistake::new("days", reason));
    }
    Refusal::unless_empty(mistakes)?;
    let secret = format!("garner_{}", secret::random()?);
    let now = Timestamp::now().as_second();
    let expires = days.map(|days| now.saturating_add(i64::from(days) * 86_400));
    let digest = secret::digest(&secret);
    let catalog = context.catalog();
    let added = catalog.add_token(account, name, &digest, role, expires);
    let token = Token::from(added.await?);
    let details = match days {
        Some(days) => format!("as {}, for {days} days", role.name()),
        None => format!("as {}, without an end", role.name()),
    };
    let subject = token.subject();
    context
        .audit(actor, "token.add", subject, Some(details))
        .await;
    Ok(AddedToken { secret, token })
}

/// Removes one's own token, or for an admin anybody's.
pub async fn remove(context: &Context, actor: &Actor, id: i64) -> Result<Token, Refusal> {
    require_person(actor, Role::Viewer)?;
    let token = show(context, actor, id).await?;
    if !context.catalog().remove_token(id).await? {
        return Err(unknown(id));
    }
    let details = Some(format!("of {}", token.account));
    let subject = token.subject();
    context.audit(actor, "token.remove", subject, details).await;
    Ok(token)
}

async fn list_of(context: &Context, account: i64) -> Result<Vec<Token>, Refusal> {
    let tokens = context.catalog().tokens(Some(account)).await?;
    Ok(tokens.into_iter().map(Into::into).collect())
}

fn account_of(actor: &Actor) -> Result<i64, Refusal> {
    actor
        .account
        .ok_or_else(|| Refusal::conflict("tokens belong to accounts; log in to the console"))
}

fn unknown(id: i64) -> Refusal {
    Refusal::not_found(format!(
        "you have no token with the number {id}; it may have been removed"
    ))
}

impl Token {
    fn subject(&self) -> String {
        format!("token {} ({})", self.id, self.name)
    }
}

impl From<catalog::Token> for Token {
    fn from(token: catalog::Token) -> Self {
        Self {
            id: token.id,
            account: token.account_name,
            name: token.name,
            role: token.role,
            created: Time(token.created),
            expires: token.expires.map(Time),
            last_used: token.seen.map(Time),
        }
    }
}

const MAX_DAYS: u32 = 3650;
