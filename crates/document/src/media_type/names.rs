//! How media types are written: cleaned of what servers add to them, and one name for each.

/// A media type without parameters and in lower case; `None` if nothing is left of it.
pub(super) fn clean(declared: &str) -> Option<String> {
    let bare = declared.split([';', ',']).next().unwrap_or_default();
    let bare = bare.trim().trim_matches('"').to_ascii_lowercase();
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+/".contains(&byte);
    let fits = bare.len() <= LONGEST && bare.bytes().all(legal);
    (fits && !bare.is_empty() && bare != "-").then_some(bare)
}

/// The usual name of a type that has several.
pub(super) fn canonical(media_type: &str) -> &str {
    match media_type {
        "application/x-pdf"
        | "application/acrobat"
        | "applications/vnd.pdf"
        | "text/pdf"
        | "text/x-pdf"
        | "application/pdf-x"
        | "application/vnd.pdf" => "application/pdf",
        "application/ps"
        | "application/x-postscript"
        | "application/x-ps"
        | "text/postscript"
        | "application/eps"
        | "application/x-eps"
        | "image/eps"
        | "image/x-eps" => "application/postscript",
        "application/x-gzip"
        | "application/gzip-compressed"
        | "application/x-gunzip"
        | "application/gzipped"
        | "application/x-gzip-compressed" => "application/gzip",
        "application/x-compressed" | "application/compress" => "application/x-compress",
        "application/x-bzip" | "application/bzip2" | "application/x-bz2" => "application/x-bzip2",
        "application/x-zip-compressed" | "application/x-zip" => "application/zip",
        "application/tar" | "application/x-gtar" => "application/x-tar",
        "application/vnd.msword"
        | "application/doc"
        | "application/word"
        | "application/x-msword"
        | "application/vnd.ms-word" => "application/msword",
        "application/mspowerpoint"
        | "application/powerpoint"
        | "application/x-mspowerpoint"
        | "application/ms-powerpoint" => "application/vnd.ms-powerpoint",
        "application/msexcel"
        | "application/excel"
        | "application/x-msexcel"
        | "application/ms-excel"
        | "application/x-excel" => "application/vnd.ms-excel",
        "application/x-rtf" | "text/rtf" | "text/richtext" => "application/rtf",
        "text/xml" => "application/xml",
        "text/x-html" => "text/html",
        "image/jpg" | "image/pjpeg" => "image/jpeg",
        "image/x-png" => "image/png",
        "image/x-djvu" | "image/x.djvu" | "image/djvu" => "image/vnd.djvu",
        "application/dvi" => "application/x-dvi",
        other => other,
    }
}

/// Whether a type is what servers send for everything that they do not know, or no media type at all.
pub(super) fn says_nothing(media_type: &str) -> bool {
    let Some((kind, subtype)) = media_type.split_once('/') else {
        return true;
    };
    let meaningless = matches!(
        subtype,
        "" | "octet-stream"
            | "octetstream"
            | "octet"
            | "unknown"
            | "x-unknown"
            | "download"
            | "x-download"
            | "force-download"
            | "x-force-download"
            | "save"
            | "x-octet-stream"
            | "binary"
            | "x-binary"
            | "x-unknown-content-type"
            | "x-unknown-application-octet-stream"
            | "default"
            | "file"
    );
    kind.is_empty() || meaningless
}

/// Whether the sniffer finds every file of a type, so that bytes in which it finds nothing are none. Old files of Word or
/// MPEG streams, which may begin with anything, are not among these.
pub(super) fn is_always_recognised(media_type: &str) -> bool {
    const PREFIXES: [&str; 2] = [
        "application/vnd.openxmlformats-officedocument.",
        "application/vnd.oasis.opendocument.",
    ];
    matches!(
        media_type,
        "application/pdf" | "application/postscript" | "application/rtf" | "application/epub+zip"
    ) || PREFIXES.iter().any(|prefix| media_type.starts_with(prefix))
}

/// Whether a type has a signature that the sniffer would have found, so that text without it is something else.
pub(super) fn is_recognisable(media_type: &str) -> bool {
    const PREFIXES: [&str; 6] = [
        "application/vnd.openxmlformats-officedocument.",
        "application/vnd.oasis.opendocument.",
        "application/vnd.sun.xml.",
        "application/vnd.ms-powerpoint",
        "application/vnd.ms-excel",
        "application/vnd.ms-word",
    ];
    matches!(
        media_type,
        "application/pdf"
            | "application/postscript"
            | "application/msword"
            | "application/rtf"
            | "application/epub+zip"
            | "application/java-archive"
    ) || super::magic::has_signature(media_type)
        || PREFIXES.iter().any(|prefix| media_type.starts_with(prefix))
}

/// Longer ones are not in use, and the catalog would keep what anybody sends.
const LONGEST: usize = 127;
