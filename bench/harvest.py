"""Harvesting: our harvester against others, from our own provider and from a server of pages that were made before."""

import harvest_mirror
import plot
from client import Client, COUNTED
from harvest_programs import CURL, PERL, PYTHON, SHORT, SHORT_RUNS, SICKLE, SLOW, STORE, STREAM, XMLLINT, Programs
from harvest_sources import NGINX, Provider, StaticPages, check_tool
from program import BenchError, median
from sites import FlatSite

# List, files, files in the quick mode, configuration of the provider.
LISTS = {
    "records": ({"verb": "ListRecords", "metadataPrefix": "oai_dc"}, 20_000, 1_000, "[pages]\nrecords = 500\n"),
    "identifiers": ({"verb": "ListIdentifiers", "metadataPrefix": "oai_dc"}, 200_000, 5_000, None),
}
SOURCES = ("provider", "static pages")
FASTER_THAN_SICKLE, AGAINST_CURL, MEMORY_MB = 15, 3, 60


def measure_section(bench):
    rows = []
    for name, (query, files, quick_files, config) in LISTS.items():
        rows += _measure_list(bench, name, query, quick_files if bench.quick else files, config)
    bench.write_csv("harvest", rows)
    _summarise(bench, rows)
    _draw(bench, rows)
    harvest_mirror.measure(bench)


def check(parser):
    for tool, where in ((NGINX, "test"), (XMLLINT, "test"), (PERL, "bench"), ("time", "bench")):
        check_tool(parser, tool, "harvest", where)
    if not PYTHON.exists():
        parser.error(f"{PYTHON} is needed for the section `harvest`; `scripts/setup test` makes it")


def _measure_list(bench, name, query, files, config):
    folder = bench.work / f"harvest-{name}"
    folder.mkdir()
    bench.say(f"harvest, {name}: making a site of {files:,} files")
    site = FlatSite(folder / "site")
    site.grow(files)
    with Provider(bench, site, folder / "provider", config) as provider:
        static = StaticPages(folder / "static")
        static.take(provider, query)
        with Client(provider.garner.port) as client:
            queries = client.harvest(query).queries
        yield from _measure_source(bench, name, "provider", provider, query, queries, files)
    queries = static.queries(query)
    _check_pages(static, query, files)
    with static:
        yield from _measure_source(bench, name, "static pages", static, query, queries, files)


def _check_pages(static, query, files):
    marks = COUNTED[query["verb"]]
    found = sum(page.read_bytes().count(mark) for page in static.files.glob(f"{query['verb']}-*") for mark in marks)
    if found != files:
        raise BenchError(f"the pages hold {found:,} items, the site has {files:,} files")


def _measure_source(bench, name, title, source, query, queries, files):
    folder = bench.work / f"harvest-{name}-{title.replace(' ', '-')}"
    folder.mkdir()
    programs = Programs(bench, source, query, queries, folder, (files, len(queries)))
    rounds = {program: [] for program in programs.commands}
    for number in range(bench.repeat):
        for program in rounds:
            if number == 0 or program not in SLOW:
                bench.say(f"harvest, {name} from {title}: round {number + 1} of {bench.repeat}: {program}")
                runs = SHORT_RUNS if program in SHORT else 1
                rounds[program] += [programs.run(program) for _ in range(runs)]
    for program, figures in rounds.items():
        merged = median(figures)
        yield {
            "list": name, "source": title, "program": program, "items": files, "pages": len(queries), **merged,
            "items_per_cpu_s": files / merged["cpu_s"], "peak_memory_bytes": programs.peak_memory(program) if program in (STREAM, STORE) else "",
        }


def _summarise(bench, rows):
    for name in LISTS:
        for source in SOURCES:
            own = {row["program"]: row for row in rows if (row["list"], row["source"]) == (name, source)}
            _compare_streams(bench, f"{name} from {source}", own)
            if STORE in own:
                _compare_store(bench, f"{name} from {source}", own)
    for program in (STREAM, STORE):
        highest = max(row["peak_memory_bytes"] for row in rows if row["program"] == program) / 1e6
        bench.compare("harvest", f"{program}: highest memory", f"{highest:.0f} MB", "", None, f"< {MEMORY_MB} MB", reached=highest < MEMORY_MB)


def _compare_streams(bench, title, own):
    for program in own:
        if program in (STREAM, STORE, CURL, XMLLINT):
            continue
        ours, theirs = own[STREAM]["items_per_cpu_s"], own[program]["items_per_cpu_s"]
        target = FASTER_THAN_SICKLE if program == SICKLE else None
        bench.compare("harvest", f"{title}: items per second of processor time against {program}", f"{ours:,.0f}", f"{theirs:,.0f}",
                      ours / theirs, f"≥ {target}" if target else "", at_least=target)
    ours, theirs = own[STREAM]["wall_s"], own[CURL]["wall_s"]
    bench.compare("harvest", f"{title}: wall time against curl", f"{ours:.3f} s", f"{theirs:.3f} s", ours / theirs,
                  f"≤ {AGAINST_CURL}", at_most=AGAINST_CURL)
    if XMLLINT in own:
        ours, theirs = own[STREAM]["wall_s"], own[XMLLINT]["wall_s"]
        bench.compare("harvest", f"{title}: wall time against xmllint, which reads the pages from the disk", f"{ours:.3f} s", f"{theirs:.3f} s",
                      ours / theirs)


def _compare_store(bench, title, own):
    ours, theirs = own[STORE]["wall_s"], own[SICKLE]["wall_s"]
    bench.compare("harvest", f"{title}, stored: times faster than sickle goes through them", f"{ours:.3f} s", f"{theirs:.3f} s",
                  theirs / ours, "≥ 1", at_least=1)


def _draw(bench, rows):
    for name in LISTS:
        for source in SOURCES:
            own = [row for row in rows if (row["list"], row["source"]) == (name, source)]
            series = {"wall time": [row["wall_s"] for row in own], "processor time": [row["cpu_s"] for row in own]}
            file, title = f"harvest-{name}-{source.split()[0]}.svg", f"{own[0]['items']:,} {name} from {source}"
            plot.bars(bench.output / file, title, [row["program"] for row in own], series, "seconds", log=True)
            bench.figure("harvest", file, title)
