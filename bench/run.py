#!/usr/bin/env python3
"""Measures garner and compares it with what one would use without it.

    python3 bench/run.py [SECTION ...] [--garner PATH] [--module PATH] [--claims PATH] [--quick] [--repeat N] [--output DIR]

Exit code 0: everything asked for was measured, whether or not the targets were reached. 1: something could not be
measured. 2: wrong usage.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import aggregate
import apache
import classifying
import collection
import console
import counting
import growth
import harvest
import httpd
import importing
import judging
import loading
import manager
import memory
import pages
import papers
import report
import scan
import sizes
import synchronize
from program import BenchError

SECTIONS = {"papers": papers, "apache": apache, "pages": pages, "growth": growth, "aggregate": aggregate, "synchronize": synchronize, "counting": counting, "scan": scan,
            "memory": memory, "harvest": harvest, "manager": manager, "console": console, "collection": collection, "import": importing, "load": loading, "sizes": sizes, "filter": judging,
            "classifier": classifying}
# Measured only if they are named, because they take hours.
LONG = {"sizes"}
ROOT = Path(__file__).resolve().parent.parent


class Bench:
    """What the sections share: where to work, what to run, and where results go."""

    def __init__(self, options, work):
        self.binary, self.output, self.repeat, self.quick = options.garner, options.output, options.repeat, options.quick
        self.module, self.claims = options.module, options.claims
        self.work = work
        self.shared = {}
        self.rows = []

    def say(self, text):
        print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    def config(self, folder, text):
        """Writes a configuration file, or none for the default configuration."""
        if text is None:
            return None
        path = folder / "garner.toml"
        path.write_text(text)
        return path

    def write_csv(self, name, rows):
        report.write_csv(self.output / f"{name}.csv", rows)

    def figure(self, section, name, title):
        self.say(f"{section}: drew {name} ({title})")

    def compare(self, section, comparison, this, that, ratio, target="", at_least=None, at_most=None, reached=None):
        """Adds a row to the summary; with a bound, it says whether the ratio keeps to it."""
        if ratio is not None and at_least is not None:
            reached = ratio >= at_least
        if ratio is not None and at_most is not None:
            reached = ratio <= at_most
        result = "" if not target else "not measurable" if reached is None else "reached" if reached else "not reached"
        shown = "" if ratio is None else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"
        self.rows.append(dict(zip(report.COLUMNS, [section, comparison, this, that, shown, target, result])))


def main():
    options = parse_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.output.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="garner-bench-"))
    failed = []
    bench = Bench(options, work)
    try:
        for name in options.sections:
            if not measure_section(bench, name):
                failed.append(name)
    finally:
        bench.say("removing the sites")
        shutil.rmtree(work, ignore_errors=True)
    measured = [name for name in options.sections if name not in failed]
    rows = report.merge_summary(options.output / "summary.csv", measured, bench.rows)
    if rows:
        report.write_page(options.output, rows, options.quick)
        print(report.table(rows))
    for name in failed:
        print(f"not measured: {name} (the reason is above)")
    return 1 if failed else 0


def measure_section(bench, name):
    before = len(bench.rows)
    try:
        SECTIONS[name].measure_section(bench)
        return True
    except BenchError as error:
        print(f"bench: {name}: {error}", file=sys.stderr, flush=True)
    except Exception:
        # An answer that is not even HTTP or XML ends here; the other sections are still worth measuring.
        print(f"bench: {name}: unexpected failure\n{traceback.format_exc()}", file=sys.stderr, flush=True)
    del bench.rows[before:]
    return False


def parse_options():
    parser = argparse.ArgumentParser(description="Measures garner; see docs/benchmarks.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; if none is named, all but {', '.join(LONG)}")
    parser.add_argument("--garner", type=Path, default=ROOT / "target/release/garner", help="the program (default: target/release/garner)")
    parser.add_argument("--module", type=Path, default=ROOT / "target/release/mod_oai.so",
                        help="the Apache module (default: target/release/mod_oai.so)")
    parser.add_argument("--claims", type=Path, default=ROOT / "target/release/examples/claims",
                        help="what claims jobs (default: target/release/examples/claims)")
    parser.add_argument("--quick", action="store_true", help="small sizes; results go to target/benchmarks-quick unless --output is given")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, of which the median is taken (default: 3)")
    parser.add_argument("--output", type=Path, help="where results go (default: docs/benchmarks)")
    options = parser.parse_args()
    options.sections = [name for name in SECTIONS if name in options.sections] if _known(parser, options.sections) else [name for name in SECTIONS if name not in LONG]
    options.output = options.output or ROOT / ("target/benchmarks-quick" if options.quick else "docs/benchmarks")
    options.garner, options.module, options.claims = (path.resolve() for path in (options.garner, options.module, options.claims))
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    if not os.access(options.garner, os.X_OK):
        parser.error(f"{options.garner} is not there or not a program; run `cargo build --release` or give --garner")
    for tool in ("wget", "curl", "find"):
        if not shutil.which(tool):
            parser.error(f"`{tool}` is needed for the comparisons and is not installed")
    if "apache" in options.sections:
        _check_apache(parser, options)
    if "harvest" in options.sections:
        harvest.check(parser)
    if "manager" in options.sections:
        manager.check(parser, options.claims)
    if "console" in options.sections:
        console.check(parser)
    if "synchronize" in options.sections:
        synchronize.check(parser)
    if "collection" in options.sections:
        collection.check(parser, options.garner)
    if "import" in options.sections:
        importing.check(parser)
    if "load" in options.sections:
        loading.check(parser)
    if "sizes" in options.sections:
        sizes.check(parser, options.garner)
    return options


def _check_apache(parser, options):
    if not options.module.is_file():
        parser.error(f"{options.module} is not there; run `make apache` or give --module")
    for tool in (httpd.PROGRAM, "htpasswd"):
        if not shutil.which(tool):
            parser.error(f"`{tool}` is needed for the section `apache` and is not installed; `scripts/setup bench` does it")


def _known(parser, names):
    for name in names:
        if name not in SECTIONS:
            parser.error(f"unknown section `{name}`; there are {', '.join(SECTIONS)}")
    return bool(names)


if __name__ == "__main__":
    sys.exit(main())
