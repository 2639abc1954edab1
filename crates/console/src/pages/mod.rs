//! The pages, a file each. A file has parameters, answer, handler and query, in this order.

pub(crate) mod api;
pub(crate) mod missing;
pub(crate) mod theme;

/// The navigation, for everybody.
pub(crate) const PLACES: [(&str, &str); 8] = [
    ("/", "Dashboard"),
    ("/repositories", "Repositories"),
    ("/schedules", "Schedules"),
    ("/jobs", "Jobs"),
    ("/history", "History"),
    ("/records", "Records"),
    ("/imports", "Imports"),
    ("/documents", "Documents"),
];

/// The navigation, for admins.
pub(crate) const ADMIN_PLACES: [(&str, &str); 2] = [("/accounts", "Accounts"), ("/audit", "Audit")];
