//! Rules that admins keep in the catalog, beside those of the configuration file.

use catalog::{Role, SavedKind};
use serde::Serialize;
use utoipa::ToSchema;

use super::AlertRule;
use crate::{Actor, Context, Refusal, hooks};

/// A rule, and where it comes from. Its secret is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ManagedRule {
    /// The rule.
    #[serde(flatten)]
    pub rule: AlertRule,
    /// Whether it stands in the configuration file, and is changed there alone.
    pub configured: bool,
    /// Whether messages to its webhook are signed.
    pub signed: bool,
}

/// All rules, by name: those of the configuration file, and those of the catalog with other names.
pub async fn rules(context: &Context) -> Result<Vec<ManagedRule>, Refusal> {
    let mut rules: Vec<_> = managed(context).await?.into_iter().map(hidden).collect();
    rules.sort_by(|a, b| a.rule.name.cmp(&b.rule.name));
    Ok(rules)
}

/// All rules, with their secrets, for those who tell.
pub async fn effective(context: &Context) -> Result<Vec<AlertRule>, Refusal> {
    let rules = managed(context).await?.into_iter();
    Ok(rules.map(|(rule, _)| rule).collect())
}

/// Keeps a rule, instead of the one with its name. Without a secret an earlier one is kept, as long as the webhook is the
/// same.
pub async fn save_rule(
    context: &Context,
    actor: &Actor,
    mut rule: AlertRule,
) -> Result<ManagedRule, Refusal> {
    actor.require(Role::Admin)?;
    hooks::check_name(&rule.name)?;
    if is_configured(context, &rule.name) {
        return Err(in_file(&rule.name).at("name"));
    }
    if let Some(mistake) = rule.mistake() {
        return Err(Refusal::invalid("when", mistake));
    }
    if !rule.email.is_empty() && !context.settings().mailer.can_send() {
        let reason =
            "no e-mail can be sent: the configuration file has no [mail] with server and from";
        return Err(Refusal::invalid("email", reason));
    }
    if let Some(url) = &rule.webhook {
        hooks::check_webhook(url, rule.secret.as_deref())?;
    }
    let known = read(context, &rule.name).await?;
    if let Some(known) = known.filter(|known| known.webhook == rule.webhook) {
        rule.secret = rule.secret.or(known.secret);
    }
    let content = serde_json::to_string(&rule).map_err(anyhow::Error::from)?;
    let by = Some(actor.name.as_str());
    let saved = context.catalog();
    saved
        .save(SavedKind::AlertRule, &rule.name, &content, by)
        .await?;
    forget_findings(context, &rule.name).await?;
    let details = Some(format!("{} {}", rule.when.name(), rule.limit()));
    let subject = format!("alert rule {}", rule.name);
    context.audit(actor, "alert.save", subject, details).await;
    Ok(hidden((rule, false)))
}

/// Removes a rule of the catalog.
pub async fn remove_rule(context: &Context, actor: &Actor, name: &str) -> Result<(), Refusal> {
    actor.require(Role::Admin)?;
    if is_configured(context, name) {
        return Err(in_file(name));
    }
    let removed = context.catalog().remove_saved(SavedKind::AlertRule, name);
    if !removed.await? {
        return Err(Refusal::not_found(format!(
            "there is no alert rule `{name}`"
        )));
    }
    forget_findings(context, name).await?;
    let subject = format!("alert rule {name}");
    context.audit(actor, "alert.remove", subject, None).await;
    Ok(())
}

/// Forgets what a rule found and when it was told: another rule of the name begins afresh.
async fn forget_findings(context: &Context, name: &str) -> Result<(), Refusal> {
    context
        .catalog()
        .remove_saved(SavedKind::Alert, name)
        .await?;
    Ok(())
}

/// All rules, and whether each stands in the configuration file. One of the catalog that cannot be read is logged.
async fn managed(context: &Context) -> Result<Vec<(AlertRule, bool)>, Refusal> {
    let configured = context.settings().alerts.iter().cloned();
    let mut rules: Vec<_> = configured.map(|rule| (rule, true)).collect();
    for saved in context.catalog().saved(SavedKind::AlertRule).await? {
        if is_configured(context, &saved.name) {
            continue;
        }
        match serde_json::from_str::<AlertRule>(&saved.content) {
            Ok(mut rule) => {
                rule.is_saved = true;
                rules.push((rule, false));
            }
            Err(error) => tracing::warn!(alert = saved.name, "the rule cannot be read: {error}"),
        }
    }
    Ok(rules)
}

async fn read(context: &Context, name: &str) -> Result<Option<AlertRule>, Refusal> {
    let saved = context
        .catalog()
        .saved_as(SavedKind::AlertRule, name)
        .await?;
    Ok(saved.and_then(|saved| serde_json::from_str(&saved.content).ok()))
}

fn is_configured(context: &Context, name: &str) -> bool {
    let mut configured = context.settings().alerts.iter();
    configured.any(|rule| rule.name == name)
}

fn in_file(name: &str) -> Refusal {
    Refusal::conflict(format!(
        "the alert rule `{name}` stands in the configuration file; change it there"
    ))
}

fn hidden((mut rule, configured): (AlertRule, bool)) -> ManagedRule {
    let signed = rule.secret.take().is_some();
    ManagedRule {
        rule,
        configured,
        signed,
    }
}
