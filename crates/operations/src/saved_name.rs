//! Names under which orders are kept.

use crate::Refusal;

/// A name that fits on a line, without blanks around it.
pub(crate) fn saved_name(name: &str) -> Result<String, Refusal> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST || name.chars().any(char::is_control) {
        let reason = format!("write a name of at most {LONGEST} characters in one line");
        return Err(Refusal::invalid("name", reason));
    }
    Ok(name.to_owned())
}

const LONGEST: usize = 100;
