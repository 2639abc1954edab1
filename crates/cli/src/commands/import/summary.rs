//! How an import ended: the table of counters for people, and the same as JSON.

use std::io::IsTerminal;
use std::process::ExitCode;

use catalog::{ImportCounters, ImportState};
use flows::Imported;
use serde::Serialize;

use super::Import;
use crate::output::{to_stdout, write_json};
use crate::text::{bytes, grouped, plain};

/// The counters by the names of the Crawl Document Importer, and what there is beside them.
#[derive(Serialize)]
struct Json<'a> {
    import: Option<i64>,
    state: ImportState,
    kept_nothing: bool,
    reason: Option<&'a str>,
    #[serde(flatten)]
    counters: &'a ImportCounters,
    #[serde(skip_serializing_if = "Option::is_none", rename = "saved_Separate")]
    separate: Option<u64>,
    seconds: f64,
    report: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<&'a flows::Verification>,
}

pub(super) fn write(options: &Import, imported: &Imported) -> anyhow::Result<()> {
    if options.json {
        to_stdout(|out| {
            write_json(out, &Json::new(imported))?;
            Ok(ExitCode::SUCCESS)
        })?;
    }
    let kept_nothing = imported.kept_nothing();
    if options.quiet && imported.state == ImportState::Ok && !kept_nothing {
        return Ok(());
    }
    let verdict = match imported.state {
        _ if kept_nothing => "nothing was kept",
        ImportState::Ok => "imported",
        ImportState::Incomplete => "imported, but not everything",
        ImportState::Cancelled => "cancelled",
        ImportState::Failed | ImportState::Running => "not imported to the end",
    };
    let what = match imported.id {
        Some(id) => format!("import {id}"),
        None if options.dry_run => "a trial, nothing was written".to_owned(),
        None => "an import without the database".to_owned(),
    };
    eprintln!("{what}: {verdict}, in {}", seconds(imported));
    match std::io::stderr().is_terminal() && !options.verbose {
        true => words(imported),
        false => table(imported),
    }
    if let Some(reason) = &imported.reason {
        eprintln!("  {}", plain(reason));
    }
    let verified = imported.verification.as_ref();
    if let Some(verification) = verified.filter(|verified| verified.contents > 0) {
        eprintln!("  {}", verification.said());
    }
    if let Some(report) = &imported.report {
        eprintln!("  skipped captures, with reasons: {}", report.display());
    }
    let unfinished = [ImportState::Failed, ImportState::Cancelled];
    if unfinished.contains(&imported.state) && imported.id.is_some() {
        eprintln!("  the same command resumes where this import ended");
    }
    Ok(())
}

/// All counters that the paper has, and those of ours that are not zero, by name.
pub(crate) fn counted(counters: &ImportCounters) -> Vec<(&'static str, u64)> {
    let counters = serde_json::to_value(counters).unwrap_or_default();
    let count = |name: &&'static str| (*name, counters[*name].as_u64().unwrap_or_default());
    let counts = OF_THE_PAPER.iter().chain(&OURS).map(count);
    counts
        .filter(|(name, count)| *count > 0 || OF_THE_PAPER.contains(name))
        .collect()
}

/// The counters in words, for people who watch.
fn words(imported: &Imported) {
    let counters = &imported.counters;
    let captures = grouped(counters.all);
    let kept = [
        (
            imported.separate.unwrap_or_default(),
            "documents in the folder",
        ),
        (counters.saved_new, "new documents"),
        (counters.saved_duplicate, "duplicates"),
        (counters.filtered, "filtered"),
    ];
    let kept = kept.iter().filter(|(count, _)| *count > 0);
    let kept: Vec<_> = kept
        .map(|(count, what)| format!("{} {what}", grouped(*count)))
        .collect();
    let kept = match kept.is_empty() {
        true => "nothing new".to_owned(),
        false => kept.join(", "),
    };
    eprintln!("  {captures} captures: {kept}");
    let others = counted(counters).into_iter().filter(|(name, count)| {
        *count > 0
            && ![
                "all",
                "saved_New",
                "saved_Duplicate",
                "filtered",
                "bytes_Read",
                "bytes_Saved",
            ]
            .contains(name)
    });
    let others: Vec<_> = others
        .map(|(name, count)| {
            format!(
                "{} {}",
                grouped(count),
                name.replace('_', " ").to_lowercase()
            )
        })
        .collect();
    if !others.is_empty() {
        eprintln!("  of these: {}", others.join(", "));
    }
    let value = serde_json::to_value(counters).unwrap_or_default();
    let size = |name: &str| value[name].as_u64().unwrap_or_default();
    let (read, saved) = (size("bytes_Read"), size("bytes_Saved"));
    eprintln!("  {} read, {} saved", bytes(read), bytes(saved));
}

fn table(imported: &Imported) {
    for (name, count) in counted(&imported.counters) {
        eprintln!("  {name:<22} {count:>14}");
    }
    if let Some(separate) = imported.separate {
        eprintln!("  {:<22} {separate:>14}", "saved_Separate");
    }
}

fn seconds(imported: &Imported) -> String {
    let took = imported.took;
    match took.as_secs() {
        0..60 => format!("{:.1}s", took.as_secs_f64()),
        seconds => crate::text::duration(i64::try_from(seconds).unwrap_or(i64::MAX)),
    }
}

impl<'a> Json<'a> {
    fn new(imported: &'a Imported) -> Self {
        Self {
            import: imported.id,
            state: imported.state,
            kept_nothing: imported.kept_nothing(),
            reason: imported.reason.as_deref(),
            counters: &imported.counters,
            separate: imported.separate,
            seconds: imported.took.as_secs_f64(),
            report: imported
                .report
                .as_ref()
                .map(|path| path.display().to_string()),
            verification: imported.verification.as_ref(),
        }
    }
}

/// Table 1 of the paper, in its order.
const OF_THE_PAPER: [&str; 9] = [
    "all",
    "saved_New",
    "saved_Duplicate",
    "filtered",
    "filtered_MTF",
    "filtered_DCF",
    "failed_TextExtract",
    "failed_FileNotFound",
    "failed_PDFFilenotFound",
];
const OURS: [&str; 24] = [
    "saved_NewVersion",
    "saved_KnownContent",
    "saved_SetAside",
    "text_Encrypted",
    "text_Damaged",
    "text_Empty",
    "text_ImageOnly",
    "text_Limit",
    "text_EngineMissing",
    "text_Failed",
    "revisits",
    "revisits_Unknown",
    "containers",
    "filtered_URL",
    "skipped_Status",
    "skipped_Takedown",
    "skipped_Records",
    "digest_Verified",
    "digest_Mismatch",
    "digest_Unverifiable",
    "failed_Read",
    "failed_Save",
    "bytes_Read",
    "bytes_Saved",
];
