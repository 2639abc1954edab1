//! `garner import` from one end to the other, and what is done with what it left. One line per file on what belongs there.

/// Bodies in codings, and bodies that are not what they are declared as.
mod bodies;
/// A collection in a store that speaks S3.
mod bucket;
/// Documents judged by what they say: kept, left out, set aside, remembered, corrected.
mod content_filter;
/// Kill -9, stops, full disks, two at once: nothing is lost and nothing is there twice.
mod crashes;
/// A crawl that a test makes up.
mod crawl;
/// Damaged and hostile input: counted, named, and no harm to the rest.
mod damage;
/// Digests of archives, compared with what they are of.
mod digests;
/// Documents listed, shown, and marked by whoever ingests them.
mod documents;
/// Extracted and loaded: the same as imported.
mod extraction;
/// Unpacked harvests.
mod harvested;
/// Logs: beside archives, and as the list of what is in a mirror.
mod logs;
/// PDF documents made of texts.
mod papers;
/// The pages that link to documents: cleaned, their links checked, ranked as seeds.
mod parents;
/// Imports as jobs: done by workers, stopped, taken over.
mod queue;
/// Sources on other machines, fetched over FTP and SFTP.
mod remote;
/// Documents cleaned away, taken down, restored; blacklists and whitelists.
mod removal;
/// Repairs that are worth the name: catalogs that are lost or old, kills, files that cannot be read.
mod repair;
/// Other people's crawls.
mod samples;
/// Collections that cannot be written to.
mod saving;
/// Imports that run by themselves, and what is known of them.
mod schedules;
/// Documents found by their words, near-duplicates, and the review queue.
mod search;
/// Texts beside documents: there as long as their documents are.
mod texts;
/// Everything as it should be: counters, files, rows, options, exit codes.
mod usual;
/// Rows and files compared, and repaired.
mod verify;

pub(crate) use self::crawl::{Warc, date, many, pdf};
