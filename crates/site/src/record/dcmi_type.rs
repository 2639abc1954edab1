//! The DCMI Type Vocabulary: what kind of thing a resource is.

use crate::ground::media_types::essence;

/// The nearest of the DCMI types, where one is near.
pub(super) fn dcmi_type(media_type: &str) -> Option<&'static str> {
    let essence = essence(media_type);
    Some(match essence.split('/').next().unwrap_or_default() {
        "text" => "Text",
        "image" => "StillImage",
        "video" => "MovingImage",
        "audio" => "Sound",
        _ => match essence {
            "application/pdf"
            | "application/postscript"
            | "application/rtf"
            | "application/msword"
            | "application/epub+zip"
            | "application/xhtml+xml" => "Text",
            "application/zip" | "application/gzip" | "application/x-tar" | "application/warc" => {
                "Collection"
            }
            "application/json" | "application/xml" => "Dataset",
            "application/wasm" | "application/java-archive" => "Software",
            other if other.contains("spreadsheet") || other.contains("excel") => "Dataset",
            other if other.contains("document") || other.contains("presentation") => "Text",
            _ => return None,
        },
    })
}
