//! The history as CSV (RFC 4180), for spreadsheets.

use super::Harvest;
use crate::csv_cell;

/// The first line: the names of the columns.
pub const CSV_HEAD: &str = "harvest,repository,base_url,metadata_prefix,set,state,started,ended,seconds,attempts,\
     new,updated,unchanged,deleted,filtered,repaired,skipped,failed,requests,bytes,schedule,job,reason\r\n";

/// The line of a harvest, with its end.
pub fn csv_line(harvest: &Harvest) -> String {
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    let mut cells = vec![
        harvest.id.to_string(),
        harvest.repository.to_string(),
        harvest.base_url.clone(),
        harvest.metadata_prefix.clone(),
        harvest.set.clone().unwrap_or_default(),
        harvest.state.name().to_owned(),
        harvest.started.to_string(),
        harvest
            .ended
            .map(|time| time.to_string())
            .unwrap_or_default(),
        number(harvest.seconds()).unwrap_or_default(),
        harvest.attempts.to_string(),
    ];
    let counts = harvest.counts.named();
    cells.extend(counts.into_iter().map(|(_, count)| count.to_string()));
    cells.push(number(harvest.schedule).unwrap_or_default());
    cells.push(number(harvest.job).unwrap_or_default());
    cells.push(harvest.failure_reason.clone().unwrap_or_default());
    let quoted: Vec<_> = cells.iter().map(|cell| csv_cell(cell)).collect();
    format!("{}\r\n", quoted.join(","))
}
