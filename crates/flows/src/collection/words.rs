//! Counts in words.

/// A number of things, which are more than one unless it is 1.
///
/// ```
/// assert_eq!(flows::counted(1, "document"), "1 document");
/// assert_eq!(flows::counted(0, "document"), "0 documents");
/// ```
pub fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}
