//! Files that browsers and validators fetch besides the answers: the style sheets and our own schema.

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

/// The style sheet with which older browsers show XML answers.
pub const STYLE_SHEET: Asset = Asset {
    name: "style.xsl",
    media_type: "text/xsl; charset=utf-8",
    // The file ends within the template `css`, so that pages and transformed answers have one look.
    bytes: concat!(
        include_str!("assets/style.xsl"),
        include_str!("assets/style.css"),
        "  </xsl:template>\n\n</xsl:stylesheet>\n"
    )
    .as_bytes(),
};

/// The look of pages.
pub const PAGE_STYLE: Asset = Asset {
    name: "style.css",
    media_type: "text/css; charset=utf-8",
    bytes: include_bytes!("assets/style.css"),
};

/// The schema of the `http_header` format.
pub const HTTP_HEADER_SCHEMA: Asset = Asset {
    name: "http_header.xsd",
    media_type: "application/xml; charset=utf-8",
    bytes: include_bytes!("assets/http_header.xsd"),
};

/// The asset of a name.
pub fn find(name: &str) -> Option<Asset> {
    [STYLE_SHEET, PAGE_STYLE, HTTP_HEADER_SCHEMA]
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
