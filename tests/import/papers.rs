//! PDF documents made of texts, as real programs read them.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A text that the classifier's own tests have, by its name.
pub(crate) fn sample(name: &str) -> String {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../classifier/tests/classifier");
    std::fs::read_to_string(samples.join(name)).unwrap()
}

/// A PDF of a text, with a line at the end that makes it another for each number.
pub(crate) fn printed(text: &str, number: usize) -> Vec<u8> {
    let text = format!("{text}\n\nPrinted as copy {number}.\n");
    let lines: Vec<_> = text.lines().collect();
    let pages: Vec<_> = lines.chunks(LINES).map(page).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        kids(pages.len()),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec(),
    ];
    for (number, content) in pages.into_iter().enumerate() {
        let page = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * number
        );
        objects.push(page.into_bytes());
        objects.push(stream("", content.as_bytes()));
    }
    assembled(&objects, "")
}

/// A PostScript document of a text.
pub(crate) fn printed_as_postscript(text: &str) -> Vec<u8> {
    let mut document = "%!PS-Adobe-3.0\n/Helvetica findfont 10 scalefont setfont\n".to_owned();
    for page in text.lines().collect::<Vec<_>>().chunks(LINES) {
        for (number, line) in page.iter().enumerate() {
            let line = line.replace('\\', "").replace(['(', ')'], "");
            document += &format!("50 {} moveto ({line}) show\n", 790 - 12 * number);
        }
        document += "showpage\n";
    }
    document.into_bytes()
}

/// A PDF that consists of a picture of the first page of another.
pub(crate) fn scanned(pdf: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("printed.pdf");
    std::fs::write(&file, pdf).unwrap();
    let drawn = Command::new("pdftoppm")
        .args(["-gray", "-r", "150", "-l", "1"])
        .arg(&file)
        .output();
    let picture = drawn.unwrap().stdout;
    // P5, width and height, 255, and then the points.
    let head: Vec<_> = picture.splitn(4, |byte| *byte == b'\n').collect();
    let size = String::from_utf8(head[1].to_vec()).unwrap();
    let (width, height) = size.split_once(' ').unwrap();
    let mut points = ZlibEncoder::new(Vec::new(), Compression::fast());
    points.write_all(head[3]).unwrap();
    let image = format!(
        "/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode "
    );
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>"
            .to_vec(),
        stream("", b"595 0 0 842 0 0 cm /I Do"),
        stream(&image, &points.finish().unwrap()),
    ];
    assembled(&objects, "")
}

/// A PDF that wants a password that unknown.
pub(crate) fn encrypted() -> Vec<u8> {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 0 /Kids [] >>".to_vec(),
        b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <0000000000000000000000000000000000000000000000000000000000000000> /U <1111111111111111111111111111111111111111111111111111111111111111> >>".to_vec(),
    ];
    assembled(&objects, "/Encrypt 3 0 R /ID [<00> <00>]")
}

/// A PDF of one page with nothing on it.
pub(crate) fn blank() -> Vec<u8> {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>".to_vec(),
    ];
    assembled(&objects, "")
}

fn kids(pages: usize) -> Vec<u8> {
    let kids: Vec<_> = (0..pages)
        .map(|page| format!("{} 0 R", 4 + 2 * page))
        .collect();
    format!(
        "<< /Type /Pages /Count {pages} /Kids [{}] >>",
        kids.join(" ")
    )
    .into_bytes()
}

fn page(lines: &[&str]) -> String {
    let mut content = "BT /F1 9 Tf 14 TL 40 800 Td\n".to_owned();
    for line in lines {
        let plain = line.chars().filter(char::is_ascii);
        let escaped: String = plain
            .flat_map(|c| {
                let escape = matches!(c, '(' | ')' | '\\').then_some('\\');
                escape.into_iter().chain([c])
            })
            .collect();
        content.push_str(&format!("({escaped}) Tj T*\n"));
    }
    content + "ET"
}

fn stream(more: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< {more}/Length {} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

fn assembled(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        writeln!(bytes, "{} 0 obj", number + 1).unwrap();
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let (table, size) = (bytes.len(), objects.len() + 1);
    write!(bytes, "xref\n0 {size}\n0000000000 65535 f \n").unwrap();
    for place in places {
        writeln!(bytes, "{place:010} 00000 n ").unwrap();
    }
    write!(
        bytes,
        "trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n"
    )
    .unwrap();
    bytes
}

const LINES: usize = 52;
