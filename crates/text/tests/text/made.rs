//! Documents made for a test, so that it shows what matters to it.

use std::io::Write;

/// A PDF document of pages with a line of text each.
pub(crate) fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = Vec::new();
    let kids: Vec<_> = (0..pages.len())
        .map(|page| format!("{} 0 R", 4 + 2 * page))
        .collect();
    objects.push("<< /Type /Catalog /Pages 2 0 R >>".to_owned());
    objects.push(format!(
        "<< /Type /Pages /Count {} /Kids [{}] >>",
        pages.len(),
        kids.join(" ")
    ));
    objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned());
    for (number, text) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * number
        ));
        let content = match text.is_empty() {
            true => String::new(),
            false => format!("BT /F1 12 Tf 50 700 Td ({text}) Tj ET"),
        };
        objects.push(stream(&content));
    }
    assembled(&objects, "")
}

/// A page on which something is drawn, but nothing written.
pub(crate) fn drawn_pdf() -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>".to_owned(),
        stream("0 0 0 rg 100 100 300 400 re f"),
    ];
    assembled(&objects, "")
}

/// A page that looks like `text`, in whose text layer every letter is a character without a meaning.
pub(crate) fn unreadable_pdf(text: &str) -> Vec<u8> {
    let lines = format!("({text}) Tj T* ").repeat(4);
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        stream(&format!("BT /F1 14 Tf 20 TL 40 700 Td {lines} ET")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>".to_owned(),
        stream(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def \
             1 begincodespacerange <00> <FF> endcodespacerange \
             1 beginbfrange <21> <7E> <E021> endbfrange endcmap end end",
        ),
    ];
    assembled(&objects, "")
}

pub(crate) fn stream(content: &str) -> String {
    format!(
        "<< /Length {} >>\nstream\n{content}\nendstream",
        content.len()
    )
}

/// Objects with the table that says where they are.
pub(crate) fn assembled(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        write!(bytes, "{} 0 obj\n{object}\nendobj\n", number + 1).unwrap();
    }
    let table = bytes.len();
    write!(
        bytes,
        "xref\n0 {}\n0000000000 65535 f \n",
        objects.len() + 1
    )
    .unwrap();
    for place in places {
        writeln!(bytes, "{place:010} 00000 n ").unwrap();
    }
    let size = objects.len() + 1;
    write!(
        bytes,
        "trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n"
    )
    .unwrap();
    bytes
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// A zip archive whose members are stored as they are.
pub(crate) fn zip(members: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, content) in members {
        let mut crc = flate2::Crc::new();
        crc.update(content.as_bytes());
        bytes.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0");
        bytes.extend(crc.sum().to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(content.as_bytes());
    }
    bytes.extend(b"PK\x05\x06");
    bytes.extend([0; 18]);
    bytes
}

pub(crate) const LINE: &str =
    "The quick brown fox jumps over the lazy dog and runs away into the wood";

pub(crate) fn postscript(text: &str) -> Vec<u8> {
    format!(
        "%!PS-Adobe-3.0\n%%Pages: 1\n/Times-Roman findfont 12 scalefont setfont\n72 700 moveto ({text}) show\nshowpage\n%%EOF\n"
    )
    .into_bytes()
}
