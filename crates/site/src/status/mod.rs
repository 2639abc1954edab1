//! Facts for those who run a site: counts, hidden files and their reasons, and who asked.

pub(crate) mod explain;
pub(crate) mod hidden;
pub mod traffic;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Error, Origin, Requester, Site};
use explain::{Explainer, Explanation};
use hidden::Hidden;

/// The counts of a site at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteFacts {
    /// Items that are offered.
    pub items: u64,
    /// Items that were offered once.
    pub deleted: u64,
    /// Items that the web server of the site does not give to everybody.
    pub restricted: u64,
    /// Media types with their items, the most frequent first.
    pub types: Vec<(String, u64)>,
    /// Changes by day, for the last [`DAYS`] days, the oldest first.
    pub days: Vec<DayChanges>,
}

/// The items whose last change was on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayChanges {
    /// The number of the day since 1970.
    pub day: i64,
    /// Items that are new or changed.
    pub changed: u64,
    /// Items that are gone.
    pub deleted: u64,
}

impl Site {
    /// The counts of the site.
    pub fn facts(&self) -> Result<SiteFacts, Error> {
        let today = now() / DAY;
        let reader = self.index.reader()?;
        let (items, deleted) = reader.totals()?;
        let known = reader.changes_by_day((today - DAYS + 1) * DAY)?;
        let of_day = |day| {
            let found = known.iter().find(|changes| changes.day == day);
            found.copied().unwrap_or(DayChanges {
                day,
                ..DayChanges::default()
            })
        };
        Ok(SiteFacts {
            items,
            deleted,
            restricted: reader.restricted()?,
            types: reader.types_with_items()?,
            days: (today - DAYS + 1..=today).map(of_day).collect(),
        })
    }

    /// The files that are not offered, by reason. This reads directories, within limits.
    pub fn hidden(&self) -> Hidden {
        hidden::look(&self.ground)
    }

    /// Why a URL of the site is offered, or why not. `origin` is asked as `requester`, if there is one; else the origin
    /// of the site as somebody without credentials. `site_url` is where the requester reaches the site, if not where it
    /// is configured.
    pub fn explain(
        &self,
        url: &str,
        asking: Option<(&dyn Origin, &Requester)>,
        site_url: Option<&str>,
    ) -> Result<Explanation, String> {
        let site_url = site_url.unwrap_or(&self.config.site_url);
        let explainer = Explainer::new(&self.config, &self.ground, &self.access).at(site_url);
        let path = explainer.path_of_url(url)?;
        let nobody = crate::follow::public::nobody();
        let own = self.origin.as_deref();
        let own = own.map(|origin| (origin as &dyn Origin, &nobody));
        explainer.explain(url, &path, asking.or(own))
    }
}

/// The time in seconds since 1970.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
}

/// The days of which changes are counted.
pub const DAYS: i64 = 30;
const DAY: i64 = 86_400;
