"""Keeps the results: tables as CSV, the summary with its targets, and the page that shows them.

Sections can be measured one at a time: rows and figures of the others are kept from earlier runs.
"""

import csv
import os
import sys

import opening

COLUMNS = ["section", "comparison", "garner", "against", "ratio", "target", "result"]
ORDER = ["papers", "counting", "apache", "pages", "growth", "aggregate", "synchronize", "scan", "memory", "harvest", "manager", "console", "collection", "import",
         "load", "sizes", "filter", "classifier"]
ABOUT = {
    "papers": "The experiment of the mod_oai papers: a site of 5,268 files and 292 MB, harvested completely and then again after a "
              "quarter of it changed, by a crawler and over OAI-PMH. The program is restarted before every round. Today's wget asks for "
              "updates with one conditional GET a file; the papers' asked with HEAD first. Both are measured, and the target is against "
              "the first, which is faster. The page that links to all files is among the changed ones, because wget follows no links "
              "from a page that did not change.",
    "apache": "The same experiment in an Apache httpd with mod_oai and the modules that most servers have, by one crawler or one "
              "harvester, with the event and the prefork MPM; started by root, its workers are an unprivileged user. Server CPU is that "
              "of the parent and all children. The methods take turns. The server looks at its files once in ten seconds, as is the "
              "default, and has just done so before the complete list. Updates over OAI-PMH come from a second one that looks at all files "
              "for each list (`OaiFreshness 0`). Before each of them the same quarter changes once more, so noticing the changes and, by "
              "value, making the digests of the new versions is part of what is measured. wget and the GET of what changed write the files to disk; what "
              "comes by value is received and counted. To GET what a list names is the work of curl and httpd, so the target is for "
              "files by value. One large file by value is compared with a GET of it, both by curl.",
    "pages": "The same site at different page sizes, by number of records and by bytes.",
    "growth": "A hundred changes in ever larger sites, and early against late pages of the complete list.",
    "counting": "The counting experiment of the mod_oai papers (their Table 2): a site of as many files as theirs, of which the home page leads to as many as their "
                "crawl found, and to some that are gone. False are URLs that were asked for or named although no such file is there.",
    "aggregate": "Complete lists of the records that `garner harvest` brought from a site, from the aggregator over the catalog, against the same lists from the "
                 "index of the site; and a hundred changes among many records and among few.",
    "synchronize": "A copy of a site by ResourceSync, all files fetched and compared with their digests: by `garner harvest --via resourcesync`, and by the client that "
                   "the authors of the standard wrote.",
    "collection": "A collection that SQL fills with documents, parents and judgements, every 25th document with a text of 1,500 words, in SQLite and in PostgreSQL. "
                  "Pages of the console and facets are asked for one after the other by an admin who is logged in, each time with another value, while nothing else "
                  "runs. A page for a part of a URL looks at 200,000 documents and leads on to the next ones. Retrieval copies documents with files of their own; cp "
                  "copies the same files. The cleaning of documents moves the files of those it removes.",
    "scan": "The first start over a large site, with an empty data directory, until every file is listed.",
    "memory": "Resident memory (VmRSS) and its highest value since the start (VmHWM), in units of 1,000,000 bytes.",
    "harvest": "Lists harvested from our own provider, where the time of the server counts as well, and from nginx, which only has to send "
               "pages that were made before: 20,000 records of oai_dc at 500 a page, and 200,000 identifiers. `garner records` goes through "
               "a list and prints a line for each item, `garner harvest` checks and stores each record as a file and in the catalog. sickle "
               "and oaipmh-scythe go through the same list in Python, oai_pmh of HTTP::OAI prints it (one round, because it takes so long), "
               "and curl fetches the same pages, one after the other over one connection. What takes hundredths of a second runs five times a round. xmllint only says whether the same pages, read from "
               "the disk, are well-formed. Processor time is that of the harvester alone. The "
               "mirror is the site of the section papers, its files by value, written to disk; each round of the update begins with what the "
               "complete harvest or crawl left, and every copy is compared byte by byte. cp copies the same files from disk to disk: no server, no digests, no records, and no waiting until they are safe.",
    "manager": "`garner up` with schedules for 1,000 repositories of five records each, sent by nginx, of which ten are due every second: the "
               "processor time of the whole process, from its start to the end of the last job, for each job, against that of the command "
               "`garner harvest` for the same repository into an empty directory. Pages of the console are asked for one after the other by somebody who "
               "is logged in, on the catalog that the jobs left, filled with copies up to the sizes named, in SQLite. Claims are made of a queue of "
               "3,000 jobs for 1,000 repositories at 100 hosts, with a limit for each host.",
    "console": "One page of each kind that links of the console lead to, from the overview on, and lists in other orders and with filters, asked for one "
               "after the other by an admin who is logged in, while nothing else runs. The catalog is in SQLite: the repositories are harvested by "
               "`garner up`, a small crawl is imported, and copies of what that brought make up the numbers.",
    "import": "A crawl of 1.4 GB, 0.9 GB as a `.warc.gz`, each record a gzip member of its own: by count 70 % HTML, of which a quarter is chunked, 20 % "
              "pictures, 6 % PDF, 4 % pages that were not there, each a response with its request and its metadata. `garner import --dry-run` parses, "
              "looks at media types and digests (SHA-1 and SHA-256) what it would import; the others parse every response and digest (SHA-1) those that are "
              "declared to be PDF. The floor is inflating the file with zlib-rs and nothing else, or computing both digests of as many bytes as the documents have beside. A whole import writes documents, their metadata and the catalog, "
              "and waits until they are safe on the disk. Papers are files of the size that the original was measured with, imported by a list; the log is that of a "
              "mirror.",
    "load": "40,000 small documents in four archives: extracted by one process with one worker, against an import without a database that writes a file and a `.met` "
            "file for each; extracted with two workers; and loaded into an empty catalog and collection. A load writes the same files as "
            "an import; files alone is making these directories and files, and nothing else. With Spark, `contrib/spark/extract.py` starts the program for each of many "
            "archives with one document, in `local[1]`; the time for a file is the difference between all and half of them, so that the start of Spark does not count.",
    "sizes": "Catalogs of 10,000,000 documents, filled by SQL, and of 10,000,000 records in 50 repositories, committed as a harvest does and with their words indexed, in "
             "SQLite and in PostgreSQL. New documents are reserved and committed as an import does, into an empty catalog and into the full one. Records: the first repository "
             "against the last. Pages are asked for one after the other by an admin who is logged in, while nothing else runs; each 250th document has a text of 1,500 words, "
             "and each record 40 words.",
    "filter": "Real PDF documents, most of them papers, each several times with another byte at its end, imported by a list with the content filter: read "
              "by pdftotext in confined processes, judged, and kept with their texts or left out. The floor is pdftotext over the same files, with as many "
              "processes at a time and nothing else.",
    "classifier": "Labelled documents, each judged by a model that has seen none of its source, with the sources divided in four ways: the mean, and in "
                  "brackets the least and the most. The rule of 2012 is that of the original importer, on the same documents. The time is that "
                  "of judging a text that is at hand, by the model that garner brings along.",
}


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()})


def merge_summary(path, sections, rows):
    """Replaces the rows of the sections that were measured now, and returns all of them in order."""
    kept = []
    if path.exists():
        with open(path, newline="", encoding="utf-8") as file:
            kept = [row for row in csv.DictReader(file) if row["section"] not in sections]
    rows = sorted(kept + rows, key=lambda row: ORDER.index(row["section"]) if row["section"] in ORDER else len(ORDER))
    if rows:
        write_csv(path, rows)
    return rows


def table(rows):
    """The summary as a table that reads in a terminal and as Markdown."""
    cells = [COLUMNS] + [[str(row[name]) for name in COLUMNS] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def write_page(folder, rows, quick):
    """The first page, for readers, and behind it all figures."""
    note = ["Made with `--quick`: the sizes are too small for the targets to mean anything.", ""] if quick else []
    for section, row in opening.missing(rows):
        print(f"bench: the first page names a comparison that is not there: {section}, {row}", file=sys.stderr)
    first = ["# Benchmarks", "", *note, *opening.page(rows, folder)]
    (folder / "README.md").write_text("\n".join(first), encoding="utf-8")
    parts = ["# All figures", "", *note]
    parts += [
        f"Measured on a machine with {os.cpu_count()} cores and {_memory_gib()} GiB of memory, client and server on the same machine over "
        "the loopback interface, everything in the page cache. Each figure is the median of several rounds. A row without a target is "
        "there for comparison.", "", table(rows), "",
    ]
    for section in ORDER:
        figures = sorted(folder.glob(f"{section}*.svg"))
        if not figures and not (folder / f"{section}.csv").exists():
            continue
        parts += [f"## {section}", "", ABOUT[section], ""]
        parts += [f"![{_title(figure)}]({figure.name})\n" for figure in figures]
        parts += [f"All figures: [{section}.csv]({section}.csv)", ""]
    parts += [
        "## How to reproduce", "", "```", "cargo build --release", "cargo build --release -p garner-catalog --example claims --example generated_texts --example imports --example speed",
        "cargo build --release --manifest-path bench/peers/Cargo.toml --target-dir target/peers", "make apache", "python3 bench/run.py                  # everything",
        "python3 bench/run.py papers pages     # some sections", "python3 bench/run.py sizes            # only if it is named: hours, and 40 GB", "python3 bench/run.py --quick          # small sizes, to try it out", "```", "",
        "It needs Linux, Python 3.9 or newer, `wget`, `curl` and `find`, for the section `apache` also `apache2` and `htpasswd`, for the "
        "section `harvest` also `nginx`, `oai_pmh`, `time` and the Python packages of `scripts/setup test`, for the section `manager` also `nginx` and PostgreSQL, for the section `console` also `nginx`, for the section `collection` also `time` and PostgreSQL, for the section `synchronize` also those Python packages, for the section `import` also `time`, PostgreSQL and those Python packages, for the section `load` also `time`, PostgreSQL and Spark (`scripts/setup cluster`), for the section `sizes` also PostgreSQL, and "
        "room for 12 GB and a million files in `$TMPDIR`. "
        "It writes this page, the [first page](README.md), the tables and the figures.", "",
    ]
    (folder / "table.md").write_text("\n".join(parts), encoding="utf-8")


def _title(figure):
    text = figure.read_text(encoding="utf-8")
    return text[text.index("<title>") + 7 : text.index("</title>")]


def _memory_gib():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
