//! `garner documents review`: the review queue, as a list, by number, in bulk, and key by key on a terminal.

use std::io::{self, BufRead, IsTerminal, Write, stdin, stdout};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use operations::documents::Decision;
use operations::reviews::{self, Review as Waiting, ReviewDecision, ReviewFilter, Reviewed};
use operations::{Actor, Context};

use super::kind;
use crate::commands::LEFT_OUT;
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::paging::each_row;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Review documents that the content filter rejected or was not sure of
///
/// Rejected documents are kept for 30 days, up to 10 GiB of them. On a terminal each document is shown with its text and
/// the reasons, and a key decides: a accepts it, r rejects it, t sets its kind and accepts it, n goes to the next, b goes
/// back, q ends. Elsewhere, or with --list, the queue is printed: number, decision, probability, kind, host, title and URL,
/// separated by tabs.
///
/// Accepted documents come into the collection as an import would bring them. A decision holds for all documents with the
/// same bytes, in later imports too.
///
/// With --uncertain the documents come first of which a decision would teach a model most: those that the content filter
/// is least sure of, of different hosts before more of one. garner classifier corrections and garner classifier train
/// make a model of the decisions.
///
/// Exits with 3 if some of the documents could not be decided on.
///
/// Examples: garner documents review --accept 17 18; garner documents review --reject --host forms.example.org
#[derive(Debug, Args)]
pub(super) struct Review {
    /// Documents of the queue, by their numbers, to accept or reject
    #[arg(value_name = "NUMBER")]
    documents: Vec<i64>,
    /// Accept the documents that are named, or all of --host or --query
    #[arg(long, conflicts_with = "reject")]
    accept: bool,
    /// Reject them
    #[arg(long)]
    reject: bool,
    /// The kind that the accepted or rejected documents are
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<&'static str>,
    /// Only those of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Only those with this text in their URL or title
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// Only those with this decision of the content filter: reject or unsure
    #[arg(long, value_name = "DECISION", value_parser = ["reject", "unsure"], hide_possible_values = true)]
    decision: Option<String>,
    /// Only those at least this likely academic
    #[arg(long, value_name = "P")]
    at_least: Option<f64>,
    /// Begin with the documents whose decision would teach a model most
    #[arg(long, conflicts_with_all = ["accept", "reject"])]
    uncertain: bool,
    /// Print the queue, also on a terminal
    #[arg(long)]
    list: bool,
    /// How many at most are printed [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Review {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let decision = match (self.accept, self.reject) {
            (true, _) => Some(Decision::Accept),
            (_, true) => Some(Decision::Reject),
            (false, false) if !self.documents.is_empty() => bail!("say --accept or --reject"),
            (false, false) => None,
        };
        if let Some(decision) = decision {
            return self.decide(&context, decision);
        }
        let is_interactive = stdin().is_terminal() && stdout().is_terminal();
        match is_interactive && !self.list && !self.json {
            true => self.one_by_one(&context),
            false => self.print(&context),
        }
    }

    fn decide(&self, context: &Context, decision: Decision) -> anyhow::Result<ExitCode> {
        let mut order = ReviewDecision {
            documents: self.documents.clone(),
            host: self.host.clone(),
            text: self.query.clone(),
            decision: Some(decision),
            kind: self.kind.map(str::to_owned),
        };
        let mut failed = Vec::new();
        let mut decided = 0;
        loop {
            let reviewed = decided_on(context, &order)?;
            decided += reviewed.decided;
            let is_stuck = reviewed.decided == 0;
            failed.extend(reviewed.failed);
            if !reviewed.is_more || is_stuck {
                break;
            }
            order.documents.clear();
        }
        for failure in &failed {
            eprintln!("document {}: {}", failure.id, plain(&failure.reason));
        }
        let noun = if decided == 1 {
            "document"
        } else {
            "documents"
        };
        eprintln!("{decided} {noun} {}ed", decision.name());
        Ok(match failed.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(LEFT_OUT),
        })
    }

    fn filter(&self, after: Option<i64>, limit: Option<u64>) -> ReviewFilter {
        ReviewFilter {
            host: self.host.clone(),
            decision: self.decision.clone(),
            text: self.query.clone(),
            at_least: self.at_least,
            uncertain: self.uncertain,
            after,
            limit,
            ..ReviewFilter::default()
        }
    }

    fn print(&self, context: &Context) -> anyhow::Result<ExitCode> {
        let page = |next, limit| context.wait(reviews::list(context, &self.filter(next, limit)));
        let limit = self.limit.unwrap_or(u64::MAX);
        to_stdout(|out| {
            each_row(limit, page, |waiting| {
                match self.json {
                    true => write_json(out, &waiting)?,
                    false => line(&waiting, out)?,
                }
                Ok(())
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }

    /// The first documents behind `after`.
    fn first(
        &self,
        context: &Context,
        after: Option<i64>,
        limit: u64,
    ) -> anyhow::Result<Vec<Waiting>> {
        let filter = self.filter(after, Some(limit));
        Ok(context.wait(reviews::list(context, &filter))?.items)
    }

    /// Shows one document after the other and asks for a key.
    fn one_by_one(&self, context: &Context) -> anyhow::Result<ExitCode> {
        let mut seen: Vec<Waiting> = Vec::new();
        let mut at = 0;
        if self.uncertain {
            // A decision takes a document out of the queue and changes the places of others: the order is taken once.
            seen = self.first(context, None, AT_ONCE)?;
        }
        loop {
            if at == seen.len() {
                let after = seen.last().map(|last| last.id);
                let next = match self.uncertain {
                    true => None,
                    false => self.first(context, after, 1)?.pop(),
                };
                match next {
                    Some(waiting) => seen.push(waiting),
                    None => {
                        println("The review queue has no more documents.")?;
                        return Ok(ExitCode::SUCCESS);
                    }
                }
            }
            let waiting = &seen[at];
            show(context, waiting)?;
            match ask("[a]ccept  [r]eject  [t]ype  [n]ext  [b]ack  [q]uit: ")?.as_deref() {
                Some("a") => at += one(context, waiting, Decision::Accept, None)?,
                Some("r") => at += one(context, waiting, Decision::Reject, None)?,
                Some("t") => {
                    let name = ask("kind: ")?.unwrap_or_default();
                    match kind(&name) {
                        Ok(kind) => at += one(context, waiting, Decision::Accept, Some(kind))?,
                        Err(reason) => println(&reason)?,
                    }
                }
                Some("n") => at += 1,
                Some("b") => at = at.saturating_sub(1),
                Some("q") | None => return Ok(ExitCode::SUCCESS),
                Some(_) => println("a, r, t, n, b or q")?,
            }
        }
    }
}

fn decided_on(context: &Context, order: &ReviewDecision) -> anyhow::Result<Reviewed> {
    let actor = Actor::command_line();
    let reviewed = context.wait(reviews::decide(context, &actor, order))?;
    super::update_metadata(context);
    // Bytes that nobody needs any more go now; what waits too long goes when the manager sees it.
    context.wait(reviews::prune(context, reviews::ReviewLimits::decided()))?;
    Ok(reviewed)
}

/// Decides on one document; the number of steps to go on.
fn one(
    context: &Context,
    waiting: &Waiting,
    decision: Decision,
    kind: Option<&str>,
) -> anyhow::Result<usize> {
    let order = ReviewDecision {
        documents: vec![waiting.id],
        decision: Some(decision),
        kind: kind.map(str::to_owned),
        ..ReviewDecision::default()
    };
    let reviewed = decided_on(context, &order)?;
    for failure in &reviewed.failed {
        println(&format!("{}", plain(&failure.reason)))?;
    }
    Ok(1)
}

fn show(context: &Context, waiting: &Waiting) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    writeln!(out)?;
    line(waiting, &mut out)?;
    let (text, explanation) = context.wait(reviews::reasons(context, waiting.id, 5))?;
    for (_, title, reasons) in explanation
        .iter()
        .flat_map(|explanation| explanation.sides())
    {
        let words: Vec<_> = reasons
            .iter()
            .map(|reason| plain(&reason.said).to_string())
            .collect();
        if !words.is_empty() {
            writeln!(out, "{title}: {}", words.join("; "))?;
        }
    }
    let text = text.unwrap_or_else(|| "No text is kept.".to_owned());
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in lines.take(20) {
        let line: String = line.chars().take(120).collect();
        writeln!(out, "    {}", plain(&line))?;
    }
    out.flush()?;
    Ok(())
}

fn line(waiting: &Waiting, out: &mut impl Write) -> io::Result<()> {
    let probability = waiting
        .probability
        .map_or(String::new(), |p| format!("{p:.3}"));
    writeln!(
        out,
        "{}\t{}\t{probability}\t{}\t{}\t{}\t{}",
        waiting.id,
        waiting.decision.as_deref().unwrap_or_default(),
        waiting.kind.as_deref().unwrap_or_default(),
        plain(&waiting.host),
        plain(&waiting.title),
        plain(&waiting.url)
    )
}

fn println(text: &str) -> io::Result<()> {
    writeln!(stdout().lock(), "{text}")
}

/// An answer; `None` if there will be none.
fn ask(question: &str) -> io::Result<Option<String>> {
    let mut out = stdout().lock();
    write!(out, "{question}")?;
    out.flush()?;
    drop(out);
    let mut answer = String::new();
    let length = stdin().lock().read_line(&mut answer)?;
    Ok((length > 0).then(|| answer.trim().to_lowercase()))
}

/// Documents that are taken out of the queue at once.
const AT_ONCE: u64 = 1000;
