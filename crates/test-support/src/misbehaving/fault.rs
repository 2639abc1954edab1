//! The faults that the misbehaving repository can play.

/// One way to misbehave. Records are named by their number, pages by their place in a list; a fault
/// with `times` happens that often and not again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "page, times and status say what they are")]
pub enum Fault {
    // In one record, wherever it is sent.
    /// U+001A in the title.
    IllegalCharacter(usize),
    /// `&#x1A;` in the title.
    IllegalReference(usize),
    /// A byte of ISO-8859-1 in UTF-8.
    InvalidBytes(usize),
    /// The first byte of a character without the rest.
    SplitCharacter(usize),
    /// `AT&T`.
    BareAmpersand(usize),
    /// `&eacute;`.
    UnknownEntity(usize),
    /// A prefix that nobody declares.
    UndeclaredPrefix(usize),
    /// The same attribute twice.
    DuplicateAttribute(usize),
    /// An end tag that does not fit.
    MismatchedTags(usize),
    /// An element that Dublin Core does not have.
    UnknownElement(usize),
    /// A thousand elements within each other.
    DeepNesting(usize),
    /// A record whose title has this number of bytes.
    LongRecord(usize, usize),
    /// No identifier in the header.
    NoIdentifier(usize),
    /// A datestamp in the year 2999.
    FutureDatestamp(usize),
    /// Listed, but GetRecord answers idDoesNotExist.
    NotGiven(usize),
    /// GetRecord answers with the record behind it.
    OtherGiven(usize),

    // In one page.
    /// The body ends in the middle, and HTTP says it is whole.
    Truncated { page: usize, times: u32 },
    /// gzip, announced, with a letter of each title that is not what the checksum was made of.
    DamagedGzip { page: usize, times: u32 },
    /// The connection is reset in the middle of the body.
    Reset { page: usize, times: u32 },
    /// A web page with status 200.
    WebPage { page: usize, times: u32 },
    /// An error status.
    Status {
        page: usize,
        status: u16,
        retry_after: Option<String>,
        times: u32,
    },
    /// The body comes byte by byte, with a pause in milliseconds.
    Drip { page: usize, pause: u64 },
    /// The answer comes after a pause in milliseconds.
    Slow { page: usize, pause: u64 },
    /// No records, but a token.
    EmptyPage(usize),
    /// An error that the protocol does not know.
    UnknownError { page: usize, times: u32 },
    /// badResumptionToken.
    ExpiredToken { page: usize, times: u32 },

    // In all lists.
    /// No tokens work, except within this many records of the beginning of a list.
    TokensExpireAfter(usize),
    /// Tokens full of odd characters.
    OddTokens,
    /// Tokens of three thousand characters.
    LongTokens,
    /// The token of a page leads to the page itself.
    SameTokenForEver,
    /// The second page leads back to the first.
    TokenCircle,
    /// One token for all pages; the place is kept by the server.
    UnchangedToken,
    /// Pages without records and without an end.
    EndlessEmptyPages,
    /// After the last page the list begins anew, with ever new tokens.
    RestartingList,
    /// The last page has a token, which leads to noRecordsMatch.
    TokenOnLastPage,
    /// This page is the last of its list, although there is more.
    EndsEarly(usize),
    /// In place of this page of a list noRecordsMatch, although there is more.
    NothingLeft(usize),
    /// No list tells how long it is.
    NoCompleteListSize,
    /// An older version of a record stands at the end of lists once more.
    OlderVersion(usize),
    /// completeListSize is anything.
    WrongCompleteListSize,
    /// The last two records of a page stand on the next as well.
    OverlappingPages,
    /// Lists hold this number of records and end as if there were no more.
    ShortLists(usize),
    /// The same of lists that have both `from` and `until`.
    ShortSpans(usize),
    /// Lists run backwards in time.
    NewestFirst,

    /// `until` is exclusive: its own second, or its own day, is not within.
    UntilExclusive,
    /// `until` means midnight, with which its day begins.
    UntilMidnight,
    /// Every page with this record is answered with 500, and so is the record itself; its header is given.
    RecordError(usize),
    /// Every page with the header of this record is answered with 500 as well.
    HeaderError(usize),
    /// Before `page` of a list is sent, `records` records at its beginning vanish for good.
    Vanish { page: usize, records: usize },
    /// The same, and as many more each time such a page is asked for.
    VanishEachTime { page: usize, records: usize },
    /// Before `page` of a list is sent, `records` records at its beginning change, and move to its end with the time of now.
    Move { page: usize, records: usize },
    /// The same, and other records each time such a page is asked for.
    MoveEachTime { page: usize, records: usize },
    /// These records have moved.
    Moved(usize),
    /// completeListSize tells how many records are left.
    RemainingSize,
    /// completeListSize is so much too large.
    SizeTooLarge(usize),
    /// Any `from` is refused.
    FromRefused,
    /// An error of the protocol stands beside every list.
    ErrorBesideList,
    /// Lists that are right come with this status.
    ListsWithStatus(u16),
    /// An answer with this status to one verb.
    VerbStatus(&'static str, u16),
    /// A web page in place of the answer to one verb.
    VerbWebPage(&'static str),

    // In all answers.
    /// Text before the XML declaration.
    LeadingText,
    /// Small entities in the document type.
    SmallEntities,
    /// Raw deflate that nobody announces.
    RawDeflate,
    /// deflate with the header of zlib, announced.
    ZlibDeflate,
    /// Datestamps with fractions of a second.
    FractionalSeconds,
    /// Datestamps in another time zone.
    LocalTime,
    /// Days, where seconds are told.
    DaysInsteadOfSeconds,
    /// Dates with seconds are refused, although told.
    SecondsRefused,
    /// A `from` before the earliestDatestamp is refused.
    EarlierRefused,
    /// earliestDatestamp is later than most records.
    EarliestTooLate,
    /// The clock of the server is years ahead.
    ClockAhead,
    /// Every answer to ListRecords breaks off; ListIdentifiers and GetRecord are right.
    RecordsBroken,
    /// No responseDate.
    NoResponseDate,
    /// gzip that nobody announces.
    UnannouncedGzip,
    /// zstd that nobody announces.
    UnannouncedZstd,
    /// Content-Encoding: gzip, but plain.
    GzipMissing,
    /// ISO-8859-1, declared.
    Latin1,
    /// UTF-16 with a byte order mark.
    Utf16,
    /// Blank lines first.
    LeadingWhitespace,
    /// A comment and text after the end.
    TrailingContent,
    /// No namespace at all.
    NoNamespace,
    /// A prefix for all elements of the protocol.
    PrefixedElements,
    /// Entities that multiply.
    EntityBomb,
    /// An entity that is a local file.
    ExternalEntity,
    /// A body of this number of bytes in one record.
    HugeAnswer(u64),
    /// Every request is redirected to a URL, with its query.
    RedirectTo(String),
    /// Every request is redirected to itself.
    RedirectLoop,
    /// URLs longer than this are answered with 414.
    LongUrlsRefused(usize),
    /// POST is answered with 405.
    PostRefused,
    /// Errors come with status 400.
    ErrorsWithStatus,
    /// Identify says that deletions are not told.
    NoDeletions,
    /// No such set any longer.
    NoSets,
}
