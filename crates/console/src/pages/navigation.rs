//! The navigation: the sections of the console in the order of its tasks, and the pages in them. A page has a line here once
//! it exists.

use catalog::Role;

use crate::who::Who;

/// A section of the navigation; the one without a name has no heading.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) name: &'static str,
    places: &'static [Place],
}

/// A link of the navigation.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    /// The role that sees it.
    role: Role,
    /// Other paths that belong to it.
    others: &'static [&'static str],
}

impl Section {
    /// The links that `who` may follow.
    pub(crate) fn places<'a>(
        &self,
        who: &'a Who,
    ) -> impl Iterator<Item = &'static Place> + use<'a> {
        let places = self.places;
        places.iter().filter(|place| who.role >= place.role)
    }

    /// Whether `who` may follow one of its links.
    pub(crate) fn is_seen(&self, who: &Who) -> bool {
        self.places(who).next().is_some()
    }
}

impl Place {
    /// Whether the page that `who` sees belongs to it.
    pub(crate) fn is_current(&self, who: &Who) -> bool {
        self.is_around(who) && !self.has_closer(who)
    }

    fn is_around(&self, who: &Who) -> bool {
        who.is_in(self.path) || self.others.iter().any(|other| who.is_in(other))
    }

    /// Whether another place is below this one, and the page belongs to that.
    fn has_closer(&self, who: &Who) -> bool {
        let mut places = SECTIONS.iter().flat_map(|section| section.places);
        places.any(|other| {
            let is_below = other.path.len() > self.path.len() && other.path.starts_with(self.path);
            is_below && self.path != "/" && other.is_around(who)
        })
    }
}

const fn place(path: &'static str, name: &'static str) -> Place {
    place_for(Role::Viewer, path, name, &[])
}

const fn place_for(
    role: Role,
    path: &'static str,
    name: &'static str,
    others: &'static [&'static str],
) -> Place {
    Place {
        path,
        name,
        role,
        others,
    }
}

/// All sections.
pub(crate) const SECTIONS: &[Section] = &[
    Section {
        name: "",
        places: &[place("/", "Overview")],
    },
    Section {
        name: "Expose",
        places: &[place("/sites", "Sites"), place("/aggregator", "Aggregator")],
    },
    Section {
        name: "Harvest",
        places: &[
            place("/repositories", "Repositories"),
            place("/records", "Records"),
        ],
    },
    Section {
        name: "Collect",
        places: &[
            place("/imports", "Imports"),
            place("/documents/review", "Review"),
            place("/documents", "Documents"),
            place("/parents", "Parents"),
            place("/lists", "Lists"),
        ],
    },
    Section {
        name: "Activity",
        places: &[place("/runs", "Runs"), place("/schedules", "Schedules")],
    },
    Section {
        name: "Admin",
        places: &[
            place_for(Role::Admin, "/accounts", "Accounts", &[]),
            place_for(Role::Viewer, "/tokens", "Tokens and API", &["/api"]),
            place_for(Role::Viewer, "/alerts", "Alerts", &["/hooks"]),
            place("/rules", "Rules"),
            place_for(Role::Admin, "/system", "System", &[]),
            place_for(Role::Admin, "/audit", "Audit", &[]),
        ],
    },
];
