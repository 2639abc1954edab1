//! Style sheet, script and icon: in the binary, under names that change with their content, so that browsers keep them
//! for good.

use std::io::Write as _;
use std::sync::LazyLock;

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY,
};
use axum::response::{IntoResponse, Response};
use connection::accepts_gzip;
use flate2::Compression;
use flate2::write::GzEncoder;
use operations::secret::hexadecimal;
use sha2::{Digest as _, Sha256};

use crate::extract::Path;
use crate::problem::{Answer, Problem};

/// A file of the console.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Where it is.
    pub(crate) url: String,
    media_type: &'static str,
    bytes: &'static [u8],
    compressed: Vec<u8>,
}

/// The style sheet.
pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../../assets/style.css");
    Asset::new("style", "css", "text/css; charset=utf-8", bytes)
});

/// The script.
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../../assets/script.js");
    Asset::new("script", "js", "text/javascript; charset=utf-8", bytes)
});

/// The script of tables.
pub(crate) static TABLE: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../../assets/table.js");
    Asset::new("table", "js", "text/javascript; charset=utf-8", bytes)
});

/// The script of the review queue.
pub(crate) static REVIEW: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../../assets/review.js");
    Asset::new("review", "js", "text/javascript; charset=utf-8", bytes)
});

/// The icon.
pub(crate) static ICON: LazyLock<Asset> = LazyLock::new(|| {
    let bytes = include_bytes!("../../assets/icon.svg");
    Asset::new("icon", "svg", "image/svg+xml", bytes)
});

impl Asset {
    fn new(name: &str, extension: &str, media_type: &'static str, bytes: &'static [u8]) -> Self {
        let digest = hexadecimal(&Sha256::digest(bytes)[..6]);
        Self {
            url: format!("{PLACE}{name}.{digest}.{extension}"),
            media_type,
            bytes,
            compressed: compress(bytes).unwrap_or_default(),
        }
    }

    fn response(&'static self, headers: &HeaderMap) -> Response {
        let gzip = accepts_gzip(headers) && !self.compressed.is_empty();
        let body = match gzip {
            true => Body::from(self.compressed.as_slice()),
            false => Body::from(self.bytes),
        };
        let mut response = body.into_response();
        let headers = response.headers_mut();
        let for_good = HeaderValue::from_static("public, max-age=31536000, immutable");
        headers.insert(CACHE_CONTROL, for_good);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// `GET /assets/{name}`
pub(crate) async fn show(Path(name): Path<String>, headers: HeaderMap) -> Answer {
    let all: [&'static Asset; 5] = [&STYLE, &SCRIPT, &TABLE, &REVIEW, &ICON];
    let found = all
        .into_iter()
        .find(|asset| asset.url.strip_prefix(PLACE) == Some(name.as_str()));
    // A request for an older version reloads the page.
    let found =
        found.ok_or_else(|| Problem::not_found("there is no such file; reload the page"))?;
    Ok(found.response(&headers))
}

fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

const PLACE: &str = "/assets/";
