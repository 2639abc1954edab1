#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod backup;
mod collection;
mod doctor;
mod explain;
mod failure;
mod harvest;
mod holdings;
mod identity;
mod import;
mod index;
mod judgement;
mod model;
mod pulse;
mod records;
mod reports;
mod repositories;
pub mod rules;
pub mod text;
mod warc;

use self::collection::{curation, document_files, retrieval, solr};
use self::failure::{message, mistake};
pub use self::repositories::friends;
use self::repositories::{base_directory, introduction, removal};
pub use ::text::Program;
pub use ::text::{Sketch, decoded, file_title, language_code};
pub use access::{Access, forget_access, sweep as sweep_access};
pub use backup::{BackedUp, BackupOptions, RestoreOptions, Restored, backup, restore};
pub use collection::words::counted;
pub use curation::clean::{Cleaned, clean_documents, each_to_clean};
pub use curation::links::{LinkOptions, LinksChecked, check_links};
pub use curation::trash::{purge_trash, restore_documents, tidy_trash};
pub use doctor::{CheckState, Checked, PlaceDisk, SystemProbe, check_holdings, disk, disks};
pub use document_files::{DocumentFiles, DocumentPart};
pub use explain::{Explanation, explain, explain_text};
pub use failure::{Failure, failure_code, is_failure, is_store_away};
pub use harvest::{
    Deleted, Ended, HarvestJob, HarvestOrder, HarvestVerification, Progress, Rejected, Verdict,
    Via, count_rejected, harvest, harvest_for, introduce_for, is_away, panic_message, settle_way,
    verify_harvested, write_urls,
};
pub use holdings::{Holdings, content_file, document_file};
pub use import::{
    AcceptedReviews, BrowsedFile, Classified, ClassifyCollection, DigestRule, Extracted,
    Extraction, Fate, FateKind, FetchProgress, FetchedSource, Finding, ImportEnded, ImportEvent,
    ImportJob, ImportOrder, ImportProgress, ImportVerdict, Imported, Listing, LoadOrder, Loaded,
    ReviewLimits, ReviewPart, Stage, StoredFile, StoredSource, TAGS, TextOrder, Unsure,
    Verification, VerifyOptions, accept_reviews, archives_at, browse_sources, classify_collection,
    containers, documents_directory, fetch_sources, import, import_for, import_report,
    import_separately, index_texts, index_texts_within, is_remote, is_tag, load,
    open_import_report, prune_reviews, review_file, try_import, update_metadata, verify,
    write_report,
};
pub use index::{index, index_harvest};
pub use introduction::{SelfDescription, introduce, introduce_briefly};
pub use judgement::{Assessment, RECOGNISED_PAGES, assess, extract_options, reasons};
pub use message::message;
pub use mistake::Mistake;
pub use model::load_model;
pub use process::Confiner;
pub use pulse::{Moment, Pulse};
pub use records::{RecordMove, RecordsMoved, move_records};
pub use removal::{Removed, check_files, remove_repository};
pub use reports::ReportName;
pub use retrieval::{
    Copied, Format, Lines, Pick, Retrieval, RetrievalEvent, Retrieved, retrieval_file, retrieve,
    sweep_retrievals,
};
pub use solr::{RefusedDocument, Solr};
pub use warc::{
    CdxjLine, IndexedWarc, RecordPart, RecordWanted, WarcCheck, WarcProblem, check_archive,
    extract_record, index_archive, index_beside,
};
