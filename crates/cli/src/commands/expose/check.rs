//! `garner check`: whether a repository keeps the rules of OAI-PMH.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use harvester::Client;
use harvester::check::CheckLimits;
use operations::repositories::{self, CheckedRule, RepositoryCheck};

use crate::commands::LEFT_OUT;
use crate::commands::network_options::NetworkOptions;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// Check whether a repository keeps the rules of OAI-PMH 2.0
///
/// About 50 requests are made, a quarter of a second apart, and nothing is kept. Each broken rule is named with what was
/// seen, the request that shows it, and the remedy.
///
/// Exits with 0 if the repository is compliant and with 3 if it is not. Warnings do not count.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  garner check https://repository.example/oai
  garner check http://localhost:8080/modoai --pages 100 --json")]
pub(crate) struct Check {
    /// The base URL of the repository
    base_url: String,
    /// The number of pages of a list that are read
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pages: u16,
    /// Show the rules that are kept as well
    #[arg(long, short)]
    verbose: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let client = Client::new(self.network.client_options()?)?;
        let usual = CheckLimits::default();
        let limits = CheckLimits {
            interval: self.network.interval().unwrap_or(usual.interval),
            requests: usual.requests + 2 * u64::from(self.pages),
            pages: usize::from(self.pages),
            ..usual
        };
        let check = repositories::check(&client, &self.base_url, &limits)?;
        let code = match check.compliant {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(LEFT_OUT),
        };
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &check)?,
                false => print(out, &check, self.verbose)?,
            }
            Ok(code)
        })
    }
}

fn print(out: &mut Out, check: &RepositoryCheck, verbose: bool) -> io::Result<()> {
    let name = check.repository_name.as_deref().unwrap_or(&check.base_url);
    for rule in &check.rules {
        if verbose || matches!(rule.verdict, "failed" | "warning") {
            print_rule(out, rule)?;
        }
    }
    let verdict = match check.compliant {
        true => "COMPLIANT",
        false => "NOT COMPLIANT",
    };
    writeln!(
        out,
        "{verdict}: {}: {} rules kept, {} broken, {} warnings, {} not checked, in {} requests",
        plain(name),
        check.count("passed"),
        check.count("failed"),
        check.count("warning"),
        check.count("not_checked"),
        check.requests
    )
}

fn print_rule(out: &mut Out, rule: &CheckedRule) -> io::Result<()> {
    let verdict = rule.verdict.replace('_', " ");
    writeln!(out, "{verdict:<12} {}: {}", rule.rule, rule.claim)?;
    for (label, text) in [
        ("seen", rule.finding.as_deref()),
        ("request", rule.evidence.as_deref()),
        ("remedy", rule.remedy),
    ] {
        if let Some(text) = text {
            writeln!(out, "{:12} {label}: {}", "", plain(text))?;
        }
    }
    Ok(())
}
