//! Characters that change how other text is displayed: those that steer a terminal, and those that reorder or hide text.

/// Whether a character is a control, a format character (Unicode 17, general category Cf), or a separator of lines.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
        )
}

/// Whether a byte can begin a harmful character in UTF-8: few bytes of usual text do.
pub fn may_begin(byte: u8) -> bool {
    // Without a branch, so that the compiler can use vectors.
    (byte < 0x20)
        | (byte == 0x7f)
        | (byte == 0xc2)
        | (byte == 0xd8)
        | (byte == 0xdb)
        | (byte == 0xdc)
        | (byte == 0xe0)
        | (byte == 0xe1)
        | (byte == 0xe2)
        | (byte == 0xef)
        | (byte == 0xf0)
        | (byte == 0xf3)
}

/// A text without harmful characters: each becomes the replacement character.
pub fn replaced(text: &str) -> String {
    let replace = |c| match is_harmful(c) {
        true => char::REPLACEMENT_CHARACTER,
        false => c,
    };
    text.chars().map(replace).collect()
}

/// One line of a log with its harmful characters escaped as Rust writes them, such as `\u{202e}`. A line feed at the end
/// stays, and with `colours` so do the colours that logs have on a terminal.
pub fn escaped_line(line: &str, colours: bool) -> String {
    let (line, end) = match line.strip_suffix('\n') {
        Some(line) => (line, "\n"),
        None => (line, ""),
    };
    let mut escaped = String::with_capacity(line.len() + 16);
    for (at, c) in line.char_indices() {
        let is_colour = colours && c == '\u{1b}' && begins_with_colour(&line[at + 1..]);
        match is_harmful(c) && c != '\t' && !is_colour {
            true => escaped.extend(c.escape_default()),
            false => escaped.push(c),
        }
    }
    escaped + end
}

/// Whether what follows ESC is one of the plain colours and styles of log lines, which hide and move nothing.
fn begins_with_colour(rest: &str) -> bool {
    let code = rest.strip_prefix('[').and_then(|rest| rest.split_once('m'));
    code.is_some_and(|(code, _)| {
        matches!(
            code,
            "0" | "1" | "2" | "3" | "31" | "32" | "33" | "34" | "35" | "36"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_harmful_character_begins_with_a_byte_that_may_begin_one() {
        let mut harmful = 0;
        for c in ('\0'..=char::MAX).filter(|c| is_harmful(*c)) {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes);
            assert!(may_begin(bytes[0]), "{:x}", u32::from(c));
            harmful += 1;
        }
        // 65 controls, 170 format characters, 85 unassigned ones among the tags and invisible operators, 2 separators.
        assert!((235..400).contains(&harmful), "{harmful}");
    }

    #[test]
    fn overrides_do_not_stay() {
        assert_eq!(
            replaced("a\u{202e}b\x1bc\u{2066}é"),
            "a\u{fffd}b\u{fffd}c\u{fffd}é"
        );
        assert_eq!(
            escaped_line("a\u{202e}b\nc\u{9b}\x1b[31md\x1b[2J\x1b[8m\n", true),
            "a\\u{202e}b\\nc\\u{9b}\x1b[31md\\u{1b}[2J\\u{1b}[8m\n"
        );
        assert_eq!(escaped_line("\x1b[31md", false), "\\u{1b}[31md");
    }
}
