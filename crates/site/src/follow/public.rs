//! The public part of an origin: files shown to somebody without credentials, whose tombstones may be told to all.

use std::net::{IpAddr, Ipv4Addr};

use crate::ground::media_types::essence;
use crate::{Candidate, Error, Look, Origin, Requester, SitePath};

/// An address that is nobody's (RFC 5737): what is open to this machine alone is not open to all.
const NOBODY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// The public part of one item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PublicView {
    /// Whether it is shown to all; none if nobody was asked.
    pub(crate) shown: Option<bool>,
    /// The origin's media type for it, without parameters.
    pub(crate) media_type: Option<String>,
}

/// Somebody without credentials.
pub(crate) fn nobody() -> Requester {
    Requester::anonymous(IpAddr::V4(NOBODY))
}

/// Asks an origin about files that are there.
pub(crate) fn views<'p>(
    origin: &dyn Origin,
    paths: impl Iterator<Item = &'p SitePath>,
) -> Result<Vec<PublicView>, Error> {
    if !origin.can_ask_as_nobody() {
        return Ok(paths.map(|_| PublicView::default()).collect());
    }
    let candidate = |path: &SitePath| Candidate {
        path: path.clone(),
        facts: None,
    };
    let candidates: Vec<_> = paths.map(candidate).collect();
    let looks = origin.look(&nobody(), &candidates).map_err(Error::Origin)?;
    Ok(looks.into_iter().map(PublicView::of).collect())
}

impl PublicView {
    fn of(look: Look) -> Self {
        match look {
            Look::Served(served) => Self {
                shown: Some(true),
                media_type: served
                    .media_type
                    .map(|name| essence(&name).to_ascii_lowercase()),
            },
            Look::Refused | Look::NotServed(_) => Self {
                shown: Some(false),
                media_type: None,
            },
        }
    }
}
