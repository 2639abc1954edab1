//! The counters of an import. The first nine have the names and meanings of the Crawl Document Importer (Table 1).

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::{CaptureOutcome, CaptureRow, ContentRow};

/// Counters of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportCounters {
    /// Captures that were looked at.
    pub all: u64,
    /// Documents whose URL was not known.
    #[serde(rename = "saved_New")]
    pub saved_new: u64,
    /// Documents whose URL was known.
    #[serde(rename = "saved_Duplicate")]
    pub saved_duplicate: u64,
    /// Captures that a filter left out, whichever.
    pub filtered: u64,
    /// Captures of other media types.
    #[serde(rename = "filtered_MTF")]
    pub filtered_mtf: u64,
    /// Documents that the content filter left out.
    #[serde(rename = "filtered_DCF")]
    pub filtered_dcf: u64,
    /// Documents that no text could be had of.
    #[serde(rename = "failed_TextExtract")]
    pub failed_text_extract: u64,
    /// Captures whose file is not there.
    #[serde(rename = "failed_FileNotFound")]
    pub failed_file_not_found: u64,
    /// Containers without a document of the types that are wanted.
    #[serde(rename = "failed_PDFFilenotFound")]
    pub failed_pdf_file_not_found: u64,
    /// Captures whose URL is refused or is none.
    #[serde(rename = "filtered_URL")]
    pub filtered_url: u64,
    /// Captures whose bytes could not be read.
    #[serde(rename = "failed_Read")]
    pub failed_read: u64,
    /// Documents that could not be stored.
    #[serde(rename = "failed_Save")]
    pub failed_save: u64,
    /// Of the duplicates, those with a content that took the place of another.
    #[serde(rename = "saved_NewVersion")]
    pub saved_new_version: u64,
    /// Of the new ones, those whose content was known.
    #[serde(rename = "saved_KnownContent")]
    pub saved_known_content: u64,
    /// Of the documents that are kept, those that search engines are not to take in.
    #[serde(rename = "saved_SetAside")]
    pub saved_set_aside: u64,
    /// Documents that cannot be read without a password. These and the following are told of all documents that were
    /// read for their text, kept or not.
    #[serde(rename = "text_Encrypted")]
    pub text_encrypted: u64,
    /// Documents that are damaged.
    #[serde(rename = "text_Damaged")]
    pub text_damaged: u64,
    /// Documents with nothing in them.
    #[serde(rename = "text_Empty")]
    pub text_empty: u64,
    /// Documents that consist of images.
    #[serde(rename = "text_ImageOnly")]
    pub text_image_only: u64,
    /// Documents that took more time, memory or room than they may.
    #[serde(rename = "text_Limit")]
    pub text_limit: u64,
    /// Documents whose program is not installed.
    #[serde(rename = "text_EngineMissing")]
    pub text_engine_missing: u64,
    /// Documents of types that nothing reads, and those that a program crashed on.
    #[serde(rename = "text_Failed")]
    pub text_failed: u64,
    /// Captures without bytes because nothing had changed.
    pub revisits: u64,
    /// Of these, those that no document was known of.
    #[serde(rename = "revisits_Unknown")]
    pub revisits_unknown: u64,
    /// Captures that are no documents by their status.
    #[serde(rename = "skipped_Status")]
    pub skipped_status: u64,
    /// Captures that a takedown keeps out.
    #[serde(rename = "skipped_Takedown")]
    pub skipped_takedown: u64,
    /// Records, lines and bytes that could not be made sense of.
    #[serde(rename = "skipped_Records")]
    pub skipped_records: u64,
    /// Documents that have the digests of their archive.
    #[serde(rename = "digest_Verified")]
    pub digest_verified: u64,
    /// Captures whose bytes are not those that a digest of their archive was made of.
    #[serde(rename = "digest_Mismatch")]
    pub digest_mismatch: u64,
    /// Documents with a digest that cannot be compared: of another algorithm, or in place of one that was not made.
    #[serde(rename = "digest_Unverifiable")]
    pub digest_unverifiable: u64,
    /// Containers that were opened.
    pub containers: u64,
    /// Bytes that were read.
    #[serde(rename = "bytes_Read")]
    pub bytes_read: u64,
    /// Bytes of documents that are new in the collection.
    #[serde(rename = "bytes_Saved")]
    pub bytes_saved: u64,
}

impl ImportCounters {
    /// The most important counts, in words.
    pub fn in_words(&self) -> String {
        let Self {
            all,
            saved_new,
            saved_duplicate,
            filtered,
            ..
        } = self;
        format!(
            "{all} captures, {saved_new} new documents, {saved_duplicate} known ones, {filtered} filtered"
        )
    }

    /// Whether no capture brought a document, or said that a known one is as it was.
    pub fn kept_nothing(&self) -> bool {
        let revisited = self.revisits.saturating_sub(self.revisits_unknown);
        self.saved_new + self.saved_duplicate + self.saved_known_content + revisited == 0
    }

    /// Counts what a capture was.
    pub fn count(&mut self, row: &CaptureRow, outcome: CaptureOutcome) {
        match outcome {
            _ if row.content == ContentRow::EdgeOnly => {}
            CaptureOutcome::New => self.saved_new += 1,
            CaptureOutcome::NewUrl => {
                self.saved_new += 1;
                self.saved_known_content += 1;
            }
            CaptureOutcome::NewVersion => {
                self.saved_duplicate += 1;
                self.saved_new_version += 1;
            }
            CaptureOutcome::Older | CaptureOutcome::Unchanged => self.saved_duplicate += 1,
            CaptureOutcome::Revisited => self.revisits += 1,
            CaptureOutcome::RevisitUnknown => {
                self.revisits += 1;
                self.revisits_unknown += 1;
            }
        }
    }
}

impl AddAssign for ImportCounters {
    fn add_assign(&mut self, other: Self) {
        // Without `..`, so that a new counter is not forgotten here.
        let Self {
            all,
            saved_new,
            saved_duplicate,
            filtered,
            filtered_mtf,
            filtered_dcf,
            failed_text_extract,
            failed_file_not_found,
            failed_pdf_file_not_found,
            filtered_url,
            failed_read,
            failed_save,
            saved_new_version,
            saved_known_content,
            saved_set_aside,
            text_encrypted,
            text_damaged,
            text_empty,
            text_image_only,
            text_limit,
            text_engine_missing,
            text_failed,
            revisits,
            revisits_unknown,
            skipped_status,
            skipped_takedown,
            skipped_records,
            digest_verified,
            digest_mismatch,
            digest_unverifiable,
            containers,
            bytes_read,
            bytes_saved,
        } = other;
        self.all += all;
        self.saved_new += saved_new;
        self.saved_duplicate += saved_duplicate;
        self.filtered += filtered;
        self.filtered_mtf += filtered_mtf;
        self.filtered_dcf += filtered_dcf;
        self.failed_text_extract += failed_text_extract;
        self.failed_file_not_found += failed_file_not_found;
        self.failed_pdf_file_not_found += failed_pdf_file_not_found;
        self.filtered_url += filtered_url;
        self.failed_read += failed_read;
        self.failed_save += failed_save;
        self.saved_new_version += saved_new_version;
        self.saved_known_content += saved_known_content;
        self.saved_set_aside += saved_set_aside;
        self.text_encrypted += text_encrypted;
        self.text_damaged += text_damaged;
        self.text_empty += text_empty;
        self.text_image_only += text_image_only;
        self.text_limit += text_limit;
        self.text_engine_missing += text_engine_missing;
        self.text_failed += text_failed;
        self.revisits += revisits;
        self.revisits_unknown += revisits_unknown;
        self.skipped_status += skipped_status;
        self.skipped_takedown += skipped_takedown;
        self.skipped_records += skipped_records;
        self.digest_verified += digest_verified;
        self.digest_mismatch += digest_mismatch;
        self.digest_unverifiable += digest_unverifiable;
        self.containers += containers;
        self.bytes_read += bytes_read;
        self.bytes_saved += bytes_saved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_explains_every_counter_and_no_other() {
        let page = include_str!("../../../../docs/reference/counters.md");
        let explained = page.lines().filter_map(|line| line.strip_prefix("| `"));
        let mut explained: Vec<_> = explained
            .filter_map(|line| line.split('`').next())
            .collect();
        let counters = serde_json::to_value(ImportCounters::default()).unwrap();
        let mut counters: Vec<_> = counters.as_object().unwrap().keys().collect();
        // Counted by an import without the catalog alone.
        let separate = "saved_Separate".to_owned();
        counters.push(&separate);
        explained.sort_unstable();
        counters.sort_unstable();
        assert_eq!(explained, counters);
    }
}
