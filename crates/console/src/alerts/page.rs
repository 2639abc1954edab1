//! `/alerts`: rules of alerts and webhooks, of the configuration file and of the catalog, and forms to keep some.

use askama::Template;
use axum::extract::State;
use catalog::Role;
use operations::Refusal;
use operations::alerts::{self, AlertRule, FiringAlert, ManagedRule, When};
use operations::hooks::{self, ManagedHook, Webhook};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Query};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Admin, Viewer, Who};

#[derive(Template)]
#[template(path = "alerts.html")]
struct AlertsPage {
    who: Who,
    rules: Vec<ManagedRule>,
    hooks: Vec<ManagedHook>,
    firing: Vec<FiringAlert>,
    rule: RuleForm,
    rule_errors: Errors,
    hook: HookForm,
    hook_errors: Errors,
}

/// The rule or the hook that is changed.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Chosen {
    rule: Option<String>,
    hook: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RuleForm {
    name: String,
    when: String,
    limit: String,
    #[serde(default)]
    repository: String,
    #[serde(default)]
    email: String,
    #[serde(default)]
    webhook: String,
    #[serde(default)]
    secret: String,
    pause_minutes: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HookForm {
    name: String,
    #[serde(default)]
    finished: bool,
    #[serde(default)]
    incomplete: bool,
    #[serde(default)]
    failed: bool,
    #[serde(default)]
    repository: String,
    webhook: String,
    #[serde(default)]
    secret: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    name: String,
}

/// The kinds of trouble that rules look for, to choose from.
pub(crate) const WHENS: [(&str, &str); 5] = [
    ("failing", "the last N harvests of a repository failed"),
    (
        "silent",
        "no harvest of a repository brought anything for N days",
    ),
    (
        "deletions",
        "a harvest deleted more than N % of the records",
    ),
    ("disk", "the disk has less than N GB left"),
    ("queue", "a job has been due for N minutes"),
];

impl AlertsPage {
    async fn new(state: &ConsoleState, who: Who) -> Result<Self, Problem> {
        let context = state.context();
        Ok(Self {
            rules: alerts::rules(context).await?,
            hooks: hooks::list(context).await?,
            firing: alerts::firing(context).await?,
            rule: RuleForm::default(),
            rule_errors: Errors::default(),
            hook: HookForm::default(),
            hook_errors: Errors::default(),
            who,
        })
    }

    fn is_admin(&self) -> bool {
        self.who.role >= Role::Admin
    }

    /// The number of alerts of a rule that hold now.
    fn firing_of(&self, rule: &ManagedRule) -> usize {
        let firing = self.firing.iter();
        firing.filter(|alert| alert.rule == rule.rule.name).count()
    }

    /// The rule in words.
    fn words(&self, rule: &AlertRule) -> String {
        let words = WHENS.iter().find(|(name, _)| *name == rule.when.name());
        let words = words.map_or("", |(_, words)| *words);
        words.replacen('N', &rule.limit().to_string(), 1)
    }
}

impl Default for RuleForm {
    fn default() -> Self {
        Self {
            name: String::new(),
            when: When::Failing.name().to_owned(),
            limit: "2".to_owned(),
            repository: String::new(),
            email: String::new(),
            webhook: String::new(),
            secret: String::new(),
            pause_minutes: "60".to_owned(),
        }
    }
}

impl Default for HookForm {
    fn default() -> Self {
        Self {
            name: String::new(),
            finished: true,
            incomplete: true,
            failed: false,
            repository: String::new(),
            webhook: String::new(),
            secret: String::new(),
        }
    }
}

impl From<&ManagedRule> for RuleForm {
    fn from(managed: &ManagedRule) -> Self {
        let rule = &managed.rule;
        Self {
            name: rule.name.clone(),
            when: rule.when.name().to_owned(),
            limit: rule.limit().to_string(),
            repository: rule.repository.clone().unwrap_or_default(),
            email: rule.email.join(", "),
            webhook: rule.webhook.clone().unwrap_or_default(),
            secret: String::new(),
            pause_minutes: rule.pause_minutes.to_string(),
        }
    }
}

impl From<&ManagedHook> for HookForm {
    fn from(managed: &ManagedHook) -> Self {
        let hook = &managed.hook;
        let has = |event: &str| hook.on.iter().any(|on| on == event);
        Self {
            name: hook.name.clone(),
            finished: has("finished"),
            incomplete: has("incomplete"),
            failed: has("failed"),
            repository: hook.repository.clone().unwrap_or_default(),
            webhook: hook.webhook.clone(),
            secret: String::new(),
        }
    }
}

impl RuleForm {
    fn rule(&self) -> Result<AlertRule, Refusal> {
        let when = When::parse(&self.when)
            .ok_or_else(|| Refusal::invalid("when", "choose what it looks for"))?;
        let number = |field, text: &str| {
            let number = text.trim().parse::<u32>();
            number.map_err(|_| Refusal::invalid(field, "write a whole number"))
        };
        let addresses = self.email.split([',', ' ', '\n']).map(str::trim);
        Ok(AlertRule {
            repository: given(&self.repository),
            email: addresses
                .filter(|address| !address.is_empty())
                .map(str::to_owned)
                .collect(),
            webhook: given(&self.webhook),
            secret: given(&self.secret),
            pause_minutes: number("pause_minutes", &self.pause_minutes)?,
            ..AlertRule::new(self.name.trim(), when, number("limit", &self.limit)?)
        })
    }
}

impl HookForm {
    fn hook(&self) -> Webhook {
        let on = [
            ("finished", self.finished),
            ("incomplete", self.incomplete),
            ("failed", self.failed),
        ];
        let on = on.into_iter().filter(|(_, is_chosen)| *is_chosen);
        Webhook {
            name: self.name.trim().to_owned(),
            on: on.map(|(event, _)| event.to_owned()).collect(),
            repository: given(&self.repository),
            webhook: self.webhook.trim().to_owned(),
            secret: given(&self.secret),
            timeout_seconds: None,
        }
    }
}

fn given(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// `GET /alerts`
pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(chosen): Query<Chosen>,
) -> Answer {
    let mut alerts = AlertsPage::new(&state, who).await?;
    let mut rules = alerts.rules.iter();
    if let Some(rule) = rules.find(|rule| Some(&rule.rule.name) == chosen.rule.as_ref()) {
        alerts.rule = rule.into();
    }
    let mut hooks = alerts.hooks.iter();
    if let Some(hook) = hooks.find(|hook| Some(&hook.hook.name) == chosen.hook.as_ref()) {
        alerts.hook = hook.into();
    }
    page(&alerts)
}

/// `POST /alerts`: keeps a rule.
pub(crate) async fn save_rule(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Form(form): Form<RuleForm>,
) -> Answer {
    let saved = match form.rule() {
        Ok(rule) => alerts::save_rule(state.context(), &who.actor(), rule).await,
        Err(refusal) => Err(refusal),
    };
    match saved {
        Ok(saved) => {
            let message = format!("The rule {} is saved.", saved.rule.name);
            Ok(done("/alerts", message))
        }
        Err(refusal) => form_again(&AlertsPage {
            rule_errors: Errors::of_form(refusal)?,
            rule: form,
            ..AlertsPage::new(&state, who).await?
        }),
    }
}

/// `POST /alerts/remove`
pub(crate) async fn remove_rule(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Form(Named { name }): Form<Named>,
) -> Answer {
    alerts::remove_rule(state.context(), &who.actor(), &name).await?;
    Ok(done("/alerts", format!("The rule {name} is removed.")))
}

/// `POST /hooks`: keeps a webhook.
pub(crate) async fn save_hook(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Form(form): Form<HookForm>,
) -> Answer {
    match hooks::save(state.context(), &who.actor(), form.hook()).await {
        Ok(saved) => {
            let message = format!("The webhook {} is saved.", saved.hook.name);
            Ok(done("/alerts", message))
        }
        Err(refusal) => form_again(&AlertsPage {
            hook_errors: Errors::of_form(refusal)?,
            hook: form,
            ..AlertsPage::new(&state, who).await?
        }),
    }
}

/// `POST /hooks/remove`
pub(crate) async fn remove_hook(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Form(Named { name }): Form<Named>,
) -> Answer {
    hooks::remove(state.context(), &who.actor(), &name).await?;
    Ok(done("/alerts", format!("The webhook {name} is removed.")))
}
