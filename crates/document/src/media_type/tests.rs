//! The cases that a sniffer must get right, and those that others get wrong.

use std::io::Write;

use super::*;

fn sniffed(head: &[u8]) -> Option<String> {
    decide(None, head).sniffed
}

fn assert_sniffed(expected: &str, heads: &[&[u8]]) {
    for head in heads {
        let shown = String::from_utf8_lossy(&head[..head.len().min(80)]);
        assert_eq!(sniffed(head).as_deref(), Some(expected), "{shown}");
    }
}

/// A small PDF, with a line of bytes above 127 and a stream, as most have.
fn pdf() -> Vec<u8> {
    b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n1 0 obj\n<< /Length 9 >>\nstream\n\x00\x01\x02\x9A\xFF\nendstream\nendobj\n".to_vec()
}

/// A zip archive of members that are not compressed.
fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in members {
        archive.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0");
        archive.extend((content.len() as u32).to_le_bytes());
        archive.extend((content.len() as u32).to_le_bytes());
        archive.extend((name.len() as u16).to_le_bytes());
        archive.extend([0, 0]);
        archive.extend(name.as_bytes());
        archive.extend(*content);
    }
    archive
}

/// An OLE2 file whose directory is in sector `sector` and has a root and one stream.
fn ole(sector: u32, stream: &str) -> Vec<u8> {
    let mut file = vec![0; 512 * (sector as usize + 2)];
    file[..8].copy_from_slice(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]);
    file[30] = 9;
    file[48..52].copy_from_slice(&sector.to_le_bytes());
    for (entry, name) in ["Root Entry", stream].iter().enumerate() {
        let at = 512 * (sector as usize + 1) + entry * 128;
        for (index, unit) in name.encode_utf16().enumerate() {
            file[at + index * 2..][..2].copy_from_slice(&unit.to_le_bytes());
        }
    }
    file
}

#[test]
fn pdf_is_found_behind_junk() {
    let with_junk = |junk: &[u8]| [junk, &pdf()].concat();
    assert_sniffed(
        "application/pdf",
        &[
            &pdf(),
            &with_junk(&[b'x'; 12]),
            &with_junk(&[0; 900]),
            &with_junk("\u{feff}".as_bytes()),
            &with_junk(b"\r\n\r\n"),
            &with_junk(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n"),
            &with_junk(b"<br />\n<b>Warning</b>: include(x.php) failed\n"),
            &with_junk(b"\x1B%-12345X@PJL ENTER LANGUAGE = PDF\r\n"),
            b"%PDF-1.7\r%\xB5\xB5\xB5\xB5\r",
            b"%PDF-1.2\n1 0 obj\n<< /Type /Catalog >>\nendobj\n",
            b"%PDF-1.3\n% made by hand\n\n12 0 obj << >> endobj",
        ],
    );
    assert_ne!(
        sniffed(&with_junk(&[b'x'; 1100])).as_deref(),
        Some("application/pdf")
    );
}

/// Issue 18, A5 and A8.
#[test]
fn the_least_of_a_pdf_is_one_and_no_text() {
    assert_sniffed(
        "application/pdf",
        &[
            b"%PDF-1.7",
            b"%PDF-1.7\n",
            b"%PDF-1.4\n%%EOF\n",
            b"%PDF-1.4\r\n% made by hand\r\n%%EOF",
            b"%PDF-1.4\ntrailer<</Root<</Pages<<>>>>>>",
            b"%PDF-1.4\ntrailer\n<< /Size 1 >>\n",
            b"%PDF-1.0 1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<<>>endobj",
            b"%PDF-1.4\nxref\n0 1\n",
        ],
    );
    assert_sniffed(
        "text/plain",
        &[
            b"%PDF-1.4\ntrailer parks have had a bad name since.\n",
            b"Files begin with\n%PDF-1.4\n",
        ],
    );
}

/// Issue 18, A5.
#[test]
fn a_declaration_makes_no_document_of_what_is_none() {
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n * n / 7 % 251) as u8).collect();
    for declared in [
        "application/pdf",
        "application/x-pdf",
        "application/postscript",
        "application/rtf",
        "application/epub+zip",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ] {
        assert_eq!(
            decide(Some(declared), &noise).decided,
            UNKNOWN,
            "{declared}"
        );
        assert_eq!(decide(Some(declared), b"").decided, UNKNOWN, "{declared}");
    }
    assert_eq!(decide(Some("image/png"), b"").decided, UNKNOWN);
    // Not all of these begin with a signature.
    for declared in [
        "application/msword",
        "audio/mpeg",
        "application/x-nobody-knows",
    ] {
        assert_eq!(decide(Some(declared), &noise).decided, declared);
    }
}

#[test]
fn texts_that_speak_of_pdf_are_texts() {
    assert_sniffed(
        "text/plain",
        &[
            b"%PDF-",
            b"%PDF- is what every PDF file begins with.\n",
            b"%PDF-1.4 is what such files begin with, and 1 0 obj follows.\n1 0 obj\n",
            b"%PDF-1.4\nis what such files begin with. Then there is an obj.\n",
            b"%PDF-1.4\nAuf Deutsch gesagt: f\xFCr Leser ge\xF6ffnet.\n",
            b"# Formats\n\nA file that begins with %PDF-1.5 is a PDF.\n",
        ],
    );
    assert_sniffed(
        "text/html",
        &[b"<html><pre>\n%PDF-1.4\n1 0 obj\n<< >>\n</pre></html>"],
    );
}

#[test]
fn postscript_is_found_in_its_wrappings() {
    assert_sniffed(
        "application/postscript",
        &[
            b"%!PS-Adobe-3.0\n%%Pages: 3\n",
            b"%!PS\n/x 1 def\n",
            b"%!PS (but not EPSF; comments have been disabled)\n/TeXDict 250 dict def\n",
            b"%!\n%%Creator: hand\n",
            b"\x04%!PS-Adobe-3.0\n",
            b"\x04\x04\r\n%!PS-Adobe-3.0 EPSF-3.0\n",
            b"\xEF\xBB\xBF%!PS-Adobe-2.0\n",
            b"\x1B%-12345X@PJL JOB\r\n@PJL ENTER LANGUAGE = POSTSCRIPT \r\n%!PS-Adobe-3.0\r\n",
            b"\xC5\xD0\xD3\xC6\x1E\0\0\0\x10\x20\0\0",
            b"From: printer\nSubject: job\n\n%!PS-Adobe-3.0\n%%Title: x\n",
        ],
    );
    assert_sniffed(
        "application/vnd.hp-pcl",
        &[b"\x1B%-12345X@PJL ENTER LANGUAGE = PCL\r\n\x1BE"],
    );
    assert_sniffed(
        "application/x-font-type1",
        &[b"%!PS-AdobeFont-1.0: CMR10 003.002\n"],
    );
    assert_sniffed(
        "text/plain",
        &[b"%!PS is how PostScript begins.\n", b"%! what?\n"],
    );
}

#[test]
fn compressed_files_and_archives_are_told_apart() {
    for (expected, head) in [
        ("application/gzip", &b"\x1F\x8B\x08\0"[..]),
        ("application/x-compress", b"\x1F\x9D\x90"),
        ("application/x-bzip2", b"BZh91AY&SY\0"),
        ("application/x-xz", b"\xFD7zXZ\0\0\x04"),
        ("application/zstd", b"\x28\xB5\x2F\xFD\x04"),
        ("application/zip", b"PK\x05\x06\0\0"),
    ] {
        assert_sniffed(expected, &[head]);
    }
    assert_sniffed(
        "application/zip",
        &[&zip(&[("a.txt", b"x"), ("b.pdf", b"y")])],
    );
    assert_sniffed(
        "text/plain",
        &[b"BZh is how they begin", b"PK and others", b"ID3 tags"],
    );
}

#[test]
fn office_documents_are_known_by_their_members() {
    let types = b"<Types/>";
    for (member, expected) in [
        ("word/document.xml", "wordprocessingml.document"),
        ("ppt/presentation.xml", "presentationml.presentation"),
        ("xl/workbook.xml", "spreadsheetml.sheet"),
    ] {
        let head = zip(&[
            ("[Content_Types].xml", types),
            ("_rels/.rels", b""),
            (member, b"<x/>"),
        ]);
        let expected = format!("application/vnd.openxmlformats-officedocument.{expected}");
        assert_sniffed(&expected, &[&head]);
    }
    let template = "application/vnd.oasis.opendocument.text-template";
    assert_sniffed(
        template,
        &[&zip(&[
            ("mimetype", template.as_bytes()),
            ("content.xml", b""),
        ])],
    );
    assert_sniffed(
        "application/epub+zip",
        &[&zip(&[("mimetype", b"application/epub+zip")])],
    );
    assert_sniffed(
        "application/java-archive",
        &[&zip(&[("META-INF/MANIFEST.MF", b"")])],
    );
}

#[test]
fn older_office_documents_are_known_by_their_streams() {
    for (stream, expected) in [
        ("WordDocument", "application/msword"),
        ("PowerPoint Document", "application/vnd.ms-powerpoint"),
        ("Workbook", "application/vnd.ms-excel"),
        ("Book", "application/vnd.ms-excel"),
        ("VisioDocument", "application/vnd.visio"),
        ("SomethingElse", "application/x-ole-storage"),
    ] {
        assert_sniffed(expected, &[&ole(0, stream), &ole(20, stream)]);
    }
    let mut word = ole(1000, "WordDocument");
    word[512..514].copy_from_slice(&[0xEC, 0xA5]);
    assert_sniffed("application/msword", &[&word]);
    let far = ole(1000, "PowerPoint Document");
    assert_eq!(
        decide(Some("application/vnd.ms-powerpoint"), &far).decided,
        "application/vnd.ms-powerpoint"
    );
    assert_eq!(
        decide(Some("text/html"), &far).decided,
        "application/x-ole-storage"
    );
}

#[test]
fn pages_are_found_behind_blanks_comments_and_marks() {
    let utf16: Vec<u8> = "\u{feff}<html><body>x"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_sniffed(
        "text/html",
        &[
            b"<!DOCTYPE html><html>",
            b"  \r\n\t<HTML lang=en>",
            b"\n\n<!-- made by hand > -->\n<!-- twice -->\n<html>",
            b"\xEF\xBB\xBF<!doctype HTML PUBLIC>",
            &utf16,
            b"<head><title>",
            b"<script>",
            b"<p>Not found</p>",
            b"<h1>404</h1>",
        ],
    );
    assert_sniffed(
        "text/plain",
        &[b"<bold> is no tag", b"< html >", b"<hello@example.org>"],
    );
}

#[test]
fn xml_and_its_vocabularies_are_told_apart() {
    for (expected, head) in [
        ("application/xml", &b"<?xml version='1.0'?><records/>"[..]),
        (
            "application/xml",
            b"\xEF\xBB\xBF<?xml version='1.0'?>\n<!DOCTYPE article SYSTEM 'x'><article/>",
        ),
        (
            "application/xhtml+xml",
            b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0'>\n<html>",
        ),
        (
            "application/xhtml+xml",
            b"<?xml version='1.0'?><!-- x --><html xmlns='http://www.w3.org/1999/xhtml'>",
        ),
        (
            "application/rss+xml",
            b"<?xml version='1.0'?>\n<rss version='2.0'>",
        ),
        ("application/rss+xml", b"<rss version='2.0'>"),
        (
            "application/atom+xml",
            b"<?xml version='1.0'?><feed xmlns='x'>",
        ),
        (
            "image/svg+xml",
            b"<?xml version='1.0'?><!DOCTYPE svg><svg width='1'>",
        ),
    ] {
        assert_sniffed(expected, &[head]);
    }
}

#[test]
fn what_was_declared_counts_where_the_bytes_leave_it_open() {
    let text = b"some words";
    let archive = zip(&[("a", b"")]);
    let unknown = b"\x01\x02\x03\x04";
    for (declared, head, decided) in [
        (
            Some("application/pdf; charset=x"),
            &pdf()[..],
            "application/pdf",
        ),
        (Some("text/html"), &pdf(), "application/pdf"),
        (Some("text/plain"), &pdf(), "application/pdf"),
        (None, &pdf(), "application/pdf"),
        (Some("application/pdf"), b"<html>sorry", "text/html"),
        (Some("application/pdf"), text, "text/plain"),
        (Some("application/postscript"), text, "text/plain"),
        (Some("image/png"), text, "text/plain"),
        (Some("application/pdf"), unknown, UNKNOWN),
        (Some("application/x-pdf"), unknown, UNKNOWN),
        (Some("text/css"), text, "text/css"),
        (Some("application/json"), text, "application/json"),
        (Some("application/x-tex"), text, "application/x-tex"),
        (Some("application/octet-stream"), text, "text/plain"),
        (Some("application/octet-stream"), unknown, UNKNOWN),
        (Some("no-type"), unknown, UNKNOWN),
        (Some("unknown/unknown"), text, "text/plain"),
        (Some("text/javascript"), b"<!-- hide", "text/javascript"),
        (Some("text/plain"), b"<!-- hide", "text/html"),
        (
            Some("text/html"),
            b"<?xml version='1.0'?><html>",
            "text/html",
        ),
        (
            Some("application/xhtml+xml"),
            b"<!DOCTYPE html><html>",
            "application/xhtml+xml",
        ),
        (
            Some("application/vnd.example+xml"),
            b"<?xml version='1.0'?><a/>",
            "application/vnd.example+xml",
        ),
        (
            Some("application/vnd.android+zip"),
            &archive,
            "application/vnd.android+zip",
        ),
        (Some("application/pdf"), &archive, "application/zip"),
        (Some("text/html"), &archive, "application/zip"),
        (
            Some("application/x-gzip"),
            b"\x1F\x8B\x08\0",
            "application/gzip",
        ),
        (None, b"", UNKNOWN),
        (Some("text/html"), b"", "text/html"),
    ] {
        let found = decide(declared, head);
        assert_eq!(found.decided, decided, "{declared:?} {found:?}");
    }
}

#[test]
fn three_types_are_kept() {
    let found = decide(Some("Text/HTML; charset=utf-8"), &pdf());

    assert_eq!(
        found,
        MediaType {
            declared: Some("text/html".to_owned()),
            sniffed: Some("application/pdf".to_owned()),
            decided: "application/pdf".to_owned(),
        }
    );
    for nothing in ["", "-", " ; charset=x", "text/<script>", &"x".repeat(1000)] {
        assert_eq!(decide(Some(nothing), b"").declared, None, "{nothing}");
    }
}

#[test]
fn every_decided_type_has_an_extension_and_unknown_ones_one_for_all() {
    assert_eq!(extension("application/pdf"), "pdf");
    assert_eq!(extension("text/html"), "html");
    assert_eq!(extension("application/x-nobody-knows"), "bin");
    assert_eq!(extension("../../etc/passwd"), "bin");
}

/// Every prefix of every kind of file, and all with one byte changed, is looked at without a panic.
#[test]
fn damaged_heads_do_no_harm() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"x").unwrap();
    let heads = [
        pdf(),
        gzip.finish().unwrap(),
        zip(&[("mimetype", b"application/epub+zip"), ("word/x", b"")]),
        ole(1, "Workbook"),
        b"\x1B%-12345X@PJL\r\n%!PS\n%%".to_vec(),
        b"<?xml?><!-- --><!DOCTYPE x><html>".to_vec(),
        [&b"a"[..], &[0; 600]].concat(),
    ];
    for head in heads {
        for cut in 0..=head.len() {
            decide(None, &head[..cut]);
        }
        for at in 0..head.len() {
            for value in [0, 0x7F, 0x80, 0xFF] {
                let mut changed = head.clone();
                changed[at] = value;
                decide(Some("application/pdf"), &changed);
            }
        }
    }
}

/// Pictures and packed bodies are noise to a sniffer: every place has every byte once.
#[test]
fn noise_does_no_harm() {
    for shift in 0..=0xFF_u8 {
        let noise: Vec<u8> = (0..1024_usize)
            .map(|at| (at as u8).wrapping_mul(151) ^ shift)
            .collect();
        decide(None, &noise);
    }
}

#[test]
fn a_named_file_with_a_few_control_characters_is_text() {
    let abstracts: [&[u8]; 3] = [
        b"An abstract about sums \x01 and integrals \x12\x0E over measures.",
        b"A text with NUL \0 in its middle.",
        "Über Maße \u{1}\u{2}\u{3}: f\u{14}(x)".as_bytes(),
    ];
    for text in abstracts {
        assert_eq!(decide_named(text), "text/plain");
        assert_eq!(
            decide(None, text).decided,
            UNKNOWN,
            "a crawl is not trusted"
        );
    }
    assert_eq!(
        decide_named(b"<!DOCTYPE html><title>A page</title>\0 with NUL"),
        "text/html"
    );
}

#[test]
fn a_named_file_of_bytes_is_no_text() {
    // Every byte as often as any other, as in what is compressed or encrypted.
    let compressed: Vec<u8> = (0..4096_u32).map(|at| (at * 167 % 256) as u8).collect();
    for binary in [
        &compressed[..],
        b"\x01\x02\x03\x04",
        b"\0\0\0\x20four\0\0\0\0",
        b"",
    ] {
        assert_eq!(decide_named(binary), UNKNOWN);
    }
    assert_eq!(decide_named(&pdf()), "application/pdf");
}
