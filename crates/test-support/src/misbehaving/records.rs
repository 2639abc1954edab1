//! The records of the repository, with the faults that are inside of them.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{Fault, Script};

/// The header of a record.
pub(super) fn header(script: &Script, number: usize) -> String {
    let status = match number % 10 == 9 {
        true => " status=\"deleted\"",
        false => "",
    };
    let identifier = match script.has(&Fault::NoIdentifier(number)) {
        true => String::new(),
        false => format!("<identifier>{}</identifier>", Script::identifier(number)),
    };
    let moment = script.moment(number);
    let mut datestamp = written(
        moment,
        script.days || script.has(&Fault::DaysInsteadOfSeconds),
    );
    if script.has(&Fault::FractionalSeconds) {
        datestamp = datestamp.replace('Z', ".123Z");
    }
    if script.has(&Fault::LocalTime) {
        datestamp = written(moment + 3600, false).replace('Z', "+01:00");
    }
    if script.has(&Fault::FutureDatestamp(number)) {
        datestamp = "2999-01-01T00:00:00Z".to_owned();
    }
    let set = if number.is_multiple_of(2) {
        "even"
    } else {
        "odd"
    };
    format!(
        "<header{status}>{identifier}<datestamp>{datestamp}</datestamp><setSpec>{set}</setSpec></header>"
    )
}

/// A record.
pub(super) fn record(script: &Script, number: usize) -> String {
    let header = header(script, number);
    if number % 10 == 9 {
        return format!("<record>{header}</record>");
    }
    let mut title = format!("Record {number}: caf\u{e9}");
    let mut after = String::new();
    for fault in &script.faults {
        match fault {
            Fault::IllegalCharacter(n) if *n == number => title.push('\u{1a}'),
            Fault::IllegalReference(n) if *n == number => title.push_str("&#x1A;"),
            Fault::InvalidBytes(n) if *n == number => title.push_str(INVALID),
            Fault::SplitCharacter(n) if *n == number => title.push_str(SPLIT),
            Fault::BareAmpersand(n) if *n == number => title.push_str(" AT&T & more"),
            Fault::UnknownEntity(n) if *n == number => title.push_str(" &eacute;"),
            Fault::UndeclaredPrefix(n) if *n == number => after.push_str("<foo:bar/>"),
            Fault::UnknownElement(n) if *n == number => {
                after.push_str("<dc:colour>red</dc:colour>");
            }
            Fault::DuplicateAttribute(n) if *n == number => after.push_str("<a b='1' b='2'/>"),
            Fault::MismatchedTags(n) if *n == number => after.push_str("<b><i></b></i>"),
            Fault::DeepNesting(n) if *n == number => {
                after.push_str(&format!("{}{}", "<d>".repeat(1000), "</d>".repeat(1000)));
            }
            Fault::LongRecord(n, length) if *n == number => title.push_str(&"x".repeat(*length)),
            Fault::SmallEntities => title.push_str(" &uuml;&who;"),
            Fault::EntityBomb => title.push_str("&bomb;"),
            Fault::ExternalEntity => title.push_str("&file;"),
            _ => {}
        }
    }
    format!(
        "<record>{header}<metadata><oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
         http://www.openarchives.org/OAI/2.0/oai_dc.xsd\"><dc:title>{title}</dc:title><dc:creator>Author, A.</dc:creator>\
         <dc:subject>testing &amp; failing</dc:subject><dc:date>2020</dc:date>\
         <dc:identifier>http://misbehaving.example/{number}</dc:identifier>{after}</oai_dc:dc></metadata></record>"
    )
}

/// Text as bytes; faults that are no text are put in here.
pub(super) fn bytes(script: &Script, text: &str) -> Vec<u8> {
    if script.has(&Fault::Latin1) {
        let latin = |c: char| u8::try_from(u32::from(c)).unwrap_or(b'?');
        return text.chars().map(latin).collect();
    }
    if script.has(&Fault::Utf16) {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        return units.flat_map(u16::to_le_bytes).collect();
    }
    let mut bytes = text.as_bytes().to_vec();
    for (mark, fault) in [(INVALID, &b"\xe9"[..]), (SPLIT, b"\xc5")] {
        while let Some(at) = bytes.windows(3).position(|w| w == mark.as_bytes()) {
            bytes.splice(at..at + 3, fault.iter().copied());
        }
    }
    bytes
}

/// A moment as text.
pub(super) fn written(seconds: i64, days: bool) -> String {
    let format = match days {
        true => "%Y-%m-%d",
        false => "%Y-%m-%dT%H:%M:%SZ",
    };
    Timestamp::from_second(seconds)
        .unwrap()
        .strftime(format)
        .to_string()
}

/// The moment of a text. A day is its first second, or its last if `end` is set.
pub(super) fn seconds_of(text: &str, end: bool) -> i64 {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return moment.as_second();
    }
    let day: Date = text.parse().unwrap_or(Date::ZERO);
    let midnight = day.to_zoned(TimeZone::UTC).unwrap().timestamp();
    midnight.as_second() + if end { 86_399 } else { 0 }
}

/// Stand for bytes that are no text, until the text is made bytes: characters for private use.
const INVALID: &str = "\u{e001}";
const SPLIT: &str = "\u{e002}";
