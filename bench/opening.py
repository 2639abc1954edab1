"""The first page of the results: five charts, and what they mean. The rows of the summary are its only source."""

# A chart, a heading, and sentences; each has the row that it takes its figures from: `{garner}`, `{against}`, `{ratio}`.
CHARTS = [
    ("papers-update.svg", "Only what changed", [
        ("papers", "ListRecords oai_didl from: times faster than wget -r -N (default)",
         "A harvester fetches the changed quarter of a site of 5,268 files in {garner}. A crawler that asks about each file needs "
         "{against}: {ratio} times as long."),
        ("papers", "ListIdentifiers: times faster than wget -r (default)",
         "The list of all files takes {garner}; a crawler that has to follow the links needs {against}."),
    ]),
    ("apache-baseline-event.svg", "The same from Apache", [
        ("apache", "ListIdentifiers: times faster than wget -r (event)",
         "`mod_oai` asks Apache about each file for each requester. The complete list takes {garner} all the same, and a crawl {against}."),
        ("apache", "ListIdentifiers: server CPU per file (event)", "A file costs {garner} of the server's processor time."),
    ]),
    ("harvest-records-static.svg", "Harvesting", [
        ("harvest", "records from static pages: items per second of processor time against sickle",
         "From each second of processor time `garner records` reads {garner} records, sickle {against}."),
        ("harvest", "garner harvest: highest memory", "A harvest takes at most {garner} of memory, however long the list is."),
    ]),
    ("import-crawl.svg", "Importing a crawl", [
        ("import", "parse, filter, digest on one core: processor time of warcio against ours",
         "To parse, filter and digest a crawl of 1.4 GB takes {garner} of processor time; warcio takes {against}."),
        ("import", "import, 2 cores: speed against inflating alone",
         "A whole import on two cores, with files and catalog safe on the disk, takes {garner}; to inflate the file and do nothing else "
         "takes {against} on one core."),
        ("filter", "import with the content filter: documents per minute against pdftotext alone, with as many processes",
         "With the content filter {garner} documents a minute are read and judged; pdftotext alone reads {against}."),
    ]),
    ("manager-pages.svg", "Pages of the console", [
        ("manager", "dashboard with 1,000,000 records and 10,000 jobs: 95th percentile (and 50th) of 200 requests",
         "With a million records in the catalog, 95 of 100 first pages of the console come within {garner}."),
    ]),
]


def page(rows, folder):
    """The page as lines of Markdown, without its title."""
    by_name = {(row["section"], row["comparison"]): row for row in rows}
    lines = [
        "What `make bench` measured, in five charts. Ratios hold on other machines as well; seconds, megabytes and records a second are "
        "absolute figures of this one. [All figures](table.md), with their targets.", "",
    ]
    for chart, heading, sentences in CHARTS:
        told = [sentence.format(**by_name[section, row]) for section, row, sentence in sentences if (section, row) in by_name]
        if told and (folder / chart).exists():
            lines += [f"## {heading}", "", " ".join(told), "", f"![{heading}]({chart})", ""]
    missed = [row for row in rows if row["result"] == "not reached"]
    targets = sum(1 for row in rows if row["target"])
    lines += ["## Targets", "", f"{targets} of the {len(rows)} comparisons have a target, and {targets - len(missed)} reach it. These do not:", ""]
    lines += [f"- {row['section']}: {row['comparison']}: {row['ratio'] or row['garner']}, target {row['target']}" for row in missed]
    return [*lines, ""] if missed else lines[:-2] + [f"All {targets} targets are reached.", ""]


def missing(rows):
    """The rows that sentences ask for and that are not there: a comparison was renamed."""
    there = {(row["section"], row["comparison"]) for row in rows}
    return [(section, row) for _, _, sentences in CHARTS for section, row, _ in sentences if (section, row) not in there]
