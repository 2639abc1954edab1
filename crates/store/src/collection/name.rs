//! The names of numbers: groups of three digits, three at least.

/// The groups of a number: `001`, `234`, `567`.
fn groups(number: i64) -> Vec<String> {
    let mut rest = number.unsigned_abs();
    let mut groups = Vec::new();
    while groups.len() < 3 || rest > 0 {
        groups.insert(0, format!("{:03}", rest % 1000));
        rest /= 1000;
    }
    groups
}

/// The directory of a number: `001/234/567`.
pub(super) fn directory_of(number: i64) -> String {
    groups(number).join("/")
}

/// The name of a file of a number: `001.234.567.pdf`.
pub(super) fn file_of(number: i64, extension: &str) -> String {
    format!("{}.{extension}", groups(number).join("."))
}

/// Whether a name can end so: letters and digits, with dots between them.
pub(super) fn is_extension(extension: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    extension.len() <= LONGEST && extension.split('.').all(is_plain)
}

/// The number of a directory and a file in it, and how the name of the file ends; `None` if the name is not ours.
pub(super) fn parse(directory: &[String], name: &str) -> Option<(i64, String)> {
    let stem = directory.join(".");
    let extension = name.strip_prefix(&stem)?.strip_prefix('.')?;
    let mut number: i64 = 0;
    for group in directory {
        let group: i64 = group.parse().ok()?;
        number = number.checked_mul(1000)?.checked_add(group)?;
    }
    // Fewer groups, or more than the number needs, are not ours.
    let is_ours = groups(number) == directory && is_extension(extension);
    is_ours.then(|| (number, extension.to_owned()))
}

/// Whether a directory may be one of ours: three digits.
pub(super) fn is_group(name: &str) -> bool {
    name.len() == 3 && name.bytes().all(|byte| byte.is_ascii_digit())
}

const LONGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn path(number: i64) -> String {
        format!("{}/{}", directory_of(number), file_of(number, "pdf"))
    }

    #[test]
    fn a_number_has_three_groups_or_as_many_as_it_needs() {
        assert_eq!(path(0), "000/000/000/000.000.000.pdf");
        assert_eq!(path(1_234_567), "001/234/567/001.234.567.pdf");
        assert_eq!(path(999_999_999), "999/999/999/999.999.999.pdf");
        assert_eq!(path(1_000_000_000), "001/000/000/000/001.000.000.000.pdf");
        assert!(path(i64::MAX).starts_with("009/223/372/036/854/775/807/009."));
    }

    #[test]
    fn a_name_leads_back_to_its_number() {
        for number in [0, 1, 999, 1000, 1_234_567, 1_000_000_000, i64::MAX] {
            let directory: Vec<_> = directory_of(number).split('/').map(String::from).collect();
            let name = file_of(number, "pdf.met");

            assert_eq!(
                parse(&directory, &name),
                Some((number, "pdf.met".to_owned()))
            );
        }
    }

    #[test]
    fn names_of_others_have_no_number() {
        let groups = |text: &str| text.split('/').map(String::from).collect::<Vec<_>>();
        for (directory, name) in [
            ("001/234/567", "001.234.568.pdf"),
            ("001/234/567", "001.234.567"),
            ("001/234/567", "001.234.567.a/b"),
            ("001/234", "001.234.pdf"),
            ("000/001/234/567", "000.001.234.567.pdf"),
            (
                "999/999/999/999/999/999/999",
                "999.999.999.999.999.999.999.pdf",
            ),
        ] {
            assert_eq!(parse(&groups(directory), name), None, "{directory}/{name}");
        }
    }

    #[test]
    fn an_extension_leads_nowhere() {
        for extension in ["", ".", "a/b", "..", "a..b", "a\0", "é", &"a".repeat(33)] {
            assert!(!is_extension(extension), "{extension}");
        }
        assert!(is_extension("tar.gz") && is_extension("pdf"));
    }
}
