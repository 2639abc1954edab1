//! Cells of CSV (RFC 4180), for spreadsheets.

/// Quotes a cell where it needs it. Spreadsheets run a text that begins like a formula; an apostrophe in front keeps it
/// a text.
pub fn csv_cell(cell: &str) -> String {
    let is_number = cell.parse::<i64>().is_ok();
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && !is_number;
    let mark = if is_formula { "'" } else { "" };
    match is_formula || cell.contains([',', '"', '\r', '\n', ';', '\t']) {
        true => format!("\"{mark}{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// A cell of a file that was written here, without the mark that kept it a text.
pub(crate) fn unmarked(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) => rest,
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_texts() {
        assert_eq!(csv_cell("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        for start in ["+", "-", "@", "\t", "\r"] {
            let cell = csv_cell(&format!("{start}cmd"));
            assert!(cell.starts_with("\"'"), "{cell}");
        }
    }

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        assert_eq!(csv_cell("oai_dc"), "oai_dc");
        assert_eq!(csv_cell("-7"), "-7");
        assert_eq!(csv_cell("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
    }
}
