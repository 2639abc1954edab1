//! Files that browsers and validators fetch besides the answers: the style sheet and our own schema.

/// A file below the base URL.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its name below the base URL.
    pub name: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
}

/// The style sheet that makes answers readable in a browser.
pub const STYLE_SHEET: Asset = Asset {
    name: "style.xsl",
    media_type: "text/xsl; charset=utf-8",
    bytes: include_bytes!("assets/style.xsl"),
};

/// The schema of the `http_header` format.
pub const HTTP_HEADER_SCHEMA: Asset = Asset {
    name: "http_header.xsd",
    media_type: "application/xml; charset=utf-8",
    bytes: include_bytes!("assets/http_header.xsd"),
};

/// The asset of a name.
pub fn find(name: &str) -> Option<Asset> {
    [STYLE_SHEET, HTTP_HEADER_SCHEMA]
        .into_iter()
        .find(|asset| asset.name == name)
}

/// The path of an asset on the host of a base URL: a browser may know that host by another name.
pub fn path(base_url: &str, asset: Asset) -> String {
    let host_and_path = base_url
        .split_once("://")
        .map_or(base_url, |(_, rest)| rest);
    let path = host_and_path
        .find('/')
        .map_or("", |at| &host_and_path[at..]);
    format!("{}/{}", path.trim_end_matches('/'), asset.name)
}

/// The URL of an asset below a base URL.
pub fn url(base_url: &str, asset: Asset) -> String {
    format!("{}/{}", base_url.trim_end_matches('/'), asset.name)
}
