//! Identifiers and addresses: DOI, ISSN, arXiv, e-mail, web addresses, dates, copyright.

use memchr::memmem;

use super::super::reading::{Reading, WordKind};
use super::Sheet;

pub(super) fn measure(reading: &Reading, sheet: &mut Sheet) {
    let text = reading.text().as_bytes();
    let head_end = reading.lines.get(90).or(reading.lines.last());
    let head = head_end.map_or("", |line| {
        let end = reading.line(line).as_ptr() as usize - reading.text().as_ptr() as usize;
        &reading.text()[..end + reading.line(line).len()]
    });
    let head = head.as_bytes();
    let count = |text: &[u8], needle: &str| memmem::find_iter(text, needle.as_bytes()).count();
    let any = |text: &[u8], needles: &[&str]| {
        needles
            .iter()
            .any(|needle| memmem::find(text, needle.as_bytes()).is_some())
    };
    sheet.count("identifiers.doi", "DOIs", dois(text) as f32);
    sheet.flag(
        "identifiers.doi_early",
        "a DOI near the beginning",
        dois(head) > 0,
    );
    sheet.flag(
        "identifiers.arxiv_early",
        "an arXiv number near the beginning",
        any(head, &["arXiv:", "arXiv."]),
    );
    sheet.flag("identifiers.issn", "an ISSN", any(text, &["ISSN"]));
    sheet.flag(
        "identifiers.isbn_early",
        "an ISBN near the beginning",
        any(head, &["ISBN"]),
    );
    sheet.flag(
        "identifiers.copyright_early",
        "a copyright notice near the beginning",
        any(head, &["©", "Copyright", "copyright", "(c) 20", "(C) 20"]),
    );
    sheet.flag(
        "identifiers.subject",
        "a subject classification such as UDC, MSC or JEL near the beginning",
        any(
            head,
            &[
                "УДК",
                "ББК",
                "UDC ",
                "UDK ",
                "UDC:",
                "UDK:",
                "中图分类号",
                "MSC 20",
                "MSC20",
                "JEL ",
                "PACS",
                "Mathematics Subject Classification",
                "DOI: 10",
                "doi: 10",
            ],
        ),
    );
    sheet.flag(
        "identifiers.orcid",
        "an ORCID",
        any(text, &["orcid.org", "ORCID", "0000-000"]),
    );
    sheet.flag(
        "identifiers.cover",
        "a cover by a repository such as HAL or JSTOR",
        reading.cover.is_some(),
    );
    sheet.flag(
        "identifiers.license",
        "a Creative Commons licence near the beginning",
        any(
            head,
            &[
                "Creative Commons",
                "creativecommons",
                "CC BY",
                "CC-BY",
                "Attribution License",
                "open access article",
            ],
        ),
    );
    sheet.flag(
        "identifiers.received",
        "dates of receipt and acceptance",
        any(
            text,
            &[
                "Received",
                "received:",
                "RECEIVED",
                "Eingegangen",
                "Recibido",
                "Reçu",
                "Recebido",
                "收稿日期",
                "Поступила",
            ],
        ) && any(
            text,
            &[
                "ccepted",
                "ACCEPTED",
                "evised",
                "ublished",
                "Aceptado",
                "Aceito",
                "angenommen",
                "Accepté",
            ],
        ),
    );
    sheet.flag(
        "identifiers.volume_early",
        "a volume or number of a journal near the beginning",
        any(
            head,
            &[
                "Vol.", "VOL.", "Volume ", "Vol ", "No. ", "pp.", "Bd.", "卷", "Heft ", "Jg.",
            ],
        ),
    );
    sheet.count(
        "identifiers.mails_early",
        "e-mail addresses near the beginning",
        (count(head, "@").min(12)) as f32,
    );
    sheet.rate(
        "identifiers.mails",
        "e-mail addresses in a thousand words",
        count(text, "@") as f32,
    );
    sheet.rate(
        "identifiers.addresses",
        "web addresses in a thousand words",
        (count(text, "http") + count(text, "www.")) as f32,
    );
    sheet.count(
        "identifiers.addresses_early",
        "web addresses near the beginning",
        (count(head, "http") + count(head, "www.")) as f32,
    );
    dates(reading, sheet);
}

/// DOIs by their shape, "10.NNNN/".
fn dois(text: &[u8]) -> usize {
    let starts = memmem::find_iter(text, b"10.");
    let is_doi = |at: &usize| {
        let rest = &text[at + 3..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (4..=9).contains(&digits) && rest.get(digits) == Some(&b'/')
    };
    starts.filter(is_doi).count()
}

/// Days and hours: minutes, newsletters, syllabi and invoices are full of them.
fn dates(reading: &Reading, sheet: &mut Sheet) {
    let (mut days, mut hours, mut ranges, mut prices) = (0, 0, 0, 0);
    let is_year = |number: u32| (1900..=2035).contains(&number);
    for pair in reading.words.windows(2) {
        let [word, next] = pair else {
            continue;
        };
        if word.kind != WordKind::Number {
            continue;
        }
        let both = next.kind == WordKind::Number;
        days += usize::from(
            both && word.number <= 31
                && matches!(word.next, '/' | '.')
                && matches!(next.next, '/' | '.')
                && next.number <= 31
                && word.length <= 2
                && next.length <= 2,
        );
        hours += usize::from(both && word.next == ':' && word.number <= 24 && next.length == 2);
        ranges += usize::from(
            is_year(word.number)
                && matches!(word.next, '-' | '–' | '—' | ' ')
                && (both && is_year(next.number)
                    || reading.word(next).eq_ignore_ascii_case("present")),
        );
        prices += usize::from(matches!(word.previous, '$' | '€' | '£'));
    }
    sheet.rate(
        "dates.days",
        "dates in numbers in a thousand words",
        days as f32,
    );
    sheet.rate(
        "dates.hours",
        "times of day in a thousand words",
        hours as f32,
    );
    sheet.rate(
        "dates.ranges",
        "ranges of years, as in CVs, in a thousand words",
        ranges as f32,
    );
    sheet.rate("dates.prices", "prices in a thousand words", prices as f32);
}
