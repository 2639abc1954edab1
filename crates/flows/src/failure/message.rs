//! Errors in one line.

/// The error and its causes in one line; some errors quote their cause already, and once is enough.
pub fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}
