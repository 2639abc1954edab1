//! Text for people: what came from outside cannot steer a terminal, dates and durations look the same everywhere.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use defence::harmful::{is_harmful, may_begin, replaced};
use oai::Datestamp;

/// A text from outside on one line: control and format characters, line breaks and bidirectional overrides among them,
/// become the replacement character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<'a>(&'a str);

/// The text without control and format characters.
pub(crate) fn plain(text: &str) -> Plain<'_> {
    Plain(text)
}

impl Plain<'_> {
    /// Writes it as it is displayed: of millions of records every one comes by here.
    pub(crate) fn write_to(self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.harmless().as_bytes())
    }

    fn harmless(&self) -> Cow<'_, str> {
        // Nearly all texts are.
        if is_printable_ascii(self.0) || !self.0.bytes().any(may_begin) {
            return Cow::Borrowed(self.0);
        }
        Cow::Owned(replaced(self.0))
    }
}

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.harmless())
    }
}

/// Lines from outside: line feeds and tabs stay, all other control and format characters are replaced.
pub(crate) fn plain_lines(text: &str) -> String {
    let harmless = text.chars().map(|c| match c {
        '\n' | '\t' => c,
        c if is_harmful(c) => MARK,
        c => c,
    });
    harmless.collect()
}

/// Whether all characters are of ASCII and none is a control character; found out for eight at a time.
fn is_printable_ascii(text: &str) -> bool {
    const HIGHEST_BITS: u64 = 0x8080_8080_8080_8080;
    const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;
    let bytes = text.as_bytes();
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().all(|byte| (0x20..0x7f).contains(byte));
    };
    // The last ones are looked at twice, so that none is left over.
    let eights = bytes.as_chunks().0.iter().chain([last]);
    let odd = eights.fold(0, |odd, eight| {
        let eight = u64::from_ne_bytes(*eight);
        // The highest bit of a byte gets set, if it was not, below 0x20 by the first, at 0x7f by the second.
        let below = eight.wrapping_sub(0x20 * LOWEST_BITS);
        let above = eight.wrapping_add(LOWEST_BITS);
        odd | below | above | eight
    });
    odd & HIGHEST_BITS == 0
}

/// Seconds since 1970 as a date.
pub(crate) fn date(seconds: i64) -> String {
    Datestamp::from_seconds(seconds).to_string()
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in the largest unit that leaves a whole number: 758 kB, 1.2 GB.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut value, mut unit) = (number as f64, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit > 0 && value < 9.95 {
        true => format!("{value:.1} {}", UNITS[unit]),
        false => format!("{value:.0} {}", UNITS[unit]),
    }
}

/// A moment by its distance from now: `3 min ago`, `in 2 h`.
pub(crate) fn relative(moment: i64, now: i64) -> String {
    let distance = moment.abs_diff(now);
    let (number, unit) = match distance {
        0..60 => (distance, "s"),
        60..3600 => (distance / 60, "min"),
        3600..172_800 => (distance / 3600, "h"),
        172_800..63_072_000 => (distance / 86_400, "d"),
        _ => (distance / 31_536_000, "y"),
    };
    match (distance < 5, moment > now) {
        (true, _) => "now".to_owned(),
        (false, true) => format!("in {number} {unit}"),
        (false, false) => format!("{number} {unit} ago"),
    }
}

/// A moment by its distance from this one; a dash if there is none.
pub(crate) fn ago(moment: Option<i64>) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    moment.map_or_else(|| "-".to_owned(), |moment| relative(moment, now))
}

/// A duration in its two largest units.
pub(crate) fn duration(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m {:02}s", seconds % 60),
        3600..86_400 => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {:02}h", hours % 24),
    }
}

/// How many columns the terminal has; `None` where stdout is none.
pub(crate) fn columns() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

const MARK: char = char::REPLACEMENT_CHARACTER;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let text = plain("a\x1b[2Jb\u{9b}c\x7fd\r\ne\0 é\u{a0}").to_string();
        assert_eq!(
            text,
            "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}\u{fffd}e\u{fffd} é\u{a0}"
        );
        assert_eq!(plain_lines("a\n\tb\x1b\r"), "a\n\tb\u{fffd}\u{fffd}");
        // Issue 18: an override shows `fdp.exe` as `exe.pdf`.
        let overrides = "a\u{202e}fdp\u{2066}\u{200b}\u{feff}b\u{e0041}";
        assert_eq!(
            plain(overrides).to_string(),
            "a\u{fffd}fdp\u{fffd}\u{fffd}\u{fffd}b\u{fffd}"
        );
        assert_eq!(plain_lines("\u{2028}\u{200f}x"), "\u{fffd}\u{fffd}x");
    }

    #[test]
    fn printable_texts_are_told_from_others_wherever_the_difference_is() {
        for code in 0..=0xff_u8 {
            let c = char::from(code);
            for place in 0..17 {
                let mut text = " ~0aZ-/.".repeat(3);
                text.replace_range(place..=place, c.encode_utf8(&mut [0; 4]));
                let printable = (' '..='~').contains(&c);
                assert_eq!(is_printable_ascii(&text), printable, "{text:?}");
                assert_eq!(plain(&text).to_string() != text, is_harmful(c), "{text:?}");
            }
        }
    }

    #[test]
    fn a_width_holds_for_harmless_and_for_other_texts() {
        assert_eq!(
            format!("{:<4}|{:>4}|", plain("ab"), plain("a\n")),
            "ab  |  a\u{fffd}|"
        );
    }

    #[test]
    fn durations_have_two_units() {
        let said = [0, 59, 65, 3_725, 90_061].map(duration);
        assert_eq!(said, ["0s", "59s", "1m 05s", "1h 02m", "1d 01h"]);
    }

    #[test]
    fn sizes_and_moments_are_for_people() {
        assert_eq!(
            [0, 999, 1000, 757_715, 9_949_999, 106_172_000_000].map(bytes),
            ["0 B", "999 B", "1.0 kB", "758 kB", "9.9 MB", "106 GB"]
        );
        assert_eq!([0, 999, 106_172].map(grouped), ["0", "999", "106,172"]);
        let now = 1_000_000_000;
        for (moment, said) in [
            (now, "now"),
            (now - 59, "59 s ago"),
            (now + 60, "in 1 min"),
            (now - 7200, "2 h ago"),
            (now - 172_800, "2 d ago"),
            (0, "31 y ago"),
            (i64::MIN, "292471208677 y ago"),
        ] {
            assert_eq!(
                relative(moment, now).split(' ').next_back(),
                said.split(' ').next_back()
            );
            if moment > i64::MIN {
                assert_eq!(relative(moment, now), said);
            }
        }
    }
}
