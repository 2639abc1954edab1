//! Webhooks that admins keep in the catalog: web servers that are told of harvests. Commands are named by the
//! configuration file alone, so that nobody can have a program run through the console.

use catalog::{Role, SavedKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Actor, Context, Refusal};

/// A web server that is told of the end of harvests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// Its name, unique.
    pub name: String,
    /// After which ends of a harvest: `finished`, `incomplete`, `failed`.
    #[serde(default = "usual")]
    pub on: Vec<String>,
    /// The base URL or the number of the one repository that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The URL that is told by POST.
    pub webhook: String,
    /// The key that messages are signed with. It is never shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// How long the server may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
}

/// A webhook, and whether its messages are signed. Its secret is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ManagedHook {
    /// The webhook.
    #[serde(flatten)]
    pub hook: Webhook,
    /// Whether messages are signed.
    pub signed: bool,
}

/// The ends of a harvest.
pub const EVENTS: [&str; 3] = ["finished", "incomplete", "failed"];

fn usual() -> Vec<String> {
    vec!["finished".to_owned(), "incomplete".to_owned()]
}

/// The webhooks of the catalog, by name.
pub async fn list(context: &Context) -> Result<Vec<ManagedHook>, Refusal> {
    Ok(saved(context).await?.into_iter().map(hidden).collect())
}

/// The webhooks of the catalog with their secrets, for those who tell.
pub async fn saved(context: &Context) -> Result<Vec<Webhook>, Refusal> {
    let mut hooks = Vec::new();
    for saved in context.catalog().saved(SavedKind::Webhook).await? {
        match serde_json::from_str(&saved.content) {
            Ok(hook) => hooks.push(hook),
            Err(error) => tracing::warn!(hook = saved.name, "the webhook cannot be read: {error}"),
        }
    }
    Ok(hooks)
}

/// Keeps a webhook, instead of the one with its name. Without a secret an earlier one is kept, as long as the URL is the
/// same.
pub async fn save(
    context: &Context,
    actor: &Actor,
    mut hook: Webhook,
) -> Result<ManagedHook, Refusal> {
    actor.require(Role::Admin)?;
    check_name(&hook.name)?;
    check_webhook(&hook.webhook, hook.secret.as_deref())?;
    if hook.on.is_empty() || !hook.on.iter().all(|event| EVENTS.contains(&event.as_str())) {
        let reason = format!("choose at least one of {}", EVENTS.join(", "));
        return Err(Refusal::invalid("on", reason));
    }
    if (hook.timeout_seconds).is_some_and(|seconds| !(1..=MOST_SECONDS).contains(&seconds)) {
        let reason = format!("a number from 1 to {MOST_SECONDS}");
        return Err(Refusal::invalid("timeout_seconds", reason));
    }
    let known = saved(context).await?;
    let known = known.into_iter().find(|known| known.name == hook.name);
    if let Some(known) = known.filter(|known| known.webhook == hook.webhook) {
        hook.secret = hook.secret.or(known.secret);
    }
    let content = serde_json::to_string(&hook).map_err(anyhow::Error::from)?;
    let by = Some(actor.name.as_str());
    let catalog = context.catalog();
    catalog
        .save(SavedKind::Webhook, &hook.name, &content, by)
        .await?;
    let subject = format!("webhook {}", hook.name);
    let details = Some(format!("{} after {}", hook.webhook, hook.on.join(", ")));
    context.audit(actor, "hook.save", subject, details).await;
    Ok(hidden(hook))
}

/// Removes a webhook of the catalog.
pub async fn remove(context: &Context, actor: &Actor, name: &str) -> Result<(), Refusal> {
    actor.require(Role::Admin)?;
    if !(context.catalog().remove_saved(SavedKind::Webhook, name)).await? {
        return Err(Refusal::not_found(format!("there is no webhook `{name}`")));
    }
    let subject = format!("webhook {name}");
    context.audit(actor, "hook.remove", subject, None).await;
    Ok(())
}

/// Refuses a name that cannot be told apart in a log.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    let length = name.chars().count();
    if length == 0 || length > LONGEST_NAME || !name.chars().all(is_plain) || name.trim() != name {
        let reason = format!(
            "a name has 1 to {LONGEST_NAME} letters, digits, spaces and - _ . only, and no space at its ends"
        );
        return Err(Refusal::invalid("name", reason));
    }
    Ok(())
}

/// Refuses what is no URL of a web server, and a secret that cannot be one.
pub(crate) fn check_webhook(url: &str, secret: Option<&str>) -> Result<(), Refusal> {
    harvester::canonical_base_url(url)
        .map_err(|error| Refusal::invalid("webhook", error.to_string()))?;
    let encoded = secret.and_then(|secret| secret.strip_prefix("whsec_"));
    let is_wrong =
        encoded.is_some_and(|encoded| data_encoding::BASE64.decode(encoded.as_bytes()).is_err());
    if is_wrong {
        let reason = "a secret that begins with `whsec_` is base64 behind it, with padding";
        return Err(Refusal::invalid("secret", reason));
    }
    Ok(())
}

fn hidden(mut hook: Webhook) -> ManagedHook {
    let signed = hook.secret.take().is_some();
    ManagedHook { hook, signed }
}

const LONGEST_NAME: usize = 60;
const MOST_SECONDS: u64 = 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_checked() {
        for (name, is_good) in [("tell", true), ("", false), (" a", false), ("a\nb", false)] {
            assert_eq!(check_name(name).is_ok(), is_good, "{name:?}");
        }
        for (url, secret, is_good) in [
            ("https://a.example/x", None, true),
            ("https://a.example/x", Some("any text"), true),
            (
                "https://a.example/x",
                Some("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
                true,
            ),
            ("https://a.example/x", Some("whsec_!"), false),
            ("ftp://a.example/x", None, false),
            ("", None, false),
        ] {
            assert_eq!(
                check_webhook(url, secret).is_ok(),
                is_good,
                "{url} {secret:?}"
            );
        }
    }
}
