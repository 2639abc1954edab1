//! The path that Heritrix's MirrorWriter gives to the file of a URL, as far as the URL determines it.
//!
//! A path is the host, the segments of the URL's path, and a name made of the last one. Whether a name got a number, because
//! something else had it already, only the tree itself can tell: see `root`.

use std::borrow::Cow;

use super::location::Location;
use super::segment::Segment;

/// The paths at which the file of a URL may be, the likeliest first. Each is made when it is asked for: mostly the first is
/// the right one.
pub(super) fn paths(url: &str) -> impl Iterator<Item = Vec<Segment>> + '_ {
    let location = Location::of(url.as_bytes()).filter(|_| url.starts_with("http"));
    location.into_iter().flat_map(|location| {
        let query = location.query.unwrap_or_default();
        let has = |is: fn(u8) -> bool| has_escape(location.path, is) || has_escape(query, is);
        let is_escaped = has(|_| true);
        // Then bytes that are no text may be among them, which the writer has never seen escaped.
        let is_mixed = has(is_high) && has(|byte| !is_high(byte));
        // Most writers were not told to make directories for ports. Heritrix decodes the path, but other versions of the
        // library that it uses did not.
        let starts = [false, true]
            .into_iter()
            .filter(move |port| !port || location.port.is_some());
        let forms = starts.flat_map(move |port| {
            let forms = [
                (Form::Decoded, true),
                (Form::Raw, is_escaped),
                (Form::Bytes, is_mixed),
            ];
            let forms = forms.into_iter().filter(|(_, is_other)| *is_other);
            forms.map(move |(form, _)| (port, form))
        });
        forms.flat_map(move |(port, form)| forms_of(&location, port, form))
    })
}

/// The path as it is, and what the writer makes of it if it is too long: one directory for all. How long that is depends
/// on where the mirror was then, so that both may be right.
fn forms_of(
    location: &Location<'_>,
    port: bool,
    form: Form,
) -> impl Iterator<Item = Vec<Segment>> + use<> {
    let formed = |text| match form {
        Form::Raw => Cow::Borrowed(text),
        Form::Decoded => decoded(text),
        Form::Bytes => decode(text, is_high),
    };
    let query = location.query.map(formed).unwrap_or_default();
    let mut path = vec![Segment::exact(&location.host.to_ascii_lowercase())];
    path.extend(location.port.filter(|_| port).map(Segment::directory));
    let start = path.len();
    add_segments(&formed(location.path), &query, &mut path);

    let length: usize = path.iter().map(|segment| segment.length() + 1).sum();
    let is_long = length > LONG_MAYBE && path.len() > start + 1;
    let short = is_long.then(|| {
        let mut short = path[..start].to_vec();
        short.push(Segment::directory(b"LONG"));
        short.extend(path.last().cloned());
        short
    });
    let (first, second) = match length > LONG_SURELY {
        true => (short, Some(path)),
        false => (Some(path), short),
    };
    let paths = first.into_iter().chain(second);
    paths.filter(|path| path.iter().all(Segment::is_harmless))
}

/// Parses a stated path: its names have no numbers.
pub(super) fn plain(file: &[u8]) -> Option<Vec<Segment>> {
    let names = file.split(|byte| *byte == b'/');
    let names = names.filter(|name| !matches!(*name, b"" | b"."));
    let path: Vec<Segment> = names.map(Segment::exact).collect();
    let harmless = !path.is_empty() && path.iter().all(Segment::is_harmless);
    harmless.then_some(path)
}

fn add_segments(path: &[u8], query: &[u8], segments: &mut Vec<Segment>) {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    let (directories, name) = match slash {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&b""[..], path),
    };
    let directories = directories.split(|byte| *byte == b'/');
    let directories = directories.filter(|directory| !directory.is_empty());
    segments.extend(directories.map(Segment::directory));
    segments.push(match name {
        b"" => Segment::end(b"index.html", query),
        name => Segment::end(name, query),
    });
}

/// The treatment of percent-escapes.
#[derive(Clone, Copy)]
enum Form {
    Decoded,
    Raw,
    /// Only what is not ASCII is decoded.
    Bytes,
}

/// A text without its escapes.
pub(super) fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    decode(text, |_| true)
}

fn is_high(byte: u8) -> bool {
    byte >= 0x80
}

/// Whether a text has an escape of a certain kind.
fn has_escape(text: &[u8], is: fn(u8) -> bool) -> bool {
    let mut marks = memchr::memchr_iter(b'%', text);
    marks.any(|at| escaped(text, at).map_or_else(|| is(b'%'), is))
}

/// The byte that an escape stands for.
fn escaped(text: &[u8], at: usize) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    let (high, low) = digit(at + 1).zip(digit(at + 2))?;
    Some((high << 4 | low) as u8)
}

/// A text without the escapes of some bytes.
fn decode(text: &[u8], which: fn(u8) -> bool) -> Cow<'_, [u8]> {
    if !text.contains(&b'%') {
        return Cow::Borrowed(text);
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let escaped = match byte {
            b'%' => escaped(text, at).filter(|byte| which(*byte)),
            _ => None,
        };
        decoded.push(escaped.unwrap_or(byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    Cow::Owned(decoded)
}

/// From here on the writer shortens paths, counted with the base directory, whose length nobody knows any more.
const LONG_SURELY: usize = 768;
const LONG_MAYBE: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(path: &[Segment]) -> String {
        let names: Vec<String> = path
            .iter()
            .map(|segment| String::from_utf8_lossy(&segment.name(None)).into_owned())
            .collect();
        names.join("/")
    }

    fn first(url: &str) -> String {
        paths(url)
            .next()
            .map(|path| joined(&path))
            .unwrap_or_default()
    }

    #[test]
    fn paths_are_those_of_the_mirror_writer() {
        for (url, expected) in [
            ("http://H.example/", "h.example/index.html"),
            ("http://h.example", "h.example/index.html"),
            ("http://h/p/", "h/p/index.html"),
            ("http://h/p/show.pdf", "h/p/show.pdf"),
            ("http://h/p/show.pdf?id=3", "h/p/showid=3.pdf"),
            ("http://h/p/show?id=3", "h/p/showid=3"),
            ("http://h/?id=3", "h/indexid=3.html"),
            ("http://h/p?", "h/p"),
            ("http://h:8080/x", "h/x"),
            ("https://u:p@h/x#y", "h/x"),
            ("http://h/.hidden/.htaccess", "h/%2Ehidden/%2Ehtaccess"),
            ("http://h/.a.b", "h/%2Ea.b"),
            ("http://h/a.", "h/a."),
            ("http://h/a.tar.gz", "h/a.tar.gz"),
            ("http://h/a.tar.gz?v=1", "h/a.tarv=1.gz"),
            ("http://h/a%20b.pdf", "h/a b.pdf"),
            ("http://h/a//b", "h/a/b"),
            ("http://h/x.d/y", "h/x.d/y"),
        ] {
            assert_eq!(first(url), expected, "{url}");
        }
    }

    #[test]
    fn escapes_are_tried_as_they_are_too() {
        let all: Vec<String> = paths("http://h:81/a%20b?c%3D1")
            .map(|path| joined(&path))
            .collect();

        assert_eq!(
            all,
            ["h/a bc=1", "h/a%20bc%3D1", "h/81/a bc=1", "h/81/a%20bc%3D1"]
        );
    }

    #[test]
    fn names_that_are_too_long_are_cut_at_the_query_first() {
        let name = |url: &str| first(url).rsplit('/').next().unwrap_or_default().to_owned();

        let with_query = name(&format!(
            "http://h/{}.pdf?{}",
            "m".repeat(100),
            "q".repeat(300)
        ));
        assert_eq!(
            with_query,
            format!("{}{}.pdf", "m".repeat(100), "q".repeat(150))
        );
        let main = name(&format!("http://h/{}.pdf?q", "m".repeat(300)));
        assert_eq!(main, format!("{}.pdf", "m".repeat(250)));
        let directory = first(&format!("http://h/{}/x", "d".repeat(300)));
        assert!(
            directory.contains(&format!("/{}/x", "d".repeat(255))),
            "{directory}"
        );
        let escape = format!("{}%41", "m".repeat(253));
        let url = format!("http://h/{escape}");
        let raw = paths(&url).nth(1).unwrap();
        assert_eq!(joined(&raw), format!("h/{}", "m".repeat(253)));
        let characters = "\u{e9}".repeat(300);
        assert_eq!(
            name(&format!("http://h/{characters}")),
            "\u{e9}".repeat(254)
        );
    }

    #[test]
    fn long_paths_are_looked_for_in_one_directory() {
        let url = format!("http://h/{}end.pdf", "directory/".repeat(90));

        let all: Vec<String> = paths(&url).map(|path| joined(&path)).collect();

        assert_eq!(all[0], "h/LONG/end.pdf");
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn numbers_stand_behind_the_main_part() {
        let path = paths("http://h/p/show.pdf?id=3").next().unwrap();

        assert_eq!(path[1].name(Some(2)), b"p2");
        assert_eq!(path[2].name(Some(12)), b"show12id=3.pdf");
        let url = format!("http://h/{}", "x".repeat(300));
        let long = paths(&url).next().unwrap();
        assert_eq!(
            long[1].name(Some(10)),
            format!("{}10", "x".repeat(252)).into_bytes()
        );
    }

    #[test]
    fn no_url_leads_out() {
        for url in [
            "http://../x",
            "http://./x",
            "http://h/a?b/c",
            "ftp://h/x",
            "dns:h",
            "",
        ] {
            assert_eq!(paths(url).count(), 0, "{url}");
        }
        for url in [
            "http://h/../../etc/passwd",
            "http://h/%2e%2e/%2E%2E/etc/passwd",
            "http://h/..%2f..%2fx",
        ] {
            for path in paths(url) {
                let names: Vec<Vec<u8>> = path.iter().map(|segment| segment.name(None)).collect();
                let harmless = |name: &Vec<u8>| name != b".." && !name.contains(&b'/');
                assert!(names.iter().all(harmless), "{url}");
            }
        }
        assert_eq!(plain(b"../x"), None);
        assert_eq!(plain(b"a/../../x"), None);
        assert_eq!(plain(b""), None);
        assert_eq!(joined(&plain(b"./a//b/.c").unwrap()), "a/b/.c");
    }
}
