//! `garner alert` and `garner webhook`: rules of alerts and web servers that are told of harvests, as the catalog has them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use operations::Actor;
use operations::alerts::{self, AlertRule, ManagedRule, When};
use operations::hooks::{self, EVENTS, Webhook};

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};

/// List, keep or remove rules of alerts
///
/// Rules of the configuration file (`[[alert]]`) are listed too, but changed there.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  garner alert set failing-twice --when failing --limit 2 --email ann@example.org
  garner alert remove failing-twice")]
pub(crate) struct Alert {
    #[command(subcommand)]
    command: AlertCommand,
}

#[derive(Debug, Subcommand)]
enum AlertCommand {
    List(List),
    Set(SetRule),
    Remove(Remove),
}

/// List, keep or remove web servers that are told of harvests
///
/// Hooks of the configuration file (`[[hook]]`) run beside these.
#[derive(Debug, Args)]
pub(crate) struct WebhookCommand {
    #[command(subcommand)]
    command: HookCommand,
}

#[derive(Debug, Subcommand)]
enum HookCommand {
    List(List),
    Set(SetHook),
    Remove(Remove),
}

/// List them
#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// Keep a rule, instead of the one with its name
#[derive(Debug, Args)]
struct SetRule {
    /// Its name
    name: String,
    /// The kind of trouble: the last N harvests failed, nothing for N days, more than N % deleted, less than N GB free,
    /// a job due for N minutes
    #[arg(long, value_parser = PossibleValuesParser::new(When::ALL.map(When::name)))]
    when: String,
    /// N
    #[arg(long, value_name = "N")]
    limit: u32,
    /// The base URL or the number of the one repository that it is for
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// An address that gets an e-mail; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    email: Vec<String>,
    #[command(flatten)]
    target: Target,
    /// The least time between two messages, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pause_minutes: u32,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Keep a webhook, instead of the one with its name
#[derive(Debug, Args)]
struct SetHook {
    /// Its name
    name: String,
    /// An end of a harvest after which it is told; may be given several times [default: finished, incomplete]
    #[arg(long, value_parser = PossibleValuesParser::new(EVENTS))]
    on: Vec<String>,
    /// The base URL or the number of the one repository that it is for
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The web server that is told.
#[derive(Debug, Args)]
struct Target {
    /// A URL that is told by POST
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// A file with the key that messages are signed with
    #[arg(long, value_name = "FILE", requires = "webhook")]
    secret_file: Option<PathBuf>,
}

/// Remove one
#[derive(Debug, Args)]
struct Remove {
    /// Its name
    name: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Alert {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            AlertCommand::List(list) => list.rules(),
            AlertCommand::Set(set) => set.run(),
            AlertCommand::Remove(remove) => remove.rule(),
        }
    }
}

impl WebhookCommand {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            HookCommand::List(list) => list.hooks(),
            HookCommand::Set(set) => set.run(),
            HookCommand::Remove(remove) => remove.hook(),
        }
    }
}

impl List {
    fn rules(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.configured_context()?;
        let rules = context.wait(alerts::rules(&context))?;
        to_stdout(|out| {
            let mut table = Table::to_stdout(&RULES);
            for managed in &rules {
                match self.json {
                    true => write_json(out, managed)?,
                    false => table.row(out, rule_cells(managed))?,
                }
            }
            table.finish(out)?;
            Ok(ExitCode::SUCCESS)
        })
    }

    fn hooks(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.configured_context()?;
        let hooks = context.wait(hooks::list(&context))?;
        to_stdout(|out| {
            let mut table = Table::to_stdout(&HOOKS);
            for managed in &hooks {
                let hook = &managed.hook;
                let (name, url) = (hook.name.as_str(), hook.webhook.as_str());
                match self.json {
                    true => write_json(out, managed)?,
                    false => {
                        table.row(out, vec![name.into(), hook.on.join(",").into(), url.into()])?;
                    }
                }
            }
            table.finish(out)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

const RULES: [Column; 5] = [
    Column::text("name", 10),
    Column::word("when"),
    Column::number("limit"),
    Column::text("tells", 16),
    Column::word("from").dispensable(1),
];

const HOOKS: [Column; 3] = [
    Column::text("name", 10),
    Column::text("after", 10),
    Column::text("url", 16),
];

fn rule_cells(managed: &ManagedRule) -> Vec<Cell> {
    let rule = &managed.rule;
    let told: Vec<_> = rule.email.iter().chain(&rule.webhook).cloned().collect();
    vec![
        rule.name.as_str().into(),
        rule.when.name().into(),
        rule.limit().into(),
        match told.is_empty() {
            true => "the console".into(),
            false => told.join(" ").into(),
        },
        match managed.configured {
            true => "configuration file".into(),
            false => "".into(),
        },
    ]
}

impl SetRule {
    fn run(self) -> anyhow::Result<ExitCode> {
        let context = self
            .holdings
            .create_context()?
            .configured(self.holdings.configuration()?.settings()?);
        let when = When::parse(&self.when).context("there is no such kind of rule")?;
        let rule = AlertRule {
            repository: self.repository,
            email: self.email,
            secret: secret(self.target.secret_file.as_deref())?,
            webhook: self.target.webhook,
            pause_minutes: self.pause_minutes,
            ..AlertRule::new(self.name, when, self.limit)
        };
        let saved = context.wait(alerts::save_rule(&context, &Actor::command_line(), rule))?;
        to_stdout(|out| {
            if self.json {
                write_json(out, &saved)?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl SetHook {
    fn run(self) -> anyhow::Result<ExitCode> {
        let context = self
            .holdings
            .create_context()?
            .configured(self.holdings.configuration()?.settings()?);
        let hook = Webhook {
            name: self.name,
            on: match self.on.is_empty() {
                true => vec!["finished".to_owned(), "incomplete".to_owned()],
                false => self.on,
            },
            repository: self.repository,
            secret: secret(self.target.secret_file.as_deref())?,
            webhook: self.target.webhook.context("name the URL with --webhook")?,
            timeout_seconds: None,
        };
        let saved = context.wait(hooks::save(&context, &Actor::command_line(), hook))?;
        to_stdout(|out| {
            if self.json {
                write_json(out, &saved)?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl Remove {
    fn rule(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.configured_context()?;
        context.wait(alerts::remove_rule(
            &context,
            &Actor::command_line(),
            &self.name,
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    fn hook(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.configured_context()?;
        context.wait(hooks::remove(&context, &Actor::command_line(), &self.name))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A secret stands in a file, for others see the options of a command.
fn secret(file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(file) = file else { return Ok(None) };
    let read = std::fs::read_to_string(file);
    let text = read.with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok(Some(text.trim_end().to_owned()))
}
