//! Oddities that are tolerated: each has a name, so that the history can count them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! quirks {
    ($($(#[doc = $doc:literal])+ $name:ident => $sentence:literal,)+) => {
        /// One oddity of a repository that does not stop a harvest.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub enum Quirk {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Quirk {
            /// All there are.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The oddity in a sentence for people.
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$name => $sentence,)+
                }
            }
        }
    };
}

quirks! {
    /// gzip or zstd without a Content-Encoding.
    UnannouncedCompression => "Compressed answers are not announced as such.",
    /// A Content-Encoding without compression.
    AnnouncedCompressionMissing => "Answers are announced as compressed and are not.",
    /// Blank lines or spaces before the XML declaration.
    LeadingWhitespace => "Answers begin with blank space before the XML declaration.",
    /// Text before the XML declaration.
    LeadingText => "Answers begin with text before the XML declaration, which was passed over.",
    /// Bytes after the root element.
    TrailingContent => "Something follows the end of the XML document.",
    /// The encoding named is none.
    UnknownEncoding => "Answers name an encoding that does not exist; they are read as UTF-8.",
    /// An encoding other than UTF-8.
    OtherEncoding => "Answers are not in UTF-8.",
    /// Bytes that are not in the encoding; repaired.
    InvalidBytesRepaired => "Bytes that do not belong to the encoding were read as Windows-1252.",
    /// Characters that XML forbids; replaced.
    IllegalCharactersReplaced => "Characters that XML forbids were replaced.",
    /// A bare `&`; escaped.
    BareAmpersandEscaped => "Ampersands that are not escaped were escaped.",
    /// Entities of HTML; replaced.
    EntityReplaced => "Entities that XML does not know were replaced.",
    /// A well-known prefix without a declaration; declared.
    NamespaceDeclared => "Well-known namespace prefixes that are not declared were declared.",
    /// Tags, attributes or comments that do not fit; mended.
    MarkupMended => "Markup that is not well-formed was repaired.",
    /// A document type before the answer.
    DocumentType => "Answers have a document type; of its entities only small ones that it declares itself are followed.",
    /// The OAI-PMH namespace is missing or misspelled.
    WrongNamespace => "Answers are not in the namespace of OAI-PMH 2.0.",
    /// A record that is not well-formed in itself.
    RecordLeftOut => "Records that are not well-formed were skipped.",
    /// A page that could be read only in parts.
    PageBroken => "Pages could not be read to their end.",
    /// A page that had to be asked for again.
    PageRepeated => "Pages had to be requested again because they broke off.",
    /// A status of HTTP beside an error of the protocol.
    ErrorWithHttpStatus => "Errors of the protocol come with an error status of HTTP.",
    /// A status of HTTP beside a good answer.
    AnswerWithHttpStatus => "Good answers come with an error status of HTTP.",
    /// An error code that the protocol does not have.
    UnknownErrorCode => "Errors come with codes that the protocol does not have.",
    /// 429, 500, 502, 504 where 503 was due.
    BusyWithoutRetryAfter => "The server was busy or failed without saying when to come back.",
    /// The server asked to wait.
    AskedToWait => "The server asked to come back later.",
    /// A token that did not work any longer.
    TokenExpired => "A resumptionToken did not work any longer; the harvest went on by date.",
    /// The same token for different pages.
    TokenUnchanged => "All pages of a list have the same resumptionToken.",
    /// A page without records in the middle of a list.
    EmptyPage => "Pages without records stand in the middle of lists.",
    /// The records of a page again on the next.
    RecordRepeated => "Records come twice in a list.",
    /// A list that is longer or shorter than it says.
    WrongCompleteListSize => "Lists are not as long as their completeListSize says.",
    /// A list that shrank while it was read, or ended early.
    ListShrank => "Lists shrank while they were read, or ended before their completeListSize; they were read again.",
    /// Records that changed and came once more at the end of the list, which passed over others.
    RecordsMoved => "Records moved to the end of lists while they were read, so that others were passed over; the lists were read again.",
    /// completeListSize that is wrong again and again.
    SizesUnreliable => "completeListSize is wrong again and again; lists are not read again because of it.",
    /// Tokens that lead back, or pages without records and without an end.
    ListLoops => "Lists lead back to pages that came before, or do not end; the harvest went on by date.",
    /// An `until` whose moment is not within.
    UntilNotIncluded => "The moment that `until` names is not within the list, or its time of day is ignored.",
    /// An error beside the list that was asked for.
    ErrorBesideAnswer => "Errors of the protocol stand beside the answer that was asked for.",
    /// noRecordsMatch in the middle of a list.
    ListEndsWithError => "Lists end with the error noRecordsMatch instead of an empty resumptionToken.",
    /// Records that the server cannot give although it lists them.
    ListedButNotGiven => "Records that are listed cannot be had.",
    /// A datestamp of the other granularity.
    OtherGranularity => "Datestamps are not of the granularity that Identify tells.",
    /// A request at the granularity told was refused.
    GranularityRefused => "Dates of the granularity that Identify tells are refused.",
    /// A `from` was refused.
    FromRefused => "A `from` date is refused; all records were asked for.",
    /// A datestamp of a form that the protocol does not have.
    DatestampForm => "Datestamps are not of the forms of the protocol.",
    /// No datestamp, or none that can be understood.
    DatestampUnreadable => "Datestamps are missing or cannot be understood.",
    /// A datestamp later than now.
    FutureDatestamp => "Datestamps lie in the future.",
    /// Lists not in the order of datestamps.
    NotInOrderOfDates => "Lists are not in the order of datestamps.",
    /// No usable responseDate.
    NoResponseDate => "Answers have no usable responseDate.",
    /// earliestDatestamp is later than records.
    WrongEarliestDatestamp => "Records are older than the earliestDatestamp.",
    /// A setSpec with characters that are not allowed.
    IllegalSetSpec => "Names of sets hold characters that are not allowed.",
    /// Redirects on the way.
    Redirected => "Requests are redirected.",
    /// Records whose identifier is no URI.
    IdentifierNotUri => "Identifiers are not URIs.",
    /// No Identify, but lists.
    IdentifyUnusable => "Identify gives no usable answer; days are used as granularity.",
    /// No ListMetadataFormats, but lists.
    FormatsUnusable => "ListMetadataFormats gives no usable answer.",
    /// No ListSets, but lists.
    SetsUnusable => "ListSets gives no usable answer.",
}

impl fmt::Display for Quirk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

/// How often each oddity was met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quirks(BTreeMap<Quirk, u64>);

impl Quirks {
    /// Counts one.
    pub fn add(&mut self, quirk: Quirk) {
        *self.0.entry(quirk).or_default() += 1;
    }

    /// Takes one back; `false` if it was not met.
    pub(crate) fn remove(&mut self, quirk: Quirk) -> bool {
        self.0.remove(&quirk).is_some()
    }

    /// Counts all of another.
    pub fn merge(&mut self, other: Self) {
        for (quirk, count) in other.0 {
            *self.0.entry(quirk).or_default() += count;
        }
    }

    /// How often one was met.
    pub fn count(&self, quirk: Quirk) -> u64 {
        self.0.get(&quirk).copied().unwrap_or_default()
    }

    /// All quirks that were met, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Quirk, u64)> {
        self.0.iter().map(|(quirk, count)| (*quirk, *count))
    }

    /// Whether none was met.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
