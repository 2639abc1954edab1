//! Which texts of records become links.

/// The text if it is an address of the web. Nothing else becomes a link: a record may contain `javascript:`.
pub fn web_address(text: &str) -> Option<&str> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://")?;
    let is_web = ["http", "https"]
        .iter()
        .any(|web| scheme.eq_ignore_ascii_case(web));
    let is_plain =
        text.len() <= LONGEST && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    (is_web && is_plain && !rest.is_empty()).then_some(text)
}

const LONGEST: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_links() {
        assert_eq!(
            web_address(" https://a.example/x?y#z "),
            Some("https://a.example/x?y#z")
        );
        assert_eq!(web_address("HTTP://a.example"), Some("HTTP://a.example"));
        for text in [
            "javascript:alert(1)",
            "javascript://a.example/%0aalert(1)",
            "data:text/html,x",
            "http://",
            "see http://a.example",
            "http://a.example and more",
            "ftp://a.example",
            "",
        ] {
            assert_eq!(web_address(text), None, "{text}");
        }
    }
}
