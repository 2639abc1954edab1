//! Documents that loop, lie, break off, and reach for what is not theirs.

use std::time::{Duration, Instant};

use text::{ExtractOptions, Extracted, Extractor, Limit, Outcome};

use super::{extract, extract_with, made, options};

const PDF: &str = "application/pdf";
const POSTSCRIPT: &str = "application/postscript";

/// Extracts within narrow limits, and sees to it that they hold: for pdftotext, and for the reader of our own.
fn extract_narrowly(bytes: &[u8], media_type: &str) -> Extracted {
    if media_type == PDF {
        let nothing = tempfile::tempdir().unwrap();
        let mut alone = options();
        alone.path = nothing.path().into();
        limited(alone, bytes, media_type);
    }
    limited(options(), bytes, media_type)
}

fn limited(mut options: ExtractOptions, bytes: &[u8], media_type: &str) -> Extracted {
    options.limits.cpu_seconds = 3;
    options.limits.memory_bytes = 700 * 1024 * 1024;
    options.limits.file_bytes = 8 * 1024 * 1024;
    options.wall = Duration::from_secs(60);
    let begun = Instant::now();
    let extracted = extract_with(&Extractor::new(options), bytes, media_type);
    assert!(
        begun.elapsed() < Duration::from_secs(70),
        "{:?}",
        begun.elapsed()
    );
    extracted
}

#[test]
fn a_page_tree_that_loops_comes_to_an_end() {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1000000000 /Kids [2 0 R 3 0 R 2 0 R] >>".to_owned(),
        "<< /Type /Pages /Parent 2 0 R /Count 1000000 /Kids [2 0 R 3 0 R] >>".to_owned(),
    ];
    let extracted = extract_narrowly(&made::assembled(&objects, ""), PDF);
    assert_ne!(extracted.outcome, Outcome::Text, "{extracted:?}");
}

#[test]
fn a_thousand_million_pages_are_a_claim() {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1000000000 /Kids [3 0 R] >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>".to_owned(),
    ];
    let extracted = extract_narrowly(&made::assembled(&objects, ""), PDF);
    assert!(
        extracted.pages.unwrap_or_default() < 1_000_000,
        "{extracted:?}"
    );
    assert_ne!(extracted.outcome, Outcome::Text);
}

#[test]
fn our_own_reader_believes_no_claims() {
    let nothing = tempfile::tempdir().unwrap();
    let alone = |objects: &[String]| {
        let mut options = options();
        options.path = nothing.path().into();
        limited(options, &made::assembled(objects, ""), PDF)
    };
    let catalog = "<< /Type /Catalog /Pages 2 0 R >>".to_owned();

    let loops = "<< /Type /Pages /Count 1000000000 /Kids [2 0 R 3 0 R 2 0 R] >>".to_owned();
    let itself = "<< /Type /Pages /Parent 3 0 R /Count 1000000 /Kids [2 0 R 3 0 R] >>".to_owned();
    let extracted = alone(&[catalog.clone(), loops, itself]);
    assert_ne!(extracted.outcome, Outcome::Text, "{extracted:?}");

    let claims = "<< /Type /Pages /Count 1000000000 /Kids [3 0 R] >>".to_owned();
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>".to_owned();
    let extracted = alone(&[catalog, claims, page]);
    assert!(extracted.pages.unwrap_or_default() < 10, "{extracted:?}");
}

#[test]
fn a_form_that_draws_itself_comes_to_an_end() {
    let form = "/F Do /F Do BT /F1 12 Tf 50 700 Td (again) Tj ET";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources << /XObject << /F 4 0 R >> >> >>"
            .to_owned(),
        format!(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F 4 0 R >> >> /Length {} >>\n\
             stream\n{form}\nendstream",
            form.len()
        ),
        made::stream("/F Do"),
    ];
    extract_narrowly(&made::assembled(&objects, ""), PDF);
}

#[test]
fn half_a_document_is_damaged_or_gives_its_half() {
    let whole = made::pdf(&[made::LINE; 40]);
    let half = extract(&whole[..whole.len() / 2], PDF);
    assert!(
        matches!(half.outcome, Outcome::Text | Outcome::Damaged),
        "{half:?}"
    );
    let beginning = extract(&whole[..100], PDF);
    assert_eq!(beginning.outcome, Outcome::Damaged, "{beginning:?}");
    assert!(beginning.note.is_some());
    assert_eq!(extract(b"", PDF).outcome, Outcome::Empty);
    assert_eq!(
        extract(b"PK\x03\x04 a zip file", PDF).outcome,
        Outcome::Damaged
    );
}

#[test]
fn damaged_postscript_is_told_from_blank_pages() {
    let misspelt = b"%!PS-Adobe-3.0\n(Hello) print\n72 700 moveto (hello) shw\nshowpage\n";
    let extracted = extract(misspelt, POSTSCRIPT);
    assert_eq!(extracted.outcome, Outcome::Damaged, "{extracted:?}");
    let note = extracted.note.unwrap();
    assert_eq!(note, "Error: /undefined in shw");

    let blank = extract(b"%!PS-Adobe-3.0\nshowpage\n", POSTSCRIPT);
    assert_eq!(blank.outcome, Outcome::Empty, "{blank:?}");

    // Noise, which does not pack well, so that the text is behind the break.
    let noise = (0..5000_u32).map(|at| format!("%{}\n", at.wrapping_mul(2_654_435_761)));
    let mut long = format!("%!PS-Adobe-3.0\n{}", noise.collect::<String>()).into_bytes();
    long.extend(made::postscript(made::LINE));
    let packed = made::gzip(&long);
    let broken = extract(&packed[..packed.len() / 2], "application/gzip");
    assert_eq!(broken.outcome, Outcome::Damaged, "{broken:?}");
    assert!(broken.note.is_some());
}

#[test]
fn an_encrypted_document_is_told_from_a_damaged_one() {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>".to_owned(),
        format!(
            "<< /Filter /Standard /V 1 /R 2 /O <{o}> /U <{u}> /P -4 >>",
            o = "11".repeat(32),
            u = "22".repeat(32)
        ),
    ];
    let id = format!("/Encrypt 4 0 R /ID [<{id}> <{id}>]", id = "00".repeat(16));
    let extracted = extract(&made::assembled(&objects, &id), PDF);
    assert_eq!(extracted.outcome, Outcome::Encrypted, "{extracted:?}");
}

#[test]
fn random_damage_is_survived() {
    let whole = made::pdf(&[made::LINE; 3]);
    for seed in 0..12_usize {
        let mut damaged = whole.clone();
        for step in 0..40 {
            let at = (seed * 7919 + step * 104_729) % damaged.len();
            damaged[at] = damaged[at].wrapping_add((seed + step) as u8 | 1);
        }
        extract_narrowly(&damaged, PDF);
    }
}

#[test]
fn postscript_that_never_ends_is_ended() {
    let extracted = extract_narrowly(b"%!PS-Adobe-3.0\n{ 1 pop } loop\nshowpage\n", POSTSCRIPT);
    assert_eq!(
        extracted.outcome,
        Outcome::Limit(Limit::Processor),
        "{extracted:?}"
    );
}

#[test]
fn postscript_that_prints_gigabytes_is_ended() {
    let extracted = extract_narrowly(
        b"%!PS-Adobe-3.0\n{ (0123456789 0123456789\n) print } loop\n",
        POSTSCRIPT,
    );
    assert!(
        matches!(
            extracted.outcome,
            Outcome::Limit(Limit::Size | Limit::Processor)
        ),
        "{extracted:?}"
    );
}

#[test]
fn postscript_with_pages_without_end_is_ended() {
    let document = b"%!PS-Adobe-3.0\n/Times-Roman findfont 12 scalefont setfont\n\
                     { 72 700 moveto (a page like all the others) show showpage } loop\n";
    let extracted = extract_narrowly(document, POSTSCRIPT);
    assert!(
        matches!(extracted.outcome, Outcome::Limit(_)),
        "{extracted:?}"
    );
}

#[test]
fn postscript_that_wants_memory_does_not_get_it() {
    let extracted = extract_narrowly(b"%!PS-Adobe-3.0\n[ { 60000 string } loop\n", POSTSCRIPT);
    assert_ne!(extracted.outcome, Outcome::Text, "{extracted:?}");
}

#[test]
fn postscript_cannot_read_files() {
    for wanted in ["(/etc/passwd) (r) file", "(%pipe%cat /etc/passwd) (r) file"] {
        let document = format!(
            "%!PS-Adobe-3.0\n/Times-Roman findfont 12 scalefont setfont\n72 700 moveto\n\
             ({line}) show 72 600 moveto\n{wanted} 200 string readstring pop show\nshowpage\n",
            line = made::LINE
        );
        let extracted = extract_narrowly(document.as_bytes(), POSTSCRIPT);
        assert!(!extracted.text.contains("root"), "{extracted:?}");
    }
}

#[test]
fn postscript_cannot_delete_or_write_files() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "alive").unwrap();
    let made_up = folder.path().join("made-up");
    let document = format!(
        "%!PS-Adobe-3.0\n{{ ({victim}) deletefile }} stopped clear\n\
         {{ ({made_up}) (w) file dup (x) writestring closefile }} stopped clear\n\
         {{ ({victim}) (w) file dup (x) writestring closefile }} stopped clear\nshowpage\n",
        victim = victim.display(),
        made_up = made_up.display(),
    );
    extract_narrowly(document.as_bytes(), POSTSCRIPT);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "alive");
    assert!(!made_up.exists());
}

#[test]
fn a_bomb_in_gzip_is_a_limit() {
    let mut options = options();
    options.unpacked_bytes = 1024 * 1024;
    let bomb = made::gzip(&vec![b' '; 30 * 1024 * 1024]);
    let extracted = extract_with(&Extractor::new(options), &bomb, "application/gzip");
    assert_eq!(
        extracted.outcome,
        Outcome::Limit(Limit::Size),
        "{extracted:?}"
    );
}

#[test]
fn a_long_text_is_cut_off_and_said_to_be() {
    let mut options = options();
    options.text_bytes = 1000;
    let document = made::pdf(&[made::LINE; 40]);
    let extracted = extract_with(&Extractor::new(options), &document, PDF);
    assert_eq!(extracted.outcome, Outcome::Text, "{extracted:?}");
    assert!(extracted.truncated && extracted.text.len() <= 1000);
}
