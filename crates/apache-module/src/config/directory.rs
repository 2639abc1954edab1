//! The settings per directory and location, `.htaccess` included. One is made for every `.htaccess` of every
//! request, so it lives in the pool and needs no drop.

use std::ffi::{CStr, c_char};

use site::DynamicPolicy;

use crate::httpd::{Pool, bytes};

/// The settings of one directory.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct DirectoryConfig {
    /// The patterns of `IndexIgnore`, as mod_autoindex has them.
    ignored: *const Pattern,
    ignore_reset: bool,
    /// The patterns of `OaiSkip`; not set means the default.
    skipped: *const Pattern,
    skip_set: bool,
    skip_reset: bool,
    dynamic: Option<Dynamic>,
    /// The location that `SetHandler oai` stands in.
    location: *const c_char,
    /// The file of `AuthUserFile`.
    password_file: *const c_char,
    /// Handlers and media types that `Action` runs a program for.
    actions: *const Pattern,
    /// Filters that `AddOutputFilterByType` names for answers.
    filters: *const Pattern,
    /// Whether the client must show a certificate here.
    wants_certificate: bool,
    /// Whether the connection must be of another kind here.
    wants_other_tls: bool,
}

/// The offer of files that the server runs.
#[derive(Clone, Copy)]
#[repr(C)]
struct Dynamic {
    policy: DynamicPolicy,
    /// The users who are given the source instead; the names of the patterns are theirs.
    source_users: *const Pattern,
}

/// A wildcard pattern, in a list.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Pattern {
    next: *const Pattern,
    /// The pattern for the whole path; null is everywhere.
    place: *const c_char,
    /// The pattern for the name.
    name: *const c_char,
}

impl Pattern {
    pub(crate) fn place(&self) -> &CStr {
        text_or(self.place, c"*")
    }

    pub(crate) fn name(&self) -> &CStr {
        text_or(self.name, c"")
    }
}

impl Default for DirectoryConfig {
    fn default() -> Self {
        Self {
            ignored: std::ptr::null(),
            ignore_reset: false,
            skipped: std::ptr::null(),
            skip_set: false,
            skip_reset: false,
            dynamic: None,
            location: std::ptr::null(),
            password_file: std::ptr::null(),
            actions: std::ptr::null(),
            filters: std::ptr::null(),
            wants_certificate: false,
            wants_other_tls: false,
        }
    }
}

impl DirectoryConfig {
    /// The settings of an inner section: its own, and where it has none those of the outer one.
    pub(super) fn merge(pool: Pool, base: &Self, add: &Self) -> Self {
        Self {
            ignored: match add.ignore_reset {
                true => add.ignored,
                false => chain(pool, add.ignored, base.ignored),
            },
            ignore_reset: add.ignore_reset || base.ignore_reset,
            skipped: match add.skip_reset {
                true => add.skipped,
                false => chain(pool, add.skipped, base.skipped),
            },
            skip_set: add.skip_set || base.skip_set,
            skip_reset: add.skip_reset || base.skip_reset,
            dynamic: add.dynamic.or(base.dynamic),
            location: first_set(add.location, base.location),
            password_file: first_set(add.password_file, base.password_file),
            // Never taken back by an inner section: what httpd makes of both together is its own business, and to
            // check a password too often does no harm.
            actions: chain(pool, add.actions, base.actions),
            filters: chain(pool, add.filters, base.filters),
            wants_certificate: add.wants_certificate || base.wants_certificate,
            wants_other_tls: add.wants_other_tls || base.wants_other_tls,
        }
    }

    /// Adds a pattern of `IndexIgnore` in a directory, or everywhere. mod_autoindex compares the name with what
    /// follows the last slash of the pattern.
    pub(super) fn ignore(&mut self, pool: Pool, directory: &[u8], pattern: &[u8]) {
        let name = pattern.rsplit(|byte| *byte == b'/').next();
        self.ignored = pool.place(Pattern {
            next: self.ignored,
            place: pool.string([directory, b"*"].concat()),
            name: pool.string(name.unwrap_or_default()),
        });
    }

    /// Whether what `IndexIgnore` says further out counts no longer.
    pub(super) fn reset_ignore(&mut self, reset: bool) {
        self.ignore_reset = reset;
    }

    /// Adds a pattern of `OaiSkip`.
    pub(super) fn skip(&mut self, pool: Pool, pattern: &[u8]) {
        self.skip_set = true;
        self.skipped = pool.place(Pattern {
            next: self.skipped,
            place: std::ptr::null(),
            name: pool.string(pattern),
        });
    }

    /// Nothing is skipped, whatever was said further out.
    pub(super) fn skip_none(&mut self) {
        self.skip_set = true;
        self.skip_reset = true;
        self.skipped = std::ptr::null();
    }

    /// Sets the offer of files that the server runs, and the users who are given their source.
    pub(super) fn set_dynamic(&mut self, pool: Pool, policy: DynamicPolicy, users: &[String]) {
        let mut source_users = std::ptr::null();
        for user in users {
            source_users = pool.place(Pattern {
                next: source_users,
                place: std::ptr::null(),
                name: pool.string(user),
            });
        }
        self.dynamic = Some(Dynamic {
            policy,
            source_users,
        });
    }

    /// Notes that `SetHandler oai` stands in a location, or outside of all.
    pub(super) fn set_location(&mut self, pool: Pool, location: Option<&[u8]>) {
        self.location = location.map_or(std::ptr::null(), |path| pool.string(path).cast_const());
    }

    pub(super) fn set_password_file(&mut self, pool: Pool, path: &[u8]) {
        self.password_file = pool.string(path);
    }

    /// Adds a handler or media type that `Action` runs a program for.
    pub(super) fn add_action(&mut self, pool: Pool, name: &[u8]) {
        self.actions = pool.place(Pattern {
            next: self.actions,
            place: std::ptr::null(),
            name: pool.string(name.to_ascii_lowercase()),
        });
    }

    /// Adds a filter that `AddOutputFilterByType` names for answers.
    pub(super) fn add_filter(&mut self, pool: Pool, name: &[u8]) {
        self.filters = pool.place(Pattern {
            next: self.filters,
            place: std::ptr::null(),
            name: pool.string(name.to_ascii_lowercase()),
        });
    }

    pub(super) fn want_certificate(&mut self) {
        self.wants_certificate = true;
    }

    pub(super) fn want_other_tls(&mut self) {
        self.wants_other_tls = true;
    }

    /// The password file that mod_authn_file asks.
    pub(crate) fn password_file(&self) -> Option<&[u8]> {
        // SAFETY: the string is in the pool that this value is in, or in a longer one.
        unsafe { bytes(self.password_file) }
    }

    /// Whether `Action` runs a program for a handler or a media type.
    pub(crate) fn has_action(&self, name: &[u8]) -> bool {
        // SAFETY: as above.
        let is = |action: &Pattern| unsafe { bytes(action.name) } == Some(name);
        list(self.actions).any(is)
    }

    /// Whether `AddOutputFilterByType` names a filter for answers.
    pub(crate) fn has_filter(&self, name: &[u8]) -> bool {
        // SAFETY: as above.
        let is = |filter: &Pattern| unsafe { bytes(filter.name) } == Some(name);
        list(self.filters).any(is)
    }

    pub(crate) fn wants_certificate(&self) -> bool {
        self.wants_certificate
    }

    pub(crate) fn wants_other_tls(&self) -> bool {
        self.wants_other_tls
    }

    /// The treatment of files that the server runs, for somebody who was let in under some names.
    pub(crate) fn dynamic<'n>(&self, mut names: impl Iterator<Item = &'n [u8]>) -> DynamicPolicy {
        let Some(dynamic) = self.dynamic else {
            return DynamicPolicy::Off;
        };
        let is_named = |name: &[u8]| {
            // SAFETY: as above.
            let is = |user: &Pattern| unsafe { bytes(user.name) } == Some(name);
            list(dynamic.source_users).any(is)
        };
        match names.any(is_named) {
            true => DynamicPolicy::Source,
            false => dynamic.policy,
        }
    }

    /// The URL path of the repository, where a location says so.
    pub(crate) fn location(&self) -> Option<&[u8]> {
        // SAFETY: the string is in the pool that this value is in, or in a longer one.
        unsafe { bytes(self.location) }
    }

    pub(crate) fn ignored(&self) -> impl Iterator<Item = &Pattern> {
        list(self.ignored)
    }

    pub(crate) fn skipped(&self) -> impl Iterator<Item = &Pattern> {
        list(self.skipped)
    }

    /// Whether `OaiSkip` was never given.
    pub(crate) fn skips_by_default(&self) -> bool {
        !self.skip_set
    }
}

/// A text of a pattern.
fn text_or(text: *const c_char, otherwise: &CStr) -> &CStr {
    match text.is_null() {
        true => otherwise,
        // SAFETY: texts of patterns are C strings in the pool that the patterns are in.
        false => unsafe { CStr::from_ptr(text) },
    }
}

fn first_set(own: *const c_char, outer: *const c_char) -> *const c_char {
    match own.is_null() {
        true => outer,
        false => own,
    }
}

/// The patterns of a list.
fn list<'a>(first: *const Pattern) -> impl Iterator<Item = &'a Pattern> {
    // SAFETY: lists are made here only, of pool memory that lives as long as the configuration they are part of.
    let at = |pattern: *const Pattern| unsafe { pattern.as_ref() };
    std::iter::successors(at(first), move |pattern| at(pattern.next))
}

/// The patterns of two lists, in whatever order: any that matches will do. The first list is copied.
fn chain(pool: Pool, first: *const Pattern, second: *const Pattern) -> *const Pattern {
    let mut joined = second;
    for pattern in list(first) {
        joined = pool.place(Pattern {
            next: joined,
            ..*pattern
        });
    }
    joined
}
