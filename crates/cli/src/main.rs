//! The program: parse, match, run. Each command has a file of its own.
#![forbid(unsafe_code)]

mod colour;
mod commands;
mod config;
mod help;
mod human;
mod json_lines;
mod log_lines;
mod output;
mod table;
mod text;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Exposes, harvests and imports web resources: publishes a web site over OAI-PMH 2.0, harvests OAI-PMH repositories, and
/// imports web crawls into a document collection.
#[derive(Debug, Parser)]
#[command(
    name = "garner",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
struct Garner {
    /// When states are coloured: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = colour::When::Auto)]
    #[arg(
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = "Global options"
    )]
    color: colour::When,
    #[command(subcommand)]
    command: Command,
}

/// The options of a command are only put together for the command that is called, or else they are half of a short run.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Serve(commands::serve::Serve),
    Explain(commands::explain::Explain),
    Robots(commands::robots::Robots),
    Check(Box<commands::check::Check>),
    Harvest(Box<commands::harvest::Harvest>),
    #[command(alias = "repositories")]
    Repository(commands::repository::Repository),
    #[command(alias = "record")]
    Records(Box<commands::records::Records>),
    #[command(alias = "harvests")]
    History(commands::history::History),
    Import(Box<commands::import::Import>),
    #[command(alias = "document")]
    Documents(commands::documents::Documents),
    Search(commands::search::Search),
    Status(commands::status::Status),
    Feed(commands::feed::Feed),
    Retrieve(Box<commands::retrieve::Retrieve>),
    Warc(commands::warc::Warc),
    Extract(Box<commands::extract::Extract>),
    Load(commands::load::Load),
    #[command(alias = "parent")]
    Parents(commands::parents::Parents),
    #[command(alias = "whitelists")]
    Whitelist(commands::whitelist::Whitelist),
    #[command(alias = "list")]
    Lists(commands::lists::Lists),
    #[command(alias = "statistic")]
    Statistics(commands::statistics::Statistics),
    Verify(commands::verify::Verify),
    #[command(alias = "schedules")]
    Schedule(commands::schedule::Schedule),
    #[command(alias = "runs")]
    Run(commands::run::Run),
    #[command(alias = "jobs")]
    Job(commands::job::Job),
    Up(commands::up::Up),
    #[command(alias = "workers")]
    Worker(commands::worker::Worker),
    WithQuiet(commands::with_quiet::WithQuiet),
    #[command(alias = "accounts")]
    Account(commands::account::Account),
    #[command(alias = "alerts")]
    Alert(commands::alert::Alert),
    #[command(alias = "webhooks")]
    Webhook(commands::alert::WebhookCommand),
    Audit(commands::audit::Audit),
    Config(commands::config::ConfigCommand),
    Backup(commands::backup::Backup),
    Restore(commands::restore::Restore),
    Catalog(commands::catalog::CatalogCommand),
    Doctor(commands::doctor::Doctor),
    #[command(alias = "filters")]
    Filter(commands::filter::Filter),
    Text(commands::text::Text),
    Classify(commands::classify::Classify),
    #[command(alias = "classifiers")]
    Classifier(commands::classifier::Classifier),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
}

fn main() -> ExitCode {
    if let Some(code) = commands::confine::run_if_asked() {
        return code;
    }
    let matches = match Garner::command().try_get_matches() {
        Err(error) if help::is_help(&error) => help::grouped(Garner::command()).try_get_matches(),
        matches => matches,
    };
    let parsed = matches.and_then(|matches| Garner::from_arg_matches(&matches));
    let garner = parsed.unwrap_or_else(|error| {
        if error.use_stderr() {
            let said = error.render().to_string();
            output::failed("usage", said.lines().next().unwrap_or_default());
        }
        error.exit()
    });
    colour::choose(garner.color);
    let result = match garner.command {
        Command::Serve(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Robots(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Harvest(command) => command.run(),
        Command::Repository(command) => command.run(),
        Command::Records(command) => command.run(),
        Command::History(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Documents(command) => command.run(),
        Command::Search(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::Feed(command) => command.run(),
        Command::Retrieve(command) => command.run(),
        Command::Warc(command) => command.run(),
        Command::Extract(command) => command.run(),
        Command::Load(command) => command.run(),
        Command::Parents(command) => command.run(),
        Command::Whitelist(command) => command.run(),
        Command::Lists(command) => command.run(),
        Command::Statistics(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Schedule(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Job(command) => command.run(),
        Command::Up(command) => command.run(),
        Command::Worker(command) => command.run(),
        Command::WithQuiet(command) => command.run(),
        Command::Account(command) => command.run(),
        Command::Alert(command) => command.run(),
        Command::Webhook(command) => command.run(),
        Command::Audit(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Backup(command) => command.run(),
        Command::Restore(command) => command.run(),
        Command::Catalog(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Filter(command) => command.run(),
        Command::Text(command) => command.run(),
        Command::Classify(command) => command.run(),
        Command::Classifier(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            output::failed(operations::error_code(&error), &flows::message(&error));
            eprintln!("garner: {}", text::plain(&flows::message(&error)));
            ExitCode::FAILURE
        }
    }
}
