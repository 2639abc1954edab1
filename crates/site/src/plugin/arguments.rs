//! Command arguments with the placeholders `{file}` and `{url}`.

use std::ffi::{OsStr, OsString};

/// An argument cut at its placeholders once, so that a file name that holds `{url}` is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    File,
    Url,
}

impl Template {
    pub(super) fn parse(mut text: &str) -> Self {
        let mut pieces = Vec::new();
        while let Some((start, length, piece)) = next_placeholder(text) {
            pieces.push(Piece::Literal(text[..start].to_owned()));
            pieces.push(piece);
            text = &text[start + length..];
        }
        pieces.push(Piece::Literal(text.to_owned()));
        Self(pieces)
    }

    pub(super) fn is_literal(&self) -> bool {
        matches!(self.0[..], [Piece::Literal(_)])
    }

    pub(super) fn fill(&self, file: &OsStr, url: &str) -> OsString {
        let mut argument = OsString::new();
        for piece in &self.0 {
            argument.push(match piece {
                Piece::Literal(text) => OsStr::new(text),
                Piece::File => file,
                Piece::Url => OsStr::new(url),
            });
        }
        argument
    }
}

fn next_placeholder(text: &str) -> Option<(usize, usize, Piece)> {
    let find = |name: &str, piece| Some((text.find(name)?, name.len(), piece));
    let found = [find("{file}", Piece::File), find("{url}", Piece::Url)];
    found.into_iter().flatten().min_by_key(|(start, ..)| *start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, file: &str, url: &str) -> OsString {
        Template::parse(text).fill(OsStr::new(file), url)
    }

    #[test]
    fn placeholders_are_filled_wherever_they_stand() {
        assert_eq!(filled("{file}", "/a b", "u"), "/a b");
        assert_eq!(
            filled("--in={file},{url};{file}", "/a", "u"),
            "--in=/a,u;/a"
        );
        assert_eq!(filled("{other} {", "/a", "u"), "{other} {");
        assert_eq!(filled("", "/a", "u"), "");
    }

    #[test]
    fn placeholders_in_file_names_are_left_alone() {
        assert_eq!(filled("{file}", "/{url}", "u"), "/{url}");
        assert_eq!(filled("{url}", "/a", "{file}"), "{file}");
    }

    #[test]
    fn file_names_that_are_not_utf8_pass_unchanged() {
        use std::os::unix::ffi::{OsStrExt, OsStringExt};

        let argument = Template::parse("-i{file}").fill(OsStr::from_bytes(b"/caf\xe9"), "u");

        assert_eq!(argument.into_vec(), b"-i/caf\xe9");
    }
}
