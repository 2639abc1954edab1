//! `garner documents state`: what became of documents in the search engine that ingests them.

use std::io::{BufRead, stdin};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use operations::Actor;
use operations::documents::{self, DocumentState, NewStates};

use crate::commands::LEFT_OUT;
use crate::commands::holdings_options::HoldingsOptions;

/// Say what became of documents in a search engine
///
/// The state stays until the content of a document changes; then it is not-ingested again.
///
/// Exits with 3 if some of the numbers are not those of documents.
#[derive(Debug, Args)]
pub(super) struct State {
    /// not-ingested, ingested or failed
    #[arg(value_name = "STATE", value_parser = state)]
    state: DocumentState,
    /// The numbers of the documents; - reads them from stdin, one a line
    #[arg(value_name = "NUMBER", required = true)]
    numbers: Vec<String>,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl State {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.holdings.context()?, Actor::command_line());
        let (mut named, mut known, mut aside) = (0, 0, 0);
        let mut batch = Vec::new();
        let mut mark = |batch: &mut Vec<i64>| {
            let new = NewStates {
                documents: std::mem::take(batch),
                state: self.state,
            };
            let changed = context.wait(documents::set_state(&context, &actor, &new))?;
            named += new.documents.len() as u64;
            known += changed.changed;
            aside += changed.set_aside;
            anyhow::Ok(())
        };
        for name in &self.numbers {
            if name != "-" {
                batch.push(number(name)?);
                continue;
            }
            for line in stdin().lock().lines() {
                let line = line.context("stdin cannot be read")?;
                if !line.trim().is_empty() {
                    batch.push(number(line.trim())?);
                }
                if batch.len() >= BATCH {
                    mark(&mut batch)?;
                }
            }
        }
        mark(&mut batch)?;
        super::update_metadata(&context);
        let state = self.state.words();
        eprintln!("{} documents are {state} now", known - aside);
        if aside > 0 {
            eprintln!(
                "{aside} documents stay set aside; garner documents correct NUMBER --accept takes them back"
            );
        }
        if known < named {
            eprintln!("{} numbers are not those of documents", named - known);
            return Ok(ExitCode::from(LEFT_OUT));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The states that a search engine may set.
fn state(name: &str) -> Result<DocumentState, String> {
    let state = DocumentState::parse(&name.replace('-', "_"));
    let state = state.filter(|state| *state != DocumentState::SetAside);
    state.ok_or_else(|| "write not-ingested, ingested or failed".to_owned())
}

fn number(text: &str) -> anyhow::Result<i64> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => bail!("`{text}` is not the number of a document"),
    }
}

const BATCH: usize = 10_000;
