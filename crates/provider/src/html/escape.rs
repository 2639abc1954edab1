//! Text from outside as HTML: escaped, shortened, and a link only where it leads to a harmless scheme.

/// Appends text with the characters escaped that HTML gives a meaning, in content and in attributes.
pub(crate) fn push_text(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            // HTML allows no other control characters.
            character if character.is_control() && !character.is_whitespace() => {
                html.push('\u{fffd}');
            }
            character => html.push(character),
        }
    }
}

/// The text, escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    push_text(&mut html, text);
    html
}

/// The text, as a link if it is an address of a scheme that does no harm.
pub(crate) fn linked(text: &str) -> String {
    let address = text.trim();
    let lower = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    let harmless = ["http://", "https://", "ftp://"];
    let is_link = harmless.iter().any(|scheme| lower.starts_with(scheme));
    if !is_link || address.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return shortened(text, LONGEST_VALUE);
    }
    let address = escaped(address);
    format!("<a href=\"{address}\" rel=\"noreferrer\">{address}</a>")
}

/// The text, escaped, and cut where it is longer than `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => escaped(text),
        Some((at, _)) => format!(
            "{}<span class=\"gn-quiet\"> … {} more bytes are in the XML</span>",
            escaped(&text[..at]),
            grouped((text.len() - at) as u64)
        ),
    }
}

/// The text as one value of a query.
pub(crate) fn query_value(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' | b'/' => {
                value.push(char::from(byte));
            }
            byte => value.push_str(&format!("%{byte:02X}")),
        }
    }
    value
}

/// A datestamp for people, and for programs.
pub(crate) fn moment(text: &str) -> String {
    let shown = match (text.len(), text.get(10..11), text.get(19..)) {
        (20, Some("T"), Some("Z")) => format!("{} {} UTC", &text[..10], &text[11..19]),
        _ => text.to_owned(),
    };
    format!(
        "<time datetime=\"{}\">{}</time>",
        escaped(text),
        escaped(&shown)
    )
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The longest value that is shown whole.
const LONGEST_VALUE: usize = 4000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_harmless_schemes_are_links() {
        for text in [
            "javascript:alert(1)",
            "data:text/html,x",
            "http://a b",
            "//a",
            "HTTP:/x",
        ] {
            assert_eq!(linked(text), escaped(text));
        }
        assert_eq!(
            linked(" HTTPS://a/\"><script>'&"),
            "<a href=\"HTTPS://a/&quot;&gt;&lt;script&gt;&#39;&amp;\" rel=\"noreferrer\">\
             HTTPS://a/&quot;&gt;&lt;script&gt;&#39;&amp;</a>"
        );
    }

    #[test]
    fn a_value_of_a_query_cannot_leave_it() {
        assert_eq!(
            query_value("a b&c=d\"'<\u{e9}+%"),
            "a%20b%26c%3Dd%22%27%3C%C3%A9%2B%25"
        );
    }

    #[test]
    fn thousands_are_apart() {
        for (number, shown) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), shown);
        }
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let html = shortened(&"\u{e9}".repeat(5000), 4000);
        assert!(
            html.contains("2,000 more bytes"),
            "{}",
            &html[html.len() - 100..]
        );
    }
}
