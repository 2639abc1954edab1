//! What names and passwords have to be like, for pages and API alike.

use crate::parts::Errors;
use crate::password;

/// Notes what is wrong with the name of an account.
pub(crate) fn check_name(name: &str, errors: &mut Errors) {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.@+ ".contains(c);
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        errors.add("name", format!("a name has 1 to {LONGEST_NAME} characters"));
    } else if !name.chars().all(is_plain) || name.trim() != name {
        errors.add(
            "name",
            "a name has letters, digits, spaces and - _ . @ + only",
        );
    }
}

/// Notes what is wrong with a password that was typed in twice.
pub(crate) fn check_new_password(password: &str, again: &str, errors: &mut Errors) {
    if let Err(reason) = password::check(password) {
        errors.add("password", reason);
    } else if password != again {
        errors.add("again", "these are not the same");
    }
}

const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (name, good) in [
            ("ann", true),
            ("Jürgen Müller", true),
            ("ann@example.org", true),
            ("", false),
            (" ann", false),
            ("a\nb", false),
            ("<script>", false),
            ("a\u{202e}b", false),
        ] {
            let mut errors = Errors::default();
            check_name(name, &mut errors);
            assert_eq!(errors.is_empty(), good, "{name:?}");
        }
    }
}
