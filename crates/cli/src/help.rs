//! The help of the program itself: its commands by the jobs that they are for.

use clap::Command;
use clap::error::{Error, ErrorKind};

/// Headings, and the commands below them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Expose a site", &["serve", "check", "explain", "robots"]),
    (
        "Harvest repositories",
        &[
            "harvest",
            "repository",
            "records",
            "history",
            "schedule",
            "filter",
        ],
    ),
    (
        "Collect documents",
        &[
            "import",
            "extract",
            "load",
            "warc",
            "documents",
            "search",
            "retrieve",
            "feed",
            "parents",
            "whitelist",
            "lists",
            "statistics",
            "verify",
            "text",
            "classify",
            "classifier",
        ],
    ),
    (
        "Run",
        &["up", "worker", "status", "run", "job", "with-quiet"],
    ),
    (
        "Administer",
        &[
            "account",
            "alert",
            "webhook",
            "audit",
            "config",
            "doctor",
            "backup",
            "restore",
            "catalog",
            "completions",
            "man",
        ],
    ),
];

const EXAMPLES: &str = "\
Examples:
  garner serve /var/www/html --admin-email you@example.org
  garner harvest https://repository.example/oai
  garner import crawl.warc.gz
  garner up --data DIR

Documentation: docs/README.md of the source, and /help in the console of garner up.
garner COMMAND --help says more about a command.";

/// Whether somebody is to read the help, of garner or of a command.
pub(crate) fn is_help(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// The command with help that lists its subcommands in groups. It takes a while, for all of them are looked at.
pub(crate) fn grouped(command: Command) -> Command {
    let mut built = command.clone();
    built.build();
    let mut lists = String::new();
    for (heading, names) in all_groups(&built) {
        lists.push_str(&format!("{heading}:\n"));
        for name in names {
            let about = built
                .find_subcommand(&name)
                .and_then(Command::get_about)
                .map(ToString::to_string);
            lists.push_str(&format!("  {name:<11}  {}\n", about.unwrap_or_default()));
        }
        lists.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{lists}Options:\n  -h, --help         Print help\n  \
         -V, --version      Print version\n      --color WHEN   When states are coloured: auto, always or never\n\n\
         {EXAMPLES}\n"
    );
    command.help_template(template)
}

/// The groups; a command that is in none of them is under a heading of its own, so that none is missing.
fn all_groups(command: &Command) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = GROUPS
        .iter()
        .map(|(heading, names)| {
            let names = names.iter().map(|name| (*name).to_owned());
            ((*heading).to_owned(), names.collect())
        })
        .collect();
    let listed: Vec<_> = groups.iter().flat_map(|(_, names)| names.clone()).collect();
    let others = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned());
    let others: Vec<_> = others
        .filter(|name| !listed.contains(name) && name != "help")
        .collect();
    if !others.is_empty() {
        groups.push(("More".to_owned(), others));
    }
    groups
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Garner;

    #[test]
    fn every_command_is_in_one_group_and_exists() {
        let command = Garner::command();
        let groups = all_groups(&command);
        assert!(
            groups.iter().all(|(heading, _)| heading != "More"),
            "{groups:?}"
        );
        let mut names: Vec<_> = groups.into_iter().flat_map(|(_, names)| names).collect();
        for name in &names {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
