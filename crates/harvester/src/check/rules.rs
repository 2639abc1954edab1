//! The rules of the protocol that a check looks at, each with the remedy for those who break it.

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// The claim, which holds or not.
    pub(super) claim: &'static str,
    pub(super) remedy: &'static str,
}

const fn rule(name: &'static str, claim: &'static str, remedy: &'static str) -> Rule {
    Rule {
        name,
        claim,
        remedy,
    }
}

/// All rules, in the order of a report.
pub(super) const RULES: [Rule; 36] = [
    rule(
        "http",
        "Answers, errors of the protocol among them, have HTTP status 200",
        "Send errors of the protocol as XML with status 200; other statuses are for failures of the server",
    ),
    rule(
        "content-type",
        "Answers have the content type text/xml",
        "Send the header Content-Type: text/xml; charset=utf-8",
    ),
    rule(
        "xml",
        "Answers are well-formed XML in UTF-8",
        "Escape what is not legal in XML, and send all text as UTF-8",
    ),
    rule(
        "envelope",
        "Answers have the elements of the schema of OAI-PMH 2.0",
        "Validate an answer against http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd",
    ),
    rule(
        "request",
        "The request element repeats the base URL and the arguments",
        "Write the base URL into `request` and each argument as an attribute; none after badVerb and badArgument",
    ),
    rule(
        "post",
        "A request by POST gets the same answer",
        "Take arguments from a body of type application/x-www-form-urlencoded",
    ),
    rule(
        "identify",
        "Identify has all required elements, in order",
        "Send repositoryName, baseURL, protocolVersion, adminEmail, earliestDatestamp, deletedRecord, granularity",
    ),
    rule(
        "base-url",
        "Identify names the base URL that was asked",
        "Set the base URL of the repository to its public address",
    ),
    rule(
        "version",
        "Identify names protocol version 2.0",
        "Only OAI-PMH 2.0 is harvested today",
    ),
    rule(
        "admin-email",
        "Identify names an e-mail address",
        "Set an adminEmail that somebody reads",
    ),
    rule(
        "deleted-record",
        "deletedRecord is no, transient or persistent",
        "Say how deletions are told",
    ),
    rule(
        "granularity",
        "granularity is YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ",
        "Use one of the two legal values",
    ),
    rule(
        "earliest",
        "earliestDatestamp is a datestamp in the granularity",
        "Write it in the granularity, in UTC",
    ),
    rule(
        "formats",
        "ListMetadataFormats offers oai_dc, and each format completely",
        "Offer oai_dc for every item, and a schema and namespace for each format",
    ),
    rule(
        "item-formats",
        "ListMetadataFormats answers for one item",
        "Take the argument `identifier`",
    ),
    rule(
        "sets",
        "ListSets gives legal setSpecs, each once, or noSetHierarchy",
        "Use letters, digits and -_.!~*'() in setSpecs, with colons between levels",
    ),
    rule(
        "set-members",
        "A list of a set holds members of that set",
        "Name in each header the sets of the record",
    ),
    rule(
        "headers",
        "Headers have an identifier that is a URI, each once, and a datestamp",
        "Make identifiers URIs such as oai:host:1, and give each record one place in a list",
    ),
    rule(
        "datestamps",
        "Datestamps are in the granularity, not before the earliest and not in the future",
        "Write datestamps in UTC and in the granularity of Identify",
    ),
    rule(
        "records",
        "Records that are not deleted have metadata, deleted ones have none",
        "Send metadata with each record, and only a header for a deleted one",
    ),
    rule(
        "deletions",
        "Deleted records are told as Identify says",
        "Change deletedRecord, or do not send deleted records",
    ),
    rule(
        "get-record",
        "GetRecord gives the record that a list names",
        "Use the same identifiers and datestamps in lists and GetRecord",
    ),
    rule(
        "from-until",
        "from and until are inclusive, alone and together",
        "Compare datestamps with >= and <=",
    ),
    rule(
        "future",
        "A from in the future gives noRecordsMatch",
        "Answer noRecordsMatch for an empty list",
    ),
    rule(
        "date-order",
        "until before from is badArgument",
        "Compare both before the list is made",
    ),
    rule(
        "date-form",
        "Dates of mixed or unsupported granularity, and no dates at all, are badArgument",
        "Check the form of from and until",
    ),
    rule(
        "day-dates",
        "Dates without a time are understood",
        "Day granularity is mandatory for every repository",
    ),
    rule(
        "bad-verb",
        "A missing, unknown or repeated verb is badVerb",
        "Answer badVerb",
    ),
    rule(
        "bad-argument",
        "Missing, unknown and repeated arguments are badArgument",
        "Answer badArgument",
    ),
    rule(
        "no-id",
        "An unknown identifier is idDoesNotExist",
        "Answer idDoesNotExist in GetRecord and ListMetadataFormats",
    ),
    rule(
        "no-format",
        "An unknown metadataPrefix is cannotDisseminateFormat",
        "Answer cannotDisseminateFormat",
    ),
    rule(
        "bad-token",
        "A token that was never given is badResumptionToken",
        "Check tokens; never take them for the beginning of a list",
    ),
    rule(
        "token-alone",
        "A token with another argument is badArgument",
        "resumptionToken is an exclusive argument",
    ),
    rule(
        "paging",
        "A token leads on: no record twice, none missing, the last page with an empty token",
        "Order lists by a key that does not change while they are read",
    ),
    rule(
        "token-again",
        "The same token can be used once more",
        "A harvester repeats a request after a network failure; tokens must allow that",
    ),
    rule(
        "list-size",
        "cursor and completeListSize agree with the list",
        "Count the records before the page, or leave the attribute out",
    ),
];
