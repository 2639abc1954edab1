//! `garner lists`: blacklists and whitelists in the catalog.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use catalog::ListKind;
use clap::{Args, Subcommand};
use operations::Actor;
use operations::lists::{self, ListPatch, ListsQuery, NewList, UrlList, UrlListComparison};

use crate::commands::blacklist_options::read_list;
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{Out, to_stdout, write_json};
use crate::table::{Cell, Column, Table};
use crate::text::plain;

/// Keep named blacklists and whitelists in the catalog
///
/// A blacklist has a host or a URL prefix on each line, a whitelist a URL. What follows # at the beginning of a line or
/// after a blank is a comment. `*.example.org` means the same as `example.org`: the host and those below it. Lines may end
/// with CRLF, hosts may be international names.
#[derive(Debug, Args)]
pub(crate) struct Lists {
    #[command(subcommand)]
    command: ListsCommand,
}

#[derive(Debug, Subcommand)]
enum ListsCommand {
    List(List),
    Show(Show),
    Add(Add),
    Edit(Edit),
    Compare(Compare),
    Remove(Remove),
}

/// List blacklists and whitelists
#[derive(Debug, Args)]
struct List {
    /// Only blacklist or whitelist
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<ListKind>,
    #[command(flatten)]
    output: OutputOptions,
}

/// Print the text of a list
#[derive(Debug, Args)]
struct Show {
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    output: OutputOptions,
}

/// Add a list
#[derive(Debug, Args)]
struct Add {
    /// blacklist or whitelist
    #[arg(value_name = "KIND", value_parser = kind)]
    kind: ListKind,
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// File with its text; - is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    output: OutputOptions,
}

/// Change a list
#[derive(Debug, Args)]
struct Edit {
    #[command(flatten)]
    named: Named,
    /// Give it another name
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    /// Replace its text by that of a file; - is stdin
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Add an entry
    #[arg(long, value_name = "ENTRY")]
    add: Vec<String>,
    /// Remove an entry, in any spelling
    #[arg(long, value_name = "ENTRY")]
    remove: Vec<String>,
    #[command(flatten)]
    output: OutputOptions,
}

/// Compare two lists
///
/// Of two lists of one kind, `<` marks entries that only the first has, and `>` those that only the second has. Of a
/// blacklist and a whitelist, `!` marks the URLs of the whitelist that the blacklist refuses.
#[derive(Debug, Args)]
struct Compare {
    /// The name of the first list
    #[arg(value_name = "FIRST")]
    first: String,
    /// The name of the second list
    #[arg(value_name = "SECOND")]
    second: String,
    #[command(flatten)]
    output: OutputOptions,
}

/// Remove a list
#[derive(Debug, Args)]
struct Remove {
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    output: OutputOptions,
}

/// A list that is meant.
#[derive(Debug, Args)]
struct Named {
    /// Its name or its number
    #[arg(value_name = "NAME")]
    list: String,
}

#[derive(Debug, Args)]
struct OutputOptions {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl Lists {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            ListsCommand::List(command) => command.run(),
            ListsCommand::Show(command) => command.run(),
            ListsCommand::Add(command) => command.run(),
            ListsCommand::Edit(command) => command.run(),
            ListsCommand::Compare(command) => command.run(),
            ListsCommand::Remove(command) => command.run(),
        }
    }
}

impl List {
    fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.output.holdings.context()?;
        let all = context.wait(lists::list(&context, ListsQuery { kind: self.kind }))?;
        self.output.print(&all)
    }
}

impl Show {
    fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.output.holdings.context()?;
        let list = context.wait(lists::find(&context, &self.named.list))?;
        if self.output.json {
            return self.output.print(&[list]);
        }
        let text = context.wait(lists::text(&context, list.id))?;
        to_stdout(|out| {
            for line in text.lines() {
                writeln!(out, "{}", plain(line))?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl Add {
    fn run(self) -> anyhow::Result<ExitCode> {
        let new = NewList {
            kind: self.kind,
            name: self.name,
            content: read_list(&self.file)?,
        };
        let context = self.output.holdings.create_context()?;
        let list = context.wait(lists::add(&context, &Actor::command_line(), &new))?;
        self.output.print(&[list])
    }
}

impl Edit {
    fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.output.holdings.context()?;
        let list = context.wait(lists::find(&context, &self.named.list))?;
        let patch = ListPatch {
            version: Some(list.version),
            name: self.rename,
            content: self.file.as_deref().map(read_list).transpose()?,
            add: self.add,
            remove: self.remove,
        };
        let actor = Actor::command_line();
        let list = context.wait(lists::change(&context, &actor, list.id, &patch))?;
        self.output.print(&[list])
    }
}

impl Compare {
    fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.output.holdings.context()?;
        let first = context.wait(lists::find(&context, &self.first))?.id;
        let second = context.wait(lists::find(&context, &self.second))?.id;
        let compared = lists::compare(&context, first, second, usize::MAX);
        let compared = context.wait(compared)?;
        to_stdout(|out| {
            match self.output.json {
                true => write_json(out, &compared)?,
                false => lines(&compared, out)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn lines(compared: &UrlListComparison, out: &mut Out) -> std::io::Result<()> {
    for (mark, entries) in [
        ('<', &compared.only_first),
        ('>', &compared.only_second),
        ('!', &compared.refused),
    ] {
        for entry in entries {
            writeln!(out, "{mark} {}", plain(entry))?;
        }
    }
    out.flush()?;
    match compared.first.kind == compared.second.kind {
        true => eprintln!(
            "{} entries in both, {} only in {}, {} only in {}",
            compared.common,
            compared.only_first_count,
            plain(&compared.first.name),
            compared.only_second_count,
            plain(&compared.second.name)
        ),
        false => eprintln!("{} URLs are refused", compared.refused_count),
    }
    Ok(())
}

impl Remove {
    fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.output.holdings.context()?;
        let list = context.wait(lists::find(&context, &self.named.list))?;
        let list = context.wait(lists::remove(&context, &Actor::command_line(), list.id))?;
        self.output.print(&[list])
    }
}

impl OutputOptions {
    fn print(&self, lists: &[UrlList]) -> anyhow::Result<ExitCode> {
        to_stdout(|out| {
            let mut table = Table::to_stdout(&COLUMNS);
            for list in lists {
                if self.json {
                    write_json(out, list)?;
                    continue;
                }
                let cells = vec![
                    list.kind.name().into(),
                    list.name.as_str().into(),
                    Cell::count(list.entries),
                    Cell::time(Some(list.changed)),
                ];
                table.row(out, cells)?;
            }
            table.finish(out)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

const COLUMNS: [Column; 4] = [
    Column::word("kind"),
    Column::text("name", 12),
    Column::number("entries"),
    Column::word("changed"),
];

fn kind(name: &str) -> Result<ListKind, String> {
    ListKind::parse(name).ok_or_else(|| "write blacklist or whitelist".to_owned())
}
