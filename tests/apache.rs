//! The Apache module in a real httpd, each test with a server of its own. One line per file on what belongs there.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

/// Crate roots look for modules beside themselves; these have a folder.
mod apache {
    /// Effects of other modules and of request headers on answers.
    mod answers;
    /// Wrong directives, a state directory that cannot be written, a damaged index.
    mod bad_input;
    /// The cases of the test site that decide who may see a file, and where a URL leads.
    mod cases;
    /// Changes that no file tells of, told to harvesters that come back.
    mod changes;
    /// Requesters: HTTP/1.1, h2c or TLS, with or without credentials.
    mod client;
    /// The page that describes the directives, against the directives.
    mod directives_reference;
    /// Files that the server runs: policies, limits, programs that hang or die.
    mod dynamic;
    /// The cases of the test site in which the server runs files or changes what it sends.
    mod dynamic_cases;
    /// Limits on what runs at once.
    mod flow_control;
    /// Virtual hosts, user directories and extra roots.
    mod hosts;
    /// The index: shared by all workers, it survives restarts and kills, and it keeps what is gone.
    mod index;
    /// Names that are left out, wherever it is said.
    mod left_out;
    /// Many requests while the server restarts again and again.
    mod load;
    /// Passwords that are slow to check.
    mod lookups;
    /// The differential oracle over the whole test site: a GET and the module must agree.
    mod matrix;
    /// Every byte that a name can have.
    mod names;
    /// The oracle itself.
    mod oracle;
    /// Panics of the module.
    mod panics;
    /// A PHP-FPM for the server to talk to.
    mod php_fpm;
    /// The test site and the test server themselves, without the module.
    mod plain;
    /// Plug-ins: confined by the helper, and the warning where there is none.
    mod plugins;
    /// Records taken from answers.
    mod records;
    /// Requesters: through proxies, and with the headers that the server adds.
    mod requesters;
    /// Sitemaps and ResourceSync, below the repository and at the root of the site.
    mod resource_sync;
    /// The test site: files, configuration, and what is known of them.
    mod site;
    /// The status page: counters of all workers, explanations, access.
    mod status;
    /// Large files by value in little memory.
    mod streaming;
    /// Threads of the module's own.
    mod threads;
    /// The module under valgrind.
    mod valgrind;
}
