#!/usr/bin/env python3
"""Runs `garner extract` over a list of archives on a Spark cluster.

    spark-submit --files garner contrib/spark/extract.py --paths LIST --output DIR [options] [-- options of garner extract]

Each line of LIST is a path that every executor sees, or, with --fetch, a name that the command fetches to a file. Results
are those of `garner extract`: what is done twice, by a task that Spark repeats or by another job, is there once. At the end
garner load takes DIR into a catalog.

Exits with 0 if all was extracted, with 3 if something could not be read, and with 1 if the job failed.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time

from pyspark import SparkContext, SparkFiles

# Results of files that a machine cannot extract are asked for again on another one.
MACHINE = {"disk_full", "store_away", "permission_denied", "io", "died", "timeout", "fetch"}


def main():
    options = parse(sys.argv[1:])
    context = SparkContext.getOrCreate()
    context.setLogLevel("WARN")
    paths = [line.strip() for line in context.textFile(options.paths).collect()]
    paths = list(dict.fromkeys(path for path in paths if path))
    skipped = done_before(context, options)
    left = [path for path in paths if name_of(path, options) not in skipped]
    print(f"{len(paths)} files, {len(paths) - len(left)} done before", file=sys.stderr)
    outcomes = {}
    attempt, until = 0, time.monotonic() + options.patience
    while left:
        for outcome in extract_all(context, left, options):
            outcomes[outcome["path"]] = outcome
        codes = {path: outcomes.get(path, {}).get("code", "died") for path in left}
        left = [path for path in left if codes[path] in MACHINE]
        # A store that is away is waited for; that is no fault of the files.
        is_away = left and all(codes[path] == "store_away" for path in left) and time.monotonic() < until
        if not left or attempt == options.retries and not is_away:
            break
        attempt += not is_away
        print(f"again: {len(left)} files{', the store is away' if is_away else ''}", file=sys.stderr)
        time.sleep(30 if is_away else min(60, 5 * attempt))
    return conclude(outcomes, left, options)


def parse(arguments):
    own, passed = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        own, passed = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--paths", required=True, help="file with one path a line; any place that Spark reads")
    parser.add_argument("--output", required=True, help="directory that all see, or s3://BUCKET/PREFIX")
    parser.add_argument("--garner", help="the program on the executors [default: the one given with --files, or garner]")
    parser.add_argument("--fetch", help="command that fetches a file: {path} is its name, {file} where it goes; no shell")
    parser.add_argument("--loaded", action="append", default=[], help="file of paths, or of lines of JSON with `file`, to leave out")
    parser.add_argument("--files-per-task", type=int, default=4, help="files that one process reads [default: 4]")
    parser.add_argument("--retries", type=int, default=2, help="further attempts for what a machine could not do [default: 2]")
    parser.add_argument("--patience", type=int, default=1800, help="seconds that a store which is away is waited for, beside the retries [default: 1800]")
    parser.add_argument("--timeout", type=int, default=3600, help="seconds for one file [default: 3600]")
    parser.add_argument("--report", help="file for one line of JSON for each path")
    options = parser.parse_args(own)
    options.passed = passed
    return options


def name_of(path, options):
    """The name by which a result knows a path: fetched files lie elsewhere."""
    return path if options.fetch else os.path.abspath(path)


def done_before(context, options):
    """Files that are loaded, or whose results are complete in a directory that the driver sees."""
    done = set()
    for place in options.loaded:
        for line in context.textFile(place).collect():
            line = line.strip()
            done.add(json.loads(line)["file"] if line.startswith("{") else line)
    if not options.fetch:
        done.update(listed(options))
    return {path if options.fetch else os.path.abspath(path) for path in done}


def listed(options):
    """Files whose results are complete, if the driver has garner and sees the place of results."""
    run = [program(options), "extract", "--complete", "--json", "--output", options.output, *options.passed]
    try:
        printed = subprocess.run(run, capture_output=True, text=True, timeout=options.timeout)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [json.loads(line)["file"] for line in printed.stdout.splitlines()]


def extract_all(context, paths, options):
    """One attempt. Large files come first, and tasks are small, so that no executor is left with the largest at the end."""
    ordered = sorted(paths, key=lambda path: -size(path))
    count = max(1, -(-len(ordered) // max(1, options.files_per_task)))
    # Dealt like cards: each task has a share of the large ones.
    tasks = [ordered[at::count] for at in range(count)]
    finished = context.accumulator(0)
    settings = dict(vars(options))
    # The list is the driver's; a task gets its part and nothing else.
    work = context.parallelize(tasks, count).flatMap(lambda task: run_task(task, settings, finished))
    over = threading.Event()
    watch = threading.Thread(target=progress, args=(finished, len(paths), over), daemon=True)
    watch.start()
    try:
        return work.collect()
    finally:
        over.set()
        watch.join()


def size(path):
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def progress(finished, total, over):
    began = time.time()
    while not over.wait(5):
        print(f"{finished.value} of {total} files, {time.time() - began:.0f} s", file=sys.stderr)


def program(options):
    settings = options if isinstance(options, dict) else vars(options)
    if settings["garner"]:
        return settings["garner"]
    shipped = SparkFiles.get("garner")
    if os.path.exists(shipped):
        if not os.access(shipped, os.X_OK):
            os.chmod(shipped, 0o755)
        return shipped
    return "garner"


def run_task(paths, settings, finished):
    """Extracts some files on an executor. One that kills the program costs itself alone."""
    for path in paths:
        yield run_one(path, settings)
        finished.add(1)


def run_one(path, settings):
    if not settings["fetch"]:
        return run_garner(path, path, settings)
    with tempfile.TemporaryDirectory(prefix="garner-") as directory:
        file = os.path.join(directory, os.path.basename(path) or "archive")
        command = [part.replace("{path}", path).replace("{file}", file) for part in shlex.split(settings["fetch"])]
        try:
            fetched = subprocess.run(command, capture_output=True, timeout=settings["timeout"])
        except (OSError, subprocess.TimeoutExpired) as error:
            return failed(path, "fetch", str(error))
        if fetched.returncode != 0:
            return failed(path, "fetch", fetched.stderr.decode(errors="replace")[-500:])
        return run_garner(path, file, settings)


def run_garner(path, file, settings):
    command = [program(settings), "extract", "--json", "--output", settings["output"], *settings["passed"], "--", file]
    try:
        done = subprocess.run(command, capture_output=True, timeout=settings["timeout"])
    except subprocess.TimeoutExpired:
        return failed(path, "timeout", f"it took longer than {settings['timeout']} s")
    except OSError as error:
        return failed(path, "died", str(error))
    lines = done.stdout.decode(errors="replace").splitlines()
    if not lines:
        return failed(path, "died", done.stderr.decode(errors="replace")[-500:])
    line = json.loads(lines[-1])
    outcome = {"path": path, "state": line["state"], "code": (line.get("error") or {}).get("code")}
    outcome["reason"] = line.get("reason") or (line.get("error") or {}).get("message")
    for name in ("rows", "reused", "saved_New", "seconds"):
        outcome[name] = line.get(name)
    return outcome


def failed(path, code, reason):
    return {"path": path, "state": "failed", "code": code, "reason": reason.strip()}


def conclude(outcomes, left, options):
    counts = {}
    for outcome in outcomes.values():
        counts[outcome["state"]] = counts.get(outcome["state"], 0) + 1
        if outcome["state"] != "ok":
            print(f"{outcome['path']}: {outcome['state']}: {outcome['reason']}", file=sys.stderr)
    if options.report:
        with open(options.report, "w", encoding="utf-8") as report:
            for outcome in outcomes.values():
                report.write(json.dumps(outcome) + "\n")
    print(json.dumps({"files": len(outcomes), "states": counts, "given_up": len(left)}))
    if outcomes and len(left) == len(outcomes):
        return 1
    return 0 if set(counts) <= {"ok"} else 3


if __name__ == "__main__":
    sys.exit(main())
