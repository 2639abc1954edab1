//! `garner run list`: runs, a line each.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::runs::{self, Run, RunFilter, RunState};
use operations::{Listed, Refusal, Time};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::operating::Operating;
use crate::commands::paging::{each_row, limit};
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};

/// List runs, the newest first; queued ones, if no others are wanted, in the order of their times
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only those in this state: queued, running, ok, incomplete, failed or cancelled; several with commas between them
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only those of this kind: harvest, import, hook, classify or quiet; several with commas between them
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only those of this repository: its base URL or its number
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Only those of the schedule with this number
    #[arg(long, value_name = "NUMBER")]
    schedule: Option<i64>,
    /// Only those with this text in their repository, their sources or the reason of their failure
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// At most N [default: 30 on a terminal, all with --json or in a pipe]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.holdings)?;
        let repository = self.repository.as_deref();
        let repository = repository.map(|name| operating.holdings.repository(name));
        let filter = RunFilter {
            state: self.state.clone(),
            kind: self.kind.clone(),
            repository: repository.transpose()?.map(|repository| repository.id),
            schedule: self.schedule,
            text: self.text.clone(),
            ..RunFilter::default()
        };
        let is_queue = self.state.as_deref() == Some(RunState::Queued.name());
        let mut offset = 0;
        let mut page = |before: Option<i64>, limit: Option<u64>| -> Result<Listed<Run>, Refusal> {
            let filter = RunFilter {
                before: before.filter(|_| !is_queue),
                offset: is_queue.then_some(offset),
                limit,
                ..filter.clone()
            };
            let context = &operating.context;
            let listed = context.wait(runs::list(context, &filter))?;
            offset += listed.items.len() as u64;
            Ok(listed)
        };
        to_stdout(|out| {
            let most = limit(self.limit, DEFAULT_ROWS, self.json);
            let mut table = Table::to_stdout(&COLUMNS);
            let rows = each_row(most, &mut page, |run: Run| {
                match self.json {
                    true => write_json(out, &run)?,
                    false => table.row(out, cells(&run))?,
                }
                Ok(())
            })?;
            table.finish(out)?;
            out.flush()?;
            if rows.shown == 0 && most > 0 {
                eprintln!("there is no such run");
            }
            if !self.json {
                rows.say_rest("--limit N");
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

const COLUMNS: [Column; 6] = [
    Column::number("no."),
    Column::word("state"),
    Column::word("when").dispensable(1),
    Column::text("title", 12),
    Column::text("what", 10).dispensable(2),
    Column::text("result", 16),
];

fn cells(run: &Run) -> Vec<Cell> {
    let result = [result(run), run.reason.clone()];
    let result: Vec<_> = result.into_iter().flatten().collect();
    vec![
        run.id.into(),
        Cell::state(run.state.name()),
        Cell::time(at(run)),
        run.title.as_str().into(),
        run.what.as_str().into(),
        result.join(": ").into(),
    ]
}

fn at(run: &Run) -> Option<Time> {
    match run.state {
        RunState::Queued => run.due,
        RunState::Running => run.started,
        _ => run.ended.or(run.started).or(run.due),
    }
}

/// The outcome of a finished run.
fn result(run: &Run) -> Option<String> {
    let counts = run.counts.iter().filter(|count| count.count > 0);
    let counts: Vec<_> = counts
        .map(|count| format!("{} {}", count.count, count.text))
        .collect();
    (run.state.is_over() && !counts.is_empty()).then(|| counts.join(", "))
}

/// Rows on a terminal without --limit.
const DEFAULT_ROWS: u64 = 30;
