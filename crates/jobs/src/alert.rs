//! Alerts are told: one message of a rule for everything that it found since the last one.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use catalog::SavedKind;
use harvester::{AddressPolicy, ClientOptions, Stop};
use operations::alerts::{self, Alert, AlertRule, Firing, RuleState};
use operations::mail::{Mail, Mailer};
use operations::{Context, Refusal, Settings};
use serde_json::json;

use crate::hook::tell_server;
use flows::{Holdings, message};

/// The receivers of a message.
#[derive(Debug, Clone, Default)]
pub struct AlertOptions {
    /// The rules of the configuration file.
    pub rules: Vec<AlertRule>,
    /// The server that takes e-mails.
    pub mail: Mailer,
    /// How web servers are told.
    pub client: ClientOptions,
}

/// Looks at the rules now and then, and tells what is new.
pub(crate) struct Alerting {
    context: Context,
    options: AlertOptions,
    stop: Stop,
}

impl Alerting {
    pub(crate) fn new(holdings: Arc<Holdings>, options: AlertOptions, stop: Stop) -> Self {
        let settings = Settings {
            alerts: options.rules.clone(),
            ..Settings::default()
        };
        Self {
            context: Context::new(holdings).configured(settings),
            options,
            stop,
        }
    }

    /// One round; a failure is logged, and the next round tries again.
    pub(crate) fn round(&self) {
        let looked = self.context.wait(async {
            let rules = alerts::effective(&self.context).await?;
            let found = alerts::current(&self.context, &rules).await?;
            Ok::<_, Refusal>((rules, found))
        });
        let (rules, found) = match looked {
            Ok(looked) => looked,
            Err(refusal) => {
                return tracing::warn!("alerts cannot be looked for: {}", refusal.message());
            }
        };
        if let Err(error) = self.forget_others(&rules) {
            return tracing::warn!("alerts cannot be looked for: {}", message(&error));
        }
        for rule in &rules {
            let of_rule: Vec<_> = found
                .iter()
                .filter(|alert| alert.rule == rule.name)
                .collect();
            if let Err(error) = self.rule(rule, &of_rule) {
                tracing::warn!(
                    alert = rule.name,
                    "an alert is not told: {}",
                    message(&error)
                );
            }
        }
    }

    /// Forgets what rules found that are there no longer.
    fn forget_others(&self, rules: &[AlertRule]) -> anyhow::Result<()> {
        let (catalog, holdings) = (self.context.catalog(), self.context.holdings());
        for saved in holdings.wait(catalog.saved(SavedKind::Alert))? {
            if !rules.iter().any(|rule| rule.name == saved.name) {
                holdings.wait(catalog.remove_saved(SavedKind::Alert, &saved.name))?;
            }
        }
        Ok(())
    }

    fn rule(&self, rule: &AlertRule, found: &[&Alert]) -> anyhow::Result<()> {
        let (catalog, holdings) = (self.context.catalog(), self.context.holdings());
        let saved = holdings.wait(catalog.saved_as(SavedKind::Alert, &rule.name))?;
        let before = saved.map(|saved| saved.content);
        let known: RuleState = before
            .as_deref()
            .and_then(|content| serde_json::from_str(content).ok())
            .unwrap_or_default();
        let now = holdings.wait(catalog.now())?;
        let step = Step::new(rule, &known, found, now);
        if step.next == known {
            return Ok(());
        }
        let (content, name) = (serde_json::to_string(&step.next)?, rule.name.as_str());
        let replaced = catalog.replace_saved(SavedKind::Alert, name, before.as_deref(), &content);
        // Another manager was first, and tells it.
        if !holdings.wait(replaced)? || step.new.is_empty() {
            return Ok(());
        }
        let told = self.tell(rule, &step.new, found.len(), now);
        if told.is_err() {
            let again = serde_json::to_string(&step.failed(rule, &known, now))?;
            let replaced = catalog.replace_saved(SavedKind::Alert, name, Some(&content), &again);
            holdings.wait(replaced)?;
        }
        told
    }

    fn tell(&self, rule: &AlertRule, new: &[&Alert], all: usize, now: i64) -> anyhow::Result<()> {
        let name = &rule.name;
        tracing::warn!(alert = name, new = new.len(), "{}", new[0].text);
        let mut failed = Vec::new();
        if !rule.email.is_empty() {
            let subject = subject(name, new);
            let message = Mail {
                to: rule.email.clone(),
                subject,
                body: body(name, new, all),
            };
            let sent = self.send(message);
            failed.extend(sent.context("no e-mail can be sent").err());
        }
        if let Some(url) = &rule.webhook {
            let shown: Vec<_> = new.iter().take(MOST_SHOWN).collect();
            let facts = json!({
                "alert": name, "new": new.len(), "firing": all, "at": now, "alerts": shown,
            });
            let id = format!("garner-alert-{name}-{now}");
            let mut options = self.options.client.clone();
            // Where a rule of the configuration leads, those who use the console have no say in.
            if !rule.is_saved {
                options.allow = AddressPolicy::Anything;
            }
            let secret = rule.secret.as_deref();
            let told = tell_server(url, secret, &id, &facts, TIMEOUT, &options, &self.stop);
            failed.extend(told.err());
        }
        match failed.into_iter().next() {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }
}

impl Alerting {
    /// Sends a message. A server that hangs does not keep garner from stopping.
    fn send(&self, message: Mail) -> anyhow::Result<()> {
        let (sender, sent) = mpsc::channel();
        let mailer = self.options.mail.clone();
        std::thread::Builder::new()
            .name("mail".to_owned())
            .spawn(move || {
                // Nobody listens any more once garner is stopped.
                let _ = sender.send(mailer.send(&message));
            })?;
        loop {
            match sent.recv_timeout(A_MOMENT) {
                Ok(sent) => return sent,
                Err(RecvTimeoutError::Timeout) if !self.stop.is_set() => {}
                Err(_) => bail!("garner was stopped while the mail server did not answer"),
            }
        }
    }
}

/// The outcome of evaluating a rule.
struct Step<'a> {
    next: RuleState,
    /// The subject of a message; nothing if none is due.
    new: Vec<&'a Alert>,
}

impl<'a> Step<'a> {
    fn new(rule: &AlertRule, known: &RuleState, found: &[&'a Alert], now: i64) -> Self {
        let was_told = |alert: &Alert| {
            let firing = known.firing.get(&alert.subject);
            firing.is_some_and(|firing| firing.is_told)
        };
        let pause = i64::from(rule.pause_minutes) * 60;
        // A clock that was set back must not silence a rule.
        let is_due = now >= known.told + pause || now < known.told;
        let new = found.iter().filter(|alert| is_due && !was_told(alert));
        let new: Vec<_> = new.copied().collect();
        let firing = found.iter().map(|alert| {
            let before = known.firing.get(&alert.subject);
            let firing = Firing {
                text: alert.text.clone(),
                repository: alert.repository,
                since: before.map_or(now, |before| before.since),
                is_told: is_due || was_told(alert),
            };
            (alert.subject.clone(), firing)
        });
        let next = RuleState {
            firing: firing.collect(),
            told: if new.is_empty() { known.told } else { now },
        };
        Self { next, new }
    }

    /// The state after a message that could not be sent: it is tried again soon, with whatever is new by then.
    fn failed(&self, rule: &AlertRule, known: &RuleState, now: i64) -> RuleState {
        let mut state = self.next.clone();
        for (subject, firing) in &mut state.firing {
            let before = known.firing.get(subject);
            firing.is_told = before.is_some_and(|before| before.is_told);
        }
        let pause = i64::from(rule.pause_minutes) * 60;
        state.told = now - pause + AGAIN.min(pause);
        state
    }
}

/// One line: control characters would end the header.
fn subject(name: &str, new: &[&Alert]) -> String {
    let first = new.first().map_or("", |alert| alert.text.as_str());
    let text = match new.len() {
        1 => format!("garner: {name}: {first}"),
        count => format!("garner: {name}: {count} alerts"),
    };
    let one_line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    one_line.take(LONGEST_SUBJECT).collect()
}

fn body(name: &str, new: &[&Alert], all: usize) -> String {
    let mut body = format!("The alert `{name}` of garner found:\n\n");
    for alert in new.iter().take(MOST_SHOWN) {
        let text = alert
            .text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c });
        body.push_str(&format!("- {}\n", text.collect::<String>()));
    }
    if new.len() > MOST_SHOWN {
        body.push_str(&format!("- and {} more\n", new.len() - MOST_SHOWN));
    }
    if all > new.len() {
        body.push_str(&format!(
            "\n{} that you were told of before still hold.\n",
            all - new.len()
        ));
    }
    body
}

/// The most that one message names.
const MOST_SHOWN: usize = 50;
const LONGEST_SUBJECT: usize = 150;
/// After a failure it is tried again in so many seconds.
const AGAIN: i64 = 300;
/// How often it is looked whether garner is stopped.
const A_MOMENT: Duration = Duration::from_millis(100);
const TIMEOUT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(number: usize) -> Alert {
        Alert {
            rule: "r".to_owned(),
            subject: format!("http://{number}.example/"),
            text: format!("n\u{1b}\r\nBcc: x{number}"),
            repository: Some(1),
        }
    }

    #[test]
    fn the_same_is_told_once_and_more_of_it_after_the_pause() {
        let rule: AlertRule =
            serde_json::from_value(json!({"name": "r", "when": "failing", "times": 1})).unwrap();
        let all: Vec<_> = (0..1000).map(alert).collect();
        let all: Vec<_> = all.iter().collect();
        let look = |known: &RuleState, found: &[&Alert], now| {
            let step = Step::new(&rule, known, found, now);
            (step.new.len(), step.next)
        };

        let (first, state) = look(&RuleState::default(), &all[..500], 1_000_000);
        let (soon, state) = look(&state, &all, 1_000_060);
        let (later, state) = look(&state, &all, 1_003_600);
        let (last, state) = look(&state, &all, 1_100_000);
        let (over, calm) = look(&state, &[], 1_100_060);
        let (anew, _) = look(&calm, &all[..1], 1_200_000);

        assert_eq!(
            [first, soon, later, last, over, anew],
            [500, 0, 500, 0, 0, 1]
        );
        assert!(calm.firing.is_empty());
        assert_eq!(state.firing["http://0.example/"].since, 1_000_000);
    }

    #[test]
    fn a_message_that_could_not_be_sent_is_tried_again() {
        let rule: AlertRule =
            serde_json::from_value(json!({"name": "r", "when": "failing", "times": 1})).unwrap();
        let one = alert(1);
        let known = RuleState::default();
        let step = Step::new(&rule, &known, &[&one], 1_000_000);
        let failed = step.failed(&rule, &known, 1_000_000);

        assert!(Step::new(&rule, &failed, &[&one], 1_000_060).new.is_empty());
        assert_eq!(
            Step::new(&rule, &failed, &[&one], 1_000_000 + AGAIN)
                .new
                .len(),
            1
        );
    }

    #[test]
    fn a_thousand_alerts_are_one_short_message() {
        let all: Vec<_> = (0..1000).map(alert).collect();
        let all: Vec<_> = all.iter().collect();

        assert_eq!(subject("r", &all), "garner: r: 1000 alerts");
        assert_eq!(body("r", &all, 1005).lines().count(), 2 + 50 + 1 + 2);
        assert!(body("r", &all, 1005).contains("- and 950 more\n"));
        assert!(!subject("r", &all[..1]).contains(['\r', '\n']));
        assert!(!body("r", &all[..1], 1).contains("\nBcc"));
    }
}
