//! The history as CSV (RFC 4180), for spreadsheets.

use super::Harvest;

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
    let quoted: Vec<_> = cells.iter().map(|cell| quoted(cell)).collect();
    format!("{}\r\n", quoted.join(","))
}

/// Quotes a cell where it needs it. Spreadsheets run a text that begins like a formula; an apostrophe in front keeps it
/// a text.
fn quoted(cell: &str) -> String {
    let is_number = cell.parse::<i64>().is_ok();
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && !is_number;
    let mark = if is_formula { "'" } else { "" };
    match is_formula || cell.contains([',', '"', '\r', '\n', ';', '\t']) {
        true => format!("\"{mark}{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_texts() {
        assert_eq!(quoted("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        for start in ["+", "-", "@", "\t", "\r"] {
            let cell = quoted(&format!("{start}cmd"));
            assert!(cell.starts_with("\"'"), "{cell}");
        }
    }

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        assert_eq!(quoted("oai_dc"), "oai_dc");
        assert_eq!(quoted("-7"), "-7");
        assert_eq!(quoted("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
    }
}
