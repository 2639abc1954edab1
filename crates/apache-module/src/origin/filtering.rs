//! The effect of a request's output filters on a file.

use crate::virtual_request::VirtualRequest;

/// The effect of the filters on its way on a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Filtering {
    /// It is sent as it is, but for codings that are not asked for.
    None,
    /// It is sent with changes, by nothing that the file itself says.
    Rewritten,
    /// Something in it may be run, or nobody knows.
    Run,
}

impl Filtering {
    pub(super) fn of(request: &VirtualRequest<'_>) -> Self {
        let filters = request.content_filters();
        let worst = filters.iter().map(|name| Self::by(name)).max();
        worst.unwrap_or(Self::None)
    }

    fn by(filter: &[u8]) -> Self {
        match filter.strip_prefix(b"bytype:").unwrap_or(filter) {
            b"deflate" | b"brotli_compress" | b"mod_expires" | b"fixup_headers_out"
            | b"fixup_headers_err" | b"buffer" | b"old_write" | b"cache_save"
            | b"cache_save_subreq" | b"mod_session_out" | b"rate_limit" => Self::None,
            b"substitute" | b"sed" | b"xlateout" | b"proxy-html" | b"data" => Self::Rewritten,
            _ => Self::Run,
        }
    }
}
