//! The lines in which FTP servers list a directory.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use suppaftp::list::{File, ListParser};

use super::encoding::{bytes, text};
use crate::entry::{Entry, Kind};

/// A line of MLSD: `type=file;size=12;modify=20260102030405; name`. Nothing if it is none, or the directory itself.
pub(super) fn machine_line(line: &[u8]) -> Option<Entry> {
    let space = line.iter().position(|byte| *byte == b' ')?;
    let (facts, name) = (&line[..space], &line[space + 1..]);
    let mut entry = Entry {
        name: name.to_vec(),
        kind: Kind::Other,
        size: None,
        modified: None,
        unique: None,
    };
    for fact in facts.split(|byte| *byte == b';') {
        let Some(at) = fact.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let (fact, value) = (fact[..at].to_ascii_lowercase(), &fact[at + 1..]);
        let value_text = || std::str::from_utf8(value).ok();
        match fact.as_slice() {
            b"type" => entry.kind = kind(&value.to_ascii_lowercase())?,
            b"size" => entry.size = value_text().and_then(|text| text.parse().ok()),
            b"modify" => entry.modified = value_text().and_then(moment),
            b"unique" if value.len() <= LONGEST_UNIQUE => entry.unique = Some(value.to_vec()),
            _ => {}
        }
    }
    Some(entry)
}

/// A line of LIST, as Unix or Windows write it: the name and what it is. Dates and sizes in it are vague, and asked for.
pub(super) fn human_line(line: &[u8]) -> Option<Entry> {
    let line = text(line);
    let parsed = ListParser::parse_posix(&line).or_else(|_| ListParser::parse_dos(&line));
    let file: File = parsed.ok()?;
    let kind = match () {
        () if file.is_symlink() => Kind::Link,
        () if file.is_directory() => Kind::Directory,
        () => Kind::File,
    };
    let name = bytes(file.name()).ok()?;
    if name == b"." || name == b".." {
        return None;
    }
    Some(Entry {
        name,
        kind,
        size: None,
        modified: None,
        unique: None,
    })
}

/// Parses a type fact; `None` for the directory itself and its parent.
fn kind(value: &[u8]) -> Option<Kind> {
    match value {
        b"file" => Some(Kind::File),
        b"dir" => Some(Kind::Directory),
        b"cdir" | b"pdir" => None,
        // Quirk: servers write `OS.unix=slink:` with the target or without, and `OS.unix=symlink`.
        value if value.starts_with(b"os.unix=s") => Some(Kind::Link),
        _ => Some(Kind::Other),
    }
}

/// A time as FTP writes it: `20260102030405`, in UTC, perhaps with a fraction.
pub(super) fn moment(text: &str) -> Option<i64> {
    let digits = text.split('.').next()?;
    if digits.len() != 14 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| digits[from..to].parse::<i16>().ok();
    let small = |from: usize| part(from, from + 2).and_then(|part| i8::try_from(part).ok());
    let (year, month, day) = (part(0, 4)?, small(4)?, small(6)?);
    // A leap second is the one before.
    let (hour, minute, second) = (small(8)?, small(10)?, small(12)?.min(59));
    let time = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    let time = time.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp().as_second())
}

const LONGEST_UNIQUE: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_tells_name_type_size_and_time() {
        let line = b"Type=file;Size=12;Modify=20260102030405.123;UNIX.mode=0644;unique=a1; a b.pdf";
        let entry = machine_line(line).unwrap();
        assert_eq!(entry.name, b"a b.pdf");
        assert_eq!((entry.kind, entry.size), (Kind::File, Some(12)));
        assert_eq!(entry.modified, Some(1_767_323_045));
        assert_eq!(entry.unique.as_deref(), Some(b"a1".as_slice()));
    }

    #[test]
    fn what_is_odd_in_a_line_of_a_machine_costs_no_more_than_itself() {
        assert_eq!(machine_line(b"type=cdir; ."), None);
        assert_eq!(machine_line(b"nospace"), None);
        let entry =
            machine_line(b"type=OS.unix=slink:/etc;size=-1;modify=20269902030405; l").unwrap();
        assert_eq!(
            (entry.kind, entry.size, entry.modified),
            (Kind::Link, None, None)
        );
        let entry = machine_line(b";;=; \xff\xfe").unwrap();
        assert_eq!(
            (entry.kind, entry.name.as_slice()),
            (Kind::Other, b"\xff\xfe".as_slice())
        );
    }

    #[test]
    fn lines_for_people_are_read_too() {
        let lines: [(&[u8], &[u8], Kind); 4] = [
            (
                b"-rw-r--r--   1 me us   12 Jan  2 03:04 a b.pdf",
                b"a b.pdf",
                Kind::File,
            ),
            (
                b"drwxr-xr-x   2 me us 4096 Jan  2  2025 d\xe9",
                b"d\xe9",
                Kind::Directory,
            ),
            (
                b"lrwxrwxrwx   1 me us    4 Jan  2 03:04 l -> /etc",
                b"l",
                Kind::Link,
            ),
            (
                b"01-02-26  03:04AM       <DIR>          dos",
                b"dos",
                Kind::Directory,
            ),
        ];
        for (line, name, kind) in lines {
            let entry = human_line(line).unwrap();
            assert_eq!((entry.name.as_slice(), entry.kind), (name, kind));
        }
        assert_eq!(human_line(b"total 12"), None);
        assert_eq!(human_line(b"drwxr-xr-x 2 me us 4096 Jan  2  2025 .."), None);
    }

    #[test]
    fn moments_are_read_exactly() {
        assert_eq!(moment("19700101000000"), Some(0));
        assert_eq!(moment("20161231235960"), Some(1_483_228_799));
        for text in [
            "",
            "2026",
            "20260102 30405",
            "20261301000000",
            "99999999999999",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
