//! Whole flows through the built program, each in a fresh directory. One line per file on what belongs there.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

/// Access: passwords, addresses, lists and GetRecord in agreement.
mod access;
/// Accounts of the console, from the command line.
mod account;
/// Harvested records and imported documents, exposed as a repository of their own.
mod aggregate;
/// Alerts: rules, e-mails, webhooks.
mod alerts;
/// Wrong requests: always a correct answer or a clear error.
mod bad_input;
/// Answers as pages for a person in a browser.
mod browser;
/// The catalog locked, full or gone in the middle of a harvest.
mod catalog_away;
/// Creations, edits, moves and deletions become visible, with the right datestamps; none is ever missed.
mod changes;
/// The rules of the protocol, checked on our repositories and on others.
mod check;
/// Texts judged by the classifier; models trained and evaluated.
mod classify;
/// The command line: help, manual, completions, robots, configuration errors.
mod command_line;
/// Configuration: files, environment, options, and the data directory that follows.
mod configuration;
/// The console in a browser, and its API.
mod console;
/// Kill -9, restarts, full disks, damaged indexes.
mod crashes;
/// README and the guides, followed literally.
mod documented;
/// Why something is offered or not.
mod explain;
/// Records out: as one stream, and one by its identifier.
mod export;
/// Changes of documents for search engines, and a stand-in of Solr that they are sent to.
mod feed;
/// The site's files over HTTP: conditions, ranges, media types, directories, robots.txt.
mod files;
/// Filter files and mapping files tried out on a record.
mod filter;
/// Harvesting: what `garner harvest` gets, keeps and tells.
mod harvest;
/// A repository that was harvested, for the tests of what is held.
mod harvested;
/// The history of harvests, as a table and in full.
mod history;
/// Clients that misbehave: broken HTTP, silence, crowds, paths out of the site.
mod hostile_clients;
/// Files that misbehave: they change under the reader, have odd names and dates, or are no files at all.
mod hostile_files;
/// Importing: what `garner import` makes of crawls, and what is done with it.
mod import;
/// Other people's harvesters.
mod interop;
/// Which files are items, and their identifiers.
mod items;
/// Jobs: shown, cancelled, tried again; quiet times.
mod job;
/// The JSON of the command line and of the API: the same objects.
mod json;
/// How records are kept: files, packs, the database; moved, compacted, verified.
mod keeping;
/// Everything that takes part is killed at random while twenty repositories are harvested.
mod kill_campaign;
/// A data directory with schedules and jobs, and the processes that work on it.
mod managed;
/// Metrics, health, and what systemd is told.
mod monitoring;
/// Beside another web server, a real nginx.
mod origin;
/// Additions of a webmaster: metadata formats by plug-ins, sets by URLs and plug-ins, containers for Identify.
mod own_metadata;
/// Answers as pages for browsers, as XML for programs.
mod pages;
/// Plug-ins and fixity.
mod plugins;
/// The six verbs, the eight errors, pages and tokens, and the schemas.
mod protocol;

/// Metadata files of a directory as records.
mod record_files;
/// Records that are held, and those of a repository as they come.
mod records;
/// Repositories added, listed, shown and removed, on both databases.
mod repository;
/// Sitemaps and ResourceSync: sites as crawlers without OAI-PMH learn of them.
mod resource_sync;
/// Documents retrieved: as directories, archives and lines, by command and by job.
mod retrieve;

/// From a site through a mirror and a collection to other harvesters, and all changes with them.
mod road;
/// Schedules, and how they become harvests.
mod schedule;
/// The source of programs, for named users alone.
mod sources;
/// The views for other programs, read with `sqlite3` and `psql`.
mod sql_views;
/// Tables, colours and summaries on a terminal.
mod terminal;
/// The text of documents, and what is said of those that have none.
mod text;
/// Everything in one process: started, stopped, killed.
mod up;
/// Data of releases, taken over by this program.
mod upgrades;
/// Backups, restores, copies of the catalog, and the doctor.
mod upkeep;
/// Archives by themselves: indexes beside those of cdxj-indexer, checks beside those of warcio, single records.
mod warc;
/// Workers in several processes on one catalog: taken over, fenced, a database that goes away.
mod worker;

use test_support::Garner;

/// The program under test.
fn garner() -> Garner {
    Garner::new(env!("CARGO_BIN_EXE_garner"))
}
