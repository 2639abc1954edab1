//! One harvest, for people.

use std::io::{self, Write};

use operations::harvests::{Harvest, Warning};
use serde::Serialize;

use crate::human::{moment, number};
use crate::text::{duration, plain};

/// A harvest that a command made, with all its warnings: its JSON has `warnings` beside the fields of the harvest.
#[derive(Debug, Serialize)]
pub(crate) struct HarvestReport {
    #[serde(flatten)]
    pub(crate) harvest: Harvest,
    pub(crate) warnings: Vec<Warning>,
}

/// Writes a harvest without its warnings.
pub(super) fn describe(out: &mut impl Write, harvest: &Harvest) -> io::Result<()> {
    writeln!(out, "harvest {}: {}", harvest.id, harvest.state.name())?;
    line(out, "repository", &harvest.base_url)?;
    line(out, "format", &harvest.metadata_prefix)?;
    if let Some(set) = &harvest.set {
        line(out, "set", set)?;
    }
    line(out, "started", &moment(Some(harvest.started)))?;
    if let (Some(ended), Some(seconds)) = (harvest.ended, harvest.seconds()) {
        line(
            out,
            "ended",
            &format!("{}, after {}", moment(Some(ended)), duration(seconds)),
        )?;
    }
    if harvest.attempts > 1 {
        line(out, "attempts", &harvest.attempts.to_string())?;
    }
    if let Some(from) = &harvest.next_from {
        line(out, "next from", from)?;
    }
    if let Some(reason) = &harvest.failure_reason {
        line(out, "reason", reason)?;
    }
    writeln!(out, "\ncounts")?;
    for (name, count) in harvest.counts.named() {
        writeln!(out, "  {name:<10}  {:>12}", number(count))?;
    }
    parameters(out, &harvest.parameters_in_words())?;
    if !harvest.quirks.is_empty() {
        writeln!(out, "\nquirks of the repository")?;
    }
    for quirk in &harvest.quirks {
        match quirk.count {
            1 => writeln!(out, "  {} (once)", quirk.sentence)?,
            count => writeln!(out, "  {} ({count} times)", quirk.sentence)?,
        }
    }
    Ok(())
}

/// Writes a warning of a harvest.
pub(super) fn warning(out: &mut impl Write, warning: &Warning) -> io::Result<()> {
    let reason = plain(&warning.reason);
    match &warning.identifier {
        Some(identifier) => writeln!(out, "  {}: {reason}", plain(identifier)),
        None => writeln!(out, "  {reason}"),
    }
}

pub(super) fn line(out: &mut impl Write, name: &str, value: &str) -> io::Result<()> {
    writeln!(out, "{name:<12}  {}", plain(value))
}

pub(super) fn parameters(out: &mut impl Write, parameters: &[(String, String)]) -> io::Result<()> {
    if !parameters.is_empty() {
        writeln!(out, "\nparameters")?;
    }
    for (name, value) in parameters {
        writeln!(out, "  {}: {}", plain(name), plain(value))?;
    }
    Ok(())
}
