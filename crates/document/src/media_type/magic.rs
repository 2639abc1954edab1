//! Formats that begin with bytes of their own, or have them at one place.

use super::sniff::Sniffed;

/// Looks for a signature.
pub(super) fn sniff(head: &[u8]) -> Option<Sniffed> {
    let at = |offset: usize, mark: &[u8]| {
        head.get(offset..)
            .is_some_and(|rest| rest.starts_with(mark))
    };
    let known = SIGNATURES
        .iter()
        .find(|(offset, mark, _)| at(*offset, mark));
    if let Some((_, _, media_type)) = known {
        return Some(Sniffed::certain(media_type));
    }
    if at(0, b"RIFF") {
        let forms: [(&[u8], &str); 3] = [
            (b"WEBP", "image/webp"),
            (b"WAVE", "audio/wav"),
            (b"AVI ", "video/x-msvideo"),
        ];
        let form = forms.iter().find(|(form, _)| at(8, form));
        return form.map(|(_, media_type)| Sniffed::certain(media_type));
    }
    if at(0, b"BZh") && at(4, b"1AY&SY") {
        return Some(Sniffed::certain("application/x-bzip2"));
    }
    if let [b'F' | b'C' | b'Z', b'W', b'S', 1..=50, ..] = head {
        return Some(Sniffed::certain("application/vnd.adobe.flash.movie"));
    }
    if at(4, b"ftyp") {
        let media_type = match head.get(8..12) {
            Some(b"qt  ") => "video/quicktime",
            Some(b"heic" | b"mif1") => "image/heic",
            Some(b"avif") => "image/avif",
            Some(b"M4A ") => "audio/mp4",
            _ => "video/mp4",
        };
        return Some(Sniffed::certain(media_type));
    }
    is_old_tar(head).then_some(Sniffed::certain("application/x-tar"))
}

/// Whether bytes of this type are always recognised.
pub(super) fn has_signature(media_type: &str) -> bool {
    const OTHERS: [&str; 5] = [
        "image/webp",
        "audio/wav",
        "application/x-bzip2",
        "video/mp4",
        "application/zip",
    ];
    OTHERS.contains(&media_type) || SIGNATURES.iter().any(|(_, _, known)| *known == media_type)
}

/// A tar header of the time before `ustar`: nothing but its checksum tells.
fn is_old_tar(head: &[u8]) -> bool {
    let Some(block) = head.get(..512) else {
        return false;
    };
    block[0] != 0 && crate::container::is_tar_header(block)
}

/// Where a signature stands, and whose it is.
const SIGNATURES: &[(usize, &[u8], &str)] = &[
    (0, b"\x1F\x8B\x08", "application/gzip"),
    (0, b"\x1F\x9D", "application/x-compress"),
    (0, b"\xFD7zXZ\0", "application/x-xz"),
    (0, b"\x28\xB5\x2F\xFD", "application/zstd"),
    (0, b"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"),
    (0, b"Rar!\x1A\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\x89PNG\r\n\x1A\n", "image/png"),
    (0, b"\xFF\xD8\xFF", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"\0\0\x01\0", "image/vnd.microsoft.icon"),
    (0, b"AT&TFORM", "image/vnd.djvu"),
    (0, b"\0\0\0\x0CjP  \r\n\x87\n", "image/jp2"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"\xF7\x02\x01\x83\x92\xC0\x1C\x3B", "application/x-dvi"),
    (0, b"%FDF-", "application/vnd.fdf"),
    (0, b"ITSF\x03\0\0\0", "application/vnd.ms-htmlhelp"),
    (60, b"BOOKMOBI", "application/x-mobipocket-ebook"),
    (0, b"ID3\x02", "audio/mpeg"),
    (0, b"ID3\x03", "audio/mpeg"),
    (0, b"ID3\x04", "audio/mpeg"),
    (0, b"OggS\0", "application/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"MThd\0\0\0\x06", "audio/midi"),
    (0, b"FLV\x01", "video/x-flv"),
    (0, b"\x1A\x45\xDF\xA3", "video/webm"),
    (0, b"\0\0\x01\xBA", "video/mpeg"),
    (0, b"\0\0\x01\xB3", "video/mpeg"),
    (0, b"\x30\x26\xB2\x75\x8E\x66\xCF\x11", "video/x-ms-asf"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"OTTO\0", "font/otf"),
    (0, b"\0\x01\0\0\0", "font/ttf"),
    (0, b"\x7FELF", "application/x-elf"),
    (
        0,
        b"MZ\x90\0",
        "application/vnd.microsoft.portable-executable",
    ),
    (0, b"\xCA\xFE\xBA\xBE", "application/java-vm"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"\0asm", "application/wasm"),
    (0, b"\x89HDF\r\n\x1A\n", "application/x-hdf5"),
];
