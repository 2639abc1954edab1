//! The pages, a file each. A file has parameters, answer, handler and query, in this order.

pub(crate) mod account;
pub(crate) mod accounts;
pub(crate) mod api;
pub(crate) mod audit;
pub(crate) mod dashboard;
pub(crate) mod documents;
pub(crate) mod history;
pub(crate) mod imports;
pub(crate) mod jobs;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod me;
pub(crate) mod missing;
pub(crate) mod records;
pub(crate) mod repositories;
pub(crate) mod rules;
pub(crate) mod schedules;
pub(crate) mod setup;
pub(crate) mod theme;
pub(crate) mod tokens;

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
